# cmake --install: program, helper, libraries, header, pkg-config and CMake packages, manual and
# completions. cpack makes a .deb of it.

include(CMakePackageConfigHelpers)

# What the static library needs, besides the C library.
set(VCM_PRIVATE_MODULES "lmdb yajl yaml-0.1 nettle libxxhash libzstd libpcre2-8 zlib libdeflate sqlite3")
# The same for vcm.pc. Not as modules: pkg-config wants those to be there for a shared library, too.
set(VCM_PRIVATE_LIBRARIES
    "-llmdb -lyajl -lyaml -lnettle -lxxhash -lzstd -lpcre2-8 -lz -ldeflate -lsqlite3")
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vcm)

# From the folder of vcm.pc to the prefix, so that what is installed may be moved.
file(RELATIVE_PATH VCM_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/vcm.pc.in vcm.pc @ONLY)
configure_package_config_file(cmake/vcmConfig.cmake.in vcmConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(vcmConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# The program writes its own completions.
set(completions)
foreach(shell bash zsh fish)
    set(file ${CMAKE_BINARY_DIR}/completions/vcm.${shell})
    add_custom_command(OUTPUT ${file}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/completions
        COMMAND vcm completion ${shell} > ${file}
        DEPENDS vcm VERBATIM)
    list(APPEND completions ${file})
endforeach()
add_custom_target(vcm_completions ALL DEPENDS ${completions})

install(TARGETS vcm_shared vcm_static EXPORT vcmTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
        NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS vcm DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY ${VCM_INCLUDE_DIR}/vcm DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/vcm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
install(EXPORT vcmTargets NAMESPACE vcm:: DESTINATION ${package_dir} COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/vcmConfig.cmake ${CMAKE_BINARY_DIR}/vcmConfigVersion.cmake
    DESTINATION ${package_dir} COMPONENT development)
find_program(GZIP gzip REQUIRED)
execute_process(COMMAND ${GZIP} -9nc ${CMAKE_SOURCE_DIR}/docs/man/vcm.1
    OUTPUT_FILE ${CMAKE_BINARY_DIR}/vcm.1.gz COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/vcm.1)
install(FILES ${CMAKE_BINARY_DIR}/vcm.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${CMAKE_BINARY_DIR}/completions/vcm.bash RENAME vcm
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${CMAKE_BINARY_DIR}/completions/vcm.zsh RENAME _vcm
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${CMAKE_BINARY_DIR}/completions/vcm.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

include(VcmPackage)
