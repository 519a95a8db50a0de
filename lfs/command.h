/*
 * command.h - runs the git program in one repository: by argument vector, without prompts, with
 * hooks off, and messages in English, which are matched.
 *
 * Knows nothing about the commands that are run. Also translates git's errors.
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
    bool with_hooks_path;     /* keep core.hooksPath; only for commands that run no hooks */
    unsigned timeout_ms;      /* 0: VCM_LIMIT_SPAWN_TIMEOUT_MS */
    size_t memory_max;        /* of each process; 0: VCM_LIMIT_GIT_MEMORY */
    uint64_t bytes_max;       /* of each file that is written; 0: as large as the user's own are */
    const struct vcm_cancel *cancel;
};

/* The arguments behind "git". */
#define VCM_COMMAND_ARGS(...)                                                                      \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* Runs git to its end; *status is its exit status. `out` and `errors` may be NULL. Fails when git
 * cannot be run, is killed or writes more than a buffer's maximum. */
int vcm_command_run(int *status, struct vcm_buf *out, struct vcm_buf *errors,
                    const struct vcm_command *command, const char *const *args,
                    struct vcm_slice input, struct vcm_error *err);

/* Appends what git prints, without the line break at the end. An exit status other than 0 is an
 * error: AUTH_FAILED, NETWORK_ERROR, NOT_FOUND or IO_ERROR, depending on git's message. */
int vcm_command_read(struct vcm_buf *out, const struct vcm_command *command,
                     const char *const *args, struct vcm_slice input, struct vcm_error *err);

/* For commands whose exit status is the answer: 0 is yes, 1 is no, all others are errors. The
 * output is appended to `out`, unless that is NULL, as above. */
int vcm_command_ask(bool *yes, struct vcm_buf *out, const struct vcm_command *command,
                    const char *const *args, struct vcm_error *err);

/* Sets the error from git's output after a failure. `what` names the attempted action. */
int vcm_command_failure(struct vcm_error *err, const char *what, const char *stderr_text);

#endif
