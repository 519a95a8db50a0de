#include "tests/support/disk.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/banned.h"

static bool write_to(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return written;
}

/* Without being root: a user namespace in which the user is. Its ids must be mapped, or nothing can
 * be made in it. */
static bool become_root(void)
{
    char users[64], groups[64];

    snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_to("/proc/self/setgroups", "deny") &&
           write_to("/proc/self/uid_map", users) && write_to("/proc/self/gid_map", groups);
}

bool test_disk_mount(const char *directory, const char *size)
{
    char options[64];

    if (unshare(CLONE_NEWNS) != 0 && !become_root())
        return false;
    snprintf(options, sizeof options, "size=%s", size);
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", directory, "tmpfs", 0, options) == 0;
}

bool test_disk_make_read_only(const char *directory)
{
    return mount(NULL, directory, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0;
}
