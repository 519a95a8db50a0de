#include "kb/database_internal.h"

#include <stdlib.h>

#include "base/limits.h"
#include "kb/query.h"

#include "base/banned.h"

#define RANKED_MAX      8000 /* chunks that are ranked one by one */
#define TITLED_MAX      4000 /* of them, those with the terms in their section */
#define CANDIDATES_MORE 64   /* candidates in addition to three for each hit */
#define BATCH_MAX       64   /* candidates that are examined in one query */
#define MARKS_BYTES_MAX (64 * VCM_MIB)

/* What a hit's neighbours are compared with. */
struct hit {
    int64_t document;
    int64_t seq;
    size_t overlap;
};

/* A chunk that matches, by its row. */
struct candidate {
    double score;
    int64_t row;
    const char *marked, *snippet; /* set when it is examined */
};

struct finder {
    struct vcm_database *store;
    const struct vcm_database_search *search;
    struct vcm_query query;
    struct vcm_buf match; /* the expression for FTS5 */
    struct hit *hits;
    uint32_t hit_count, limit;
    struct candidate *best; /* the best of those that match, as a heap with the worst on top */
    size_t best_count, best_max;
    struct vcm_arena arena; /* of the examined candidates */
    uint64_t total;
    uint64_t tokens;
    vcm_database_chunk_fn visit;
    void *context;
};

/* Restricts to chunks of the documents that match the filter, which are read once. */
#define IS_FILTERED                                                                                \
    " AND +rowid IN (SELECT c.id FROM chunks c WHERE c.document IN"                                \
    " (SELECT id FROM documents WHERE " VCM_DATABASE_FILTER "))"

static bool is_filtered(const struct finder *f)
{
    return f->search->filter.profile || f->search->filter.source || f->search->filter.takes;
}

static int count_matches(int64_t *out, struct finder *f, struct vcm_error *err)
{
    sqlite3_stmt *statement;
    bool filtered = is_filtered(f);
    bool more = false;

    *out = 0;
    int rc = vcm_buf_check(&f->match, "the query", err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_database_prepare(&statement, f->store,
                              filtered
                                  ? "SELECT count(*) FROM search WHERE search MATCH ?1" IS_FILTERED
                                  : "SELECT count(*) FROM search WHERE search MATCH ?1",
                              err);
    if (rc != VCM_OK)
        return rc;
    vcm_database_bind_slice(statement, 1, vcm_buf_slice(&f->match));
    if (filtered)
        vcm_database_bind_filter(statement, &f->search->filter);
    rc = vcm_database_next_row(&more, f->store, statement, err);
    if (more)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return rc;
}

/* Joins the terms that are not omitted. */
static void join_terms(struct finder *f, const bool *left_out, const char *operator)
{
    vcm_buf_clear(&f->match);
    for (unsigned i = 0; i < f->query.count; i++) {
        if (left_out && left_out[i])
            continue;
        if (f->match.len > 0)
            vcm_buf_append_string(&f->match, operator);
        vcm_query_quote(&f->match, &f->query.terms[i]);
    }
}

/* Any of the terms, the rarest first, while the number of chunks that have them is small enough:
 * frequent terms distinguish least and cost most. */
static int widen(struct finder *f, struct vcm_error *err)
{
    bool left_out[VCM_QUERY_TERMS_MAX];
    int64_t matches[VCM_QUERY_TERMS_MAX] = {0};
    int64_t taken = 0;
    int rc = VCM_OK;

    for (unsigned i = 0; rc == VCM_OK && i < f->query.count; i++) {
        left_out[i] = true;
        vcm_buf_clear(&f->match);
        vcm_query_quote(&f->match, &f->query.terms[i]);
        rc = count_matches(&matches[i], f, err);
    }
    for (unsigned rounds = 0; rc == VCM_OK && rounds < f->query.count; rounds++) {
        unsigned rarest = f->query.count;
        for (unsigned i = 0; i < f->query.count; i++) {
            if (left_out[i] && matches[i] > 0 &&
                (rarest == f->query.count || matches[i] < matches[rarest]))
                rarest = i;
        }
        if (rarest == f->query.count || (taken > 0 && taken + matches[rarest] > RANKED_MAX))
            break;
        left_out[rarest] = false;
        taken += matches[rarest];
    }
    join_terms(f, taken > 0 ? left_out : NULL, " OR ");
    return rc;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    return a->score != b->score ? a->score > b->score : a->row < b->row;
}

/* Moves the candidate at `at` down the heap, below the worse ones. */
static void sink(struct candidate *heap, size_t count, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && is_better(&heap[child], &heap[child + 1]))
            child++;
        if (child >= count || is_better(&heap[child], &heap[at]))
            return;
        struct candidate other = heap[at];
        heap[at] = heap[child];
        heap[child] = other;
        at = child;
    }
}

static void offer(struct finder *f, const struct candidate *candidate)
{
    if (f->best_count < f->best_max) {
        f->best[f->best_count++] = *candidate;
        for (size_t i = f->best_count / 2; f->best_count == f->best_max && i > 0; i--)
            sink(f->best, f->best_count, i - 1);
    } else if (is_better(candidate, &f->best[0])) {
        f->best[0] = *candidate;
        sink(f->best, f->best_count, 0);
    }
}

static int compare_candidates(const void *a, const void *b)
{
    return is_better(a, b) ? -1 : 1;
}

/* Binds the expression for chunks with the terms in their section to ?7. */
static int bind_titled(sqlite3_stmt *statement, const struct finder *f, struct vcm_buf *titled,
                       struct vcm_error *err)
{
    vcm_buf_append_string(titled, "section : (");
    vcm_buf_append_slice(titled, vcm_buf_slice(&f->match));
    vcm_buf_append_string(titled, ")");
    vcm_database_bind_slice(statement, 7, vcm_buf_slice(titled));
    return vcm_buf_check(titled, "the query", err);
}

/* Ranks what matches. Ranking costs far more than counting, so of more than RANKED_MAX chunks only
 * a part is ranked: those with the terms in their section and an even sample of the others. Such
 * terms are in every eighth chunk of a large knowledge base, and distinguish the chunks little. */
static int rank(struct finder *f, struct vcm_error *err)
{
#define SELECT_RANK   "SELECT rowid, -bm25(search, 2.0, 1.0) FROM search WHERE search MATCH ?1"
#define SELECT_TITLED "SELECT rowid FROM search WHERE search MATCH ?7 LIMIT ?8"
#define IS_SAMPLED    " AND (rowid % ?6 = 0 OR +rowid IN (" SELECT_TITLED "))"
    static const char *const statements[] = {
        SELECT_RANK,
        SELECT_RANK IS_SAMPLED,
        SELECT_RANK IS_FILTERED,
        SELECT_RANK IS_SAMPLED IS_FILTERED,
    };
    const struct vcm_database_filter *filter = &f->search->filter;
    struct vcm_buf titled = VCM_BUF_INIT(10 * VCM_QUERY_BYTES_MAX);
    sqlite3_stmt *statement = NULL;
    bool more = true;
    int64_t matches = 0;

    int rc = count_matches(&matches, f, err);
    bool sampled = matches > RANKED_MAX;
    f->total = (uint64_t)matches;
    if (rc != VCM_OK || matches == 0)
        return rc;
    rc = vcm_database_prepare(&statement, f->store,
                              statements[(sampled ? 1 : 0) + (is_filtered(f) ? 2 : 0)], err);
    if (rc == VCM_OK) {
        vcm_database_bind_slice(statement, 1, vcm_buf_slice(&f->match));
        if (is_filtered(f))
            vcm_database_bind_filter(statement, filter);
    }
    if (rc == VCM_OK && sampled) {
        sqlite3_bind_int64(statement, 6, matches / (RANKED_MAX - TITLED_MAX) + 1);
        sqlite3_bind_int64(statement, 8, TITLED_MAX);
        rc = bind_titled(statement, f, &titled, err);
    }
    while (rc == VCM_OK) {
        rc = vcm_database_next_row(&more, f->store, statement, err);
        if (rc != VCM_OK || !more)
            break;
        struct candidate candidate = {.score = sqlite3_column_double(statement, 1),
                                      .row = sqlite3_column_int64(statement, 0)};
        offer(f, &candidate);
    }
    sqlite3_finalize(statement);
    vcm_buf_release(&titled);
    qsort(f->best, f->best_count, sizeof *f->best, compare_candidates);
    return rc;
}

/* Ranks the chunks with all terms or, when there are none, those with any. */
static int rank_any(struct finder *f, struct vcm_error *err)
{
    if (f->query.count == 0)
        return VCM_OK;
    join_terms(f, NULL, " AND ");
    int rc = rank(f, err);
    if (rc == VCM_OK && f->total == 0 && f->query.count > 1) {
        rc = widen(f, err);
        if (rc == VCM_OK)
            rc = rank(f, err);
    }
    return rc;
}

/* Whether all matches, marked by \1 and \2, are in the first `head` or the last `tail` bytes of a
 * text of `len`. A text without marks matched elsewhere. */
static bool marks_within(const char *marked, size_t len, size_t head, size_t tail)
{
    size_t at = 0;
    size_t begin = 0;
    bool any = false;

    for (; *marked != '\0'; marked++) {
        if (*marked == '\1') {
            begin = at;
        } else if (*marked == '\2') {
            any = true;
            if (at > head && begin < len - tail)
                return false;
        } else {
            at++;
        }
    }
    return any;
}

/* Whether the candidate matches only in text that a better hit next to it also has. */
static bool repeats_hit(const struct finder *f, const struct hit *candidate, const char *marked,
                        size_t len)
{
    size_t head = 0;
    size_t tail = 0;

    for (uint32_t i = 0; i < f->hit_count; i++) {
        if (f->hits[i].document != candidate->document)
            continue;
        if (f->hits[i].seq == candidate->seq - 1)
            head = candidate->overlap;
        if (f->hits[i].seq == candidate->seq + 1)
            tail = f->hits[i].overlap;
    }
    return (head > 0 || tail > 0) && marks_within(marked, len, head, tail < len ? tail : len);
}

/* Columns behind those of the chunk: document, overlap. */
static int take_candidate(struct finder *f, sqlite3_stmt *row, const struct candidate *candidate,
                          struct vcm_error *err)
{
    struct vcm_database_document document;
    struct vcm_database_chunk chunk;
    int more = 6 + VCM_DATABASE_DOCUMENT_COLUMN_COUNT;

    vcm_database_read_chunk(&chunk, &document, row);
    struct hit hit = {sqlite3_column_int64(row, more), (int64_t)chunk.seq,
                      (size_t)sqlite3_column_int64(row, more + 1)};
    if (repeats_hit(f, &hit, candidate->marked, chunk.text.len))
        return VCM_OK;
    if (f->search->max_tokens > 0 && f->tokens + chunk.tokens > f->search->max_tokens)
        return VCM_OK;
    f->hits[f->hit_count++] = hit;
    f->tokens += chunk.tokens;
    chunk.score = candidate->score;
    chunk.snippet = candidate->snippet;
    return f->visit(f->context, &chunk, err);
}

static int keep_marks(struct finder *f, size_t first, size_t count, sqlite3_stmt *row,
                      struct vcm_error *err)
{
    for (size_t i = first; i < first + count; i++) {
        struct candidate *candidate = &f->best[i];
        if (candidate->row != sqlite3_column_int64(row, 0))
            continue;
        candidate->marked =
            vcm_arena_copy(&f->arena, vcm_slice_of_string(vcm_database_column_string(row, 1)));
        candidate->snippet =
            vcm_arena_copy(&f->arena, vcm_slice_of_string(vcm_database_column_string(row, 2)));
        if (!candidate->marked || !candidate->snippet)
            return vcm_error_memory(err);
    }
    return VCM_OK;
}

/* Locates the terms in several candidates with one query: for a prefix, FTS5 collects the words
 * that begin with it anew in each query. */
static int mark(struct finder *f, size_t first, size_t count, struct vcm_error *err)
{
    struct vcm_buf sql = VCM_BUF_INIT(4096);
    sqlite3_stmt *statement = NULL;
    bool more = true;

    vcm_buf_append_string(&sql, "SELECT rowid, highlight(search, 1, char(1), char(2)),"
                                " snippet(search, 1, '', '', '…', 24)"
                                " FROM search WHERE search MATCH ?1 AND +rowid IN (?2");
    for (size_t i = 1; i < count; i++)
        vcm_buf_append_format(&sql, ", ?%zu", i + 2);
    vcm_buf_append_string(&sql, ")");
    int rc = vcm_buf_check(&sql, "the query", err);
    if (rc == VCM_OK)
        rc = vcm_database_prepare(&statement, f->store, vcm_buf_text(&sql), err);
    if (rc == VCM_OK)
        vcm_database_bind_slice(statement, 1, vcm_buf_slice(&f->match));
    for (size_t i = 0; rc == VCM_OK && i < count; i++)
        sqlite3_bind_int64(statement, (int)i + 2, f->best[first + i].row);
    while (rc == VCM_OK && more) {
        rc = vcm_database_next_row(&more, f->store, statement, err);
        if (rc == VCM_OK && more)
            rc = keep_marks(f, first, count, statement, err);
    }
    sqlite3_finalize(statement);
    vcm_buf_release(&sql);
    return rc;
}

static int take_candidates(struct finder *f, struct vcm_error *err)
{
    size_t batch = f->limit < BATCH_MAX - 4 ? f->limit + 4 : BATCH_MAX;
    sqlite3_stmt *chunk;
    bool more = false;

    int rc = vcm_database_prepare(&chunk, f->store,
                                  "SELECT " VCM_DATABASE_CHUNK_COLUMNS ", c.document, c.overlap"
                                  " FROM chunks c JOIN documents d ON d.id = c.document"
                                  " WHERE c.id = ?1",
                                  err);
    for (size_t i = 0; rc == VCM_OK && i < f->best_count && f->hit_count < f->limit; i++) {
        if (i % batch == 0) {
            vcm_arena_release(&f->arena);
            vcm_arena_init(&f->arena, MARKS_BYTES_MAX);
            rc = mark(f, i, f->best_count - i < batch ? f->best_count - i : batch, err);
        }
        sqlite3_bind_int64(chunk, 1, f->best[i].row);
        if (rc == VCM_OK)
            rc = vcm_database_next_row(&more, f->store, chunk, err);
        if (rc == VCM_OK && more && f->best[i].marked)
            rc = take_candidate(f, chunk, &f->best[i], err);
        sqlite3_reset(chunk);
    }
    sqlite3_finalize(chunk);
    return rc;
}

int vcm_database_search_find(uint64_t *total, struct vcm_database *store,
                             const struct vcm_database_search *search, vcm_database_chunk_fn visit,
                             void *context, struct vcm_error *err)
{
    struct finder f = {.store = store, .search = search, .visit = visit, .context = context};

    *total = 0;
    f.limit = search->limit > 0 && search->limit < VCM_LIMIT_HITS ? search->limit : VCM_LIMIT_HITS;
    vcm_buf_init(&f.match, 8 * VCM_QUERY_BYTES_MAX);
    vcm_arena_init(&f.arena, MARKS_BYTES_MAX);
    f.hits = calloc(f.limit, sizeof *f.hits);
    f.best_max = (size_t)f.limit * 3 + CANDIDATES_MORE;
    f.best = calloc(f.best_max, sizeof *f.best);
    int rc = vcm_query_init(&f.query, search->query, err);
    if (rc == VCM_OK && (!f.hits || !f.best))
        rc = vcm_error_memory(err);
    store->filter = &search->filter;
    /* One snapshot for the count and the hits. */
    if (rc == VCM_OK)
        rc = vcm_database_run_sql(store, "BEGIN", err);
    if (rc == VCM_OK)
        rc = rank_any(&f, err);
    if (rc == VCM_OK && f.total > 0)
        rc = take_candidates(&f, err);
    *total = f.total;
    vcm_database_rollback(store);
    store->filter = NULL;
    vcm_arena_release(&f.arena);
    free(f.best);
    free(f.hits);
    vcm_query_release(&f.query);
    vcm_buf_release(&f.match);
    return rc;
}
