#include "repomap/plan.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "git/submodule.h"
#include "git/tree.h"
#include "git/url.h"
#include "repomap/repo_map_read.h"
#include "repomap/scope_id.h"
#include "sources/worktree.h"
#include "vcm/store/scope.h"

#include "base/banned.h"

#define ARENA_MAX (256 * VCM_MIB)

static int keep(const char **out, struct vcm_plan *plan, struct vcm_slice text,
                struct vcm_error *err)
{
    *out = vcm_arena_copy(&plan->arena, text);
    return *out ? VCM_OK : vcm_error_memory(err);
}

static int keep_buf(const char **out, struct vcm_plan *plan, const struct vcm_buf *text,
                    struct vcm_error *err)
{
    int rc = vcm_buf_check(text, "a name", err);
    return rc == VCM_OK ? keep(out, plan, vcm_buf_slice(text), err) : rc;
}

static int keep_id(const char **out, struct vcm_plan *plan, const struct vcm_git_id *id,
                   struct vcm_error *err)
{
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_repo_id_to_hex(hex, id);
    return keep(out, plan, vcm_slice_of_string(hex), err);
}

static int describe_repository(struct vcm_plan *plan, const struct vcm_plan_request *request,
                               struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = keep(&plan->repo_root, plan, vcm_slice_of_string(vcm_git_repo_root(plan->repo)), err);
    if (rc == VCM_OK && request->origin_url)
        vcm_git_repo_strip_credentials(&text, request->origin_url);
    else if (rc == VCM_OK)
        rc = vcm_git_repo_origin(&text, plan->repo, err);
    if (rc == VCM_OK)
        rc = keep_buf(&plan->origin_url, plan, &text, err);
    if (rc == VCM_OK)
        plan->origin = plan->origin_url[0] != '\0' ? plan->origin_url : plan->repo_root;
    vcm_buf_release(&text);
    return rc;
}

static int find_commit(struct vcm_plan *plan, const char *wanted, const char *commit,
                       struct vcm_error *err)
{
    struct vcm_buf branch = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_error unborn = {0};

    plan->commit = plan->branch = "";
    int rc = vcm_git_repo_resolve(&plan->commit_id, plan->repo, wanted, commit, &unborn);
    plan->has_commit = rc == VCM_OK;
    if (rc == VCM_OK)
        rc = keep_id(&plan->commit, plan, &plan->commit_id, err);
    else if (rc == VCM_NOT_FOUND && !wanted && !commit)
        rc = VCM_OK;
    else if (err)
        *err = unborn;
    if (rc == VCM_OK && wanted)
        vcm_buf_append_string(&branch, wanted);
    else if (rc == VCM_OK)
        rc = vcm_git_repo_head_branch(&branch, plan->repo, err);
    if (rc == VCM_OK)
        rc = keep_buf(&plan->branch, plan, &branch, err);
    vcm_buf_release(&branch);
    return rc;
}

static int settle_base(struct vcm_plan *plan, const struct vcm_plan_request *request,
                       struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    int rc = VCM_OK;

    if (request->base_scope) {
        rc = request->nested_scope ? vcm_scope_id_check_nested(request->base_scope, err)
                                   : vcm_scope_id_check_base(request->base_scope, err);
        vcm_buf_append_string(&text, request->base_scope);
    } else {
        vcm_scope_id_derive(&text, plan->origin_url, plan->repo_root);
    }
    if (rc == VCM_OK)
        rc = keep_buf(&plan->base_scope, plan, &text, err);
    vcm_buf_release(&text);
    return rc;
}

/* Fetches the commit, or uses what was fetched before when offline, and opens the clone. *commit is
 * its id if it was fetched. */
static int open_url(const char **commit, struct vcm_plan *plan,
                    const struct vcm_plan_request *request, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_git_clone clone = {0};
    int rc;

    plan->from_url = true;
    if (!request->clones)
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "a git URL cannot be fetched here");
    else if (request->offline)
        rc = vcm_git_clone_find(&path, request->clones, request->repository, err);
    else
        rc = vcm_git_clone_fetch(&clone, request->clones,
                                 &(struct vcm_git_clone_request){
                                     .url = request->repository,
                                     .branch = request->branch,
                                     .commit = request->commit,
                                 },
                                 err);
    if (rc == VCM_OK && !request->offline)
        rc = keep_id(commit, plan, &clone.commit, err);
    if (rc == VCM_OK)
        rc = vcm_git_repo_open(&plan->repo, request->offline ? vcm_buf_text(&path) : clone.path,
                               err);
    vcm_git_clone_release(&clone);
    vcm_buf_release(&path);
    return rc;
}

/* Completes one of our own clones that is named by its path and has only part of the commit. If the
 * rest cannot be fetched, the missing files are reported one by one. */
static int complete_clone(struct vcm_plan *plan, const struct vcm_plan_request *request,
                          struct vcm_error *err)
{
    struct vcm_buf url = VCM_BUF_INIT(VCM_LIMIT_URL_BYTES);
    struct vcm_git_clone clone = {0};
    struct vcm_error why = {0};

    if (plan->from_url || !plan->has_commit || !request->clones || request->offline ||
        !vcm_git_clone_is_partial(plan->repo, request->clones, &plan->commit_id))
        return VCM_OK;
    int rc = vcm_git_repo_origin(&url, plan->repo, &why);
    if (rc == VCM_OK)
        rc = vcm_git_clone_fetch(&clone, request->clones,
                                 &(struct vcm_git_clone_request){
                                     .url = vcm_buf_text(&url),
                                     .commit = plan->commit,
                                 },
                                 &why);
    if (rc == VCM_OK) {
        vcm_git_repo_close(plan->repo);
        rc = vcm_git_repo_open(&plan->repo, clone.path, err);
    } else if (rc == VCM_INTERRUPTED) {
        if (err)
            *err = why;
    } else {
        vcm_log_write(request->clones->log, VCM_LOG_WARNING,
                      "only a part of '%s' is here, and the rest cannot be fetched: %s",
                      plan->repo_root, why.message);
        rc = VCM_OK;
    }
    vcm_git_clone_release(&clone);
    vcm_buf_release(&url);
    return rc;
}

/* From here on the commit is the one that the working tree makes. */
static int take_worktree(struct vcm_plan *plan, const struct vcm_plan_request *request,
                         struct vcm_error *err)
{
    struct vcm_worktree worktree;

    if (!request->worktree)
        return VCM_OK;
    if (request->branch || request->commit)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "give the working tree, or a branch or commit, not both");
    if (plan->from_url)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "a URL has no working tree");
    int rc = vcm_worktree_take(&worktree, plan->repo, request->cancel, err);
    if (rc != VCM_OK)
        return rc;
    plan->has_commit = true;
    plan->commit_id = worktree.commit;
    plan->worktree_changes = worktree.changes;
    rc = keep_id(&plan->commit, plan, &worktree.commit, err);
    return rc == VCM_OK ? keep_id(&plan->tree, plan, &worktree.tree, err) : rc;
}

int vcm_plan_open(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err)
{
    memset(plan, 0, sizeof *plan);
    vcm_arena_init(&plan->arena, ARENA_MAX);
    vcm_buf_init(&plan->map_text, VCM_LIMIT_YAML_BYTES);
    vcm_problem_list_init(&plan->problems);
    plan->all_rows = request->only_count == 0 && !request->no_rows && !request->map_text;
    const char *commit = request->commit;
    int rc = vcm_git_url_is_remote(request->repository)
                 ? open_url(&commit, plan, request, err)
                 : vcm_git_repo_open(&plan->repo, request->repository, err);
    if (rc == VCM_OK)
        rc = describe_repository(plan, request, err);
    if (rc == VCM_OK)
        rc = find_commit(plan, request->branch, commit, err);
    if (rc == VCM_OK)
        rc = complete_clone(plan, request, err);
    if (rc == VCM_OK)
        rc = take_worktree(plan, request, err);
    if (rc == VCM_OK)
        rc = settle_base(plan, request, err);
    return rc;
}

static int read_map(bool *found, struct vcm_plan *plan, const struct vcm_plan_request *request,
                    struct vcm_error *err)
{
    bool bare = vcm_git_repo_is_bare(plan->repo), there = false;
    bool from_commit = bare || !request->from_working_tree || request->branch || request->commit;
    struct vcm_buf other = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);
    struct vcm_error ignored = {0};

    *found = false;
    if (!from_commit)
        return vcm_repo_map_read_directory(&plan->map_text, found, plan->repo_root, err);
    if (!plan->has_commit)
        return VCM_OK;
    int rc = vcm_repo_map_read_commit(&plan->map_text, found, plan->repo, &plan->commit_id, err);
    if (rc == VCM_OK && !bare && !plan->tree &&
        vcm_repo_map_read_directory(&other, &there, plan->repo_root, &ignored) == VCM_OK)
        plan->map_differs = there != *found ||
                            !vcm_slice_equal(vcm_buf_slice(&other), vcm_buf_slice(&plan->map_text));
    vcm_buf_release(&other);
    return rc;
}

/* Loads a map given by the caller. It is an argument, so its errors are INVALID_ARGUMENT. */
static int load_given(struct vcm_plan *plan, const struct vcm_plan_request *request,
                      struct vcm_error *err)
{
    struct vcm_error invalid = {0};
    unsigned i = 0;

    int rc = vcm_repo_map_load(&plan->map, &plan->problems, vcm_slice_of_string(request->map_text),
                               request->types, &invalid);
    while (i < plan->problems.count && plan->problems.items[i].is_warning)
        i++;
    if (rc == VCM_INVALID_REPO_MAP && i < plan->problems.count) {
        const struct vcm_problem *problem = &plan->problems.items[i];
        const char *dot = strrchr(problem->where, '.');
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s%s%s", dot ? dot + 1 : "",
                             dot ? ": " : "", problem->message);
    }
    if (rc != VCM_OK && err)
        *err = invalid;
    return rc;
}

int vcm_plan_load(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err)
{
    bool found = false;

    if (request->map_text)
        return load_given(plan, request, err);
    int rc = read_map(&found, plan, request, err);
    if (rc != VCM_OK)
        return rc;
    plan->has_map_file = found;
    if (!found) {
        plan->map = vcm_repo_map_default;
        return VCM_OK;
    }
    return vcm_repo_map_load(&plan->map, &plan->problems, vcm_buf_slice(&plan->map_text),
                             request->types, err);
}

int vcm_plan_check_directory(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                             const char *directory, struct vcm_error *err)
{
    bool found = false;

    int rc = vcm_git_tree_has_directory(&found, repo, commit, directory, err);
    if (rc == VCM_OK && !found)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "no directory '%s' in the tree", directory);
    return rc;
}

int vcm_plan_own_commit(struct vcm_git_id *out, const struct vcm_plan *plan,
                        const struct vcm_repo_map_row *row, struct vcm_error *err)
{
    bool sets_branch = vcm_repo_map_row_sets(row, VCM_REPO_MAP_BRANCH);
    bool sets_commit =
        vcm_repo_map_row_sets(row, VCM_REPO_MAP_COMMIT) && strcmp(row->commit, "HEAD") != 0;

    *out = plan->commit_id;
    if (!sets_branch && !sets_commit)
        return VCM_OK;
    return vcm_git_repo_resolve(out, plan->repo, sets_branch ? row->branch : NULL,
                                sets_commit ? row->commit : NULL, err);
}

static int resolve_own(struct vcm_plan_row *planned, struct vcm_plan *plan, struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;
    struct vcm_git_id commit;

    planned->origin_url = plan->origin;
    planned->branch = vcm_repo_map_row_sets(row, VCM_REPO_MAP_BRANCH) ? row->branch : plan->branch;
    planned->repository = plan->repo_root;
    int rc = vcm_plan_own_commit(&commit, plan, row, err);
    if (rc == VCM_OK)
        rc = keep_id(&planned->commit, plan, &commit, err);
    if (rc == VCM_OK)
        rc = vcm_plan_check_directory(plan->repo, &commit, row->start_dir, err);
    return rc;
}

/* Stores the row's URL without credentials. INVALID_ARGUMENT for a URL that url.h refuses, and for
 * a path on this machine in a map that came from a URL. */
static int keep_origin(struct vcm_plan_row *planned, struct vcm_plan *plan, const char *address,
                       struct vcm_error *err)
{
    struct vcm_git_url url;

    int rc = vcm_git_url_parse(&url, address, err);
    if (rc == VCM_OK && plan->from_url &&
        (url.transport == VCM_GIT_URL_PATH || url.transport == VCM_GIT_URL_FILE))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "row '%s' leads to '%s'; a map that came from a URL may not name files "
                           "of this machine",
                           planned->row->name, url.address);
    if (rc == VCM_OK)
        rc = keep(&planned->origin_url, plan, vcm_slice_of_string(url.address), err);
    vcm_git_url_release(&url);
    return rc;
}

static int resolve_submodule(struct vcm_plan_row *planned, struct vcm_plan *plan,
                             struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;
    struct vcm_git_submodule submodule = {0};
    struct vcm_git_repo *repo = NULL;
    struct vcm_error absent = {0};

    planned->branch = row->branch;
    int rc = vcm_git_submodule_find(&submodule, plan->repo, &plan->commit_id, row->submodule, err);
    if (rc == VCM_OK)
        rc = keep_origin(planned, plan, submodule.url, err);
    if (rc == VCM_OK)
        rc = keep_id(&planned->commit, plan, &submodule.commit, err);
    if (rc == VCM_OK && vcm_git_submodule_open(&repo, plan->repo, &submodule, &absent) == VCM_OK) {
        rc = vcm_plan_check_directory(repo, &submodule.commit, row->start_dir, err);
        if (rc == VCM_OK)
            rc =
                keep(&planned->repository, plan, vcm_slice_of_string(vcm_git_repo_root(repo)), err);
    }
    vcm_git_repo_close(repo);
    vcm_git_submodule_release(&submodule);
    return rc;
}

static int resolve_place(struct vcm_plan_row *planned, struct vcm_plan *plan, struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;

    if (row->origin_url && row->submodule)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "row '%s' has both origin_url and submodule; keep one of them",
                             row->name);
    if (row->submodule)
        return resolve_submodule(planned, plan, err);
    if (!row->origin_url)
        return resolve_own(planned, plan, err);
    planned->branch = row->branch;
    planned->commit = row->commit;
    return keep_origin(planned, plan, row->origin_url, err);
}

struct vcm_plan_config vcm_plan_config_of(const struct vcm_repo_map_row *row,
                                          const struct vcm_plan_request *request)
{
    struct vcm_plan_config config = request->defaults;

    if (vcm_repo_map_row_sets(row, VCM_REPO_MAP_FLUSH_THRESHOLD))
        config.flush_threshold = row->flush_threshold;
    if (vcm_repo_map_row_sets(row, VCM_REPO_MAP_FLUSH_TOKEN_BUDGET))
        config.flush_token_budget = row->flush_token_budget;
    if (vcm_repo_map_row_sets(row, VCM_REPO_MAP_PINNED))
        config.pinned = row->pinned;
    if (request->overrides.flush_threshold > 0)
        config.flush_threshold = request->overrides.flush_threshold;
    if (request->overrides.flush_token_budget > 0)
        config.flush_token_budget = request->overrides.flush_token_budget;
    config.pinned = config.pinned || request->overrides.pinned;
    return config;
}

void vcm_plan_configure(struct vcm_plan *plan, const struct vcm_plan_request *request)
{
    for (unsigned i = 0; i < plan->row_count; i++)
        plan->rows[i].config = vcm_plan_config_of(plan->rows[i].row, request);
}

static bool is_wanted(const struct vcm_plan_request *request, const char *name)
{
    for (unsigned i = 0; i < request->only_count; i++)
        if (strcmp(request->only[i], name) == 0)
            return true;
    return request->only_count == 0 && !request->no_rows;
}

static int check_only(const struct vcm_repo_map *map, const struct vcm_plan_request *request,
                      struct vcm_error *err)
{
    for (unsigned i = 0; i < request->only_count; i++) {
        unsigned row = 0;
        while (row < map->row_count && strcmp(map->rows[row].name, request->only[i]) != 0)
            row++;
        if (row == map->row_count)
            return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                                 "the map has no row '%s'; leave out --only to map every row",
                                 request->only[i]);
    }
    return VCM_OK;
}

/* Whether the row maps what lies in the working tree. */
static bool is_of_worktree(const struct vcm_repo_map_row *row)
{
    return !row->origin_url && !row->submodule &&
           !vcm_repo_map_row_sets(row, VCM_REPO_MAP_BRANCH) &&
           (!vcm_repo_map_row_sets(row, VCM_REPO_MAP_COMMIT) || strcmp(row->commit, "HEAD") == 0);
}

/* Fails only when memory runs out. */
static int plan_row(struct vcm_plan_row *planned, struct vcm_plan *plan,
                    const struct vcm_repo_map_row *row, struct vcm_error *err)
{
    struct vcm_buf scope_id = VCM_BUF_INIT(2 * VCM_LIMIT_SCOPE_ID_BYTES);

    planned->row = row;
    planned->branch = planned->commit = planned->origin_url = "";
    vcm_scope_id_of_row(&scope_id, plan->base_scope, row->name, plan->map.row_count == 1);
    if (plan->tree)
        vcm_buf_append_string(&scope_id, VCM_SCOPE_WORKTREE);
    int rc = keep_buf(&planned->scope_id, plan, &scope_id, err);
    planned->tree = plan->tree;
    if (rc == VCM_OK && plan->tree && !is_of_worktree(row))
        vcm_error_set(&planned->error, VCM_INVALID_ARGUMENT,
                      "row '%s' maps another repository or a fixed commit, not the working tree",
                      row->name);
    else if (rc == VCM_OK)
        resolve_place(planned, plan, &planned->error);
    vcm_buf_release(&scope_id);
    return rc;
}

/* What vcm_materialise_run() and previews rely on, of a row that was resolved. */
static void assert_row(const struct vcm_plan_row *planned, const struct vcm_plan *plan)
{
    assert(planned->row >= plan->map.rows && planned->row < plan->map.rows + plan->map.row_count);
    assert(plan->tree || vcm_scope_id_belongs(vcm_slice_of_string(planned->scope_id),
                                              vcm_slice_of_string(plan->base_scope)));
    assert(planned->origin_url && planned->branch && planned->commit);
    /* The commit is known, unless the row names another repository, which may not be here yet. */
    assert(planned->error.code != VCM_OK || planned->row->origin_url ||
           strlen(planned->commit) == VCM_GIT_ID_HEX);
    (void)planned;
    (void)plan;
}

int vcm_plan_resolve(struct vcm_plan *plan, const struct vcm_plan_request *request,
                     struct vcm_error *err)
{
    const struct vcm_repo_map *map = &plan->map;

    if (!plan->has_commit)
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "the repository '%s' has no commit yet; commit something first",
                             plan->repo_root);
    int rc = check_only(map, request, err);
    if (rc != VCM_OK)
        return rc;
    plan->rows = vcm_arena_alloc(&plan->arena, (map->row_count + 1) * sizeof *plan->rows);
    if (!plan->rows)
        return vcm_error_memory(err);
    for (unsigned i = 0; rc == VCM_OK && i < map->row_count; i++)
        if (is_wanted(request, map->rows[i].name) &&
            (!plan->tree || request->only_count > 0 || is_of_worktree(&map->rows[i])))
            rc = plan_row(&plan->rows[plan->row_count++], plan, &map->rows[i], err);
    for (unsigned i = 0; rc == VCM_OK && i < plan->row_count; i++)
        assert_row(&plan->rows[i], plan);
    return rc;
}

/* Rows and the configuration have these bounds in their schemas. */
static int check_overrides(const struct vcm_plan_request *request, struct vcm_error *err)
{
    if (request->overrides.flush_threshold > VCM_LIMIT_FLUSH_THRESHOLD_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "flush_threshold must be at most %d, not %u",
                             VCM_LIMIT_FLUSH_THRESHOLD_MAX, request->overrides.flush_threshold);
    if (request->overrides.flush_token_budget > VCM_LIMIT_TOKEN_BUDGET_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "flush_token_budget must be at most %d, not %u",
                             VCM_LIMIT_TOKEN_BUDGET_MAX, request->overrides.flush_token_budget);
    return VCM_OK;
}

int vcm_plan_make(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err)
{
    int rc = check_overrides(request, err);
    if (rc == VCM_OK)
        rc = vcm_plan_open(plan, request, err);
    if (rc == VCM_OK)
        rc = vcm_plan_load(plan, request, err);
    if (rc == VCM_OK)
        rc = vcm_plan_resolve(plan, request, err);
    if (rc == VCM_OK)
        rc = vcm_plan_fetch(plan, request, err);
    return rc;
}

void vcm_plan_release(struct vcm_plan *plan)
{
    if (!plan)
        return;
    vcm_git_repo_close(plan->repo);
    vcm_repo_map_release(&plan->map);
    vcm_buf_release(&plan->map_text);
    vcm_problem_list_release(&plan->problems);
    vcm_arena_release(&plan->arena);
    memset(plan, 0, sizeof *plan);
}
