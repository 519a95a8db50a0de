# cpack -G DEB: one package, whose dependencies dpkg-shlibdeps tells from the binaries.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vcm)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the vcm developers <vcm@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "virtual memory for the context of language models")
set(CPACK_PACKAGE_DESCRIPTION "vcm cuts version-controlled text into pages of an exact number of
tokens, names each page by its content, and keeps those in reach that are
in use. The package has the program, the library libvcm and its headers,
and the Python package vcm.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The program runs git for fetching. libgit2 is loaded when it is needed, which no tool sees.
find_program(DPKG_QUERY dpkg-query)
set(libgit2_package "")
if(DPKG_QUERY)
    execute_process(COMMAND ${DPKG_QUERY} -S "*/${VCM_LIBGIT2_NAME}"
        OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([^:]+):")
        set(libgit2_package ", ${CMAKE_MATCH_1}")
    endif()
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "git, python3:any${libgit2_package}")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "git-lfs, universal-ctags")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# cpack's own `shlibs` comes with scripts that run ldconfig, which the trigger does.
set(staged ${CMAKE_BINARY_DIR}/debian)
configure_file(cmake/debian/shlibs.in ${staged}/shlibs @ONLY)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${staged}/shlibs ${CMAKE_SOURCE_DIR}/cmake/debian/triggers
    ${CMAKE_SOURCE_DIR}/cmake/debian/postinst ${CMAKE_SOURCE_DIR}/cmake/debian/prerm
    ${CMAKE_SOURCE_DIR}/cmake/debian/postrm)

# What Debian's policy wants in a package; no part of cmake --install.
find_program(GZIP gzip REQUIRED)
function(vcm_compress source name)
    execute_process(COMMAND ${GZIP} -9nc ${CMAKE_SOURCE_DIR}/${source}
        OUTPUT_FILE ${staged}/${name} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
file(MAKE_DIRECTORY ${staged})
vcm_compress(cmake/debian/changelog changelog.Debian.gz)
install(FILES ${staged}/changelog.Debian.gz cmake/debian/copyright
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/vcm COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES cmake/debian/lintian-overrides RENAME vcm
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT debian EXCLUDE_FROM_ALL)
install(DIRECTORY bindings/python/vcm DESTINATION lib/python3/dist-packages COMPONENT debian
    EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE PATTERN "*.so*" EXCLUDE)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};vcm;ALL;/"
    "${CMAKE_BINARY_DIR};vcm;debian;/")
include(CPack)
