#include "git/tree_object.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "git/clone_repair.h"
#include "git/tree_name.h"

#include "base/banned.h"

#define MODE_TYPE       0170000u
#define MODE_DIRECTORY  0040000u
#define MODE_SYMLINK    0120000u
#define MODE_SUBMODULE  0160000u
#define MODE_EXECUTE    0100u
#define MODE_DIGITS_MAX 7

bool vcm_git_tree_object_is_directory(const struct vcm_git_tree_item *item)
{
    return (item->mode & MODE_TYPE) == MODE_DIRECTORY;
}

static enum vcm_git_kind kind_of(unsigned mode)
{
    switch (mode & MODE_TYPE) {
    case MODE_SYMLINK:
        return VCM_GIT_SYMLINK;
    case MODE_SUBMODULE:
        return VCM_GIT_SUBMODULE;
    default:
        return mode & MODE_EXECUTE ? VCM_GIT_EXECUTABLE : VCM_GIT_FILE;
    }
}

void vcm_git_tree_object_to_entry(struct vcm_git_entry *out, struct vcm_slice path,
                                  const struct vcm_git_tree_item *item)
{
    out->path = path;
    out->kind = kind_of(item->mode);
    out->id = item->id;
}

/* git's order: a directory is compared as if its name ended with a slash. */
static int compare_names(const char *a, size_t a_len, bool a_is_directory,
                         const struct vcm_git_tree_item *b)
{
    size_t common = a_len < b->name_len ? a_len : b->name_len;
    int order = memcmp(a, b->name, common);

    if (order != 0)
        return order;
    /* One of the two ends here: its NUL is below everything. */
    unsigned char x = (unsigned char)a[common];
    unsigned char y = (unsigned char)b->name[common];
    if (x == '\0' && a_is_directory)
        x = '/';
    if (y == '\0' && vcm_git_tree_object_is_directory(b))
        y = '/';
    return (x > y) - (x < y);
}

int vcm_git_tree_object_compare(const struct vcm_git_tree_item *a,
                                const struct vcm_git_tree_item *b)
{
    return compare_names(a->name, a->name_len, vcm_git_tree_object_is_directory(a), b);
}

/* Equal entries stay in the order of the tree, whose bytes the names point into. */
static int by_name_and_place(const void *a, const void *b)
{
    const struct vcm_git_tree_item *x = a, *y = b;
    int order = vcm_git_tree_object_compare(x, y);

    return order != 0 ? order : (x->name > y->name) - (x->name < y->name);
}

/* The first entry of this name among files or among directories, or NULL. */
static struct vcm_git_tree_item *find_kind(const struct vcm_git_tree_object *tree, const char *name,
                                           size_t len, bool is_directory)
{
    size_t low = 0, high = tree->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(name, len, is_directory, &tree->items[middle]) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == tree->count)
        return NULL;
    struct vcm_git_tree_item *item = &tree->items[low];
    /* "a/" as a file's name compares like the directory "a". */
    bool is_it = item->name_len == len && memcmp(item->name, name, len) == 0 &&
                 vcm_git_tree_object_is_directory(item) == is_directory;
    return is_it ? item : NULL;
}

const struct vcm_git_tree_item *vcm_git_tree_object_find(const struct vcm_git_tree_object *tree,
                                                         const char *name)
{
    size_t len = strlen(name);
    const struct vcm_git_tree_item *item = find_kind(tree, name, len, false);

    if (!item || item->refusal != VCM_GIT_ACCEPTED)
        item = find_kind(tree, name, len, true);
    return item && item->refusal == VCM_GIT_ACCEPTED ? item : NULL;
}

/* Of two entries with one name, the later one of the tree is refused. */
static void refuse_twins(struct vcm_git_tree_object *tree)
{
    for (size_t i = 1; i < tree->count; i++) {
        struct vcm_git_tree_item *a = &tree->items[i - 1], *b = &tree->items[i];
        if (b->refusal == VCM_GIT_ACCEPTED && vcm_git_tree_object_compare(a, b) == 0)
            b->refusal = VCM_GIT_REFUSED_TWIN;
    }
    for (size_t i = 0; i < tree->count; i++) {
        struct vcm_git_tree_item *item = &tree->items[i];
        if (!vcm_git_tree_object_is_directory(item) || item->refusal != VCM_GIT_ACCEPTED)
            continue;
        struct vcm_git_tree_item *file = find_kind(tree, item->name, item->name_len, false);
        if (file && file->refusal == VCM_GIT_ACCEPTED)
            (file->name < item->name ? item : file)->refusal = VCM_GIT_REFUSED_TWIN;
    }
}

static const char *parse_mode(unsigned *mode, const char *at, const char *end)
{
    unsigned digits = 0;

    *mode = 0;
    for (; at < end && *at >= '0' && *at <= '7' && digits < MODE_DIGITS_MAX; at++, digits++)
        *mode = *mode * 8 + (unsigned)(*at - '0');
    return digits > 0 && at < end && *at == ' ' ? at + 1 : NULL;
}

/* "100644 name", a NUL, and the 20 bytes of the id. NULL when this is no entry, else its end. */
static const char *parse_entry(struct vcm_git_tree_item *out, const char *at, const char *end)
{
    memset(out, 0, sizeof *out);
    out->name = parse_mode(&out->mode, at, end);
    const char *name_end = out->name ? memchr(out->name, '\0', (size_t)(end - out->name)) : NULL;
    if (!name_end || name_end == out->name || (size_t)(end - name_end - 1) < sizeof out->id.bytes)
        return NULL;
    out->name_len = (size_t)(name_end - out->name);
    memcpy(out->id.bytes, name_end + 1, sizeof out->id.bytes);
    if (!vcm_git_tree_name_is_safe(vcm_slice_of(out->name, out->name_len)))
        out->refusal = VCM_GIT_REFUSED_NAME;
    return name_end + 1 + sizeof out->id.bytes;
}

static int parse(struct vcm_git_tree_object *tree, const char *what, struct vcm_error *err)
{
    const char *at = vcm_libgit2.odb_object_data(tree->object);
    const char *end = at + vcm_libgit2.odb_object_size(tree->object);
    size_t capacity = 0;
    bool sorted = true;

    while (at < end) {
        int rc = vcm_array_reserve(&tree->items, &capacity, tree->count + 1, VCM_LIMIT_LIST_ENTRIES,
                                   err);
        if (rc != VCM_OK)
            return rc;
        struct vcm_git_tree_item *item = &tree->items[tree->count];
        at = parse_entry(item, at, end);
        if (!at)
            return vcm_error_set(err, VCM_IO_ERROR, "%s: entry %zu of the tree is malformed", what,
                                 tree->count + 1);
        sorted = sorted && (tree->count == 0 || vcm_git_tree_object_compare(item - 1, item) < 0);
        tree->count++;
    }
    if (!sorted)
        qsort(tree->items, tree->count, sizeof *tree->items, by_name_and_place);
    refuse_twins(tree);
    return VCM_OK;
}

/* Reads an object of this type and compares its bytes with its id. */
static int read_object(git_odb_object **out, struct vcm_git_repo *repo, const struct vcm_git_id *id,
                       git_object_t type, const char *what, struct vcm_error *err)
{
    git_odb_object *object = NULL;
    git_oid oid;
    int rc = VCM_OK;

    *out = NULL;
    vcm_git_internal_to_oid(&oid, id);
    int git_code = vcm_libgit2.odb_read(&object, repo->odb, &oid);
    if (git_code != 0) {
        rc = vcm_git_internal_error(err, git_code, "%s", what);
        vcm_git_clone_repair_suspect(repo, git_code);
        return rc;
    }
    git_object_t found = vcm_libgit2.odb_object_type(object);
    struct vcm_slice data =
        vcm_slice_of(vcm_libgit2.odb_object_data(object), vcm_libgit2.odb_object_size(object));
    if (found != type)
        rc = vcm_error_set(err, type == GIT_OBJECT_COMMIT ? VCM_NOT_FOUND : VCM_IO_ERROR,
                           "%s: its object is a %s, not a %s", what,
                           vcm_libgit2.object_type2string(found),
                           vcm_libgit2.object_type2string(type));
    else if (!vcm_git_internal_has_id(id, vcm_libgit2.object_type2string(type), data)) {
        rc = vcm_error_set(err, VCM_IO_ERROR,
                           "%s: its object is damaged, the content is not what its id says", what);
        vcm_git_clone_repair_suspect(repo, GIT_ERROR);
    }
    if (rc == VCM_OK)
        *out = object;
    else
        vcm_libgit2.odb_object_free(object);
    return rc;
}

int vcm_git_tree_object_open(struct vcm_git_tree_object **out, struct vcm_git_repo *repo,
                             const struct vcm_git_id *id, const char *path, struct vcm_error *err)
{
    struct vcm_git_tree_object *tree = calloc(1, sizeof *tree);
    char what[400] = "cannot read the root directory";

    *out = NULL;
    if (!tree)
        return vcm_error_memory(err);
    if (path[0] != '\0')
        snprintf(what, sizeof what, "cannot read the directory '%.350s'", path);
    tree->id = *id;
    int rc = read_object(&tree->object, repo, id, GIT_OBJECT_TREE, what, err);
    if (rc == VCM_OK)
        rc = parse(tree, what, err);
    if (rc == VCM_OK)
        *out = tree;
    else
        vcm_git_tree_object_close(tree);
    return rc;
}

/* A commit begins with "tree ", the id in hex, and a line feed. */
static bool parse_commit(struct vcm_git_id *tree, struct vcm_slice data)
{
    static const char word[] = "tree ";
    const size_t skip = sizeof word - 1;
    char hex[VCM_GIT_ID_HEX + 1] = "";

    if (data.len <= skip + VCM_GIT_ID_HEX || memcmp(data.data, word, skip) != 0 ||
        data.data[skip + VCM_GIT_ID_HEX] != '\n')
        return false;
    memcpy(hex, data.data + skip, VCM_GIT_ID_HEX);
    return vcm_hash_from_hex(tree->bytes, hex, sizeof tree->bytes);
}

int vcm_git_tree_object_open_root(struct vcm_git_tree_object **out, struct vcm_git_repo *repo,
                                  const struct vcm_git_id *commit, struct vcm_error *err)
{
    git_odb_object *object = NULL;
    struct vcm_git_id id;
    char hex[VCM_GIT_ID_HEX + 1], what[VCM_GIT_ID_HEX + 32];

    *out = NULL;
    vcm_git_repo_id_to_hex(hex, commit);
    snprintf(what, sizeof what, "cannot read the commit %s", hex);
    int rc = read_object(&object, repo, commit, GIT_OBJECT_COMMIT, what, err);
    if (rc != VCM_OK)
        return rc;
    if (parse_commit(&id, vcm_slice_of(vcm_libgit2.odb_object_data(object),
                                       vcm_libgit2.odb_object_size(object))))
        rc = vcm_git_tree_object_open(out, repo, &id, "", err);
    else
        rc = vcm_error_set(err, VCM_IO_ERROR, "%s: it names no tree", what);
    vcm_libgit2.odb_object_free(object);
    return rc;
}

void vcm_git_tree_object_close(struct vcm_git_tree_object *tree)
{
    if (!tree)
        return;
    if (tree->object)
        vcm_libgit2.odb_object_free(tree->object);
    free(tree->items);
    free(tree);
}
