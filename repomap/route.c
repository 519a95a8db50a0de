#include "repomap/route.h"

#include <assert.h>

#include "sources/glob.h"

#include "base/banned.h"

int vcm_route_add_to_filter(struct vcm_path_filter *filter, const struct vcm_repo_map *map,
                            struct vcm_error *err)
{
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < map->route_count; i++) {
        const struct vcm_path_filter_spec spec = {
            .start_dir = "",
            .include = map->routes[i].paths.items,
            .include_count = map->routes[i].paths.count,
        };
        rc = vcm_path_filter_add(filter, &spec, err);
    }
    return rc;
}

/* Records that a route matches; called in the order of the routes. */
static void note(struct vcm_route_decision *decision, const struct vcm_repo_map *map,
                 unsigned route)
{
    assert(route < map->route_count);
    bool promotes = map->routes[route].ingest_to == VCM_REPO_MAP_TO_VCM;

    if (promotes && decision->outcome != VCM_ROUTE_PROMOTED)
        *decision = (struct vcm_route_decision){VCM_ROUTE_PROMOTED, route};
    else if (!promotes && decision->outcome == VCM_ROUTE_NONE)
        *decision = (struct vcm_route_decision){VCM_ROUTE_INGESTED, route};
}

struct vcm_route_decision vcm_route_decide(const struct vcm_repo_map *map, unsigned first,
                                           const struct vcm_path_filter_verdict *verdicts,
                                           unsigned count)
{
    struct vcm_route_decision decision = {VCM_ROUTE_NONE, 0};

    for (unsigned i = 0; i < count; i++)
        if (verdicts[i].verdict == VCM_PATH_TAKEN && verdicts[i].index >= first &&
            verdicts[i].index - first < map->route_count)
            note(&decision, map, verdicts[i].index - first);
    return decision;
}

static int takes(bool *out, const struct vcm_repo_map_route *route, struct vcm_slice path,
                 struct vcm_error *err)
{
    struct vcm_glob_list list;
    int rc = VCM_OK;

    vcm_glob_list_init(&list);
    for (unsigned i = 0; rc == VCM_OK && i < route->paths.count; i++)
        rc = vcm_glob_list_add(&list, vcm_slice_of_string(route->paths.items[i]), err);
    *out = rc == VCM_OK && vcm_glob_list_takes(&list, path);
    vcm_glob_list_release(&list);
    return rc;
}

int vcm_route_find(struct vcm_route_decision *out, const struct vcm_repo_map *map,
                   struct vcm_slice path, struct vcm_error *err)
{
    int rc = VCM_OK;

    *out = (struct vcm_route_decision){VCM_ROUTE_NONE, 0};
    for (unsigned i = 0; rc == VCM_OK && i < map->route_count; i++) {
        bool taken = false;
        rc = takes(&taken, &map->routes[i], path, err);
        if (taken)
            note(out, map, i);
    }
    return rc;
}
