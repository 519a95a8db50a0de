#include "repomap/repo_map.h"

#include "base/banned.h"

static const struct vcm_repo_map_row default_row = {
    .name = "default",
    .type = "git_repo",
    .start_dir = "",
};

const struct vcm_repo_map vcm_repo_map_default = {
    .has_file = false,
    .rows = &default_row,
    .row_count = 1,
};
