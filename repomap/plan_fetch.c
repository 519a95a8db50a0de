#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/submodule.h"
#include "git/url.h"
#include "repomap/plan.h"

#include "base/banned.h"

static int keep(const char **out, struct vcm_plan *plan, const char *text, struct vcm_error *err)
{
    *out = vcm_arena_copy(&plan->arena, vcm_slice_of_string(text));
    return *out ? VCM_OK : vcm_error_memory(err);
}

/* Sets the row's repository and commit. */
static int place(struct vcm_plan_row *planned, struct vcm_plan *plan, struct vcm_git_repo *repo,
                 const struct vcm_git_id *commit, struct vcm_error *err)
{
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_repo_id_to_hex(hex, commit);
    int rc = keep(&planned->commit, plan, hex, err);
    if (rc == VCM_OK)
        rc = vcm_plan_check_directory(repo, commit, planned->row->start_dir, err);
    if (rc == VCM_OK)
        rc = keep(&planned->repository, plan, vcm_git_repo_root(repo), err);
    return rc;
}

static int place_in_clone(struct vcm_plan_row *planned, struct vcm_plan *plan, const char *path,
                          const struct vcm_git_id *commit, struct vcm_error *err)
{
    struct vcm_git_repo *repo = NULL;

    int rc = vcm_git_repo_open(&repo, path, err);
    if (rc == VCM_OK)
        rc = place(planned, plan, repo, commit, err);
    vcm_git_repo_close(repo);
    return rc;
}

static bool sets_commit(const struct vcm_repo_map_row *row)
{
    return vcm_repo_map_row_sets(row, VCM_REPO_MAP_COMMIT) && strcmp(row->commit, "HEAD") != 0;
}

static bool sets_branch(const struct vcm_repo_map_row *row)
{
    return vcm_repo_map_row_sets(row, VCM_REPO_MAP_BRANCH);
}

static int fetch(struct vcm_plan_row *planned, struct vcm_plan *plan,
                 const struct vcm_git_clones *clones, const struct vcm_git_clone_request *request,
                 struct vcm_error *err)
{
    struct vcm_git_clone clone = {0};

    int rc = vcm_git_clone_fetch(&clone, clones, request, err);
    if (rc == VCM_OK)
        rc = place_in_clone(planned, plan, clone.path, &clone.commit, err);
    if (rc == VCM_OK && !request->commit)
        rc = keep(&planned->branch, plan, clone.branch, err);
    vcm_git_clone_release(&clone);
    return rc;
}

/* Opens a repository at exactly this path. A repository that contains the path, perhaps the one of
 * the map, is not the one that was named. */
static int open_path(struct vcm_git_repo **out, const struct vcm_plan *plan, const char *path,
                     struct vcm_error *err)
{
    struct vcm_buf place_name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf git_dir = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    *out = NULL;
    if (path[0] == '/')
        vcm_buf_append_string(&place_name, path);
    else
        vcm_path_join(&place_name, plan->repo_root, path);
    int rc = vcm_git_repo_open(out, vcm_buf_text(&place_name), err);
    char *real = rc == VCM_OK ? realpath(vcm_buf_text(&place_name), NULL) : NULL;
    if (rc == VCM_OK) {
        vcm_path_join(&git_dir, vcm_git_repo_root(*out), ".git");
        if (!real || (strcmp(real, vcm_git_repo_root(*out)) != 0 &&
                      strcmp(real, vcm_buf_text(&git_dir)) != 0))
            rc = vcm_error_set(err, VCM_NOT_FOUND, "no git repository at '%s'",
                               vcm_buf_text(&place_name));
    }
    if (rc != VCM_OK) {
        vcm_git_repo_close(*out);
        *out = NULL;
    }
    free(real);
    vcm_buf_release(&git_dir);
    vcm_buf_release(&place_name);
    return rc;
}

static int use_head(struct vcm_git_id *commit, struct vcm_plan_row *planned, struct vcm_plan *plan,
                    struct vcm_git_repo *repo, struct vcm_error *err)
{
    struct vcm_buf branch = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = vcm_git_repo_resolve(commit, repo, NULL, NULL, err);
    if (rc == VCM_OK)
        rc = vcm_git_repo_head_branch(&branch, repo, err);
    if (rc == VCM_OK)
        rc = keep(&planned->branch, plan, vcm_buf_text(&branch), err);
    vcm_buf_release(&branch);
    return rc;
}

/* Uses a repository on this machine in place. */
static int read_in_place(struct vcm_plan_row *planned, struct vcm_plan *plan, const char *path,
                         struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;
    struct vcm_git_repo *repo = NULL;
    struct vcm_git_id commit = {0};
    struct vcm_error missing = {0};

    int rc = open_path(&repo, plan, path, err);
    if (rc == VCM_OK && row->submodule) {
        rc = vcm_git_repo_resolve(&commit, repo, NULL, planned->commit, err);
    } else if (rc == VCM_OK) {
        rc = vcm_git_repo_resolve(&commit, repo, row->branch, sets_commit(row) ? row->commit : NULL,
                                  &missing);
        if (rc == VCM_NOT_FOUND && !sets_branch(row) && !sets_commit(row))
            rc = use_head(&commit, planned, plan, repo, err);
        else if (rc != VCM_OK && err)
            *err = missing;
    }
    if (rc == VCM_OK)
        rc = place(planned, plan, repo, &commit, err);
    vcm_git_repo_close(repo);
    return rc;
}

/* Whether two rows ask for the same commit of the same repository. */
static bool asks_the_same(const struct vcm_repo_map_row *a, const struct vcm_repo_map_row *b)
{
    return sets_branch(a) == sets_branch(b) && strcmp(a->branch, b->branch) == 0 &&
           sets_commit(a) == sets_commit(b) && strcmp(a->commit, b->commit) == 0;
}

/* Takes over the result of an earlier row with the same URL, so that both map the same commit and a
 * host that does not answer is waited for once. False if there is no such row. */
static bool learn(int *rc, struct vcm_plan_row *planned, struct vcm_plan *plan,
                  struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;

    for (const struct vcm_plan_row *earlier = plan->rows; earlier < planned; earlier++) {
        enum vcm_code code = earlier->error.code;
        if (!earlier->row->origin_url || strcmp(earlier->row->origin_url, row->origin_url) != 0)
            continue;
        if (code == VCM_AUTH_FAILED || code == VCM_NETWORK_ERROR || code == VCM_TIMEOUT) {
            *err = earlier->error;
            *rc = (int)code;
            return true;
        }
        if (earlier->repository && code == VCM_OK && asks_the_same(earlier->row, row)) {
            struct vcm_git_id commit;
            vcm_hash_from_hex(commit.bytes, earlier->commit, VCM_GIT_ID_BYTES);
            planned->branch = earlier->branch;
            *rc = place_in_clone(planned, plan, earlier->repository, &commit, err);
            return true;
        }
    }
    return false;
}

static int bring_origin(struct vcm_plan_row *planned, struct vcm_plan *plan,
                        const struct vcm_plan_request *request, struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;
    int rc = VCM_OK;

    if (learn(&rc, planned, plan, err))
        return rc;
    return fetch(planned, plan, request->clones,
                 &(struct vcm_git_clone_request){
                     .url = row->origin_url,
                     .branch = row->branch,
                     .branch_is_a_guess = !sets_branch(row),
                     .commit = sets_commit(row) ? row->commit : NULL,
                 },
                 err);
}

static int bring_submodule(struct vcm_plan_row *planned, struct vcm_plan *plan,
                           const struct vcm_plan_request *request, struct vcm_error *err)
{
    return fetch(planned, plan, request->clones,
                 &(struct vcm_git_clone_request){
                     .url = planned->origin_url,
                     .commit = planned->commit,
                 },
                 err);
}

/* Fetches the branch or commit of a row of the URL's own repository, if it was not fetched with the
 * map. */
static int bring_own(struct vcm_plan_row *planned, struct vcm_plan *plan,
                     const struct vcm_plan_request *request, struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;
    const char *branch = planned->branch;

    planned->repository = NULL;
    int rc = fetch(planned, plan, request->clones,
                   &(struct vcm_git_clone_request){
                       .url = request->repository,
                       .branch = sets_branch(row) ? row->branch : NULL,
                       .commit = sets_commit(row) ? row->commit : NULL,
                   },
                   err);
    planned->branch = branch;
    return rc;
}

static int bring(struct vcm_plan_row *planned, struct vcm_plan *plan,
                 const struct vcm_plan_request *request, struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;
    bool is_own = !row->origin_url && !row->submodule;

    bool may_fetch = request->clones && !request->offline;

    if (is_own && plan->from_url && (sets_branch(row) || sets_commit(row)) && may_fetch) {
        vcm_error_reset(err);
        return bring_own(planned, plan, request, err);
    }
    if (is_own || planned->repository || err->code != VCM_OK)
        return VCM_OK;
    if (!vcm_git_url_is_remote(planned->origin_url))
        return read_in_place(planned, plan, planned->origin_url, err);
    if (!may_fetch)
        return VCM_OK;
    return row->submodule ? bring_submodule(planned, plan, request, err)
                          : bring_origin(planned, plan, request, err);
}

int vcm_plan_fetch(struct vcm_plan *plan, const struct vcm_plan_request *request,
                   struct vcm_error *err)
{
    for (unsigned i = 0; i < plan->row_count; i++) {
        struct vcm_plan_row *planned = &plan->rows[i];
        int rc = bring(planned, plan, request, &planned->error);
        if (rc == VCM_INTERRUPTED) {
            if (err)
                *err = planned->error;
            return rc;
        }
    }
    return VCM_OK;
}
