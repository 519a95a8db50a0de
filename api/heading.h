/*
 * heading.h - what stands above a later part of a file: the nearest earlier line that begins at
 * column 0 with a letter or '_', as diffs show it. Private to api/.
 *
 * The earlier text is in the records before, which stand in the same page or in the pages before it
 * in the scope's table; they are read as far back as needed. Reading them is not counted. Where one
 * of them cannot be had any more there is no heading.
 */
#ifndef VCM_API_HEADING_H
#define VCM_API_HEADING_H

#include "api/vcm.h"
#include "base/arena.h"
#include "vcm/residency/page_cache.h"

struct vcm_heading_place {
    struct vcm_page_cache *cache;
    struct vcm_kv_txn *txn;
    uint64_t mapping;
    uint32_t seq; /* of the page */
};

/* Fills in `heading` of the page's records that are later parts; texts go to the arena. */
int vcm_heading_fill(struct vcm_record *records, size_t count, struct vcm_arena *arena,
                     const struct vcm_heading_place *place, struct vcm_error *err);

/* One step of the search, backwards through the parts of a file. `before` is the line that the
 * heading must be above. */
struct vcm_heading_search {
    uint32_t before;
    bool has_pending; /* the first line of the part looked at last would do, if it is at column 0 */
    uint32_t pending_line;
    struct vcm_buf pending;
    struct vcm_buf found;
};

/* Looks at the next earlier part; true when the search is over. `found` is then the heading, empty
 * when there is none. */
bool vcm_heading_step(struct vcm_heading_search *search, struct vcm_slice text, uint32_t start_line,
                      uint32_t end_line, uint32_t part);

#endif
