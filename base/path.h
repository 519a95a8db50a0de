/*
 * path.h - paths that cannot leave their directory, and small files that are read and written as a
 * whole.
 *
 * A relative path from outside is checked as text first (vcm_path_check_relative) and opened
 * beneath a directory without following symbolic links (vcm_path_open_beneath).
 */
#ifndef VCM_BASE_PATH_H
#define VCM_BASE_PATH_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/limits.h"

/* VCM_INVALID_ARGUMENT unless `path` is relative, not empty, without NUL, CR, LF, "." or ".."
 * parts, empty parts (one trailing slash is fine), a leading '-', and at most
 * VCM_LIMIT_PATH_BYTES long. `what` names it in the message: "start_dir". */
int vcm_path_check_relative(const char *what, struct vcm_slice path, struct vcm_error *err);

/* Opens `relative` beneath the directory `root_fd` (-1 on failure), never leaving it and never
 * through a symbolic link, neither in the middle nor at the end. `flags` as for open(2);
 * O_CLOEXEC is added; a file that O_CREAT makes is the owner's alone. "." is the directory itself.
 * VCM_INVALID_ARGUMENT when a link or a ".." is met, VCM_NOT_FOUND when there is nothing. */
int vcm_path_open_beneath(int root_fd, const char *relative, int flags, struct vcm_error *err);

/* Appends `a`, a slash where needed, and `b`. */
void vcm_path_join(struct vcm_buf *out, const char *a, const char *b);

/* The part behind the last slash, trailing slashes aside; a slice into `path`. */
struct vcm_slice vcm_path_base_name(struct vcm_slice path);

/* Creates a directory and its parents with `mode`; existing ones are not changed. */
int vcm_path_make_directories(const char *path, mode_t mode, struct vcm_error *err);

/* Appends the whole content of a regular file of at most `max` bytes. VCM_NOT_FOUND when there is
 * none, VCM_UNSUPPORTED when it is larger or no regular file, else VCM_IO_ERROR. */
int vcm_path_read_file(struct vcm_buf *out, const char *path, size_t max, struct vcm_error *err);

/* The same for an absolute path of which no part may be a symbolic link: VCM_INVALID_ARGUMENT. */
int vcm_path_read_plain(struct vcm_buf *out, const char *path, size_t max, struct vcm_error *err);

/* Replaces a file so that a crash leaves the old or the new one: temporary file beside it, fsync,
 * rename, fsync of the directory. A link at `path` is replaced, not followed; the umask applies. */
int vcm_path_write_file(const char *path, struct vcm_slice content, mode_t mode,
                        struct vcm_error *err);

/* The same with one sync instead of two: after a crash of the machine soon afterwards the file may
 * have its old content, complete. */
int vcm_path_replace_file(const char *path, struct vcm_slice content, mode_t mode,
                          struct vcm_error *err);

/* Removes a file, or a directory with all that is in it; links are removed, not followed, and other
 * file systems are not entered. A missing file is no error. */
int vcm_path_tree_remove(const char *path, struct vcm_error *err);

/* The type of the file system that holds `path` (or its nearest existing parent), as
 * /proc/self/mountinfo names it: "ext4", "nfs4", "fuse.sshfs"; "unknown" when neither the mounts
 * nor the kernel's number for the type identify it. */
int vcm_path_mount_type(struct vcm_buf *out, const char *path, struct vcm_error *err);

/* The same for a text in the form of /proc/self/mountinfo and a path that is resolved already. */
int vcm_path_mount_type_in(struct vcm_buf *out, struct vcm_slice mountinfo, const char *path,
                           struct vcm_error *err);

/* Whether a file system of this type is a network file system, where locks and maps are not
 * reliable. */
bool vcm_path_mount_is_network(const char *type);

#endif
