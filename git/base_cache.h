/*
 * base_cache.h - objects that deltas of a pack lead to, kept for the next delta that does.
 *
 * All caches of the process share one bound, VCM_LIMIT_BASE_CACHE_BYTES: each has an equal part.
 * What was not used for longest goes first. A cache belongs to one thread at a time.
 */
#ifndef VCM_GIT_BASE_CACHE_H
#define VCM_GIT_BASE_CACHE_H

#include <stdint.h>

#include "base/buf.h"

struct vcm_git_base_cache;

/* NULL without memory. */
struct vcm_git_base_cache *vcm_git_base_cache_open(void);
void vcm_git_base_cache_close(struct vcm_git_base_cache *cache);

/* The object at `offset` of the pack of this number; its data is NULL when it is not here. Valid
 * until the next call of vcm_git_base_cache_put(). */
struct vcm_slice vcm_git_base_cache_get(struct vcm_git_base_cache *cache, unsigned pack,
                                        uint64_t offset);

/* Takes over `data`, which is not here yet, and frees it when it has to go, be it at once. */
void vcm_git_base_cache_put(struct vcm_git_base_cache *cache, unsigned pack, uint64_t offset,
                            char *data, size_t len);

#endif
