#include "git/clone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/clone_part.h"
#include "git/clone_place.h"
#include "git/clone_remote.h"
#include "git/credential.h"
#include "git/internal.h"
#include "git/layout.h"
#include "git/runner.h"

#include "base/banned.h"

#define COMMITS        "refs/vcm/commits/" /* here with all that they hold */
#define PARTS          "refs/vcm/parts/"   /* here with their trees and some of their blobs */
#define FETCHED        "refs/vcm/fetched"
#define HEADS          "refs/heads/"
#define TAGS           "refs/tags/"
#define PEELED         "^{}"
#define REF_BYTES      1024
#define MEANINGS       6      /* of a name: as a branch, a tag, ... */
#define KNOWN_REFS_MAX 512    /* that the remote is asked for, if it still has them */
#define BLOBS_AT_ONCE  50000u /* of which servers are asked by id */

/* One call of vcm_git_clone_fetch(). */
struct fetch {
    const struct vcm_git_clones *clones;
    const struct vcm_git_clone_request *request;
    struct vcm_git_url url;
    struct vcm_git_secret secret;
    struct vcm_git_place place;
    struct vcm_git_repo *repo;
    struct vcm_git_remote remote;
    uint64_t deadline_ms;
    char *name;        /* of the commit, without the steps back; NULL for a branch's tip */
    const char *steps; /* "~3^2" behind it, or "" */
    unsigned depth;
    bool is_partial;        /* blobs may be missing in the clone */
    uint64_t files_missing; /* of the commit that was asked for */
};

static bool is_branch_or_tag(const char *name)
{
    return strncmp(name, HEADS, sizeof HEADS - 1) == 0 || strncmp(name, TAGS, sizeof TAGS - 1) == 0;
}

static unsigned time_left(const struct fetch *fetch)
{
    uint64_t now = vcm_clock_ms();

    return now < fetch->deadline_ms ? (unsigned)(fetch->deadline_ms - now) : 1;
}

static struct vcm_git_runner runner_of(const struct fetch *fetch)
{
    return (struct vcm_git_runner){
        .git_dir = fetch->place.path,
        .url = &fetch->url,
        .user = fetch->secret.user,
        .password = fetch->secret.password,
        .timeout_ms = time_left(fetch),
        .cancel = fetch->clones->cancel,
    };
}

static int run_git(enum vcm_git_runner_refusal *refusal, const struct fetch *fetch,
                   const char *const *args, struct vcm_error *err)
{
    const struct vcm_git_runner runner = runner_of(fetch);

    return vcm_git_runner_run(NULL, refusal, &runner, args, err);
}

/* "~3^2" goes back four commits at the most, and one is to be seen. */
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

static int read_names(struct fetch *fetch, struct vcm_error *err)
{
    const struct vcm_git_clone_request *request = fetch->request;
    bool tip = !request->commit || strcmp(request->commit, "HEAD") == 0;
    int rc = VCM_OK;

    fetch->steps = "";
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

static bool is_whole_id(const char *text)
{
    return strlen(text) == VCM_GIT_ID_HEX &&
           strspn(text, "0123456789abcdefABCDEF") == VCM_GIT_ID_HEX;
}

/* The ref that keeps a commit. */
static void name_kept(char out[REF_BYTES], const char *place, const struct vcm_git_id *id)
{
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_repo_id_to_hex(hex, id);
    snprintf(out, REF_BYTES, "%s%s", place, hex);
}

static bool has_ref(const struct vcm_git_repo *repo, const char *place, const struct vcm_git_id *id)
{
    git_reference *ref = NULL;
    char name[REF_BYTES];

    name_kept(name, place, id);
    bool found = vcm_libgit2.reference_lookup(&ref, repo->handle, name) == 0;
    vcm_libgit2.reference_free(ref);
    return found;
}

/* Whether the commit and its tree are here; what is below is taken on trust. */
static bool has_commit(const struct fetch *fetch, const git_oid *oid)
{
    git_commit *commit = NULL;

    bool found = vcm_libgit2.commit_lookup(&commit, fetch->repo->handle, oid) == 0 &&
                 vcm_libgit2.odb_exists(fetch->repo->odb, vcm_libgit2.commit_tree_id(commit)) == 1;
    vcm_libgit2.commit_free(commit);
    return found;
}

static bool is_kept(const struct fetch *fetch, const char *place, const struct vcm_git_id *id)
{
    git_oid oid;

    vcm_git_internal_to_oid(&oid, id);
    return has_ref(fetch->repo, place, id) && has_commit(fetch, &oid);
}

static const char *wanted_subpath(const struct fetch *fetch)
{
    return fetch->request->subpath ? fetch->request->subpath : "";
}

/* Whether all that was asked for of the commit is here. */
static int has_wanted(bool *found, struct fetch *fetch, const struct vcm_git_id *id,
                      struct vcm_error *err)
{
    struct vcm_git_part part;

    *found = is_kept(fetch, COMMITS, id);
    if (*found || !is_kept(fetch, PARTS, id))
        return VCM_OK;
    int rc = vcm_git_clone_part_look(&part, fetch->repo, id, wanted_subpath(fetch),
                                     fetch->clones->cancel, err);
    *found = rc == VCM_OK && part.wanted_count == 0;
    fetch->files_missing = part.files_missing;
    vcm_git_clone_part_release(&part);
    return rc;
}

/* Whether everything that was kept is still here. */
static bool is_sound_in(const struct fetch *fetch, const char *glob)
{
    git_reference_iterator *refs = NULL;
    git_reference *ref = NULL;
    bool sound = true;

    if (vcm_libgit2.reference_iterator_glob_new(&refs, fetch->repo->handle, glob) != 0)
        return false;
    while (sound && vcm_libgit2.reference_next(&ref, refs) == 0) {
        const git_oid *oid = vcm_libgit2.reference_target(ref);
        sound = oid && has_commit(fetch, oid);
        vcm_libgit2.reference_free(ref);
    }
    vcm_libgit2.reference_iterator_free(refs);
    return sound;
}

static bool is_sound(const struct fetch *fetch)
{
    return is_sound_in(fetch, COMMITS "*") && is_sound_in(fetch, PARTS "*");
}

/* Sets a ref. Where an old ref stands in the way ("a" of "a/b"), all branches and tags go: they
 * only tell how the remote was, and the commits have refs of their own. */
static int set_ref(const struct fetch *fetch, const char *name, const struct vcm_git_id *id,
                   struct vcm_error *err)
{
    git_repository *handle = fetch->repo->handle;
    git_reference *ref = NULL;
    git_strarray names = {0};
    git_oid oid;

    vcm_git_internal_to_oid(&oid, id);
    int git_code = vcm_libgit2.reference_create(&ref, handle, name, &oid, 1, NULL);
    if (git_code != 0 && vcm_libgit2.reference_list(&names, handle) == 0) {
        for (size_t i = 0; i < names.count; i++)
            if (is_branch_or_tag(names.strings[i]))
                vcm_libgit2.reference_remove(handle, names.strings[i]);
        vcm_libgit2.strarray_dispose(&names);
        git_code = vcm_libgit2.reference_create(&ref, handle, name, &oid, 1, NULL);
    }
    vcm_libgit2.reference_free(ref);
    return git_code == 0 ? VCM_OK : vcm_git_internal_error(err, git_code, "cannot keep '%s'", name);
}

static int open_repo(struct fetch *fetch, struct vcm_error *err)
{
    struct vcm_buf promise = VCM_BUF_INIT(VCM_KIB);

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

/* Removes the branches and tags that the remote has no more; the commits have refs of their own. */
static void forget_gone(const struct fetch *fetch, const git_strarray *names)
{
    size_t asked = 0;

    for (size_t i = 0; i < names->count && asked < KNOWN_REFS_MAX; i++)
        if (is_branch_or_tag(names->strings[i])) {
            asked++;
            if (!vcm_git_clone_remote_find(&fetch->remote, names->strings[i]))
                vcm_libgit2.reference_remove(fetch->repo->handle, names->strings[i]);
        }
}

/* Asks for HEAD, for whatever the names may mean, and for the refs that are here. */
static int ask_remote(struct fetch *fetch, struct vcm_error *err)
{
    const char *branch = fetch->request->branch ? fetch->request->branch : "HEAD";
    const char *name = fetch->name ? fetch->name : branch;
    char refs[MEANINGS][REF_BYTES];
    const char *asked[MEANINGS + KNOWN_REFS_MAX + 1] = {NULL};
    git_strarray known = {0};
    size_t count = MEANINGS;

    snprintf(refs[0], REF_BYTES, "%s%s", HEADS, branch);
    snprintf(refs[1], REF_BYTES, "%s%s", TAGS, name);
    snprintf(refs[2], REF_BYTES, "%s%s%s", TAGS, name, PEELED);
    snprintf(refs[3], REF_BYTES, "%s%s", HEADS, name);
    snprintf(refs[4], REF_BYTES, "%s", name);
    snprintf(refs[5], REF_BYTES, "%s%s", name, PEELED);
    for (size_t i = 0; i < MEANINGS; i++)
        asked[i] = refs[i];
    if (vcm_libgit2.reference_list(&known, fetch->repo->handle) != 0)
        known.count = 0;
    for (size_t i = 0; i < known.count && count < MEANINGS + KNOWN_REFS_MAX; i++)
        if (is_branch_or_tag(known.strings[i]))
            asked[count++] = known.strings[i];
    vcm_log_write(fetch->clones->log, VCM_LOG_DEBUG, "asking %s for its refs", fetch->url.address);
    const struct vcm_git_runner runner = runner_of(fetch);
    int rc = vcm_git_clone_remote_ask(&fetch->remote, &runner, asked, err);
    if (rc == VCM_OK)
        forget_gone(fetch, &known);
    vcm_libgit2.strarray_dispose(&known);
    return rc;
}

/* What is to be fetched. */
struct target {
    char source[REF_BYTES]; /* ref or id, as the remote knows it; "" for everything */
    char keep[REF_BYTES];   /* ref that remembers where it was, or "" */
    const char *branch;     /* short name when it is the tip of one, else "" */
    struct vcm_git_id id;   /* of the commit */
    bool has_id;
};

static void aim(struct target *target, const struct vcm_git_remote *remote, const char *ref)
{
    char peeled[REF_BYTES + sizeof PEELED];

    snprintf(peeled, sizeof peeled, "%s%s", ref, PEELED);
    const char *id = vcm_git_clone_remote_find(remote, peeled);
    if (!id)
        id = vcm_git_clone_remote_find(remote, ref);
    target->has_id = id && vcm_hash_from_hex(target->id.bytes, id, VCM_GIT_ID_BYTES);
    snprintf(target->source, sizeof target->source, "%s", ref);
    if (strncmp(ref, HEADS, sizeof HEADS - 1) == 0 || strncmp(ref, TAGS, sizeof TAGS - 1) == 0)
        snprintf(target->keep, sizeof target->keep, "%s", ref);
}

static int aim_at_head(struct target *target, const struct fetch *fetch, struct vcm_error *err)
{
    const struct vcm_git_remote *remote = &fetch->remote;

    if (remote->head_branch[0] != '\0') {
        char ref[REF_BYTES];
        snprintf(ref, sizeof ref, "%s%s", HEADS, remote->head_branch);
        aim(target, remote, "HEAD");
        snprintf(target->keep, sizeof target->keep, "%s", ref);
        target->branch = remote->head_branch;
    } else if (remote->head_id) {
        aim(target, remote, "HEAD");
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

static int aim_at_branch(struct target *target, const struct fetch *fetch, struct vcm_error *err)
{
    const char *branch = fetch->request->branch;
    char ref[REF_BYTES];

    if (!branch)
        return aim_at_head(target, fetch, err);
    snprintf(ref, sizeof ref, "%s%s", HEADS, branch);
    if (!vcm_git_clone_remote_find(&fetch->remote, ref)) {
        if (fetch->request->branch_is_a_guess)
            return aim_at_head(target, fetch, err);
        return vcm_error_set(err, VCM_NOT_FOUND, "'%s' has no branch '%s'", fetch->url.address,
                             branch);
    }
    aim(target, &fetch->remote, ref);
    target->branch = branch;
    return VCM_OK;
}

/* A whole id, else a tag, a branch or a full ref name, else perhaps an abbreviated id, which only
 * somebody who has everything can tell. */
static void aim_at_commit(struct target *target, const struct fetch *fetch)
{
    static const char *const places[] = {TAGS, HEADS, ""};
    char ref[REF_BYTES];

    if (is_whole_id(fetch->name)) {
        target->has_id = vcm_hash_from_hex(target->id.bytes, fetch->name, VCM_GIT_ID_BYTES);
        vcm_git_repo_id_to_hex(target->source, &target->id);
        return;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(ref, sizeof ref, "%s%s", places[i], fetch->name);
        if (vcm_git_clone_remote_find(&fetch->remote, ref)) {
            aim(target, &fetch->remote, ref);
            return;
        }
    }
}

/* Whole branches and tags, whose histories hold every commit that the remote gives out. */
static int fetch_everything(const struct fetch *fetch, struct vcm_error *err)
{
    struct vcm_buf shallow = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    const char *args[20] = {"fetch",
                            "--quiet",
                            "--no-tags",
                            "--prune",
                            "--no-write-fetch-head",
                            "--no-auto-maintenance",
                            "--no-recurse-submodules",
                            "--update-shallow"};
    size_t count = 8;
    struct stat status;

    vcm_path_join(&shallow, fetch->place.path, "shallow");
    if (stat(vcm_buf_text(&shallow), &status) == 0 && status.st_size > 0)
        args[count++] = "--unshallow";
    /* A server takes for granted that who has a commit has its blobs. */
    if (fetch->is_partial)
        args[count++] = "--refetch";
    args[count++] = "--end-of-options";
    args[count++] = fetch->url.address;
    args[count++] = "+refs/heads/*:refs/heads/*";
    args[count] = "+refs/tags/*:refs/tags/*";
    int rc = run_git(NULL, fetch, args, err);
    vcm_buf_release(&shallow);
    return rc;
}

/* How much of a commit a call of git brings. */
enum extent {
    EXTENT_WHOLE,
    EXTENT_TREES, /* no blobs; a server that cannot leave them out sends all */
    EXTENT_ANEW,  /* everything, whatever is here already */
};

static int fetch_source(enum vcm_git_runner_refusal *refusal, const struct fetch *fetch,
                        const struct target *target, enum extent extent, struct vcm_error *err)
{
    char depth[32], refspec[2 * REF_BYTES];
    const char *args[16] = {"fetch",
                            "--quiet",
                            "--no-tags",
                            "--no-write-fetch-head",
                            "--no-auto-maintenance",
                            "--no-recurse-submodules",
                            "--update-shallow",
                            depth};
    size_t count = 8;

    if (extent == EXTENT_TREES)
        args[count++] = "--filter=blob:none";
    if (extent == EXTENT_ANEW) {
        args[count++] = "--refetch";
        args[count++] = "--no-filter";
    }
    args[count++] = "--end-of-options";
    args[count++] = extent == EXTENT_WHOLE ? fetch->url.address : VCM_GIT_PLACE_REMOTE;
    args[count++] = refspec;
    snprintf(depth, sizeof depth, "--depth=%u", fetch->depth);
    snprintf(refspec, sizeof refspec, "+%s:%s", target->source, FETCHED);
    return run_git(refusal, fetch, args, err);
}

/* All in one go, as git itself does before a checkout in a partial clone. */
static int fetch_blobs(enum vcm_git_runner_refusal *refusal, const struct fetch *fetch,
                       struct vcm_slice ids, struct vcm_error *err)
{
    const char *const args[] = {"-c",
                                "fetch.negotiationAlgorithm=noop",
                                "fetch",
                                "--quiet",
                                "--no-tags",
                                "--no-write-fetch-head",
                                "--no-auto-maintenance",
                                "--no-recurse-submodules",
                                "--filter=blob:none",
                                "--stdin",
                                "--end-of-options",
                                VCM_GIT_PLACE_REMOTE,
                                NULL};
    struct vcm_git_runner runner = runner_of(fetch);

    runner.input = ids;
    return vcm_git_runner_run(NULL, refusal, &runner, args, err);
}

/* Fetches what is missing of a commit whose trees are here. A server that does not give out blobs
 * by their ids sends the commit once more. */
static int fetch_missing(struct fetch *fetch, const struct target *target,
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

/* Makes what was asked for of a commit complete, in a clone that is partial. */
static int complete(struct fetch *fetch, const struct target *target, const struct vcm_git_id *id,
                    struct vcm_error *err)
{
    const char *subpath = wanted_subpath(fetch);
    struct vcm_git_part part;

    int rc = vcm_git_clone_part_look(&part, fetch->repo, id, subpath, fetch->clones->cancel, err);
    if (rc == VCM_OK && part.wanted_count > 0) {
        rc = fetch_missing(fetch, target, &part, err);
        if (rc == VCM_OK)
            rc = open_repo(fetch, err);
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

/* Finds the commit in what is here now, by `name` and the steps behind it. */
static int settle(struct vcm_git_id *out, struct fetch *fetch, const char *name,
                  struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error cause = {0};

    int rc = open_repo(fetch, err);
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

/* Fetches the commit, all of it or, in a partial clone, its trees. */
static int bring_commit(struct vcm_git_id *out, struct fetch *fetch, const struct target *target,
                        struct vcm_error *err)
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
        return settle(out, fetch, FETCHED, err);
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
    return settle(out, fetch, target->has_id ? hex : fetch->name, err);
}

static int bring(struct vcm_git_id *out, struct fetch *fetch, const struct target *target,
                 struct vcm_error *err)
{
    int rc = VCM_OK;

    if (wanted_subpath(fetch)[0] != '\0' && !fetch->is_partial) {
        rc = vcm_git_clone_place_make_partial(&fetch->place, fetch->url.address, err);
        if (rc == VCM_OK)
            rc = open_repo(fetch, err);
    }
    if (rc == VCM_OK)
        rc = bring_commit(out, fetch, target, err);
    if (rc == VCM_OK && fetch->is_partial)
        rc = complete(fetch, target, out, err);
    return rc;
}

/* HEAD of the clone is that of the remote, so that both mean the same branch. */
static int keep_head(const struct fetch *fetch, const struct vcm_git_id *id, struct vcm_error *err)
{
    const struct vcm_git_remote *remote = &fetch->remote;
    git_reference *head = NULL;
    char name[REF_BYTES];
    git_oid oid;
    int git_code = 0;

    snprintf(name, sizeof name, "%s%s", HEADS, remote->head_branch);
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

/* Remembers what was fetched: the commit for good, the branch or tag until the next time. */
static int keep(const struct fetch *fetch, const struct target *target, const struct vcm_git_id *id,
                struct vcm_error *err)
{
    bool is_whole = fetch->files_missing == 0;
    char name[REF_BYTES];

    name_kept(name, is_whole ? COMMITS : PARTS, id);
    int rc = set_ref(fetch, name, id, err);
    if (rc == VCM_OK && is_whole && has_ref(fetch->repo, PARTS, id)) {
        name_kept(name, PARTS, id);
        vcm_libgit2.reference_remove(fetch->repo->handle, name);
    }
    if (rc == VCM_OK && target->keep[0] != '\0' && fetch->steps[0] == '\0')
        rc = set_ref(fetch, target->keep, id, err);
    if (rc == VCM_OK)
        rc = keep_head(fetch, id, err);
    return rc;
}

static int run(struct vcm_git_clone *out, struct fetch *fetch, struct vcm_error *err)
{
    struct target target = {.branch = ""};
    bool plain = fetch->steps[0] == '\0' && fetch->depth == 1, found = false;
    int rc = VCM_OK;

    fetch->files_missing = 0;
    if (fetch->name && is_whole_id(fetch->name) && plain) {
        aim_at_commit(&target, fetch);
        rc = has_wanted(&found, fetch, &target.id, err);
        if (rc == VCM_OK && found) {
            out->commit = target.id;
            out->branch = strdup("");
            rc = out->branch ? VCM_OK : vcm_error_memory(err);
        }
        if (rc != VCM_OK || found)
            return rc;
    }
    rc = ask_remote(fetch, err);
    if (rc == VCM_OK && fetch->name)
        aim_at_commit(&target, fetch);
    else if (rc == VCM_OK)
        rc = aim_at_branch(&target, fetch, err);
    if (rc == VCM_OK && target.has_id && plain)
        rc = has_wanted(&found, fetch, &target.id, err);
    if (rc == VCM_OK && found)
        out->commit = target.id;
    else if (rc == VCM_OK)
        rc = bring(&out->commit, fetch, &target, err);
    if (rc == VCM_OK)
        rc = keep(fetch, &target, &out->commit, err);
    if (rc == VCM_OK && !(out->branch = strdup(fetch->steps[0] == '\0' ? target.branch : "")))
        rc = vcm_error_memory(err);
    return rc;
}

/* A clone that somebody damaged keeps git from fetching, and is no loss: it is made anew. */
static int run_or_remake(struct vcm_git_clone *out, struct fetch *fetch, struct vcm_error *err)
{
    struct vcm_error cause = {0};

    int rc = open_repo(fetch, &cause);
    bool damaged = rc == VCM_IO_ERROR;
    if (rc == VCM_OK) {
        rc = run(out, fetch, &cause);
        damaged = rc != VCM_OK && rc != VCM_INTERRUPTED && !fetch->place.is_new && !is_sound(fetch);
    }
    if (!damaged) {
        if (rc != VCM_OK && err)
            *err = cause;
        return rc;
    }
    vcm_log_write(fetch->clones->log, VCM_LOG_WARNING,
                  "the clone of %s is damaged and is made anew", fetch->url.address);
    vcm_git_clone_release(out);
    rc = vcm_git_clone_place_remake(&fetch->place, fetch->url.address, err);
    if (rc == VCM_OK)
        rc = open_repo(fetch, err);
    return rc == VCM_OK ? run(out, fetch, err) : rc;
}

/* A path is read in place by whoever asked. */
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
    struct fetch fetch = {.clones = clones, .request = request};
    unsigned timeout = clones->timeout_ms ? clones->timeout_ms : VCM_CLONE_TIMEOUT_MS;

    memset(out, 0, sizeof *out);
    vcm_git_clone_remote_init(&fetch.remote);
    fetch.deadline_ms = vcm_clock_ms() + timeout;
    int rc = parse_url(&fetch.url, request->url, err);
    if (rc == VCM_OK)
        rc = read_names(&fetch, err);
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

    bool partial = has_ref(repo, PARTS, commit) && !has_ref(repo, COMMITS, commit) &&
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
            .cancel = clones->cancel,
        };
        rc = vcm_git_runner_run(NULL, NULL, &runner, args, err);
    }
    vcm_git_credential_release(&secret);
    vcm_git_url_release(&parts);
    return rc;
}
