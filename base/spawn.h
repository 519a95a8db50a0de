/*
 * spawn.h - runs a program by argument vector, never through a shell, with limits on time, output
 * and memory.
 *
 * The child gets its own process group, which is killed as a whole at the time limit, on
 * cancellation and when it writes too much; no descriptor but 0, 1 and 2; default signal
 * dispositions. It is killed when the thread that waits for it dies, or, if it starts programs of
 * its own, with all of them when this process dies. Safe in a threaded process.
 */
#ifndef VCM_BASE_SPAWN_H
#define VCM_BASE_SPAWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"

struct vcm_spawn_options {
    const char *const *argv;        /* argv[0] is looked up in PATH; ends with NULL */
    const char *const *environment; /* whole environment of the child, or NULL for ours */
    const char *directory;          /* working directory, or NULL */
    struct vcm_slice input;         /* written to its standard input, which is then closed */
    unsigned timeout_ms;            /* 0 means VCM_LIMIT_SPAWN_TIMEOUT_MS */
    size_t memory_max;              /* RLIMIT_AS, 0 for none */
    size_t data_max;                /* RLIMIT_DATA, 0 for none: memory without mapped files */
    uint64_t file_max;              /* RLIMIT_FSIZE, 0 for none; SIGXFSZ is ignored then */
    unsigned cpu_seconds_max;       /* RLIMIT_CPU, 0 for none */
    bool starts_others;             /* programs of its own, which end with us (spawn_guard.h) */
    const struct vcm_cancel *cancel;
};

struct vcm_spawn_result {
    int exit_status; /* -1 when a signal ended it */
    int signal;      /* 0 when it exited by itself */
};

/*
 * Fills the caller's buffers (their `max` is the limit on output; NULL discards). Returns VCM_OK
 * when the program ran to its end, whatever its exit status. VCM_NOT_FOUND: no such program;
 * VCM_TIMEOUT, VCM_INTERRUPTED: killed; VCM_UNSUPPORTED: it wrote more than the buffer's maximum.
 */
int vcm_spawn_run(struct vcm_spawn_result *result, struct vcm_buf *out, struct vcm_buf *errors,
                  const struct vcm_spawn_options *options, struct vcm_error *err);

/* A program that keeps running and answers one question after another. One thread at a time may use
 * it. It is killed when the thread that opened it ends. */
struct vcm_spawn_program;

/* The time limit is for each answer, the other limits for its whole life; no input, no
 * cancellation. */
int vcm_spawn_open(struct vcm_spawn_program **out, const struct vcm_spawn_options *options,
                   struct vcm_error *err);

/* Whether the answer is complete; called as it grows. */
typedef bool (*vcm_spawn_complete_fn)(struct vcm_slice answer);

/* Appends to the caller's buffer until the answer is complete and the program has read the
 * question. IO_ERROR: it ended before that; TIMEOUT, UNSUPPORTED as above. After a failure it can
 * only be closed. */
int vcm_spawn_ask(struct vcm_buf *answer, struct vcm_spawn_program *program,
                  struct vcm_slice question, vcm_spawn_complete_fn is_complete,
                  struct vcm_error *err);

/* Kills it with its process group, and reaps it. */
void vcm_spawn_close(struct vcm_spawn_program *program);

#endif
