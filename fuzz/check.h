/*
 * check.h - what a fuzzer claims about its parser. Unlike assert it is in every build.
 */
#ifndef VCM_FUZZ_CHECK_H
#define VCM_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define FUZZ_CHECK(claim)                                                                          \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim);                  \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
