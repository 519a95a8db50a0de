/*
 * arena.h - memory for many small things that are freed together.
 *
 * Blocks are taken from malloc as needed up to a maximum; nothing is freed before the whole arena.
 * Every allocation is aligned for any type. One owner, no locking.
 */
#ifndef VCM_BASE_ARENA_H
#define VCM_BASE_ARENA_H

#include <stddef.h>

#include "base/buf.h"

struct vcm_arena_block;

struct vcm_arena {
    struct vcm_arena_block *blocks; /* newest first */
    size_t used;                    /* bytes handed out */
    size_t max;
};

void vcm_arena_init(struct vcm_arena *arena, size_t max);
void vcm_arena_release(struct vcm_arena *arena);

/* Zeroed memory, or NULL when the maximum or the machine's memory is reached. */
void *vcm_arena_alloc(struct vcm_arena *arena, size_t size);

/* A copy followed by a NUL, or NULL. */
char *vcm_arena_copy(struct vcm_arena *arena, struct vcm_slice bytes);

#endif
