#include "repomap/knowledge.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/blob.h"
#include "git/tree.h"
#include "lfs/objects.h"
#include "repomap/route.h"
#include "sources/glob.h"
#include "sources/path_filter.h"

#include "base/banned.h"

/* A literature row of this repository. */
struct rule {
    const struct vcm_repo_map_row *row;
    uint32_t budget;
    struct vcm_glob_list include, exclude;
    bool includes_all;
};

struct vcm_knowledge_rules {
    struct rule *rules;
    unsigned count;
};

static int add_globs(struct vcm_glob_list *list, const struct vcm_repo_map_list *globs,
                     struct vcm_error *err)
{
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < globs->count; i++)
        rc = vcm_glob_list_add(list, vcm_slice_of_string(globs->items[i]), err);
    return rc;
}

static int add_rule(struct vcm_knowledge_rules *rules, const struct vcm_repo_map_row *row,
                    const struct vcm_plan_request *request, struct vcm_error *err)
{
    struct rule *rule = &rules->rules[rules->count++];
    struct vcm_repo_map_list include = vcm_repo_map_row_include(row);

    rule->row = row;
    rule->budget = vcm_plan_config_of(row, request).flush_token_budget;
    rule->includes_all = include.count == 0;
    vcm_glob_list_init(&rule->include);
    vcm_glob_list_init(&rule->exclude);
    int rc = add_globs(&rule->include, &include, err);
    if (rc == VCM_OK)
        rc = add_globs(&rule->exclude, &row->exclude_globs, err);
    return rc;
}

int vcm_knowledge_rules_open(struct vcm_knowledge_rules **out, const struct vcm_repo_map *map,
                             const struct vcm_plan_request *request, struct vcm_error *err)
{
    struct vcm_knowledge_rules *rules = calloc(1, sizeof *rules);
    int rc = VCM_OK;

    *out = NULL;
    if (rules)
        rules->rules = calloc((size_t)map->row_count + 1, sizeof *rules->rules);
    if (!rules || !rules->rules)
        rc = vcm_error_memory(err);
    for (unsigned i = 0; rc == VCM_OK && i < map->row_count; i++) {
        const struct vcm_repo_map_row *row = &map->rows[i];
        if (strcmp(row->type, VCM_REPO_MAP_LITERATURE) == 0 && !row->origin_url && !row->submodule)
            rc = add_rule(rules, row, request, err);
    }
    if (rc == VCM_OK)
        *out = rules;
    else
        vcm_knowledge_rules_close(rules);
    return rc;
}

void vcm_knowledge_rules_close(struct vcm_knowledge_rules *rules)
{
    if (!rules)
        return;
    for (unsigned i = 0; rules->rules && i < rules->count; i++) {
        vcm_glob_list_release(&rules->rules[i].include);
        vcm_glob_list_release(&rules->rules[i].exclude);
    }
    free(rules->rules);
    free(rules);
}

static bool covers(const struct rule *rule, struct vcm_slice path)
{
    size_t len = strlen(rule->row->start_dir);

    if (len > 0) {
        if (path.len <= len + 1 || memcmp(path.data, rule->row->start_dir, len) != 0 ||
            path.data[len] != '/')
            return false;
        path = vcm_slice_of(path.data + len + 1, path.len - len - 1);
    }
    return (rule->includes_all || vcm_glob_list_takes(&rule->include, path)) &&
           !vcm_glob_list_takes(&rule->exclude, path);
}

void vcm_knowledge_rules_apply(const struct vcm_knowledge_rules *rules, struct vcm_slice path,
                               struct vcm_ingestor_item *item)
{
    item->target_tokens = VCM_KNOWLEDGE_TARGET;
    item->overlap_tokens = VCM_KNOWLEDGE_OVERLAP;
    item->token_budget = VCM_KNOWLEDGE_BUDGET;
    for (unsigned i = 0; rules && i < rules->count; i++) {
        if (!covers(&rules->rules[i], path))
            continue;
        item->target_tokens = rules->rules[i].row->chunk_target_tokens;
        item->overlap_tokens = rules->rules[i].row->chunk_overlap_tokens;
        item->token_budget = rules->rules[i].budget;
        return;
    }
}

bool vcm_knowledge_rules_cover(const struct vcm_knowledge_rules *rules, struct vcm_slice path)
{
    for (unsigned i = 0; i < rules->count; i++)
        if (covers(&rules->rules[i], path))
            return true;
    return false;
}

/* Reads the content of an LFS pointer; the repository is open. */
static int read_object(struct vcm_buf *bytes, struct vcm_git_repo *repo,
                       const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    struct vcm_lfs_objects *objects = NULL;
    bool exists = false;

    if (pointer->size > VCM_LIMIT_DOCUMENT_BYTES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "%s: larger than %zu bytes",
                             vcm_outcome_reason_name(VCM_REASON_OVER_THE_LIMITS),
                             VCM_LIMIT_DOCUMENT_BYTES);
    if (pointer->extensions > 0)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "%s: the content was changed before it was stored",
                             vcm_outcome_reason_name(VCM_REASON_LFS_EXTENSION));
    int rc = vcm_lfs_objects_open(&objects, repo, err);
    if (rc == VCM_OK)
        rc = vcm_lfs_objects_has(&exists, objects, pointer, err);
    if (rc == VCM_OK && !exists)
        rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "lfs_missing: the content of this Git LFS pointer is not here; run "
                           "'vcm lfs pull' or 'git lfs fetch'");
    if (rc == VCM_OK) {
        vcm_buf_clear(bytes);
        rc = vcm_lfs_objects_read(bytes, objects, pointer, err);
    }
    vcm_lfs_objects_close(objects);
    return rc;
}

int vcm_knowledge_resolve_pointer(struct vcm_buf *bytes, const char *repository,
                                  struct vcm_error *err)
{
    struct vcm_lfs_pointer pointer;
    struct vcm_git_repo *repo = NULL;

    if (bytes->len > VCM_LFS_POINTER_BYTES_MAX ||
        !vcm_lfs_pointer_parse(&pointer, vcm_buf_slice(bytes)))
        return VCM_OK;
    int rc = vcm_git_repo_open(&repo, repository, err);
    if (rc == VCM_OK)
        rc = read_object(bytes, repo, &pointer, err);
    vcm_git_repo_close(repo);
    return rc;
}

/* A file of the tree to ingest. */
struct file {
    const char *root;
    struct vcm_git_id id;
};

struct collection {
    const struct vcm_plan *plan;
    const struct vcm_knowledge_rules *rules;
    const char *profile;
    struct vcm_arena arena;
    struct vcm_ingestor_item *items;
    size_t count, capacity;
};

/* Runs in a worker thread, with a repository of its own. */
static int read_blob(struct vcm_buf *out, const struct vcm_ingestor_item *item,
                     struct vcm_error *err)
{
    const struct file *file = item->context;
    struct vcm_git_repo *repo = NULL;
    uint64_t size = 0;

    int rc = vcm_git_repo_open(&repo, file->root, err);
    if (rc == VCM_OK)
        rc = vcm_git_blob_size(&size, repo, &file->id, err);
    if (rc == VCM_OK && size > VCM_LIMIT_DOCUMENT_BYTES)
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "%s: larger than %zu bytes",
                           vcm_outcome_reason_name(VCM_REASON_OVER_THE_LIMITS),
                           VCM_LIMIT_DOCUMENT_BYTES);
    if (rc == VCM_OK)
        rc = vcm_git_blob_read(out, repo, &file->id, err);
    if (rc == VCM_OK)
        rc = vcm_knowledge_resolve_pointer(out, file->root, err);
    vcm_git_repo_close(repo);
    return rc;
}

static int add_item(struct collection *c, const struct vcm_git_entry *entry, const char *profile,
                    struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);

    int rc = vcm_array_reserve(&c->items, &c->capacity, c->count + 1, VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    struct file *file = vcm_arena_alloc(&c->arena, sizeof *file);
    vcm_utf8_escape_path(&path, entry->path);
    char *copy = vcm_arena_copy(&c->arena, vcm_buf_slice(&path));
    vcm_buf_release(&path);
    if (!file || !copy)
        return vcm_error_memory(err);
    *file = (struct file){c->plan->repo_root, entry->id};
    struct vcm_ingestor_item *item = &c->items[c->count++];
    *item = (struct vcm_ingestor_item){
        .source = c->plan->base_scope,
        .path = copy,
        .profile = profile ? profile : c->profile,
        .from_tree = true,
        .read = read_blob,
        .context = file,
    };
    vcm_knowledge_rules_apply(c->rules, entry->path, item);
    return VCM_OK;
}

static int take_entry(void *context, const struct vcm_git_entry *entry,
                      const struct vcm_path_filter_verdict *verdicts, unsigned count,
                      struct vcm_error *err)
{
    struct collection *c = context;
    const struct vcm_repo_map *map = &c->plan->map;

    if (entry->kind == VCM_GIT_SYMLINK || entry->kind == VCM_GIT_SUBMODULE)
        return VCM_OK;
    struct vcm_route_decision decision = vcm_route_decide(map, 0, verdicts, count);
    if (decision.outcome != VCM_ROUTE_INGESTED)
        return VCM_OK;
    return add_item(c, entry, map->routes[decision.route].profile, err);
}

static int compare_items(const void *a, const void *b)
{
    const struct vcm_ingestor_item *x = a;
    const struct vcm_ingestor_item *y = b;
    return strcmp(x->path, y->path);
}

static int collect(struct collection *c, const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct vcm_path_filter *filter = NULL;

    int rc = vcm_path_filter_open(&filter, err);
    if (rc == VCM_OK) {
        vcm_path_filter_skip_excluded(filter);
        rc = vcm_route_add_to_filter(filter, &c->plan->map, err);
    }
    if (rc == VCM_OK)
        rc = vcm_path_filter_walk(filter, c->plan->repo, &c->plan->commit_id, "", take_entry, c,
                                  cancel, err);
    vcm_path_filter_close(filter);
    if (rc == VCM_OK && c->count > 0)
        qsort(c->items, c->count, sizeof *c->items, compare_items);
    return rc;
}

/* The documents that the tree no longer has. Paths are compared in their stored (escaped) form. */
struct losses {
    struct vcm_arena arena;
    const char **paths; /* of the tree, in byte order */
    size_t count, capacity;
    vcm_ingestor_fn visit;
    void *context;
};

static int note_path(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct losses *l = context;
    struct vcm_buf path = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);

    int rc = vcm_array_reserve(&l->paths, &l->capacity, l->count + 1, VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    vcm_utf8_escape_path(&path, entry->path);
    l->paths[l->count] = vcm_arena_copy(&l->arena, vcm_buf_slice(&path));
    vcm_buf_release(&path);
    return l->paths[l->count++] ? VCM_OK : vcm_error_memory(err);
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether the tree no longer has the path. */
static bool is_lost(void *context, struct vcm_slice path)
{
    struct losses *l = context;
    const char *key = path.data;

    return !bsearch(&key, l->paths, l->count, sizeof *l->paths, compare_paths);
}

static int tell_removed(void *context, const struct vcm_database_document *document,
                        struct vcm_error *err)
{
    struct losses *l = context;
    struct vcm_ingestor_item item = {
        .source = document->source, .path = document->path, .profile = document->profile};
    struct vcm_ingestor_result result = {.item = &item,
                                         .status = VCM_INGESTOR_REMOVED,
                                         .data_type = document->data_type,
                                         .chunks = document->chunks};

    return l->visit(l->context, &result, err);
}

static int remove_lost(const struct vcm_plan *plan, const struct vcm_ingestor_options *options,
                       vcm_ingestor_fn visit, void *context, struct vcm_error *err)
{
    struct losses l = {.visit = visit, .context = context};
    struct vcm_database_filter filter = {
        .source = plan->base_scope, .from_tree = true, .takes = is_lost, .context = &l};

    vcm_arena_init(&l.arena, VCM_GIB);
    int rc =
        vcm_git_tree_walk(plan->repo, &plan->commit_id, "", note_path, &l, options->cancel, err);
    if (rc == VCM_OK) {
        if (l.count > 0)
            qsort(l.paths, l.count, sizeof *l.paths, compare_paths);
        rc = vcm_database_remove(options->store, &filter, tell_removed, &l, err);
    }
    free(l.paths);
    vcm_arena_release(&l.arena);
    return rc;
}

int vcm_knowledge_run(const struct vcm_plan *plan, const struct vcm_plan_request *request,
                      const char *profile, const struct vcm_ingestor_options *options,
                      vcm_ingestor_fn visit, void *context, struct vcm_error *err)
{
    struct vcm_knowledge_rules *rules = NULL;
    struct collection c = {.plan = plan, .profile = profile};

    vcm_arena_init(&c.arena, VCM_GIB);
    int rc = vcm_knowledge_rules_open(&rules, &plan->map, request, err);
    c.rules = rules;
    if (rc == VCM_OK)
        rc = collect(&c, options->cancel, err);
    if (rc == VCM_OK)
        rc = vcm_ingestor_run(options, c.items, c.count, visit, context, err);
    if (rc == VCM_OK)
        rc = remove_lost(plan, options, visit, context, err);
    vcm_knowledge_rules_close(rules);
    free(c.items);
    vcm_arena_release(&c.arena);
    return rc;
}
