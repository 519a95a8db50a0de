/*
 * heading.h - the heading of a later part of a file: the nearest earlier line that begins at column
 * 0 with a letter or '_', as diffs show it. Private to api/.
 *
 * The earlier text is in earlier records of the same page or of earlier pages of the scope's table.
 * They are read backwards as far as needed; these reads are not counted. If one of them is not
 * available any more, the part has no heading.
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

/* Fills in `heading` of the page's records that are later parts of a file. Texts are allocated in
 * the arena. */
int vcm_heading_fill(struct vcm_record *records, size_t count, struct vcm_arena *arena,
                     const struct vcm_heading_place *place, struct vcm_error *err);

/* The state of a search backwards through the parts of a file. The heading must be above line
 * `before`. */
struct vcm_heading_search {
    uint32_t before;
    bool has_pending; /* the first line of the part read last is the heading, if it begins at column
                         0 */
    uint32_t pending_line;
    struct vcm_buf pending;
    struct vcm_buf found;
};

/* Searches the next earlier part. Returns true when the search is over; `found` is then the
 * heading, or empty if there is none. */
bool vcm_heading_step(struct vcm_heading_search *search, struct vcm_slice text, uint32_t start_line,
                      uint32_t end_line, uint32_t part);

#endif
