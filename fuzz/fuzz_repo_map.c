/*
 * fuzz_repo_map.c - the loader of repo maps: what it accepts is whole, what it refuses has a place.
 */
#include <assert.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "repomap/repo_map_load.h"
#include "repomap/route.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const struct vcm_repo_map_list *list)
{
    for (unsigned i = 0; i < list->count; i++)
        assert(list->items[i] && list->places[i].line > 0 && list->places[i].column > 0);
}

static void check_map(const struct vcm_repo_map *map)
{
    struct vcm_route_decision decision;

    for (unsigned i = 0; i < map->row_count; i++) {
        const struct vcm_repo_map_row *row = &map->rows[i];
        assert(row->name && row->type && row->branch && row->commit && row->start_dir);
        assert(row->start_dir[0] != '/' && strlen(row->name) <= VCM_LIMIT_NAME_BYTES);
        assert(row->flush_threshold > 0);
        assert(row->flush_token_budget >= VCM_LIMIT_TOKEN_BUDGET_MIN);
        check_list(&row->include_globs);
        check_list(&row->exclude_globs);
    }
    for (unsigned i = 0; i < map->route_count; i++) {
        assert(map->routes[i].paths.count > 0);
        check_list(&map->routes[i].paths);
    }
    if (vcm_route_find(&decision, map, vcm_slice_of_string("docs/a.md"), NULL) == VCM_OK)
        assert(decision.outcome == VCM_ROUTE_NONE || decision.route < map->route_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_problem_list problems;
    struct vcm_repo_map map;
    struct vcm_error err = {0};

    vcm_problem_list_init(&problems);
    int rc = vcm_repo_map_load(&map, &problems, vcm_slice_of(data, size), NULL, &err);
    assert(rc == (int)err.code);
    if (rc == VCM_OK)
        check_map(&map);
    else
        assert(map.row_count == 0 && err.message[0] != '\0');
    assert((rc == VCM_INVALID_REPO_MAP) == (problems.error_count > 0));
    for (unsigned i = 0; i < problems.count; i++) {
        assert(problems.items[i].place.line > 0 && problems.items[i].place.column > 0);
        assert(vcm_utf8_valid(vcm_slice_of_string(problems.items[i].message)));
        assert(vcm_utf8_valid(vcm_slice_of_string(problems.items[i].where)));
    }
    vcm_repo_map_release(&map);
    vcm_problem_list_release(&problems);
    return 0;
}
