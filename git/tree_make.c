#include "git/tree_make.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#include "base/banned.h"

/* The entries of one directory: those from `at` on whose paths begin with the same `prefix`
 * bytes. */
struct maker {
    struct vcm_git_overlay *overlay;
    const struct vcm_git_entry *entries;
    size_t count, at;
    unsigned depth;
};

/* A directory sorts as if its name ended with a slash, which is what whole paths do. */
static int by_path(const void *a, const void *b)
{
    const struct vcm_slice x = ((const struct vcm_git_entry *)a)->path;
    const struct vcm_slice y = ((const struct vcm_git_entry *)b)->path;
    size_t common = x.len < y.len ? x.len : y.len;
    int order = common > 0 ? memcmp(x.data, y.data, common) : 0;

    return order != 0 ? order : (x.len > y.len) - (x.len < y.len);
}

static void put_item(struct vcm_buf *tree, const char *mode, struct vcm_slice name,
                     const struct vcm_git_id *id)
{
    vcm_buf_append_string(tree, mode);
    vcm_buf_append_byte(tree, ' ');
    vcm_buf_append_slice(tree, name);
    vcm_buf_append_byte(tree, '\0');
    vcm_buf_append(tree, id->bytes, VCM_GIT_ID_BYTES);
}

static const char *mode_of(enum vcm_git_kind kind)
{
    static const char *const modes[] = {
        [VCM_GIT_FILE] = "100644",
        [VCM_GIT_EXECUTABLE] = "100755",
        [VCM_GIT_SYMLINK] = "120000",
        [VCM_GIT_SUBMODULE] = "160000",
    };

    return modes[kind];
}

/* Recursion: VCM_LIMIT_TREE_DEPTH bounds the levels. */
static int make(struct vcm_git_id *id, struct maker *m, size_t prefix, struct vcm_error *err)
{
    struct vcm_buf tree = VCM_BUF_INIT(VCM_LIMIT_OBJECT_BYTES);
    const struct vcm_slice first = m->count > 0 ? m->entries[m->at].path : vcm_slice_of("", 0);
    int rc = VCM_OK;

    if (++m->depth > VCM_LIMIT_TREE_DEPTH)
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "directories are nested deeper than %d",
                           VCM_LIMIT_TREE_DEPTH);
    while (rc == VCM_OK && m->at < m->count) {
        const struct vcm_git_entry *entry = &m->entries[m->at];
        if (entry->path.len < prefix || memcmp(entry->path.data, first.data, prefix) != 0)
            break;
        struct vcm_slice rest = vcm_slice_of(entry->path.data + prefix, entry->path.len - prefix);
        const char *slash = memchr(rest.data, '/', rest.len);
        if (!slash) {
            put_item(&tree, mode_of(entry->kind), rest, &entry->id);
            m->at++;
            continue;
        }
        struct vcm_slice name = vcm_slice_of(rest.data, (size_t)(slash - rest.data));
        struct vcm_git_id below;
        rc = make(&below, m, prefix + name.len + 1, err);
        put_item(&tree, "40000", name, &below);
    }
    m->depth--;
    if (rc == VCM_OK)
        rc = vcm_buf_check(&tree, "a directory of the working tree", err);
    if (rc == VCM_OK)
        rc = vcm_git_overlay_put(id, m->overlay, "tree", vcm_buf_slice(&tree), err);
    vcm_buf_release(&tree);
    return rc;
}

int vcm_git_tree_make(struct vcm_git_id *id, struct vcm_git_overlay *overlay,
                      struct vcm_git_entry *entries, size_t count, struct vcm_error *err)
{
    struct maker m = {.overlay = overlay, .entries = entries, .count = count};

    if (count > 0)
        qsort(entries, count, sizeof *entries, by_path);
    return make(id, &m, 0, err);
}

int vcm_git_tree_make_commit(struct vcm_git_id *id, struct vcm_git_overlay *overlay,
                             const struct vcm_git_id *tree, const struct vcm_git_id *parent,
                             struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_repo_id_to_hex(hex, tree);
    vcm_buf_append_format(&text, "tree %s\n", hex);
    if (parent) {
        vcm_git_repo_id_to_hex(hex, parent);
        vcm_buf_append_format(&text, "parent %s\n", hex);
    }
    vcm_buf_append_string(&text, "author vcm <vcm> 0 +0000\ncommitter vcm <vcm> 0 +0000\n\n"
                                 "The working tree.\n");
    int rc = vcm_buf_check(&text, "a commit", err);
    if (rc == VCM_OK)
        rc = vcm_git_overlay_put(id, overlay, "commit", vcm_buf_slice(&text), err);
    vcm_buf_release(&text);
    return rc;
}
