/*
 * edit.h - changes the text of a map where something is to be said, and nowhere else.
 *
 * Comments, order and layout stay. Text is put in behind a list's last item, or in the place of one
 * value; what is written in a way that leaves no safe place is refused. The caller loads the result
 * and makes sure that it says what it should.
 */
#ifndef VCM_REPOMAP_EDIT_H
#define VCM_REPOMAP_EDIT_H

#include "repomap/repo_map.h"

struct vcm_edit_promotion {
    const char *const *routed; /* patterns that a route is to send to vcm */
    size_t routed_count;
    const char *const *covered; /* patterns that a literature row is to take */
    size_t covered_count;
};

/* What was done. */
struct vcm_edit_report {
    size_t routes_set; /* that led to the knowledge base before */
    bool route_added;  /* for the patterns that had none of their own */
    const char *row;   /* that takes the patterns now, or NULL; of the map, or in `row_name` */
    bool row_added;
    char row_name[32];
};

/* Appends the new text. `map` is what `text` says. UNSUPPORTED when the text cannot be edited
 * safely. */
int vcm_edit_promote(struct vcm_buf *out, struct vcm_edit_report *report, struct vcm_slice text,
                     const struct vcm_repo_map *map, const struct vcm_edit_promotion *promotion,
                     struct vcm_error *err);

#endif
