# One static library per folder, one test program per tested file.

set(VCM_TEST_TIMEOUT 900 CACHE STRING "seconds after which a test program is stopped")

# vcm_library(base SOURCES error.c ... USES <other folders and libraries>)
function(vcm_library folder)
    cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
    add_library(vcm_${folder} STATIC ${ARG_SOURCES})
    target_link_libraries(vcm_${folder} PUBLIC vcm_compile ${ARG_USES})
endfunction()

# vcm_test(base/test_buf USES vcm_base): builds tests/base/test_buf.c and runs it as base/test_buf.
# Extra SOURCES, LINK_OPTIONS and LABELS may follow; every unit test has the label "unit".
function(vcm_test name)
    cmake_parse_arguments(ARG "" "" "SOURCES;USES;LINK_OPTIONS;LABELS" ${ARGN})
    string(REPLACE "/" "_" target ${name})
    add_executable(${target} ${CMAKE_SOURCE_DIR}/tests/${name}.c ${ARG_SOURCES})
    target_link_libraries(${target} PRIVATE ${ARG_USES} PkgConfig::CMOCKA)
    target_link_options(${target} PRIVATE ${ARG_LINK_OPTIONS})
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${VCM_TEST_TIMEOUT} LABELS "unit;${ARG_LABELS}")
endfunction()

# vcm_fuzz(json USES vcm_base): fuzz/fuzz_json.c, replayed over fuzz/corpus/json by ctest, or built
# for libFuzzer with -DVCM_FUZZ=ON.
function(vcm_fuzz parser)
    cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
    set(target fuzz_${parser})
    if(VCM_FUZZ)
        add_executable(${target} ${CMAKE_SOURCE_DIR}/fuzz/${target}.c)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    else()
        add_executable(${target} ${CMAKE_SOURCE_DIR}/fuzz/${target}.c
            $<TARGET_OBJECTS:vcm_fuzz_replay>)
        add_test(NAME fuzz/${parser} COMMAND ${target} ${CMAKE_SOURCE_DIR}/fuzz/corpus/${parser})
        set_tests_properties(fuzz/${parser} PROPERTIES TIMEOUT ${VCM_TEST_TIMEOUT} LABELS fuzz)
    endif()
    target_link_libraries(${target} PRIVATE ${ARG_USES})
endfunction()
