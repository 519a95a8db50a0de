# <vcm/vcm.h> and the parts that it is made of: api/vcm.h, api/public/*.h, and base/public.h as
# <vcm/types.h>, with their includes of each other as a user of the library writes them.

set(VCM_INCLUDE_DIR ${CMAKE_BINARY_DIR}/include)

function(vcm_public_header source name)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${source})
    file(READ ${CMAKE_SOURCE_DIR}/${source} header)
    string(REPLACE "#include \"base/public.h\"" "#include <vcm/types.h>" header "${header}")
    string(REGEX REPLACE "#include \"api/public/([a-z_]+[.]h)\"" "#include <vcm/\\1>" header
        "${header}")
    file(CONFIGURE OUTPUT ${VCM_INCLUDE_DIR}/vcm/${name} CONTENT "${header}" @ONLY)
endfunction()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/public)
file(GLOB vcm_parts RELATIVE ${CMAKE_SOURCE_DIR}/api/public
    ${CMAKE_SOURCE_DIR}/api/public/*.h)
file(REMOVE_RECURSE ${VCM_INCLUDE_DIR}/vcm) # a part that is gone must not be installed
vcm_public_header(base/public.h types.h)
vcm_public_header(api/vcm.h vcm.h)
foreach(part ${vcm_parts})
    vcm_public_header(api/public/${part} ${part})
endforeach()
