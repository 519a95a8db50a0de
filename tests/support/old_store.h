/*
 * old_store.h - stores of other formats: one of format 1, written byte for byte, and one whose
 * format number is changed.
 */
#ifndef VCM_TESTS_SUPPORT_OLD_STORE_H
#define VCM_TESTS_SUPPORT_OLD_STORE_H

#include <stdint.h>

#include "base/error.h"

#define OLD_STORE_LARGE_BYTES 6000

/* The content of the long page. */
void old_store_large(char out[OLD_STORE_LARGE_BYTES + 1]);

/* Scope "a" of the pages "one", "two" and the long one; "b", pinned, of "two" and "three". The
 * directory has no store. */
int old_store_write(const char *directory, struct vcm_error *err);

int old_store_set_format(const char *directory, uint32_t format, struct vcm_error *err);

#endif
