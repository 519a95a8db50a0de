#include "sources/worktree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/index.h"
#include "git/layout.h"
#include "git/tree_diff.h"
#include "git/tree_make.h"
#include "git/tree_name.h"
#include "sources/glob.h"
#include "sources/ignore.h"

#include "base/banned.h"

#define MODE_TYPE      0170000u
#define MODE_LINK      0120000u
#define MODE_SUBMODULE 0160000u
#define MODE_EXECUTE   0100u

/* The settings of git that say how far a file's status can be trusted. */
struct trust {
    bool mode;     /* core.fileMode */
    bool links;    /* core.symlinks: a link on disk is a link */
    bool changed;  /* core.trustCtime */
    bool all_stat; /* core.checkStat is not "minimal" */
    bool sparse;   /* core.sparseCheckout: what is there counts, although its index says skip */
};

struct scan {
    struct vcm_git_repo *repo;
    const struct vcm_cancel *cancel;
    struct vcm_git_overlay *overlay;
    struct vcm_git_index index;
    bool *seen; /* of the entries of the index */
    struct trust trust;
    struct vcm_ignore *ignore;
    struct vcm_glob_work work;
    struct vcm_buf content; /* of an ignore file */
    struct vcm_buf path;    /* of what is looked at, from the root */
    int root;
    struct vcm_arena arena; /* of the paths of entries */
    struct vcm_git_entry *entries;
    size_t count, capacity;
};

/* What a directory on disk holds. */
struct listing {
    struct vcm_arena arena;
    const char **files, **directories;
    size_t file_count, file_capacity, directory_count, directory_capacity;
};

static int add_entry(struct scan *s, enum vcm_git_kind kind, const struct vcm_git_id *id,
                     struct vcm_error *err)
{
    if (s->count >= vcm_cancel_entries_max(s->cancel))
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the working tree has more than %llu files; 'vcm config set "
                             "walk.max_entries N' allows more, '.gitignore' leaves some out",
                             (unsigned long long)vcm_cancel_entries_max(s->cancel));
    int rc =
        vcm_array_reserve(&s->entries, &s->capacity, s->count + 1, VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    const char *path = vcm_arena_copy(&s->arena, vcm_buf_slice(&s->path));
    if (!path)
        return vcm_error_memory(err);
    s->entries[s->count++] =
        (struct vcm_git_entry){.path = vcm_slice_of(path, s->path.len), .kind = kind, .id = *id};
    return VCM_OK;
}

static enum vcm_git_kind kind_of(unsigned mode)
{
    if ((mode & MODE_TYPE) == MODE_LINK)
        return VCM_GIT_SYMLINK;
    if ((mode & MODE_TYPE) == MODE_SUBMODULE)
        return VCM_GIT_SUBMODULE;
    return mode & MODE_EXECUTE ? VCM_GIT_EXECUTABLE : VCM_GIT_FILE;
}

/* The entry of s->path in the index, or NULL; the first of a conflict's. All are marked as seen. */
static const struct vcm_git_index_entry *find_tracked(struct scan *s)
{
    struct vcm_slice path = vcm_buf_slice(&s->path);
    size_t at = vcm_git_index_find(&s->index, path);
    const struct vcm_git_index_entry *found = NULL;

    for (; at < s->index.count && vcm_slice_equal(s->index.entries[at].path, path); at++) {
        found = found ? found : &s->index.entries[at];
        s->seen[at] = true;
    }
    return found;
}

/* Whether git tracks anything below the directory s->path. */
static bool is_tracked_directory(struct scan *s)
{
    vcm_buf_append_byte(&s->path, '/');
    struct vcm_slice path = vcm_buf_slice(&s->path);
    size_t at = vcm_git_index_find(&s->index, path);
    bool found = at < s->index.count && s->index.entries[at].path.len > path.len &&
                 memcmp(s->index.entries[at].path.data, path.data, path.len) == 0;
    vcm_buf_truncate(&s->path, s->path.len - 1);
    return found;
}

/* git does not look at such files at all, and commits what the index has: nothing where a file was
 * only announced. */
static bool is_taken_from_index(const struct scan *s, const struct vcm_git_index_entry *entry)
{
    return entry->stage == 0 && (entry->assume_valid || (entry->skip_worktree && !s->trust.sparse));
}

static int add_from_index(struct scan *s, const struct vcm_git_index_entry *entry,
                          struct vcm_error *err)
{
    return entry->intent_to_add ? VCM_OK : add_entry(s, kind_of(entry->mode), &entry->id, err);
}

static bool is_empty_blob(const struct vcm_git_id *id)
{
    static const unsigned char empty[VCM_GIT_ID_BYTES] = {0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6,
                                                          0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a,
                                                          0xd8, 0xc2, 0xe4, 0x8c, 0x53, 0x91};

    return memcmp(id->bytes, empty, sizeof empty) == 0;
}

/* A file that changed after the index was written, within the clock's step, has the same times: it
 * has to be read. Some programs write no nanoseconds. */
static bool is_racy(const struct scan *s, const struct vcm_git_index_entry *entry)
{
    if (s->index.mtime_s != entry->mtime_s)
        return s->index.mtime_s < entry->mtime_s;
    return entry->mtime_ns == 0 || s->index.mtime_ns <= entry->mtime_ns;
}

static bool is_same_time(const struct timespec *time, uint32_t seconds, uint32_t nanoseconds)
{
    return (uint32_t)time->tv_sec == seconds &&
           (nanoseconds == 0 || (uint32_t)time->tv_nsec == nanoseconds);
}

/* Whether the content is surely the one that the index names. */
static bool is_unchanged(const struct scan *s, const struct vcm_git_index_entry *entry,
                         const struct stat *status)
{
    bool is_link = (entry->mode & MODE_TYPE) == MODE_LINK;

    if (entry->stage > 0 || entry->intent_to_add || (entry->mode & MODE_TYPE) == MODE_SUBMODULE ||
        (s->trust.links && is_link != S_ISLNK(status->st_mode)))
        return false;
    if (entry->size != (uint32_t)status->st_size ||
        (entry->size == 0 && !is_empty_blob(&entry->id)))
        return false;
    if (!is_same_time(&status->st_mtim, entry->mtime_s, entry->mtime_ns) || is_racy(s, entry))
        return false;
    if (!s->trust.all_stat)
        return true;
    if (s->trust.changed && !is_same_time(&status->st_ctim, entry->ctime_s, entry->ctime_ns))
        return false;
    return entry->inode == (uint32_t)status->st_ino && entry->uid == status->st_uid &&
           entry->gid == status->st_gid;
}

static enum vcm_git_kind kind_on_disk(const struct scan *s, const struct vcm_git_index_entry *entry,
                                      const struct stat *status)
{
    enum vcm_git_kind before = entry ? kind_of(entry->mode) : VCM_GIT_FILE;

    if (S_ISLNK(status->st_mode))
        return VCM_GIT_SYMLINK;
    if (!s->trust.links && before == VCM_GIT_SYMLINK)
        return VCM_GIT_SYMLINK;
    if (!s->trust.mode)
        return before == VCM_GIT_EXECUTABLE ? VCM_GIT_EXECUTABLE : VCM_GIT_FILE;
    return status->st_mode & S_IXUSR ? VCM_GIT_EXECUTABLE : VCM_GIT_FILE;
}

static int read_link(struct vcm_git_id *id, struct scan *s, int directory, const char *name,
                     struct vcm_error *err)
{
    char target[VCM_LIMIT_PATH_BYTES];

    ssize_t len = readlinkat(directory, name, target, sizeof target);
    if (len < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read the link");
    return vcm_git_overlay_put(id, s->overlay, "blob", vcm_slice_of(target, (size_t)len), err);
}

/* VCM_NOT_FOUND, with `err` untouched, when it is gone or no regular file any more. */
static int read_file(struct vcm_git_id *id, struct scan *s, int directory, const char *name,
                     const struct vcm_git_index_entry *entry, struct vcm_error *err)
{
    struct stat status;

    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP
                   ? VCM_NOT_FOUND
                   : vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open it");
    int rc = VCM_NOT_FOUND;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        rc =
            vcm_git_overlay_put_file(id, s->overlay, fd, entry ? &entry->id : NULL, s->cancel, err);
    close(fd);
    return rc;
}

/* A file or link of the current directory, under s->path. */
static int take_file(struct scan *s, int directory, const char *name, struct vcm_error *err)
{
    const struct vcm_git_index_entry *entry = find_tracked(s);
    struct vcm_git_id id;
    struct stat status;

    if (entry && is_taken_from_index(s, entry))
        return add_from_index(s, entry, err);
    if (!entry && vcm_ignore_has(s->ignore, vcm_buf_slice(&s->path)))
        return VCM_OK;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? VCM_OK
                               : vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot look at it");
    bool is_link = S_ISLNK(status.st_mode);
    if (!is_link && !S_ISREG(status.st_mode))
        return VCM_OK;
    enum vcm_git_kind kind = kind_on_disk(s, entry, &status);
    if (entry && is_unchanged(s, entry, &status))
        return add_entry(s, kind, &entry->id, err);
    int rc = is_link ? read_link(&id, s, directory, name, err)
                     : read_file(&id, s, directory, name, entry, err);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    return rc == VCM_OK ? add_entry(s, kind, &id, err) : rc;
}

/* The commit that a repository in a directory of the working tree is at. */
static bool read_nested_head(struct vcm_git_id *id, struct scan *s)
{
    struct vcm_buf place = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES + VCM_LIMIT_TREE_PATH_BYTES);
    struct vcm_error ignored = {0};
    struct vcm_git_repo *nested = NULL;

    vcm_path_join(&place, vcm_git_repo_root(s->repo), vcm_buf_text(&s->path));
    bool found = vcm_buf_check(&place, "a path", NULL) == VCM_OK &&
                 vcm_git_repo_open(&nested, vcm_buf_text(&place), &ignored) == VCM_OK &&
                 vcm_git_repo_resolve(id, nested, NULL, NULL, &ignored) == VCM_OK;
    vcm_git_repo_close(nested);
    vcm_buf_release(&place);
    return found;
}

/* Whether the directory s->path is the root of another repository. */
static bool is_repository(struct scan *s)
{
    struct stat status;

    int fd = vcm_path_open_beneath(s->root, vcm_buf_text(&s->path), O_RDONLY | O_DIRECTORY, NULL);
    if (fd < 0)
        return false;
    bool found = fstatat(fd, ".git", &status, AT_SYMLINK_NOFOLLOW) == 0;
    close(fd);
    return found;
}

static int take_directory(struct scan *s, struct vcm_error *err);

static int take_submodule(struct scan *s, const struct vcm_git_index_entry *entry,
                          struct vcm_error *err)
{
    struct vcm_git_id id = entry->id;

    if (!is_taken_from_index(s, entry) && is_repository(s))
        read_nested_head(&id, s);
    return add_entry(s, VCM_GIT_SUBMODULE, &id, err);
}

/* A directory of the current one, under s->path. */
static int take_subdirectory(struct scan *s, struct vcm_error *err)
{
    const struct vcm_git_index_entry *entry = find_tracked(s);
    struct vcm_git_id id;

    if (entry && is_taken_from_index(s, entry))
        return add_from_index(s, entry, err);
    if (entry && kind_of(entry->mode) == VCM_GIT_SUBMODULE && entry->stage == 0)
        return take_submodule(s, entry, err);
    if (!is_tracked_directory(s)) {
        if (vcm_ignore_has_directory(s->ignore, vcm_buf_slice(&s->path)))
            return VCM_OK;
        if (is_repository(s))
            return read_nested_head(&id, s) ? add_entry(s, VCM_GIT_SUBMODULE, &id, err) : VCM_OK;
    }
    return take_directory(s, err);
}

static int note_name(const char ***names, size_t *count, size_t *capacity, struct vcm_arena *arena,
                     const char *name, struct vcm_error *err)
{
    int rc = vcm_array_reserve(names, capacity, *count + 1, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    (*names)[*count] = vcm_arena_copy(arena, vcm_slice_of_string(name));
    return (*names)[(*count)++] ? VCM_OK : vcm_error_memory(err);
}

static bool is_directory(int fd, const struct dirent *entry)
{
    struct stat status;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static int list_names(struct listing *l, DIR *stream, struct vcm_error *err)
{
    struct dirent *entry;
    int rc = VCM_OK;

    while (rc == VCM_OK && (errno = 0, entry = readdir(stream))) {
        /* Among them ".", ".." and ".git", in any case. */
        if (!vcm_git_tree_name_is_safe(vcm_slice_of_string(entry->d_name)))
            continue;
        if (is_directory(dirfd(stream), entry))
            rc = note_name(&l->directories, &l->directory_count, &l->directory_capacity, &l->arena,
                           entry->d_name, err);
        else
            rc = note_name(&l->files, &l->file_count, &l->file_capacity, &l->arena, entry->d_name,
                           err);
    }
    if (rc == VCM_OK && errno != 0)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read the directory");
    return rc;
}

static void release_listing(struct listing *l)
{
    vcm_arena_release(&l->arena);
    free(l->files);
    free(l->directories);
}

static int add_ignore_file(struct scan *s, const char *path, struct vcm_error *err)
{
    struct vcm_error failed = {0};

    vcm_buf_clear(&s->content);
    int rc = vcm_path_read_file(&s->content, path, VCM_LIMIT_IGNORE_FILE_BYTES, &failed);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc == VCM_OK)
        rc = vcm_ignore_add(s->ignore, vcm_buf_slice(&s->content), &failed);
    if (rc != VCM_OK && err)
        *err = failed;
    return rc == VCM_OK ? rc : vcm_error_wrap(err, rc, "%s", path);
}

/* The user's file: core.excludesFile, else the one in the usual place. */
static int add_user_ignore_file(struct scan *s, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf set = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");

    int rc = vcm_git_layout_setting(&set, s->repo, "core.excludesfile", err);
    if (rc == VCM_OK && set.len > 1 && set.data[0] == '~' && set.data[1] == '/' && home)
        vcm_path_join(&path, home, set.data + 2);
    else if (rc == VCM_OK && set.len > 0)
        vcm_buf_append_slice(&path, vcm_buf_slice(&set));
    else if (rc == VCM_OK && config && config[0] != '\0')
        vcm_path_join(&path, config, "git/ignore");
    else if (rc == VCM_OK && home)
        vcm_path_join(&path, home, ".config/git/ignore");
    if (rc == VCM_OK)
        rc = vcm_buf_check(&path, "the path of core.excludesFile", err);
    if (rc == VCM_OK && path.len > 0)
        rc = add_ignore_file(s, vcm_buf_text(&path), err);
    vcm_buf_release(&set);
    vcm_buf_release(&path);
    return rc;
}

/* Of the rules that are in no tree the user's come first, and so count least. */
static int add_outer_ignore_files(struct scan *s, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    int rc = add_user_ignore_file(s, err);
    if (rc == VCM_OK)
        rc = vcm_git_layout_common_directory(&path, s->repo, err);
    if (rc == VCM_OK) {
        vcm_buf_append_string(&path, "/info/exclude");
        rc = vcm_buf_check(&path, "the path of info/exclude", err);
    }
    if (rc == VCM_OK)
        rc = add_ignore_file(s, vcm_buf_text(&path), err);
    vcm_buf_release(&path);
    return rc;
}

/* A .gitignore that is a link, or no file at all, does not count, as in git. */
static int add_own_ignore_file(struct scan *s, int directory, struct vcm_error *err)
{
    struct stat status;

    int fd =
        openat(directory, ".gitignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return VCM_OK;
    vcm_buf_clear(&s->content);
    int rc = VCM_OK;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        size_t room = VCM_LIMIT_IGNORE_FILE_BYTES + 1;
        char *into = vcm_buf_reserve(&s->content, room);
        if (into)
            vcm_buf_advance(&s->content, vcm_io_read_at(fd, into, room, 0));
        rc = vcm_buf_check(&s->content, "an ignore file", err);
        if (rc == VCM_OK)
            rc = vcm_ignore_add(s->ignore, vcm_buf_slice(&s->content), err);
        if (rc != VCM_OK)
            vcm_error_wrap(err, rc, ".gitignore");
    }
    close(fd);
    return rc;
}

static int enter_directory(struct scan *s, int fd, struct vcm_error *err)
{
    bool ignored = false;

    int rc = vcm_ignore_enter(s->ignore, &ignored, vcm_buf_slice(&s->path), err);
    if (rc != VCM_OK)
        return rc;
    if (s->path.len == 0)
        rc = add_outer_ignore_files(s, err);
    if (rc == VCM_OK && !ignored)
        rc = add_own_ignore_file(s, fd, err);
    if (rc == VCM_OK)
        rc = vcm_glob_work_check(&s->work, err);
    if (rc == VCM_OK)
        rc = vcm_cancel_check(s->cancel, err);
    return rc;
}

/* Calls `take` for every name, with s->path set to it. */
static int take_names(struct scan *s, const char *const *names, size_t count, int fd,
                      struct vcm_error *err)
{
    size_t len = s->path.len;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        if (len > 0)
            vcm_buf_append_byte(&s->path, '/');
        vcm_buf_append_string(&s->path, names[i]);
        rc = vcm_buf_check(&s->path, "a path of the working tree", err);
        if (rc == VCM_OK)
            rc = fd >= 0 ? take_file(s, fd, names[i], err) : take_subdirectory(s, err);
        if (rc == VCM_OK)
            rc = vcm_glob_work_check(&s->work, err);
        if (rc != VCM_OK && fd >= 0)
            vcm_error_wrap(err, rc, "%s", vcm_buf_text(&s->path));
        vcm_buf_truncate(&s->path, len);
    }
    return rc;
}

/* One that cannot be opened is skipped, as git does, unless git tracks something in it. */
static int open_directory(DIR **out, struct scan *s, struct vcm_error *err)
{
    struct vcm_error failed = {0};
    const char *path = s->path.len > 0 ? vcm_buf_text(&s->path) : ".";

    *out = NULL;
    int fd = vcm_path_open_beneath(s->root, path, O_RDONLY | O_DIRECTORY, &failed);
    if (fd < 0 && failed.code == VCM_IO_ERROR && (s->path.len == 0 || is_tracked_directory(s))) {
        if (err)
            *err = failed;
        return VCM_IO_ERROR;
    }
    if (fd < 0)
        return VCM_OK;
    *out = fdopendir(fd);
    if (*out)
        return VCM_OK;
    close(fd);
    return vcm_error_memory(err);
}

/* Recursion: vcm_ignore_enter() bounds the depth. The descriptor is closed before the directories
 * below are entered, so that deep trees do not use them up. */
static int take_directory(struct scan *s, struct vcm_error *err)
{
    struct listing l = {0};
    DIR *stream = NULL;

    vcm_arena_init(&l.arena, VCM_GIB);
    int rc = open_directory(&stream, s, err);
    if (rc != VCM_OK || !stream)
        return rc;
    rc = enter_directory(s, dirfd(stream), err);
    bool entered = rc == VCM_OK;
    if (rc == VCM_OK)
        rc = list_names(&l, stream, err);
    if (rc != VCM_OK)
        vcm_error_wrap(err, rc, "%s", s->path.len > 0 ? vcm_buf_text(&s->path) : ".");
    if (rc == VCM_OK)
        rc = take_names(s, l.files, l.file_count, dirfd(stream), err);
    closedir(stream);
    if (rc == VCM_OK)
        rc = take_names(s, l.directories, l.directory_count, -1, err);
    if (entered)
        vcm_ignore_leave(s->ignore);
    release_listing(&l);
    return rc;
}

/* What the index has and the disk has not is deleted, unless git does not expect it on disk. */
static int keep_unseen(struct scan *s, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < s->index.count; i++) {
        const struct vcm_git_index_entry *entry = &s->index.entries[i];
        if (s->seen[i] || entry->stage > 0 || !(entry->assume_valid || entry->skip_worktree))
            continue;
        vcm_buf_clear(&s->path);
        vcm_buf_append_slice(&s->path, entry->path);
        rc = add_from_index(s, entry, err);
    }
    return rc;
}

static int read_setting(bool *out, struct vcm_git_repo *repo, const char *name, bool usual,
                        struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_LIMIT_CONFIG_BYTES);

    int rc = vcm_git_layout_setting(&value, repo, name, err);
    const char *text = vcm_buf_text(&value);
    if (value.len == 0)
        *out = usual;
    else
        *out = strcasecmp(text, "true") == 0 || strcasecmp(text, "yes") == 0 ||
               strcasecmp(text, "on") == 0 || strcmp(text, "1") == 0;
    vcm_buf_release(&value);
    return rc;
}

static int read_trust(struct trust *out, struct vcm_git_repo *repo, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_LIMIT_CONFIG_BYTES);

    int rc = read_setting(&out->mode, repo, "core.filemode", true, err);
    if (rc == VCM_OK)
        rc = read_setting(&out->links, repo, "core.symlinks", true, err);
    if (rc == VCM_OK)
        rc = read_setting(&out->changed, repo, "core.trustctime", true, err);
    if (rc == VCM_OK)
        rc = read_setting(&out->sparse, repo, "core.sparsecheckout", false, err);
    if (rc == VCM_OK)
        rc = vcm_git_layout_setting(&value, repo, "core.checkstat", err);
    out->all_stat = strcasecmp(vcm_buf_text(&value), "minimal") != 0;
    vcm_buf_release(&value);
    return rc;
}

static int open_scan(struct scan *s, struct vcm_git_repo *repo, bool keeps_texts,
                     const struct vcm_cancel *cancel, struct vcm_error *err)
{
    memset(s, 0, sizeof *s);
    s->repo = repo;
    s->cancel = cancel;
    s->work.cancel = cancel;
    vcm_git_index_init(&s->index);
    vcm_buf_init(&s->content, 2 * VCM_LIMIT_IGNORE_FILE_BYTES);
    vcm_buf_init(&s->path, VCM_LIMIT_TREE_PATH_BYTES);
    vcm_arena_init(&s->arena, 4 * VCM_GIB);
    s->root = open(vcm_git_repo_root(repo), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->root < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open the working tree '%s'",
                             vcm_git_repo_root(repo));
    int rc = read_trust(&s->trust, repo, err);
    if (rc == VCM_OK)
        rc = vcm_git_index_read(&s->index, repo, err);
    if (rc == VCM_OK && !(s->seen = calloc(s->index.count + 1, sizeof *s->seen)))
        rc = vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = vcm_ignore_open(&s->ignore, &s->work, err);
    return rc == VCM_OK ? vcm_git_overlay_open(&s->overlay, repo, keeps_texts, err) : rc;
}

static void close_scan(struct scan *s)
{
    vcm_git_overlay_close(s->overlay);
    vcm_ignore_close(s->ignore);
    free(s->seen);
    vcm_git_index_release(&s->index);
    vcm_buf_release(&s->content);
    vcm_buf_release(&s->path);
    vcm_arena_release(&s->arena);
    free(s->entries);
    if (s->root >= 0)
        close(s->root);
}

/* Without a commit yet, the parent is missing, which is no error. */
static int find_head(struct vcm_worktree *out, struct vcm_git_repo *repo, struct vcm_error *err)
{
    struct vcm_error failed = {0};

    int rc = vcm_git_repo_resolve(&out->head, repo, NULL, NULL, &failed);
    out->has_head = rc == VCM_OK;
    if (rc == VCM_OK || rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (err)
        *err = failed;
    return rc;
}

static int count_change(void *context, struct vcm_slice path, const struct vcm_git_entry *was,
                        const struct vcm_git_entry *is, struct vcm_error *err)
{
    (void)path;
    (void)was;
    (void)is;
    (void)err;
    ++*(uint64_t *)context;
    return VCM_OK;
}

static int take(struct vcm_worktree *out, struct vcm_git_repo *repo, const struct vcm_git_id *since,
                bool keeps_texts, const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct scan s;

    memset(out, 0, sizeof *out);
    int rc = open_scan(&s, repo, keeps_texts, cancel, err);
    if (rc == VCM_OK)
        rc = find_head(out, repo, err);
    if (rc == VCM_OK)
        rc = take_directory(&s, err);
    if (rc == VCM_OK)
        rc = keep_unseen(&s, err);
    if (rc == VCM_OK)
        rc = vcm_git_tree_make(&out->tree, s.overlay, s.entries, s.count, err);
    if (rc == VCM_OK)
        rc = vcm_git_tree_make_commit(&out->commit, s.overlay, &out->tree,
                                      out->has_head ? &out->head : NULL, err);
    if (rc == VCM_OK)
        rc = vcm_git_overlay_seal(s.overlay, repo, err);
    if (!since && out->has_head)
        since = &out->head;
    if (rc == VCM_OK)
        rc = vcm_git_tree_diff(repo, since, &out->commit, count_change, &out->changes, cancel, err);
    close_scan(&s);
    return rc == VCM_OK
               ? rc
               : vcm_error_wrap(err, rc, "the working tree of '%s'", vcm_git_repo_root(repo));
}

int vcm_worktree_take(struct vcm_worktree *out, struct vcm_git_repo *repo,
                      const struct vcm_cancel *cancel, struct vcm_error *err)
{
    memset(out, 0, sizeof *out);
    if (vcm_git_repo_is_bare(repo))
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the repository '%s' is bare: it has no working tree; name a commit",
                             vcm_git_repo_root(repo));
    return take(out, repo, NULL, true, cancel, err);
}

int vcm_worktree_count(struct vcm_worktree *out, struct vcm_git_repo *repo,
                       const struct vcm_git_id *commit, const struct vcm_cancel *cancel,
                       struct vcm_error *err)
{
    struct vcm_git_repo *own = NULL;

    memset(out, 0, sizeof *out);
    if (vcm_git_repo_is_bare(repo))
        return VCM_OK;
    /* A handle of its own: that of the caller stays as it is. */
    int rc = vcm_git_repo_open(&own, vcm_git_repo_root(repo), err);
    if (rc == VCM_OK)
        rc = take(out, own, commit, false, cancel, err);
    vcm_git_repo_close(own);
    return rc;
}
