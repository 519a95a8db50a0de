#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/vfs.h>

#include "base/banned.h"

#define MOUNTINFO_MAX (16 * VCM_MIB)

static struct vcm_slice next_word(struct vcm_slice *rest)
{
    const char *space = rest->len > 0 ? memchr(rest->data, ' ', rest->len) : NULL;
    size_t len = space ? (size_t)(space - rest->data) : rest->len;
    size_t skip = space ? len + 1 : len;
    struct vcm_slice word = vcm_slice_of(rest->data, len);

    *rest = vcm_slice_of(rest->data + skip, rest->len - skip);
    return word;
}

static bool is_octal(char digit)
{
    return digit >= '0' && digit <= '7';
}

/* The kernel writes space, tab, line break and backslash as \ooo. */
static void append_unescaped(struct vcm_buf *out, struct vcm_slice word)
{
    for (size_t i = 0; i < word.len; i++) {
        const char *p = word.data + i;
        if (word.len - i >= 4 && p[0] == '\\' && is_octal(p[1]) && is_octal(p[2]) &&
            is_octal(p[3])) {
            vcm_buf_append_byte(out, (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0')));
            i += 3;
        } else {
            vcm_buf_append_byte(out, *p);
        }
    }
}

/* id parent device root MOUNTPOINT options [optional...] - TYPE source options */
static bool read_mount(struct vcm_buf *point, struct vcm_slice *type, struct vcm_slice line)
{
    struct vcm_slice word = vcm_slice_of("", 0);

    for (unsigned i = 0; i < 5; i++)
        word = next_word(&line);
    vcm_buf_clear(point);
    append_unescaped(point, word);
    while (line.len > 0) {
        word = next_word(&line);
        if (word.len == 1 && word.data[0] == '-') {
            *type = next_word(&line);
            return type->len > 0 && point->fault == VCM_BUF_FINE;
        }
    }
    return false;
}

static bool holds(struct vcm_slice point, const char *path)
{
    if (point.len == 0 || strncmp(point.data, path, point.len) != 0)
        return false;
    return point.data[point.len - 1] == '/' || path[point.len] == '/' || path[point.len] == '\0';
}

int vcm_path_mount_type_in(struct vcm_buf *out, struct vcm_slice mountinfo, const char *path,
                           struct vcm_error *err)
{
    struct vcm_buf point = VCM_BUF_INIT(4 * VCM_LIMIT_PATH_BYTES);
    struct vcm_slice best = vcm_slice_of("", 0);
    size_t best_len = 0;
    bool no_memory = false;

    while (mountinfo.len > 0) {
        const char *end = memchr(mountinfo.data, '\n', mountinfo.len);
        size_t len = end ? (size_t)(end - mountinfo.data) : mountinfo.len;
        struct vcm_slice type;
        /* Of two mounts on one path the later one hides the earlier. */
        if (read_mount(&point, &type, vcm_slice_of(mountinfo.data, len)) && point.len >= best_len &&
            holds(vcm_buf_slice(&point), path)) {
            best = type;
            best_len = point.len;
        }
        no_memory |= point.fault == VCM_BUF_NO_MEMORY;
        len += end ? 1 : 0;
        mountinfo = vcm_slice_of(mountinfo.data + len, mountinfo.len - len);
    }
    vcm_buf_release(&point);
    if (no_memory) /* the right mount may be among those that could not be read */
        return vcm_error_memory(err);
    if (best.len == 0)
        return vcm_error_set(err, VCM_NOT_FOUND, "no mount holds '%s'", path);
    append_unescaped(out, best);
    return vcm_buf_check(out, "a file system's type", err);
}

/* The real path of `path` or of its nearest parent that exists; the caller frees it. */
static int real_parent(char **out, const char *path, struct vcm_error *err)
{
    struct vcm_buf rest = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    int rc;

    *out = NULL;
    vcm_buf_append_string(&rest, path);
    rc = vcm_buf_check(&rest, "a path", err);
    while (rc == VCM_OK && !*out) {
        const char *text = rest.len > 0 ? rest.data : ".";
        *out = realpath(text, NULL);
        if (*out)
            break;
        if (errno != ENOENT || rest.len == 0 || strcmp(text, "/") == 0) {
            rc = vcm_error_sys(err, errno == ENOENT ? VCM_NOT_FOUND : VCM_IO_ERROR, errno,
                               "cannot resolve '%s'", path);
            break;
        }
        size_t len = rest.len;
        while (len > 0 && rest.data[len - 1] == '/')
            len--;
        while (len > 0 && rest.data[len - 1] != '/')
            len--;
        vcm_buf_truncate(&rest, len);
    }
    vcm_buf_release(&rest);
    return rc;
}

/* By the number that the kernel has for the type. Less precise than the name of a mount, but needs
 * no /proc, and in a chroot the root may have no mount entry. */
static int filesystem_by_number(struct vcm_buf *out, const char *path, struct vcm_error *err)
{
    static const struct {
        unsigned long number;
        const char *type;
    } types[] = {
        {0x6969, "nfs"},         {0xff534d42, "cifs"},   {0xfe534d42, "smb3"},
        {0x517b, "smbfs"},       {0x01021997, "9p"},     {0x5346414f, "afs"},
        {0x00c36400, "ceph"},    {0x0bd00bd0, "lustre"}, {0x73757245, "coda"},
        {0x7461636f, "ocfs2"},   {0x01161970, "gfs2"},   {0x20030528, "orangefs"},
        {0x19830326, "beegfs"},  {0x47504653, "gpfs"},   {0xef53, "ext4"},
        {0x58465342, "xfs"},     {0x9123683e, "btrfs"},  {0x01021994, "tmpfs"},
        {0x794c7630, "overlay"},
    };
    struct statfs status;
    const char *type = "unknown";

    if (statfs(path, &status) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot determine the file system of '%s'",
                             path);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if ((unsigned long)status.f_type == types[i].number)
            type = types[i].type;
    vcm_buf_append_string(out, type);
    return vcm_buf_check(out, "a file system's type", err);
}

int vcm_path_mount_type(struct vcm_buf *out, const char *path, struct vcm_error *err)
{
    struct vcm_buf mountinfo = VCM_BUF_INIT(MOUNTINFO_MAX);
    struct vcm_error unlisted = {0};
    char *real = NULL;

    int rc = real_parent(&real, path, err);
    if (rc == VCM_OK) {
        rc = vcm_path_read_file(&mountinfo, "/proc/self/mountinfo", MOUNTINFO_MAX, &unlisted);
        if (rc == VCM_OK)
            rc = vcm_path_mount_type_in(out, vcm_buf_slice(&mountinfo), real, &unlisted);
        if (rc == VCM_NOT_FOUND)
            rc = filesystem_by_number(out, real, err);
        else if (rc != VCM_OK && err)
            *err = unlisted;
    }
    vcm_buf_release(&mountinfo);
    free(real);
    return rc;
}

static bool is_listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* virtiofs is not listed: both sides are kernels on one host. */
bool vcm_path_mount_is_network(const char *type)
{
    static const char *const kernel[] = {
        "nfs",  "nfs4",     "cifs",  "smb3",  "smbfs", "9p",        "afs",
        "ceph", "lustre",   "coda",  "ncpfs", "ocfs2", "glusterfs", "beegfs",
        "gfs2", "orangefs", "pvfs2", "davfs", "gpfs",  "panfs",
    };
    static const char *const fuse[] = {
        "sshfs",      "s3fs",     "goofys",        "rclone",   "glusterfs", "gcsfuse",   "davfs",
        "davfs2",     "mfs",      "curlftpfs",     "juicefs",  "cephfs",    "ceph-fuse", "ceph",
        "mount-s3",   "smbnetfs", "mountpoint-s3", "blobfuse", "blobfuse2", "seaweedfs", "moosefs",
        "gvfsd-fuse", "nfs",      "hdfs",          "afp",
    };
    if (strncmp(type, "fuse.", 5) == 0)
        return is_listed(fuse, sizeof fuse / sizeof fuse[0], type + 5);
    return is_listed(kernel, sizeof kernel / sizeof kernel[0], type);
}
