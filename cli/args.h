/*
 * args.h - parses the command line into an operation and its values.
 *
 * Knows the global options; everything else comes from the operations' descriptors.
 */
#ifndef VCM_CLI_ARGS_H
#define VCM_CLI_ARGS_H

#include "base/arena.h"
#include "ops/op.h"

/* An option of every command. */
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
    const char *family;          /* the first word of a family when the second is missing */
    struct vcm_op_value *values; /* of the operation's parameters */
    /* The command line as a shell takes it, without --cursor: up to "--", and from there on. */
    struct vcm_buf typed, typed_end;
    struct vcm_arena arena;
};

/* All commands: the operations, then those of the command line itself. NULL after the last. */
const struct vcm_op *vcm_args_command(size_t index);

/* The command of one word, or of two if `second` is not NULL; NULL if there is none. */
const struct vcm_op *vcm_args_find(const char *first, const char *second);

/* Whether there are commands of two words that begin with this one. */
bool vcm_args_is_family(const char *word);

/* Sets INVALID_ARGUMENT: there is no such command; with a suggestion. */
int vcm_args_refuse(const char *first, const char *second, struct vcm_error *err);

/* Asserts what must hold for the commands and for the global options: each is described, can be
 * parsed, and no option of a command has the name of a global one. Debug builds call it first. */
void vcm_args_assert(void);

/* INVALID_ARGUMENT, with a suggestion if a name is similar. Options before the mistake, and --json
 * anywhere, are filled in even then. Release after a failure, too. */
int vcm_args_parse(struct vcm_args *args, int argc, const char *const *argv, struct vcm_error *err);
void vcm_args_release(struct vcm_args *args);

#endif
