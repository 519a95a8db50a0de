/*
 * id_map.h - a hash table from page ids to numbers. Private to vcm/.
 *
 * A zeroed map is empty. Page ids are hashes, so their first bytes serve as the hash.
 */
#ifndef VCM_VCM_PAGE_ID_MAP_H
#define VCM_VCM_PAGE_ID_MAP_H

#include "vcm/page/page.h"

struct vcm_id_map_slot {
    struct vcm_page_id id;
    uint32_t number; /* plus 1; 0: free */
};

struct vcm_id_map {
    struct vcm_id_map_slot *slots;
    size_t size; /* a power of two, or 0 */
    size_t count;
};

void vcm_id_map_release(struct vcm_id_map *map);
void vcm_id_map_clear(struct vcm_id_map *map);

/* The id must not be in the map yet. */
int vcm_id_map_put(struct vcm_id_map *map, const struct vcm_page_id *id, uint32_t number,
                   struct vcm_error *err);

/* False, `*number` untouched, when the id is not in the map. */
bool vcm_id_map_find(uint32_t *number, const struct vcm_id_map *map, const struct vcm_page_id *id);

#endif
