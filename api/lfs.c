#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/names.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/outcome.h"
#include "base/utf8.h"
#include "git/blob.h"
#include "lfs/fetch.h"
#include "lfs/objects.h"

#include "base/banned.h"

#define ARENA_BYTES_MAX  (1 * VCM_GIB)
#define FETCH_TIMEOUT_MS (60 * 60 * 1000u)

/* A pointer of the tree and its outcome. */
struct pointer {
    const char *path;      /* escaped for display */
    const char *tree_path; /* as it is in the tree */
    struct vcm_lfs_pointer pointer;
    bool present, fetched;
    struct pointer *next;
};

struct place {
    struct vcm_git_repo *repo;
    struct vcm_lfs_objects *objects;
    struct vcm_git_id commit;
};

struct walk {
    struct place *place;
    struct vcm_arena *arena;
    struct pointer *first, **last;
    struct vcm_lfs_gap *gaps;
    size_t gap_count, gap_capacity;
};

static int open_place(struct place *place, const char *repository, struct vcm_error *err)
{
    int rc = vcm_git_repo_open(&place->repo, repository, err);
    return rc == VCM_OK ? vcm_lfs_objects_open(&place->objects, place->repo, err) : rc;
}

static void close_place(struct place *place)
{
    vcm_lfs_objects_close(place->objects);
    vcm_git_repo_close(place->repo);
}

/* *found is false for a blob that is not a pointer. */
static int read_pointer(bool *found, struct vcm_lfs_pointer *out, struct place *place,
                        const struct vcm_git_id *id, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LFS_POINTER_BYTES_MAX);
    uint64_t size = 0;

    *found = false;
    int rc = vcm_git_blob_size(&size, place->repo, id, err);
    if (rc == VCM_OK && size > 0 && size <= VCM_LFS_POINTER_BYTES_MAX) {
        rc = vcm_git_blob_read(&text, place->repo, id, err);
        *found = rc == VCM_OK && vcm_lfs_pointer_parse(out, vcm_buf_slice(&text));
    }
    vcm_buf_release(&text);
    return rc;
}

/* The path as it is shown, in the arena; NULL when memory is exhausted. */
static const char *show_path(struct walk *walk, struct vcm_slice path)
{
    struct vcm_buf shown = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);

    vcm_utf8_escape_path(&shown, path);
    const char *copy = vcm_arena_copy(walk->arena, vcm_buf_slice(&shown));
    vcm_buf_release(&shown);
    return copy;
}

static int add_pointer(struct walk *walk, struct vcm_slice path,
                       const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    struct pointer *item = vcm_arena_alloc(walk->arena, sizeof *item);

    if (item) {
        item->path = show_path(walk, path);
        item->tree_path = vcm_arena_copy(walk->arena, path);
    }
    if (!item || !item->path || !item->tree_path)
        return vcm_error_memory(err);
    item->pointer = *pointer;
    *walk->last = item;
    walk->last = &item->next;
    return vcm_lfs_objects_has(&item->present, walk->place->objects, pointer, err);
}

static int add_gap(struct walk *walk, struct vcm_slice path, struct vcm_error *err)
{
    int rc = vcm_array_reserve(&walk->gaps, &walk->gap_capacity, walk->gap_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    const char *shown = show_path(walk, path);
    if (!shown)
        return vcm_error_memory(err);
    walk->gaps[walk->gap_count++] = (struct vcm_lfs_gap){
        .path = shown, .reason = vcm_outcome_reason_name(VCM_REASON_OBJECT_DAMAGED)};
    return VCM_OK;
}

static int by_gap_path(const void *a, const void *b)
{
    return strcmp(((const struct vcm_lfs_gap *)a)->path, ((const struct vcm_lfs_gap *)b)->path);
}

static int take_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct walk *walk = context;
    struct vcm_lfs_pointer pointer;
    struct vcm_error missing = {0};
    bool found = false;

    if (entry->kind != VCM_GIT_FILE && entry->kind != VCM_GIT_EXECUTABLE)
        return VCM_OK;
    /* A blob that is missing, as in a partial clone, cannot be recognised as a pointer. */
    int rc = read_pointer(&found, &pointer, walk->place, &entry->id, &missing);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc == VCM_IO_ERROR || rc == VCM_UNSUPPORTED)
        return add_gap(walk, entry->path, err);
    if (rc != VCM_OK)
        return vcm_error_set(err, missing.code, "%s", missing.message);
    return found ? add_pointer(walk, entry->path, &pointer, err) : VCM_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(struct pointer *const *)a)->path, (*(struct pointer *const *)b)->path);
}

/* Sorts by path: the walk visits the files of a directory before its directories. */
static int sort_pointers(struct pointer **first, struct vcm_error *err)
{
    size_t count = 0;

    for (struct pointer *p = *first; p; p = p->next)
        count++;
    if (count == 0)
        return VCM_OK;
    struct pointer **list = calloc(count, sizeof(struct pointer *));
    if (!list)
        return vcm_error_memory(err);
    count = 0;
    for (struct pointer *p = *first; p; p = p->next)
        list[count++] = p;
    qsort(list, count, sizeof(struct pointer *), by_path);
    for (size_t i = 0; i < count; i++)
        list[i]->next = i + 1 < count ? list[i + 1] : NULL;
    *first = list[0];
    free(list);
    return VCM_OK;
}

static int pass_pointers(struct vcm_lfs_summary *sum, const struct pointer *first,
                         const char *scope_id, vcm_lfs_file_fn visit, void *context,
                         struct vcm_error *err)
{
    char oid[2 * VCM_HASH_SHA256_BYTES + 1];
    int rc = VCM_OK;

    for (const struct pointer *p = first; rc == VCM_OK && p; p = p->next) {
        sum->files++;
        sum->bytes += p->pointer.size;
        sum->present += p->present;
        sum->fetched += p->fetched;
        sum->missing += !p->present;
        sum->missing_bytes += p->present ? 0 : p->pointer.size;
        vcm_hash_to_hex(oid, p->pointer.oid, sizeof p->pointer.oid);
        const struct vcm_lfs_file file = {.scope_id = scope_id,
                                          .path = p->path,
                                          .oid = oid,
                                          .size = p->pointer.size,
                                          .present = p->present,
                                          .fetched = p->fetched};
        rc = visit(context, &file, err);
    }
    return rc;
}

static const char *const mode_names[] = {
    [VCM_MANIFEST_LFS_SAME_REMOTE] = "same_remote",
    [VCM_MANIFEST_LFS_SEPARATE] = "separate",
    [VCM_MANIFEST_LFS_DISABLED] = "disabled",
};

int vcm_lfs_status(struct vcm *vcm, const char *repository, vcm_lfs_file_fn visit,
                   vcm_lfs_summary_fn sum, void *context, struct vcm_error *err)
{
    int rc =
        VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(repository), VCM_ARGUMENT(visit), VCM_ARGUMENT(sum));
    if (rc != VCM_OK)
        return rc;
    struct place place = {.repo = NULL};
    struct vcm_lfs_summary summary = {.mode = mode_names[VCM_MANIFEST_LFS_SAME_REMOTE]};
    struct vcm_manifest manifest;
    struct vcm_error unborn = {0};
    struct vcm_arena arena;
    struct walk walk = {.place = &place, .arena = &arena, .last = &walk.first};
    char commit[VCM_GIT_ID_HEX + 1];

    vcm_arena_init(&arena, ARENA_BYTES_MAX);
    vcm_manifest_init(&manifest);
    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = open_place(&place, repository, err);
    if (rc == VCM_OK &&
        vcm_git_repo_resolve(&place.commit, place.repo, NULL, NULL, &unborn) == VCM_OK) {
        vcm_git_repo_id_to_hex(commit, &place.commit);
        summary.commit = commit;
        rc = vcm_lfs_fetch_manifest(&manifest, place.repo, &place.commit, err);
        summary.mode = mode_names[manifest.lfs.mode];
        if (rc == VCM_OK)
            rc = vcm_git_tree_walk(place.repo, &place.commit, "", take_entry, &walk, vcm->cancel,
                                   err);
    }
    if (rc == VCM_OK)
        rc = sort_pointers(&walk.first, err);
    if (rc == VCM_OK)
        rc = pass_pointers(&summary, walk.first, NULL, visit, context, err);
    if (rc == VCM_OK) {
        summary.repo_root = vcm_git_repo_root(place.repo);
        if (walk.gap_count > 1)
            qsort(walk.gaps, walk.gap_count, sizeof *walk.gaps, by_gap_path);
        summary.incomplete = walk.gaps;
        summary.incomplete_count = walk.gap_count;
        rc = sum(context, &summary, err);
    }
    close_place(&place);
    vcm_manifest_release(&manifest);
    vcm_arena_release(&arena);
    free(walk.gaps);
    return rc;
}

/* A mapped scope and the paths whose content is missing. */
struct scope {
    const char *id, *root, *commit;
    const char **paths;
    size_t count, capacity;
    struct pointer *pointers;
    struct scope *next;
};

struct pull {
    struct vcm *vcm;
    struct vcm_arena arena;
    struct vcm_names_scope name;
    bool is_named;
    struct scope *scopes, **last;
    char problem[sizeof((struct vcm_error *)0)->message];
};

static int take_scope(void *context, const struct vcm_scope_info *info, struct vcm_error *err)
{
    struct pull *pull = context;

    if (info->coverage.lfs_missing == 0 || !info->commit || /* a working tree has no commit */
        (pull->is_named &&
         !vcm_names_scope_matches(&pull->name, vcm_slice_of_string(info->scope_id))))
        return VCM_OK;
    struct scope *scope = vcm_arena_alloc(&pull->arena, sizeof *scope);
    if (!scope)
        return vcm_error_memory(err);
    scope->id = vcm_arena_copy(&pull->arena, vcm_slice_of_string(info->scope_id));
    scope->root = vcm_arena_copy(&pull->arena, vcm_slice_of_string(info->repo_root));
    scope->commit = vcm_arena_copy(&pull->arena, vcm_slice_of_string(info->commit));
    *pull->last = scope;
    pull->last = &scope->next;
    return scope->id && scope->root && scope->commit ? VCM_OK : vcm_error_memory(err);
}

static int find_name(struct pull *pull, const char *scope, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_handle_open_for_reading(pull->vcm, err);
    if (rc == VCM_OK && !pull->vcm->store)
        rc = vcm_names_no_scope(scope, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&txn, pull->vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_names_find_scope(&pull->name, txn, scope, true, err);
    vcm_kv_handle_read_end(txn);
    pull->is_named = rc == VCM_OK;
    return rc;
}

struct collector {
    struct pull *pull;
    struct scope *scope;
};

static int pass_over_scope(void *context, const struct vcm_scope_info *info, struct vcm_error *err)
{
    (void)context;
    (void)info;
    (void)err;
    return VCM_OK;
}

static int take_path(void *context, const struct vcm_coverage_file *file, struct vcm_error *err)
{
    struct collector *c = context;
    struct scope *scope = c->scope;

    int rc = vcm_array_reserve_in(&c->pull->arena, &scope->paths, &scope->capacity,
                                  scope->count + 1, VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_TREE_PATH_BYTES);
    vcm_utf8_unescape_path(&path, vcm_slice_of_string(file->path));
    scope->paths[scope->count] = vcm_arena_copy(&c->pull->arena, vcm_buf_slice(&path));
    vcm_buf_release(&path);
    return scope->paths[scope->count++] ? VCM_OK : vcm_error_memory(err);
}

/* Looks up the pointers of the scope's paths, and which of them were fetched in the meantime. */
static int look_up(struct pull *pull, struct scope *scope, struct place *place,
                   struct vcm_error *err)
{
    struct walk walk = {.place = place, .arena = &pull->arena, .last = &scope->pointers};
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < scope->count; i++) {
        struct vcm_git_entry entry;
        rc = vcm_git_tree_entry(&entry, place->repo, &place->commit, scope->paths[i], err);
        if (rc == VCM_OK)
            rc = take_entry(&walk, &entry, err);
    }
    return rc;
}

/* Whether the repository is one of vcm's clones in the home. */
static bool is_clone_of_ours(const struct vcm *vcm, const struct scope *scope)
{
    char *directory = realpath(vcm->clones.directory, NULL);
    size_t len = directory ? strlen(directory) : 0;
    bool ours = len > 0 && strncmp(scope->root, directory, len) == 0 && scope->root[len] == '/';
    free(directory);
    return ours;
}

static int fetch(struct pull *pull, struct scope *scope, struct place *place, struct vcm_error *err)
{
    struct vcm_command git = {.directory = scope->root, .cancel = pull->vcm->cancel};
    struct vcm_plan_request clones = {.repository = NULL};
    struct vcm_lfs_fetch_place where = {.git = &git};
    struct vcm_buf origin = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_manifest manifest;
    size_t count = 0;

    const char **paths = calloc(scope->count + 1, sizeof *paths);
    if (!paths)
        return vcm_error_memory(err);
    for (const struct pointer *p = scope->pointers; p; p = p->next)
        if (!p->present)
            paths[count++] = p->tree_path;
    int rc = vcm_lfs_fetch_manifest(&manifest, place->repo, &place->commit, err);
    if (rc == VCM_OK)
        rc = vcm_handle_clones(&clones, pull->vcm, FETCH_TIMEOUT_MS, err);
    git.memory_max = pull->vcm->clones.memory_max;
    git.bytes_max = pull->vcm->clones.bytes_max;
    if (rc == VCM_OK && is_clone_of_ours(pull->vcm, scope)) {
        where.clones = &pull->vcm->clones;
        rc = vcm_git_repo_origin(&origin, place->repo, err);
        where.origin_url = vcm_buf_text(&origin);
    }
    if (rc == VCM_OK && count > 0)
        rc = vcm_lfs_fetch_paths(&where, &manifest.lfs, scope->commit, paths, count, err);
    vcm_manifest_release(&manifest);
    vcm_buf_release(&origin);
    free(paths);
    return rc;
}

static int look_again(struct scope *scope, struct place *place, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (struct pointer *p = scope->pointers; rc == VCM_OK && p; p = p->next) {
        if (p->present)
            continue;
        rc = vcm_lfs_objects_has(&p->present, place->objects, &p->pointer, err);
        p->fetched = p->present;
    }
    return rc;
}

/* A failure of one scope does not stop the others. */
static int pull_scope(struct pull *pull, struct scope *scope, struct vcm_error *err)
{
    struct collector collector = {pull, scope};
    const struct vcm_coverage_query query = {.scope = scope->id,
                                             .reason = vcm_outcome_name(VCM_SOURCE_LFS_MISSING)};
    struct place place = {.repo = NULL};
    struct vcm_error failure = {0};

    int rc = vcm_coverage(pull->vcm, &query, pass_over_scope, take_path, &collector, err);
    if (rc != VCM_OK)
        return rc;
    rc = open_place(&place, scope->root, &failure);
    if (rc == VCM_OK)
        rc = vcm_git_repo_resolve(&place.commit, place.repo, NULL, scope->commit, &failure);
    if (rc == VCM_OK)
        rc = look_up(pull, scope, &place, &failure);
    if (rc == VCM_OK) {
        rc = fetch(pull, scope, &place, &failure);
        int again = look_again(scope, &place, &failure);
        rc = rc == VCM_OK ? again : rc;
    }
    close_place(&place);
    if (rc == VCM_INTERRUPTED)
        return vcm_error_set(err, failure.code, "%s", failure.message);
    if (rc != VCM_OK && !pull->problem[0])
        memcpy(pull->problem, failure.message, sizeof pull->problem);
    return VCM_OK;
}

int vcm_lfs_pull(struct vcm *vcm, const char *scope, vcm_lfs_file_fn visit, vcm_lfs_summary_fn sum,
                 void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(visit), VCM_ARGUMENT(sum));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"scope", scope});
    if (rc != VCM_OK)
        return rc;
    struct pull pull = {.vcm = vcm, .last = &pull.scopes};
    struct vcm_lfs_summary summary = {.files = 0};

    vcm_arena_init(&pull.arena, ARENA_BYTES_MAX);
    rc = scope ? find_name(&pull, scope, err) : VCM_OK;
    if (rc == VCM_OK)
        rc = vcm_scopes(vcm, take_scope, &pull, err);
    for (struct scope *s = pull.scopes; rc == VCM_OK && s; s = s->next) {
        rc = pull_scope(&pull, s, err);
        if (rc == VCM_OK)
            rc = pass_pointers(&summary, s->pointers, s->id, visit, context, err);
    }
    summary.error = vcm_handle_text_or_null(pull.problem);
    if (rc == VCM_OK)
        rc = sum(context, &summary, err);
    vcm_arena_release(&pull.arena);
    return rc;
}
