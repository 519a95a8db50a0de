# <vcm/vcm.h>, the one public header: api/vcm.h with the text of base/public.h in the place of its
# include.

set(VCM_INCLUDE_DIR ${CMAKE_BINARY_DIR}/include)

function(vcm_public_header)
    set(outer ${CMAKE_SOURCE_DIR}/api/vcm.h)
    set(inner ${CMAKE_SOURCE_DIR}/base/public.h)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${outer} ${inner})
    file(READ ${outer} header)
    file(READ ${inner} shared)
    # What stands between the includes and the end of the guard.
    string(REGEX REPLACE ".*#include <stdbool.h>\n\n" "" shared "${shared}")
    string(REGEX REPLACE "\n#endif\n$" "" shared "${shared}")
    set(include "#include \"base/public.h\"\n")
    string(FIND "${header}" "${include}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "api/vcm.h does not include base/public.h")
    endif()
    string(REPLACE "${include}" "${shared}" header "${header}")
    file(CONFIGURE OUTPUT ${VCM_INCLUDE_DIR}/vcm/vcm.h CONTENT "${header}" @ONLY)
endfunction()

vcm_public_header()
