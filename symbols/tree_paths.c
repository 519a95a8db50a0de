#include "symbols/tree_paths.h"

#include "base/limits.h"

#include "base/banned.h"

static int compare(struct vcm_slice a, struct vcm_slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.data, b.data, len) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* The first file whose path is not less. */
static size_t lower_bound(const struct vcm_index *index, struct vcm_slice path)
{
    size_t low = 0, high = index->file_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(index->files[middle].path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t vcm_tree_paths_find(const struct vcm_index *index, struct vcm_slice path)
{
    size_t at = lower_bound(index, path);

    return at < index->file_count && vcm_slice_equal(index->files[at].path, path)
               ? (uint32_t)at
               : VCM_TREE_PATHS_NONE;
}

bool vcm_tree_paths_has_directory(const struct vcm_index *index, struct vcm_slice directory)
{
    char path[VCM_LIMIT_PATH_BYTES];

    if (directory.len == 0)
        return index->file_count > 0;
    if (directory.len + 1 >= sizeof path)
        return false;
    memcpy(path, directory.data, directory.len);
    path[directory.len] = '/';
    size_t at = lower_bound(index, vcm_slice_of(path, directory.len + 1));
    return at < index->file_count && index->files[at].path.len > directory.len &&
           memcmp(index->files[at].path.data, path, directory.len + 1) == 0;
}

struct vcm_slice vcm_tree_paths_directory(struct vcm_slice path)
{
    const char *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;

    return vcm_slice_of(path.data, slash ? (size_t)(slash - path.data) : 0);
}

bool vcm_tree_paths_join(struct vcm_buf *out, struct vcm_slice directory, struct vcm_slice path)
{
    vcm_buf_clear(out);
    vcm_buf_append_slice(out, directory);
    for (size_t start = 0, end; start <= path.len; start = end + 1) {
        const char *slash =
            start < path.len ? memchr(path.data + start, '/', path.len - start) : NULL;
        end = slash ? (size_t)(slash - path.data) : path.len;
        struct vcm_slice part = vcm_slice_of(path.data + start, end - start);
        if (part.len == 0 || vcm_slice_equal(part, vcm_slice_of(".", 1)))
            continue;
        if (!vcm_slice_equal(part, vcm_slice_of("..", 2))) {
            vcm_buf_append_string(out, out->len > 0 ? "/" : "");
            vcm_buf_append_slice(out, part);
            continue;
        }
        if (out->len == 0)
            return false;
        vcm_buf_truncate(out, vcm_tree_paths_directory(vcm_buf_slice(out)).len);
    }
    return out->fault == VCM_BUF_FINE && out->len < VCM_LIMIT_PATH_BYTES;
}
