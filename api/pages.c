#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/here.h"
#include "api/names.h"
#include "api/residency.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/text.h"
#include "sources/glob.h"
#include "vcm/residency/lock.h"

#include "base/banned.h"

static const char *const state_names[] = {
    [VCM_PAGE_RESIDENT] = "resident",
    [VCM_PAGE_COMPRESSED] = "compressed",
    [VCM_PAGE_EVICTED] = "evicted",
};

/* The state of a listing, scope by scope and row by row. */
struct listing {
    struct vcm *vcm;
    struct vcm_kv_txn *txn;
    const struct vcm_pages_query *query;
    struct vcm_names_scope scope;
    struct vcm_here here;
    struct vcm_glob_list globs;                    /* of `path` */
    char from_scope[VCM_LIMIT_SCOPE_ID_BYTES + 1]; /* of the cursor, or "" */
    uint32_t from_seq;
    uint32_t left;
    uint64_t counted;
    uint64_t now_ms; /* Unix time */
    const struct vcm_scope *current;
    char next_cursor[VCM_LIMIT_SCOPE_ID_BYTES + 16];
    vcm_page_entry_fn visit;
    void *context;
};

/* One row and the entry that is made from it. */
struct entry {
    struct vcm_page_entry public;
    char page_id[VCM_PAGE_ID_HEX + 1];
    char *scope_id;
    struct vcm_arena arena;
};

static int parse_cursor(struct listing *listing, const char *cursor, struct vcm_error *err)
{
    const char *slash = strrchr(cursor, '/');
    uint64_t seq = 0;

    if (!slash || (size_t)(slash - cursor) > VCM_LIMIT_SCOPE_ID_BYTES || slash == cursor ||
        !vcm_text_parse_uint(&seq, slash + 1) || seq > UINT32_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' is no cursor; use the next_cursor of the listing before",
                             cursor);
    memcpy(listing->from_scope, cursor, (size_t)(slash - cursor));
    listing->from_seq = (uint32_t)seq;
    return VCM_OK;
}

/* Collects the distinct paths of a page in order; the parts of a file are adjacent. */
static int collect_files(struct entry *entry, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct vcm_page_record *records = NULL;
    uint32_t count = 0;
    size_t files = 0;

    int rc = vcm_page_get_records(&records, &count, row->records, err);
    if (rc != VCM_OK)
        return rc;
    const char **names = vcm_arena_alloc(&entry->arena, (count + 1) * sizeof *names);
    for (uint32_t i = 0; names && i < count; i++) {
        if (i > 0 && vcm_slice_equal(records[i].path, records[i - 1].path))
            continue;
        names[files] = vcm_arena_copy(&entry->arena, records[i].path);
        if (!names[files++])
            names = NULL;
    }
    free(records);
    entry->public.files = names;
    entry->public.file_count = files;
    return names ? VCM_OK : vcm_error_memory(err);
}

static int has_path(bool *out, const struct vcm_page_row *row, const struct vcm_glob_list *wanted,
                    struct vcm_error *err)
{
    struct vcm_page_record *records = NULL;
    uint32_t count = 0;

    *out = wanted->count == 0;
    if (*out)
        return VCM_OK;
    int rc = vcm_page_get_records(&records, &count, row->records, err);
    for (uint32_t i = 0; rc == VCM_OK && !*out && i < count; i++)
        *out = vcm_glob_list_takes(wanted, records[i].path);
    free(records);
    return rc;
}

/* Whether the page of a row is one that the query asks for; reads what the store knows of it. */
static int is_wanted(bool *out, struct vcm_page_info *info, const struct listing *listing,
                     const struct vcm_page_row *row, struct vcm_error *err)
{
    const struct vcm_pages_query *query = listing->query;

    int rc = has_path(out, row, &listing->globs, err);
    if (rc != VCM_OK || !*out)
        return rc;
    rc = vcm_page_store_page(info, listing->txn, &row->id, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "row %u of scope '%.*s' names a missing page",
                             row->seq, (int)listing->current->scope_id.len,
                             listing->current->scope_id.data);
    *out = rc == VCM_OK && (!query->state || strcmp(query->state, state_names[info->state]) == 0) &&
           (!query->pinned || vcm_page_store_is_pinned(info));
    return rc;
}

static int describe(struct entry *entry, const struct listing *listing,
                    const struct vcm_page_row *row, const struct vcm_page_info *info,
                    struct vcm_error *err)
{
    uint64_t until_ms = 0;

    int rc = collect_files(entry, row, err);
    if (rc == VCM_OK)
        rc = vcm_lock_until(&until_ms, listing->txn, &row->id, listing->now_ms, err);
    if (rc != VCM_OK)
        return rc;
    entry->public.locked_until = vcm_residency_seconds(until_ms);
    entry->public.pinned = vcm_page_store_is_pinned(info);
    entry->public.is_volatile = info->is_volatile;
    vcm_page_id_to_hex(entry->page_id, &row->id);
    entry->public.page_id = entry->page_id;
    entry->public.scope_id = vcm_arena_copy(&entry->arena, listing->current->scope_id);
    entry->public.seq = row->seq;
    entry->public.records = info->records;
    entry->public.tokens = info->tokens;
    entry->public.bytes = info->bytes;
    entry->public.state = state_names[info->state];
    return entry->public.scope_id ? VCM_OK : vcm_error_memory(err);
}

static int list_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct listing *listing = context;
    struct vcm_page_info info;
    struct entry entry = {0};
    bool wanted = false;

    int rc = is_wanted(&wanted, &info, listing, row, err);
    if (rc != VCM_OK || !wanted)
        return rc;
    if (listing->left == 0) {
        snprintf(listing->next_cursor, sizeof listing->next_cursor, "%.*s/%u",
                 (int)listing->current->scope_id.len, listing->current->scope_id.data, row->seq);
        return VCM_STOP;
    }
    vcm_arena_init(&entry.arena, VCM_LIMIT_FRAME_BYTES);
    rc = describe(&entry, listing, row, &info, err);
    listing->left--;
    if (rc == VCM_OK)
        rc = listing->visit(listing->context, &entry.public, err);
    vcm_arena_release(&entry.arena);
    return rc;
}

static bool is_looked_at(const struct listing *listing, const struct vcm_scope *scope)
{
    return listing->query->scope ? vcm_names_scope_matches(&listing->scope, scope->scope_id)
                                 : vcm_here_takes(&listing->here, scope);
}

static int count_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct listing *listing = context;
    struct vcm_page_info info;
    bool wanted = false;

    int rc = is_wanted(&wanted, &info, listing, row, err);
    listing->counted += wanted;
    return rc;
}

static int count_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct listing *listing = context;
    const struct vcm_pages_query *query = listing->query;

    if (!is_looked_at(listing, scope))
        return VCM_OK;
    listing->current = scope;
    if (query->path || query->state || query->pinned)
        return vcm_page_table_each_row(listing->txn, scope->mapping, 0, count_row, listing, err);
    listing->counted += scope->pages;
    return VCM_OK;
}

static int list_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct listing *listing = context;
    struct vcm_slice from = vcm_slice_of_string(listing->from_scope);
    uint32_t seq = 0;

    if (!is_looked_at(listing, scope))
        return VCM_OK;
    if (from.len > 0) {
        size_t shorter = from.len < scope->scope_id.len ? from.len : scope->scope_id.len;
        int order = memcmp(scope->scope_id.data, from.data, shorter);
        if (order < 0 || (order == 0 && scope->scope_id.len < from.len))
            return VCM_OK;
        if (vcm_slice_equal(scope->scope_id, from))
            seq = listing->from_seq;
    }
    listing->current = scope;
    int rc = vcm_page_table_each_row(listing->txn, scope->mapping, seq, list_row, listing, err);
    return rc == VCM_OK && listing->next_cursor[0] != '\0' ? VCM_STOP : rc;
}

static int check_query(const struct vcm_pages_query *query, struct vcm_error *err)
{
    return VCM_TEXTS(err, {"scope", query->scope}, {"path", query->path}, {"state", query->state},
                     {"cursor", query->cursor});
}

/* Visits the scopes of the query. */
static int each_scope(struct listing *listing,
                      int (*visit)(void *, const struct vcm_scope *, struct vcm_error *),
                      struct vcm_error *err)
{
    const char *scope = listing->query->scope;
    struct vcm *vcm = listing->vcm;

    int rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (!vcm->store)
        return scope ? vcm_names_no_scope(scope, err) : VCM_OK;
    rc = vcm_page_store_read_begin(&listing->txn, vcm->store, err);
    if (rc == VCM_OK && scope)
        rc = vcm_names_find_scope(&listing->scope, listing->txn, scope, true, err);
    else if (rc == VCM_OK)
        rc = vcm_here_find(&listing->here, listing->txn, listing->query->repo, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(listing->txn, vcm_slice_of("", 0), visit, listing, err);
    vcm_kv_handle_read_end(listing->txn);
    vcm_here_release(&listing->here);
    return vcm_damage_note(vcm, rc, err);
}

/* Visits the scopes of the query after reading its pattern. */
static int run_query(struct listing *listing,
                     int (*visit)(void *, const struct vcm_scope *, struct vcm_error *),
                     struct vcm_error *err)
{
    struct vcm_slice pattern = vcm_slice_of_string(listing->query->path);
    int rc = VCM_OK;

    while (pattern.len > 2 && memcmp(pattern.data, "./", 2) == 0)
        pattern = vcm_slice_of(pattern.data + 2, pattern.len - 2);
    vcm_glob_list_init(&listing->globs);
    if (listing->query->path)
        rc = vcm_glob_check(pattern, err);
    if (rc == VCM_OK && listing->query->path)
        rc = vcm_glob_list_add(&listing->globs, pattern, err);
    if (rc == VCM_OK)
        rc = each_scope(listing, visit, err);
    vcm_glob_list_release(&listing->globs);
    return rc;
}

int vcm_pages(char **next_cursor, struct vcm *vcm, const struct vcm_pages_query *query,
              vcm_page_entry_fn visit, void *context, struct vcm_error *err)
{
    if (next_cursor)
        *next_cursor = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(next_cursor), VCM_ARGUMENT(query),
                           VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = check_query(query, err);
    if (rc != VCM_OK)
        return rc;
    struct listing listing = {.vcm = vcm, .query = query, .visit = visit, .context = context};

    listing.now_ms = vcm_clock_wall_ms();
    listing.left = query->limit > 0 && query->limit < VCM_LIMIT_LISTING_ROWS
                       ? query->limit
                       : VCM_LIMIT_LISTING_ROWS;
    rc = query->cursor ? parse_cursor(&listing, query->cursor, err) : VCM_OK;
    if (rc == VCM_OK)
        rc = run_query(&listing, list_scope, err);
    if (rc == VCM_OK && listing.next_cursor[0] != '\0' &&
        !(*next_cursor = strdup(listing.next_cursor)))
        rc = vcm_error_memory(err);
    return rc;
}

int vcm_pages_count(uint64_t *count, struct vcm *vcm, const struct vcm_pages_query *query,
                    struct vcm_error *err)
{
    if (count)
        *count = 0;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(count), VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = check_query(query, err);
    if (rc != VCM_OK)
        return rc;
    struct listing listing = {.vcm = vcm, .query = query};

    rc = run_query(&listing, count_scope, err);
    *count = listing.counted;
    return rc;
}
