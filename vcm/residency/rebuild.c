#include "vcm/residency/rebuild.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "tokens/tokenizer.h"
#include "vcm/page/binary.h"
#include "vcm/store/dictionary.h"
#include "vcm/page/split.h"
#include "vcm/store/table.h"

#include "base/banned.h"

#define READERS_MAX 8u

/* The source of a scope at the commit of one page table. */
struct reader {
    uint64_t mapping;  /* 0: free */
    uint64_t revision; /* of the scope */
    struct vcm_source *source;
    void *reader;
    uint64_t used_at;
};

/* The last file that was cut: its serialised parts, concatenated. */
struct cut_file {
    uint64_t mapping;
    struct vcm_buf path, content_id, values;
    size_t *ends; /* of each part in `values` */
    uint32_t count;
    size_t capacity;
};

struct vcm_rebuild {
    struct vcm_page_store *store;
    struct vcm_tokenizer *tokenizer;
    struct reader readers[READERS_MAX];
    uint64_t clock;
    uint64_t reads;
    struct vcm_source_content content;
    struct cut_file file;
};

/* One attempt to rebuild a page from one of its holders. */
struct attempt {
    struct vcm_rebuild *rebuild;
    struct vcm_kv_txn *txn;
    const struct vcm_page_info *info;
    struct vcm_buf *out;
    size_t start; /* of the frame in `out` */
    struct vcm_scope scope;
    void *reader;
    struct vcm_source *source;
    bool unverified; /* contents are not verified one by one: the page's hash is checked at the end
                      */
    bool done;
    struct vcm_error cause; /* why it failed for the first holder */
};

int vcm_rebuild_open(struct vcm_rebuild **out, struct vcm_page_store *store, struct vcm_error *err)
{
    struct vcm_rebuild *rebuild = calloc(1, sizeof *rebuild);

    *out = NULL;
    if (!rebuild)
        return vcm_error_memory(err);
    rebuild->store = store;
    vcm_buf_init(&rebuild->content.text, VCM_SOURCE_TEXT_BYTES_MAX);
    vcm_buf_init(&rebuild->file.path, 4 * VCM_LIMIT_TREE_PATH_BYTES);
    vcm_buf_init(&rebuild->file.content_id, VCM_PAGE_CONTENT_ID_MAX);
    vcm_buf_init(&rebuild->file.values, 4 * VCM_LIMIT_FRAME_BYTES);
    *out = rebuild;
    return VCM_OK;
}

static void close_reader(struct reader *reader)
{
    if (reader->reader)
        reader->source->functions->reader_close(reader->reader);
    vcm_source_close(reader->source);
    memset(reader, 0, sizeof *reader);
}

void vcm_rebuild_close(struct vcm_rebuild *rebuild)
{
    if (!rebuild)
        return;
    for (unsigned i = 0; i < READERS_MAX; i++)
        close_reader(&rebuild->readers[i]);
    vcm_tokenizer_close(rebuild->tokenizer);
    vcm_buf_release(&rebuild->content.text);
    vcm_buf_release(&rebuild->file.path);
    vcm_buf_release(&rebuild->file.content_id);
    vcm_buf_release(&rebuild->file.values);
    free(rebuild->file.ends);
    free(rebuild);
}

uint64_t vcm_rebuild_reads(const struct vcm_rebuild *rebuild)
{
    return rebuild->reads;
}

static int open_reader(struct attempt *attempt, uint64_t mapping, struct vcm_error *err)
{
    struct vcm_rebuild *rebuild = attempt->rebuild;
    struct vcm_page_store *store = rebuild->store;
    struct reader *place = &rebuild->readers[0];
    uint64_t revision = vcm_scope_revision(&attempt->scope);
    int rc = VCM_OK;

    for (unsigned i = 0; i < READERS_MAX; i++) {
        struct reader *reader = &rebuild->readers[i];
        if (reader->mapping == mapping && reader->revision == revision) {
            place = reader;
            break;
        }
        if (reader->used_at < place->used_at)
            place = reader;
    }
    if (place->mapping != mapping || place->revision != revision) {
        close_reader(place);
        if (!store->open_source)
            return vcm_error_set(err, VCM_UNSUPPORTED,
                                 "this store has no function that opens sources");
        rc = store->open_source(store->open_source_context, &place->source, &attempt->scope, err);
        if (rc == VCM_OK)
            rc = place->source->functions->reader_open(&place->reader, place->source, err);
        if (rc != VCM_OK)
            close_reader(place);
        else
            place->mapping = mapping;
        place->revision = revision;
    }
    place->used_at = ++rebuild->clock;
    attempt->source = place->source;
    attempt->reader = place->reader;
    return rc;
}

static int read_content(struct attempt *attempt, const struct vcm_page_record *record,
                        struct vcm_error *err)
{
    struct vcm_source_content *content = &attempt->rebuild->content;
    struct vcm_source_item item = {.path = record->path, .outcome = VCM_SOURCE_PAGED};
    char hex[2 * VCM_PAGE_CONTENT_ID_MAX + 1];

    if (record->content_id.len > sizeof item.content_id)
        return vcm_table_malformed("a record's content id", err);
    memcpy(item.content_id, record->content_id.data, record->content_id.len);
    item.content_id_len = (uint8_t)record->content_id.len;
    vcm_buf_clear(&content->text);
    content->outcome = VCM_SOURCE_PAGED;
    content->reason = VCM_REASON_NONE;
    content->binary = false;
    content->unverified = attempt->unverified;
    attempt->rebuild->reads++;
    int rc = attempt->source->functions->read(content, attempt->reader, &item, err);
    if (rc != VCM_OK || content->outcome == VCM_SOURCE_PAGED)
        return rc;
    vcm_hash_to_hex(hex, item.content_id, item.content_id_len);
    const char *reason = vcm_source_reason_text(content->reason, content->reason_text);
    bool missing =
        content->outcome == VCM_SOURCE_LFS_MISSING || content->reason == VCM_REASON_OBJECT_MISSING;
    return vcm_error_set(err, missing ? VCM_NOT_FOUND : VCM_IO_ERROR,
                         "'%.*s' (content %s) cannot be read from '%.*s': %s",
                         (int)(record->path.len < 200 ? record->path.len : 200), record->path.data,
                         hex, (int)attempt->scope.repo_root.len, attempt->scope.repo_root.data,
                         reason ? reason : vcm_outcome_name(content->outcome));
}

static int add_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                    struct vcm_error *err)
{
    struct cut_file *file = context;

    (void)record;
    int rc = vcm_array_reserve(&file->ends, &file->capacity, file->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    vcm_buf_append_slice(&file->values, value);
    file->ends[file->count++] = file->values.len;
    return vcm_buf_check(&file->values, "a file's records", err);
}

static int open_tokenizer(struct attempt *attempt, struct vcm_error *err)
{
    struct vcm_buf name = VCM_BUF_INIT(64);

    if (attempt->rebuild->tokenizer)
        return VCM_OK;
    int rc = vcm_page_store_tokenizer(&name, attempt->txn, err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&attempt->rebuild->tokenizer, vcm_buf_text(&name), err);
    vcm_buf_release(&name);
    return rc;
}

static int cut_content(struct attempt *attempt, struct vcm_slice path, struct vcm_error *err)
{
    struct vcm_slice text = vcm_buf_slice(&attempt->rebuild->content.text);
    const struct vcm_split_options options = {.tokenizer = attempt->rebuild->tokenizer,
                                              .token_budget = attempt->scope.flush_token_budget};
    const struct vcm_source_functions *source = attempt->source->functions;
    struct vcm_split *split = NULL;

    if (source->cut)
        return source->cut(&attempt->rebuild->content, attempt->reader, path, &options, add_part,
                           &attempt->rebuild->file, err);
    if (attempt->rebuild->content.binary)
        return vcm_binary_emit(path, text, &options, add_part, &attempt->rebuild->file, err);
    int rc = vcm_split_open(&split, &options, err);
    if (rc == VCM_OK)
        rc = vcm_split_text(split, path, text, add_part, &attempt->rebuild->file, err);
    vcm_split_close(split);
    return rc;
}

/* Reads and cuts the file of a record, unless it is the one that was cut last. */
static int cut(struct attempt *attempt, const struct vcm_page_record *record, struct vcm_error *err)
{
    struct cut_file *file = &attempt->rebuild->file;

    if (file->mapping == attempt->scope.mapping &&
        vcm_slice_equal(vcm_buf_slice(&file->path), record->path) &&
        vcm_slice_equal(vcm_buf_slice(&file->content_id), record->content_id))
        return VCM_OK;
    file->mapping = 0;
    file->count = 0;
    vcm_buf_clear(&file->path);
    vcm_buf_clear(&file->content_id);
    vcm_buf_clear(&file->values);
    int rc = open_tokenizer(attempt, err);
    if (rc == VCM_OK)
        rc = read_content(attempt, record, err);
    if (rc == VCM_OK)
        rc = cut_content(attempt, record->path, err);
    vcm_buf_append_slice(&file->path, record->path);
    vcm_buf_append_slice(&file->content_id, record->content_id);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&file->path, "a path", err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&file->content_id, "a content id", err);
    if (rc == VCM_OK)
        file->mapping = attempt->scope.mapping;
    return rc;
}

static int append_record(struct attempt *attempt, const struct vcm_page_record *record,
                         struct vcm_error *err)
{
    struct cut_file *file = &attempt->rebuild->file;
    int rc;

    if (record->parts <= 1 && !record->binary && !record->prose) {
        rc = read_content(attempt, record, err);
        if (rc == VCM_OK)
            vcm_page_serialise(attempt->out, record->path,
                               vcm_buf_slice(&attempt->rebuild->content.text));
    } else {
        rc = cut(attempt, record, err);
        if (rc == VCM_OK && (record->part == 0 || record->part > file->count))
            rc =
                vcm_error_set(err, VCM_NOT_FOUND, "'%.*s' no longer has the parts that were mapped",
                              (int)record->path.len, record->path.data);
        if (rc == VCM_OK) {
            assert(file->ends[file->count - 1] == file->values.len);
            size_t from = record->part > 1 ? file->ends[record->part - 2] : 0;
            vcm_buf_append(attempt->out, file->values.data + from,
                           file->ends[record->part - 1] - from);
        }
    }
    vcm_buf_append_byte(attempt->out, '\n');
    return rc == VCM_OK ? vcm_buf_check(attempt->out, "a frame", err) : rc;
}

/* Rebuilds the page from one holder: from its scope, its first row with the page, and its source.
 */
static int attempt_holder(struct attempt *attempt, const struct vcm_page_holder *holder,
                          struct vcm_error *err)
{
    struct vcm_page_record *records = NULL;
    struct vcm_page_row row;
    struct vcm_page_id made;
    uint32_t count = 0;

    int rc = vcm_page_store_scope(&attempt->scope, attempt->txn, holder->scope_id, err);
    if (rc == VCM_OK)
        rc = vcm_page_table_row(&row, attempt->txn, holder->mapping, holder->first_seq, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a holder of a page", err);
    if (rc == VCM_OK)
        rc = vcm_page_get_records(&records, &count, row.records, err);
    if (rc == VCM_OK)
        rc = open_reader(attempt, holder->mapping, err);
    for (uint32_t i = 0; rc == VCM_OK && i < count; i++)
        rc = append_record(attempt, &records[i], err);
    free(records);
    if (rc != VCM_OK)
        return rc;
    vcm_page_id_of(&made, vcm_slice_of(attempt->out->data + attempt->start,
                                       attempt->out->len - attempt->start));
    if (memcmp(&made, &attempt->info->id, sizeof made) != 0)
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "the content of '%.*s' is no longer what was mapped",
                             (int)attempt->scope.repo_root.len, attempt->scope.repo_root.data);
    attempt->done = true;
    return VCM_OK;
}

static int attempt_once(struct attempt *attempt, const struct vcm_page_holder *holder,
                        bool unverified, struct vcm_error *err)
{
    attempt->unverified = unverified;
    vcm_buf_truncate(attempt->out, attempt->start);
    int rc = attempt_holder(attempt, holder, err);
    vcm_scope_release(&attempt->scope);
    return rc;
}

/* Rebuilds the page from one holder; if that fails, the next holder is tried. The first attempt
 * verifies the page only. If it fails, the second one verifies each content, so that the error
 * names the one that is wrong. */
static int try_holder(void *context, const struct vcm_page_holder *holder, struct vcm_error *err)
{
    struct attempt *attempt = context;
    struct vcm_error cause = {0};

    int rc = attempt_once(attempt, holder, true, &cause);
    if (rc != VCM_OK && rc != VCM_INTERRUPTED) {
        vcm_error_reset(&cause);
        attempt->rebuild->file.mapping = 0; /* the cut file may be wrong: read it again */
        rc = attempt_once(attempt, holder, false, &cause);
    }
    if (rc == VCM_OK)
        return VCM_STOP;
    if (rc == VCM_INTERNAL || rc == VCM_INTERRUPTED || rc == VCM_STORE_CORRUPT) {
        if (err)
            *err = cause;
        return rc;
    }
    if (attempt->cause.code == VCM_OK)
        attempt->cause = cause;
    return VCM_OK;
}

static int rebuild_evicted(struct vcm_buf *out, struct vcm_rebuild *rebuild, struct vcm_kv_txn *txn,
                           const struct vcm_page_info *info, struct vcm_error *err)
{
    struct attempt attempt = {
        .rebuild = rebuild, .txn = txn, .info = info, .out = out, .start = out->len};
    char hex[VCM_PAGE_ID_HEX + 1];

    if (!vcm_buf_reserve(out, info->bytes))
        return vcm_buf_check(out, "a frame", err);
    int rc = vcm_page_table_each_holder(txn, &info->id, try_holder, &attempt, err);
    if (rc != VCM_OK || attempt.done)
        return rc;
    vcm_buf_truncate(out, attempt.start);
    vcm_page_id_to_hex(hex, &info->id);
    return vcm_error_set(
        err, attempt.cause.code != VCM_OK ? attempt.cause.code : VCM_NOT_FOUND,
        "page %s is evicted and cannot be rebuilt: %s; bring it back or map again", hex,
        attempt.cause.code != VCM_OK ? attempt.cause.message : "no scope holds it any more");
}

int vcm_rebuild_frame(struct vcm_buf *out, struct vcm_rebuild *rebuild, struct vcm_kv_txn *txn,
                      const struct vcm_page_info *info, struct vcm_error *err)
{
    struct vcm_slice frame;
    char *place;
    int rc;

    switch (info->state) {
    case VCM_PAGE_RESIDENT:
        rc = vcm_page_store_frame(&frame, txn, &info->id, err);
        if (rc == VCM_OK)
            vcm_buf_append_slice(out, frame);
        break;
    case VCM_PAGE_COMPRESSED:
        place = vcm_buf_reserve(out, info->bytes);
        rc = place ? vcm_dictionary_decompress(place, rebuild->store, txn, info, err) : VCM_OK;
        if (place && rc == VCM_OK)
            vcm_buf_advance(out, info->bytes);
        break;
    default:
        return rebuild_evicted(out, rebuild, txn, info, err);
    }
    return rc == VCM_OK ? vcm_buf_check(out, "a frame", err) : rc;
}
