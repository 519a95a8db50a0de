#include "base/array.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

#define ITEMS_FIRST ((size_t)16)

static int choose(size_t *out, size_t capacity, size_t needed, size_t size, size_t max,
                  struct vcm_error *err)
{
    assert(size > 0);
    *out = 0;
    if (needed > max)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "over the limits: a list of more than %zu entries", max);
    size_t wanted = capacity > max / 2 ? max : 2 * capacity;
    if (wanted < ITEMS_FIRST)
        wanted = max < ITEMS_FIRST ? max : ITEMS_FIRST;
    if (wanted < needed)
        wanted = needed;
    if (wanted > SIZE_MAX / size)
        return vcm_error_memory(err);
    *out = wanted;
    return VCM_OK;
}

/* The pointer is copied as bytes: it is of the caller's type, which this file does not know. */
int vcm_array_grow(void *items, size_t *capacity, size_t needed, size_t size, size_t max,
                   struct vcm_error *err)
{
    void *array = NULL;
    size_t wanted = 0;

    int rc = choose(&wanted, *capacity, needed, size, max, err);
    if (rc != VCM_OK)
        return rc;
    memcpy(&array, items, sizeof array);
    array = realloc(array, wanted * size);
    if (!array)
        return vcm_error_memory(err);
    memcpy(items, &array, sizeof array);
    *capacity = wanted;
    return VCM_OK;
}

int vcm_array_grow_in(struct vcm_arena *arena, void *items, size_t *capacity, size_t needed,
                      size_t size, size_t max, struct vcm_error *err)
{
    void *old = NULL;
    size_t wanted = 0;

    int rc = choose(&wanted, *capacity, needed, size, max, err);
    if (rc != VCM_OK)
        return rc;
    void *array = vcm_arena_alloc(arena, wanted * size);
    if (!array)
        return vcm_error_memory(err);
    memcpy(&old, items, sizeof old);
    if (*capacity > 0)
        memcpy(array, old, *capacity * size);
    memcpy(items, &array, sizeof array);
    *capacity = wanted;
    return VCM_OK;
}
