#include "git/clone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "git/clone_fetch.h"
#include "git/clone_part.h"
#include "git/clone_repair.h"
#include "git/clone_target.h"
#include "git/internal.h"

#include "base/banned.h"

/* Whether the clone has everything of the commit that the request asks for. */
static int has_wanted(bool *found, struct vcm_git_fetch *fetch, const struct vcm_git_id *id,
                      struct vcm_error *err)
{
    struct vcm_git_part part;

    *found = vcm_git_clone_refs_is_kept(fetch->repo, VCM_GIT_REF_COMMITS, id);
    if (*found || !vcm_git_clone_refs_is_kept(fetch->repo, VCM_GIT_REF_PARTS, id))
        return VCM_OK;
    int rc =
        vcm_git_clone_part_look(&part, fetch->repo, id, fetch->subpath, fetch->clones->cancel, err);
    *found = rc == VCM_OK && part.wanted_count == 0;
    fetch->files_missing = part.files_missing;
    vcm_git_clone_part_release(&part);
    return rc;
}

/* Sets HEAD of the clone to that of the remote, so that both mean the same branch. */
static int keep_head(const struct vcm_git_fetch *fetch, const struct vcm_git_id *id,
                     struct vcm_error *err)
{
    const struct vcm_git_remote *remote = &fetch->remote;
    git_reference *head = NULL;
    char name[VCM_GIT_REF_BYTES];
    git_oid oid;
    int git_code = 0;

    snprintf(name, sizeof name, "%s%s", VCM_GIT_REF_HEADS, remote->head_branch);
    if (remote->head_branch[0] != '\0') {
        git_code = vcm_libgit2.reference_symbolic_create(&head, fetch->repo->handle, "HEAD", name,
                                                         1, NULL);
    } else if (remote->head_id && !fetch->name && !fetch->request->branch) {
        vcm_git_internal_to_oid(&oid, id);
        git_code = vcm_libgit2.repository_set_head_detached(fetch->repo->handle, &oid);
    }
    vcm_libgit2.reference_free(head);
    return git_code == 0 ? VCM_OK
                         : vcm_git_internal_error(err, git_code, "cannot set HEAD of '%s'",
                                                  fetch->place.path);
}

/* Records what was fetched: the commit for good, the branch or tag until the next fetch. */
static int keep(const struct vcm_git_fetch *fetch, const struct vcm_git_target *target,
                const struct vcm_git_id *id, struct vcm_error *err)
{
    int rc = vcm_git_clone_refs_keep(fetch->repo, id, fetch->files_missing == 0, err);

    if (rc == VCM_OK && target->keep[0] != '\0' && fetch->steps[0] == '\0')
        rc = vcm_git_clone_refs_set(fetch->repo, target->keep, id, err);
    if (rc == VCM_OK)
        rc = keep_head(fetch, id, err);
    return rc;
}

static int run(struct vcm_git_clone *out, struct vcm_git_fetch *fetch, struct vcm_error *err)
{
    struct vcm_git_target target = {.branch = ""};
    bool plain = fetch->steps[0] == '\0' && fetch->depth == 1, found = false;
    int rc = VCM_OK;

    fetch->files_missing = 0;
    if (vcm_git_clone_target_is_id(fetch) && plain) {
        rc = vcm_git_clone_target_choose(&target, fetch, err);
        if (rc == VCM_OK)
            rc = has_wanted(&found, fetch, &target.id, err);
        if (rc == VCM_OK && found) {
            out->commit = target.id;
            out->branch = strdup("");
            rc = out->branch ? VCM_OK : vcm_error_memory(err);
        }
        if (rc != VCM_OK || found)
            return rc;
    }
    rc = vcm_git_clone_target_ask(fetch, err);
    if (rc == VCM_OK)
        rc = vcm_git_clone_target_choose(&target, fetch, err);
    if (rc == VCM_OK && target.has_id && plain)
        rc = has_wanted(&found, fetch, &target.id, err);
    if (rc == VCM_OK && found)
        out->commit = target.id;
    else if (rc == VCM_OK)
        rc = vcm_git_clone_fetch_bring(&out->commit, fetch, &target, err);
    if (rc == VCM_OK)
        rc = keep(fetch, &target, &out->commit, err);
    if (rc == VCM_OK && !(out->branch = strdup(fetch->steps[0] == '\0' ? target.branch : "")))
        rc = vcm_error_memory(err);
    return rc;
}

/* Fetches into a new clone, which takes the place of the damaged one if that succeeds: else the
 * remote is at fault, and commits that it dropped may still be readable in the old one. */
static int remake(struct vcm_git_clone *out, struct vcm_git_fetch *fetch, struct vcm_error *err)
{
    vcm_log_write(fetch->clones->log, VCM_LOG_WARNING,
                  "the clone of %s is damaged; it is replaced by a new one", fetch->url.address);
    vcm_git_clone_release(out);
    int rc = vcm_git_clone_place_set_aside(&fetch->place, fetch->url.address, err);
    if (rc == VCM_OK)
        rc = vcm_git_clone_fetch_open(fetch, err);
    if (rc == VCM_OK)
        rc = run(out, fetch, err);
    vcm_git_clone_place_settle(&fetch->place, rc == VCM_OK);
    return rc;
}

/* git cannot fetch into a damaged clone. A clone holds nothing that cannot be fetched again, so
 * such a clone is replaced by a new one, once. */
static int run_or_remake(struct vcm_git_clone *out, struct vcm_git_fetch *fetch,
                         struct vcm_error *err)
{
    struct vcm_error cause = {0};

    int rc = vcm_git_clone_fetch_open(fetch, &cause);
    bool damaged = rc == VCM_IO_ERROR || rc == VCM_NOT_FOUND;
    if (rc == VCM_OK)
        damaged = vcm_git_clone_repair_confirm(fetch);
    if (rc == VCM_OK && !damaged) {
        rc = run(out, fetch, &cause);
        damaged = rc != VCM_OK && vcm_git_clone_repair_explains(fetch, rc);
    }
    if (damaged)
        return remake(out, fetch, err);
    if (rc != VCM_OK && err)
        *err = cause;
    return rc;
}

/* Refuses a path: callers read a local repository in place. */
static int parse_url(struct vcm_git_url *url, const char *text, struct vcm_error *err)
{
    int rc = vcm_git_url_parse(url, text, err);

    if (rc == VCM_OK && url->transport == VCM_GIT_URL_PATH)
        rc =
            vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is a path, not a git URL", url->address);
    return rc;
}

int vcm_git_clone_fetch(struct vcm_git_clone *out, const struct vcm_git_clones *clones,
                        const struct vcm_git_clone_request *request, struct vcm_error *err)
{
    struct vcm_git_fetch fetch = {.clones = clones, .request = request};
    unsigned timeout = clones->timeout_ms ? clones->timeout_ms : VCM_CLONE_TIMEOUT_MS;

    memset(out, 0, sizeof *out);
    vcm_git_clone_remote_init(&fetch.remote);
    fetch.deadline_ms = vcm_clock_ms() + timeout;
    int rc = parse_url(&fetch.url, request->url, err);
    if (rc == VCM_OK)
        rc = vcm_git_clone_target_parse(&fetch, err);
    if (rc == VCM_OK)
        rc = vcm_git_credential_find(&fetch.secret, clones, &fetch.url, err);
    if (rc == VCM_OK)
        rc = vcm_git_clone_place_take(&fetch.place, clones, fetch.url.address, timeout, err);
    if (rc == VCM_OK)
        rc = run_or_remake(out, &fetch, err);
    if (rc == VCM_OK) {
        out->path = strdup(vcm_git_repo_root(fetch.repo));
        out->url = strdup(fetch.url.address);
        out->files_missing = fetch.files_missing;
        vcm_git_clone_place_touch(fetch.place.path);
        if (!out->path || !out->url)
            rc = vcm_error_memory(err);
    } else {
        vcm_git_clone_place_give_up(&fetch.place);
    }
    vcm_git_repo_close(fetch.repo);
    vcm_git_clone_place_release(&fetch.place);
    vcm_git_credential_release(&fetch.secret);
    vcm_git_url_release(&fetch.url);
    vcm_git_clone_remote_release(&fetch.remote);
    free(fetch.name);
    return rc;
}

void vcm_git_clone_release(struct vcm_git_clone *clone)
{
    if (!clone)
        return;
    free(clone->path);
    free(clone->url);
    free(clone->branch);
    memset(clone, 0, sizeof *clone);
}

int vcm_git_clone_find(struct vcm_buf *path, const struct vcm_git_clones *clones, const char *url,
                       struct vcm_error *err)
{
    struct vcm_git_url parsed;

    int rc = parse_url(&parsed, url, err);
    if (rc == VCM_OK) {
        vcm_git_clone_place_name(path, clones, parsed.address);
        rc = vcm_buf_check(path, "the path of a clone", err);
    }
    if (rc == VCM_OK && !vcm_git_clone_place_is_ready(vcm_buf_text(path)))
        rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' was not fetched yet; 'vcm map' fetches it",
                           parsed.address);
    vcm_git_url_release(&parsed);
    return rc;
}

bool vcm_git_clone_is_partial(struct vcm_git_repo *repo, const struct vcm_git_clones *clones,
                              const struct vcm_git_id *commit)
{
    struct vcm_buf url = VCM_BUF_INIT(VCM_LIMIT_URL_BYTES);
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error ignored = {0};

    bool partial = vcm_git_clone_refs_has(repo, VCM_GIT_REF_PARTS, commit) &&
                   !vcm_git_clone_refs_has(repo, VCM_GIT_REF_COMMITS, commit) &&
                   vcm_git_repo_origin(&url, repo, &ignored) == VCM_OK &&
                   vcm_git_clone_find(&path, clones, vcm_buf_text(&url), &ignored) == VCM_OK;
    char *real = partial ? realpath(vcm_buf_text(&path), NULL) : NULL;
    partial = real && strcmp(real, vcm_git_repo_root(repo)) == 0;
    free(real);
    vcm_buf_release(&path);
    vcm_buf_release(&url);
    return partial;
}

int vcm_git_clone_run(const char *path, const struct vcm_git_clones *clones, const char *url,
                      const char *const *args, struct vcm_error *err)
{
    struct vcm_git_secret secret = {NULL, NULL};
    struct vcm_git_url parts = {.transport = VCM_GIT_URL_PATH};

    int rc = vcm_git_url_parse(&parts, url, err);
    if (rc == VCM_OK)
        rc = vcm_git_credential_find(&secret, clones, &parts, err);
    if (rc == VCM_OK) {
        const struct vcm_git_runner runner = {
            .git_dir = path,
            .url = &parts,
            .user = secret.user,
            .password = secret.password,
            .timeout_ms = clones->timeout_ms ? clones->timeout_ms : VCM_CLONE_TIMEOUT_MS,
            .memory_max = clones->memory_max,
            .bytes_max = clones->bytes_max,
            .cancel = clones->cancel,
        };
        rc = vcm_git_runner_run(NULL, NULL, &runner, args, err);
    }
    vcm_git_credential_release(&secret);
    vcm_git_url_release(&parts);
    return rc;
}
