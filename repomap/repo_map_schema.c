#include "repomap/repo_map_schema.h"

#include "base/defaults.h"
#include "base/limits.h"
#include "repomap/repo_map.h"

#include "base/banned.h"

/* Longer names are not misspellings of these. */

const char *const vcm_schema_destinations[] = {
    [VCM_REPO_MAP_TO_KNOWLEDGE_BASE] = "knowledge_base",
    [VCM_REPO_MAP_TO_VCM] = "vcm",
    NULL,
};

const char *const vcm_schema_source_types[] = {VCM_REPO_MAP_GIT_REPO, VCM_REPO_MAP_LITERATURE,
                                               NULL};

static const char *const binary_policies[] = {"skip", "include", NULL};

static const struct vcm_schema_key top_keys[] = {
    {
        .name = "schema_version",
        .type = VCM_SCHEMA_INT,
        .required = true,
        .min = VCM_SCHEMA_VERSION,
        .max = VCM_SCHEMA_VERSION,
        .summary = "The version of this format.",
    },
    {
        .name = "sources",
        .type = VCM_SCHEMA_SOURCES,
        .required = true,
        .summary = "What is mapped to pages, a row for each scope. May be empty.",
    },
    {
        .name = "knowledge_routing",
        .type = VCM_SCHEMA_ROUTES,
        .default_text = "[]",
        .summary = "Which files go to the knowledge base.",
    },
};

const struct vcm_schema_key vcm_schema_source_keys[] = {
    [VCM_REPO_MAP_NAME] =
        {
            .name = "name",
            .type = VCM_SCHEMA_STRING,
            .form = VCM_SCHEMA_NAME,
            .required = true,
            .summary = "Names the row and its scope: 1 to 128 of `A-Z a-z 0-9 . _ -`, unique among "
                       "the sources.",
        },
    [VCM_REPO_MAP_TYPE] =
        {
            .name = "type",
            .type = VCM_SCHEMA_STRING,
            .form = VCM_SCHEMA_SOURCE_TYPE,
            .required = true,
            .summary = "What kind of source: `git_repo`, `literature`, or a type that the program "
                       "registered.",
        },
    [VCM_REPO_MAP_ORIGIN_URL] =
        {
            .name = "origin_url",
            .type = VCM_SCHEMA_STRING,
            .form = VCM_SCHEMA_ADDRESS,
            .summary = "Another repository, by git URL or path. Not together with `submodule`.",
        },
    [VCM_REPO_MAP_SUBMODULE] =
        {
            .name = "submodule",
            .type = VCM_SCHEMA_STRING,
            .form = VCM_SCHEMA_SUBMODULE,
            .summary = "A submodule, by its path in `.gitmodules`. Its URL comes from there, its "
                       "commit from the mapped commit.",
        },
    [VCM_REPO_MAP_BRANCH] =
        {
            .name = "branch",
            .type = VCM_SCHEMA_STRING,
            .form = VCM_SCHEMA_ADDRESS,
            .default_text = VCM_SCHEMA_DEFAULT_BRANCH,
            .summary = "The branch to map. A row of this repository follows the caller instead, "
                       "unless it is set.",
        },
    [VCM_REPO_MAP_COMMIT] =
        {
            .name = "commit",
            .type = VCM_SCHEMA_STRING,
            .form = VCM_SCHEMA_ADDRESS,
            .default_text = VCM_SCHEMA_DEFAULT_COMMIT,
            .summary = "The commit to map. Ignored on submodule rows.",
        },
    [VCM_REPO_MAP_START_DIR] =
        {
            .name = "start_dir",
            .type = VCM_SCHEMA_STRING,
            .form = VCM_SCHEMA_DIRECTORY,
            .summary = "The directory to map, relative to the root, without `..`. The whole tree "
                       "unless set.",
        },
    [VCM_REPO_MAP_INCLUDE_GLOBS] =
        {
            .name = "include_globs",
            .type = VCM_SCHEMA_GLOBS,
            .min = 1,
            .summary = "Take only what these gitignore patterns match, relative to `start_dir`.",
        },
    [VCM_REPO_MAP_EXCLUDE_GLOBS] =
        {
            .name = "exclude_globs",
            .type = VCM_SCHEMA_GLOBS,
            .summary = "Leave out what these gitignore patterns match, relative to `start_dir`.",
        },
    [VCM_REPO_MAP_BINARY_POLICY] =
        {
            .name = "binary_policy",
            .type = VCM_SCHEMA_STRING,
            .default_text = "skip",
            .words = binary_policies,
            .only_type = VCM_REPO_MAP_GIT_REPO,
            .summary = "Whether binary files become records.",
        },
    [VCM_REPO_MAP_STATIC] =
        {
            .name = "static",
            .type = VCM_SCHEMA_BOOL,
            .default_text = "false",
            .summary = "Frozen: `vcm watch` does not follow the row.",
        },
    [VCM_REPO_MAP_CHUNK_TARGET_TOKENS] =
        {
            .name = "chunk_target_tokens",
            .type = VCM_SCHEMA_INT,
            .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_CHUNK_TARGET_TOKENS),
            .min = 1,
            .max = VCM_LIMIT_TOKEN_BUDGET_MAX,
            .only_type = VCM_REPO_MAP_LITERATURE,
            .summary = "The most tokens in a chunk of prose.",
        },
    [VCM_REPO_MAP_CHUNK_OVERLAP_TOKENS] =
        {
            .name = "chunk_overlap_tokens",
            .type = VCM_SCHEMA_INT,
            .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_CHUNK_OVERLAP_TOKENS),
            .min = 0,
            .max = VCM_LIMIT_TOKEN_BUDGET_MAX,
            .only_type = VCM_REPO_MAP_LITERATURE,
            .summary = "How much of a chunk the next one repeats. Less than "
                       "`chunk_target_tokens`.",
        },
    [VCM_REPO_MAP_FLUSH_THRESHOLD] =
        {
            .name = "flush_threshold",
            .type = VCM_SCHEMA_INT,
            .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_FLUSH_THRESHOLD),
            .min = 1,
            .max = VCM_LIMIT_FLUSH_THRESHOLD_MAX,
            .summary = "The most records in a page. If not set, `mmap.flush_threshold` of the "
                       "configuration applies.",
        },
    [VCM_REPO_MAP_FLUSH_TOKEN_BUDGET] =
        {
            .name = "flush_token_budget",
            .type = VCM_SCHEMA_INT,
            .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_FLUSH_TOKEN_BUDGET),
            .min = VCM_LIMIT_TOKEN_BUDGET_MIN,
            .max = VCM_LIMIT_TOKEN_BUDGET_MAX,
            .summary = "The most tokens in a page. If not set, `mmap.flush_token_budget` of the "
                       "configuration applies.",
        },
    [VCM_REPO_MAP_PINNED] =
        {
            .name = "pinned",
            .type = VCM_SCHEMA_BOOL,
            .default_text = "false",
            .summary = "Pages are exempt from eviction. If not set, `mmap.pinned` of the "
                       "configuration applies.",
        },
};

static const struct vcm_schema_key route_keys[] = {
    {
        .name = "paths",
        .type = VCM_SCHEMA_GLOBS,
        .min = 1,
        .required = true,
        .summary = "The files, by gitignore patterns relative to the root of the repository.",
    },
    {
        .name = "ingest_to",
        .type = VCM_SCHEMA_STRING,
        .default_text = "knowledge_base",
        .words = vcm_schema_destinations,
        .summary = "`vcm` keeps the files out of the knowledge base: they are mapped to pages by a "
                   "`literature` row instead.",
    },
    {
        .name = "profile",
        .type = VCM_SCHEMA_STRING,
        .summary = "What kind of knowledge it is; the `data_type` of its chunks.",
    },
};

#define COUNT(keys) (unsigned)(sizeof(keys) / sizeof((keys)[0]))

const struct vcm_schema_level vcm_schema_top = {"map", top_keys, COUNT(top_keys)};
const struct vcm_schema_level vcm_schema_source = {"source", vcm_schema_source_keys,
                                                   COUNT(vcm_schema_source_keys)};
const struct vcm_schema_level vcm_schema_route = {"route", route_keys, COUNT(route_keys)};

_Static_assert(COUNT(vcm_schema_source_keys) == VCM_REPO_MAP_FIELDS, "a key for each field");
_Static_assert(COUNT(vcm_schema_source_keys) <= VCM_SCHEMA_KEYS_MAX, "keys fit");

int vcm_repo_map_schema_find(const struct vcm_schema_level *level, struct vcm_slice name)
{
    for (unsigned i = 0; i < level->count; i++)
        if (vcm_slice_equal(name, vcm_slice_of_string(level->keys[i].name)))
            return (int)i;
    return -1;
}
