#include "repomap/survey.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "git/blob.h"
#include "repomap/route.h"
#include "sources/path_filter.h"

#include "base/banned.h"

#define WHERE_MAX 96
#define PINNED_SHARE_MAX                                                                           \
    4 /* a pinned row may take this part of the cache before it is warned of                       \
       */
#define NO_ENTRY UINT32_MAX

/* The filter's entries: first the counted rows, then the routes. */
struct walk {
    const struct vcm_repo_map *map;
    const struct vcm_survey_options *options;
    struct vcm_survey *survey;
    struct vcm_git_repo *repo;
    struct vcm_path_filter *filter;
    uint32_t *entry_of_row; /* NO_ENTRY for rows that are not counted */
    uint32_t *row_of_entry;
    uint32_t row_entries;
};

static bool is_pinned(const struct walk *walk, const struct vcm_repo_map_row *row)
{
    return vcm_repo_map_row_sets(row, VCM_REPO_MAP_PINNED) ? row->pinned
                                                           : walk->options->pinned_by_default;
}

/* Measures only pinned rows, from the objects' headers. Objects that are not on this machine count
 * as 0 bytes. */
static int count_for_row(struct walk *walk, uint32_t row, const struct vcm_git_entry *entry,
                         struct vcm_error *err)
{
    struct vcm_error missing = {0};
    uint64_t size = 0;

    walk->survey->rows[row].matched_files++;
    if (walk->options->cache_capacity == 0 || !is_pinned(walk, &walk->map->rows[row]))
        return VCM_OK;
    int rc = vcm_git_blob_size(&size, walk->repo, &entry->id, &missing);
    walk->survey->rows[row].bytes += size;
    if (rc == VCM_INTERNAL)
        return vcm_error_memory(err);
    return VCM_OK;
}

static bool is_literature(const struct walk *walk, uint32_t row)
{
    return strcmp(walk->map->rows[row].type, VCM_REPO_MAP_LITERATURE) == 0;
}

static int count_file(void *context, const struct vcm_git_entry *entry,
                      const struct vcm_path_filter_verdict *verdicts, unsigned count,
                      struct vcm_error *err)
{
    struct walk *walk = context;
    bool mapped = false, covered = false;
    int rc = VCM_OK;

    if (entry->kind == VCM_GIT_SYMLINK || entry->kind == VCM_GIT_SUBMODULE)
        return VCM_OK;
    walk->survey->files++;
    for (unsigned i = 0; rc == VCM_OK && i < count; i++) {
        if (verdicts[i].verdict != VCM_PATH_TAKEN)
            continue;
        mapped = true;
        if (verdicts[i].index < walk->row_entries) {
            uint32_t row = walk->row_of_entry[verdicts[i].index];
            covered |= is_literature(walk, row);
            if (walk->survey->rows[row].counted)
                rc = count_for_row(walk, row, entry, err);
            continue;
        }
        /* Rows come before routes, so `covered` is final here. */
        uint32_t route = verdicts[i].index - walk->row_entries;
        walk->survey->routes[route].matched_files++;
        if (!covered && walk->map->routes[route].ingest_to == VCM_REPO_MAP_TO_VCM)
            walk->survey->routes[route].uncovered_files++;
    }
    if (!mapped)
        walk->survey->unmapped_files++;
    return rc;
}

static int add_row(struct walk *walk, uint32_t index, struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = &walk->map->rows[index];
    struct vcm_repo_map_list include = vcm_repo_map_row_include(row);
    const struct vcm_path_filter_spec spec = {
        .start_dir = row->start_dir,
        .include = include.items,
        .include_count = include.count,
        .exclude = row->exclude_globs.items,
        .exclude_count = row->exclude_globs.count,
        .heed_ignore_files = true,
    };

    int rc = vcm_path_filter_add(walk->filter, &spec, err);
    if (rc != VCM_OK)
        return rc;
    walk->entry_of_row[index] = walk->row_entries;
    walk->row_of_entry[walk->row_entries++] = index;
    return VCM_OK;
}

static void warn(const struct walk *walk, struct vcm_repo_map_place place, const char *where,
                 const char *message)
{
    vcm_problem_add(walk->options->problems, true, place, where, "%s", message);
}

typedef bool (*used_fn)(const struct vcm_path_filter *filter, unsigned index, unsigned pattern);

/* Does not warn of default patterns, which have no place in the file. */
static void warn_of_unused(const struct walk *walk, uint32_t entry,
                           const struct vcm_repo_map_list *list, used_fn is_used, const char *where)
{
    for (unsigned i = 0; list->places && i < list->count; i++) {
        char place[WHERE_MAX];
        char message[VCM_LIMIT_GLOB_BYTES];
        if (is_used(walk->filter, entry, i))
            continue;
        snprintf(place, sizeof place, "%s[%u]", where, i);
        snprintf(message, sizeof message, "'%.128s' matches nothing", list->items[i]);
        warn(walk, list->places[i], place, message);
    }
}

static void warn_of_size(const struct walk *walk, uint32_t index)
{
    const struct vcm_repo_map_row *row = &walk->map->rows[index];
    uint64_t bytes = walk->survey->rows[index].bytes;
    bool says_so = vcm_repo_map_row_sets(row, VCM_REPO_MAP_PINNED);
    char where[WHERE_MAX], message[256];

    if (bytes <= walk->options->cache_capacity / PINNED_SHARE_MAX)
        return;
    snprintf(where, sizeof where, "sources[%u].pinned", index);
    snprintf(message, sizeof message,
             "the row has %" PRIu64 " bytes, more than a quarter of the cache (%" PRIu64 "), and "
             "none of them can be evicted",
             bytes, walk->options->cache_capacity);
    warn(walk, says_so ? row->places[VCM_REPO_MAP_PINNED] : row->place, where, message);
}

static void lint_row(struct walk *walk, uint32_t index)
{
    const struct vcm_repo_map_row *row = &walk->map->rows[index];
    uint32_t entry = walk->entry_of_row[index];
    assert(entry < walk->row_entries && walk->row_of_entry[entry] == index);
    char where[WHERE_MAX];

    if (!walk->survey->rows[index].start_dir_found) {
        snprintf(where, sizeof where, "sources[%u].start_dir", index);
        warn(walk, row->places[VCM_REPO_MAP_START_DIR], where, "is no directory of the tree");
        return;
    }
    snprintf(where, sizeof where, "sources[%u].include_globs", index);
    warn_of_unused(walk, entry, &row->include_globs, vcm_path_filter_include_used, where);
    snprintf(where, sizeof where, "sources[%u].exclude_globs", index);
    warn_of_unused(walk, entry, &row->exclude_globs, vcm_path_filter_exclude_used, where);
    warn_of_size(walk, index);
}

static void lint_route(struct walk *walk, uint32_t index)
{
    const struct vcm_repo_map_route *route = &walk->map->routes[index];
    const struct vcm_survey_route *found = &walk->survey->routes[index];
    char where[WHERE_MAX], message[256];

    snprintf(where, sizeof where, "knowledge_routing[%u].paths", index);
    warn_of_unused(walk, walk->row_entries + index, &route->paths, vcm_path_filter_include_used,
                   where);
    assert(found->uncovered_files <= found->matched_files);
    if (found->uncovered_files == 0)
        return;
    snprintf(where, sizeof where, "knowledge_routing[%u]", index);
    snprintf(message, sizeof message,
             "%" PRIu64 " of %" PRIu64 " files go to vcm, but no literature source covers them; "
             "they are in no page and not in the knowledge base",
             found->uncovered_files, found->matched_files);
    warn(walk, route->place, where, message);
}

static int lint(struct walk *walk, bool routes, struct vcm_error *err)
{
    for (uint32_t i = 0; i < walk->row_entries; i++)
        if (walk->survey->rows[walk->row_of_entry[i]].counted)
            lint_row(walk, walk->row_of_entry[i]);
    for (uint32_t i = 0; routes && i < walk->map->route_count; i++)
        lint_route(walk, i);
    return vcm_problem_list_finish(walk->options->problems, err);
}

static int prepare(struct walk *walk, struct vcm_error *err)
{
    const struct vcm_repo_map *map = walk->map;

    memset(walk->survey, 0, sizeof *walk->survey);
    walk->survey->rows = calloc((size_t)map->row_count + 1, sizeof *walk->survey->rows);
    walk->survey->routes = calloc((size_t)map->route_count + 1, sizeof *walk->survey->routes);
    walk->entry_of_row = calloc((size_t)map->row_count + 1, sizeof *walk->entry_of_row);
    walk->row_of_entry = calloc((size_t)map->row_count + 1, sizeof *walk->row_of_entry);
    if (!walk->survey->rows || !walk->survey->routes || !walk->entry_of_row || !walk->row_of_entry)
        return vcm_error_memory(err);
    for (uint32_t i = 0; i < map->row_count; i++)
        walk->entry_of_row[i] = NO_ENTRY;
    int rc = vcm_path_filter_open(&walk->filter, err);
    if (rc != VCM_OK)
        return rc;
    vcm_path_filter_skip_excluded(walk->filter);
    if (walk->options->problems)
        vcm_path_filter_note_use(walk->filter);
    return VCM_OK;
}

static int run(struct walk *walk, const struct vcm_git_id *commit, struct vcm_error *err)
{
    int rc = vcm_path_filter_walk(walk->filter, walk->repo, commit, "", count_file, walk,
                                  walk->options->cancel, err);

    for (uint32_t i = 0; rc == VCM_OK && i < walk->row_entries; i++)
        walk->survey->rows[walk->row_of_entry[i]].start_dir_found =
            vcm_path_filter_found(walk->filter, i);
    return rc;
}

static void finish(struct walk *walk)
{
    vcm_path_filter_close(walk->filter);
    free(walk->entry_of_row);
    free(walk->row_of_entry);
}

int vcm_survey_run(struct vcm_survey *survey, const struct vcm_repo_map *map,
                   struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                   const struct vcm_survey_options *options, struct vcm_error *err)
{
    struct walk walk = {.map = map, .options = options, .survey = survey, .repo = repo};

    int rc = prepare(&walk, err);
    for (uint32_t i = 0; rc == VCM_OK && i < map->row_count; i++) {
        if (!vcm_survey_is_own(&map->rows[i]))
            continue;
        survey->rows[i].counted = !options->elsewhere || !options->elsewhere[i];
        rc = add_row(&walk, i, err);
    }
    if (rc == VCM_OK)
        rc = vcm_route_add_to_filter(walk.filter, map, err);
    if (rc == VCM_OK)
        rc = run(&walk, commit, err);
    if (rc == VCM_OK && options->problems)
        rc = lint(&walk, true, err);
    finish(&walk);
    return rc;
}

void vcm_survey_release(struct vcm_survey *survey)
{
    if (!survey)
        return;
    free(survey->rows);
    free(survey->routes);
    memset(survey, 0, sizeof *survey);
}

int vcm_survey_row(struct vcm_survey_row *out, const struct vcm_repo_map *map, unsigned row,
                   struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                   const struct vcm_survey_options *options, struct vcm_error *err)
{
    struct vcm_survey survey;
    struct walk walk = {.map = map, .options = options, .survey = &survey, .repo = repo};

    memset(out, 0, sizeof *out);
    int rc = prepare(&walk, err);
    if (rc == VCM_OK) {
        survey.rows[row].counted = true;
        rc = add_row(&walk, row, err);
    }
    if (rc == VCM_OK)
        rc = run(&walk, commit, err);
    if (rc == VCM_OK && options->problems)
        rc = lint(&walk, false, err);
    if (rc == VCM_OK)
        *out = survey.rows[row];
    finish(&walk);
    vcm_survey_release(&survey);
    return rc;
}
