#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/repo_dest.h"
#include "base/clock.h"
#include "base/defaults.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/tree.h"
#include "git/url.h"
#include "symbols/orientation.h"

#include "base/banned.h"

#define TRIES_MAX        3u
#define FIRST_PAUSE_MS   250u
#define FETCH_TIMEOUT_MS (VCM_DEFAULT_REPO_FETCH_SECONDS * 1000u)
#define SUBPATH_NAME     "--subpath"

struct repo_fetch {
    struct vcm *vcm;
    const struct vcm_repo_fetch_options *options;
    uint64_t deadline_ms;
    struct vcm_git_clone clone;
    char *subpath; /* without a trailing slash; NULL for all */
    char *dest;    /* real path of the working copy, or NULL */
};

static unsigned time_left(const struct repo_fetch *fetch)
{
    uint64_t now = vcm_clock_ms();

    return now < fetch->deadline_ms ? (unsigned)(fetch->deadline_ms - now) : 1;
}

/* Appends "file:///srv/a%20b" for a path, so that it is cloned like any URL. */
static int name_path(struct vcm_buf *url, const char *path, struct vcm_error *err)
{
    static const char plain[] = "/-._~";
    struct vcm_git_repo *repo = NULL;

    int rc = vcm_git_repo_open(&repo, path, err);
    if (rc != VCM_OK)
        return rc;
    vcm_buf_append_string(url, "file://");
    for (const char *c = vcm_git_repo_root(repo); *c != '\0'; c++) {
        bool letter = (*c >= '0' && *c <= '9') || ((*c | 32) >= 'a' && (*c | 32) <= 'z');
        if (letter || strchr(plain, *c))
            vcm_buf_append_byte(url, *c);
        else
            vcm_buf_append_format(url, "%%%02X", (unsigned)(unsigned char)*c);
    }
    vcm_git_repo_close(repo);
    return vcm_buf_check(url, "the URL of a path", err);
}

/* Retries a failed fetch with growing delays, because network failures are often short. */
static int try_url(struct repo_fetch *fetch, const char *url, struct vcm_error *err)
{
    const struct vcm_git_clone_request request = {.url = url,
                                                  .commit = fetch->options->ref,
                                                  .subpath = fetch->subpath,
                                                  .depth = fetch->options->depth};
    unsigned pause = FIRST_PAUSE_MS;
    int rc = VCM_OK;

    for (unsigned tries = 1; tries <= TRIES_MAX; tries++) {
        struct vcm_error failure = {0};
        fetch->vcm->clones.timeout_ms = time_left(fetch);
        vcm_git_clone_release(&fetch->clone);
        rc = vcm_git_clone_fetch(&fetch->clone, &fetch->vcm->clones, &request, &failure);
        if (rc == VCM_OK)
            return rc;
        if (rc != VCM_NETWORK_ERROR || tries == TRIES_MAX || time_left(fetch) <= pause) {
            if (err)
                *err = failure;
            return rc;
        }
        vcm_clock_sleep_ms(pause);
        pause *= 4;
        rc = vcm_cancel_check(fetch->vcm->cancel, err);
        if (rc != VCM_OK)
            return rc;
    }
    return rc;
}

/* Appends the URL of the same repository over the other transport, in the form that the usual hosts
 * have; nothing if it cannot be derived. */
static void name_other(struct vcm_buf *other, const struct vcm_git_url *url)
{
    const char *at = strstr(url->address, "://");
    const char *rest = at ? strchr(at + 3, '/') : strchr(url->address, ':');

    if (!rest || rest[1] == '\0' || url->host[0] == '\0' || strchr(url->host, ':'))
        return;
    if (url->transport == VCM_GIT_URL_HTTPS)
        vcm_buf_append_format(other, "ssh://git@%s%s", url->host, rest);
    else if (url->transport == VCM_GIT_URL_SSH)
        vcm_buf_append_format(other, "https://%s/%s", url->host, rest + 1 + (rest[1] == '/'));
}

static int fetch_any(struct repo_fetch *fetch, struct vcm_error *err)
{
    struct vcm_buf address = VCM_BUF_INIT(4 * VCM_LIMIT_URL_BYTES);
    struct vcm_buf other = VCM_BUF_INIT(4 * VCM_LIMIT_URL_BYTES);
    const char *text = fetch->options->url;
    struct vcm_error first = {0}, second = {0};
    struct vcm_git_url url = {0};

    int rc = VCM_OK;
    if (!vcm_git_url_is_remote(text)) {
        rc = name_path(&address, text, err);
        text = vcm_buf_text(&address);
    }
    if (rc == VCM_OK)
        rc = vcm_git_url_parse(&url, text, err);
    if (rc != VCM_OK)
        goto out;
    rc = try_url(fetch, text, &first);
    if (rc == VCM_AUTH_FAILED)
        name_other(&other, &url);
    if (rc == VCM_AUTH_FAILED && other.len > 0 &&
        try_url(fetch, vcm_buf_text(&other), &second) == VCM_OK)
        rc = VCM_OK;
    if (rc != VCM_OK && err)
        *err = first;
out:
    vcm_git_url_release(&url);
    vcm_buf_release(&other);
    vcm_buf_release(&address);
    return rc;
}

static int describe(struct vcm_buf *document, const struct repo_fetch *fetch,
                    struct vcm_git_repo *repo, struct vcm_error *err)
{
    return vcm_orientation_describe(document, repo, &fetch->clone.commit,
                                    &(struct vcm_orientation_request){
                                        .clone_path = fetch->dest ? fetch->dest : fetch->clone.path,
                                        .subpath = fetch->subpath ? fetch->subpath : "",
                                        .files_not_fetched = fetch->clone.files_missing,
                                        .cancel = fetch->vcm->cancel,
                                    },
                                    err);
}

static int read_subpath(struct repo_fetch *fetch, struct vcm_error *err)
{
    const char *text = fetch->options->subpath;

    if (!text)
        return VCM_OK;
    int rc = vcm_path_check_relative(SUBPATH_NAME, vcm_slice_of_string(text), err);
    if (rc != VCM_OK)
        return rc;
    size_t len = strlen(text);
    fetch->subpath = strndup(text, text[len - 1] == '/' ? len - 1 : len);
    return fetch->subpath ? VCM_OK : vcm_error_memory(err);
}

/* git itself writes any number of files, so the tree is counted first. */
static int check_out(struct repo_fetch *fetch, struct vcm_git_repo *repo, struct vcm_error *err)
{
    if (!fetch->options->dest)
        return VCM_OK;
    int rc = vcm_git_tree_check_size(repo, &fetch->clone.commit, fetch->vcm->cancel, err);
    if (rc != VCM_OK)
        return rc;
    return vcm_repo_dest_fill(&fetch->dest,
                              &(struct vcm_repo_dest){
                                  .path = fetch->options->dest,
                                  .clone = &fetch->clone,
                                  .subpath = fetch->subpath,
                                  .timeout_ms = time_left(fetch),
                                  .memory_max = fetch->vcm->clones.memory_max,
                                  .bytes_max = fetch->vcm->clones.bytes_max,
                                  .cancel = fetch->vcm->cancel,
                              },
                              err);
}

/* What is done with the commit that was fetched, in the time that is left. */
static int use_commit(struct vcm_buf *document, struct repo_fetch *fetch, struct vcm_error *err)
{
    struct vcm_git_repo *repo = NULL;
    struct vcm_error cause = {0};

    vcm_cancel_relay_set_deadline(&fetch->vcm->relay, fetch->deadline_ms);
    int rc = vcm_git_repo_open(&repo, fetch->clone.path, &cause);
    if (rc == VCM_OK)
        rc = check_out(fetch, repo, &cause);
    if (rc == VCM_OK)
        rc = describe(document, fetch, repo, &cause);
    vcm_git_repo_close(repo);
    bool late = rc == VCM_INTERRUPTED && vcm_cancel_relay_is_late(&fetch->vcm->relay);
    if (late) {
        vcm_error_reset(&cause);
        rc = vcm_error_set(&cause, VCM_TIMEOUT,
                           "the commit was fetched, but not described within the time limit; raise "
                           "--timeout");
    }
    if (rc != VCM_OK && err)
        *err = cause;
    vcm_cancel_relay_set_deadline(&fetch->vcm->relay, 0);
    return rc;
}

int vcm_repo_fetch(struct vcm *vcm, const struct vcm_repo_fetch_options *options,
                   vcm_document_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options->url));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"ref", options->ref});
    if (rc != VCM_OK)
        return rc;
    unsigned timeout = options->timeout_ms > 0 ? options->timeout_ms : FETCH_TIMEOUT_MS;
    struct repo_fetch fetch = {.vcm = vcm, .options = options};
    struct vcm_plan_request request = {.repository = NULL};
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    rc = read_subpath(&fetch, err);
    if (rc == VCM_OK)
        rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_clones(&request, vcm, timeout, err);
    fetch.deadline_ms = vcm_clock_ms() + timeout;
    if (rc == VCM_OK)
        rc = fetch_any(&fetch, err);
    if (rc == VCM_OK)
        rc = use_commit(&document, &fetch, err);
    if (rc == VCM_OK)
        rc = visit(context, vcm_buf_text(&document), document.len, err);
    vcm_buf_release(&document);
    free(fetch.dest);
    free(fetch.subpath);
    vcm_git_clone_release(&fetch.clone);
    return rc;
}
