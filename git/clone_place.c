#include "git/clone_place.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

#define DIRECTORY_MODE 0700
#define FILE_MODE      0600
#define NAME_BYTES     64
#define HASH_BYTES     8
#define OPEN_FILES     16
/* Written last: a clone without it counts as unfinished. */
#define MARKER      "vcm-clone"
#define MARKER_TEXT "1\n"
#define ASIDE       ".damaged" /* behind the name of a clone that is being replaced */

static bool is_name_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

/* A readable part of the directory's name: "tool" of "https://host/org/tool.git". */
static struct vcm_slice last_part(const char *address)
{
    size_t end = strlen(address);

    while (end > 0 && address[end - 1] == '/')
        end--;
    if (end > 4 && memcmp(address + end - 4, ".git", 4) == 0)
        end -= 4;
    size_t start = end;
    while (start > 0 && address[start - 1] != '/' && address[start - 1] != ':' &&
           end - start < NAME_BYTES)
        start--;
    return vcm_slice_of(address + start, end - start);
}

void vcm_git_clone_place_name(struct vcm_buf *out, const struct vcm_git_clones *clones,
                              const char *address)
{
    struct vcm_slice name = last_part(address);
    unsigned char digest[VCM_HASH_SHA256_BYTES];
    char hex[2 * HASH_BYTES + 1];

    vcm_buf_append_format(out, "%s/", clones->directory);
    for (size_t i = 0; i < name.len; i++) {
        bool plain = is_name_byte(name.data[i]) && (i > 0 || name.data[i] != '.');
        vcm_buf_append_byte(out, plain ? name.data[i] : '_');
    }
    vcm_hash_sha256_of(digest, vcm_slice_of_string(address));
    vcm_hash_to_hex(hex, digest, HASH_BYTES);
    vcm_buf_append_format(out, "-%s.git", hex);
}

static void join(struct vcm_buf *out, const char *path, const char *name)
{
    vcm_buf_clear(out);
    vcm_path_join(out, path, name);
}

bool vcm_git_clone_place_is_ready(const char *path)
{
    /* Without one of these, libgit2 would search the parent directories and find another
     * repository. A clone of ours borrows no objects. */
    static const struct {
        const char *name;
        mode_t type;
    } parts[] = {{MARKER, S_IFREG},    {"HEAD", S_IFREG}, {"config", S_IFREG},
                 {"objects", S_IFDIR}, {"refs", S_IFDIR}, {"objects/info/alternates", 0}};
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct stat status;
    bool ready = true;

    for (size_t i = 0; ready && i < sizeof parts / sizeof parts[0]; i++) {
        join(&name, path, parts[i].name);
        mode_t type = lstat(vcm_buf_text(&name), &status) == 0 ? status.st_mode & S_IFMT : 0;
        ready = type == parts[i].type;
    }
    vcm_buf_release(&name);
    return ready;
}

int64_t vcm_git_clone_place_used_at(const char *path)
{
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct stat status;

    vcm_path_join(&name, path, MARKER);
    bool found = lstat(vcm_buf_text(&name), &status) == 0;
    vcm_buf_release(&name);
    return found ? (int64_t)status.st_mtim.tv_sec : 0;
}

void vcm_git_clone_place_touch(const char *path)
{
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&name, path, MARKER);
    int touched = utimensat(AT_FDCWD, vcm_buf_text(&name), NULL, AT_SYMLINK_NOFOLLOW);
    (void)touched; /* fails in a read-only home, where no process drops clones */
    vcm_buf_release(&name);
}

/* Removes locks and temporary files of a killed git; the place is locked, so no other process uses
 * them. Nothing of ours has such a name. */
static int remove_leftover(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    const char *name = path + where->base;
    size_t len = strlen(name);

    (void)status;
    if ((len > 5 && strcmp(name + len - 5, ".lock") == 0) ||
        (kind == FTW_F && strncmp(name, "tmp_", 4) == 0))
        return remove(path) == 0 ? FTW_SKIP_SUBTREE : FTW_STOP;
    return FTW_CONTINUE;
}

/* The same, but for objects, where leftovers are in nobody's way and files are many. */
static int remove_lock(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    if (where->level == 1 && strcmp(path + where->base, "objects") == 0)
        return FTW_SKIP_SUBTREE;
    return remove_leftover(path, status, kind, where);
}

/* git leaves locks when it was killed by us, at a time limit, as well as with us. */
static int mend(const char *path, bool thoroughly, struct vcm_error *err)
{
    if (nftw(path, thoroughly ? remove_leftover : remove_lock, OPEN_FILES,
             FTW_PHYS | FTW_MOUNT | FTW_ACTIONRETVAL) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot clean up the clone '%s'", path);
    return VCM_OK;
}

/* The address as a value of a configuration file; it has no control characters. */
static void put_remote(struct vcm_buf *out, const char *name, const char *address)
{
    vcm_buf_append_format(out, "[remote \"%s\"]\n\turl = \"", name);
    for (const char *p = address; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            vcm_buf_append_byte(out, '\\');
        vcm_buf_append_byte(out, *p);
    }
    vcm_buf_append_string(out, "\"\n");
}

static void put_config(struct vcm_buf *out, const char *address, bool partial)
{
    vcm_buf_append_format(out,
                          "[core]\n\trepositoryformatversion = %d\n\tbare = true\n"
                          "\tlogallrefupdates = false\n",
                          partial ? 1 : 0);
    put_remote(out, "origin", address);
    if (!partial)
        return;
    put_remote(out, VCM_GIT_PLACE_REMOTE, address);
    vcm_buf_append_string(out, "\tpromisor = true\n\tpartialclonefilter = blob:none\n"
                               "[extensions]\n\tpartialClone = " VCM_GIT_PLACE_REMOTE "\n");
}

static int write_file(const char *path, const char *name, struct vcm_slice text,
                      struct vcm_error *err)
{
    struct vcm_buf file = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&file, path, name);
    int rc = vcm_path_write_file(vcm_buf_text(&file), text, FILE_MODE, err);
    vcm_buf_release(&file);
    return rc;
}

static int write_config(const char *path, const char *address, bool partial, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_LIMIT_URL_BYTES + VCM_KIB);

    put_config(&text, address, partial);
    int rc = vcm_buf_check(&text, "the configuration of a clone", err);
    if (rc == VCM_OK)
        rc = write_file(path, "config", vcm_buf_slice(&text), err);
    vcm_buf_release(&text);
    return rc;
}

/* Not by git init, which would copy templates and obey the user's configuration. */
static int make(const char *path, const char *address, struct vcm_error *err)
{
    static const char *const directories[] = {"objects/pack", "objects/info", "refs/heads",
                                              "refs/tags"};
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    int rc = vcm_path_tree_remove(path, err);
    for (size_t i = 0; rc == VCM_OK && i < sizeof directories / sizeof directories[0]; i++) {
        join(&name, path, directories[i]);
        rc = vcm_path_make_directories(vcm_buf_text(&name), DIRECTORY_MODE, err);
    }
    if (rc == VCM_OK)
        rc = write_config(path, address, false, err);
    if (rc == VCM_OK)
        rc = write_file(path, "HEAD", vcm_slice_of_string("ref: refs/heads/main\n"), err);
    if (rc == VCM_OK)
        rc = write_file(path, MARKER, vcm_slice_of_string(MARKER_TEXT), err);
    vcm_buf_release(&name);
    return rc;
}

static int take_lock(struct vcm_git_place *place, const struct vcm_git_clones *clones,
                     const char *address, unsigned timeout_ms, struct vcm_error *err)
{
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error cause = {0};

    vcm_buf_append_format(&name, "%s.lock", place->path);
    int rc = vcm_kv_lock_take(&place->lock, vcm_buf_text(&name), timeout_ms, clones->cancel, NULL,
                              &cause);
    place->is_locked = rc == VCM_OK;
    if (rc == VCM_STORE_BUSY)
        rc = vcm_error_set(err, VCM_STORE_BUSY,
                           "another process is fetching '%s'; try again when it is done", address);
    else if (rc != VCM_OK && err)
        *err = cause;
    vcm_buf_release(&name);
    return rc;
}

int vcm_git_clone_place_take(struct vcm_git_place *place, const struct vcm_git_clones *clones,
                             const char *address, unsigned timeout_ms, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_git_clones real = *clones;
    char *directory = NULL;

    memset(place, 0, sizeof *place);
    int rc = vcm_path_make_directories(clones->directory, DIRECTORY_MODE, err);
    /* git runs inside the clone, where a relative path would have another meaning. */
    if (rc == VCM_OK && !(directory = realpath(clones->directory, NULL)))
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot find '%s'", clones->directory);
    if (rc == VCM_OK) {
        real.directory = directory;
        vcm_git_clone_place_name(&path, &real, address);
        rc = vcm_buf_check(&path, "the path of a clone", err);
    }
    if (rc == VCM_OK) {
        place->path = vcm_buf_detach(&path);
        rc = take_lock(place, clones, address, timeout_ms, err);
    }
    place->is_new = rc == VCM_OK && !vcm_git_clone_place_is_ready(place->path);
    if (place->is_new)
        rc = make(place->path, address, err);
    else if (rc == VCM_OK)
        rc = mend(place->path, place->lock.previous_died, err);
    free(directory);
    vcm_buf_release(&path);
    return rc;
}

int vcm_git_clone_place_set_aside(struct vcm_git_place *place, const char *address,
                                  struct vcm_error *err)
{
    struct vcm_buf aside = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    assert(place->is_locked);
    vcm_buf_append_format(&aside, "%s" ASIDE, place->path);
    int rc = vcm_buf_check(&aside, "the path of a clone", err);
    if (rc == VCM_OK)
        rc = vcm_path_tree_remove(vcm_buf_text(&aside), err);
    if (rc == VCM_OK && rename(place->path, vcm_buf_text(&aside)) != 0)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot rename '%s'", place->path);
    if (rc == VCM_OK) {
        place->is_new = true;
        rc = make(place->path, address, err);
    }
    vcm_buf_release(&aside);
    return rc;
}

void vcm_git_clone_place_settle(struct vcm_git_place *place, bool filled)
{
    struct vcm_buf aside = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    if (!place->is_new)
        return;
    vcm_buf_append_format(&aside, "%s" ASIDE, place->path);
    if (filled)
        vcm_path_tree_remove(vcm_buf_text(&aside), NULL);
    else if (vcm_path_tree_remove(place->path, NULL) == VCM_OK &&
             rename(vcm_buf_text(&aside), place->path) == 0)
        place->is_new = false;
    vcm_buf_release(&aside);
}

int vcm_git_clone_place_make_partial(const struct vcm_git_place *place, const char *address,
                                     struct vcm_error *err)
{
    assert(place->is_locked);
    return write_config(place->path, address, true, err);
}

int vcm_git_clone_place_unmake(const char *path, struct vcm_error *err)
{
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&name, path, MARKER);
    int rc = vcm_buf_check(&name, "the path of a clone", err);
    if (rc == VCM_OK && unlink(vcm_buf_text(&name)) != 0 && errno != ENOENT)
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot remove '%s'", vcm_buf_text(&name));
    vcm_buf_release(&name);
    return rc == VCM_OK ? vcm_path_tree_remove(path, err) : rc;
}

void vcm_git_clone_place_give_up(struct vcm_git_place *place)
{
    if (place->is_locked && place->is_new)
        vcm_path_tree_remove(place->path, NULL);
}

void vcm_git_clone_place_release(struct vcm_git_place *place)
{
    if (place->is_locked)
        vcm_kv_lock_release(&place->lock);
    free(place->path);
    memset(place, 0, sizeof *place);
}
