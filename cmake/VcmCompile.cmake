# How every file of ours is compiled. Sanitizers and optimisation come from the presets.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(VCM_SANITIZE "" CACHE STRING "sanitizers for our own code, as -fsanitize takes them")

add_library(vcm_compile INTERFACE)
target_include_directories(vcm_compile INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(vcm_compile INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64
    VCM_VERSION="${PROJECT_VERSION}")
target_compile_options(vcm_compile INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wpointer-arith -Wformat=2 -Wvla -Werror -fno-strict-aliasing -fstack-protector-strong)
# Messages have a fixed size and are meant to be cut there; gcc says so from -O2 on.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    target_compile_options(vcm_compile INTERFACE -Wno-format-truncation)
endif()

if(VCM_SANITIZE)
    target_compile_options(vcm_compile INTERFACE
        -fsanitize=${VCM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(vcm_compile INTERFACE -fsanitize=${VCM_SANITIZE})
endif()
