#include "git/clone_part.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/internal.h"

#include "base/banned.h"

#define WANTED_BYTES_MAX (1 * VCM_GIB)

struct look {
    git_odb *odb;
    struct vcm_slice subpath; /* without a slash at the end */
    struct vcm_git_id *ids;   /* of missing blobs below it */
    size_t count, capacity;
    uint64_t files_missing;
};

static bool is_below(struct vcm_slice path, struct vcm_slice directory)
{
    return directory.len == 0 || (path.len > directory.len && path.data[directory.len] == '/' &&
                                  memcmp(path.data, directory.data, directory.len) == 0);
}

/* git also needs the attribute and ignore files above the directory, because their rules apply in
 * it. */
static bool rules(struct vcm_slice path, struct vcm_slice directory)
{
    struct vcm_slice name = vcm_path_base_name(path);
    size_t above = path.len - name.len;

    return (vcm_slice_equal(name, vcm_slice_of_string(".gitattributes")) ||
            vcm_slice_equal(name, vcm_slice_of_string(".gitignore"))) &&
           above <= directory.len && memcmp(path.data, directory.data, above) == 0;
}

static int add(struct look *look, const struct vcm_git_id *id, struct vcm_error *err)
{
    int rc = vcm_array_reserve(&look->ids, &look->capacity, look->count + 1, VCM_LIMIT_TREE_ENTRIES,
                               err);
    if (rc != VCM_OK)
        return rc;
    look->ids[look->count++] = *id;
    return VCM_OK;
}

static int judge(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct look *look = context;
    git_oid oid;

    if (entry->kind == VCM_GIT_SUBMODULE)
        return VCM_OK;
    vcm_git_internal_to_oid(&oid, &entry->id);
    /* libgit2 would look for new packs at each missing blob; this disables that. */
    if (vcm_libgit2.odb_exists_ext(look->odb, &oid, GIT_ODB_LOOKUP_NO_REFRESH) == 1)
        return VCM_OK;
    look->files_missing++;
    if (!is_below(entry->path, look->subpath) && !rules(entry->path, look->subpath))
        return VCM_OK;
    return add(look, &entry->id, err);
}

static int by_id(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct vcm_git_id));
}

static int list(struct vcm_git_part *out, struct look *look, struct vcm_error *err)
{
    char hex[VCM_GIT_ID_HEX + 1];

    if (look->count > 0)
        qsort(look->ids, look->count, sizeof *look->ids, by_id);
    for (size_t i = 0; i < look->count; i++) {
        if (i > 0 && by_id(&look->ids[i - 1], &look->ids[i]) == 0)
            continue;
        vcm_git_repo_id_to_hex(hex, &look->ids[i]);
        vcm_buf_append_format(&out->wanted, "%s\n", hex);
        out->wanted_count++;
    }
    return vcm_buf_check(&out->wanted, "the list of what is missing", err);
}

int vcm_git_clone_part_look(struct vcm_git_part *out, struct vcm_git_repo *repo,
                            const struct vcm_git_id *commit, const char *subpath,
                            const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct look look = {.odb = repo->odb, .subpath = vcm_slice_of_string(subpath)};

    memset(out, 0, sizeof *out);
    vcm_buf_init(&out->wanted, WANTED_BYTES_MAX);
    int rc = vcm_git_tree_walk(repo, commit, "", judge, &look, cancel, err);
    if (rc == VCM_OK)
        rc = list(out, &look, err);
    out->files_missing = look.files_missing;
    free(look.ids);
    return rc;
}

void vcm_git_clone_part_release(struct vcm_git_part *part)
{
    vcm_buf_release(&part->wanted);
}
