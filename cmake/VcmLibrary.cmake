# libvcm, shared and static: what <vcm/vcm.h> promises, over the folders of the house.

include(VcmHeader)

# The folders, lowest last. Their objects make up both libraries.
set(vcm_folders api symbols repomap sources kb lfs vcm git tokens base)
set(version_script ${CMAKE_SOURCE_DIR}/api/libvcm.map)

# The whole of api/ goes in; of the other folders what it needs. Everything but the functions of the
# version script is local to the library.
add_library(vcm_shared SHARED api/version.c)
target_link_libraries(vcm_shared PRIVATE vcm_compile $<LINK_LIBRARY:WHOLE_ARCHIVE,vcm_api>)
# base/cancel.c is called from outside alone.
target_link_options(vcm_shared PRIVATE -Wl,-u,vcm_cancel_request
    -Wl,--version-script=${version_script} -Wl,--as-needed
    -Wl,-z,relro,-z,now,-z,pack-relative-relocs)
if(NOT VCM_SANITIZE) # whose run time is in the program
    target_link_options(vcm_shared PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(vcm_shared PROPERTIES OUTPUT_NAME vcm VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${version_script}
    EXPORT_NAME shared LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_include_directories(vcm_shared INTERFACE $<BUILD_INTERFACE:${VCM_INCLUDE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# The objects of vcm_symbols are its own; the grammars are objects of others.
get_property(grammars GLOBAL PROPERTY VCM_GRAMMARS)
set(objects $<TARGET_OBJECTS:vcm_grammar_core>)
foreach(grammar ${grammars})
    list(APPEND objects $<TARGET_OBJECTS:${grammar}>)
endforeach()
foreach(folder ${vcm_folders})
    list(APPEND objects $<TARGET_OBJECTS:vcm_${folder}>)
endforeach()
add_library(vcm_static STATIC api/version.c ${objects})
target_link_libraries(vcm_static PRIVATE $<BUILD_INTERFACE:vcm_compile>)
set_target_properties(vcm_static PROPERTIES OUTPUT_NAME vcm EXPORT_NAME static
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_include_directories(vcm_static INTERFACE $<BUILD_INTERFACE:${VCM_INCLUDE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
