#include "api/damage.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

#define MARKER_NAME "store.damaged"
#define ASIDE_NAME  "store.aside"
#define MARKER_MODE 0600

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
    if (rc == VCM_STORE_CORRUPT && !vcm_damage_is_marked(vcm->home) &&
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

static int move_aside(const char *store, const char *aside, struct vcm *vcm, struct vcm_error *err)
{
    int rc = vcm_path_tree_remove(aside, err);

    if (rc == VCM_OK && rename(store, aside) != 0 && errno != ENOENT)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot set the damaged store '%s' aside",
                           store);
    if (rc == VCM_OK)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "the damaged store was set aside as '%s'; its scopes are mapped again",
                      aside);
    return rc;
}

int vcm_damage_set_aside(bool *done, struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_buf marker = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf store = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf aside = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    int fd = -1;

    *done = false;
    int rc = vcm_handle_path(&marker, vcm, MARKER_NAME, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&store, vcm, VCM_HANDLE_STORE, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&aside, vcm, ASIDE_NAME, err);
    if (rc == VCM_OK)
        fd = lock_marker(vcm_buf_text(&marker));
    if (fd >= 0) {
        rc = move_aside(vcm_buf_text(&store), vcm_buf_text(&aside), vcm, err);
        *done = rc == VCM_OK;
        if (rc == VCM_OK && unlink(vcm_buf_text(&marker)) != 0)
            rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot remove '%s'",
                               vcm_buf_text(&marker));
        close(fd);
    }
    vcm_buf_release(&aside);
    vcm_buf_release(&store);
    vcm_buf_release(&marker);
    return rc;
}
