/*
 * Files of page tables. The parts of a file are put together again, so that a match is found and
 * numbered as in the file, wherever it was cut; the chunks of a document are searched one by one.
 *
 * Every worker has a transaction of its own. They are begun before the first job, and again when a
 * scope was mapped anew in between: all see the same page tables.
 */
#include <stdlib.h>
#include <string.h>

#include "api/grep_search.h"
#include "base/array.h"
#include "base/json.h"
#include "base/limits.h"
#include "vcm/page/page.h"
#include "vcm/store/page_find.h"

#include "base/banned.h"

#define JOB_BYTES ((uint64_t)128 * VCM_KIB) /* of frames */

struct listing {
    struct vcm_grep_search *search;
    const struct vcm_scope *scope;
    size_t first; /* row of the job that is being made */
    uint64_t bytes;
    size_t end; /* behind the last row so far */
};

static int list_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct listing *listing = context;
    struct vcm_page_record *records = NULL;
    uint32_t count = 0;

    int rc = vcm_page_get_records(&records, &count, row->records, err);
    if (rc != VCM_OK)
        return rc;
    for (uint32_t i = 0; i < count; i++)
        listing->bytes += records[i].bytes;
    bool ends = count == 0 || records[count - 1].prose ||
                records[count - 1].part >= records[count - 1].parts;
    free(records);
    listing->end = (size_t)row->seq + 1;
    if (!ends || listing->bytes < JOB_BYTES)
        return VCM_OK;
    rc = vcm_grep_add_job(listing->search, listing->scope, listing->first, listing->end, err);
    listing->first = listing->end;
    listing->bytes = 0;
    return rc;
}

int vcm_grep_pages_list(struct vcm_grep_search *search, struct vcm_place *place,
                        struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < place->scope_count; i++) {
        struct listing listing = {.search = search, .scope = &place->scopes[i]};
        rc = vcm_page_table_each_row(place->txn, place->scopes[i].mapping, 0, list_row, &listing,
                                     err);
        if (rc == VCM_OK && listing.end > listing.first)
            rc = vcm_grep_add_job(search, listing.scope, listing.first, listing.end, err);
    }
    return rc;
}

int vcm_grep_pages_open_worker(struct vcm_grep_worker *worker, const struct vcm_grep_search *search,
                               struct vcm_error *err)
{
    int rc = vcm_page_cache_open(&worker->cache, search->vcm->store, err);

    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&worker->txn, search->vcm->store, err);
    return rc;
}

/* A file whose parts are being put together, in worker->text. */
struct reading {
    struct vcm_grep_batch *batch;
    const struct vcm_grep_search *search;
    struct vcm_grep_worker *worker;
    const struct vcm_scope *scope;
    struct vcm_page_id page; /* that is being read */
    struct part {
        size_t offset; /* in the text */
        struct vcm_page_id page;
    } * parts;
    size_t part_count, part_capacity;
    bool may_match; /* a part has the text of every match, or may have a part of it */
};

/* Appends the text of a serialised record. */
static int append_text(struct vcm_buf *out, struct vcm_slice value, struct vcm_error *err)
{
    struct vcm_json *root = NULL;
    struct vcm_arena arena;

    vcm_arena_init(&arena, 8 * VCM_LIMIT_RECORD_BYTES);
    int rc = vcm_json_parse(&root, &arena, value, err);
    const struct vcm_json *text = rc == VCM_OK ? vcm_json_get(root, "text") : NULL;
    if (rc == VCM_OK && (!text || text->kind != VCM_JSON_STRING))
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "a record of a page is malformed");
    if (rc == VCM_OK && text) {
        vcm_buf_append_slice(out, text->text);
        rc = vcm_buf_check(out, "the text of a file", err);
    }
    vcm_arena_release(&arena);
    return rc;
}

static int set_pages(struct reading *reading, struct vcm_grep_file *file,
                     const struct vcm_page_record *record, struct vcm_error *err)
{
    size_t part = 0;

    for (size_t i = 0; i < file->hits.kept; i++) {
        struct vcm_grep_hit *hit = &file->hits.hits[i];
        while (part + 1 < reading->part_count && reading->parts[part + 1].offset <= hit->offset)
            part++;
        char *hex = vcm_arena_alloc(&reading->batch->arena, VCM_PAGE_ID_HEX + 1);
        if (!hex)
            return vcm_error_memory(err);
        vcm_page_id_to_hex(hex, &reading->parts[part].page);
        hit->page_id = hex;
        if (record->prose)
            hit->line = record->start_line > 0 ? record->start_line + hit->line - 1 : 0;
    }
    return VCM_OK;
}

static int search_text(struct reading *reading, const struct vcm_page_record *record,
                       struct vcm_error *err)
{
    struct vcm_grep_file *added = NULL;
    struct vcm_grep_file file = {.scope = reading->scope, .is_prose = record->prose};
    int rc = VCM_OK;

    if (record->content_id.len == VCM_GIT_ID_BYTES && !record->prose) {
        file.has_blob = true;
        memcpy(file.blob.bytes, record->content_id.data, VCM_GIT_ID_BYTES);
    }
    if (reading->may_match)
        rc = vcm_grep_search_file(reading->batch, &added, reading->search, reading->worker, &file,
                                  vcm_buf_slice(&reading->worker->text), err);
    else
        reading->batch->searched++;
    if (rc == VCM_OK && added) {
        added->path = vcm_arena_copy(&reading->batch->arena, record->path);
        if (!added->path)
            return vcm_error_memory(err);
        added->raw_path = vcm_slice_of(added->path, record->path.len);
        rc = set_pages(reading, added, record, err);
    }
    reading->part_count = 0;
    reading->may_match = false;
    vcm_buf_clear(&reading->worker->text);
    return vcm_error_wrap(err, rc, "%.*s", (int)record->path.len, record->path.data);
}

/* Whether the value must be unescaped: it has the text of every match, or is cut inside a line, so
 * that the text may lie across the cut. */
static bool may_match(const struct reading *reading, struct vcm_slice value)
{
    const struct vcm_buf *needle = &reading->search->needle;

    return needle->len == 0 || memmem(value.data, value.len, needle->data, needle->len);
}

static int read_record(struct reading *reading, const struct vcm_page_record *record,
                       struct vcm_slice value, struct vcm_error *err)
{
    static const char line_end[] = "\\n\"}";
    size_t tail = sizeof line_end - 1;

    if (record->binary || !vcm_grep_takes(reading->search, record->path))
        return VCM_OK;
    bool is_whole = record->prose || record->parts <= 1;
    if (!is_whole && record->part > 1 && reading->part_count == 0)
        return VCM_OK; /* a part before it is a gap */
    bool is_last = is_whole || record->part >= record->parts;
    bool is_cut = !is_last &&
                  (value.len < tail || memcmp(value.data + value.len - tail, line_end, tail) != 0);
    reading->may_match |= is_cut || may_match(reading, value);
    if (is_whole && !reading->may_match)
        return search_text(reading, record, err);
    int rc = vcm_array_reserve(&reading->parts, &reading->part_capacity, reading->part_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    reading->parts[reading->part_count++] =
        (struct part){.offset = reading->worker->text.len, .page = reading->page};
    rc = append_text(&reading->worker->text, value, err);
    return rc == VCM_OK && is_last ? search_text(reading, record, err) : rc;
}

static int read_row(struct reading *reading, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct vcm_page_record *records = NULL;
    struct vcm_page_cache_frame frame = {0};
    struct vcm_slice rest, value;
    uint32_t count = 0;
    bool wanted = false;

    int rc = vcm_page_get_records(&records, &count, row->records, err);
    for (uint32_t i = 0; rc == VCM_OK && i < count; i++)
        wanted |= vcm_grep_takes(reading->search, records[i].path);
    if (rc == VCM_OK && wanted) {
        reading->page = row->id;
        rc = vcm_page_cache_peek(&frame, reading->worker->cache, reading->worker->txn, &row->id,
                                 err);
        if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK))
            rc = vcm_error_set(err, VCM_STORE_CORRUPT, "the page table names a missing page");
    }
    rest = frame.bytes;
    for (uint32_t i = 0; rc == VCM_OK && wanted && i < count; i++) {
        if (!vcm_page_next_value(&value, &rest))
            rc = vcm_error_set(err, VCM_STORE_CORRUPT, "a page has fewer records than its row");
        else
            rc = read_record(reading, &records[i], value, err);
    }
    vcm_page_cache_release(&frame);
    free(records);
    return rc;
}

/* A page that cannot be rebuilt, because its objects are gone, is a gap for each of its files. */
static int note_gap(struct reading *reading, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct vcm_page_record *records = NULL;
    uint32_t count = 0;

    reading->part_count = 0;
    reading->may_match = false;
    vcm_buf_clear(&reading->worker->text);
    int rc = vcm_page_get_records(&records, &count, row->records, err);
    for (uint32_t i = 0; rc == VCM_OK && i < count; i++) {
        bool again = i > 0 && vcm_slice_equal(records[i].path, records[i - 1].path);
        const char *path = again ? NULL : vcm_arena_copy(&reading->batch->arena, records[i].path);
        if (!again && vcm_grep_takes(reading->search, records[i].path))
            rc = path ? vcm_grep_add_gap(reading->batch, path, "page_not_readable", err)
                      : vcm_error_memory(err);
    }
    free(records);
    return rc;
}

static int run_row(struct reading *reading, size_t seq, struct vcm_error *err)
{
    struct vcm_page_row row;
    struct vcm_error found = {0};

    int rc = vcm_cancel_check(reading->search->vcm->cancel, err);
    if (rc == VCM_OK)
        rc = vcm_page_table_row(&row, reading->worker->txn, reading->scope->mapping, (uint32_t)seq,
                                err);
    if (rc == VCM_NOT_FOUND)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "row %zu of scope '%.*s' is missing", seq,
                             (int)reading->scope->scope_id.len, reading->scope->scope_id.data);
    if (rc != VCM_OK)
        return rc;
    rc = read_row(reading, &row, &found);
    if (rc == VCM_NOT_FOUND || rc == VCM_IO_ERROR)
        return note_gap(reading, &row, err);
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

int vcm_grep_pages_run(struct vcm_grep_batch *batch, const struct vcm_grep_search *search,
                       struct vcm_grep_worker *worker, const struct vcm_grep_job *job,
                       struct vcm_error *err)
{
    struct reading reading = {
        .batch = batch, .search = search, .worker = worker, .scope = job->scope};
    int rc = VCM_OK;

    vcm_buf_clear(&worker->text);
    for (size_t seq = job->first; rc == VCM_OK && seq < job->end; seq++)
        rc = run_row(&reading, seq, err);
    free(reading.parts);
    return rc;
}

static int read_again(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    struct vcm_grep_worker *worker = context;
    struct vcm_page_cache_frame frame = {0};
    struct vcm_slice rest, value;

    int rc = vcm_page_cache_peek(&frame, worker->cache, worker->txn, &found->id, err);
    rest = frame.bytes;
    for (uint32_t i = 0; rc == VCM_OK && i <= found->index; i++)
        if (!vcm_page_next_value(&value, &rest))
            rc = vcm_error_set(err, VCM_STORE_CORRUPT, "a page has fewer records than its row");
    if (rc == VCM_OK)
        rc = append_text(&worker->text, value, err);
    vcm_page_cache_release(&frame);
    return rc;
}

int vcm_grep_pages_read(const struct vcm_grep_search *search, struct vcm_grep_worker *worker,
                        const struct vcm_grep_file *file, struct vcm_error *err)
{
    (void)search;
    vcm_buf_clear(&worker->text);
    return vcm_page_find_path(worker->txn, file->scope->mapping, file->raw_path, read_again, worker,
                              err);
}
