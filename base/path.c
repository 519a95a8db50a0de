#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"

#include "base/banned.h"

#define CREATE_MODE      0600
#define READ_STEP        ((size_t)64 * 1024)
#define TEMPORARY_TRIES  16
#define TEMPORARY_PREFIX ".vcm-tmp-"
#define TEMPORARY_RANDOM 8
#define TEMPORARY_NAME   (sizeof TEMPORARY_PREFIX + 2 * TEMPORARY_RANDOM)

int vcm_path_check_relative(const char *what, struct vcm_slice path, struct vcm_error *err)
{
    if (path.len == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s is empty", what);
    if (path.len > VCM_LIMIT_PATH_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s is longer than %zu bytes", what,
                             VCM_LIMIT_PATH_BYTES);
    for (size_t i = 0; i < path.len; i++)
        if (path.data[i] == '\0' || path.data[i] == '\r' || path.data[i] == '\n')
            return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s holds a NUL or a line break", what);

    const char *problem = NULL;
    if (path.data[0] == '/')
        problem = "is not relative";
    else if (path.data[0] == '-')
        problem = "begins with '-'";
    for (size_t start = 0; !problem && start < path.len;) {
        const char *slash = memchr(path.data + start, '/', path.len - start);
        size_t end = slash ? (size_t)(slash - path.data) : path.len;
        struct vcm_slice part = vcm_slice_of(path.data + start, end - start);
        if (part.len == 0)
            problem = "has an empty part";
        else if (vcm_slice_equal(part, vcm_slice_of(".", 1)) ||
                 vcm_slice_equal(part, vcm_slice_of("..", 2)))
            problem = "has a '.' or '..' part";
        start = end + 1;
    }
    if (!problem)
        return VCM_OK;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s '%.*s' %s", what, (int)path.len, path.data,
                         problem);
}

static bool has_parent_part(const char *path)
{
    for (const char *p = path; *p;) {
        size_t len = strcspn(p, "/");
        if (len == 2 && p[0] == '.' && p[1] == '.')
            return true;
        p += len;
        p += strspn(p, "/");
    }
    return false;
}

/* O_NOFOLLOW is removed: with O_PATH it would open the link itself instead of failing. */
static int open_by_kernel(int root_fd, const char *relative, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)((flags & ~O_NOFOLLOW) | O_CLOEXEC),
        .mode = flags & O_CREAT ? CREATE_MODE : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd;
    do
        fd = syscall(SYS_openat2, root_fd, relative, &how, sizeof how);
    while (fd < 0 && errno == EINTR);
    return (int)fd;
}

/* Opens one part of a path without following a link; errno tells a link (ELOOP) from a file that is
 * no directory. */
static int open_part(int directory_fd, const char *name, int flags)
{
    struct stat status;
    int fd;

    do
        fd = openat(directory_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, CREATE_MODE);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        if (errno == ENOTDIR && fstatat(directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
            errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
        return -1;
    }
    if ((flags & O_PATH) && fstat(fd, &status) == 0 && S_ISLNK(status.st_mode)) {
        close(fd);
        errno = ELOOP;
        return -1;
    }
    return fd;
}

/* The same walk without openat2(). Every directory is held open while its entry is looked up, so a
 * rename meanwhile cannot redirect the walk. */
static int open_by_parts(int root_fd, const char *relative, int flags)
{
    char name[NAME_MAX + 1];
    int at = root_fd;

    for (const char *p = relative;;) {
        size_t len = strcspn(p, "/");
        const char *next = p + len + strspn(p + len, "/");
        bool last = *next == '\0';
        if (len > NAME_MAX)
            break;
        memcpy(name, p, len);
        name[len] = '\0';
        int part_flags = last ? flags | (p[len] == '/' ? O_DIRECTORY : 0) : O_PATH | O_DIRECTORY;
        int fd = open_part(at, name, part_flags);
        if (at != root_fd) {
            int saved = errno;
            close(at);
            errno = saved;
        }
        if (fd < 0 || last)
            return fd;
        at = fd;
        p = next;
    }
    if (at != root_fd)
        close(at);
    errno = ENAMETOOLONG;
    return -1;
}

int vcm_path_open_beneath(int root_fd, const char *relative, int flags, struct vcm_error *err)
{
    if (relative[0] == '\0' || relative[0] == '/' || has_parent_part(relative)) {
        vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no path beneath a directory", relative);
        return -1;
    }
    int fd = open_by_kernel(root_fd, relative, flags);
    /* EPERM is what some sandboxes return for system calls that they do not know. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = open_by_parts(root_fd, relative, flags);
    if (fd >= 0)
        return fd;
    if (errno == ELOOP)
        vcm_error_sys(err, VCM_INVALID_ARGUMENT, errno, "'%s' leads through a symbolic link",
                      relative);
    else if (errno == ENOENT || errno == ENOTDIR)
        vcm_error_sys(err, VCM_NOT_FOUND, errno, "cannot open '%s'", relative);
    else
        vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '%s'", relative);
    return -1;
}

void vcm_path_join(struct vcm_buf *out, const char *a, const char *b)
{
    size_t len = strlen(a);

    vcm_buf_append(out, a, len);
    if (len > 0 && a[len - 1] != '/')
        vcm_buf_append_byte(out, '/');
    vcm_buf_append_string(out, b);
}

struct vcm_slice vcm_path_base_name(struct vcm_slice path)
{
    while (path.len > 1 && path.data[path.len - 1] == '/')
        path.len--;
    const char *slash = path.len > 1 ? memrchr(path.data, '/', path.len) : NULL;
    if (slash) {
        size_t skip = (size_t)(slash - path.data) + 1;
        path = vcm_slice_of(path.data + skip, path.len - skip);
    }
    return path;
}

static int make_directory(const char *path, mode_t mode, struct vcm_error *err)
{
    struct stat status;

    if (mkdir(path, mode) == 0)
        return VCM_OK;
    int reason = errno;
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return VCM_OK;
        reason = ENOTDIR;
    }
    return vcm_error_sys(err, VCM_IO_ERROR, reason, "cannot make the directory '%s'", path);
}

int vcm_path_make_directories(const char *path, mode_t mode, struct vcm_error *err)
{
    struct vcm_buf part = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    const char *p = path;
    int rc = VCM_OK;

    if (*path == '\0')
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the path of a directory is empty");
    while (rc == VCM_OK && *p) {
        size_t len = strspn(p, "/");
        len += strcspn(p + len, "/");
        vcm_buf_append(&part, p, len);
        rc = vcm_buf_check(&part, "a path", err);
        if (rc == VCM_OK)
            rc = make_directory(vcm_buf_text(&part), mode, err);
        p += len;
    }
    vcm_buf_release(&part);
    return rc;
}

/* Reads to the end, whatever size the file reports: files of /proc report 0, others grow. */
static int read_all(struct vcm_buf *out, int fd, const char *path, size_t size, size_t max,
                    struct vcm_error *err)
{
    size_t total = 0;

    if (max > out->max - out->len)
        max = out->max - out->len;
    for (;;) {
        char probe;
        size_t left = max - total;
        size_t want = size > total ? size - total : READ_STEP;
        if (want > left)
            want = left;
        char *room = left == 0 ? &probe : vcm_buf_reserve(out, want);
        if (!room)
            return vcm_buf_check(out, path, err);
        ssize_t got = read(fd, room, left == 0 ? 1 : want);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read '%s'", path);
        if (got == 0)
            return VCM_OK;
        if (left == 0)
            return vcm_error_set(err, VCM_UNSUPPORTED, "'%s' is larger than %zu bytes", path, max);
        vcm_buf_advance(out, (size_t)got);
        total += (size_t)got;
    }
}

/* Takes ownership of the descriptor. */
static int read_regular(struct vcm_buf *out, int fd, const char *path, size_t max,
                        struct vcm_error *err)
{
    struct stat status;
    size_t before = out->len;
    int rc = vcm_buf_check(out, path, err);

    if (rc != VCM_OK)
        ;
    else if (fstat(fd, &status) != 0)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot stat '%s'", path);
    else if (!S_ISREG(status.st_mode))
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "'%s' is not a regular file", path);
    else
        rc = read_all(out, fd, path, (size_t)status.st_size, max, err);
    close(fd);
    if (rc != VCM_OK)
        vcm_buf_truncate(out, before);
    return rc;
}

/* Opening a FIFO must not wait for a writer. */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

int vcm_path_read_file(struct vcm_buf *out, const char *path, size_t max, struct vcm_error *err)
{
    int fd = open(path, READ_FLAGS);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return vcm_error_sys(err, VCM_NOT_FOUND, errno, "cannot open '%s'", path);
    if (fd < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '%s'", path);
    return read_regular(out, fd, path, max, err);
}

int vcm_path_read_plain(struct vcm_buf *out, const char *path, size_t max, struct vcm_error *err)
{
    struct vcm_error own = {0};
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    err = err ? err : &own;
    if (root < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '/'");
    int fd = vcm_path_open_beneath(root, path + strspn(path, "/"), READ_FLAGS, err);
    close(root);
    return fd >= 0 ? read_regular(out, fd, path, max, err) : (int)err->code;
}

/* The name is random and O_EXCL is set, so that no other process can have put a link there. */
static int create_temporary(char name[TEMPORARY_NAME], int directory_fd, mode_t mode)
{
    unsigned char bytes[TEMPORARY_RANDOM];
    int fd = -1;

    memcpy(name, TEMPORARY_PREFIX, sizeof TEMPORARY_PREFIX);
    for (unsigned i = 0; fd < 0 && i < TEMPORARY_TRIES; i++) {
        if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
            return -1;
        vcm_hash_to_hex(name + sizeof TEMPORARY_PREFIX - 1, bytes, sizeof bytes);
        fd = openat(directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    return fd;
}

/* Some file systems cannot sync a directory and return EINVAL; they order the rename themselves. */
static int sync_directory(int directory_fd)
{
    return fsync(directory_fd) == 0 || errno == EINVAL ? 0 : -1;
}

static int replace_in(int directory_fd, const char *name, struct vcm_slice content, mode_t mode,
                      bool lasting)
{
    char temporary[TEMPORARY_NAME];
    int fd = create_temporary(temporary, directory_fd, mode);
    if (fd < 0)
        return -1;
    int reason = vcm_io_write_all(fd, content);
    if (reason == 0 && fsync(fd) != 0)
        reason = errno;
    if (close(fd) != 0 && reason == 0)
        reason = errno;
    if (reason == 0 && renameat(directory_fd, temporary, directory_fd, name) != 0)
        reason = errno;
    if (reason != 0) {
        unlinkat(directory_fd, temporary, 0);
        errno = reason;
        return -1;
    }
    return lasting ? sync_directory(directory_fd) : 0;
}

static int write_file(const char *path, struct vcm_slice content, mode_t mode, bool lasting,
                      struct vcm_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    struct vcm_buf directory = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    int directory_fd = -1;

    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' names no file", path);
    if (slash)
        vcm_buf_append(&directory, path, (size_t)(slash - path) + 1);
    else
        vcm_buf_append_string(&directory, ".");
    int rc = vcm_buf_check(&directory, "a path", err);
    if (rc != VCM_OK)
        goto out;
    directory_fd = open(vcm_buf_text(&directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0)
        rc = vcm_error_sys(err, errno == ENOENT ? VCM_NOT_FOUND : VCM_IO_ERROR, errno,
                           "cannot open '%s'", vcm_buf_text(&directory));
    else if (replace_in(directory_fd, name, content, mode, lasting) != 0)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot write '%s'", path);
out:
    if (directory_fd >= 0)
        close(directory_fd);
    vcm_buf_release(&directory);
    return rc;
}

int vcm_path_write_file(const char *path, struct vcm_slice content, mode_t mode,
                        struct vcm_error *err)
{
    return write_file(path, content, mode, true, err);
}

int vcm_path_replace_file(const char *path, struct vcm_slice content, mode_t mode,
                          struct vcm_error *err)
{
    return write_file(path, content, mode, false, err);
}
