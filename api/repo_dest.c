#include "api/repo_dest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/path.h"
#include "git/layout.h"
#include "lfs/command.h"

#include "base/banned.h"

#define DEST_MODE   0755
#define FILE_MODE   0644
#define HASH_MAX    128
#define SHALLOW_MAX (64 * VCM_MIB)
#define PROMISE     "remote.origin.promisor"
/* Written before everything else: what has none was not made here. It lists the commits that HEAD
 * may be at: the one that was checked out and, while another is being checked out, that one too.
 * Before the first checkout is done, UNBORN is in place of a commit. Any other commit is the
 * owner's. */
#define MARKER     "vcm-dest"
#define MARKER_MAX ((size_t)256)
#define UNBORN     "unborn"

struct work {
    const struct vcm_repo_dest *dest;
    struct vcm_command git; /* in the working copy */
    struct vcm_buf git_dir; /* of the working copy */
    struct vcm_buf marker;  /* what it says; empty for none */
    char head[VCM_GIT_ID_HEX + 1];
    char hex[VCM_GIT_ID_HEX + 1];
};

static int look(bool *empty, const char *path, struct vcm_error *err)
{
    DIR *directory = opendir(path);

    *empty = !directory && errno == ENOENT;
    if (!directory)
        return *empty ? VCM_OK
                      : vcm_error_sys(err, VCM_INVALID_ARGUMENT, errno, "cannot clone into '%s'",
                                      path);
    *empty = true;
    for (const struct dirent *entry; *empty && (entry = readdir(directory));)
        *empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(directory);
    return VCM_OK;
}

/* Translates git's message. It is not shown itself: it suggests commands that do not apply here.
 * The files in question follow it, each in a line behind a tab. */
static int explain(const struct work *work, const char *text, struct vcm_error *err)
{
    const char *real = work->git.directory, *name = strstr(text, "\n\t");
    int len = name ? (int)strcspn(name + 2, "\n") : 0;

    if (strstr(text, "would be overwritten") || strstr(text, "not uptodate") ||
        strstr(text, "would lose untracked"))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' has files of yours that the new commit would overwrite (%.*s); "
                             "move or commit them, or name another directory with --dest",
                             real, len, name ? name + 2 : "");
    if (strstr(text, "index.lock"))
        return vcm_error_set(err, VCM_STORE_BUSY,
                             "another git is at work in '%s', or was killed there; when none runs, "
                             "remove .git/index.lock",
                             real);
    if (strstr(text, "No space left on device"))
        return vcm_error_set(err, VCM_IO_ERROR, "no space left on the device of '%s'", real);
    return vcm_error_set(err, VCM_IO_ERROR,
                         "the commit cannot be checked out in '%s'; see what 'git status' says "
                         "there, or name another directory with --dest",
                         real);
}

static int run_with(struct vcm_buf *out, const struct work *work, const char *const *args,
                    struct vcm_slice input, struct vcm_error *err)
{
    struct vcm_buf errors = VCM_BUF_INIT(VCM_LIMIT_GIT_OUTPUT);
    int status = 0;

    int rc = vcm_command_run(&status, out, &errors, &work->git, args, input, err);
    if (rc == VCM_OK && status != 0)
        rc = explain(work, vcm_buf_text(&errors), err);
    vcm_buf_release(&errors);
    return rc;
}

static int run(const struct work *work, const char *const *args, struct vcm_error *err)
{
    return run_with(NULL, work, args, vcm_slice_of("", 0), err);
}

static int write_marker(const struct work *work, const char *commit, const char *before,
                        struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf text = VCM_BUF_INIT(MARKER_MAX);

    vcm_path_join(&path, work->git.directory, ".git/" MARKER);
    vcm_buf_append_format(&text, "%s\n%s\n", commit, before);
    int rc = vcm_buf_check(&path, "the path of the working copy", err);
    if (rc == VCM_OK)
        rc = vcm_path_write_file(vcm_buf_text(&path), vcm_buf_slice(&text), FILE_MODE, err);
    vcm_buf_release(&text);
    vcm_buf_release(&path);
    return rc;
}

static void read_marker(struct work *work)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_buf_clear(&work->marker);
    vcm_path_join(&path, work->git.directory, ".git/" MARKER);
    vcm_path_read_file(&work->marker, vcm_buf_text(&path), MARKER_MAX, NULL);
    vcm_buf_release(&path);
}

/* May be repeated, after a process that was killed. */
static int begin(struct work *work, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&path, work->git.directory, ".git");
    int rc = vcm_path_make_directories(vcm_buf_text(&path), DEST_MODE, err);
    if (rc == VCM_OK)
        rc = write_marker(work, "", UNBORN, err);
    if (rc == VCM_OK)
        rc = run(work, VCM_COMMAND_ARGS("init", "--quiet"), err);
    if (rc == VCM_OK)
        rc =
            run(work, VCM_COMMAND_ARGS("config", "remote.origin.url", work->dest->clone->url), err);
    if (rc == VCM_OK)
        rc = run(work,
                 VCM_COMMAND_ARGS("config", "remote.origin.fetch",
                                  "+refs/heads/*:refs/remotes/origin/*"),
                 err);
    vcm_buf_release(&path);
    return rc;
}

/* Whether no checkout was done to its end: then everything in the directory is ours. */
static bool is_unborn(const struct work *work)
{
    return strstr(vcm_buf_text(&work->marker), UNBORN) != NULL;
}

/* HEAD has to be detached at a commit that was checked out here. With a commit of its owner, or on
 * a branch, it stays where it is: a checkout would leave the owner's commits to the reflog. */
static int check_head(struct work *work, struct vcm_error *err)
{
    struct vcm_buf head = VCM_BUF_INIT(VCM_KIB);
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&path, vcm_buf_text(&work->git_dir), "HEAD");
    int rc = vcm_path_read_file(&head, vcm_buf_text(&path), head.max, err);
    bool branch = strncmp(vcm_buf_text(&head), "ref:", 4) == 0;
    bool ours = !branch && strstr(vcm_buf_text(&work->marker), vcm_buf_text(&head));
    if (ours)
        snprintf(work->head, sizeof work->head, "%s", vcm_buf_text(&head));
    if (rc == VCM_OK && !ours && !(branch && is_unborn(work)))
        rc =
            vcm_error_set(err, VCM_INVALID_ARGUMENT,
                          "'%s' is at a commit or on a branch of yours and was not moved; give the "
                          "commit a branch and run 'git checkout --detach %.40s' there, or name "
                          "another directory with --dest",
                          work->git.directory, vcm_buf_text(&work->marker));
    vcm_buf_release(&path);
    vcm_buf_release(&head);
    return rc;
}

/* Reuses only what was made here for the same URL, so that no other files are overwritten. */
static int open_dest(bool *is_partial, struct work *work, const char *real, struct vcm_error *err)
{
    struct vcm_buf origin = VCM_BUF_INIT(VCM_LIMIT_URL_BYTES);
    struct vcm_buf promise = VCM_BUF_INIT(VCM_KIB);
    struct vcm_git_repo *repo = NULL;
    struct vcm_error ignored = {0};

    bool ours = work->marker.len > 0 && vcm_git_repo_open(&repo, real, &ignored) == VCM_OK &&
                strcmp(vcm_git_repo_root(repo), real) == 0 &&
                vcm_git_repo_origin(&origin, repo, &ignored) == VCM_OK &&
                strcmp(vcm_buf_text(&origin), work->dest->clone->url) == 0 &&
                vcm_git_layout_directory(&work->git_dir, repo, &ignored) == VCM_OK &&
                vcm_git_layout_setting(&promise, repo, PROMISE, &ignored) == VCM_OK;
    *is_partial = promise.len > 0;
    vcm_git_repo_close(repo);
    vcm_buf_release(&promise);
    vcm_buf_release(&origin);
    return ours ? VCM_OK
                : vcm_error_set(err, VCM_INVALID_ARGUMENT,
                                "'%s' is neither empty nor a working copy that vcm made of this "
                                "repository; name another directory with --dest",
                                real);
}

/* Makes the origin the promisor of objects that are missing here. */
static int promise_rest(const struct work *work, struct vcm_error *err)
{
    static const char *const settings[][2] = {
        {"core.repositoryFormatVersion", "1"},
        {"extensions.partialClone", "origin"},
        {PROMISE, "true"},
        {"remote.origin.partialCloneFilter", "blob:none"},
    };
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < sizeof settings / sizeof settings[0]; i++)
        rc = run(work, VCM_COMMAND_ARGS("config", settings[i][0], settings[i][1]), err);
    return rc;
}

/* Appends the lines of a file; nothing if there is none. */
static int read_lines(struct vcm_buf *out, const char *directory, const char *name,
                      struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error failed = {0};

    vcm_path_join(&path, directory, name);
    int rc = vcm_path_read_file(out, vcm_buf_text(&path), SHALLOW_MAX, &failed);
    vcm_buf_release(&path);
    if (rc == VCM_OK || rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (err)
        *err = failed;
    return rc;
}

static int write_file(const struct work *work, const char *name, struct vcm_slice text,
                      struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&path, vcm_buf_text(&work->git_dir), name);
    int rc = vcm_buf_check(&path, "the path of the working copy", err);
    if (rc == VCM_OK)
        rc = vcm_path_write_file(vcm_buf_text(&path), text, FILE_MODE, err);
    vcm_buf_release(&path);
    return rc;
}

/* Copies the shallow boundary: the working copy's history ends where the clone's does. */
static int copy_ends(const struct work *work, struct vcm_error *err)
{
    const char *clone = work->dest->clone->path;
    struct vcm_buf ends = VCM_BUF_INIT(SHALLOW_MAX), ours = VCM_BUF_INIT(SHALLOW_MAX);
    struct vcm_buf history = VCM_BUF_INIT(SHALLOW_MAX);

    int rc = run_with(&history, work, VCM_COMMAND_ARGS("--git-dir", clone, "rev-list", work->hex),
                      vcm_slice_of("", 0), err);
    if (rc == VCM_OK)
        rc = read_lines(&ends, clone, "shallow", err);
    if (rc == VCM_OK)
        rc = read_lines(&ours, vcm_buf_text(&work->git_dir), "shallow", err);
    const char *line = vcm_buf_text(&ends);
    for (; rc == VCM_OK && strlen(line) > VCM_GIT_ID_HEX; line += VCM_GIT_ID_HEX + 1) {
        char hex[VCM_GIT_ID_HEX + 1] = "";
        memcpy(hex, line, VCM_GIT_ID_HEX);
        if (strstr(vcm_buf_text(&history), hex) && !strstr(vcm_buf_text(&ours), hex))
            vcm_buf_append_format(&ours, "%s\n", hex);
    }
    if (rc == VCM_OK)
        rc = vcm_buf_check(&ours, "the ends of the history", err);
    if (rc == VCM_OK && ours.len > 0)
        rc = write_file(work, "shallow", vcm_buf_slice(&ours), err);
    vcm_buf_release(&history);
    vcm_buf_release(&ours);
    vcm_buf_release(&ends);
    return rc;
}

/* Writes the pack directly into the working copy, because upload-pack refuses to serve a partial
 * commit. */
static int copy_objects(const struct work *work, struct vcm_error *err)
{
    struct vcm_buf base = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf hash = VCM_BUF_INIT(HASH_MAX), wanted = VCM_BUF_INIT(HASH_MAX);

    vcm_path_join(&base, vcm_buf_text(&work->git_dir), "objects/pack/pack");
    vcm_buf_append_format(&wanted, "%s\n", work->hex);
    int rc = vcm_buf_check(&base, "the path of the working copy", err);
    if (rc == VCM_OK)
        rc = promise_rest(work, err);
    if (rc == VCM_OK)
        rc = run_with(&hash, work,
                      VCM_COMMAND_ARGS("--git-dir", work->dest->clone->path, "pack-objects",
                                       "--revs", "--missing=allow-any", "--quiet",
                                       vcm_buf_text(&base)),
                      vcm_buf_slice(&wanted), err);
    if (rc == VCM_OK) {
        int len = (int)strcspn(vcm_buf_text(&hash), "\n");
        vcm_buf_append_format(&name, "objects/pack/pack-%.*s.promisor", len, vcm_buf_text(&hash));
        rc = write_file(work, vcm_buf_text(&name), vcm_slice_of("", 0), err);
    }
    if (rc == VCM_OK)
        rc = copy_ends(work, err);
    vcm_buf_release(&wanted);
    vcm_buf_release(&hash);
    vcm_buf_release(&name);
    vcm_buf_release(&base);
    return rc;
}

static int fetch_objects(const struct work *work, struct vcm_error *err)
{
    char ref[VCM_GIT_ID_HEX + 32];

    snprintf(ref, sizeof ref, "refs/vcm/commits/%s", work->hex);
    return run(work,
               VCM_COMMAND_ARGS("fetch", "--quiet", "--no-tags", "--update-shallow",
                                "--no-recurse-submodules", work->dest->clone->path, ref),
               err);
}

/* Selects the files of the directory only; git's cone mode would add the files of its parents. */
static int choose_files(const struct work *work, struct vcm_error *err)
{
    struct vcm_buf pattern = VCM_BUF_INIT(4 * VCM_LIMIT_PATH_BYTES);

    vcm_buf_append_byte(&pattern, '/');
    for (const char *c = work->dest->subpath; *c != '\0'; c++) {
        if (strchr("\\*?[ ", *c))
            vcm_buf_append_byte(&pattern, '\\');
        vcm_buf_append_byte(&pattern, *c);
    }
    vcm_buf_append_string(&pattern, "/\n");
    int rc = vcm_buf_check(&pattern, "the pattern of --subpath", err);
    if (rc == VCM_OK)
        rc =
            run_with(NULL, work, VCM_COMMAND_ARGS("sparse-checkout", "set", "--no-cone", "--stdin"),
                     vcm_buf_slice(&pattern), err);
    vcm_buf_release(&pattern);
    return rc;
}

static int show_all(const struct work *work, struct vcm_error *err)
{
    int status = 0;

    int rc = vcm_command_run(&status, NULL, NULL, &work->git,
                             VCM_COMMAND_ARGS("config", "--get", "core.sparseCheckout"),
                             vcm_slice_of("", 0), err);
    if (rc == VCM_OK && status == 0)
        rc = run(work, VCM_COMMAND_ARGS("sparse-checkout", "disable"), err);
    return rc;
}

static int check_out(const struct work *work, struct vcm_error *err)
{
    const char *force = work->head[0] == '\0' ? "--force" : "--no-overwrite-ignore";

    int rc = write_marker(work, work->hex, work->head[0] == '\0' ? UNBORN : work->head, err);
    if (rc == VCM_OK && work->dest->subpath)
        rc = choose_files(work, err);
    if (rc == VCM_OK)
        rc = run(work,
                 VCM_COMMAND_ARGS("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c",
                                  "filter.lfs.required=false", "checkout", "--quiet", force,
                                  "--detach", work->hex),
                 err);
    if (rc == VCM_OK && !work->dest->subpath)
        rc = show_all(work, err);
    if (rc == VCM_OK)
        rc = write_marker(work, work->hex, "", err);
    return rc;
}

static int fill(struct work *work, const char *real, bool empty, struct vcm_error *err)
{
    bool is_partial = false;

    work->git = (struct vcm_command){
        .directory = real,
        .timeout_ms = work->dest->timeout_ms,
        .memory_max = work->dest->memory_max,
        .bytes_max = work->dest->bytes_max,
        .cancel = work->dest->cancel,
    };
    vcm_git_repo_id_to_hex(work->hex, &work->dest->clone->commit);
    read_marker(work);
    int rc = empty || is_unborn(work) ? begin(work, err) : VCM_OK;
    read_marker(work);
    if (rc == VCM_OK)
        rc = open_dest(&is_partial, work, real, err);
    if (rc == VCM_OK)
        rc = check_head(work, err);
    if (rc == VCM_OK)
        rc = is_partial || work->dest->clone->files_missing > 0 ? copy_objects(work, err)
                                                                : fetch_objects(work, err);
    if (rc == VCM_OK)
        rc = check_out(work, err);
    return vcm_error_wrap(err, rc, "%s", real);
}

int vcm_repo_dest_fill(char **real, const struct vcm_repo_dest *dest, struct vcm_error *err)
{
    struct work work = {.dest = dest};
    bool empty = false;

    *real = NULL;
    if (dest->path[0] == '\0' || dest->path[0] == '-')
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no directory to clone into",
                             dest->path);
    vcm_buf_init(&work.git_dir, 2 * VCM_LIMIT_PATH_BYTES);
    vcm_buf_init(&work.marker, MARKER_MAX);
    int rc = look(&empty, dest->path, err);
    if (rc == VCM_OK)
        rc = vcm_path_make_directories(dest->path, DEST_MODE, err);
    if (rc == VCM_OK && !(*real = realpath(dest->path, NULL)))
        rc = vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot find '%s'", dest->path);
    if (rc == VCM_OK)
        rc = fill(&work, *real, empty, err);
    vcm_buf_release(&work.marker);
    vcm_buf_release(&work.git_dir);
    return rc;
}
