#include "git/tree_diff.h"

#include <string.h>

#include "base/limits.h"
#include "git/tree_count.h"
#include "git/tree_object.h"

#include "base/banned.h"

struct diff {
    struct vcm_git_repo *repo;
    vcm_git_tree_diff_fn visit;
    void *context;
    const struct vcm_cancel *cancel;
    struct vcm_buf path;
    uint64_t entries;
    unsigned depth;
};

static const struct vcm_git_tree_item *item_at(const struct vcm_git_tree_object *tree, size_t *at)
{
    while (tree && *at < tree->count && tree->items[*at].refusal != VCM_GIT_ACCEPTED)
        (*at)++;
    return tree && *at < tree->count ? &tree->items[*at] : NULL;
}

static int open_side(struct vcm_git_tree_object **out, struct diff *d,
                     const struct vcm_git_tree_item *item, struct vcm_error *err)
{
    *out = NULL;
    return item ? vcm_git_tree_object_open(out, d->repo, &item->id, vcm_buf_text(&d->path), err)
                : VCM_OK;
}

static int compare_trees(struct diff *d, const struct vcm_git_tree_object *before,
                         const struct vcm_git_tree_object *after, struct vcm_error *err);

static int compare_directories(struct diff *d, const struct vcm_git_tree_item *was,
                               const struct vcm_git_tree_item *is, struct vcm_error *err)
{
    struct vcm_git_tree_object *before = NULL, *after = NULL;

    if (d->depth == VCM_LIMIT_TREE_DEPTH)
        return vcm_error_set(err, VCM_UNSUPPORTED, "directories are nested deeper than %d",
                             VCM_LIMIT_TREE_DEPTH);
    int rc = open_side(&before, d, was, err);
    if (rc == VCM_OK)
        rc = open_side(&after, d, is, err);
    vcm_buf_append_byte(&d->path, '/');
    d->depth++;
    if (rc == VCM_OK)
        rc = compare_trees(d, before, after, err);
    d->depth--;
    vcm_git_tree_object_close(before);
    vcm_git_tree_object_close(after);
    return rc;
}

/* Old trees have modes that git no longer writes, such as 100664: the kind is what counts. */
static bool is_same(const struct vcm_git_tree_item *a, const struct vcm_git_tree_item *b)
{
    struct vcm_git_entry x, y;

    if (memcmp(&a->id, &b->id, sizeof a->id) != 0)
        return false;
    vcm_git_tree_object_to_entry(&x, vcm_slice_of("", 0), a);
    vcm_git_tree_object_to_entry(&y, vcm_slice_of("", 0), b);
    return vcm_git_tree_object_is_directory(a) || x.kind == y.kind;
}

/* One name, of one kind: both are files, or both are directories; one may be NULL. */
static int compare_pair(struct diff *d, const struct vcm_git_tree_item *was,
                        const struct vcm_git_tree_item *is, struct vcm_error *err)
{
    const struct vcm_git_tree_item *some = is ? is : was;
    size_t len = d->path.len;
    struct vcm_git_entry old_entry, new_entry;

    if (was && is && is_same(was, is))
        return VCM_OK;
    if (++d->entries > vcm_cancel_entries_max(d->cancel))
        return vcm_git_tree_count_refuse(d->cancel, err);
    int rc = vcm_cancel_check(d->cancel, err);
    vcm_buf_append(&d->path, some->name, some->name_len);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&d->path, "a path of the tree", err);
    if (rc == VCM_OK && vcm_git_tree_object_is_directory(some)) {
        rc = compare_directories(d, was, is, err);
    } else if (rc == VCM_OK) {
        if (was)
            vcm_git_tree_object_to_entry(&old_entry, vcm_buf_slice(&d->path), was);
        if (is)
            vcm_git_tree_object_to_entry(&new_entry, vcm_buf_slice(&d->path), is);
        rc = d->visit(d->context, vcm_buf_slice(&d->path), was ? &old_entry : NULL,
                      is ? &new_entry : NULL, err);
    }
    vcm_buf_truncate(&d->path, len);
    return rc;
}

static int compare_trees(struct diff *d, const struct vcm_git_tree_object *before,
                         const struct vcm_git_tree_object *after, struct vcm_error *err)
{
    size_t i = 0, j = 0;
    int rc = VCM_OK;

    while (rc == VCM_OK) {
        const struct vcm_git_tree_item *was = item_at(before, &i), *is = item_at(after, &j);
        if (!was && !is)
            break;
        int order = !was ? 1 : !is ? -1 : vcm_git_tree_object_compare(was, is);
        rc = compare_pair(d, order <= 0 ? was : NULL, order >= 0 ? is : NULL, err);
        i += order <= 0;
        j += order >= 0;
    }
    return rc;
}

int vcm_git_tree_diff(struct vcm_git_repo *repo, const struct vcm_git_id *before,
                      const struct vcm_git_id *after, vcm_git_tree_diff_fn visit, void *context,
                      const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct diff d = {.repo = repo, .visit = visit, .context = context, .cancel = cancel};
    struct vcm_git_tree_object *was = NULL, *is = NULL;

    vcm_buf_init(&d.path, VCM_LIMIT_TREE_PATH_BYTES);
    int rc = before ? vcm_git_tree_object_open_root(&was, repo, before, err) : VCM_OK;
    if (rc == VCM_OK)
        rc = vcm_git_tree_object_open_root(&is, repo, after, err);
    if (rc == VCM_OK && !(was && memcmp(&was->id, &is->id, sizeof is->id) == 0))
        rc = compare_trees(&d, was, is, err);
    vcm_git_tree_object_close(was);
    vcm_git_tree_object_close(is);
    vcm_buf_release(&d.path);
    return rc;
}
