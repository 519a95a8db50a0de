#include "vcm/page_store.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/path.h"
#include "vcm/tables.h"

#include "base/banned.h"

static const char *const table_names[] = {
    [VCM_TABLE_META] = "meta",         [VCM_TABLE_SCOPES] = "scopes",
    [VCM_TABLE_MAPPINGS] = "mappings", [VCM_TABLE_ROWS] = "rows",
    [VCM_TABLE_HOLDERS] = "holders",   [VCM_TABLE_PAGES] = "pages",
    [VCM_TABLE_FRAMES] = "frames",     [VCM_TABLE_OMISSIONS] = "omissions",
    [VCM_TABLE_OMISSIONS + 1] = NULL,
};

int vcm_table_malformed(const char *what, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_STORE_CORRUPT, "%s in the store is malformed", what);
}

static int get_meta(struct vcm_slice *value, struct vcm_kv_txn *txn, const char *name,
                    struct vcm_error *err)
{
    return vcm_kv_get(value, txn, VCM_TABLE_META, vcm_slice_of_string(name), err);
}

/* VCM_NOT_FOUND, err untouched, for a store that was never written. */
static int check_format(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_slice value;
    struct vcm_wire_reader r;

    int rc = get_meta(&value, txn, VCM_META_FORMAT, err);
    if (rc != VCM_OK)
        return rc;
    vcm_wire_reader_init(&r, value);
    uint32_t format = vcm_wire_get_u32(&r);
    if (!vcm_wire_reader_done(&r))
        return vcm_table_malformed("the format number", err);
    if (format != VCM_PAGE_STORE_FORMAT)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the store has format %u and this vcm reads format %u; use the vcm "
                             "that wrote it, or another --home",
                             format, VCM_PAGE_STORE_FORMAT);
    return VCM_OK;
}

static int write_format(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    int rc = check_format(txn, err); /* another process may have been quicker */
    if (rc != VCM_NOT_FOUND)
        return rc;
    struct vcm_buf value = VCM_BUF_INIT(16);
    vcm_wire_put_u32(&value, VCM_PAGE_STORE_FORMAT);
    rc = vcm_buf_check(&value, "the format number", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_FORMAT),
                        vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

static int settle_format(struct vcm_page_store *store, bool read_only, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_kv_read_begin(&txn, store->kv, err);
    if (rc != VCM_OK)
        return rc;
    rc = check_format(txn, err);
    vcm_kv_read_end(txn);
    if (rc != VCM_NOT_FOUND)
        return rc;
    if (read_only)
        return vcm_error_set(err, VCM_NOT_FOUND, "there is no page store in '%s' yet",
                             store->directory);
    return vcm_kv_update(store->kv, write_format, NULL, VCM_LIMIT_LOCK_TIMEOUT_MS, NULL, err);
}

int vcm_page_store_open(struct vcm_page_store **out, const struct vcm_page_store_options *options,
                        struct vcm_error *err)
{
    struct vcm_buf lock = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_page_store *store = calloc(1, sizeof *store);
    int rc;

    *out = NULL;
    if (!store || !(store->directory = strdup(options->directory))) {
        rc = vcm_error_memory(err);
        goto done;
    }
    store->log = options->log;
    vcm_path_join(&lock, options->directory, "writer.lock");
    rc = vcm_buf_check(&lock, "the path of the store", err);
    if (rc != VCM_OK)
        goto done;
    rc = vcm_kv_open(&store->kv,
                     &(struct vcm_kv_options){
                         .directory = options->directory,
                         .lock_path = vcm_buf_text(&lock),
                         .tables = table_names,
                         .read_only = options->read_only,
                         .map_bytes = options->map_bytes,
                         .log = options->log,
                     },
                     err);
    if (rc == VCM_OK)
        rc = settle_format(store, options->read_only, err);
done:
    vcm_buf_release(&lock);
    if (rc == VCM_OK)
        *out = store;
    else
        vcm_page_store_close(store);
    return rc;
}

void vcm_page_store_close(struct vcm_page_store *store)
{
    if (!store)
        return;
    vcm_kv_close(store->kv);
    free(store->directory);
    free(store);
}

int vcm_page_store_read_begin(struct vcm_kv_txn **out, struct vcm_page_store *store,
                              struct vcm_error *err)
{
    return vcm_kv_read_begin(out, store->kv, err);
}

int vcm_page_store_file_info(struct vcm_kv_info *out, struct vcm_page_store *store,
                             struct vcm_error *err)
{
    return vcm_kv_info(out, store->kv, err);
}

int vcm_page_store_tokenizer(struct vcm_buf *out, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_slice value;

    int rc = get_meta(&value, txn, VCM_META_TOKENIZER, err);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc == VCM_OK) {
        vcm_buf_append_slice(out, value);
        rc = vcm_buf_check(out, "the tokenizer's name", err);
    }
    return rc;
}

int vcm_page_store_totals(struct vcm_page_totals *out, struct vcm_kv_txn *txn,
                          struct vcm_error *err)
{
    struct vcm_slice value;
    struct vcm_wire_reader r;

    memset(out, 0, sizeof *out);
    int rc = get_meta(&value, txn, VCM_META_TOTALS, err);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK)
        return rc;
    vcm_wire_reader_init(&r, value);
    out->pages = vcm_wire_get_u64(&r);
    out->resident_bytes = vcm_wire_get_u64(&r);
    out->tokens = vcm_wire_get_u64(&r);
    return vcm_wire_reader_done(&r) ? VCM_OK : vcm_table_malformed("the sum of pages", err);
}

int vcm_table_put_totals(struct vcm_kv_txn *txn, const struct vcm_page_totals *totals,
                         struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(64);

    vcm_wire_put_u64(&value, totals->pages);
    vcm_wire_put_u64(&value, totals->resident_bytes);
    vcm_wire_put_u64(&value, totals->tokens);
    int rc = vcm_buf_check(&value, "the sum of pages", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_TOTALS),
                        vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

int vcm_page_store_scope(struct vcm_scope *out, struct vcm_kv_txn *txn, struct vcm_slice scope_id,
                         struct vcm_error *err)
{
    struct vcm_slice value;

    memset(out, 0, sizeof *out);
    if (scope_id.len == 0 || scope_id.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return VCM_NOT_FOUND;
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_SCOPES, scope_id, err);
    return rc == VCM_OK ? vcm_scope_get(out, value, err) : rc;
}

static bool starts_with(struct vcm_slice text, struct vcm_slice prefix)
{
    return text.len >= prefix.len &&
           (prefix.len == 0 || memcmp(text.data, prefix.data, prefix.len) == 0);
}

/*
 * Calls `visit` for each entry whose key begins with `prefix`, from `start` on (a key with that
 * prefix). Every walk over a table in this file is this one.
 */
typedef int (*entry_fn)(void *context, struct vcm_slice key, struct vcm_slice value,
                        struct vcm_error *err);
static int each_entry(struct vcm_kv_txn *txn, enum vcm_table table, struct vcm_slice prefix,
                      struct vcm_slice start, entry_fn visit, void *context, struct vcm_error *err)
{
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice key, value;

    int rc = vcm_kv_cursor_open(&cursor, txn, table, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_kv_cursor_seek(&key, &value, cursor, start, err);
    while (rc == VCM_OK && starts_with(key, prefix)) {
        rc = visit(context, key, value, err);
        if (rc != VCM_OK)
            break;
        rc = vcm_kv_cursor_next(&key, &value, cursor, err);
        if (rc == VCM_NOT_FOUND)
            break;
    }
    vcm_kv_cursor_close(cursor);
    return rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK) ? VCM_OK : rc;
}

struct scope_walk {
    vcm_page_store_scope_fn visit;
    void *context;
};

static int visit_scope(void *context, struct vcm_slice key, struct vcm_slice value,
                       struct vcm_error *err)
{
    const struct scope_walk *walk = context;
    struct vcm_scope scope;

    (void)key;
    int rc = vcm_scope_get(&scope, value, err);
    if (rc != VCM_OK)
        return rc;
    rc = walk->visit(walk->context, &scope, err);
    vcm_scope_release(&scope);
    return rc;
}

int vcm_page_store_each_scope(struct vcm_kv_txn *txn, struct vcm_slice prefix,
                              vcm_page_store_scope_fn visit, void *context, struct vcm_error *err)
{
    struct scope_walk walk = {visit, context};

    if (prefix.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return VCM_OK;
    return each_entry(txn, VCM_TABLE_SCOPES, prefix, prefix, visit_scope, &walk, err);
}

int vcm_page_store_page(struct vcm_page_info *out, struct vcm_kv_txn *txn,
                        const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_slice value;
    struct vcm_wire_reader r;

    memset(out, 0, sizeof *out);
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_PAGES, vcm_table_id_key(id), err);
    if (rc != VCM_OK)
        return rc;
    vcm_wire_reader_init(&r, value);
    out->id = *id;
    out->state = vcm_wire_get_u8(&r);
    out->bytes = vcm_wire_get_u64(&r);
    out->tokens = vcm_wire_get_u32(&r);
    out->records = vcm_wire_get_u32(&r);
    if (!vcm_wire_reader_done(&r) || out->state > VCM_PAGE_EVICTED)
        return vcm_table_malformed("a page descriptor", err);
    return VCM_OK;
}

int vcm_table_put_page(struct vcm_kv_txn *txn, const struct vcm_page_info *info,
                       struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(64);

    vcm_wire_put_u8(&value, (uint8_t)info->state);
    vcm_wire_put_u64(&value, info->bytes);
    vcm_wire_put_u32(&value, info->tokens);
    vcm_wire_put_u32(&value, info->records);
    int rc = vcm_buf_check(&value, "a page descriptor", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_PAGES, vcm_table_id_key(&info->id), vcm_buf_slice(&value),
                        err);
    vcm_buf_release(&value);
    return rc;
}

struct page_search {
    const char *prefix;
    size_t prefix_len;
    struct vcm_page_id *ids;
    unsigned count;
    unsigned max;
};

static int match_page(void *context, struct vcm_slice key, struct vcm_slice value,
                      struct vcm_error *err)
{
    struct page_search *search = context;
    char hex[VCM_PAGE_ID_HEX + 1];

    (void)value;
    if (key.len != VCM_PAGE_ID_BYTES)
        return vcm_table_malformed("a page id", err);
    vcm_hash_to_hex(hex, (const unsigned char *)key.data, key.len);
    if (memcmp(hex, search->prefix, search->prefix_len) != 0)
        return VCM_OK; /* an odd digit: the byte prefix is one digit shorter */
    if (search->count == search->max)
        return VCM_NOT_FOUND;
    memcpy(search->ids[search->count++].bytes, key.data, key.len);
    return VCM_OK;
}

int vcm_page_store_find_pages(struct vcm_page_id *ids, unsigned *count, unsigned max,
                              struct vcm_kv_txn *txn, const char *prefix, struct vcm_error *err)
{
    struct page_search search = {prefix, strlen(prefix), ids, 0, max};
    unsigned char start[VCM_PAGE_ID_BYTES] = {0};
    char padded[VCM_PAGE_ID_HEX + 1];

    *count = 0;
    if (search.prefix_len == 0 || search.prefix_len > VCM_PAGE_ID_HEX)
        return VCM_OK;
    memset(padded, '0', VCM_PAGE_ID_HEX);
    padded[VCM_PAGE_ID_HEX] = '\0';
    memcpy(padded, prefix, search.prefix_len);
    if (!vcm_hash_from_hex(start, padded, sizeof start))
        return VCM_OK;
    int rc = each_entry(txn, VCM_TABLE_PAGES, vcm_slice_of(start, search.prefix_len / 2),
                        vcm_slice_of(start, sizeof start), match_page, &search, err);
    *count = search.count;
    return rc;
}

int vcm_page_store_frame(struct vcm_slice *out, struct vcm_kv_txn *txn,
                         const struct vcm_page_id *id, struct vcm_error *err)
{
    int rc = vcm_kv_get(out, txn, VCM_TABLE_FRAMES, vcm_table_id_key(id), err);
    if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK)) {
        char hex[VCM_PAGE_ID_HEX + 1];
        vcm_page_id_to_hex(hex, id);
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "page %s has lost its bytes", hex);
    }
    return rc;
}

static int parse_row(struct vcm_page_row *row, struct vcm_slice key, struct vcm_slice value,
                     struct vcm_error *err)
{
    if (key.len != VCM_ROW_KEY_BYTES || value.len < VCM_PAGE_ID_BYTES)
        return vcm_table_malformed("a row of a page table", err);
    row->seq = vcm_wire_load_be32((const unsigned char *)key.data + 8);
    memcpy(row->id.bytes, value.data, VCM_PAGE_ID_BYTES);
    row->records = vcm_slice_of(value.data + VCM_PAGE_ID_BYTES, value.len - VCM_PAGE_ID_BYTES);
    return VCM_OK;
}

int vcm_page_store_row(struct vcm_page_row *out, struct vcm_kv_txn *txn, uint64_t mapping,
                       uint32_t seq, struct vcm_error *err)
{
    unsigned char bytes[VCM_ROW_KEY_BYTES];
    struct vcm_slice key = vcm_table_row_key(bytes, mapping, seq), value;

    memset(out, 0, sizeof *out);
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_ROWS, key, err);
    return rc == VCM_OK ? parse_row(out, key, value, err) : rc;
}

struct row_walk {
    vcm_page_store_row_fn visit;
    void *context;
};

static int visit_row(void *context, struct vcm_slice key, struct vcm_slice value,
                     struct vcm_error *err)
{
    const struct row_walk *walk = context;
    struct vcm_page_row row;

    int rc = parse_row(&row, key, value, err);
    return rc == VCM_OK ? walk->visit(walk->context, &row, err) : rc;
}

int vcm_page_store_each_row(struct vcm_kv_txn *txn, uint64_t mapping, uint32_t seq,
                            vcm_page_store_row_fn visit, void *context, struct vcm_error *err)
{
    struct row_walk walk = {visit, context};
    unsigned char bytes[VCM_ROW_KEY_BYTES];
    struct vcm_slice start = vcm_table_row_key(bytes, mapping, seq);

    return each_entry(txn, VCM_TABLE_ROWS, vcm_slice_of(bytes, 8), start, visit_row, &walk, err);
}

static int parse_holder(uint32_t *occurrences, uint32_t *first_seq, struct vcm_slice value,
                        struct vcm_error *err)
{
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, value);
    *occurrences = vcm_wire_get_u32(&r);
    *first_seq = vcm_wire_get_u32(&r);
    return vcm_wire_reader_done(&r) ? VCM_OK : vcm_table_malformed("a holder of a page", err);
}

int vcm_table_get_holder(uint32_t *occurrences, uint32_t *first_seq, struct vcm_kv_txn *txn,
                         const struct vcm_page_id *id, uint64_t mapping, struct vcm_error *err)
{
    unsigned char key[VCM_HOLDER_KEY_BYTES];
    struct vcm_slice value;

    *occurrences = *first_seq = 0;
    int rc =
        vcm_kv_get(&value, txn, VCM_TABLE_HOLDERS, vcm_table_holder_key(key, id, mapping), err);
    return rc == VCM_OK ? parse_holder(occurrences, first_seq, value, err) : rc;
}

int vcm_page_store_first_seq(uint32_t *out, struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                             uint64_t mapping, struct vcm_error *err)
{
    uint32_t occurrences;
    return vcm_table_get_holder(&occurrences, out, txn, id, mapping, err);
}

int vcm_table_get_mapping(enum vcm_mapping_state *state, struct vcm_slice *scope_id,
                          struct vcm_kv_txn *txn, uint64_t mapping, struct vcm_error *err)
{
    unsigned char key[8];
    struct vcm_slice value;
    struct vcm_wire_reader r;

    vcm_wire_store_be64(key, mapping);
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_MAPPINGS, vcm_slice_of(key, sizeof key), err);
    if (rc != VCM_OK)
        return rc;
    vcm_wire_reader_init(&r, value);
    *state = vcm_wire_get_u8(&r);
    *scope_id = vcm_wire_get_bytes(&r);
    if (!vcm_wire_reader_done(&r) || *state > VCM_MAPPING_DROPPING)
        return vcm_table_malformed("a mapping", err);
    return VCM_OK;
}

int vcm_table_put_mapping(struct vcm_kv_txn *txn, uint64_t mapping, enum vcm_mapping_state state,
                          struct vcm_slice scope_id, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(1024);
    unsigned char key[8];

    vcm_wire_store_be64(key, mapping);
    vcm_wire_put_u8(&value, (uint8_t)state);
    vcm_wire_put_bytes(&value, scope_id);
    int rc = vcm_buf_check(&value, "a mapping", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_MAPPINGS, vcm_slice_of(key, sizeof key),
                        vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

struct holder_walk {
    struct vcm_kv_txn *txn;
    vcm_page_store_holder_fn visit;
    void *context;
};

static int visit_holder(void *context, struct vcm_slice key, struct vcm_slice value,
                        struct vcm_error *err)
{
    const struct holder_walk *walk = context;
    struct vcm_page_holder holder;
    enum vcm_mapping_state state;

    if (key.len != VCM_HOLDER_KEY_BYTES)
        return vcm_table_malformed("a holder of a page", err);
    holder.mapping = vcm_wire_load_be64((const unsigned char *)key.data + VCM_PAGE_ID_BYTES);
    int rc = parse_holder(&holder.occurrences, &holder.first_seq, value, err);
    if (rc == VCM_OK)
        rc = vcm_table_get_mapping(&state, &holder.scope_id, walk->txn, holder.mapping, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a holder of a page", err);
    if (rc != VCM_OK || state != VCM_MAPPING_IN_FORCE)
        return rc;
    return walk->visit(walk->context, &holder, err);
}

int vcm_page_store_each_holder(struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                               vcm_page_store_holder_fn visit, void *context, struct vcm_error *err)
{
    struct holder_walk walk = {txn, visit, context};
    struct vcm_slice prefix = vcm_table_id_key(id);

    return each_entry(txn, VCM_TABLE_HOLDERS, prefix, prefix, visit_holder, &walk, err);
}

struct omission_walk {
    vcm_page_store_omission_fn visit;
    void *context;
};

static int visit_omission(void *context, struct vcm_slice key, struct vcm_slice value,
                          struct vcm_error *err)
{
    const struct omission_walk *walk = context;
    struct vcm_page_omission omission;
    struct vcm_wire_reader r;

    (void)key;
    vcm_wire_reader_init(&r, value);
    omission.outcome = vcm_wire_get_u8(&r);
    omission.path = vcm_wire_get_bytes(&r);
    omission.raw_path = vcm_wire_get_bytes(&r);
    omission.content_id = vcm_wire_get_bytes(&r);
    omission.reason = vcm_wire_get_bytes(&r);
    if (!vcm_wire_reader_done(&r) || omission.outcome >= VCM_SOURCE_OUTCOMES)
        return vcm_table_malformed("an omission", err);
    return walk->visit(walk->context, &omission, err);
}

int vcm_page_store_each_omission(struct vcm_kv_txn *txn, uint64_t mapping,
                                 vcm_page_store_omission_fn visit, void *context,
                                 struct vcm_error *err)
{
    struct omission_walk walk = {visit, context};
    unsigned char prefix[8];

    vcm_wire_store_be64(prefix, mapping);
    struct vcm_slice key = vcm_slice_of(prefix, sizeof prefix);
    return each_entry(txn, VCM_TABLE_OMISSIONS, key, key, visit_omission, &walk, err);
}
