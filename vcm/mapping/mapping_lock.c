#include "vcm/mapping/mapping_lock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "vcm/store/table.h"

#include "base/banned.h"

int vcm_mapping_lock_open(int *fd, const struct vcm_page_store *store, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    *fd = -1;
    vcm_path_join(&path, store->directory, "mappings.lock");
    int rc = vcm_buf_check(&path, "the path of the store", err);
    if (rc == VCM_OK) {
        *fd = open(vcm_buf_text(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (*fd < 0)
            rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '%s'", vcm_buf_text(&path));
    }
    vcm_buf_release(&path);
    assert((rc == VCM_OK) == (*fd >= 0));
    return rc;
}

static struct flock byte_lock(uint64_t number)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)number, .l_len = 1};
    return lock;
}

int vcm_mapping_lock_take(int fd, const struct vcm_page_store *store, uint64_t number,
                          struct vcm_error *err)
{
    struct flock lock = byte_lock(number);

    assert(fd >= 0 && number > 0);
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot lock mapping %llu in '%s'",
                             (unsigned long long)number, store->directory);
    return VCM_OK;
}

bool vcm_mapping_lock_is_free(int fd, uint64_t number)
{
    struct flock lock = byte_lock(number);

    assert(fd >= 0);
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

/* The kernel never reports a lock as a conflict to the open file that holds it. */
bool vcm_mapping_lock_is_held(int fd, uint64_t number)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int other = open(path, O_RDWR | O_CLOEXEC);
    if (other < 0)
        return true;
    bool held = !vcm_mapping_lock_is_free(other, number);
    close(other);
    return held;
}
