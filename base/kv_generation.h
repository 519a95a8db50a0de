/*
 * kv_generation.h - which of a store's data files is in use.
 *
 * Compaction copies what is in use to a new file. Generation 0 of a store has its files in the
 * store's directory, generation N in the directory N below it. The current number is in the file
 * `generation`, which every process maps; it only grows, and only under the writers' lock. The
 * files of other generations are leftovers of killed processes.
 */
#ifndef VCM_BASE_KV_GENERATION_H
#define VCM_BASE_KV_GENERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/limits.h"

struct vcm_kv_generation {
    const char *directory;              /* the store's; the caller's */
    _Atomic(_Atomic uint64_t *) number; /* the mapped file; NULL while there is none */
};

/* Maps the file. A writable store creates it when it is missing; a store that is only read may have
 * none. */
void vcm_kv_generation_open(struct vcm_kv_generation *generation, const char *directory,
                            bool writable);
void vcm_kv_generation_close(struct vcm_kv_generation *generation);

/* The current number. Any thread, at any time; cheap. */
uint64_t vcm_kv_generation_now(struct vcm_kv_generation *generation);

/* The directory of a generation; with `suffix`, the directory of one that is being written. False:
 * too long. */
bool vcm_kv_generation_path(char out[VCM_LIMIT_PATH_BYTES],
                            const struct vcm_kv_generation *generation, uint64_t number,
                            const char *suffix);

/* The caller holds the writers' lock. Whether vcm_kv_generation_raise() is possible. */
int vcm_kv_generation_prepare(const struct vcm_kv_generation *generation, struct vcm_error *err);

/* The caller holds the writers' lock. Makes another generation the current one, for good. */
int vcm_kv_generation_raise(const struct vcm_kv_generation *generation, uint64_t number,
                            struct vcm_error *err);

/* The caller holds the writers' lock and has the environment of `current` open. Removes all other
 * generations, best effort. */
void vcm_kv_generation_sweep(const struct vcm_kv_generation *generation, uint64_t current);

/* Syncs a directory, so that its names survive a crash. 0 or an errno. */
int vcm_kv_generation_sync(const char *directory);

#endif
