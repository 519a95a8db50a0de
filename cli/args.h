/*
 * args.h - from the words of the command line to an operation and its values.
 *
 * Knows the global options and reads everything else from the operations' descriptors.
 */
#ifndef VCM_CLI_ARGS_H
#define VCM_CLI_ARGS_H

#include "base/arena.h"
#include "ops/op.h"

/* An option that every command takes. */
struct vcm_args_global {
    char letter; /* 0 for none */
    const char *name;
    const char *placeholder; /* NULL for a flag */
    const char *summary;
};

extern const struct vcm_args_global vcm_args_globals[]; /* ends with a NULL name */

struct vcm_args {
    const char *home;
    bool json, quiet, verbose, no_color, no_progress, help, version;
    const struct vcm_op *op;     /* NULL when no command was given */
    const char *family;          /* first word of a family when the second is missing */
    struct vcm_op_value *values; /* of the operation's parameters */
    struct vcm_arena arena;
};

/* Every command: the operations, then those of the command line itself. Ends with NULL. */
const struct vcm_op *vcm_args_command(size_t index);

/* INVALID_ARGUMENT with a suggestion where one is near. What could be read before a failure, --json
 * above all, is filled in. Release also after a failure. */
int vcm_args_parse(struct vcm_args *args, int argc, const char *const *argv, struct vcm_error *err);
void vcm_args_release(struct vcm_args *args);

#endif
