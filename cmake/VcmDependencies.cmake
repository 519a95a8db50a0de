# Third-party libraries, each with the one folder or file that may name its types.
# The packages that provide them are listed, with reasons, in scripts/dependencies.txt.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

macro(vcm_dependency name module)
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})
endmacro()

vcm_dependency(LMDB lmdb)          # base/kv.c
vcm_dependency(YAJL yajl)          # base/json.c
vcm_dependency(YAML yaml-0.1)      # base/yaml.c
vcm_dependency(NETTLE nettle)      # base/hash.c
vcm_dependency(XXHASH libxxhash)   # base/hash.c
vcm_dependency(PCRE2 libpcre2-8)   # base/regex.c
vcm_dependency(ZSTD libzstd)       # base/zstd.c
vcm_dependency(LIBGIT2 libgit2)    # git/
vcm_dependency(ZLIB zlib)          # git/loose.c
vcm_dependency(DEFLATE libdeflate) # git/pack_reader.c
vcm_dependency(SQLITE sqlite3)     # kb/store*.c
vcm_dependency(POPPLER poppler-glib) # kb/extract_pdf.c, of vcm-extract alone
vcm_dependency(SECCOMP libseccomp) # kb/extract_sandbox.c, of vcm-extract alone

# http_parser has no description for pkg-config.
find_library(HTTP_PARSER_LIBRARY http_parser REQUIRED) # serve/http_parse.c

# libgit2 is not linked but loaded when it is needed (git/libgit2.h), by the name of its interface.
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${LIBGIT2_LINK_LIBRARIES}
    OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
if(NOT sections MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${LIBGIT2_LINK_LIBRARIES} does not say its name")
endif()
set(VCM_LIBGIT2_NAME ${CMAKE_MATCH_1})

if(VCM_TESTS)
    vcm_dependency(CMOCKA cmocka)
endif()
