/*
 * base_cache.h - a cache of the objects that deltas of a pack are based on.
 *
 * All caches of the process share one bound, VCM_LIMIT_BASE_CACHE_BYTES: each gets an equal share.
 * The least recently used object is evicted first. A cache belongs to one thread at a time.
 */
#ifndef VCM_GIT_BASE_CACHE_H
#define VCM_GIT_BASE_CACHE_H

#include <stdint.h>

#include "base/buf.h"

struct vcm_git_base_cache;

/* NULL without memory. */
struct vcm_git_base_cache *vcm_git_base_cache_open(void);
void vcm_git_base_cache_close(struct vcm_git_base_cache *cache);

/* The object at `offset` of the pack of this number; its data is NULL when it is not cached. Valid
 * until the next call of vcm_git_base_cache_put(). */
struct vcm_slice vcm_git_base_cache_get(struct vcm_git_base_cache *cache, unsigned pack,
                                        uint64_t offset);

/* Takes over `data`, which must not be cached yet, and frees it when it is evicted or not cached at
 * all. */
void vcm_git_base_cache_put(struct vcm_git_base_cache *cache, unsigned pack, uint64_t offset,
                            char *data, size_t len);

#endif
