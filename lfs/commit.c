#include "lfs/commit.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

#define LINE_BYTES (64 * VCM_KIB)

struct work {
    const struct vcm_command *git;
    const struct vcm_commit_request *request;
    int root_fd;
    struct vcm_buf index_file;
    char head[VCM_COMMIT_ID_BYTES];
    struct vcm_commit_entry entries[VCM_COMMIT_FILES_MAX];
    char blobs[VCM_COMMIT_FILES_MAX][VCM_COMMIT_ID_BYTES];
    bool made_directory[VCM_COMMIT_FILES_MAX];
    bool written[VCM_COMMIT_FILES_MAX];
    bool staged;
};

static const struct vcm_slice no_input = {NULL, 0};

/* Copies an id from the first `len` bytes of `text`. */
static int take_id(char out[VCM_COMMIT_ID_BYTES], const char *text, size_t len,
                   struct vcm_error *err)
{
    if (len == 0 || len >= VCM_COMMIT_ID_BYTES || strspn(text, "0123456789abcdef") < len)
        return vcm_error_set(err, VCM_INTERNAL, "git did not answer with an id");
    memcpy(out, text, len);
    out[len] = '\0';
    return VCM_OK;
}

static int read_id(char out[VCM_COMMIT_ID_BYTES], const struct vcm_command *git,
                   const char *const *args, struct vcm_slice input, struct vcm_error *err)
{
    struct vcm_buf line = VCM_BUF_INIT(LINE_BYTES);
    int rc = vcm_command_read(&line, git, args, input, err);
    if (rc == VCM_OK)
        rc = take_id(out, vcm_buf_text(&line), line.len, err);
    vcm_buf_release(&line);
    return rc;
}

int vcm_commit_head(char id[VCM_COMMIT_ID_BYTES], const struct vcm_command *git,
                    struct vcm_error *err)
{
    struct vcm_buf line = VCM_BUF_INIT(LINE_BYTES);
    bool found = false;

    id[0] = '\0';
    int rc = vcm_command_ask(
        &found, &line, git,
        VCM_COMMAND_ARGS("rev-parse", "--quiet", "--verify", "--end-of-options", "HEAD^{commit}"),
        err);
    if (rc == VCM_OK && found)
        rc = take_id(id, vcm_buf_text(&line), line.len, err);
    vcm_buf_release(&line);
    return rc;
}

/* The entries of a listing, "100644 blob <id>\t<path>" of ls-tree or "100644 <id> 0\t<path>" of
 * ls-files, each ended by a NUL; the id is the word of that number. */
static int take_entries(struct vcm_commit_entry *out, const struct vcm_buf *listing,
                        const char *const *paths, size_t count, bool staged, struct vcm_error *err)
{
    const char *text = vcm_buf_text(listing);
    int rc = VCM_OK;

    for (size_t at = 0; rc == VCM_OK && at < listing->len; at += strlen(text + at) + 1) {
        const char *line = text + at, *path = strchr(line, '\t'), *id = line;
        for (unsigned word = staged ? 1 : 2; word > 0; word--)
            id += strcspn(id, " ") + (id[strcspn(id, " ")] == ' ');
        for (size_t i = 0; path && rc == VCM_OK && i < count; i++) {
            if (strcmp(path + 1, paths[i]) != 0)
                continue;
            snprintf(out[i].mode, sizeof out[i].mode, "%.6s", line);
            rc = take_id(staged ? out[i].staged : out[i].head, id, strcspn(id, " \t"), err);
        }
    }
    return rc;
}

static int list_entries(struct vcm_commit_entry *out, const struct vcm_command *git,
                        const char *head, const char *const *paths, size_t count,
                        struct vcm_error *err)
{
    struct vcm_buf listing = VCM_BUF_INIT(LINE_BYTES);
    const char *args[VCM_COMMIT_FILES_MAX + 8] = {"--literal-pathspecs"};
    size_t used = 1;

    if (head) {
        args[used++] = "ls-tree";
        args[used++] = "-z";
        args[used++] = "--end-of-options";
        args[used++] = head;
    } else {
        args[used++] = "ls-files";
        args[used++] = "-z";
        args[used++] = "--stage";
        args[used++] = "--";
    }
    for (size_t i = 0; i < count; i++)
        args[used++] = paths[i];
    int rc = vcm_command_read(&listing, git, args, no_input, err);
    if (rc == VCM_OK)
        rc = take_entries(out, &listing, paths, count, head == NULL, err);
    vcm_buf_release(&listing);
    return rc;
}

int vcm_commit_look_up(struct vcm_commit_entry *out, const struct vcm_command *git,
                       const char *const *paths, size_t count, struct vcm_error *err)
{
    char head[VCM_COMMIT_ID_BYTES];

    assert(count <= VCM_COMMIT_FILES_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = (struct vcm_commit_entry){.mode = "100644"};
    int rc = vcm_commit_head(head, git, err);
    if (rc == VCM_OK && head[0])
        rc = list_entries(out, git, head, paths, count, err);
    return rc == VCM_OK ? list_entries(out, git, NULL, paths, count, err) : rc;
}

static int check_identity(const struct vcm_command *git, struct vcm_error *err)
{
    static const char *const variables[] = {"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"};
    int status = 0, rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < 2; i++) {
        rc = vcm_command_run(&status, NULL, NULL, git,
                             VCM_COMMAND_ARGS("-c", "user.useConfigOnly=true", "var", variables[i]),
                             no_input, err);
        if (rc == VCM_OK && status != 0)
            rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                               "git does not know who commits; run git config --global user.name "
                               "'Your Name' and git config --global user.email you@example.com");
    }
    return rc;
}

static int check_idle(const struct vcm_command *git, struct vcm_error *err)
{
    static const struct {
        const char *file, *what;
    } signs[] = {
        {"MERGE_HEAD", "merge"},    {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
        {"rebase-merge", "rebase"}, {"rebase-apply", "rebase"},
    };
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct stat status;

    int rc = vcm_command_read(&path, git, VCM_COMMAND_ARGS("rev-parse", "--absolute-git-dir"),
                              no_input, err);
    size_t len = path.len;
    for (size_t i = 0; rc == VCM_OK && i < sizeof signs / sizeof signs[0]; i++) {
        vcm_buf_truncate(&path, len);
        vcm_buf_append_format(&path, "/%s", signs[i].file);
        if (lstat(vcm_buf_text(&path), &status) == 0)
            rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                               "a %s is under way; end it with git %s --continue or --abort first",
                               signs[i].what, signs[i].what);
    }
    vcm_buf_release(&path);
    return rc;
}

int vcm_commit_check(const struct vcm_command *git, struct vcm_error *err)
{
    int rc = check_identity(git, err);
    return rc == VCM_OK ? check_idle(git, err) : rc;
}

static int hash_file(struct work *w, size_t i, struct vcm_error *err)
{
    const struct vcm_commit_file *file = &w->request->files[i];
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    /* With the path, so that the user's filters and line endings apply as in `git add`. */
    vcm_buf_append_format(&path, "--path=%s", file->path);
    int rc = read_id(w->blobs[i], w->git,
                     VCM_COMMAND_ARGS("hash-object", "-w", "--stdin", vcm_buf_text(&path)),
                     file->content, err);
    vcm_buf_release(&path);
    return rc;
}

/* Puts our files into the index of `git`, or restores what was staged before. */
static int stage(struct work *w, const struct vcm_command *git, bool back, struct vcm_error *err)
{
    struct vcm_buf lines = VCM_BUF_INIT(LINE_BYTES);

    for (size_t i = 0; i < w->request->count; i++) {
        const char *id = back ? w->entries[i].staged : w->blobs[i];
        if (id[0])
            vcm_buf_append_format(&lines, "%s %s\t%s", w->entries[i].mode, id,
                                  w->request->files[i].path);
        else
            vcm_buf_append_format(&lines, "0 0000000000000000000000000000000000000000\t%s",
                                  w->request->files[i].path);
        vcm_buf_append_byte(&lines, '\0');
    }
    int rc = vcm_buf_check(&lines, "a list of files", err);
    if (rc == VCM_OK)
        rc = vcm_command_read(NULL, git, VCM_COMMAND_ARGS("update-index", "-z", "--index-info"),
                              vcm_buf_slice(&lines), err);
    vcm_buf_release(&lines);
    return rc;
}

/* HEAD's tree with our files in it, built in a temporary index. */
static int make_tree(char tree[VCM_COMMIT_ID_BYTES], struct work *w, struct vcm_error *err)
{
    struct vcm_command git = *w->git;
    int rc;

    git.index_file = vcm_buf_text(&w->index_file);
    if (w->head[0])
        rc = vcm_command_read(NULL, &git,
                              VCM_COMMAND_ARGS("-c", "core.splitIndex=false", "read-tree",
                                               "--end-of-options", w->head),
                              no_input, err);
    else
        rc = vcm_command_read(NULL, &git, VCM_COMMAND_ARGS("read-tree", "--empty"), no_input, err);
    if (rc == VCM_OK)
        rc = stage(w, &git, false, err);
    if (rc == VCM_OK)
        rc = read_id(tree, &git, VCM_COMMAND_ARGS("write-tree", "--missing-ok"), no_input, err);
    return rc;
}

static int signs_commits(bool *out, const struct vcm_command *git, struct vcm_error *err)
{
    struct vcm_buf line = VCM_BUF_INIT(LINE_BYTES);
    bool found = false;

    int rc =
        vcm_command_ask(&found, &line, git,
                        VCM_COMMAND_ARGS("config", "--type=bool", "--get", "commit.gpgSign"), err);
    *out = found && strcmp(vcm_buf_text(&line), "true") == 0;
    vcm_buf_release(&line);
    return rc;
}

static int make_commit(char id[VCM_COMMIT_ID_BYTES], struct work *w, const char *tree,
                       struct vcm_error *err)
{
    const char *args[12];
    size_t count = 0;
    bool signs = false;

    int rc = signs_commits(&signs, w->git, err);
    if (rc != VCM_OK)
        return rc;
    args[count++] = "-c";
    args[count++] = "user.useConfigOnly=true";
    args[count++] = "commit-tree";
    if (signs)
        args[count++] = "-S";
    if (w->head[0]) {
        args[count++] = "-p";
        args[count++] = w->head;
    }
    args[count++] = "-F";
    args[count++] = "-";
    args[count++] = tree;
    args[count] = NULL;
    return read_id(id, w->git, args, vcm_slice_of_string(w->request->message), err);
}

static bool write_bytes(int fd, struct vcm_slice content)
{
    errno = vcm_io_write_all(fd, content);
    return errno == 0 && fsync(fd) == 0;
}

/* "." for a file at the root. */
static void directory_of(char out[VCM_LIMIT_NAME_BYTES], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, VCM_LIMIT_NAME_BYTES, "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
}

static int open_directory(int *fd, struct work *w, size_t i, struct vcm_error *err)
{
    char directory[VCM_LIMIT_NAME_BYTES];

    directory_of(directory, w->request->files[i].path);
    if (strcmp(directory, ".") != 0 && mkdirat(w->root_fd, directory, 0777) == 0)
        w->made_directory[i] = true;
    else if (strcmp(directory, ".") != 0 && errno != EEXIST)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot make the directory '%s'", directory);
    *fd = vcm_path_open_beneath(w->root_fd, directory, O_RDONLY | O_DIRECTORY, err);
    return *fd >= 0 ? VCM_OK : VCM_IO_ERROR;
}

/* Opens a file without a name, so that a process that is killed leaves none behind. */
static int open_nameless(int directory)
{
    return openat(directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
}

static bool give_name(int fd, int directory, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Renames without overwriting; link(2) is for file systems that do not support RENAME_NOREPLACE. */
static bool move_new(int directory, const char *from, const char *to)
{
    if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (linkat(directory, from, directory, to, 0) != 0)
        return false;
    unlinkat(directory, from, 0);
    return true;
}

static bool move_over(int directory, const char *from, const char *to)
{
    return renameat(directory, from, directory, to) == 0;
}

/* Writes the whole content under a temporary name, or none where the file system can, and gives it
 * its own name at the end. */
static int place_file(int directory, const char *path, struct vcm_slice content, bool replace,
                      struct vcm_error *err)
{
    const char *name = vcm_path_base_name(vcm_slice_of_string(path)).data;
    char temporary[64];
    struct stat status;

    snprintf(temporary, sizeof temporary, ".vcm-init-%ld", (long)getpid());
    int fd = open_nameless(directory);
    bool nameless = fd >= 0;
    if (!nameless)
        fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0666);
    if (fd < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot write '%s'", path);
    bool done = write_bytes(fd, content);
    if (done && replace)
        done = fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
               fchmod(fd, status.st_mode & 07777) == 0;
    if (done && nameless)
        done = give_name(fd, directory, replace ? temporary : name);
    if (done && (replace || !nameless))
        done =
            replace ? move_over(directory, temporary, name) : move_new(directory, temporary, name);
    int reason = errno;
    close(fd);
    if (!done)
        unlinkat(directory, temporary, 0);
    return done ? VCM_OK : vcm_error_sys(err, VCM_IO_ERROR, reason, "cannot write '%s'", path);
}

static int write_file(struct work *w, size_t i, struct vcm_error *err)
{
    const struct vcm_commit_file *file = &w->request->files[i];
    int directory = -1;

    int rc = open_directory(&directory, w, i, err);
    if (rc == VCM_OK)
        rc = place_file(directory, file->path, file->content, file->before.data != NULL, err);
    w->written[i] = rc == VCM_OK;
    if (directory >= 0)
        close(directory);
    return rc;
}

/* Removes a file that was written, or restores its content, and removes the directory that was
 * created for it. */
static void unwrite_file(struct work *w, size_t i)
{
    const struct vcm_commit_file *file = &w->request->files[i];
    struct vcm_error ignored = {0};
    char name[VCM_LIMIT_NAME_BYTES];
    int directory = -1;

    directory_of(name, file->path);
    if (w->written[i] && file->before.data) {
        directory = vcm_path_open_beneath(w->root_fd, name, O_RDONLY | O_DIRECTORY, &ignored);
        if (directory >= 0)
            place_file(directory, file->path, file->before, true, &ignored);
    } else if (w->written[i]) {
        unlinkat(w->root_fd, file->path, 0);
    }
    if (directory >= 0)
        close(directory);
    if (w->made_directory[i])
        unlinkat(w->root_fd, name, AT_REMOVEDIR);
}

static void undo(struct work *w)
{
    struct vcm_command git = *w->git;
    struct vcm_error ignored = {0};

    git.cancel = NULL; /* the rollback must run also after a cancellation */
    if (w->staged)
        stage(w, &git, true, &ignored);
    for (size_t i = w->request->count; i-- > 0;)
        unwrite_file(w, i);
}

static int move_head(struct work *w, const char *id, struct vcm_error *err)
{
    static const char none[] = "0000000000000000000000000000000000000000";
    struct vcm_error cause = {0};

    int rc = vcm_command_read(NULL, w->git,
                              VCM_COMMAND_ARGS("update-ref", "-m", "commit: vcm init",
                                               "--end-of-options", "HEAD", id,
                                               w->head[0] ? w->head : none),
                              no_input, &cause);
    if (rc == VCM_OK || rc == VCM_INTERRUPTED)
        return rc == VCM_OK ? rc : vcm_error_set(err, cause.code, "%s", cause.message);
    return vcm_error_set(err, cause.code,
                         "the branch could not be moved; did it change meanwhile? %s",
                         cause.message);
}

/* The step that cannot be undone, moving the branch, is last. */
static int apply(char id[VCM_COMMIT_ID_BYTES], struct work *w, struct vcm_error *err)
{
    const char *paths[VCM_COMMIT_FILES_MAX];
    char tree[VCM_COMMIT_ID_BYTES];
    int rc;

    for (size_t i = 0; i < w->request->count; i++)
        paths[i] = w->request->files[i].path;
    rc = vcm_commit_look_up(w->entries, w->git, paths, w->request->count, err);
    for (size_t i = 0; rc == VCM_OK && i < w->request->count; i++)
        rc = hash_file(w, i, err);
    if (rc == VCM_OK)
        rc = make_tree(tree, w, err);
    if (rc == VCM_OK)
        rc = make_commit(id, w, tree, err);
    for (size_t i = 0; rc == VCM_OK && i < w->request->count; i++)
        rc = write_file(w, i, err);
    if (rc == VCM_OK) {
        rc = stage(w, w->git, false, err);
        w->staged = rc == VCM_OK;
    }
    if (rc == VCM_OK && w->request->made)
        w->request->made(w->request->context, id);
    if (rc == VCM_OK)
        rc = move_head(w, id, err);
    if (rc != VCM_OK)
        undo(w);
    return rc;
}

static int open_work(struct work *w, struct vcm_error *err)
{
    int rc = vcm_commit_head(w->head, w->git, err);
    if (rc == VCM_OK)
        rc = vcm_command_read(&w->index_file, w->git,
                              VCM_COMMAND_ARGS("rev-parse", "--absolute-git-dir"), no_input, err);
    vcm_buf_append_format(&w->index_file, "/vcm-init-%ld.index", (long)getpid());
    if (rc == VCM_OK)
        rc = vcm_buf_check(&w->index_file, "the path of the repository", err);
    if (rc != VCM_OK)
        return rc;
    w->root_fd = open(w->git->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w->root_fd < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open '%s'", w->git->directory);
    return VCM_OK;
}

int vcm_commit_files(char id[VCM_COMMIT_ID_BYTES], const struct vcm_command *git,
                     const struct vcm_commit_request *request, struct vcm_error *err)
{
    struct work w = {.git = git, .request = request, .root_fd = -1};

    assert(request->count > 0 && request->count <= VCM_COMMIT_FILES_MAX);
    id[0] = '\0';
    vcm_buf_init(&w.index_file, VCM_LIMIT_PATH_BYTES);
    int rc = open_work(&w, err);
    if (rc == VCM_OK)
        rc = apply(id, &w, err);
    if (w.root_fd >= 0) {
        unlink(vcm_buf_text(&w.index_file));
        close(w.root_fd);
    }
    vcm_buf_release(&w.index_file);
    if (rc != VCM_OK)
        id[0] = '\0';
    return rc;
}
