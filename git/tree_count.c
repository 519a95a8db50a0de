#include "git/tree_count.h"

#include <string.h>

#include "base/limits.h"
#include "git/notes.h"
#include "git/tree_object.h"

#include "base/banned.h"

struct count {
    struct vcm_git_repo *repo;
    const struct vcm_cancel *cancel;
    uint64_t max;
    struct vcm_git_notes notes; /* entries below each tree that was counted */
    unsigned depth;
};

uint64_t vcm_git_tree_count_key(const struct vcm_git_id *id)
{
    uint64_t key = 0;

    memcpy(&key, id->bytes, sizeof key);
    return key;
}

int vcm_git_tree_count_refuse(const struct vcm_cancel *cancel, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_UNSUPPORTED,
                         "the tree names more than %llu files and directories; 'vcm config set "
                         "walk.max_entries N' allows more",
                         (unsigned long long)vcm_cancel_entries_max(cancel));
}

/* Recursion: each level opens one tree, and VCM_LIMIT_TREE_DEPTH bounds the levels. */
static int count_tree(uint64_t *entries, struct count *count, const struct vcm_git_id *id,
                      struct vcm_error *err)
{
    struct vcm_git_tree_object *tree = NULL;
    struct vcm_error ignored = {0};

    *entries = 0;
    if (vcm_git_notes_get(entries, &count->notes, vcm_git_tree_count_key(id)) ||
        count->depth == VCM_LIMIT_TREE_DEPTH)
        return VCM_OK;
    int rc = vcm_cancel_check(count->cancel, err);
    if (rc != VCM_OK || vcm_git_tree_object_open(&tree, count->repo, id, "", &ignored) != VCM_OK)
        return rc;
    count->depth++;
    *entries = tree->count;
    for (size_t i = 0; rc == VCM_OK && i < tree->count && *entries <= count->max; i++) {
        const struct vcm_git_tree_item *item = &tree->items[i];
        uint64_t below = 0;
        if (vcm_git_tree_object_is_directory(item) && item->refusal == VCM_GIT_ACCEPTED)
            rc = count_tree(&below, count, &item->id, err);
        *entries += below;
    }
    count->depth--;
    vcm_git_tree_object_close(tree);
    if (rc == VCM_OK && *entries > count->max)
        return vcm_git_tree_count_refuse(count->cancel, err);
    if (rc == VCM_OK)
        rc = vcm_git_notes_put(&count->notes, vcm_git_tree_count_key(id), *entries, err);
    return rc;
}

int vcm_git_tree_count_check(struct vcm_git_repo *repo, const struct vcm_git_id *tree,
                             const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct count count = {.repo = repo, .cancel = cancel, .max = vcm_cancel_entries_max(cancel)};
    uint64_t entries;

    int rc = count_tree(&entries, &count, tree, err);
    vcm_git_notes_release(&count.notes);
    return rc;
}
