#include "git/clone_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "git/clone_refs.h"
#include "git/internal.h"

#include "base/banned.h"

#define PEELED         "^{}"
#define MEANINGS       6   /* refs that a name may mean: a branch, a tag, ... */
#define KNOWN_REFS_MAX 512 /* refs of the clone that the remote is asked about */

/* How many commits back a suffix leads at most: four for "~3^2". */
static unsigned count_steps(const char *steps)
{
    unsigned count = 0;

    while (*steps != '\0' && count < VCM_LIMIT_FETCH_DEPTH) {
        bool along = *steps++ == '~';
        unsigned number = *steps >= '0' && *steps <= '9' ? 0 : 1;
        for (; *steps >= '0' && *steps <= '9'; steps++)
            if (number < VCM_LIMIT_FETCH_DEPTH)
                number = 10 * number + (unsigned)(*steps - '0');
        count += along ? number : 1;
    }
    return count < VCM_LIMIT_FETCH_DEPTH ? count : VCM_LIMIT_FETCH_DEPTH;
}

int vcm_git_clone_target_parse(struct vcm_git_fetch *fetch, struct vcm_error *err)
{
    const struct vcm_git_clone_request *request = fetch->request;
    bool tip = !request->commit || strcmp(request->commit, "HEAD") == 0;
    int rc = VCM_OK;

    fetch->steps = "";
    fetch->subpath = request->subpath ? request->subpath : "";
    fetch->depth = request->depth > 0 ? request->depth : 1;
    if (request->branch)
        rc = vcm_git_repo_check_name("branch", request->branch, err);
    if (rc != VCM_OK || tip)
        return rc;
    size_t len = strcspn(request->commit, "~^");
    fetch->name = strndup(request->commit, len);
    if (!fetch->name)
        return vcm_error_memory(err);
    fetch->steps = request->commit + len;
    unsigned steps = count_steps(fetch->steps);
    fetch->depth = fetch->depth > steps ? fetch->depth : steps + 1;
    if (strcmp(fetch->name, "HEAD") == 0) {
        free(fetch->name);
        fetch->name = NULL;
        return VCM_OK;
    }
    return vcm_git_repo_check_name("commit", fetch->name, err);
}

bool vcm_git_clone_target_is_id(const struct vcm_git_fetch *fetch)
{
    return fetch->name && strlen(fetch->name) == VCM_GIT_ID_HEX &&
           strspn(fetch->name, "0123456789abcdefABCDEF") == VCM_GIT_ID_HEX;
}

/* Removes the branches and tags that the remote no longer has; the commits have refs of their own.
 */
static void remove_stale_refs(const struct vcm_git_fetch *fetch, const git_strarray *names)
{
    size_t asked = 0;

    for (size_t i = 0; i < names->count && asked < KNOWN_REFS_MAX; i++)
        if (vcm_git_clone_refs_is_copied(names->strings[i])) {
            asked++;
            if (!vcm_git_clone_remote_find(&fetch->remote, names->strings[i]))
                vcm_libgit2.reference_remove(fetch->repo->handle, names->strings[i]);
        }
}

int vcm_git_clone_target_ask(struct vcm_git_fetch *fetch, struct vcm_error *err)
{
    const char *branch = fetch->request->branch ? fetch->request->branch : "HEAD";
    const char *name = fetch->name ? fetch->name : branch;
    char refs[MEANINGS][VCM_GIT_REF_BYTES];
    const char *asked[MEANINGS + KNOWN_REFS_MAX + 1] = {NULL};
    git_strarray known = {0};
    size_t count = MEANINGS;

    snprintf(refs[0], VCM_GIT_REF_BYTES, "%s%s", VCM_GIT_REF_HEADS, branch);
    snprintf(refs[1], VCM_GIT_REF_BYTES, "%s%s", VCM_GIT_REF_TAGS, name);
    snprintf(refs[2], VCM_GIT_REF_BYTES, "%s%s%s", VCM_GIT_REF_TAGS, name, PEELED);
    snprintf(refs[3], VCM_GIT_REF_BYTES, "%s%s", VCM_GIT_REF_HEADS, name);
    snprintf(refs[4], VCM_GIT_REF_BYTES, "%s", name);
    snprintf(refs[5], VCM_GIT_REF_BYTES, "%s%s", name, PEELED);
    for (size_t i = 0; i < MEANINGS; i++)
        asked[i] = refs[i];
    if (vcm_libgit2.reference_list(&known, fetch->repo->handle) != 0)
        known.count = 0;
    for (size_t i = 0; i < known.count && count < MEANINGS + KNOWN_REFS_MAX; i++)
        if (vcm_git_clone_refs_is_copied(known.strings[i]))
            asked[count++] = known.strings[i];
    vcm_log_write(fetch->clones->log, VCM_LOG_DEBUG, "asking %s for its refs", fetch->url.address);
    const struct vcm_git_runner runner = vcm_git_clone_fetch_runner(fetch);
    int rc = vcm_git_clone_remote_ask(&fetch->remote, &runner, asked, err);
    fetch->remote_answered = rc == VCM_OK;
    if (rc == VCM_OK)
        remove_stale_refs(fetch, &known);
    vcm_libgit2.strarray_dispose(&known);
    return rc;
}

/* The commit that a ref of the remote leads to, through a tag object where it is one. */
static void set_ref(struct vcm_git_target *target, const struct vcm_git_remote *remote,
                    const char *ref)
{
    char peeled[VCM_GIT_REF_BYTES + sizeof PEELED];

    snprintf(peeled, sizeof peeled, "%s%s", ref, PEELED);
    const char *id = vcm_git_clone_remote_find(remote, peeled);
    if (!id)
        id = vcm_git_clone_remote_find(remote, ref);
    target->has_id = id && vcm_hash_from_hex(target->id.bytes, id, VCM_GIT_ID_BYTES);
    snprintf(target->source, sizeof target->source, "%s", ref);
    if (vcm_git_clone_refs_is_copied(ref))
        snprintf(target->keep, sizeof target->keep, "%s", ref);
}

static int choose_head(struct vcm_git_target *target, const struct vcm_git_fetch *fetch,
                       struct vcm_error *err)
{
    const struct vcm_git_remote *remote = &fetch->remote;

    if (remote->head_branch[0] != '\0') {
        char ref[VCM_GIT_REF_BYTES];
        snprintf(ref, sizeof ref, "%s%s", VCM_GIT_REF_HEADS, remote->head_branch);
        set_ref(target, remote, "HEAD");
        snprintf(target->keep, sizeof target->keep, "%s", ref);
        target->branch = remote->head_branch;
    } else if (remote->head_id) {
        set_ref(target, remote, "HEAD");
    } else if (remote->text.len == 0) {
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "'%s' has no commit yet, or its HEAD has none; name a branch",
                             fetch->url.address);
    } else {
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "the branch that HEAD of '%s' is on has no commit yet; name another",
                             fetch->url.address);
    }
    return VCM_OK;
}

static int choose_branch(struct vcm_git_target *target, const struct vcm_git_fetch *fetch,
                         struct vcm_error *err)
{
    const char *branch = fetch->request->branch;
    char ref[VCM_GIT_REF_BYTES];

    if (!branch)
        return choose_head(target, fetch, err);
    snprintf(ref, sizeof ref, "%s%s", VCM_GIT_REF_HEADS, branch);
    if (!vcm_git_clone_remote_find(&fetch->remote, ref)) {
        if (fetch->request->branch_is_a_guess)
            return choose_head(target, fetch, err);
        return vcm_error_set(err, VCM_NOT_FOUND, "'%s' has no branch '%s'", fetch->url.address,
                             branch);
    }
    set_ref(target, &fetch->remote, ref);
    target->branch = branch;
    return VCM_OK;
}

/* A whole id, else a tag, a branch or a full ref name. Any other name may be an abbreviated id,
 * which only a clone with the whole history can resolve: the source stays empty. */
static void choose_commit(struct vcm_git_target *target, const struct vcm_git_fetch *fetch)
{
    static const char *const places[] = {VCM_GIT_REF_TAGS, VCM_GIT_REF_HEADS, ""};
    char ref[VCM_GIT_REF_BYTES];

    if (vcm_git_clone_target_is_id(fetch)) {
        target->has_id = vcm_hash_from_hex(target->id.bytes, fetch->name, VCM_GIT_ID_BYTES);
        vcm_git_repo_id_to_hex(target->source, &target->id);
        return;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(ref, sizeof ref, "%s%s", places[i], fetch->name);
        if (vcm_git_clone_remote_find(&fetch->remote, ref)) {
            set_ref(target, &fetch->remote, ref);
            return;
        }
    }
}

int vcm_git_clone_target_choose(struct vcm_git_target *target, const struct vcm_git_fetch *fetch,
                                struct vcm_error *err)
{
    *target = (struct vcm_git_target){.branch = ""};
    if (!fetch->name)
        return choose_branch(target, fetch, err);
    choose_commit(target, fetch);
    return VCM_OK;
}
