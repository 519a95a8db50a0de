# cpack -G DEB: one package, whose dependencies dpkg-shlibdeps tells from the binaries.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vcm)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "the vcm developers <vcm@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "virtual memory for the context of language models")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The program runs git for fetching.
set(CPACK_DEBIAN_PACKAGE_DEPENDS git)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS git-lfs)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
