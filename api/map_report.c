#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/mark.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/submodule.h"
#include "repomap/survey.h"

#include "base/banned.h"

#define REPORT_BYTES_MAX (256 * VCM_MIB)

/* The public report with the memory it points to. */
struct report {
    struct vcm_map_report public;
    uint32_t mark;
    struct vcm_plan plan;
    struct vcm_survey survey;
    struct vcm_map_row *rows; /* public.rows, while they are being filled in */
    struct vcm_buf path;
    struct vcm_arena arena;
};

enum wish {
    WISH_CHECK,
    WISH_PREVIEW,
    WISH_SHOW,
};

static const struct {
    enum vcm_repo_map_field field;
    enum vcm_map_field bit;
} optional_fields[] = {
    {VCM_REPO_MAP_START_DIR, VCM_MAP_START_DIR},
    {VCM_REPO_MAP_INCLUDE_GLOBS, VCM_MAP_INCLUDE_GLOBS},
    {VCM_REPO_MAP_EXCLUDE_GLOBS, VCM_MAP_EXCLUDE_GLOBS},
    {VCM_REPO_MAP_BINARY_POLICY, VCM_MAP_BINARY_POLICY},
    {VCM_REPO_MAP_STATIC, VCM_MAP_STATIC},
    {VCM_REPO_MAP_CHUNK_TARGET_TOKENS, VCM_MAP_CHUNK_TARGET_TOKENS},
    {VCM_REPO_MAP_CHUNK_OVERLAP_TOKENS, VCM_MAP_CHUNK_OVERLAP_TOKENS},
};

static uint32_t fields_set(const struct vcm_repo_map_row *row)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < sizeof optional_fields / sizeof optional_fields[0]; i++)
        if (vcm_repo_map_row_sets(row, optional_fields[i].field) &&
            vcm_repo_map_takes(row->type, optional_fields[i].field))
            bits |= optional_fields[i].bit;
    return bits;
}

/* Removes credentials from the URL. */
static int shown_url(const char **out, struct report *report, const char *url,
                     struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);

    *out = NULL;
    if (!url)
        return VCM_OK;
    vcm_git_repo_strip_credentials(&text, url);
    int rc = vcm_buf_check(&text, "a URL", err);
    if (rc == VCM_OK && !(*out = vcm_arena_copy(&report->arena, vcm_buf_slice(&text))))
        rc = vcm_error_memory(err);
    vcm_buf_release(&text);
    return rc;
}

static void describe_row(struct vcm_map_row *out, const struct vcm_repo_map_row *row,
                         const struct vcm_plan_config *config)
{
    bool literature = strcmp(row->type, VCM_REPO_MAP_LITERATURE) == 0;

    *out = (struct vcm_map_row){
        .name = row->name,
        .type = row->type,
        .submodule = row->submodule,
        .branch = row->branch,
        .commit = row->commit,
        .start_dir = vcm_handle_text_or_null(row->start_dir),
        .include_globs = vcm_repo_map_row_include(row).items,
        .include_count = vcm_repo_map_row_include(row).count,
        .exclude_globs = row->exclude_globs.items,
        .exclude_count = row->exclude_globs.count,
        .include_binaries = literature || row->include_binaries,
        .is_static = row->is_static,
        .chunk_target_tokens = row->chunk_target_tokens,
        .chunk_overlap_tokens = row->chunk_overlap_tokens,
        .flush_threshold = config->flush_threshold,
        .flush_token_budget = config->flush_token_budget,
        .pinned = config->pinned,
        .is_literature = literature,
        .sets = fields_set(row),
        .matched_files = -1,
    };
}

/* Describes the rows of the map or, if there is one, of the plan. */
static int describe_rows(struct report *report, const struct vcm_plan_request *request,
                         struct vcm_error *err)
{
    const struct vcm_plan *plan = &report->plan;
    bool planned = plan->rows != NULL;
    unsigned count = planned ? plan->row_count : plan->map.row_count;
    struct vcm_map_row *rows = vcm_arena_alloc(&report->arena, (count + 1) * sizeof *rows);

    if (!rows)
        return vcm_error_memory(err);
    for (unsigned i = 0; i < count; i++) {
        const struct vcm_plan_row *p = planned ? &plan->rows[i] : NULL;
        const struct vcm_repo_map_row *row = planned ? p->row : &plan->map.rows[i];
        struct vcm_plan_config config = vcm_plan_config_of(row, request);
        describe_row(&rows[i], row, &config);
        int rc = shown_url(&rows[i].origin_url, report, row->origin_url, err);
        if (rc != VCM_OK)
            return rc;
        if (!planned)
            continue;
        rows[i].scope_id = p->scope_id;
        rows[i].call_origin_url = p->origin_url;
        rows[i].call_branch = vcm_handle_text_or_null(p->branch);
        rows[i].call_commit = p->commit;
        rows[i].error = p->error.code != VCM_OK ? &p->error : NULL;
    }
    report->rows = rows;
    report->public.rows = rows;
    report->public.row_count = count;
    return VCM_OK;
}

/* Without a commit the tree is empty, so the count is 0. */
static int64_t nothing_counted(const struct vcm_plan *plan)
{
    return plan->has_commit ? -1 : 0;
}

static int describe_routes(struct report *report, struct vcm_error *err)
{
    const struct vcm_repo_map *map = &report->plan.map;
    struct vcm_map_route *routes =
        vcm_arena_alloc(&report->arena, (map->route_count + 1) * sizeof *routes);

    if (!routes)
        return vcm_error_memory(err);
    for (unsigned i = 0; i < map->route_count; i++)
        routes[i] = (struct vcm_map_route){
            .paths = map->routes[i].paths.items,
            .path_count = map->routes[i].paths.count,
            .ingest_to = vcm_repo_map_destination_name(map->routes[i].ingest_to),
            .profile = map->routes[i].profile,
            .matched_files = report->survey.routes ? (int64_t)report->survey.routes[i].matched_files
                                                   : nothing_counted(&report->plan),
        };
    report->public.routes = routes;
    report->public.route_count = map->route_count;
    return VCM_OK;
}

static int describe_problems(struct report *report, struct vcm_error *err)
{
    const struct vcm_problem_list *list = &report->plan.problems;
    struct vcm_map_problem *problems =
        vcm_arena_alloc(&report->arena, (list->count + 1) * sizeof *problems);

    if (!problems)
        return vcm_error_memory(err);
    for (unsigned i = 0; i < list->count; i++)
        problems[i] = (struct vcm_map_problem){
            .is_warning = list->items[i].is_warning,
            .line = list->items[i].place.line,
            .column = list->items[i].place.column,
            .where = list->items[i].where,
            .message = list->items[i].message,
        };
    report->public.problems = problems;
    report->public.problem_count = list->count;
    report->public.ok = list->error_count == 0;
    return VCM_OK;
}

/* Counts the files of a submodule row in the submodule's repository, if it is on this machine. */
static int survey_submodule(struct vcm_survey_row *out, struct report *report, unsigned index,
                            const struct vcm_survey_options *options, struct vcm_error *err)
{
    const struct vcm_plan *plan = &report->plan;
    struct vcm_git_submodule submodule = {0};
    struct vcm_git_repo *repo = NULL;
    struct vcm_error absent = {0};
    int rc = VCM_OK;

    if (vcm_git_submodule_find(&submodule, plan->repo, &plan->commit_id,
                               plan->map.rows[index].submodule, &absent) == VCM_OK &&
        vcm_git_submodule_open(&repo, plan->repo, &submodule, &absent) == VCM_OK)
        rc = vcm_survey_row(out, &plan->map, index, repo, &submodule.commit, options, err);
    vcm_git_repo_close(repo);
    vcm_git_submodule_release(&submodule);
    return rc;
}

/* Counts rows of this repository that map a commit of their own. A commit that is not on this
 * machine is not counted. */
static int survey_elsewhere(struct report *report, const struct vcm_survey_options *options,
                            struct vcm_error *err)
{
    const struct vcm_plan *plan = &report->plan;
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < plan->map.row_count; i++) {
        struct vcm_error absent = {0};
        struct vcm_git_id commit;
        if (options->elsewhere[i] &&
            vcm_plan_own_commit(&commit, plan, &plan->map.rows[i], &absent) == VCM_OK)
            rc = vcm_survey_row(&report->survey.rows[i], &plan->map, i, plan->repo, &commit,
                                options, err);
    }
    return rc;
}

/* Finds the rows that map another commit than the one being checked. */
static int find_elsewhere(bool **out, struct report *report, struct vcm_error *err)
{
    const struct vcm_plan *plan = &report->plan;
    bool *elsewhere = vcm_arena_alloc(&report->arena, plan->map.row_count + 1);

    *out = elsewhere;
    if (!elsewhere)
        return vcm_error_memory(err);
    for (unsigned i = 0; i < plan->map.row_count; i++) {
        struct vcm_error absent = {0};
        struct vcm_git_id commit;
        elsewhere[i] = vcm_survey_is_own(&plan->map.rows[i]) &&
                       (vcm_plan_own_commit(&commit, plan, &plan->map.rows[i], &absent) != VCM_OK ||
                        memcmp(&commit, &plan->commit_id, sizeof commit) != 0);
    }
    return VCM_OK;
}

static int survey(struct report *report, struct vcm *vcm, bool lint, struct vcm_error *err)
{
    struct vcm_plan *plan = &report->plan;
    bool *elsewhere = NULL;

    report->public.unmapped_files = 0;
    if (!plan->has_commit)
        return VCM_OK;
    int rc = find_elsewhere(&elsewhere, report, err);
    if (rc != VCM_OK)
        return rc;
    const struct vcm_survey_options options = {
        .problems = lint ? &plan->problems : NULL,
        .cache_capacity = vcm_config_number(&vcm->config, "cache.capacity"),
        .pinned_by_default = vcm_config_flag(&vcm->config, "mmap.pinned"),
        .cancel = vcm->cancel,
        .elsewhere = elsewhere,
    };
    rc = vcm_survey_run(&report->survey, &plan->map, plan->repo, &plan->commit_id, &options, err);
    for (unsigned i = 0; rc == VCM_OK && i < plan->map.row_count; i++)
        if (plan->map.rows[i].submodule && !plan->map.rows[i].origin_url)
            rc = survey_submodule(&report->survey.rows[i], report, i, &options, err);
    if (rc == VCM_OK)
        rc = survey_elsewhere(report, &options, err);
    report->public.unmapped_files = (int64_t)report->survey.unmapped_files;
    return rc;
}

static void fill_matches(struct report *report)
{
    const struct vcm_plan *plan = &report->plan;

    for (size_t i = 0; i < report->public.row_count; i++) {
        const struct vcm_repo_map_row *row = plan->rows ? plan->rows[i].row : &plan->map.rows[i];
        const struct vcm_survey_row *counted =
            report->survey.rows ? &report->survey.rows[row - plan->map.rows] : NULL;
        if (!counted && vcm_survey_is_own(row))
            report->rows[i].matched_files = nothing_counted(plan);
        else if (counted && counted->counted && !report->rows[i].error)
            report->rows[i].matched_files = (int64_t)counted->matched_files;
    }
}

static int describe(struct report *report, const struct vcm_plan_request *request,
                    struct vcm_error *err)
{
    const struct vcm_plan *plan = &report->plan;
    struct vcm_map_report *public = &report->public;

    vcm_path_join(&report->path, plan->repo_root, VCM_REPO_MAP_PATH);
    public->repo_root = plan->repo_root;
    public->is_bare = vcm_git_repo_is_bare(plan->repo);
    public->path = report->path.data;
    public->has_repo_map_file = plan->has_map_file;
    public->raw = plan->has_map_file ? vcm_buf_text(&plan->map_text) : NULL;
    public->raw_len = plan->map_text.len;
    public->origin_url = vcm_handle_text_or_null(plan->origin_url);
    public->branch = vcm_handle_text_or_null(plan->branch);
    public->commit = vcm_handle_text_or_null(plan->commit);
    public->base_scope_id = plan->base_scope;
    int rc = vcm_buf_check(&report->path, "the path of the map", err);
    if (rc == VCM_OK)
        rc = describe_problems(report, err);
    if (rc == VCM_OK)
        rc = describe_rows(report, request, err);
    if (rc == VCM_OK)
        rc = describe_routes(report, err);
    if (rc == VCM_OK)
        fill_matches(report);
    return rc;
}

static int fill(struct report *report, struct vcm *vcm, const struct vcm_map_query *query,
                enum wish wish, struct vcm_error *err)
{
    struct vcm_plan_request request = {
        .repository = query->repository,
        .base_scope = query->base_scope_id,
        .origin_url = query->origin_url,
        .branch = query->branch,
        .commit = query->commit,
        .from_working_tree = !query->from_commit,
        .only = query->only,
        .only_count = (unsigned)query->only_count,
        .overrides = {query->flush_threshold, query->flush_token_budget, query->pinned},
    };
    bool even_invalid = wish == WISH_CHECK || (wish == WISH_SHOW && query->even_invalid);
    struct vcm_error invalid = {0};

    report->public.unmapped_files = -1;
    vcm_handle_plan_defaults(&request, vcm);
    request.offline = wish == WISH_PREVIEW && !query->from_commit;
    int rc = vcm_handle_clones(&request, vcm, query->timeout_ms, err);
    if (rc == VCM_OK)
        rc = vcm_plan_open(&report->plan, &request, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_plan_load(&report->plan, &request, &invalid);
    bool is_readable = rc == VCM_OK;
    if (rc == VCM_INVALID_REPO_MAP && even_invalid && report->plan.problems.count > 0)
        rc = VCM_OK;
    else if (rc != VCM_OK && err)
        *err = invalid;
    if (rc == VCM_OK && wish == WISH_PREVIEW)
        rc = vcm_plan_resolve(&report->plan, &request, err);
    if (rc == VCM_OK && is_readable && wish != WISH_SHOW)
        rc = survey(report, vcm, wish == WISH_CHECK, err);
    return rc == VCM_OK ? describe(report, &request, err) : rc;
}

static int make(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                enum wish wish, struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query->repository));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"base_scope_id", query->base_scope_id}, {"branch", query->branch},
                       {"commit", query->commit});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("only", query->only, query->only_count, VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    struct report *report = calloc(1, sizeof *report);
    if (!report)
        return vcm_error_memory(err);
    report->mark = VCM_MARK_HELD;
    vcm_arena_init(&report->arena, REPORT_BYTES_MAX);
    vcm_buf_init(&report->path, 2 * VCM_LIMIT_PATH_BYTES);
    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = fill(report, vcm, query, wish, err);
    if (rc == VCM_OK)
        *out = &report->public;
    else
        vcm_map_report_free(&report->public);
    return rc;
}

int vcm_map_check(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                  struct vcm_error *err)
{
    return make(out, vcm, query, WISH_CHECK, err);
}

int vcm_map_preview(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                    struct vcm_error *err)
{
    return make(out, vcm, query, WISH_PREVIEW, err);
}

int vcm_map_show(struct vcm_map_report **out, struct vcm *vcm, const struct vcm_map_query *query,
                 struct vcm_error *err)
{
    return make(out, vcm, query, WISH_SHOW, err);
}

void vcm_map_report_free(struct vcm_map_report *report)
{
    struct report *whole = (struct report *)report;

    if (!whole)
        return;
    vcm_mark_give_back(&whole->mark);
    vcm_survey_release(&whole->survey);
    vcm_buf_release(&whole->path);
    vcm_plan_release(&whole->plan);
    vcm_arena_release(&whole->arena);
    free(whole);
}
