/*
 * edit.h - changes the text of a map where something is to be said, and nowhere else.
 *
 * Comments, order and layout stay. Text is put in behind a list's last item, or in the place of one
 * value; what is written in a way that leaves no safe place is refused. New lines end as those of
 * the text do. The caller loads the result and asks vcm_edit_check_is_exact() whether it says what
 * it should, and nothing else.
 */
#ifndef VCM_REPOMAP_EDIT_H
#define VCM_REPOMAP_EDIT_H

#include "repomap/repo_map.h"

#define VCM_EDIT_PATTERNS_MAX 64

struct vcm_edit_promotion {
    const char *const *routed; /* patterns that a route is to send to vcm */
    size_t routed_count;
    const char *const *covered; /* patterns that a literature row is to take */
    size_t covered_count;
};

/* What was done. */
struct vcm_edit_report {
    size_t routes_set;                        /* that led to the knowledge base before */
    bool route_added;                         /* for the patterns that had none of their own: */
    const char *added[VCM_EDIT_PATTERNS_MAX]; /* of the promotion */
    size_t added_count;
    const char *row; /* that takes the patterns now, or NULL; of the map, or in `row_name` */
    bool row_added;
    char row_name[32];
};

/* Appends the new text. `map` is what `text` says. UNSUPPORTED when the text cannot be edited
 * safely, INVALID_ARGUMENT for too many patterns. */
int vcm_edit_promote(struct vcm_buf *out, struct vcm_edit_report *report, struct vcm_slice text,
                     const struct vcm_repo_map *map, const struct vcm_edit_promotion *promotion,
                     struct vcm_error *err);

/* Whether the edited map is the one before with exactly what was reported. */
bool vcm_edit_check_is_exact(const struct vcm_repo_map *after, const struct vcm_repo_map *before,
                             const struct vcm_edit_promotion *promotion,
                             const struct vcm_edit_report *report);

#endif
