#include "git/ref_watch.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/layout.h"

#include "base/banned.h"

#define EVENTS                                                                                     \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF |       \
     IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW)
#define DEPTH_MAX 16u

/* A watched directory. */
struct place {
    int number;   /* inotify's */
    bool is_refs; /* false: a git directory, of which only a few names count */
};

struct vcm_git_ref_watch {
    int fd; /* -1 while nothing is watched */
    struct place *places;
    unsigned count;
    size_t capacity;
};

int vcm_git_ref_watch_open(struct vcm_git_ref_watch **out, struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return vcm_error_memory(err);
    (*out)->fd = -1;
    return VCM_OK;
}

static void forget(struct vcm_git_ref_watch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
    watch->count = 0;
}

void vcm_git_ref_watch_close(struct vcm_git_ref_watch *watch)
{
    if (!watch)
        return;
    forget(watch);
    free(watch->places);
    free(watch);
}

/* False when there is no such directory, or no watch left for it. */
static int add_place(bool *added, struct vcm_git_ref_watch *watch, const char *path, bool is_refs,
                     struct vcm_error *err)
{
    *added = false;
    if (watch->count == VCM_LIMIT_WATCHES)
        return VCM_OK;
    int rc = vcm_array_reserve(&watch->places, &watch->capacity, watch->count + 1,
                               VCM_LIMIT_WATCHES, err);
    if (rc != VCM_OK)
        return rc;
    int number = inotify_add_watch(watch->fd, path, EVENTS);
    *added = number >= 0;
    if (*added)
        watch->places[watch->count++] = (struct place){number, is_refs};
    return VCM_OK;
}

/* Watches a directory of refs and those below it. The watch is added before the directory is read:
 * what is created in between is seen by one of the two. */
static int add_refs(struct vcm_git_ref_watch *watch, const char *path, unsigned depth,
                    struct vcm_error *err)
{
    struct vcm_buf below = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct dirent *entry;
    bool added = false;

    int rc = add_place(&added, watch, path, true, err);
    DIR *directory = rc == VCM_OK && added && depth < DEPTH_MAX ? opendir(path) : NULL;
    while (rc == VCM_OK && directory && (entry = readdir(directory))) {
        if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
            continue;
        vcm_buf_clear(&below);
        vcm_path_join(&below, path, entry->d_name);
        if (below.fault == VCM_BUF_FINE)
            rc = add_refs(watch, vcm_buf_text(&below), depth + 1, err);
    }
    if (directory)
        closedir(directory);
    vcm_buf_release(&below);
    return rc;
}

static int add_repository(struct vcm_git_ref_watch *watch, struct vcm_git_repo *repo,
                          struct vcm_error *err)
{
    struct vcm_buf own = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf shared = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf refs = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    bool added = false;

    int rc = vcm_git_layout_directory(&own, repo, err);
    if (rc == VCM_OK)
        rc = vcm_git_layout_common_directory(&shared, repo, err);
    if (rc == VCM_OK)
        rc = add_place(&added, watch, vcm_buf_text(&own), false, err);
    if (rc == VCM_OK && !vcm_slice_equal(vcm_buf_slice(&own), vcm_buf_slice(&shared)))
        rc = add_place(&added, watch, vcm_buf_text(&shared), false, err);
    vcm_path_join(&refs, vcm_buf_text(&shared), "refs");
    if (rc == VCM_OK)
        rc = vcm_buf_check(&refs, "the path of the refs", err);
    if (rc == VCM_OK)
        rc = add_refs(watch, vcm_buf_text(&refs), 0, err);
    vcm_buf_release(&own);
    vcm_buf_release(&shared);
    vcm_buf_release(&refs);
    return rc;
}

int vcm_git_ref_watch_set(struct vcm_git_ref_watch *watch, struct vcm_git_repo *repo,
                          struct vcm_error *err)
{
    forget(watch);
    if (!repo)
        return VCM_OK;
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    /* Without an inotify handle callers still check the repository periodically. */
    return watch->fd < 0 ? VCM_OK : add_repository(watch, repo, err);
}

static bool ends_with(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);

    return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

/* Whether an event can mean that a ref moved. */
static bool matters(const struct vcm_git_ref_watch *watch, const struct inotify_event *event)
{
    const char *name = event->len > 0 ? event->name : "";
    bool is_refs = false;

    if (event->mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
        return true;
    for (unsigned i = 0; i < watch->count; i++)
        if (watch->places[i].number == event->wd)
            is_refs = watch->places[i].is_refs;
    if (is_refs)
        return !ends_with(name, ".lock");
    return strcmp(name, "HEAD") == 0 || strcmp(name, "packed-refs") == 0 ||
           strcmp(name, "refs") == 0;
}

/* Reads the pending events; true when one of them matters. */
static bool drain(const struct vcm_git_ref_watch *watch)
{
    _Alignas(struct inotify_event) char bytes[16 * VCM_KIB];
    bool found = false;
    ssize_t got;

    while ((got = read(watch->fd, bytes, sizeof bytes)) > 0)
        for (size_t at = 0; at + sizeof(struct inotify_event) <= (size_t)got;) {
            const struct inotify_event *event = (const void *)(bytes + at);
            found = matters(watch, event) || found;
            at += sizeof *event + event->len;
        }
    return found;
}

int vcm_git_ref_watch_wait(bool *changed, struct vcm_git_ref_watch *watch, unsigned timeout_ms,
                           struct vcm_error *err)
{
    struct pollfd ready = {.fd = watch->fd, .events = POLLIN};

    *changed = false;
    int count = poll(&ready, 1, (int)timeout_ms);
    if (count < 0 && errno != EINTR)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot wait for changes");
    if (count > 0)
        *changed = drain(watch);
    return VCM_OK;
}
