/*
 * error.h - the one error type: it says what failed, is owned by the caller and passed last.
 *
 * The function that sees a failure sets the error; its callers only add context.
 * The first cause wins: setting an error that is already set changes nothing, so that clean-up code
 * may fail quietly. An error that is to be reused must be reset first.
 * Every function here accepts a NULL error. Not shared between threads.
 */
#ifndef VCM_BASE_ERROR_H
#define VCM_BASE_ERROR_H

#include <stdarg.h>

#include "base/public.h"

/* The name of every code at its number, then NULL. VCM_ERROR_CODES is the same list without
 * VCM_OK. */
extern const char *const vcm_error_code_names[];
#define VCM_ERROR_CODES (vcm_error_code_names + 1)

/*
 * Codes for internal use that are no failures. Where a function or callback may return one of them,
 * its header says so. No other meaning has to be read into a code of public.h: VCM_NOT_FOUND says
 * that there is no such thing, nothing else.
 *
 * They leave the error alone: a function that returns one has not set the error, an error cannot be
 * set to one, and vcm_error_wrap() adds nothing to one. They are handled where the header says, at
 * the latest inside the same folder; no public function returns one. The values are far from those
 * of enum vcm_code, and from values that a user's callback might return.
 */
enum vcm_private_code {
    VCM_STOP = 0x76636d01, /* from a visitor: end the walk, successfully */
    VCM_NO_ROOM,           /* the request does not fit, and nothing was changed */
    VCM_RETRY,             /* the state has changed meanwhile: begin again */
};

static inline bool vcm_error_is_private(int code)
{
    return code >= VCM_STOP && code <= VCM_RETRY;
}

/* Sets code and message unless an error is set already. Line breaks in the message become spaces.
 * Returns the code that the error now holds, or `code` for a NULL error: never VCM_OK. */
#define vcm_error_set(...) vcm_error_failure(vcm_error_fill(__VA_ARGS__))

/* vcm_error_sys(err, code, sys_errno, format, ...): the same for a failed system call; appends ": "
 * and the text of `sys_errno`. VCM_IO_ERROR becomes VCM_STORE_FULL where `sys_errno` says that
 * there is no room. */
#define vcm_error_sys(...) vcm_error_failure(vcm_error_fill_sys(__VA_ARGS__))

int vcm_error_fill_sys(struct vcm_error *err, enum vcm_code code, int sys_errno, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* No room: the disk, the user's quota or the limit of a file's size (RLIMIT_FSIZE) is reached. */
bool vcm_error_is_full(int sys_errno);

/* No permission: of the user, or the file system is mounted read-only. */
bool vcm_error_is_denial(int sys_errno);

/* In the header so that compilers and analysers know: a function that sets an error fails. */
static inline int vcm_error_failure(int code)
{
    return code != VCM_OK ? code : VCM_INTERNAL;
}

/* The code and message of a failed allocation. */
static inline int vcm_error_memory(struct vcm_error *err)
{
    return vcm_error_set(err, VCM_INTERNAL, "out of memory");
}

/* Prepends context to the message's context and returns rc. */
int vcm_error_wrap(struct vcm_error *err, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds "key":"value" to the details. A detail that does not fit is left out. */
void vcm_error_detail(struct vcm_error *err, const char *key, const char *value);

/* Adds "key":["a","b"] with as many of the `count` values as fit. */
void vcm_error_detail_list(struct vcm_error *err, const char *key, const char *const *values,
                           unsigned count);

#endif
