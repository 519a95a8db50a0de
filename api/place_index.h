/*
 * place_index.h - the index of symbols of a place that has a repository.
 */
#ifndef VCM_API_PLACE_INDEX_H
#define VCM_API_PLACE_INDEX_H

#include "api/place.h"
#include "api/symbols_place.h"
#include "symbols/index.h"

struct vcm_place_index {
    struct vcm_symbols_place store;
    struct vcm_index *index; /* of all files of the place; NULL until it is open */
};

void vcm_place_index_init(struct vcm_place_index *index);
void vcm_place_index_release(struct vcm_place_index *index);

/* Opens the index, and reads the symbols of files that were never read. A damaged store of symbols
 * is made anew. In a home that cannot be written a temporary copy is used. Codes of
 * vcm_index_open(). */
int vcm_place_index_open(struct vcm_place_index *out, struct vcm_place *place,
                         struct vcm_error *err);

/* Opens it only when all of it is stored; else out->index is NULL. Writes nothing. Never fails: the
 * caller can do without. */
void vcm_place_index_open_stored(struct vcm_place_index *out, struct vcm_place *place);

/* The number of the file with this path. */
bool vcm_place_index_find(size_t *file, const struct vcm_place_index *index, struct vcm_slice path);

#endif
