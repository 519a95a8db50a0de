/*
 * kv_generation.h - which of a store's data files is the one in force.
 *
 * Giving space back to the disk means copying what is in use to a new file. Generation 0 of a store
 * has its files in the store's directory, generation N in the directory N below it. The number in
 * force is in the file `generation`, which every process maps; it only grows, and only under the
 * writers' lock. The files of other generations are what a killed process left.
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

/* Maps the file, which is made when it is missing and may be written. It may also be absent. */
void vcm_kv_generation_open(struct vcm_kv_generation *generation, const char *directory,
                            bool writable);
void vcm_kv_generation_close(struct vcm_kv_generation *generation);

/* The number in force. Any thread, at any time; cheap. */
uint64_t vcm_kv_generation_now(struct vcm_kv_generation *generation);

/* The directory of a generation; with `suffix` one that is being made. False: too long. */
bool vcm_kv_generation_path(char out[VCM_LIMIT_PATH_BYTES],
                            const struct vcm_kv_generation *generation, uint64_t number,
                            const char *suffix);

/* With the writers' lock. Whether vcm_kv_generation_raise() can be done. */
int vcm_kv_generation_prepare(const struct vcm_kv_generation *generation, struct vcm_error *err);

/* With the writers' lock: puts another number in force, for good. */
int vcm_kv_generation_raise(const struct vcm_kv_generation *generation, uint64_t number,
                            struct vcm_error *err);

/* With the writers' lock and the environment of `current` open: removes all other generations. Best
 * effort. */
void vcm_kv_generation_sweep(const struct vcm_kv_generation *generation, uint64_t current);

/* Makes the names in a directory last. 0 or an errno. */
int vcm_kv_generation_sync(const char *directory);

#endif
