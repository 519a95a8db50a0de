/*
 * error.h - the one error type: what went wrong, owned by the caller, passed last.
 *
 * The function that sees a failure sets the error; callers on the way up only add context.
 * The first cause wins: setting an error that is already set changes nothing, so that clean-up
 * code may fail quietly. An error that is to be reused must be reset first.
 * Every function here accepts a NULL error. Not shared between threads.
 */
#ifndef VCM_BASE_ERROR_H
#define VCM_BASE_ERROR_H

#include <stdarg.h>

#include "base/public.h"

/* The name of every code at its number, then NULL. VCM_ERROR_CODES leaves VCM_OK out: those that a
 * failure may have. */
extern const char *const vcm_error_code_names[];
#define VCM_ERROR_CODES (vcm_error_code_names + 1)

/*
 * What functions of ours tell each other that is no failure. Where one of them may be returned, the
 * header says so, beside the function or the type of the callback, and so no other meaning has to
 * be read into a code of public.h: VCM_NOT_FOUND says that there is no such thing, nothing else.
 *
 * They leave the error alone: whoever returns one has set none, none can be set to one, and
 * vcm_error_wrap() adds nothing to one. They
 * end where the header says that they are understood, at the latest at the folder's border, and no
 * function of the library returns one. The values are far from those of enum vcm_code, and from
 * what the callback of a user might return.
 */
enum vcm_private_code {
    VCM_STOP = 0x76636d01, /* of a visitor: it has seen enough. The walk ends and succeeds. */
    VCM_NO_ROOM,           /* what was asked for does not fit, and nothing was changed */
    VCM_RETRY,             /* the state has changed meanwhile: to be begun again */
};

static inline bool vcm_error_is_private(int code)
{
    return code >= VCM_STOP && code <= VCM_RETRY;
}

/* Sets code and message unless an error is set already. Line breaks in the message become spaces.
 * Returns the code that the error now holds, or `code` for a NULL error: never VCM_OK. */
#define vcm_error_set(...) vcm_error_failure(vcm_error_fill(__VA_ARGS__))

/* vcm_error_sys(err, code, sys_errno, format, ...): the same for a failed system call; appends ": "
 * and the text of `sys_errno`. */
#define vcm_error_sys(...) vcm_error_failure(vcm_error_fill_sys(__VA_ARGS__))

int vcm_error_fill_sys(struct vcm_error *err, enum vcm_code code, int sys_errno, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

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

/* Puts a piece of context in front of what is there and returns rc. */
int vcm_error_wrap(struct vcm_error *err, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds "key":"value" to the details. A detail that does not fit is left out. */
void vcm_error_detail(struct vcm_error *err, const char *key, const char *value);

/* Adds "key":["a","b"] with as many of the `count` values as fit. */
void vcm_error_detail_list(struct vcm_error *err, const char *key, const char *const *values,
                           unsigned count);

#endif
