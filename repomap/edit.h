/*
 * edit.h - changes the text of a map, and nothing but the lines that must change.
 *
 * Comments, order and layout are kept. Text is inserted after the last item of a list, or replaces
 * one value; if the layout leaves no safe place, the edit is refused. New lines end like those of
 * the text. The caller loads the result and checks with vcm_edit_check_is_exact() that it has
 * exactly the intended changes.
 */
#ifndef VCM_REPOMAP_EDIT_H
#define VCM_REPOMAP_EDIT_H

#include "repomap/repo_map.h"

#define VCM_EDIT_PATTERNS_MAX 64

struct vcm_edit_promotion {
    const char *const *routed; /* patterns to route to vcm */
    size_t routed_count;
    const char *const *covered; /* patterns for a literature row */
    size_t covered_count;
};

/* The changes that were made. */
struct vcm_edit_report {
    size_t routes_set; /* routes changed from knowledge_base to vcm */
    bool route_added;  /* for patterns without a route of their own, which are: */
    const char *added[VCM_EDIT_PATTERNS_MAX]; /* strings of the request */
    size_t added_count;
    const char *row; /* that got the patterns, or NULL; in the map or in `row_name` */
    bool row_added;
    char row_name[32];
};

/* Appends the new text. `map` is the parsed `text`. UNSUPPORTED when the text cannot be edited
 * safely, INVALID_ARGUMENT for too many patterns. */
int vcm_edit_promote(struct vcm_buf *out, struct vcm_edit_report *report, struct vcm_slice text,
                     const struct vcm_repo_map *map, const struct vcm_edit_promotion *promotion,
                     struct vcm_error *err);

/* Whether the edited map is the old one plus exactly the reported changes. */
bool vcm_edit_check_is_exact(const struct vcm_repo_map *after, const struct vcm_repo_map *before,
                             const struct vcm_edit_promotion *promotion,
                             const struct vcm_edit_report *report);

#endif
