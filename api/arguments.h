/*
 * arguments.h - checks of what a caller passes to the library.
 *
 * Every exported function begins with these checks. They detect NULL, a handle that is closed or
 * belongs to another process, and text that is not UTF-8; no other wrong pointer can be detected in
 * C. Paths in the file system are bytes and are not checked.
 */
#ifndef VCM_API_ARGUMENTS_H
#define VCM_API_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/handle.h"

/* A pointer that must not be NULL. */
struct vcm_argument {
    const char *name;
    bool given;
};

/* A string that may be NULL, and otherwise must be UTF-8. */
struct vcm_argument_text {
    const char *name;
    const char *text;
};

#define VCM_ARGUMENT(pointer)                                                                      \
    {                                                                                              \
#pointer, (pointer) != NULL                                                                \
    }

/* INVALID_ARGUMENT for a handle that cannot be used (see vcm_handle_check()) or for a pointer that
 * is NULL, whose name it gives: VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(query)). */
#define VCM_ARGUMENTS(vcm, err, ...)                                                               \
    vcm_arguments_check((vcm), (const struct vcm_argument[]){__VA_ARGS__, {NULL, false}}, (err))

/* The same for strings: VCM_TEXTS(err, {"scope", query->scope}, {"path", query->path}). */
#define VCM_TEXTS(err, ...)                                                                        \
    vcm_arguments_texts((const struct vcm_argument_text[]){__VA_ARGS__, {NULL, NULL}}, (err))

/* Sets INVALID_ARGUMENT: the argument of this name is NULL. */
void vcm_arguments_refuse(const char *name, struct vcm_error *err);

/* Checks the pointers only. In the header, so that static analysis sees that they are not NULL
 * afterwards. */
static inline int vcm_arguments_given(const struct vcm_argument *arguments, struct vcm_error *err)
{
    for (; arguments->name; arguments++) {
        if (!arguments->given) {
            vcm_arguments_refuse(arguments->name, err);
            return VCM_INVALID_ARGUMENT;
        }
    }
    return VCM_OK;
}

static inline int vcm_arguments_check(const struct vcm *vcm, const struct vcm_argument *arguments,
                                      struct vcm_error *err)
{
    if (vcm_handle_check(vcm, err) != VCM_OK)
        return VCM_INVALID_ARGUMENT;
    return vcm_arguments_given(arguments, err);
}

int vcm_arguments_texts(const struct vcm_argument_text *texts, struct vcm_error *err);

/* A list of strings. The list may be NULL only when it is empty; its strings may not be NULL and,
 * unless they are paths, must be UTF-8. */
enum vcm_argument_list_kind {
    VCM_ARGUMENT_TEXTS,
    VCM_ARGUMENT_PATHS,
};
int vcm_arguments_list(const char *name, const char *const *texts, size_t count,
                       enum vcm_argument_list_kind kind, struct vcm_error *err);

#endif
