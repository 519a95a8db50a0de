#include "git/plain_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/path.h"
#include "git/object_dirs.h"

#include "base/banned.h"

#define DEPTH_MAX    16u /* of folders of refs: a link may lead in a circle */
#define INCLUDE      "include"
#define INCLUDES_MAX 10u /* of files in each other, as in libgit2 */
#define LINK_BYTES   (64 * VCM_KIB)
#define GITDIR       "gitdir:"
#define BLANKS       " \t\r\v\f"

/* One look at a git directory. */
struct look {
    size_t entries; /* seen so far */
    unsigned includes;
};

/* Follows links, as whoever opens the file does. What is not there, or cannot be looked at, cannot
 * be waited for. A socket cannot be opened, and git has one for its file system monitor. */
static int check_type(mode_t mode, const char *path, struct vcm_error *err)
{
    const char *what = S_ISFIFO(mode) ? "named pipe" : "device";

    if (!S_ISFIFO(mode) && !S_ISCHR(mode) && !S_ISBLK(mode))
        return VCM_OK;
    return vcm_error_set(err, VCM_UNSUPPORTED, "'%s' is a %s and no file; remove it", path, what);
}

static int check_file(bool *is_directory, const char *path, struct vcm_error *err)
{
    struct stat status;

    *is_directory = false;
    if (stat(path, &status) != 0)
        return VCM_OK;
    *is_directory = S_ISDIR(status.st_mode);
    return check_type(status.st_mode, path, err);
}

/* The entries of a directory, and with `depth_left` those below it; no directory is none. */
static int check_directory(struct look *look, const char *path, unsigned depth_left,
                           struct vcm_error *err)
{
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    DIR *directory = opendir(path);
    int rc = VCM_OK;

    for (const struct dirent *entry; rc == VCM_OK && directory && (entry = readdir(directory));) {
        bool below = entry->d_type == DT_DIR;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++look->entries > VCM_LIMIT_REF_FILES)
            rc = vcm_error_set(err, VCM_UNSUPPORTED,
                               "there are more than %u files of refs in '%s'; run "
                               "'git pack-refs --all' there",
                               VCM_LIMIT_REF_FILES, path);
        vcm_buf_clear(&name);
        vcm_path_join(&name, path, entry->d_name);
        if (rc == VCM_OK && name.fault == VCM_BUF_FINE && entry->d_type != DT_REG && !below)
            rc = check_file(&below, vcm_buf_text(&name), err);
        if (rc == VCM_OK && name.fault == VCM_BUF_FINE && below && depth_left > 0)
            rc = check_directory(look, vcm_buf_text(&name), depth_left - 1, err);
    }
    if (directory)
        closedir(directory);
    vcm_buf_release(&name);
    return rc;
}

static int check_part(struct look *look, const char *directory, const char *part, unsigned depth,
                      struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&path, directory, part);
    int rc = vcm_buf_check(&path, "the path of a git directory", err);
    if (rc == VCM_OK)
        rc = check_directory(look, vcm_buf_text(&path), depth, err);
    vcm_buf_release(&path);
    return rc;
}

/* Joins a name to a directory, unless it is absolute or in the user's home. */
static void resolve(struct vcm_buf *out, struct vcm_slice directory, const char *name)
{
    const char *home = getenv("HOME");

    vcm_buf_clear(out);
    if (name[0] == '~' && name[1] == '/' && home)
        vcm_buf_append_format(out, "%s%s", home, name + 1);
    else if (name[0] == '/')
        vcm_buf_append_string(out, name);
    else
        vcm_buf_append_format(out, "%.*s/%s", (int)directory.len, directory.data, name);
}

/* The value that begins at `text`: without quotes, escapes, a comment and blanks at its end.
 * Returns where it ends. */
static const char *take_value(struct vcm_buf *out, const char *text)
{
    bool quoted = false;

    vcm_buf_clear(out);
    for (text += strspn(text, BLANKS); *text != '\0' && *text != '\n'; text++) {
        if (*text == '"') {
            quoted = !quoted;
        } else if (!quoted && (*text == '#' || *text == ';')) {
            text += strcspn(text, "\n");
            break;
        } else if (*text == '\\' && text[1] != '\0') {
            text += text[1] == '\r' && text[2] == '\n' ? 2 : 1;
            if (*text != '\n')
                vcm_buf_append_byte(out, *text);
        } else {
            vcm_buf_append_byte(out, *text);
        }
    }
    while (out->len > 0 && strchr(BLANKS, out->data[out->len - 1]))
        vcm_buf_truncate(out, out->len - 1);
    return text;
}

/* Moves over "[section]", and tells whether files are included there. */
static const char *take_section(bool *includes, const char *text)
{
    const char *name = text + 1 + strspn(text + 1, BLANKS);
    bool quoted = false;

    *includes = strncasecmp(name, INCLUDE, sizeof INCLUDE - 1) == 0;
    for (; *text != '\0' && *text != '\n' && (quoted || *text != ']'); text++)
        if (*text == '"')
            quoted = !quoted;
    return *text == ']' ? text + 1 : text;
}

/* Finds the next path that a configuration includes, whatever its condition; NULL at the end. */
static const char *next_include(struct vcm_buf *value, bool *includes, const char *text)
{
    while (*text != '\0') {
        text += strspn(text, BLANKS "\n");
        if (*text == '[') {
            text = take_section(includes, text);
            continue;
        }
        size_t key = strcspn(text, "=\n" BLANKS);
        bool is_path = *includes && key == 4 && strncasecmp(text, "path", key) == 0;
        text += strcspn(text, *text == '#' || *text == ';' ? "\n" : "=\n");
        if (*text == '=')
            text = take_value(value, text + 1);
        if (is_path)
            return text;
    }
    return NULL;
}

/* Includes of files that cannot be read are ignored here, as by git. */
static int check_config(struct look *look, const char *path, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_GIT_CONFIG_BYTES);
    struct vcm_buf value = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    const char *slash = strrchr(path, '/');
    struct vcm_slice directory = vcm_slice_of(path, slash ? (size_t)(slash - path) : 0);
    bool includes = false, is_directory = false;

    int rc = check_file(&is_directory, path, err);
    if (rc == VCM_OK && vcm_path_read_file(&text, path, text.max, NULL) == VCM_OK) {
        const char *at = vcm_buf_text(&text);
        while (rc == VCM_OK && (at = next_include(&value, &includes, at))) {
            resolve(&name, directory, vcm_buf_text(&value));
            if (name.fault != VCM_BUF_FINE || look->includes >= INCLUDES_MAX)
                continue;
            look->includes++;
            rc = check_config(look, vcm_buf_text(&name), err);
            look->includes--;
        }
    }
    vcm_buf_release(&name);
    vcm_buf_release(&value);
    vcm_buf_release(&text);
    return rc;
}

static int check_config_of(struct look *look, const char *directory, const char *name,
                           struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&path, directory, name);
    int rc = vcm_buf_check(&path, "the path of a git directory", err);
    if (rc == VCM_OK)
        rc = check_config(look, vcm_buf_text(&path), err);
    vcm_buf_release(&path);
    return rc;
}

static int check_git_directory(const char *path, struct vcm_error *err)
{
    static const struct {
        const char *name;
        unsigned depth;
    } parts[] = {{"info", 0},         {"refs", DEPTH_MAX},
                 {"logs", DEPTH_MAX}, {"worktrees", DEPTH_MAX},
                 {"objects/info", 1}, {"objects/pack", 0}};
    struct look look = {0};

    int rc = check_directory(&look, path, 0, err);
    for (size_t i = 0; rc == VCM_OK && i < sizeof parts / sizeof parts[0]; i++)
        rc = check_part(&look, path, parts[i].name, parts[i].depth, err);
    if (rc == VCM_OK)
        rc = check_config_of(&look, path, "config", err);
    if (rc == VCM_OK)
        rc = check_config_of(&look, path, "config.worktree", err);
    return rc;
}

/* Reads a file that names a directory, relative to the directory that it is in. False when it is no
 * such file. */
static bool read_link(struct vcm_buf *out, const char *directory, const char *name,
                      const char *prefix)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf text = VCM_BUF_INIT(LINK_BYTES);
    size_t skip = strlen(prefix);

    vcm_path_join(&path, directory, name);
    bool found = vcm_path_read_file(&text, vcm_buf_text(&path), text.max, NULL) == VCM_OK &&
                 text.len > skip && memcmp(text.data, prefix, skip) == 0;
    if (found) {
        while (text.len > skip && strchr(BLANKS "\n", text.data[text.len - 1]))
            vcm_buf_truncate(&text, text.len - 1);
        const char *target = vcm_buf_text(&text) + skip;
        resolve(out, vcm_slice_of_string(directory), target + strspn(target, BLANKS));
    }
    vcm_buf_release(&text);
    vcm_buf_release(&path);
    return found && out->fault == VCM_BUF_FINE;
}

static bool has(const char *directory, const char *name)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct stat status;

    vcm_path_join(&path, directory, name);
    bool found = stat(vcm_buf_text(&path), &status) == 0;
    vcm_buf_release(&path);
    return found;
}

/* Checks a directory if it is a git directory, and what it has in common with others. */
static int check_candidate(bool *found, const char *path, struct vcm_error *err)
{
    struct vcm_buf common = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    *found = has(path, "HEAD") && (has(path, "objects") || has(path, "commondir"));
    int rc = *found ? check_git_directory(path, err) : VCM_OK;
    if (rc == VCM_OK && *found && read_link(&common, path, "commondir", ""))
        rc = check_git_directory(vcm_buf_text(&common), err);
    vcm_buf_release(&common);
    return rc;
}

int vcm_git_plain_files_check(const char *path, struct vcm_error *err)
{
    struct vcm_buf inner = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    char *directory = realpath(path, NULL);
    bool found = false;
    int rc = VCM_OK;

    while (rc == VCM_OK && !found && directory && directory[0] != '\0') {
        if (!read_link(&inner, directory, ".git", GITDIR)) {
            vcm_buf_clear(&inner);
            vcm_path_join(&inner, directory, ".git");
        }
        rc = check_candidate(&found, vcm_buf_text(&inner), err);
        if (rc == VCM_OK && !found)
            rc = check_candidate(&found, directory, err);
        *strrchr(directory, '/') = '\0';
    }
    vcm_buf_release(&inner);
    free(directory);
    return rc;
}

int vcm_git_plain_files_check_objects(git_repository *handle, struct vcm_error *err)
{
    struct vcm_git_object_dirs dirs;
    struct look look = {0};

    int rc = vcm_git_object_dirs_find(&dirs, handle, err);
    for (unsigned i = 1; rc == VCM_OK && i < dirs.count; i++) {
        rc = check_part(&look, dirs.items[i].path, "info", 1, err);
        if (rc == VCM_OK)
            rc = check_part(&look, dirs.items[i].path, "pack", 0, err);
    }
    vcm_git_object_dirs_release(&dirs);
    return rc;
}
