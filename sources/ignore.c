#include "sources/ignore.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "sources/glob.h"

#include "base/banned.h"

const char *const vcm_ignore_file_names[VCM_IGNORE_FILE_COUNT] = {".gitignore", ".colonyignore"};

struct level {
    struct vcm_glob_list list;
    size_t base_len; /* of the directory's path with its slash */
    size_t bytes;    /* of its ignore files */
    bool ignored;
};

struct vcm_ignore {
    struct level *levels;
    size_t depth;
    size_t capacity;
    size_t bytes;
    struct vcm_glob_work *work;
};

int vcm_ignore_open(struct vcm_ignore **out, struct vcm_glob_work *work, struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return vcm_error_memory(err);
    (*out)->work = work;
    return VCM_OK;
}

void vcm_ignore_close(struct vcm_ignore *ignore)
{
    if (!ignore)
        return;
    while (ignore->depth > 0)
        vcm_ignore_leave(ignore);
    free(ignore->levels);
    free(ignore);
}

static bool is_ignored(const struct vcm_ignore *ignore, struct vcm_slice path, bool is_directory)
{
    if (ignore->depth > 0 && ignore->levels[ignore->depth - 1].ignored)
        return true;
    for (size_t i = ignore->depth; i-- > 0;) {
        const struct level *level = &ignore->levels[i];
        if (level->list.count == 0)
            continue;
        assert(path.len >= level->base_len);
        enum vcm_glob_result result = vcm_glob_list_match(
            &level->list, vcm_slice_of(path.data + level->base_len, path.len - level->base_len),
            is_directory);
        if (result != VCM_GLOB_NONE)
            return result == VCM_GLOB_MATCH;
    }
    return false;
}

static int grow(struct vcm_ignore *ignore, struct vcm_error *err)
{
    /* One more than a walk can be deep: the root is a level too. */
    if (ignore->depth > VCM_LIMIT_TREE_DEPTH)
        return vcm_error_set(err, VCM_UNSUPPORTED, "directories are nested deeper than %d",
                             VCM_LIMIT_TREE_DEPTH);
    return vcm_array_reserve(&ignore->levels, &ignore->capacity, ignore->depth + 1,
                             VCM_LIMIT_TREE_DEPTH + 1, err);
}

int vcm_ignore_enter(struct vcm_ignore *ignore, bool *ignored, struct vcm_slice directory,
                     struct vcm_error *err)
{
    *ignored = false;
    int rc = grow(ignore, err);
    if (rc != VCM_OK)
        return rc;
    *ignored = directory.len > 0 && is_ignored(ignore, directory, true);
    struct level *level = &ignore->levels[ignore->depth++];
    memset(level, 0, sizeof *level);
    vcm_glob_list_init(&level->list);
    level->list.work = ignore->work;
    level->base_len = directory.len > 0 ? directory.len + 1 : 0;
    level->ignored = *ignored;
    return VCM_OK;
}

int vcm_ignore_add(struct vcm_ignore *ignore, struct vcm_slice content, struct vcm_error *err)
{
    assert(ignore->depth > 0);
    struct level *level = &ignore->levels[ignore->depth - 1];

    if (content.len > VCM_LIMIT_IGNORE_BYTES - ignore->bytes)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the ignore files of a directory and those above it have more than "
                             "%zu bytes together",
                             VCM_LIMIT_IGNORE_BYTES);
    level->bytes += content.len;
    ignore->bytes += content.len;
    return level->ignored ? VCM_OK : vcm_glob_list_add_lines(&level->list, content, err);
}

void vcm_ignore_leave(struct vcm_ignore *ignore)
{
    assert(ignore->depth > 0);
    struct level *level = &ignore->levels[--ignore->depth];

    ignore->bytes -= level->bytes;
    vcm_glob_list_release(&level->list);
}

bool vcm_ignore_has(const struct vcm_ignore *ignore, struct vcm_slice path)
{
    return is_ignored(ignore, path, false);
}

bool vcm_ignore_has_directory(const struct vcm_ignore *ignore, struct vcm_slice path)
{
    return is_ignored(ignore, path, true);
}
