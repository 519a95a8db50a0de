/*
 * command.h - runs the git program in one repository: by argument vector, without prompts, with
 * hooks off, in the language of its messages that we can read.
 *
 * Knows nothing about what is run; the answers of git in our words are here too.
 */
#ifndef VCM_LFS_COMMAND_H
#define VCM_LFS_COMMAND_H

#include "base/buf.h"
#include "base/cancel.h"

struct vcm_command {
    const char *directory;    /* where git runs */
    const char *index_file;   /* instead of the repository's index, or NULL */
    const char *author_name;  /* NULL: as configured */
    const char *author_email; /* NULL: as configured */
    bool with_hooks_path; /* keep core.hooksPath as configured; nothing that is run so has hooks */
    unsigned timeout_ms;  /* 0: VCM_LIMIT_SPAWN_TIMEOUT_MS */
    const struct vcm_cancel *cancel;
};

/* The arguments behind "git". */
#define VCM_COMMAND_ARGS(...)                                                                      \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* Runs git to its end; *status is its exit status. `out` and `errors` may be NULL. Fails when git
 * cannot be run, is stopped or writes more than a buffer takes. */
int vcm_command_run(int *status, struct vcm_buf *out, struct vcm_buf *errors,
                    const struct vcm_command *command, const char *const *args,
                    struct vcm_slice input, struct vcm_error *err);

/* Appends what git prints, without the line break at the end. An exit status but 0 is an error:
 * AUTH_FAILED, NETWORK_ERROR, NOT_FOUND or IO_ERROR by what git complained about. */
int vcm_command_read(struct vcm_buf *out, const struct vcm_command *command,
                     const char *const *args, struct vcm_slice input, struct vcm_error *err);

/* For commands that answer by their exit status: 0 is yes, 1 is no, the rest are errors. What git
 * prints goes to `out`, unless NULL, as above. */
int vcm_command_ask(bool *yes, struct vcm_buf *out, const struct vcm_command *command,
                    const char *const *args, struct vcm_error *err);

/* Sets the error for what git wrote when it failed. `what` says what was tried. */
int vcm_command_failure(struct vcm_error *err, const char *what, const char *stderr_text);

#endif
