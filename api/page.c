#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/mark.h"
#include "api/media_type.h"
#include "api/names.h"
#include "api/page_view.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/base64.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/process.h"
#include "vcm/store/table.h"
#include "vcm/residency/view.h"

#include "base/banned.h"

/* Enough to detect the type of a file. A multiple of 4. */
#define HEAD_TEXT_BYTES ((size_t)64)
/* Room for a second copy of a page's texts and for the parser. */
#define PAGE_ARENA_MAX (8 * VCM_LIMIT_FRAME_BYTES)

/* The public page with what it needs to be released. */
struct page {
    struct vcm_page public;
    uint32_t mark;
    struct vcm_kv_txn *txn; /* while the page is being read */
    struct vcm_view *view;
    unsigned forks; /* count of forks when it was opened */
    struct vcm_page_id id;
    uint64_t mapping;
    struct vcm_arena arena;
};

struct holder_search {
    struct page *page;
    const char *wanted; /* scope id, or NULL for the first */
    const char **scopes;
    size_t capacity;
};

static int take_holder(void *context, const struct vcm_page_holder *holder, struct vcm_error *err)
{
    struct holder_search *search = context;
    struct vcm_page *public = &search->page->public;
    const char *scope_id = vcm_arena_copy(&search->page->arena, holder->scope_id);

    if (!scope_id)
        return vcm_error_memory(err);
    int rc = vcm_array_reserve_in(&search->page->arena, &search->scopes, &search->capacity,
                                  public->scope_count + 1, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    /* Holders are visited by mapping number; sort them by name. */
    size_t at = public->scope_count++;
    while (at > 0 && strcmp(search->scopes[at - 1], scope_id) > 0) {
        search->scopes[at] = search->scopes[at - 1];
        at--;
    }
    search->scopes[at] = scope_id;

    bool chosen = search->wanted ? strcmp(search->wanted, scope_id) == 0 : at == 0;
    if (chosen) {
        public->scope_id = scope_id;
        public->occurrences = holder->occurrences;
        public->seq = holder->first_seq;
        search->page->mapping = holder->mapping;
    }
    return VCM_OK;
}

static int find_holder(struct page *page, const struct vcm_page_query *query, struct vcm_error *err)
{
    struct holder_search search = {.page = page};
    struct vcm_names_scope scope;
    int rc = VCM_OK;

    if (query->scope) {
        rc = vcm_names_find_scope(&scope, page->txn, query->scope, false, err);
        search.wanted = scope.text;
    }
    if (rc == VCM_OK)
        rc = vcm_page_table_each_holder(page->txn, &page->id, take_holder, &search, err);
    if (rc != VCM_OK)
        return rc;
    page->public.scopes = search.scopes;
    if (page->public.scope_id)
        return VCM_OK;
    if (query->scope)
        return vcm_error_set(err, VCM_NOT_FOUND, "scope '%s' does not hold page %s", scope.text,
                             page->public.page_id);
    rc = vcm_page_table_check_held(page->txn, &page->id, err);
    return rc == VCM_OK ? vcm_names_no_page(query->page, err) : rc;
}

static int find_row(struct vcm_page_row *row, struct page *page, const struct vcm_page_query *query,
                    struct vcm_error *err)
{
    if (query->seq > UINT32_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "there is no seq %lld",
                             (long long)query->seq);
    bool is_first = query->seq < 0 || (uint32_t)query->seq == page->public.seq;
    if (query->seq >= 0)
        page->public.seq = (uint32_t)query->seq;
    int rc = vcm_page_table_row(row, page->txn, page->mapping, page->public.seq, err);
    if (rc == VCM_NOT_FOUND || (rc == VCM_OK && memcmp(&row->id, &page->id, sizeof page->id) != 0))
        return vcm_error_set(err, is_first ? VCM_STORE_CORRUPT : VCM_NOT_FOUND, /* S4 */
                             "%spage %s is not at seq %u of scope '%s'",
                             is_first ? "the store is damaged: " : "", page->public.page_id,
                             page->public.seq, page->public.scope_id);
    return rc;
}

static const char *hex_of(struct vcm_arena *arena, const void *bytes, size_t len)
{
    char *hex = vcm_arena_alloc(arena, 2 * len + 1);
    if (hex)
        vcm_hash_to_hex(hex, bytes, len);
    return hex;
}

/* Decodes the first characters of the base64 text, for files whose name does not tell the type. */
static const char *media_type_of(const struct vcm_page_record *record, struct vcm_slice text)
{
    struct vcm_buf head = VCM_BUF_INIT(HEAD_TEXT_BYTES);

    if (text.len > HEAD_TEXT_BYTES)
        text.len = HEAD_TEXT_BYTES;
    vcm_base64_get(&head, text);
    const char *type = vcm_media_type_of(record->path, vcm_buf_slice(&head));
    vcm_buf_release(&head);
    return type;
}

/* Parses one line of the frame into a record. */
static int read_record(struct vcm_record *out, struct page *page, struct vcm_slice value,
                       const struct vcm_page_record *record, struct vcm_error *err)
{
    struct vcm_json *root = NULL;
    struct vcm_page_id id;

    int rc = vcm_json_parse(&root, &page->arena, value, err);
    const struct vcm_json *text = rc == VCM_OK ? vcm_json_get(root, "text") : NULL;
    if (rc == VCM_OK && (!text || text->kind != VCM_JSON_STRING || value.len != record->bytes))
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "a record of page %s is malformed",
                           page->public.page_id);
    if (rc != VCM_OK)
        return rc;
    vcm_page_record_id_of(&id, value);
    out->record_id = hex_of(&page->arena, id.bytes, sizeof id.bytes);
    out->path = vcm_arena_copy(&page->arena, record->path);
    out->blob = hex_of(&page->arena, record->content_id.data, record->content_id.len);
    out->start_line = record->start_line;
    out->end_line = record->end_line;
    out->part = record->part;
    out->parts = record->parts;
    out->tokens = record->tokens;
    out->lossy = record->lossy;
    out->path_lossy = record->path_lossy;
    if (record->binary)
        out->media_type = media_type_of(record, text->text);
    out->size = record->size;
    out->page = record->page;
    if (record->prose && !(out->section = vcm_arena_copy(&page->arena, record->section)))
        return vcm_error_memory(err);
    if (record->heading.len > 0 && !(out->heading = vcm_arena_copy(&page->arena, record->heading)))
        return vcm_error_memory(err);
    out->text = text->text.data;
    out->text_len = text->text.len;
    return out->record_id && out->path && out->blob ? VCM_OK : vcm_error_memory(err);
}

static int read_records(struct page *page, struct vcm_slice frame, const struct vcm_page_row *row,
                        struct vcm_error *err)
{
    struct vcm_page_record *records = NULL;
    struct vcm_slice value;
    uint32_t count = 0;

    int rc = vcm_page_get_records(&records, &count, row->records, err);
    struct vcm_record *out =
        rc == VCM_OK ? vcm_arena_alloc(&page->arena, (count + 1) * sizeof *out) : NULL;
    if (rc == VCM_OK && !out)
        rc = vcm_error_memory(err);
    for (uint32_t i = 0; rc == VCM_OK && i < count; i++) {
        if (!vcm_page_next_value(&value, &frame))
            rc = vcm_error_set(err, VCM_STORE_CORRUPT, "page %s has fewer records than its row",
                               page->public.page_id);
        else
            rc = read_record(&out[i], page, value, &records[i], err);
    }
    free(records);
    page->public.records = out;
    page->public.record_count = count;
    return rc;
}

static int read_page(struct page *page, struct vcm *vcm, const struct vcm_page_query *query,
                     struct vcm_error *err)
{
    struct vcm_page_info info;
    struct vcm_page_row row = {0};

    int rc = vcm_names_find_page(&page->id, page->txn, query->page, err);
    if (rc != VCM_OK)
        return rc;
    page->public.page_id = hex_of(&page->arena, page->id.bytes, sizeof page->id.bytes);
    if (!page->public.page_id)
        return vcm_error_memory(err);
    rc = vcm_page_store_page(&info, page->txn, &page->id, err);
    if (rc == VCM_OK)
        rc = find_holder(page, query, err);
    if (rc == VCM_OK)
        rc = find_row(&row, page, query, err);
    if (rc == VCM_OK)
        rc = vcm_view_open(&page->view, vcm->cache, &page->id, VCM_VIEW_COPY, err);
    if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK))
        return vcm_names_no_page(query->page, err); /* removed since it was looked up */
    if (rc != VCM_OK)
        return rc;
    struct vcm_slice frame = vcm_view_bytes(page->view);
    page->public.tokens = info.tokens;
    page->public.is_volatile = info.is_volatile;
    page->public.bytes = frame.len;
    page->public.frame = frame.data;
    return read_records(page, frame, &row, err);
}

int vcm_page_open(struct vcm_page **out, struct vcm *vcm, const struct vcm_page_query *query,
                  struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(query));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"page", query->page}, {"scope", query->scope});
    if (rc != VCM_OK)
        return rc;
    rc = vcm_names_check_page(query->page, err);
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (!vcm->store)
        return vcm_names_no_page(query->page, err);
    struct page *page = calloc(1, sizeof *page);
    if (!page)
        return vcm_error_memory(err);
    vcm_arena_init(&page->arena, PAGE_ARENA_MAX);
    page->mark = VCM_MARK_HELD;
    page->forks = vcm_process_forks();
    rc = vcm_page_store_read_begin(&page->txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = read_page(page, vcm, query, err);
    vcm_kv_handle_read_end(page->txn);
    page->txn = NULL;
    if (rc == VCM_OK)
        *out = &page->public;
    else
        vcm_page_release(&page->public);
    return vcm_damage_note(vcm, rc, err);
}

void vcm_page_release(struct vcm_page *page)
{
    struct page *whole = (struct page *)page;

    if (!whole)
        return;
    vcm_mark_give_back(&whole->mark);
    vcm_page_view_give_back(whole->view, whole->forks);
    vcm_arena_release(&whole->arena);
    free(whole);
}
