#include "git/tree.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "git/internal.h"

#include "base/banned.h"

#define CANCEL_CHECK_ENTRIES 256
#define MODE_TYPE            0170000u
#define MODE_DIRECTORY       0040000u
#define MODE_SYMLINK         0120000u
#define MODE_SUBMODULE       0160000u
#define MODE_EXECUTE         0000100u

#define NOTHING_TO_VISIT SIZE_MAX

struct frame {
    git_tree *tree;
    git_tree *base;      /* the same directory of the base, or NULL */
    size_t next;         /* NOTHING_TO_VISIT in directories above start_dir */
    bool in_directories; /* its leaves were visited */
    size_t path_len;     /* of the directory, its slash included */
};

struct vcm_git_directory {
    const git_tree *tree;
    const git_tree *base;
    struct vcm_slice path;
};

struct walk {
    struct vcm_git_repo *repo;
    const struct vcm_git_visitor *visitor;
    void *context;
    const struct vcm_cancel *cancel;
    struct vcm_buf path;
    struct frame *frames; /* VCM_LIMIT_TREE_DEPTH of them */
    size_t depth;
    size_t entries; /* with directories: shared subtrees can make more than any disk holds */
};

static unsigned mode_type(const git_tree_entry *entry)
{
    return (unsigned)vcm_libgit2.tree_entry_filemode_raw(entry) & MODE_TYPE;
}

/* Modes that git does not write are treated as files: their bytes can be read. */
static enum vcm_git_kind kind_of(const git_tree_entry *entry)
{
    unsigned mode = (unsigned)vcm_libgit2.tree_entry_filemode_raw(entry);

    switch (mode & MODE_TYPE) {
    case MODE_SYMLINK:
        return VCM_GIT_SYMLINK;
    case MODE_SUBMODULE:
        return VCM_GIT_SUBMODULE;
    default:
        return mode & MODE_EXECUTE ? VCM_GIT_EXECUTABLE : VCM_GIT_FILE;
    }
}

static void fill_entry(struct vcm_git_entry *out, struct vcm_slice path,
                       const git_tree_entry *entry)
{
    out->path = path;
    out->kind = kind_of(entry);
    vcm_git_internal_from_oid(&out->id, vcm_libgit2.tree_entry_id(entry));
}

static int load_tree(git_tree **out, struct vcm_git_repo *repo, const git_oid *id, const char *path,
                     struct vcm_error *err)
{
    *out = NULL;
    int git_code = vcm_libgit2.tree_lookup(out, repo->handle, id);
    if (git_code == 0)
        return VCM_OK;
    if (path[0] == '\0')
        return vcm_git_internal_error(err, git_code, "cannot read the root directory");
    return vcm_git_internal_error(err, git_code, "cannot read the directory '%s'", path);
}

static int load_root(git_tree **out, struct vcm_git_repo *repo, const struct vcm_git_id *id,
                     struct vcm_error *err)
{
    git_commit *commit = NULL;
    git_oid oid;

    *out = NULL;
    vcm_git_internal_to_oid(&oid, id);
    int git_code = vcm_libgit2.commit_lookup(&commit, repo->handle, &oid);
    if (git_code != 0) {
        char hex[VCM_GIT_ID_HEX + 1];
        vcm_git_repo_id_to_hex(hex, id);
        return vcm_git_internal_error(err, git_code, "cannot read the commit %s", hex);
    }
    int rc = load_tree(out, repo, vcm_libgit2.commit_tree_id(commit), "", err);
    vcm_libgit2.commit_free(commit);
    return rc;
}

/* The directory `name` of `above`; `path` names it in errors. */
static int load_below(git_tree **out, struct vcm_git_repo *repo, const git_tree *above,
                      const char *name, const char *path, struct vcm_error *err)
{
    const git_tree_entry *entry = vcm_libgit2.tree_entry_byname(above, name);

    *out = NULL;
    if (!entry)
        return vcm_error_set(err, VCM_NOT_FOUND, "no directory '%s' in the tree", path);
    if (mode_type(entry) != MODE_DIRECTORY)
        return vcm_error_set(err, VCM_NOT_FOUND, "'%s' is no directory of the tree", path);
    return load_tree(out, repo, vcm_libgit2.tree_entry_id(entry), path, err);
}

/* Moves from *tree, which it frees, into the directory `name`. *tree is NULL after a failure. */
static int descend(git_tree **tree, struct vcm_git_repo *repo, const char *name, const char *path,
                   struct vcm_error *err)
{
    git_tree *inner = NULL;
    int rc = load_below(&inner, repo, *tree, name, path, err);

    vcm_libgit2.tree_free(*tree);
    *tree = inner;
    return rc;
}

/* The tree of a directory given by its path, "" for the root. */
static int find_tree(git_tree **out, struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                     struct vcm_slice path, struct vcm_error *err)
{
    struct vcm_buf parts = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    git_tree *tree = NULL;

    *out = NULL;
    vcm_buf_append_slice(&parts, path);
    int rc = vcm_buf_check(&parts, "the path of a directory", err);
    if (rc == VCM_OK)
        rc = load_root(&tree, repo, commit, err);
    char *name = parts.data;
    while (rc == VCM_OK && name) {
        /* Cuts the string behind this part: then it ends with the name, and `parts` is the path so
         * far. */
        char *slash = strchr(name, '/');
        if (slash)
            *slash = '\0';
        rc = descend(&tree, repo, name, parts.data, err);
        if (slash)
            *slash = '/';
        name = slash ? slash + 1 : NULL;
    }
    vcm_buf_release(&parts);
    if (rc == VCM_OK)
        *out = tree;
    else
        vcm_libgit2.tree_free(tree);
    return rc;
}

/* A base directory with the same name twice is not used: it is unclear which of the two to compare
 * with. */
static git_tree *refuse_doubles(git_tree *base)
{
    size_t count = base ? vcm_libgit2.tree_entrycount(base) : 0;

    for (size_t i = 1; i < count; i++)
        if (strcmp(vcm_libgit2.tree_entry_name(vcm_libgit2.tree_entry_byindex(base, i - 1)),
                   vcm_libgit2.tree_entry_name(vcm_libgit2.tree_entry_byindex(base, i))) == 0) {
            vcm_libgit2.tree_free(base);
            return NULL;
        }
    return base;
}

/* The base's directory of the same path; NULL also when it cannot be read. */
static git_tree *load_base(const struct walk *walk, const char *name)
{
    const git_tree *above = walk->depth > 0 ? walk->frames[walk->depth - 1].base : NULL;
    const git_tree_entry *entry = above ? vcm_libgit2.tree_entry_byname(above, name) : NULL;
    git_tree *tree = NULL;

    if (!entry || mode_type(entry) != MODE_DIRECTORY ||
        vcm_libgit2.tree_lookup(&tree, walk->repo->handle, vcm_libgit2.tree_entry_id(entry)) != 0)
        return NULL;
    return refuse_doubles(tree);
}

static git_tree *load_base_root(const struct walk *walk)
{
    struct vcm_error ignored = {0};
    git_tree *tree = NULL;

    if (walk->visitor->base)
        load_root(&tree, walk->repo, walk->visitor->base, &ignored);
    return refuse_doubles(tree);
}

/* Takes over the trees. walk->path is their path, without a slash at its end. */
static int push(struct walk *walk, git_tree *tree, git_tree *base, size_t next,
                struct vcm_error *err)
{
    const struct vcm_git_directory directory = {tree, base, vcm_buf_slice(&walk->path)};
    int rc = VCM_OK;

    if (walk->depth == VCM_LIMIT_TREE_DEPTH)
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "directories are nested deeper than %d: '%s'",
                           VCM_LIMIT_TREE_DEPTH, vcm_buf_text(&walk->path));
    else if (walk->visitor->enter)
        rc = walk->visitor->enter(walk->context, &directory, err);
    if (rc != VCM_OK) {
        vcm_libgit2.tree_free(tree);
        vcm_libgit2.tree_free(base);
        return rc;
    }
    if (walk->path.len > 0)
        vcm_buf_append_byte(&walk->path, '/');
    walk->frames[walk->depth++] =
        (struct frame){tree, base, next, next == NOTHING_TO_VISIT, walk->path.len};
    return vcm_buf_check(&walk->path, "a path of the tree", err);
}

static void pop(struct walk *walk)
{
    assert(walk->frames && walk->depth > 0);
    walk->depth--;
    vcm_libgit2.tree_free(walk->frames[walk->depth].tree);
    vcm_libgit2.tree_free(walk->frames[walk->depth].base);
    if (walk->visitor->leave)
        walk->visitor->leave(walk->context);
}

/* Enters the directories from the root to the one where the walk begins. */
static int start(struct walk *walk, const struct vcm_git_id *commit, struct vcm_slice directory,
                 struct vcm_error *err)
{
    git_tree *tree = NULL;

    int rc = load_root(&tree, walk->repo, commit, err);
    if (rc == VCM_OK)
        rc = push(walk, tree, load_base_root(walk), directory.len > 0 ? NOTHING_TO_VISIT : 0, err);
    while (rc == VCM_OK && directory.len > 0) {
        const char *slash = memchr(directory.data, '/', directory.len);
        size_t len = slash ? (size_t)(slash - directory.data) : directory.len;
        size_t above_len = walk->path.len;
        vcm_buf_append(&walk->path, directory.data, len);
        directory.data += slash ? len + 1 : len;
        directory.len -= slash ? len + 1 : len;
        rc = vcm_buf_check(&walk->path, "the path of a directory", err);
        const char *name = vcm_buf_text(&walk->path) + above_len;
        if (rc == VCM_OK)
            rc = load_below(&tree, walk->repo, walk->frames[walk->depth - 1].tree, name,
                            vcm_buf_text(&walk->path), err);
        if (rc == VCM_OK)
            rc = push(walk, tree, load_base(walk, name), slash ? NOTHING_TO_VISIT : 0, err);
    }
    return rc;
}

static int count_entry(struct walk *walk, struct vcm_error *err)
{
    if (walk->entries == VCM_LIMIT_TREE_ENTRIES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "the tree has more than %zu entries",
                             VCM_LIMIT_TREE_ENTRIES);
    if (walk->entries++ % CANCEL_CHECK_ENTRIES == 0)
        return vcm_cancel_check(walk->cancel, err);
    return VCM_OK;
}

/* Asks the visitor whether to enter a directory that is unchanged. */
static int ask_unchanged(bool *skip, const struct walk *walk, const git_tree_entry *entry,
                         struct vcm_error *err)
{
    const git_tree *base = walk->frames[walk->depth - 1].base;
    const git_tree_entry *was =
        base ? vcm_libgit2.tree_entry_byname(base, vcm_libgit2.tree_entry_name(entry)) : NULL;

    *skip = false;
    if (!walk->visitor->unchanged || !was || mode_type(was) != MODE_DIRECTORY ||
        !vcm_libgit2.oid_equal(vcm_libgit2.tree_entry_id(was), vcm_libgit2.tree_entry_id(entry)))
        return VCM_OK;
    return walk->visitor->unchanged(walk->context, vcm_buf_slice(&walk->path), skip, err);
}

/* A partial clone may lack the tree of a directory. `rc` says why it could not be read. */
static int pass_missing(const struct walk *walk, const git_oid *oid, int rc, struct vcm_error *err)
{
    struct vcm_git_id id;

    if (!walk->visitor->missing || vcm_libgit2.odb_exists(walk->repo->odb, oid))
        return rc;
    vcm_error_reset(err);
    vcm_git_internal_from_oid(&id, oid);
    return walk->visitor->missing(walk->context, vcm_buf_slice(&walk->path), &id, err);
}

static int visit_entry(struct walk *walk, const git_tree_entry *entry, struct vcm_error *err)
{
    struct vcm_git_entry leaf;
    git_tree *tree = NULL;
    bool skip;

    int rc = count_entry(walk, err);
    if (rc != VCM_OK)
        return rc;
    vcm_buf_append_string(&walk->path, vcm_libgit2.tree_entry_name(entry));
    rc = vcm_buf_check(&walk->path, "a path of the tree", err);
    if (rc != VCM_OK)
        return rc;
    if (mode_type(entry) != MODE_DIRECTORY) {
        fill_entry(&leaf, vcm_buf_slice(&walk->path), entry);
        return walk->visitor->entry(walk->context, &leaf, err);
    }
    rc = ask_unchanged(&skip, walk, entry, err);
    if (rc != VCM_OK || skip)
        return rc;
    rc = load_tree(&tree, walk->repo, vcm_libgit2.tree_entry_id(entry), vcm_buf_text(&walk->path),
                   err);
    if (rc != VCM_OK)
        return pass_missing(walk, vcm_libgit2.tree_entry_id(entry), rc, err);
    return push(walk, tree, load_base(walk, vcm_libgit2.tree_entry_name(entry)), 0, err);
}

static int run(struct walk *walk, struct vcm_error *err)
{
    int rc = vcm_cancel_check(walk->cancel, err);

    while (rc == VCM_OK && walk->depth > 0) {
        struct frame *frame = &walk->frames[walk->depth - 1];
        vcm_buf_truncate(&walk->path, frame->path_len);
        if (frame->next < vcm_libgit2.tree_entrycount(frame->tree)) {
            const git_tree_entry *entry =
                vcm_libgit2.tree_entry_byindex(frame->tree, frame->next++);
            if ((mode_type(entry) == MODE_DIRECTORY) == frame->in_directories)
                rc = visit_entry(walk, entry, err);
        } else if (!frame->in_directories) {
            frame->in_directories = true;
            frame->next = 0;
        } else {
            pop(walk);
        }
    }
    return rc;
}

int vcm_git_tree_visit(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                       const char *start_dir, const struct vcm_git_visitor *visitor, void *context,
                       const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct walk walk = {.repo = repo, .visitor = visitor, .context = context, .cancel = cancel};
    struct vcm_slice directory = vcm_slice_of_string(start_dir);

    while (directory.len > 0 && directory.data[directory.len - 1] == '/')
        directory.len--;
    walk.frames = calloc(VCM_LIMIT_TREE_DEPTH, sizeof *walk.frames);
    if (!walk.frames)
        return vcm_error_memory(err);
    vcm_buf_init(&walk.path, VCM_LIMIT_TREE_PATH_BYTES);
    int rc = start(&walk, commit, directory, err);
    if (rc == VCM_OK)
        rc = run(&walk, err);
    while (walk.depth > 0)
        pop(&walk);
    free(walk.frames);
    vcm_buf_release(&walk.path);
    return rc;
}

int vcm_git_tree_walk(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                      const char *start_dir, vcm_git_entry_fn visit, void *context,
                      const struct vcm_cancel *cancel, struct vcm_error *err)
{
    const struct vcm_git_visitor visitor = {.entry = visit};

    return vcm_git_tree_visit(repo, commit, start_dir, &visitor, context, cancel, err);
}

struct vcm_slice vcm_git_tree_directory_path(const struct vcm_git_directory *directory)
{
    return directory->path;
}

bool vcm_git_tree_directory_entry(struct vcm_git_entry *out,
                                  const struct vcm_git_directory *directory, const char *name)
{
    const git_tree_entry *entry = vcm_libgit2.tree_entry_byname(directory->tree, name);

    memset(out, 0, sizeof *out);
    if (!entry || mode_type(entry) == MODE_DIRECTORY)
        return false;
    fill_entry(out, vcm_slice_of_string(name), entry);
    return true;
}

bool vcm_git_tree_directory_same_entry(const struct vcm_git_directory *directory, const char *name)
{
    if (!directory->base)
        return false;
    const git_tree_entry *now = vcm_libgit2.tree_entry_byname(directory->tree, name);
    const git_tree_entry *was = vcm_libgit2.tree_entry_byname(directory->base, name);
    if (!now || !was)
        return now == was;
    return vcm_libgit2.tree_entry_filemode_raw(now) == vcm_libgit2.tree_entry_filemode_raw(was) &&
           vcm_libgit2.oid_equal(vcm_libgit2.tree_entry_id(now), vcm_libgit2.tree_entry_id(was));
}

int vcm_git_tree_entry(struct vcm_git_entry *out, struct vcm_git_repo *repo,
                       const struct vcm_git_id *commit, const char *path, struct vcm_error *err)
{
    struct vcm_slice directory = {path, 0};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    git_tree *tree = NULL;

    memset(out, 0, sizeof *out);
    if (path[0] == '/')
        return vcm_error_set(err, VCM_NOT_FOUND, "no file '%s' in the tree", path);
    if (slash)
        directory.len = (size_t)(slash - path);
    int rc = find_tree(&tree, repo, commit, directory, err);
    if (rc != VCM_OK)
        return rc;
    const git_tree_entry *entry = vcm_libgit2.tree_entry_byname(tree, name);
    if (!entry)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "no file '%s' in the tree", path);
    else if (mode_type(entry) == MODE_DIRECTORY)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' is a directory", path);
    else
        fill_entry(out, vcm_slice_of_string(path), entry);
    vcm_libgit2.tree_free(tree);
    return rc;
}

int vcm_git_tree_id(struct vcm_git_id *out, struct vcm_git_repo *repo,
                    const struct vcm_git_id *commit, const char *directory, struct vcm_error *err)
{
    git_tree *tree = NULL;

    int rc = find_tree(&tree, repo, commit, vcm_slice_of_string(directory), err);
    if (rc == VCM_OK)
        memcpy(out->bytes, vcm_libgit2.tree_id(tree)->id, VCM_GIT_ID_BYTES);
    vcm_libgit2.tree_free(tree);
    return rc;
}

int vcm_git_tree_has_directory(bool *found, struct vcm_git_repo *repo,
                               const struct vcm_git_id *commit, const char *path,
                               struct vcm_error *err)
{
    struct vcm_slice directory = vcm_slice_of_string(path);
    struct vcm_error reason = {0};
    git_tree *tree = NULL;

    while (directory.len > 0 && directory.data[directory.len - 1] == '/')
        directory.len--;
    int rc = find_tree(&tree, repo, commit, directory, &reason);
    vcm_libgit2.tree_free(tree);
    *found = rc == VCM_OK;
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK && err)
        *err = reason;
    return rc;
}
