#include <string.h>

#include "repomap/edit.h"

#include "base/banned.h"

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether `after` is `before` followed by `more`. */
static bool is_list_with(const struct vcm_repo_map_list *after,
                         const struct vcm_repo_map_list *before, const char *const *more,
                         size_t more_count)
{
    if (after->count != before->count + more_count)
        return false;
    for (unsigned i = 0; i < after->count; i++)
        if (strcmp(after->items[i],
                   i < before->count ? before->items[i] : more[i - before->count]) != 0)
            return false;
    return true;
}

/* Whether the rows are equal except for the patterns added to include_globs. */
static bool is_row_with(const struct vcm_repo_map_row *after, const struct vcm_repo_map_row *before,
                        const char *const *more, size_t more_count)
{
    return same_text(after->name, before->name) && same_text(after->type, before->type) &&
           same_text(after->origin_url, before->origin_url) &&
           same_text(after->submodule, before->submodule) &&
           same_text(after->branch, before->branch) && same_text(after->commit, before->commit) &&
           same_text(after->start_dir, before->start_dir) &&
           is_list_with(&after->include_globs, &before->include_globs, more, more_count) &&
           is_list_with(&after->exclude_globs, &before->exclude_globs, NULL, 0) &&
           after->include_binaries == before->include_binaries &&
           after->is_static == before->is_static && after->pinned == before->pinned &&
           after->chunk_target_tokens == before->chunk_target_tokens &&
           after->chunk_overlap_tokens == before->chunk_overlap_tokens &&
           after->flush_threshold == before->flush_threshold &&
           after->flush_token_budget == before->flush_token_budget && after->set == before->set;
}

static bool is_new_row(const struct vcm_repo_map_row *row, const char *name,
                       const struct vcm_edit_promotion *promotion)
{
    static const struct vcm_repo_map_list none = {0};

    return same_text(row->name, name) && same_text(row->type, VCM_REPO_MAP_LITERATURE) &&
           row->set == (1u << VCM_REPO_MAP_NAME | 1u << VCM_REPO_MAP_TYPE |
                        1u << VCM_REPO_MAP_INCLUDE_GLOBS) &&
           is_list_with(&row->include_globs, &none, promotion->covered, promotion->covered_count);
}

static bool are_rows_exact(const struct vcm_repo_map *after, const struct vcm_repo_map *before,
                           const struct vcm_edit_promotion *promotion,
                           const struct vcm_edit_report *report)
{
    unsigned count = before->row_count;

    if (after->row_count != count + (report->row_added ? 1 : 0))
        return false;
    for (unsigned i = 0; i < count; i++) {
        bool extended =
            !report->row_added && report->row && strcmp(before->rows[i].name, report->row) == 0;
        if (!is_row_with(&after->rows[i], &before->rows[i], promotion->covered,
                         extended ? promotion->covered_count : 0))
            return false;
    }
    return !report->row_added || is_new_row(&after->rows[count], report->row_name, promotion);
}

static bool are_routes_exact(const struct vcm_repo_map *after, const struct vcm_repo_map *before,
                             const struct vcm_edit_report *report)
{
    static const struct vcm_repo_map_list none = {0};
    unsigned count = before->route_count;
    size_t set = 0;

    if (after->route_count != count + (report->route_added ? 1 : 0))
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct vcm_repo_map_route *new = &after->routes[i], *old = &before->routes[i];
        bool changed = new->ingest_to != old->ingest_to;
        if (!is_list_with(&new->paths, &old->paths, NULL, 0) ||
            !same_text(new->profile, old->profile) ||
            (changed && new->ingest_to != VCM_REPO_MAP_TO_VCM) ||
            (!changed && new->sets_ingest_to != old->sets_ingest_to))
            return false;
        set += changed ? 1 : 0;
    }
    if (set != report->routes_set)
        return false;
    return !report->route_added ||
           (after->routes[count].ingest_to == VCM_REPO_MAP_TO_VCM &&
            !after->routes[count].profile &&
            is_list_with(&after->routes[count].paths, &none, report->added, report->added_count));
}

bool vcm_edit_check_is_exact(const struct vcm_repo_map *after, const struct vcm_repo_map *before,
                             const struct vcm_edit_promotion *promotion,
                             const struct vcm_edit_report *report)
{
    return are_rows_exact(after, before, promotion, report) &&
           are_routes_exact(after, before, report);
}
