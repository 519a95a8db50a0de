#include "lfs/estimate.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/blob.h"
#include "lfs/pointer.h"

#include "base/banned.h"

#define PATTERNS_MAX (8 * VCM_MIB)

struct estimator {
    struct vcm_estimate *out;
    struct vcm_arena *arena;
    struct vcm_git_repo *repo;
    const struct vcm_estimate_query *query;
    size_t capacity; /* of out->files, which is on the heap until the end */
};

static bool matches(void *context, struct vcm_slice path)
{
    const struct estimator *e = context;
    return e->query->matches(e->query->context, path);
}

static int is_pointer(bool *out, struct estimator *e, const struct vcm_git_id *id, uint64_t size,
                      struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LFS_POINTER_BYTES_MAX);
    struct vcm_lfs_pointer pointer;
    int rc = VCM_OK;

    *out = false;
    if (size <= VCM_LFS_POINTER_BYTES_MAX) {
        rc = vcm_git_blob_read(&text, e->repo, id, err);
        *out = rc == VCM_OK && vcm_lfs_pointer_parse(&pointer, vcm_buf_slice(&text));
    }
    vcm_buf_release(&text);
    return rc;
}

static int add_file(struct estimator *e, struct vcm_slice path, uint64_t size,
                    struct vcm_error *err)
{
    struct vcm_estimate *out = e->out;

    int rc = vcm_array_reserve(&out->files, &e->capacity, out->file_count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_buf shown = VCM_BUF_INIT(VCM_LIMIT_TREE_PATH_BYTES * 4);
    vcm_utf8_escape_path(&shown, path);
    const char *copy = vcm_arena_copy(e->arena, vcm_buf_slice(&shown));
    vcm_buf_release(&shown);
    if (!copy)
        return vcm_error_memory(err);
    out->files[out->file_count++] = (struct vcm_estimate_file){copy, 1, size};
    out->bytes += size;
    return VCM_OK;
}

/* git-lfs does not change pointers and empty files. */
static int is_wanted(bool *wanted, void *context, const struct vcm_git_entry *entry,
                     struct vcm_error *err)
{
    struct estimator *e = context;
    uint64_t size = 0;
    bool pointer = false;

    int rc = vcm_git_blob_size(&size, e->repo, &entry->id, err);
    if (rc == VCM_OK && size > 0)
        rc = is_pointer(&pointer, e, &entry->id, size, err);
    *wanted = rc == VCM_OK && size > 0 && !pointer;
    return *wanted ? add_file(e, entry->path, size, err) : rc;
}

/* git-lfs adds the patterns to the .gitattributes of every commit that lacks some of them. */
static int lacks_patterns(bool *lacking, void *context, const struct vcm_git_id *attributes,
                          struct vcm_error *err)
{
    struct estimator *e = context;
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_ATTRIBUTES_BYTES);
    struct vcm_attributes_pattern *patterns = NULL;
    char name[VCM_LIMIT_GLOB_BYTES];
    struct vcm_arena arena;

    vcm_arena_init(&arena, PATTERNS_MAX);
    int rc = attributes ? vcm_git_blob_read(&text, e->repo, attributes, err) : VCM_OK;
    if (rc == VCM_OK)
        rc = vcm_attributes_parse(&patterns, &arena, vcm_buf_slice(&text), err);
    *lacking = false;
    for (const char *at = e->query->include; rc == VCM_OK && *at && !*lacking;) {
        size_t len = strcspn(at, ",");
        if (len < sizeof name) {
            memcpy(name, at, len);
            name[len] = '\0';
            *lacking = !vcm_attributes_has(patterns, name);
        }
        at += len + (at[len] == ',');
    }
    vcm_arena_release(&arena);
    vcm_buf_release(&text);
    return rc;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct vcm_estimate_file *)a)->path,
                  ((const struct vcm_estimate_file *)b)->path);
}

/* Sorts, merges the versions of a file into one entry, and moves the list into the arena. */
static int gather(struct estimator *e, struct vcm_error *err)
{
    struct vcm_estimate *out = e->out;
    size_t count = 0;

    if (out->file_count > 0)
        qsort(out->files, out->file_count, sizeof *out->files, by_path);
    for (size_t i = 0; i < out->file_count; i++) {
        struct vcm_estimate_file *last = count > 0 ? &out->files[count - 1] : NULL;
        if (last && strcmp(last->path, out->files[i].path) == 0) {
            last->versions++;
            last->bytes += out->files[i].bytes;
        } else {
            out->files[count++] = out->files[i];
        }
    }
    struct vcm_estimate_file *kept = vcm_arena_alloc(e->arena, (count + 1) * sizeof *kept);
    if (kept && count > 0)
        memcpy(kept, out->files, count * sizeof *kept);
    free(out->files);
    out->files = kept;
    out->file_count = kept ? count : 0;
    return kept ? VCM_OK : vcm_error_memory(err);
}

int vcm_estimate_run(struct vcm_estimate *out, struct vcm_arena *arena, const char *repository,
                     const struct vcm_estimate_query *query, struct vcm_error *err)
{
    struct estimator e = {.out = out, .arena = arena, .query = query};
    const struct vcm_git_history_query history = {
        .matches = matches,
        .is_wanted = is_wanted,
        .root_file = VCM_ATTRIBUTES_PATH,
        .counts = lacks_patterns,
        .context = &e,
        .cancel = query->cancel,
    };

    *out = (struct vcm_estimate){.files = NULL};
    int rc = vcm_git_repo_open(&e.repo, repository, err);
    if (rc == VCM_OK)
        rc = vcm_git_history_count(&out->commits, e.repo, &history, err);
    vcm_git_repo_close(e.repo);
    int gathered = gather(&e, rc == VCM_OK ? err : NULL);
    return rc == VCM_OK ? gathered : rc;
}

/* Counts instead of listing. */
static int count_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct estimator *e = context;
    uint64_t size = 0;
    bool pointer = false;

    if ((entry->kind != VCM_GIT_FILE && entry->kind != VCM_GIT_EXECUTABLE) ||
        !matches(e, entry->path))
        return VCM_OK;
    int rc = vcm_git_blob_size(&size, e->repo, &entry->id, err);
    if (rc == VCM_OK && size > 0)
        rc = is_pointer(&pointer, e, &entry->id, size, err);
    e->out->file_count += rc == VCM_OK && size > 0 && !pointer;
    return rc;
}

int vcm_estimate_count_plain(uint64_t *files, const char *repository,
                             const struct vcm_estimate_query *query, struct vcm_error *err)
{
    struct vcm_estimate counted = {.file_count = 0};
    struct estimator e = {.out = &counted, .query = query};
    struct vcm_error none = {0};
    struct vcm_git_id head;

    int rc = vcm_git_repo_open(&e.repo, repository, err);
    if (rc == VCM_OK && vcm_git_repo_resolve(&head, e.repo, NULL, NULL, &none) == VCM_OK)
        rc = vcm_git_tree_walk(e.repo, &head, "", count_entry, &e, query->cancel, err);
    vcm_git_repo_close(e.repo);
    *files = counted.file_count;
    return rc;
}
