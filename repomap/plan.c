#include "repomap/plan.h"

#include <string.h>

#include "base/limits.h"
#include "git/repo.h"
#include "git/tree.h"
#include "repomap/scope_id.h"

#include "base/banned.h"

#define ARENA_MAX (64 * VCM_MIB)

static int keep(const char **out, struct vcm_plan *plan, const struct vcm_buf *text,
                struct vcm_error *err)
{
    int rc = vcm_buf_check(text, "a name", err);
    if (rc != VCM_OK)
        return rc;
    *out = vcm_arena_copy(&plan->arena, vcm_buf_slice(text));
    return *out ? VCM_OK : vcm_error_memory(err);
}

static int describe_repository(struct vcm_plan *plan, struct vcm_git_repo *repo,
                               struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    vcm_buf_append_string(&text, vcm_git_repo_root(repo));
    int rc = keep(&plan->repo_root, plan, &text, err);
    if (rc == VCM_OK) {
        vcm_buf_clear(&text);
        rc = vcm_git_repo_origin(&text, repo, err);
    }
    if (rc == VCM_OK)
        rc = keep(&plan->origin_url, plan, &text, err);
    if (rc == VCM_OK)
        plan->origin = plan->origin_url[0] != '\0' ? plan->origin_url : plan->repo_root;
    vcm_buf_release(&text);
    return rc;
}

static int resolve_commit(struct vcm_git_id *id, struct vcm_plan *plan, struct vcm_git_repo *repo,
                          const struct vcm_plan_request *request, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    char hex[VCM_GIT_ID_HEX + 1];

    int rc = vcm_git_repo_resolve(id, repo, request->branch, request->commit, err);
    if (rc == VCM_OK) {
        vcm_git_id_to_hex(hex, id);
        vcm_buf_append_string(&text, hex);
        rc = keep(&plan->commit, plan, &text, err);
    }
    if (rc == VCM_OK) {
        vcm_buf_clear(&text);
        if (request->branch)
            vcm_buf_append_string(&text, request->branch);
        else
            rc = vcm_git_repo_head_branch(&text, repo, err);
    }
    if (rc == VCM_OK)
        rc = keep(&plan->branch, plan, &text, err);
    vcm_buf_release(&text);
    return rc;
}

static int load_map(const struct vcm_repo_map **map, struct vcm_plan *plan,
                    struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                    struct vcm_error *err)
{
    struct vcm_git_entry entry;
    struct vcm_error missing = {0};

    int rc = vcm_git_tree_entry(&entry, repo, commit, VCM_REPO_MAP_PATH, &missing);
    if (rc == VCM_OK)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "commit %.12s has a %s, which this version of vcm cannot read yet; "
                             "map a commit without one",
                             plan->commit, VCM_REPO_MAP_PATH);
    if (rc != VCM_NOT_FOUND) {
        *err = missing;
        return rc;
    }
    *map = &vcm_repo_map_default;
    plan->has_repo_map_file = (*map)->has_file;
    return VCM_OK;
}

static int settle_base(struct vcm_plan *plan, const struct vcm_plan_request *request,
                       struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    int rc = VCM_OK;

    if (request->base_scope) {
        rc = vcm_scope_id_check_base(request->base_scope, err);
        vcm_buf_append_string(&text, request->base_scope);
    } else {
        vcm_scope_id_derive(&text, plan->origin_url, plan->repo_root);
    }
    if (rc == VCM_OK)
        rc = keep(&plan->base_scope, plan, &text, err);
    vcm_buf_release(&text);
    return rc;
}

static bool is_wanted(const struct vcm_plan_request *request, const char *name)
{
    for (unsigned i = 0; i < request->only_count; i++)
        if (strcmp(request->only[i], name) == 0)
            return true;
    return request->only_count == 0;
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

static int plan_rows(struct vcm_plan *plan, const struct vcm_repo_map *map,
                     const struct vcm_plan_request *request, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(2 * VCM_LIMIT_SCOPE_ID_BYTES);

    int rc = check_only(map, request, err);
    if (rc == VCM_OK) {
        plan->rows = vcm_arena_alloc(&plan->arena, map->row_count * sizeof *plan->rows);
        rc = plan->rows ? VCM_OK : vcm_error_memory(err);
    }
    for (unsigned i = 0; rc == VCM_OK && i < map->row_count; i++) {
        if (!is_wanted(request, map->rows[i].name))
            continue;
        struct vcm_plan_row *row = &plan->rows[plan->row_count++];
        row->row = &map->rows[i];
        row->config = request->config;
        vcm_buf_clear(&text);
        vcm_scope_id_of_row(&text, plan->base_scope, row->row->name, map->row_count == 1);
        rc = keep(&row->scope_id, plan, &text, err);
    }
    vcm_buf_release(&text);
    return rc;
}

int vcm_plan_make(struct vcm_plan *plan, const struct vcm_plan_request *request,
                  struct vcm_error *err)
{
    const struct vcm_repo_map *map = NULL;
    struct vcm_git_repo *repo = NULL;
    struct vcm_git_id commit;

    memset(plan, 0, sizeof *plan);
    vcm_arena_init(&plan->arena, ARENA_MAX);
    plan->all_rows = request->only_count == 0;
    int rc = vcm_git_repo_open(&repo, request->repository, err);
    if (rc == VCM_OK)
        rc = describe_repository(plan, repo, err);
    if (rc == VCM_OK)
        rc = resolve_commit(&commit, plan, repo, request, err);
    if (rc == VCM_OK)
        rc = settle_base(plan, request, err);
    if (rc == VCM_OK)
        rc = load_map(&map, plan, repo, &commit, err);
    if (rc == VCM_OK)
        rc = plan_rows(plan, map, request, err);
    vcm_git_repo_close(repo);
    return rc;
}

void vcm_plan_release(struct vcm_plan *plan)
{
    if (!plan)
        return;
    vcm_arena_release(&plan->arena);
    memset(plan, 0, sizeof *plan);
}
