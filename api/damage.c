#include "api/damage.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/rescue.h"
#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

#define MARKER_NAME    "store.damaged"
#define ASIDE_NAME     "store.aside"
#define FRESH_NAME     "store.fresh"
#define MARKER_MODE    0600
#define DIRECTORY_MODE 0700

int vcm_damage_mark(const char *home, const char *reason, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf text = VCM_BUF_INIT(4096);

    vcm_path_join(&path, home, MARKER_NAME);
    vcm_buf_append_format(&text, "%s\n", reason);
    int rc = vcm_buf_check(&path, "the path of the home", err);
    if (rc == VCM_OK)
        rc = vcm_path_write_file(vcm_buf_text(&path), vcm_buf_slice(&text), MARKER_MODE, err);
    vcm_buf_release(&text);
    vcm_buf_release(&path);
    return rc;
}

int vcm_damage_note(struct vcm *vcm, int rc, const struct vcm_error *err)
{
    struct vcm_error ignored = {0};

    assert(!vcm_error_is_private(rc));
    /* A call that began before the store was set aside may still meet the damage of the former one.
     */
    if (rc == VCM_STORE_CORRUPT && !vcm_damage_is_marked(vcm->home) &&
        (!vcm->store || vcm_page_store_is_current(vcm->store)) &&
        vcm_damage_mark(vcm->home, err ? err->message : "damaged", &ignored) != VCM_OK)
        vcm_log_write(vcm->log, VCM_LOG_WARNING, "the store could not be marked as damaged: %s",
                      ignored.message);
    return rc;
}

bool vcm_damage_is_marked(const char *home)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&path, home, MARKER_NAME);
    bool marked = path.fault == VCM_BUF_FINE && access(vcm_buf_text(&path), F_OK) == 0;
    vcm_buf_release(&path);
    return marked;
}

/* Opens and locks the marker, so that only one of two concurrent maps sets the store aside; -1 when
 * there is no marker (any more). */
static int lock_marker(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd >= 0 && (flock(fd, LOCK_EX) != 0 || access(path, F_OK) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

struct setting {
    struct vcm *vcm;
    struct vcm_buf marker, store, lock, aside, aside_data, fresh, fresh_data;
    int marker_fd; /* locked, once the store is known to be marked */
};

static int name_files(struct setting *setting, struct vcm_error *err)
{
    const struct {
        struct vcm_buf *path;
        const char *name;
    } files[] = {
        {&setting->marker, MARKER_NAME},
        {&setting->store, VCM_HANDLE_STORE},
        {&setting->lock, VCM_HANDLE_STORE "/" VCM_PAGE_STORE_LOCK},
        {&setting->aside, ASIDE_NAME},
        {&setting->aside_data, ASIDE_NAME "/data.mdb"},
        {&setting->fresh, FRESH_NAME},
        {&setting->fresh_data, FRESH_NAME "/data.mdb"},
    };
    int rc = VCM_OK;

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        vcm_buf_init(files[i].path, VCM_LIMIT_PATH_BYTES);
    for (size_t i = 0; rc == VCM_OK && i < sizeof files / sizeof files[0]; i++)
        rc = vcm_handle_path(files[i].path, setting->vcm, files[i].name, err);
    return rc;
}

static void release_files(struct setting *setting)
{
    vcm_buf_release(&setting->marker);
    vcm_buf_release(&setting->store);
    vcm_buf_release(&setting->lock);
    vcm_buf_release(&setting->aside);
    vcm_buf_release(&setting->aside_data);
    vcm_buf_release(&setting->fresh);
    vcm_buf_release(&setting->fresh_data);
}

static int make_empty_directory(const char *path, struct vcm_error *err)
{
    int rc = vcm_path_tree_remove(path, err);
    return rc == VCM_OK ? vcm_path_make_directories(path, DIRECTORY_MODE, err) : rc;
}

/* Runs with the writers' lock held. VCM_STOP when another process has set the store aside. */
static int make_fresh(void *context, uint64_t generation, struct vcm_error *err)
{
    struct setting *setting = context;

    setting->marker_fd = lock_marker(vcm_buf_text(&setting->marker));
    if (setting->marker_fd < 0)
        return VCM_STOP;
    int rc = vcm_rescue_keep(setting->vcm, vcm_buf_text(&setting->store), err);
    if (rc == VCM_OK)
        rc = make_empty_directory(vcm_buf_text(&setting->aside), err);
    if (rc == VCM_OK)
        rc = make_empty_directory(vcm_buf_text(&setting->fresh), err);
    return rc == VCM_OK ? vcm_page_store_make(vcm_buf_text(&setting->fresh), generation, err) : rc;
}

/* Takes the writers' lock, so that no change of another process is lost between, and replaces the
 * store as compaction does, so that every open handle goes on with the new one. */
static int replace(struct setting *setting, struct vcm_error *err)
{
    const struct vcm_kv_replacement replacement = {
        .directory = vcm_buf_text(&setting->store),
        .lock_path = vcm_buf_text(&setting->lock),
        .fresh = vcm_buf_text(&setting->fresh_data),
        .aside = vcm_buf_text(&setting->aside_data),
        .make = make_fresh,
        .context = setting,
        .log = setting->vcm->log,
    };

    int rc = vcm_path_make_directories(vcm_buf_text(&setting->store), DIRECTORY_MODE, err);
    if (rc == VCM_OK)
        rc = vcm_kv_replace(&replacement, VCM_LIMIT_LOCK_TIMEOUT_MS, setting->vcm->cancel, err);
    if (rc == VCM_OK)
        rc = vcm_path_tree_remove(vcm_buf_text(&setting->fresh), err);
    if (rc == VCM_OK && unlink(vcm_buf_text(&setting->marker)) != 0)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot remove '%s'",
                           vcm_buf_text(&setting->marker));
    return rc;
}

int vcm_damage_set_aside(bool *done, struct vcm *vcm, struct vcm_error *err)
{
    struct setting setting = {.vcm = vcm, .marker_fd = -1};

    int rc = name_files(&setting, err);
    if (rc == VCM_OK)
        rc = replace(&setting, err);
    *done = rc == VCM_OK;
    if (*done)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "the damaged store was set aside as '%s'; its scopes are mapped again",
                      vcm_buf_text(&setting.aside));
    if (setting.marker_fd >= 0)
        close(setting.marker_fd);
    release_files(&setting);
    return rc == VCM_STOP ? VCM_OK : rc;
}

void vcm_damage_look(struct vcm_damage_seen *out, const char *home)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct stat status;

    *out = (struct vcm_damage_seen){0};
    vcm_path_join(&path, home, MARKER_NAME);
    if (path.fault == VCM_BUF_FINE && lstat(vcm_buf_text(&path), &status) == 0)
        *out = (struct vcm_damage_seen){true, status.st_ino, status.st_ctim};
    vcm_buf_release(&path);
}

void vcm_damage_lift(struct vcm *vcm, const struct vcm_damage_seen *seen)
{
    struct vcm_buf marker = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_damage_seen now;

    vcm_damage_look(&now, vcm->home);
    if (!seen->is_marked || !now.is_marked || now.number != seen->number ||
        now.changed.tv_sec != seen->changed.tv_sec || now.changed.tv_nsec != seen->changed.tv_nsec)
        return;
    int fd = vcm_handle_path(&marker, vcm, MARKER_NAME, NULL) == VCM_OK
                 ? lock_marker(vcm_buf_text(&marker))
                 : -1;
    if (fd >= 0 && unlink(vcm_buf_text(&marker)) != 0)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "the store is sound, but its mark '%s' cannot be removed; the next 'vcm map' "
                      "sets the store aside unless you remove it",
                      vcm_buf_text(&marker));
    if (fd >= 0)
        close(fd);
    vcm_buf_release(&marker);
}
