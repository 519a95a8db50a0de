#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/grep_search.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/ordered.h"
#include "sources/blob_reader.h"

#include "base/banned.h"

#define BATCH_BYTES ((size_t)1 * VCM_GIB)
#define OPEN_TIMES  3u /* that transactions are begun until all see the same */

/* What the caller's thread keeps. */
struct collection {
    struct vcm_grep_search *search;
    struct vcm_grep_result *result;
    struct vcm_grep_batch *first, *last; /* with matches that are visited, in order */
    struct vcm_grep_gap gaps[VCM_GREP_GAPS_NAMED];
    size_t gap_count;
    struct vcm_arena arena; /* of the gaps */
    uint64_t limit, visited;
    bool has_begun; /* the place where to begin was passed */
    bool saw_path;  /* of that place */
};

/* Shared by the two kinds of jobs. */

bool vcm_grep_takes(const struct vcm_grep_search *search, struct vcm_slice path)
{
    return search->globs.count == 0 || vcm_glob_list_takes(&search->globs, path);
}

int vcm_grep_add_job(struct vcm_grep_search *search, const struct vcm_scope *scope, size_t first,
                     size_t end, struct vcm_error *err)
{
    int rc = vcm_array_reserve(&search->jobs, &search->job_capacity, search->job_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);

    if (rc == VCM_OK)
        search->jobs[search->job_count++] =
            (struct vcm_grep_job){.scope = scope, .first = first, .end = end};
    return rc;
}

int vcm_grep_search_file(struct vcm_grep_batch *batch, struct vcm_grep_file **added,
                         const struct vcm_grep_search *search, struct vcm_grep_worker *worker,
                         const struct vcm_grep_file *file, struct vcm_slice text,
                         struct vcm_error *err)
{
    struct vcm_grep_wish wish = {
        .first_only = search->query->files_only,
        .keep = !atomic_load_explicit(&search->only_count, memory_order_relaxed),
        .context = search->query->context,
    };
    struct vcm_grep_hits hits;

    batch->searched++;
    int rc = vcm_grep_text_search(&hits, &batch->arena, worker->matcher, text, &wish, err);
    if (rc != VCM_OK || hits.total == 0)
        return rc;
    batch->matching++;
    batch->total += hits.total;
    if (!wish.keep)
        return VCM_OK;
    rc = vcm_array_reserve_in(&batch->arena, &batch->files, &batch->file_capacity,
                              batch->file_count + 1, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    *added = &batch->files[batch->file_count++];
    **added = *file;
    (*added)->hits = hits;
    return VCM_OK;
}

int vcm_grep_add_gap(struct vcm_grep_batch *batch, const char *path, const char *reason,
                     struct vcm_error *err)
{
    int rc = VCM_OK;

    if (batch->gap_count < VCM_GREP_GAPS_NAMED)
        rc = vcm_array_reserve_in(&batch->arena, &batch->gaps, &batch->gap_capacity,
                                  batch->gap_count + 1, VCM_GREP_GAPS_NAMED, err);
    if (rc == VCM_OK && batch->gap_count < VCM_GREP_GAPS_NAMED)
        batch->gaps[batch->gap_count++] = (struct vcm_grep_gap){.path = path, .reason = reason};
    batch->gaps_total++;
    return rc;
}

/* Workers */

static void drop_batch(void *result)
{
    struct vcm_grep_batch *batch = result;

    if (batch)
        vcm_arena_release(&batch->arena);
    free(batch);
}

static void *run_job(void *context, size_t job, unsigned worker, struct vcm_error *err)
{
    struct vcm_grep_search *search = context;
    struct vcm_grep_batch *batch = calloc(1, sizeof *batch);

    if (!batch) {
        vcm_error_memory(err);
        return NULL;
    }
    vcm_arena_init(&batch->arena, BATCH_BYTES);
    const struct vcm_grep_job *todo = &search->jobs[job];
    int rc = (todo->scope ? vcm_grep_pages_run : vcm_grep_commit_run)(
        batch, search, &search->workers[worker], todo, err);
    if (rc == VCM_OK)
        return batch;
    drop_batch(batch);
    return NULL;
}

static void close_workers(struct vcm_grep_search *search)
{
    for (unsigned i = 0; i < search->worker_count; i++) {
        struct vcm_grep_worker *worker = &search->workers[i];
        vcm_kv_handle_read_end(worker->txn);
        vcm_page_cache_close(worker->cache);
        vcm_blob_reader_close(worker->blobs);
        vcm_regex_matcher_close(worker->matcher);
        vcm_buf_release(&worker->text);
        vcm_buf_release(&worker->bytes);
        vcm_arena_release(&worker->symbols);
        *worker = (struct vcm_grep_worker){.matcher = NULL};
    }
    search->worker_count = 0;
}

static int open_workers(struct vcm_grep_search *search, bool pages, struct vcm_error *err)
{
    const struct vcm_ordered ordered = {.jobs = search->job_count};
    unsigned count = vcm_ordered_workers(&ordered);
    int rc = VCM_OK;

    while (rc == VCM_OK && search->worker_count < count) {
        struct vcm_grep_worker *worker = &search->workers[search->worker_count++];
        vcm_buf_init(&worker->text, 4 * VCM_LIMIT_FILE_BYTES);
        vcm_buf_init(&worker->bytes, 2 * VCM_LIMIT_FILE_BYTES);
        vcm_arena_init(&worker->symbols, VCM_GIB);
        rc = vcm_regex_matcher_open(&worker->matcher, search->regex, search->deadline_ms,
                                    search->vcm->cancel, err);
        if (rc == VCM_OK)
            rc = (pages ? vcm_grep_pages_open_worker : vcm_grep_commit_open_worker)(worker, search,
                                                                                    err);
    }
    return rc;
}

/* Whether a transaction sees the page tables that the jobs were made of. */
static bool sees_same(const struct vcm_grep_search *search, struct vcm_kv_txn *txn)
{
    for (size_t i = 0; i < search->place_count; i++)
        for (size_t s = 0; s < search->places[i]->scope_count; s++) {
            const struct vcm_scope *mine = &search->places[i]->scopes[s];
            struct vcm_scope now = {.memory = NULL};
            struct vcm_error ignored = {0};
            int rc = vcm_page_store_scope(&now, txn, mine->scope_id, &ignored);
            bool same = rc == VCM_OK && now.mapping == mine->mapping;
            vcm_scope_release(&now);
            if (!same)
                return false;
        }
    return true;
}

/* Places */

static int open_place(struct vcm_grep_search *search, const struct vcm_place_query *query,
                      struct vcm_error *err)
{
    int rc = vcm_place_open(&search->places[search->place_count], search->vcm, query, err);

    search->place_count += rc == VCM_OK;
    return rc;
}

static int by_scope(const void *a, const void *b)
{
    const struct vcm_place *x = *(struct vcm_place *const *)a, *y = *(struct vcm_place *const *)b;
    struct vcm_slice left = x->scope_count > 0 ? x->scopes[0].scope_id : vcm_slice_of("", 0);
    struct vcm_slice right = y->scope_count > 0 ? y->scopes[0].scope_id : vcm_slice_of("", 0);
    int order = memcmp(left.data, right.data, left.len < right.len ? left.len : right.len);

    return order != 0 ? order : (left.len > right.len) - (left.len < right.len);
}

/* A scope that was named twice is searched once. */
static void drop_twins(struct vcm_grep_search *search)
{
    size_t kept = 0;

    for (size_t i = 0; i < search->place_count; i++) {
        if (kept > 0 && by_scope(&search->places[kept - 1], &search->places[i]) == 0)
            vcm_place_close(search->places[i]);
        else
            search->places[kept++] = search->places[i];
    }
    search->place_count = kept;
}

static int open_places(struct vcm_grep_search *search, struct vcm_error *err)
{
    const struct vcm_grep_query *query = search->query;
    size_t count = query->scope_count > 0 ? query->scope_count : 1;
    int rc = VCM_OK;

    search->places = calloc(count, sizeof(struct vcm_place *));
    if (!search->places)
        return vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < query->scope_count; i++) {
        struct vcm_place_query one = query->place;
        one.scope = query->scopes[i];
        rc = open_place(search, &one, err);
    }
    if (query->scope_count == 0)
        rc = open_place(search, &query->place, err);
    if (rc == VCM_OK && query->scope_count > 1) {
        for (size_t i = 0; i < search->place_count; i++)
            if (search->places[i]->source != VCM_PLACE_PAGE)
                return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                                     "a commit or a working tree is searched in one scope at a "
                                     "time");
        qsort(search->places, search->place_count, sizeof(struct vcm_place *), by_scope);
        drop_twins(search);
    }
    return rc;
}

static void close_places(struct vcm_grep_search *search)
{
    for (size_t i = 0; i < search->place_count; i++)
        vcm_place_close(search->places[i]);
    free(search->places);
    search->places = NULL;
    search->place_count = 0;
    search->entry_count = 0;
    search->job_count = 0;
}

/* Opens places and workers, and makes the jobs. VCM_RETRY when a scope was mapped in between. */
static int prepare(struct vcm_grep_search *search, struct vcm_error *err)
{
    int rc = open_places(search, err);

    if (rc != VCM_OK)
        return rc;
    bool pages = search->places[0]->source == VCM_PLACE_PAGE;
    for (size_t i = 0; rc == VCM_OK && i < search->place_count; i++)
        rc = (pages ? vcm_grep_pages_list : vcm_grep_commit_list)(search, search->places[i], err);
    if (rc == VCM_OK && search->job_count > 0)
        rc = open_workers(search, pages, err);
    if (rc == VCM_OK && pages && search->worker_count > 0 &&
        !sees_same(search, search->workers[search->worker_count - 1].txn))
        rc = VCM_RETRY;
    return rc;
}

/* The caller's thread */

static int compare_path(const struct collection *collection, const struct vcm_grep_file *file)
{
    return strcmp(file->path, collection->search->query->from_path);
}

/* Whether the match is at or behind the place where to begin. */
static bool is_begun(struct collection *collection, const struct vcm_grep_file *file,
                     const struct vcm_grep_hit *hit)
{
    const struct vcm_grep_query *query = collection->search->query;

    if (collection->has_begun)
        return true;
    if (file->scope && query->from_scope) {
        struct vcm_slice from = vcm_slice_of_string(query->from_scope), id = file->scope->scope_id;
        int order = memcmp(id.data, from.data, id.len < from.len ? id.len : from.len);
        order = order != 0 ? order : (id.len > from.len) - (id.len < from.len);
        if (order != 0)
            return collection->has_begun = order > 0;
        /* In the order of the page table: what follows the file is behind the place. */
        bool same = compare_path(collection, file) == 0;
        collection->has_begun = same ? hit->line >= query->from_line : collection->saw_path;
        collection->saw_path |= same;
    } else {
        int order = compare_path(collection, file);
        collection->has_begun = order > 0 || (order == 0 && hit->line >= query->from_line);
    }
    return collection->has_begun;
}

/* Chooses the matches of a file that are visited. */
static void choose(struct collection *collection, struct vcm_grep_file *file)
{
    file->first = 0;
    while (file->first < file->hits.kept &&
           !is_begun(collection, file, &file->hits.hits[file->first]))
        file->first++;
    uint64_t left = collection->limit - collection->visited;
    size_t rest = file->hits.kept - file->first;
    file->end = file->first + (rest < left ? rest : (size_t)left);
    collection->visited += file->end - file->first;
    collection->result->truncated |= rest > left;
}

static int take_gaps(struct collection *collection, const struct vcm_grep_batch *batch,
                     struct vcm_error *err)
{
    for (size_t i = 0; i < batch->gap_count && collection->gap_count < VCM_GREP_GAPS_NAMED; i++) {
        const char *path =
            vcm_arena_copy(&collection->arena, vcm_slice_of_string(batch->gaps[i].path));
        if (!path)
            return vcm_error_memory(err);
        collection->gaps[collection->gap_count++] =
            (struct vcm_grep_gap){.path = path, .reason = batch->gaps[i].reason};
    }
    collection->result->gaps += batch->gaps_total;
    return VCM_OK;
}

static int take_batch(void *context, size_t job, void *result, struct vcm_error *err)
{
    struct vcm_grep_search *search = context;
    struct collection *collection = search->collection;
    struct vcm_grep_batch *batch = result;
    uint64_t before = collection->visited, kept = 0;

    (void)job;
    collection->result->searched += batch->searched;
    collection->result->files += batch->matching;
    collection->result->total += batch->total;
    int rc = take_gaps(collection, batch, err);
    for (size_t i = 0; i < batch->file_count; i++) {
        choose(collection, &batch->files[i]);
        kept += batch->files[i].hits.kept;
    }
    /* Matches that were only counted come behind the last that is visited. */
    collection->result->truncated |= batch->total > kept;
    if (collection->visited == collection->limit)
        atomic_store_explicit(&search->only_count, true, memory_order_relaxed);
    if (collection->visited == before) {
        drop_batch(batch);
        return rc;
    }
    if (collection->last)
        collection->last->next = batch;
    else
        collection->first = batch;
    collection->last = batch;
    return rc;
}

static int visit_match(const struct vcm_grep_visitor *visitor, const struct vcm_grep_file *file,
                       const struct vcm_grep_hit *hit, const char *scope_id, struct vcm_error *err)
{
    const struct vcm_grep_match match = {
        .scope_id = scope_id,
        .page_id = hit->page_id,
        .path = file->path,
        .line = hit->line,
        .column = hit->column,
        .symbol = hit->symbol,
        .text = hit->text,
        .before = (const char *const *)hit->before,
        .before_count = hit->before_count,
        .after = (const char *const *)hit->after,
        .after_count = hit->after_count,
    };

    return visitor->match(visitor->context, &match, err);
}

static int visit_all(const struct collection *collection, const struct vcm_grep_visitor *visitor,
                     struct vcm_error *err)
{
    char scope_id[VCM_LIMIT_SCOPE_ID_BYTES + 1];
    int rc = VCM_OK;

    for (const struct vcm_grep_batch *batch = collection->first; batch; batch = batch->next)
        for (size_t i = 0; rc == VCM_OK && i < batch->file_count; i++) {
            const struct vcm_grep_file *file = &batch->files[i];
            if (file->scope) {
                assert(file->scope->scope_id.len < sizeof scope_id);
                memcpy(scope_id, file->scope->scope_id.data, file->scope->scope_id.len);
                scope_id[file->scope->scope_id.len] = '\0';
            }
            for (size_t h = file->first; rc == VCM_OK && h < file->end; h++)
                rc = visit_match(visitor, file, &file->hits.hits[h], file->scope ? scope_id : NULL,
                                 err);
        }
    for (size_t i = 0; rc == VCM_OK && visitor->gap && i < collection->gap_count; i++)
        rc = visitor->gap(visitor->context, &collection->gaps[i], err);
    return rc;
}

static int search_all(struct vcm_grep_search *search, struct vcm_grep_result *out,
                      const struct vcm_grep_visitor *visitor, struct vcm_error *err)
{
    struct collection collection = {
        .search = search,
        .result = out,
        .limit = search->query->limit > 0 && search->query->limit < VCM_LIMIT_LISTING_ROWS
                     ? search->query->limit
                     : VCM_LIMIT_LISTING_ROWS,
        .has_begun = !search->query->from_path,
    };

    vcm_arena_init(&collection.arena, VCM_GREP_GAPS_NAMED * 4 * VCM_LIMIT_TREE_PATH_BYTES);
    search->collection = &collection;
    int rc = vcm_ordered_run(&(struct vcm_ordered){.jobs = search->job_count,
                                                   .workers = search->worker_count,
                                                   .run = run_job,
                                                   .take = take_batch,
                                                   .drop = drop_batch,
                                                   .context = search},
                             err);
    out->complete = out->gaps == 0;
    if (rc == VCM_OK && !collection.has_begun && out->total > 0 && search->query->from_scope)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "the place where to go on, '%s', has no match any more; begin again",
                           search->query->from_path);
    if (rc == VCM_OK)
        rc = vcm_grep_symbols_set(search, collection.first, err);
    if (rc == VCM_OK)
        rc = visit_all(&collection, visitor, err);
    while (collection.first) {
        struct vcm_grep_batch *next = collection.first->next;
        drop_batch(collection.first);
        collection.first = next;
    }
    vcm_arena_release(&collection.arena);
    return rc;
}

/* The text of every match as it stands in the frame of a page: escaped. */
static int make_needle(struct vcm_grep_search *search, struct vcm_error *err)
{
    struct vcm_slice literal = vcm_regex_literal(search->regex);

    vcm_jsonw_escape(&search->needle, literal);
    int rc = vcm_buf_check(&search->needle, "the pattern", err);
    if (rc == VCM_OK) {
        vcm_buf_truncate(&search->needle, search->needle.len - 1);
        memmove(search->needle.data, search->needle.data + 1, search->needle.len);
        vcm_buf_truncate(&search->needle, search->needle.len - 1);
    }
    return rc;
}

static int compile(struct vcm_grep_search *search, struct vcm_error *err)
{
    const struct vcm_grep_query *query = search->query;
    const struct vcm_regex_options options = {
        .ignore_case = query->ignore_case, .word = query->word, .literal = query->literal};
    int rc = vcm_regex_open(&search->regex, query->pattern, &options, err);

    if (rc == VCM_OK)
        rc = make_needle(search, err);
    for (size_t i = 0; rc == VCM_OK && i < query->path_count; i++) {
        struct vcm_slice glob = vcm_slice_of_string(query->paths[i]);
        rc = vcm_glob_check(glob, err);
        if (rc == VCM_OK)
            rc = vcm_glob_list_add(&search->globs, glob, err);
    }
    return rc;
}

static int check_query(struct vcm *vcm, const struct vcm_grep_query *query, struct vcm_error *err)
{
    int rc =
        VCM_TEXTS(err, {"place.scope", query->place.scope}, {"place.commit", query->place.commit},
                  {"from_scope", query->from_scope}, {"from_path", query->from_path});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("paths", query->paths, query->path_count, VCM_ARGUMENT_TEXTS, err);
    if (rc == VCM_OK)
        rc = vcm_arguments_list("scopes", query->scopes, query->scope_count, VCM_ARGUMENT_TEXTS,
                                err);
    if (rc == VCM_OK && query->context > VCM_LIMIT_GREP_CONTEXT)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "at most %u lines around a match are shown",
                           VCM_LIMIT_GREP_CONTEXT);
    return rc == VCM_OK ? vcm_handle_config(vcm, err) : rc;
}

int vcm_grep(struct vcm_grep_result *out, struct vcm *vcm, const struct vcm_grep_query *query,
             const struct vcm_grep_visitor *visitor, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(query), VCM_ARGUMENT(visitor));
    if (rc != VCM_OK)
        return rc;
    *out = (struct vcm_grep_result){.complete = false};
    rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query->pattern), VCM_ARGUMENT(visitor->match));
    if (rc == VCM_OK)
        rc = check_query(vcm, query, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_grep_search *search = calloc(1, sizeof *search);
    if (!search)
        return vcm_error_memory(err);
    *search = (struct vcm_grep_search){.vcm = vcm, .query = query};
    search->deadline_ms = vcm_clock_ms() + VCM_LIMIT_GREP_MS;
    vcm_glob_list_init(&search->globs);
    vcm_buf_init(&search->needle, 6 * VCM_LIMIT_PATTERN_BYTES + 2);
    vcm_arena_init(&search->arena, 4 * VCM_GIB);
    rc = compile(search, err);
    if (rc == VCM_OK)
        rc = VCM_RETRY;
    for (unsigned i = 0; rc == VCM_RETRY && i < OPEN_TIMES; i++) {
        close_workers(search);
        close_places(search);
        rc = prepare(search, err);
    }
    if (rc == VCM_RETRY)
        rc = vcm_error_set(err, VCM_STORE_BUSY, "the scopes are being mapped; search again");
    if (rc == VCM_OK)
        rc = search_all(search, out, visitor, err);
    close_workers(search);
    close_places(search);
    free(search->entries);
    free(search->jobs);
    vcm_arena_release(&search->arena);
    vcm_buf_release(&search->needle);
    vcm_glob_list_release(&search->globs);
    vcm_regex_close(search->regex);
    free(search);
    return vcm_damage_note(vcm, rc, err);
}
