#include "git/tree.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "git/internal.h"
#include "git/notes.h"
#include "git/tree_count.h"
#include "git/tree_object.h"

#include "base/banned.h"

#define CANCEL_CHECK_ENTRIES 256
/* When so many entries were visited in directories that were visited before, under another path,
 * all of them are counted first: most repositories share a few directories and never pay for it. */
#define REPEATED_ENTRIES 10000

#define NOTHING_TO_VISIT SIZE_MAX

struct frame {
    struct vcm_git_tree_object *tree;
    struct vcm_git_tree_object *base; /* the same directory of the base, or NULL */
    size_t next;                      /* NOTHING_TO_VISIT in directories above start_dir */
    bool in_directories;              /* its leaves were visited */
    bool is_repeated;                 /* it, or a directory above, was visited before */
    size_t path_len;                  /* of the directory, its slash included */
};

struct vcm_git_directory {
    const struct vcm_git_tree_object *tree;
    const struct vcm_git_tree_object *base;
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
    size_t first;              /* the frame of the directory where the walk begins */
    struct vcm_git_notes seen; /* the trees that were entered */
    uint64_t entries;    /* with directories: shared subtrees can make more than any disk holds */
    uint64_t repeated;   /* of them, those in directories that were visited before */
    uint64_t path_bytes; /* of all paths */
};

/* Modes that git does not write are treated as files: their bytes can be read. */
static bool same_id(const struct vcm_git_id *a, const struct vcm_git_id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

/* The directory `name` of `above`; `path` names it in errors. */
static int load_below(struct vcm_git_tree_object **out, struct vcm_git_repo *repo,
                      const struct vcm_git_tree_object *above, const char *name, const char *path,
                      struct vcm_error *err)
{
    const struct vcm_git_tree_item *item = vcm_git_tree_object_find(above, name);

    *out = NULL;
    if (!item)
        return vcm_error_set(err, VCM_NOT_FOUND, "no directory '%s' in the tree", path);
    if (!vcm_git_tree_object_is_directory(item))
        return vcm_error_set(err, VCM_NOT_FOUND, "'%s' is no directory of the tree", path);
    return vcm_git_tree_object_open(out, repo, &item->id, path, err);
}

/* Moves from *tree, which it closes, into the directory `name`. *tree is NULL after a failure. */
static int descend(struct vcm_git_tree_object **tree, struct vcm_git_repo *repo, const char *name,
                   const char *path, struct vcm_error *err)
{
    struct vcm_git_tree_object *inner = NULL;
    int rc = load_below(&inner, repo, *tree, name, path, err);

    vcm_git_tree_object_close(*tree);
    *tree = inner;
    return rc;
}

/* The tree of a directory given by its path, "" for the root. */
static int find_tree(struct vcm_git_tree_object **out, struct vcm_git_repo *repo,
                     const struct vcm_git_id *commit, struct vcm_slice path, struct vcm_error *err)
{
    struct vcm_buf parts = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_git_tree_object *tree = NULL;

    *out = NULL;
    vcm_buf_append_slice(&parts, path);
    int rc = vcm_buf_check(&parts, "the path of a directory", err);
    if (rc == VCM_OK)
        rc = vcm_git_tree_object_open_root(&tree, repo, commit, err);
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
        vcm_git_tree_object_close(tree);
    return rc;
}

/* The base's directory of the same path; NULL also when it cannot be read. */
static struct vcm_git_tree_object *load_base(const struct walk *walk, const char *name)
{
    const struct vcm_git_tree_object *above =
        walk->depth > 0 ? walk->frames[walk->depth - 1].base : NULL;
    const struct vcm_git_tree_item *item = above ? vcm_git_tree_object_find(above, name) : NULL;
    struct vcm_git_tree_object *tree = NULL;
    struct vcm_error ignored = {0};

    if (item && vcm_git_tree_object_is_directory(item))
        vcm_git_tree_object_open(&tree, walk->repo, &item->id, name, &ignored);
    return tree;
}

static struct vcm_git_tree_object *load_base_root(const struct walk *walk)
{
    struct vcm_git_tree_object *tree = NULL;
    struct vcm_error ignored = {0};

    if (walk->visitor->base)
        vcm_git_tree_object_open_root(&tree, walk->repo, walk->visitor->base, &ignored);
    return tree;
}

/* Whether the tree, or one that it is in, was entered before. */
static int look_for_repetition(bool *is_repeated, struct walk *walk,
                               const struct vcm_git_tree_object *tree, struct vcm_error *err)
{
    uint64_t key = vcm_git_tree_count_key(&tree->id), ignored;

    *is_repeated = (walk->depth > 0 && walk->frames[walk->depth - 1].is_repeated) ||
                   vcm_git_notes_get(&ignored, &walk->seen, key);
    return *is_repeated ? VCM_OK : vcm_git_notes_put(&walk->seen, key, 1, err);
}

/* Takes over the trees. walk->path is their path, without a slash at its end. */
static int push(struct walk *walk, struct vcm_git_tree_object *tree,
                struct vcm_git_tree_object *base, size_t next, struct vcm_error *err)
{
    const struct vcm_git_directory directory = {tree, base, vcm_buf_slice(&walk->path)};
    bool is_repeated;
    int rc = look_for_repetition(&is_repeated, walk, tree, err);

    if (rc == VCM_OK && walk->depth == VCM_LIMIT_TREE_DEPTH)
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "directories are nested deeper than %d: '%s'",
                           VCM_LIMIT_TREE_DEPTH, vcm_buf_text(&walk->path));
    else if (rc == VCM_OK && walk->visitor->enter)
        rc = walk->visitor->enter(walk->context, &directory, err);
    if (rc != VCM_OK) {
        vcm_git_tree_object_close(tree);
        vcm_git_tree_object_close(base);
        return rc;
    }
    if (walk->path.len > 0)
        vcm_buf_append_byte(&walk->path, '/');
    walk->frames[walk->depth++] =
        (struct frame){tree, base, next, next == NOTHING_TO_VISIT, is_repeated, walk->path.len};
    return vcm_buf_check(&walk->path, "a path of the tree", err);
}

static void pop(struct walk *walk)
{
    assert(walk->frames && walk->depth > 0);
    walk->depth--;
    vcm_git_tree_object_close(walk->frames[walk->depth].tree);
    vcm_git_tree_object_close(walk->frames[walk->depth].base);
    if (walk->visitor->leave)
        walk->visitor->leave(walk->context);
}

/* Enters the directories from the root to the one where the walk begins. */
static int start(struct walk *walk, const struct vcm_git_id *commit, struct vcm_slice directory,
                 struct vcm_error *err)
{
    struct vcm_git_tree_object *tree = NULL;

    int rc = vcm_git_tree_object_open_root(&tree, walk->repo, commit, err);
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
    walk->first = walk->depth > 0 ? walk->depth - 1 : 0;
    return rc;
}

static int count_entry(struct walk *walk, struct vcm_error *err)
{
    if (walk->entries >= vcm_cancel_entries_max(walk->cancel))
        return vcm_git_tree_count_refuse(walk->cancel, err);
    if (walk->frames[walk->depth - 1].is_repeated && ++walk->repeated == REPEATED_ENTRIES) {
        const struct vcm_git_tree_object *first = walk->frames[walk->first].tree;
        int rc = vcm_git_tree_count_check(walk->repo, &first->id, walk->cancel, err);
        if (rc != VCM_OK)
            return rc;
    }
    if (walk->entries++ % CANCEL_CHECK_ENTRIES == 0)
        return vcm_cancel_check(walk->cancel, err);
    return VCM_OK;
}

/* A deep directory makes long paths of short names: visitors keep whole paths. */
static int count_path(struct walk *walk, struct vcm_error *err)
{
    walk->path_bytes += walk->path.len;
    if (walk->path_bytes / VCM_LIMIT_TREE_PATH_MEAN <= vcm_cancel_entries_max(walk->cancel))
        return VCM_OK;
    return vcm_error_set(err, VCM_UNSUPPORTED,
                         "the paths of the tree have more than %llu bytes together, %zu for each "
                         "entry of walk.max_entries",
                         (unsigned long long)(walk->path_bytes - 1), VCM_LIMIT_TREE_PATH_MEAN);
}

/* Asks the visitor whether to enter a directory that is unchanged. */
static int ask_unchanged(bool *skip, const struct walk *walk, const struct vcm_git_tree_item *item,
                         struct vcm_error *err)
{
    const struct vcm_git_tree_object *base = walk->frames[walk->depth - 1].base;
    const struct vcm_git_tree_item *was = base ? vcm_git_tree_object_find(base, item->name) : NULL;

    *skip = false;
    if (!walk->visitor->unchanged || !was || !vcm_git_tree_object_is_directory(was) ||
        !same_id(&was->id, &item->id))
        return VCM_OK;
    return walk->visitor->unchanged(walk->context, vcm_buf_slice(&walk->path), skip, err);
}

/* A partial clone may lack the tree of a directory. `rc` says why it could not be read. */
static int pass_missing(const struct walk *walk, const struct vcm_git_id *id, int rc,
                        struct vcm_error *err)
{
    if (!walk->visitor->missing || rc != VCM_NOT_FOUND)
        return rc;
    vcm_error_reset(err);
    return walk->visitor->missing(walk->context, vcm_buf_slice(&walk->path), id, err);
}

static int enter_directory(struct walk *walk, const struct vcm_git_tree_item *item,
                           struct vcm_error *err)
{
    struct vcm_git_tree_object *tree = NULL;
    bool skip;

    int rc = ask_unchanged(&skip, walk, item, err);
    if (rc != VCM_OK || skip)
        return rc;
    rc = vcm_git_tree_object_open(&tree, walk->repo, &item->id, vcm_buf_text(&walk->path), err);
    if (rc != VCM_OK)
        return pass_missing(walk, &item->id, rc, err);
    return push(walk, tree, load_base(walk, item->name), 0, err);
}

static int pass_refused(struct walk *walk, const struct vcm_git_tree_item *item,
                        struct vcm_error *err)
{
    struct vcm_git_entry entry;

    if (!walk->visitor->refused)
        return VCM_OK;
    vcm_utf8_escape_name(&walk->path, vcm_slice_of(item->name, item->name_len),
                         item->refusal == VCM_GIT_REFUSED_NAME);
    int rc = vcm_buf_check(&walk->path, "a path of the tree", err);
    if (rc != VCM_OK)
        return rc;
    vcm_git_tree_object_to_entry(&entry, vcm_buf_slice(&walk->path), item);
    return walk->visitor->refused(walk->context, &entry, vcm_git_tree_object_is_directory(item),
                                  item->refusal, err);
}

static int visit_item(struct walk *walk, const struct vcm_git_tree_item *item,
                      struct vcm_error *err)
{
    struct vcm_git_entry leaf;

    int rc = count_entry(walk, err);
    if (rc != VCM_OK)
        return rc;
    if (item->refusal != VCM_GIT_ACCEPTED)
        return pass_refused(walk, item, err);
    vcm_buf_append(&walk->path, item->name, item->name_len);
    rc = vcm_buf_check(&walk->path, "a path of the tree", err);
    if (rc == VCM_OK)
        rc = count_path(walk, err);
    if (rc != VCM_OK)
        return rc;
    if (vcm_git_tree_object_is_directory(item))
        return enter_directory(walk, item, err);
    vcm_git_tree_object_to_entry(&leaf, vcm_buf_slice(&walk->path), item);
    return walk->visitor->entry(walk->context, &leaf, err);
}

static int run(struct walk *walk, struct vcm_error *err)
{
    int rc = vcm_cancel_check(walk->cancel, err);

    while (rc == VCM_OK && walk->depth > 0) {
        struct frame *frame = &walk->frames[walk->depth - 1];
        vcm_buf_truncate(&walk->path, frame->path_len);
        if (frame->next < frame->tree->count) {
            const struct vcm_git_tree_item *item = &frame->tree->items[frame->next++];
            if (vcm_git_tree_object_is_directory(item) == frame->in_directories)
                rc = visit_item(walk, item, err);
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
    vcm_git_notes_release(&walk.seen);
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
    const struct vcm_git_tree_item *item = vcm_git_tree_object_find(directory->tree, name);

    memset(out, 0, sizeof *out);
    if (!item || vcm_git_tree_object_is_directory(item))
        return false;
    vcm_git_tree_object_to_entry(out, vcm_slice_of_string(name), item);
    return true;
}

bool vcm_git_tree_directory_same_entry(const struct vcm_git_directory *directory, const char *name)
{
    if (!directory->base)
        return false;
    const struct vcm_git_tree_item *now = vcm_git_tree_object_find(directory->tree, name);
    const struct vcm_git_tree_item *was = vcm_git_tree_object_find(directory->base, name);
    if (!now || !was)
        return now == was;
    return now->mode == was->mode && same_id(&now->id, &was->id);
}

int vcm_git_tree_entry(struct vcm_git_entry *out, struct vcm_git_repo *repo,
                       const struct vcm_git_id *commit, const char *path, struct vcm_error *err)
{
    struct vcm_slice directory = {path, 0};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    struct vcm_git_tree_object *tree = NULL;

    memset(out, 0, sizeof *out);
    if (path[0] == '/')
        return vcm_error_set(err, VCM_NOT_FOUND, "no file '%s' in the tree", path);
    if (slash)
        directory.len = (size_t)(slash - path);
    int rc = find_tree(&tree, repo, commit, directory, err);
    if (rc != VCM_OK)
        return rc;
    const struct vcm_git_tree_item *item = vcm_git_tree_object_find(tree, name);
    if (!item)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "no file '%s' in the tree", path);
    else if (vcm_git_tree_object_is_directory(item))
        rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' is a directory", path);
    else
        vcm_git_tree_object_to_entry(out, vcm_slice_of_string(path), item);
    vcm_git_tree_object_close(tree);
    return rc;
}

int vcm_git_tree_check_size(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                            const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct vcm_git_tree_object *tree = NULL;

    int rc = vcm_git_tree_object_open_root(&tree, repo, commit, err);
    if (rc == VCM_OK)
        rc = vcm_git_tree_count_check(repo, &tree->id, cancel, err);
    vcm_git_tree_object_close(tree);
    return rc;
}

int vcm_git_tree_id(struct vcm_git_id *out, struct vcm_git_repo *repo,
                    const struct vcm_git_id *commit, const char *directory, struct vcm_error *err)
{
    struct vcm_git_tree_object *tree = NULL;

    int rc = find_tree(&tree, repo, commit, vcm_slice_of_string(directory), err);
    if (rc == VCM_OK)
        *out = tree->id;
    vcm_git_tree_object_close(tree);
    return rc;
}

int vcm_git_tree_has_directory(bool *found, struct vcm_git_repo *repo,
                               const struct vcm_git_id *commit, const char *path,
                               struct vcm_error *err)
{
    struct vcm_slice directory = vcm_slice_of_string(path);
    struct vcm_error reason = {0};
    struct vcm_git_tree_object *tree = NULL;

    while (directory.len > 0 && directory.data[directory.len - 1] == '/')
        directory.len--;
    int rc = find_tree(&tree, repo, commit, directory, &reason);
    vcm_git_tree_object_close(tree);
    *found = rc == VCM_OK;
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK && err)
        *err = reason;
    return rc;
}
