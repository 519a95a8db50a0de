#include "git/clone_fetch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/clone_part.h"
#include "git/layout.h"

#include "base/banned.h"

#define FETCHED       "refs/vcm/fetched"
#define BLOBS_AT_ONCE 50000u /* more missing blobs than this are not asked for by id */

/* What all calls of git have in common. */
#define FETCH_ARGS                                                                                 \
    "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",             \
        "--no-recurse-submodules"
#define FETCH_ARGS_COUNT (sizeof((const char *[]){FETCH_ARGS}) / sizeof(char *))

static unsigned time_left(const struct vcm_git_fetch *fetch)
{
    uint64_t now = vcm_clock_ms();

    return now < fetch->deadline_ms ? (unsigned)(fetch->deadline_ms - now) : 1;
}

struct vcm_git_runner vcm_git_clone_fetch_runner(const struct vcm_git_fetch *fetch)
{
    return (struct vcm_git_runner){
        .git_dir = fetch->place.path,
        .url = &fetch->url,
        .user = fetch->secret.user,
        .password = fetch->secret.password,
        .timeout_ms = time_left(fetch),
        .memory_max = fetch->clones->memory_max,
        .bytes_max = fetch->clones->bytes_max,
        .cancel = fetch->clones->cancel,
    };
}

static int run_git(enum vcm_git_runner_refusal *refusal, const struct vcm_git_fetch *fetch,
                   const char *const *args, struct vcm_error *err)
{
    const struct vcm_git_runner runner = vcm_git_clone_fetch_runner(fetch);

    return vcm_git_runner_run(NULL, refusal, &runner, args, err);
}

int vcm_git_clone_fetch_open(struct vcm_git_fetch *fetch, struct vcm_error *err)
{
    struct vcm_buf promise = VCM_BUF_INIT(VCM_KIB);

    assert(fetch->place.is_locked);
    vcm_git_repo_close(fetch->repo);
    int rc = vcm_git_repo_open(&fetch->repo, fetch->place.path, err);
    if (rc == VCM_OK && strcmp(vcm_git_repo_root(fetch->repo), fetch->place.path) != 0)
        rc = vcm_error_set(err, VCM_IO_ERROR, "'%s' is no clone", fetch->place.path);
    if (rc == VCM_OK)
        rc = vcm_git_layout_setting(&promise, fetch->repo,
                                    "remote." VCM_GIT_PLACE_REMOTE ".promisor", err);
    fetch->is_partial = promise.len > 0;
    vcm_buf_release(&promise);
    return rc;
}

/* Whole branches and tags, whose histories hold every commit that the remote gives out. */
static int fetch_everything(const struct vcm_git_fetch *fetch, struct vcm_error *err)
{
    struct vcm_buf shallow = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    const char *args[20] = {FETCH_ARGS, "--update-shallow", "--prune"};
    size_t count = FETCH_ARGS_COUNT + 2;
    struct stat status;

    vcm_path_join(&shallow, fetch->place.path, "shallow");
    if (stat(vcm_buf_text(&shallow), &status) == 0 && status.st_size > 0)
        args[count++] = "--unshallow";
    /* A server assumes that a client that has a commit has its blobs. */
    if (fetch->is_partial)
        args[count++] = "--refetch";
    args[count++] = "--end-of-options";
    args[count++] = fetch->url.address;
    args[count++] = "+refs/heads/*:refs/heads/*";
    args[count++] = "+refs/tags/*:refs/tags/*";
    assert(count < sizeof args / sizeof args[0] && "a NULL must follow");
    int rc = run_git(NULL, fetch, args, err);
    vcm_buf_release(&shallow);
    return rc;
}

/* How much of a commit a call of git fetches. */
enum extent {
    EXTENT_WHOLE,
    EXTENT_TREES, /* no blobs; a server that cannot leave them out sends all */
    EXTENT_ANEW,  /* everything, also what is here already */
};

static int fetch_source(enum vcm_git_runner_refusal *refusal, const struct vcm_git_fetch *fetch,
                        const struct vcm_git_target *target, enum extent extent,
                        struct vcm_error *err)
{
    char depth[32], refspec[2 * VCM_GIT_REF_BYTES];
    const char *args[16] = {FETCH_ARGS, "--update-shallow", depth};
    size_t count = FETCH_ARGS_COUNT + 2;

    if (extent == EXTENT_TREES)
        args[count++] = "--filter=blob:none";
    if (extent == EXTENT_ANEW) {
        args[count++] = "--refetch";
        args[count++] = "--no-filter";
    }
    args[count++] = "--end-of-options";
    args[count++] = extent == EXTENT_WHOLE ? fetch->url.address : VCM_GIT_PLACE_REMOTE;
    args[count++] = refspec;
    assert(count < sizeof args / sizeof args[0] && "a NULL must follow");
    snprintf(depth, sizeof depth, "--depth=%u", fetch->depth);
    snprintf(refspec, sizeof refspec, "+%s:%s", target->source, FETCHED);
    return run_git(refusal, fetch, args, err);
}

/* All ids in one batch, as git itself does before a checkout in a partial clone. */
static int fetch_blobs(enum vcm_git_runner_refusal *refusal, const struct vcm_git_fetch *fetch,
                       struct vcm_slice ids, struct vcm_error *err)
{
    const char *const args[] = {"-c",
                                "fetch.negotiationAlgorithm=noop",
                                FETCH_ARGS,
                                "--filter=blob:none",
                                "--stdin",
                                "--end-of-options",
                                VCM_GIT_PLACE_REMOTE,
                                NULL};
    struct vcm_git_runner runner = vcm_git_clone_fetch_runner(fetch);

    runner.input = ids;
    return vcm_git_runner_run(NULL, refusal, &runner, args, err);
}

/* Fetches what is missing of a commit whose trees are here. A server that refuses blobs by id
 * sends the whole commit again. */
static int fetch_missing(struct vcm_git_fetch *fetch, const struct vcm_git_target *target,
                         const struct vcm_git_part *part, struct vcm_error *err)
{
    enum vcm_git_runner_refusal refusal = VCM_GIT_RUNNER_UNADVERTISED;
    struct vcm_error cause = {0};
    int rc = VCM_NOT_FOUND;

    vcm_log_write(fetch->clones->log, VCM_LOG_INFO, "fetching %zu files of %s", part->wanted_count,
                  fetch->url.address);
    if (part->wanted_count <= BLOBS_AT_ONCE || target->source[0] == '\0')
        rc = fetch_blobs(&refusal, fetch, vcm_buf_slice(&part->wanted), &cause);
    if (rc != VCM_OK && target->source[0] != '\0' &&
        (refusal == VCM_GIT_RUNNER_UNADVERTISED || refusal == VCM_GIT_RUNNER_NO_REF))
        return fetch_source(NULL, fetch, target, EXTENT_ANEW, err);
    if (rc != VCM_OK && err)
        *err = cause;
    return rc;
}

/* In a partial clone: fetches the wanted blobs of a commit whose trees are here. */
static int complete_partial(struct vcm_git_fetch *fetch, const struct vcm_git_target *target,
                            const struct vcm_git_id *id, struct vcm_error *err)
{
    const char *subpath = fetch->subpath;
    struct vcm_git_part part;

    int rc = vcm_git_clone_part_look(&part, fetch->repo, id, subpath, fetch->clones->cancel, err);
    if (rc == VCM_OK && part.wanted_count > 0) {
        rc = fetch_missing(fetch, target, &part, err);
        if (rc == VCM_OK)
            rc = vcm_git_clone_fetch_open(fetch, err);
        vcm_git_clone_part_release(&part);
        if (rc != VCM_OK)
            return rc;
        rc = vcm_git_clone_part_look(&part, fetch->repo, id, subpath, fetch->clones->cancel, err);
        if (rc == VCM_OK && part.wanted_count > 0)
            rc = vcm_error_set(err, VCM_NETWORK_ERROR, "'%s' did not send %zu files of its commit",
                               fetch->url.address, part.wanted_count);
    }
    fetch->files_missing = part.files_missing;
    vcm_git_clone_part_release(&part);
    return rc;
}

/* Finds the commit in the clone after a fetch, by `name` and the steps behind it. */
static int resolve_fetched(struct vcm_git_id *out, struct vcm_git_fetch *fetch, const char *name,
                           struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error cause = {0};

    int rc = vcm_git_clone_fetch_open(fetch, err);
    if (rc == VCM_OK) {
        vcm_buf_append_format(&text, "%s%s", name, fetch->steps);
        rc = vcm_git_repo_resolve(out, fetch->repo, NULL, vcm_buf_text(&text), &cause);
        if (rc == VCM_NOT_FOUND && fetch->request->commit)
            rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' has no commit '%s'", fetch->url.address,
                               fetch->request->commit);
        else if (rc != VCM_OK && err)
            *err = cause;
    }
    vcm_buf_release(&text);
    return rc;
}

/* Fetches the whole commit or, in a partial clone, its trees. When the remote refuses to send
 * single commits or shallow histories, all branches and tags are fetched. */
static int fetch_commit(struct vcm_git_id *out, struct vcm_git_fetch *fetch,
                        const struct vcm_git_target *target, struct vcm_error *err)
{
    enum vcm_git_runner_refusal refusal = VCM_GIT_RUNNER_UNADVERTISED;
    enum extent extent = fetch->is_partial ? EXTENT_TREES : EXTENT_WHOLE;
    struct vcm_error cause = {0};
    char hex[VCM_GIT_ID_HEX + 1];
    int rc = VCM_NOT_FOUND;

    vcm_log_write(fetch->clones->log, VCM_LOG_INFO, "fetching %s of %s",
                  target->source[0] != '\0' ? target->source : "everything", fetch->url.address);
    if (target->source[0] != '\0')
        rc = fetch_source(&refusal, fetch, target, extent, &cause);
    if (rc == VCM_OK)
        return resolve_fetched(out, fetch, FETCHED, err);
    if (refusal == VCM_GIT_RUNNER_NO_REF && fetch->name)
        return vcm_error_set(err, VCM_NOT_FOUND, "'%s' has no commit '%s'", fetch->url.address,
                             fetch->request->commit);
    if (refusal != VCM_GIT_RUNNER_UNADVERTISED && refusal != VCM_GIT_RUNNER_NO_SHALLOW) {
        if (err)
            *err = cause;
        return rc;
    }
    rc = fetch_everything(fetch, err);
    if (rc != VCM_OK)
        return rc;
    vcm_git_repo_id_to_hex(hex, &target->id);
    return resolve_fetched(out, fetch, target->has_id ? hex : fetch->name, err);
}

int vcm_git_clone_fetch_bring(struct vcm_git_id *out, struct vcm_git_fetch *fetch,
                              const struct vcm_git_target *target, struct vcm_error *err)
{
    int rc = VCM_OK;

    if (fetch->subpath[0] != '\0' && !fetch->is_partial) {
        rc = vcm_git_clone_place_make_partial(&fetch->place, fetch->url.address, err);
        if (rc == VCM_OK)
            rc = vcm_git_clone_fetch_open(fetch, err);
    }
    if (rc == VCM_OK)
        rc = fetch_commit(out, fetch, target, err);
    if (rc == VCM_OK && fetch->is_partial)
        rc = complete_partial(fetch, target, out, err);
    return rc;
}
