#include "lfs/fetch.h"

#include "base/limits.h"
#include "git/blob.h"
#include "lfs/filters.h"

#include "base/banned.h"

#define BATCH_BYTES ((size_t)64 * 1024) /* of one argument; Linux allows twice as much */
#define OUTPUT_MAX  (4 * VCM_MIB)
#define TIMEOUT_MS  (60 * 60 * 1000u)

static const struct vcm_slice no_input = {NULL, 0};

int vcm_lfs_fetch_manifest(struct vcm_manifest *out, struct vcm_git_repo *repo,
                           const struct vcm_git_id *commit, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_error none = {0};
    struct vcm_git_entry entry;
    int rc = VCM_OK;

    vcm_manifest_init(out);
    if (vcm_git_tree_entry(&entry, repo, commit, VCM_MANIFEST_PATH, &none) == VCM_OK) {
        rc = vcm_git_blob_read(&text, repo, &entry.id, err);
        if (rc == VCM_OK) {
            vcm_manifest_release(out);
            rc = vcm_manifest_parse(out, vcm_buf_slice(&text), VCM_MANIFEST_PATH, err);
        }
    }
    vcm_buf_release(&text);
    return rc;
}

/* "origin", or the only remote. */
static int find_remote(struct vcm_buf *out, const struct vcm_command *git, struct vcm_error *err)
{
    struct vcm_buf list = VCM_BUF_INIT(OUTPUT_MAX);

    int rc = vcm_command_read(&list, git, VCM_COMMAND_ARGS("remote"), no_input, err);
    const char *text = vcm_buf_text(&list);
    for (const char *at = text; rc == VCM_OK && *at;) {
        size_t len = strcspn(at, "\n");
        bool origin = len == 6 && memcmp(at, "origin", len) == 0;
        if (*at != '-' && (out->len == 0 || origin)) {
            vcm_buf_clear(out);
            vcm_buf_append(out, at, len);
        }
        at += len + (at[len] == '\n');
    }
    if (rc == VCM_OK && out->len == 0)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "'%s' has no remote to fetch LFS content from; add one with git remote "
                           "add origin URL",
                           git->directory);
    vcm_buf_release(&list);
    return rc;
}

/* A pattern anchored at the root; characters with a meaning in patterns become '?'. */
static void put_pattern(struct vcm_buf *out, const char *path, bool first)
{
    vcm_buf_append_string(out, first ? "/" : ",/");
    for (; *path; path++)
        vcm_buf_append_byte(out, strchr(",*?[]\\!#\" ", *path) ? '?' : *path);
}

/* What all batches of a fetch have in common. */
struct job {
    const struct vcm_lfs_fetch_place *place;
    const char *url; /* of separate storage, or NULL */
    const char *remote;
    const char *commit;
};

static int run_in_place(const struct job *job, const char *const *args, struct vcm_error *err)
{
    struct vcm_buf errors = VCM_BUF_INIT(OUTPUT_MAX);
    struct vcm_command patient = *job->place->git;
    int status = 0;

    patient.timeout_ms = TIMEOUT_MS;
    int rc = vcm_command_run(&status, NULL, &errors, &patient, args, no_input, err);
    if (rc == VCM_OK && status != 0 && strstr(vcm_buf_text(&errors), "file too large"))
        rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "git lfs fetch: a file is larger than may be fetched; vcm config set "
                           "fetch.max_bytes allows more");
    else if (rc == VCM_OK && status != 0)
        rc = vcm_command_failure(err, "git lfs fetch", vcm_buf_text(&errors));
    vcm_buf_release(&errors);
    return rc;
}

static int fetch_batch(const struct job *job, const char *patterns, struct vcm_error *err)
{
    struct vcm_buf setting = VCM_BUF_INIT(VCM_LIMIT_MANIFEST_BYTES);
    const struct vcm_lfs_fetch_place *place = job->place;

    vcm_buf_append_format(&setting, "lfs.url=%s", job->url ? job->url : "");
    const char *const *args =
        VCM_COMMAND_ARGS("-c", job->url ? vcm_buf_text(&setting) : "lfs.batch=true", "lfs", "fetch",
                         patterns, "--exclude=", "--", job->remote, job->commit);
    int rc = vcm_buf_check(&setting, "separate_url", err);
    if (rc == VCM_OK && place->clones)
        rc = vcm_git_clone_run(place->git->directory, place->clones,
                               job->url ? job->url : place->origin_url, args, err);
    else if (rc == VCM_OK)
        rc = run_in_place(job, args, err);
    vcm_buf_release(&setting);
    return rc;
}

static int fetch_all(const struct job *job, const char *const *paths, size_t count,
                     struct vcm_error *err)
{
    struct vcm_buf patterns = VCM_BUF_INIT(BATCH_BYTES + 2 * VCM_LIMIT_TREE_PATH_BYTES);
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < count;) {
        vcm_buf_clear(&patterns);
        vcm_buf_append_string(&patterns, "--include=");
        size_t first = i;
        do
            put_pattern(&patterns, paths[i], i == first);
        while (++i < count && patterns.len + strlen(paths[i]) < BATCH_BYTES);
        rc = vcm_buf_check(&patterns, "a list of paths", err);
        if (rc == VCM_OK)
            rc = fetch_batch(job, vcm_buf_text(&patterns), err);
    }
    vcm_buf_release(&patterns);
    return rc;
}

int vcm_lfs_fetch_paths(const struct vcm_lfs_fetch_place *place, const struct vcm_manifest_lfs *lfs,
                        const char *commit, const char *const *paths, size_t count,
                        struct vcm_error *err)
{
    struct vcm_buf remote = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct job job = {.place = place, .commit = commit};
    bool found = false;

    if (lfs->mode == VCM_MANIFEST_LFS_DISABLED)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "%s of '%s' disables LFS; turn it on with vcm init", VCM_MANIFEST_PATH,
                             place->git->directory);
    int rc = vcm_filters_probe(&found, place->git, err);
    if (rc == VCM_OK && !found)
        rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "fetching LFS content needs git-lfs; " VCM_WIRE_GET_GIT_LFS);
    if (lfs->mode == VCM_MANIFEST_LFS_SEPARATE) {
        job.url = lfs->separate_url;
        vcm_buf_append_string(&remote, "origin");
    } else if (rc == VCM_OK) {
        rc = find_remote(&remote, place->git, err);
    }
    job.remote = vcm_buf_text(&remote);
    if (rc == VCM_OK)
        rc = fetch_all(&job, paths, count, err);
    vcm_buf_release(&remote);
    return rc;
}
