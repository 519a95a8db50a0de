#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

#define BLOCK_BYTES ((size_t)16 * 1024)
#define ALIGNMENT   _Alignof(max_align_t)

struct vcm_arena_block {
    struct vcm_arena_block *next;
    size_t size;
    size_t used;
    max_align_t data[];
};

void vcm_arena_init(struct vcm_arena *arena, size_t max)
{
    memset(arena, 0, sizeof *arena);
    arena->max = max;
}

void vcm_arena_release(struct vcm_arena *arena)
{
    if (!arena)
        return;
    for (struct vcm_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    vcm_arena_init(arena, arena->max);
}

static struct vcm_arena_block *add_block(struct vcm_arena *arena, size_t size)
{
    size_t data_bytes = size > BLOCK_BYTES / 4 ? size : BLOCK_BYTES;
    struct vcm_arena_block *block = calloc(1, sizeof *block + data_bytes);
    if (!block)
        return NULL;
    block->size = data_bytes;
    /* A block of the exact size is put behind the newest one, which still has room. */
    if (arena->blocks && data_bytes != BLOCK_BYTES) {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
    return block;
}

void *vcm_arena_alloc(struct vcm_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > arena->max || arena->used > arena->max - size)
        return NULL;

    struct vcm_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        block = add_block(arena, size);
        if (!block)
            return NULL;
    }
    void *memory = (char *)block->data + block->used;
    block->used += size;
    arena->used += size;
    return memory;
}

char *vcm_arena_copy(struct vcm_arena *arena, struct vcm_slice bytes)
{
    char *copy = vcm_arena_alloc(arena, bytes.len + 1);
    if (copy && bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    return copy;
}
