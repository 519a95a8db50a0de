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
#include "git/clone_place.h"
#include "git/credential.h"
#include "git/internal.h"
#include "git/runner.h"

#include "base/banned.h"

#define COMMITS       "refs/vcm/commits/"
#define FETCHED       "refs/vcm/fetched"
#define HEADS         "refs/heads/"
#define TAGS          "refs/tags/"
#define PEELED        "^{}"
#define REF_BYTES     1024
#define SHA256_DIGITS 64

/* What the remote says of the refs that we asked for. */
struct remote {
    struct vcm_buf text;     /* of git ls-remote, lines cut by NULs */
    const char *head_branch; /* short; "" when HEAD is on none */
    const char *head_id;     /* hex, or NULL without a HEAD */
};

/* One call of vcm_git_clone_fetch(). */
struct fetch {
    const struct vcm_git_clones *clones;
    const struct vcm_git_clone_request *request;
    struct vcm_git_url url;
    struct vcm_git_secret secret;
    struct vcm_git_place place;
    struct vcm_git_repo *repo;
    struct remote remote;
    uint64_t deadline_ms;
    char *name;        /* of the commit, without the steps back; NULL for a branch's tip */
    const char *steps; /* "~3^2" behind it, or "" */
    unsigned depth;
};

static unsigned time_left(const struct fetch *fetch)
{
    uint64_t now = vcm_clock_ms();

    return now < fetch->deadline_ms ? (unsigned)(fetch->deadline_ms - now) : 1;
}

static int run_git(struct vcm_buf *out, enum vcm_git_runner_refusal *refusal,
                   const struct fetch *fetch, const char *const *args, struct vcm_error *err)
{
    const struct vcm_git_runner runner = {
        .git_dir = fetch->place.path,
        .url = &fetch->url,
        .user = fetch->secret.user,
        .password = fetch->secret.password,
        .timeout_ms = time_left(fetch),
        .cancel = fetch->clones->cancel,
    };

    return vcm_git_runner_run(out, refusal, &runner, args, err);
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
        rc = vcm_git_internal_check_name("branch", request->branch, err);
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
    return vcm_git_internal_check_name("commit", fetch->name, err);
}

static bool is_whole_id(const char *text)
{
    return strlen(text) == VCM_GIT_ID_HEX &&
           strspn(text, "0123456789abcdefABCDEF") == VCM_GIT_ID_HEX;
}

/* The ref that keeps a commit. */
static void name_kept(char out[REF_BYTES], const struct vcm_git_id *id)
{
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_id_to_hex(hex, id);
    snprintf(out, REF_BYTES, "%s%s", COMMITS, hex);
}

/* Whether the commit and its tree are here; what is below is taken on trust. */
static bool has_commit(const struct fetch *fetch, const git_oid *oid)
{
    git_commit *commit = NULL;

    bool found = git_commit_lookup(&commit, fetch->repo->handle, oid) == 0 &&
                 git_odb_exists(fetch->repo->odb, git_commit_tree_id(commit)) == 1;
    git_commit_free(commit);
    return found;
}

static bool is_kept(const struct fetch *fetch, const struct vcm_git_id *id)
{
    git_reference *ref = NULL;
    char name[REF_BYTES];
    git_oid oid;

    name_kept(name, id);
    vcm_git_internal_to_oid(&oid, id);
    bool kept = git_reference_lookup(&ref, fetch->repo->handle, name) == 0;
    git_reference_free(ref);
    return kept && has_commit(fetch, &oid);
}

/* Whether everything that was kept is still here. */
static bool is_sound(const struct fetch *fetch)
{
    git_reference_iterator *refs = NULL;
    git_reference *ref = NULL;
    bool sound = true;

    if (git_reference_iterator_glob_new(&refs, fetch->repo->handle, COMMITS "*") != 0)
        return false;
    while (sound && git_reference_next(&ref, refs) == 0) {
        const git_oid *oid = git_reference_target(ref);
        sound = oid && has_commit(fetch, oid);
        git_reference_free(ref);
    }
    git_reference_iterator_free(refs);
    return sound;
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
    int git_code = git_reference_create(&ref, handle, name, &oid, 1, NULL);
    if (git_code != 0 && git_reference_list(&names, handle) == 0) {
        for (size_t i = 0; i < names.count; i++)
            if (strncmp(names.strings[i], HEADS, sizeof HEADS - 1) == 0 ||
                strncmp(names.strings[i], TAGS, sizeof TAGS - 1) == 0)
                git_reference_remove(handle, names.strings[i]);
        git_strarray_dispose(&names);
        git_code = git_reference_create(&ref, handle, name, &oid, 1, NULL);
    }
    git_reference_free(ref);
    return git_code == 0 ? VCM_OK : vcm_git_internal_error(err, git_code, "cannot keep '%s'", name);
}

static int open_repo(struct fetch *fetch, struct vcm_error *err)
{
    vcm_git_repo_close(fetch->repo);
    int rc = vcm_git_repo_open(&fetch->repo, fetch->place.path, err);
    if (rc == VCM_OK && strcmp(vcm_git_repo_root(fetch->repo), fetch->place.path) != 0)
        rc = vcm_error_set(err, VCM_IO_ERROR, "'%s' is no clone", fetch->place.path);
    return rc;
}

/* The id of a ref that the remote told, or NULL. */
static const char *find_ref(const struct remote *remote, const char *name)
{
    const char *line = vcm_buf_text(&remote->text);
    const char *end = line + remote->text.len;

    for (; line < end; line += strlen(line) + 1) {
        const char *tab = strchr(line, '\t');
        if (tab && strncmp(line, "ref: ", 5) != 0 && strcmp(tab + 1, name) == 0)
            return line;
    }
    return NULL;
}

static int check_remote(const struct fetch *fetch, struct vcm_error *err)
{
    const char *line = vcm_buf_text(&fetch->remote.text);
    const char *end = line + fetch->remote.text.len;

    for (; line < end; line += strlen(line) + 1) {
        size_t digits = strspn(line, "0123456789abcdef");
        if (strncmp(line, "ref: ", 5) == 0 || digits == VCM_GIT_ID_HEX)
            continue;
        if (digits == SHA256_DIGITS)
            return vcm_error_set(err, VCM_UNSUPPORTED,
                                 "'%s' uses sha256 object ids, which cannot be read",
                                 fetch->url.address);
        return vcm_error_set(err, VCM_NETWORK_ERROR, "'%s' tells its refs in no known form",
                             fetch->url.address);
    }
    return VCM_OK;
}

/* "ref: refs/heads/main\tHEAD" */
static void find_head(struct remote *remote)
{
    const char *line = vcm_buf_text(&remote->text);
    char *end = remote->text.data + remote->text.len;

    remote->head_branch = "";
    remote->head_id = find_ref(remote, "HEAD");
    for (; remote->text.len > 0 && line < end; line += strlen(line) + 1) {
        char *tab = strchr(line, '\t');
        if (tab && strcmp(tab + 1, "HEAD") == 0 && strncmp(line, "ref: " HEADS, 16) == 0) {
            *tab = '\0';
            remote->head_branch = line + 16;
            return;
        }
    }
}

/* Asks for HEAD and for whatever the names may mean. */
static int ask_remote(struct fetch *fetch, struct vcm_error *err)
{
    struct remote *remote = &fetch->remote;
    const char *branch = fetch->request->branch ? fetch->request->branch : "HEAD";
    const char *name = fetch->name ? fetch->name : branch;
    char refs[6][REF_BYTES];
    const char *args[16] = {"ls-remote",        "--symref",         "--quiet",
                            "--end-of-options", fetch->url.address, "HEAD"};

    snprintf(refs[0], REF_BYTES, "%s%s", HEADS, branch);
    snprintf(refs[1], REF_BYTES, "%s%s", TAGS, name);
    snprintf(refs[2], REF_BYTES, "%s%s%s", TAGS, name, PEELED);
    snprintf(refs[3], REF_BYTES, "%s%s", HEADS, name);
    snprintf(refs[4], REF_BYTES, "%s", name);
    snprintf(refs[5], REF_BYTES, "%s%s", name, PEELED);
    for (size_t i = 0; i < sizeof refs / sizeof refs[0]; i++)
        args[6 + i] = refs[i];
    vcm_buf_clear(&remote->text);
    vcm_log_write(fetch->clones->log, VCM_LOG_DEBUG, "asking %s for its refs", fetch->url.address);
    int rc = run_git(&remote->text, NULL, fetch, args, err);
    if (rc != VCM_OK)
        return rc;
    for (size_t i = 0; i < remote->text.len; i++)
        if (remote->text.data[i] == '\n')
            remote->text.data[i] = '\0';
    rc = check_remote(fetch, err);
    find_head(remote);
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

static void aim(struct target *target, const struct remote *remote, const char *ref)
{
    char peeled[REF_BYTES + sizeof PEELED];

    snprintf(peeled, sizeof peeled, "%s%s", ref, PEELED);
    const char *id = find_ref(remote, peeled);
    if (!id)
        id = find_ref(remote, ref);
    target->has_id = id && vcm_hash_from_hex(target->id.bytes, id, VCM_GIT_ID_BYTES);
    snprintf(target->source, sizeof target->source, "%s", ref);
    if (strncmp(ref, HEADS, sizeof HEADS - 1) == 0 || strncmp(ref, TAGS, sizeof TAGS - 1) == 0)
        snprintf(target->keep, sizeof target->keep, "%s", ref);
}

static int aim_at_head(struct target *target, const struct fetch *fetch, struct vcm_error *err)
{
    const struct remote *remote = &fetch->remote;

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
    if (!find_ref(&fetch->remote, ref)) {
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
        vcm_git_id_to_hex(target->source, &target->id);
        return;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(ref, sizeof ref, "%s%s", places[i], fetch->name);
        if (find_ref(&fetch->remote, ref)) {
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
    args[count++] = "--end-of-options";
    args[count++] = fetch->url.address;
    args[count++] = "+refs/heads/*:refs/heads/*";
    args[count] = "+refs/tags/*:refs/tags/*";
    int rc = run_git(NULL, NULL, fetch, args, err);
    vcm_buf_release(&shallow);
    return rc;
}

static int fetch_source(enum vcm_git_runner_refusal *refusal, const struct fetch *fetch,
                        const struct target *target, struct vcm_error *err)
{
    char depth[32], refspec[2 * REF_BYTES];
    const char *args[] = {"fetch",
                          "--quiet",
                          "--no-tags",
                          "--no-write-fetch-head",
                          "--no-auto-maintenance",
                          "--no-recurse-submodules",
                          "--update-shallow",
                          depth,
                          "--end-of-options",
                          fetch->url.address,
                          refspec,
                          NULL};

    snprintf(depth, sizeof depth, "--depth=%u", fetch->depth);
    snprintf(refspec, sizeof refspec, "+%s:%s", target->source, FETCHED);
    return run_git(NULL, refusal, fetch, args, err);
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

static int bring(struct vcm_git_id *out, struct fetch *fetch, const struct target *target,
                 struct vcm_error *err)
{
    enum vcm_git_runner_refusal refusal = VCM_GIT_RUNNER_UNADVERTISED;
    struct vcm_error cause = {0};
    char hex[VCM_GIT_ID_HEX + 1];
    int rc = VCM_NOT_FOUND;

    vcm_log_write(fetch->clones->log, VCM_LOG_INFO, "fetching %s of %s",
                  target->source[0] != '\0' ? target->source : "everything", fetch->url.address);
    if (target->source[0] != '\0')
        rc = fetch_source(&refusal, fetch, target, &cause);
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
    vcm_git_id_to_hex(hex, &target->id);
    return settle(out, fetch, target->has_id ? hex : fetch->name, err);
}

/* HEAD of the clone is that of the remote, so that both mean the same branch. */
static int keep_head(const struct fetch *fetch, const struct vcm_git_id *id, struct vcm_error *err)
{
    const struct remote *remote = &fetch->remote;
    git_reference *head = NULL;
    char name[REF_BYTES];
    git_oid oid;
    int git_code = 0;

    snprintf(name, sizeof name, "%s%s", HEADS, remote->head_branch);
    if (remote->head_branch[0] != '\0') {
        git_code = git_reference_symbolic_create(&head, fetch->repo->handle, "HEAD", name, 1, NULL);
    } else if (remote->head_id && !fetch->name && !fetch->request->branch) {
        vcm_git_internal_to_oid(&oid, id);
        git_code = git_repository_set_head_detached(fetch->repo->handle, &oid);
    }
    git_reference_free(head);
    return git_code == 0 ? VCM_OK
                         : vcm_git_internal_error(err, git_code, "cannot set HEAD of '%s'",
                                                  fetch->place.path);
}

/* Remembers what was fetched: the commit for good, the branch or tag until the next time. */
static int keep(const struct fetch *fetch, const struct target *target, const struct vcm_git_id *id,
                struct vcm_error *err)
{
    char name[REF_BYTES];

    name_kept(name, id);
    int rc = set_ref(fetch, name, id, err);
    if (rc == VCM_OK && target->keep[0] != '\0' && fetch->steps[0] == '\0')
        rc = set_ref(fetch, target->keep, id, err);
    if (rc == VCM_OK)
        rc = keep_head(fetch, id, err);
    return rc;
}

static int run(struct vcm_git_clone *out, struct fetch *fetch, struct vcm_error *err)
{
    struct target target = {.branch = ""};
    bool plain = fetch->steps[0] == '\0' && fetch->depth == 1;

    if (fetch->name && is_whole_id(fetch->name) && plain) {
        aim_at_commit(&target, fetch);
        if (is_kept(fetch, &target.id)) {
            out->commit = target.id;
            out->branch = strdup("");
            return out->branch ? VCM_OK : vcm_error_memory(err);
        }
    }
    int rc = ask_remote(fetch, err);
    if (rc == VCM_OK && fetch->name)
        aim_at_commit(&target, fetch);
    else if (rc == VCM_OK)
        rc = aim_at_branch(&target, fetch, err);
    if (rc == VCM_OK && target.has_id && plain && is_kept(fetch, &target.id))
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
    rc = vcm_git_place_remake(&fetch->place, fetch->url.address, err);
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
    unsigned timeout = clones->timeout_ms ? clones->timeout_ms : VCM_LIMIT_FETCH_TIMEOUT_MS;

    memset(out, 0, sizeof *out);
    vcm_buf_init(&fetch.remote.text, VCM_LIMIT_REMOTE_REFS);
    fetch.deadline_ms = vcm_clock_ms() + timeout;
    int rc = parse_url(&fetch.url, request->url, err);
    if (rc == VCM_OK)
        rc = read_names(&fetch, err);
    if (rc == VCM_OK)
        rc = vcm_git_credential_find(&fetch.secret, clones, &fetch.url, err);
    if (rc == VCM_OK)
        rc = vcm_git_place_take(&fetch.place, clones, fetch.url.address, timeout, err);
    if (rc == VCM_OK)
        rc = run_or_remake(out, &fetch, err);
    if (rc == VCM_OK) {
        out->path = strdup(vcm_git_repo_root(fetch.repo));
        out->url = strdup(fetch.url.address);
        if (!out->path || !out->url)
            rc = vcm_error_memory(err);
    } else {
        vcm_git_place_give_up(&fetch.place);
    }
    vcm_git_repo_close(fetch.repo);
    vcm_git_place_release(&fetch.place);
    vcm_git_credential_release(&fetch.secret);
    vcm_git_url_release(&fetch.url);
    vcm_buf_release(&fetch.remote.text);
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
        vcm_git_place_name(path, clones, parsed.address);
        rc = vcm_buf_check(path, "the path of a clone", err);
    }
    if (rc == VCM_OK && !vcm_git_place_is_ready(vcm_buf_text(path)))
        rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' was not fetched yet; 'vcm map' fetches it",
                           parsed.address);
    vcm_git_url_release(&parsed);
    return rc;
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
            .timeout_ms = clones->timeout_ms ? clones->timeout_ms : VCM_LIMIT_FETCH_TIMEOUT_MS,
            .cancel = clones->cancel,
        };
        rc = vcm_git_runner_run(NULL, NULL, &runner, args, err);
    }
    vcm_git_credential_release(&secret);
    vcm_git_url_release(&parts);
    return rc;
}
