#include "repomap/repo_map.h"

#include <string.h>

#include "base/defaults.h"
#include "repomap/repo_map_schema.h"

#include "base/banned.h"

static const char *const literature_globs[] = {"**/*.pdf", "**/*.txt", "**/*.md"};

static const struct vcm_repo_map_row default_row = {
    .name = "default",
    .type = VCM_REPO_MAP_GIT_REPO,
    .branch = VCM_SCHEMA_DEFAULT_BRANCH,
    .commit = VCM_SCHEMA_DEFAULT_COMMIT,
    .start_dir = "",
    .chunk_target_tokens = VCM_DEFAULT_CHUNK_TARGET_TOKENS,
    .chunk_overlap_tokens = VCM_DEFAULT_CHUNK_OVERLAP_TOKENS,
    .flush_threshold = VCM_DEFAULT_FLUSH_THRESHOLD,
    .flush_token_budget = VCM_DEFAULT_FLUSH_TOKEN_BUDGET,
};

const struct vcm_repo_map vcm_repo_map_default = {
    .has_file = false,
    .rows = &default_row,
    .row_count = 1,
};

void vcm_repo_map_release(struct vcm_repo_map *map)
{
    if (!map)
        return;
    vcm_arena_release(&map->arena);
    memset(map, 0, sizeof *map);
}

bool vcm_repo_map_takes(const char *type, enum vcm_repo_map_field field)
{
    const char *only = vcm_schema_source_keys[field].only_type;

    return !only || strcmp(only, type) == 0;
}

const char *vcm_repo_map_destination_name(enum vcm_repo_map_destination destination)
{
    return vcm_schema_destinations[destination];
}

struct vcm_repo_map_list vcm_repo_map_row_include(const struct vcm_repo_map_row *row)
{
    const struct vcm_repo_map_list own = {literature_globs, NULL,
                                          sizeof literature_globs / sizeof literature_globs[0]};

    if (row->include_globs.count > 0 || strcmp(row->type, VCM_REPO_MAP_LITERATURE) != 0)
        return row->include_globs;
    return own;
}
