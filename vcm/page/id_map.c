#include "vcm/page/id_map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/banned.h"

#define FIRST_SIZE 64u

void vcm_id_map_release(struct vcm_id_map *map)
{
    free(map->slots);
    *map = (struct vcm_id_map){.slots = NULL};
}

void vcm_id_map_clear(struct vcm_id_map *map)
{
    if (map->count > 0)
        memset(map->slots, 0, map->size * sizeof *map->slots);
    map->count = 0;
}

/* The slot of the id, or the free slot for it. */
static struct vcm_id_map_slot *place_of(struct vcm_id_map_slot *slots, size_t size,
                                        const struct vcm_page_id *id)
{
    uint64_t hash;

    assert(size > 0 && (size & (size - 1)) == 0);
    memcpy(&hash, id->bytes, sizeof hash);
    for (size_t at = hash & (size - 1);; at = (at + 1) & (size - 1))
        if (slots[at].number == 0 || memcmp(&slots[at].id, id, sizeof *id) == 0)
            return &slots[at];
}

static int grow(struct vcm_id_map *map, struct vcm_error *err)
{
    size_t size = map->size ? 2 * map->size : FIRST_SIZE;

    struct vcm_id_map_slot *slots = calloc(size, sizeof *slots);
    if (!slots)
        return vcm_error_memory(err);
    for (size_t i = 0; i < map->size; i++)
        if (map->slots[i].number != 0)
            *place_of(slots, size, &map->slots[i].id) = map->slots[i];
    free(map->slots);
    map->slots = slots;
    map->size = size;
    return VCM_OK;
}

int vcm_id_map_put(struct vcm_id_map *map, const struct vcm_page_id *id, uint32_t number,
                   struct vcm_error *err)
{
    int rc = 2 * (map->count + 1) > map->size ? grow(map, err) : VCM_OK;
    if (rc != VCM_OK)
        return rc;
    struct vcm_id_map_slot *slot = place_of(map->slots, map->size, id);
    assert(slot->number == 0 && number < UINT32_MAX);
    *slot = (struct vcm_id_map_slot){*id, number + 1};
    map->count++;
    assert(2 * map->count <= map->size); /* a search ends at a free slot */
    return VCM_OK;
}

bool vcm_id_map_find(uint32_t *number, const struct vcm_id_map *map, const struct vcm_page_id *id)
{
    if (map->count == 0)
        return false;
    const struct vcm_id_map_slot *slot = place_of(map->slots, map->size, id);
    if (slot->number != 0)
        *number = slot->number - 1;
    return slot->number != 0;
}
