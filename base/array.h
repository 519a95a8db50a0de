/*
 * array.h - arrays of any type that grow.
 *
 * The array is a pointer, its capacity a size_t beside it, both zero at first; the count is the
 * caller's. Growth doubles the capacity, checks every product, and stops at a maximum, so that
 * adding n items costs O(n). The same requests give the same capacities whatever the size of an
 * item is: two arrays that grow together may share one.
 *
 *      int rc = vcm_array_reserve(&list->items, &list->capacity, list->count + 1, MAX, err);
 *      if (rc != VCM_OK)
 *          return rc;
 *      list->items[list->count++] = item;
 *
 * A list whose limit a user can reach checks that limit first, with a message that names the thing;
 * the maximum here bounds the memory. After a failure the array and its capacity are unchanged.
 */
#ifndef VCM_BASE_ARRAY_H
#define VCM_BASE_ARRAY_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"

/* vcm_array_reserve(items, capacity, needed, max, err): room for `needed` items. `items` is the
 * address of the pointer to the first, which the caller frees with free(). VCM_UNSUPPORTED beyond
 * `max` items, VCM_INTERNAL without memory. */
#define vcm_array_reserve(items, capacity, needed, max, err)                                       \
    vcm_array_room((items), (capacity), (needed), sizeof **(items), (max), (err))

/* The same in an arena. The old, smaller array stays allocated until the arena is freed. */
#define vcm_array_reserve_in(arena, items, capacity, needed, max, err)                             \
    vcm_array_room_in((arena), (items), (capacity), (needed), sizeof **(items), (max), (err))

/* What the macros call when there is no room; `items` points to a pointer of any type. */
int vcm_array_grow(void *items, size_t *capacity, size_t needed, size_t size, size_t max,
                   struct vcm_error *err);
int vcm_array_grow_in(struct vcm_arena *arena, void *items, size_t *capacity, size_t needed,
                      size_t size, size_t max, struct vcm_error *err);

static inline int vcm_array_room(void *items, size_t *capacity, size_t needed, size_t size,
                                 size_t max, struct vcm_error *err)
{
    return needed <= *capacity ? VCM_OK : vcm_array_grow(items, capacity, needed, size, max, err);
}

static inline int vcm_array_room_in(struct vcm_arena *arena, void *items, size_t *capacity,
                                    size_t needed, size_t size, size_t max, struct vcm_error *err)
{
    return needed <= *capacity ? VCM_OK
                               : vcm_array_grow_in(arena, items, capacity, needed, size, max, err);
}

#endif
