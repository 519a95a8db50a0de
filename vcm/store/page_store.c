#include "vcm/store/page_store.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/path.h"
#include "vcm/store/dictionary.h"
#include "vcm/store/shm.h"
#include "vcm/store/table.h"

#include "base/banned.h"

/* Of a page's descriptor. */
#define FLAG_PINNED   1u
#define FLAG_VOLATILE 2u

#define ERA_SHIFT 32
#define ERAS      (UINT64_C(1) << 30) /* numbers are positions in a lock file, too: below 2^63 */

const char *const vcm_table_names[] = {
    [VCM_TABLE_META] = "meta",
    [VCM_TABLE_SCOPES] = "scopes",
    [VCM_TABLE_MAPPINGS] = "mappings",
    [VCM_TABLE_ROWS] = "rows",
    [VCM_TABLE_HOLDERS] = "holders",
    [VCM_TABLE_PAGES] = "pages",
    [VCM_TABLE_FRAMES] = "frames",
    [VCM_TABLE_OMISSIONS] = "omissions",
    [VCM_TABLE_COMPRESSED] = "compressed",
    [VCM_TABLE_DICTIONARIES] = "dictionaries",
    [VCM_TABLE_DICTIONARY_BYTES] = "dictionary_bytes",
    [VCM_TABLE_LOCKS] = "locks",
    [VCM_TABLE_PATHS] = "paths",
    [VCM_TABLE_ORPHANS] = "orphans",
    [VCM_TABLE_ORPHANS + 1] = NULL,
};

static const struct vcm_page_store_limits default_limits = {.capacity = VCM_GIB,
                                                            .compressed_capacity = VCM_GIB};

static int get_meta(struct vcm_slice *value, struct vcm_kv_txn *txn, const char *name,
                    struct vcm_error *err)
{
    return vcm_kv_get(value, txn, VCM_TABLE_META, vcm_slice_of_string(name), err);
}

/* VCM_NOT_FOUND, err untouched, for a store that was never written. */
static int get_format(uint32_t *format, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_slice value;
    struct vcm_wire_reader r;

    int rc = get_meta(&value, txn, VCM_META_FORMAT, err);
    if (rc != VCM_OK)
        return rc;
    vcm_wire_reader_init(&r, value);
    *format = vcm_wire_get_u32(&r);
    if (!vcm_wire_reader_done(&r))
        return vcm_table_malformed("the format number", err);
    if (*format == 0 || *format > VCM_PAGE_STORE_FORMAT)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the store has format %u and this vcm reads format %u; use the vcm "
                             "that wrote it, or another --home",
                             *format, VCM_PAGE_STORE_FORMAT);
    return VCM_OK;
}

static int put_format(struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(16);

    vcm_wire_put_u32(&value, VCM_PAGE_STORE_FORMAT);
    int rc = vcm_buf_check(&value, "the format number", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_FORMAT),
                        vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

/* Writes the format number of a new store, or converts an older one; unless another process has
 * done it meanwhile. */
static int write_format(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    uint32_t format = 0;

    (void)context;
    int rc = get_format(&format, txn, err);
    if (rc == VCM_NOT_FOUND)
        return put_format(txn, err);
    if (rc != VCM_OK || format == VCM_PAGE_STORE_FORMAT)
        return rc;
    if (format == 1)
        rc = vcm_page_migrate_from_1(txn, err);
    return rc == VCM_OK ? put_format(txn, err) : rc;
}

static int settle_format(struct vcm_page_store *store, bool read_only, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;
    uint32_t format = 0;

    int rc = vcm_kv_handle_read_begin(&txn, store->kv, err);
    if (rc != VCM_OK)
        return rc;
    rc = get_format(&format, txn, err);
    if (rc == VCM_NOT_FOUND && !vcm_kv_handle_is_new(txn))
        rc = vcm_error_set(err, VCM_STORE_CORRUPT,
                           "the store in '%s' is damaged: its format number is missing",
                           store->directory);
    vcm_kv_handle_read_end(txn);
    if (rc != VCM_NOT_FOUND && (rc != VCM_OK || format == VCM_PAGE_STORE_FORMAT))
        return rc;
    if (read_only && rc == VCM_OK && format >= VCM_PAGE_STORE_FORMAT_READ)
        return VCM_OK;
    if (read_only && rc == VCM_OK)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the store has format %u and this vcm reads format %u; the next "
                             "command that may write to '%s' converts it",
                             format, VCM_PAGE_STORE_FORMAT, store->directory);
    if (read_only)
        return vcm_error_set(err, VCM_NOT_FOUND, "there is no page store in '%s' yet",
                             store->directory);
    if (rc == VCM_OK)
        vcm_log_write(store->log, VCM_LOG_INFO, "converting the store in '%s' to format %u",
                      store->directory, VCM_PAGE_STORE_FORMAT);
    return vcm_kv_handle_update(store->kv, write_format, NULL, VCM_LIMIT_LOCK_TIMEOUT_MS, NULL,
                                err);
}

static int open_kv(struct vcm_kv **out, const struct vcm_page_store *store, bool read_only,
                   size_t map_bytes, struct vcm_error *err)
{
    struct vcm_buf lock = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&lock, store->directory, VCM_PAGE_STORE_LOCK);
    int rc = vcm_buf_check(&lock, "the path of the store", err);
    if (rc == VCM_OK)
        rc = vcm_kv_handle_open(out,
                                &(struct vcm_kv_options){
                                    .directory = store->directory,
                                    .lock_path = vcm_buf_text(&lock),
                                    .tables = vcm_table_names,
                                    .read_only = read_only,
                                    .map_bytes = map_bytes,
                                    .log = store->log,
                                },
                                err);
    vcm_buf_release(&lock);
    return rc;
}

int vcm_page_store_writer(struct vcm_kv **out, struct vcm_page_store *store, struct vcm_error *err)
{
    int rc = VCM_OK;

    *out = store->kv;
    if (!store->read_only)
        return VCM_OK;
    pthread_mutex_lock(&store->mutex);
    if (!store->writer)
        rc = open_kv(&store->writer, store, false, store->map_bytes, err);
    *out = store->writer;
    pthread_mutex_unlock(&store->mutex);
    return rc;
}

int vcm_page_store_open(struct vcm_page_store **out, const struct vcm_page_store_options *options,
                        struct vcm_error *err)
{
    struct vcm_page_store *store = calloc(1, sizeof *store);

    *out = NULL;
    if (!store)
        return vcm_error_memory(err);
    pthread_mutex_init(&store->mutex, NULL);
    atomic_init(&store->users, 1);
    store->log = options->log;
    store->read_only = options->read_only;
    store->map_bytes = options->map_bytes;
    store->read_limits = options->read_limits;
    store->read_limits_context = options->read_limits_context;
    vcm_page_store_set_limits(store, options->limits ? options->limits : &default_limits);
    store->directory = strdup(options->directory);
    int rc = store->directory ? VCM_OK : vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = open_kv(&store->kv, store, options->read_only, options->map_bytes, err);
    if (rc == VCM_OK)
        rc = settle_format(store, options->read_only, err);
    if (rc == VCM_OK)
        rc = vcm_shm_open(&store->shm, options->directory, err);
    if (rc == VCM_OK)
        rc = vcm_dictionary_cache_open(&store->dictionaries, err);
    if (rc == VCM_OK)
        *out = store;
    else
        vcm_page_store_close(store);
    return rc;
}

static int put_number(struct vcm_kv_txn *txn, const char *name, uint64_t number,
                      struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(16);

    vcm_wire_put_u64(&value, number);
    int rc = vcm_buf_check(&value, "a number", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_META, vcm_slice_of_string(name), vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

/* The stamp begins anew as well, so that no eviction set of the former store counts as valid. */
static int begin_era(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const uint64_t first = *(const uint64_t *)context << ERA_SHIFT;

    int rc = put_number(txn, VCM_META_NEXT_MAPPING, first, err);
    return rc == VCM_OK ? put_number(txn, VCM_META_STAMP, first, err) : rc;
}

int vcm_page_store_make(const char *directory, uint64_t era, struct vcm_error *err)
{
    const struct vcm_page_store_options options = {.directory = directory};
    struct vcm_page_store *store = NULL;

    era = era % ERAS != 0 ? era % ERAS : 1;
    int rc = vcm_page_store_open(&store, &options, err);
    if (rc == VCM_OK)
        rc = vcm_kv_handle_update(store->kv, begin_era, &era, VCM_LIMIT_LOCK_TIMEOUT_MS, NULL, err);
    vcm_page_store_close(store);
    return rc;
}

int vcm_page_store_era(uint64_t *out, struct vcm_page_store *store, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;
    struct vcm_slice value;

    *out = 0;
    int rc = vcm_page_store_read_begin(&txn, store, err);
    if (rc != VCM_OK)
        return rc;
    rc = get_meta(&value, txn, VCM_META_NEXT_MAPPING, err);
    if (rc == VCM_OK) {
        struct vcm_wire_reader r;
        vcm_wire_reader_init(&r, value);
        *out = vcm_wire_get_u64(&r) >> ERA_SHIFT;
        if (!vcm_wire_reader_done(&r))
            rc = vcm_table_malformed("the next number of a series", err);
    }
    vcm_kv_handle_read_end(txn);
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}

bool vcm_page_store_is_current(struct vcm_page_store *store)
{
    return vcm_kv_handle_is_current(store->kv);
}

struct vcm_page_store *vcm_page_store_share(struct vcm_page_store *store)
{
    unsigned before = atomic_fetch_add(&store->users, 1);

    assert(before > 0);
    (void)before;
    return store;
}

void vcm_page_store_close(struct vcm_page_store *store)
{
    if (!store)
        return;
    unsigned before = atomic_fetch_sub(&store->users, 1);
    assert(before > 0);
    if (before > 1)
        return;
    vcm_dictionary_cache_close(store->dictionaries);
    vcm_shm_close(store->shm);
    vcm_kv_handle_close(store->writer);
    vcm_kv_handle_close(store->kv);
    pthread_mutex_destroy(&store->mutex);
    free(store->directory);
    free(store);
}

int vcm_page_store_read_limits(struct vcm_page_store_limits *out, struct vcm_page_store *store,
                               struct vcm_error *err)
{
    *out = (struct vcm_page_store_limits){
        .capacity = store->limits.capacity,
        .compressed_capacity = store->limits.compressed_capacity,
        .policy = store->limits.policy,
    };
    if (!store->read_limits)
        return VCM_OK;
    int rc = store->read_limits(store->read_limits_context, out, err);
    if (rc == VCM_OK)
        vcm_page_store_set_limits(store, out);
    return rc;
}

void vcm_page_store_set_limits(struct vcm_page_store *store,
                               const struct vcm_page_store_limits *limits)
{
    store->limits.capacity = limits->capacity;
    store->limits.compressed_capacity = limits->compressed_capacity;
    store->limits.policy = limits->policy;
}

void vcm_page_store_set_sources(struct vcm_page_store *store, vcm_page_store_source_fn open,
                                void *context)
{
    store->open_source = open;
    store->open_source_context = context;
}

int vcm_page_store_read_begin(struct vcm_kv_txn **out, struct vcm_page_store *store,
                              struct vcm_error *err)
{
    return vcm_kv_handle_read_begin(out, store->kv, err);
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

/* The sums in the order in which they are stored. */
static uint64_t *total_member(struct vcm_page_totals *totals, unsigned index)
{
    uint64_t *members[] = {
        &totals->pages,          &totals->resident,         &totals->compressed,   &totals->pinned,
        &totals->resident_bytes, &totals->compressed_bytes, &totals->pinned_bytes, &totals->tokens,
    };
    return index < sizeof members / sizeof members[0] ? members[index] : NULL;
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
    for (unsigned i = 0; total_member(out, i); i++)
        *total_member(out, i) = vcm_wire_get_u64(&r);
    return vcm_wire_reader_done(&r) ? VCM_OK : vcm_table_malformed("the sum of pages", err);
}

int vcm_page_store_put_totals(struct vcm_kv_txn *txn, const struct vcm_page_totals *totals,
                              struct vcm_error *err)
{
    struct vcm_page_totals copy = *totals;
    struct vcm_buf value = VCM_BUF_INIT(128);

    for (unsigned i = 0; total_member(&copy, i); i++)
        vcm_wire_put_u64(&value, *total_member(&copy, i));
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

struct scope_walk {
    vcm_page_store_scope_fn visit;
    void *context;
    bool any;
};

static int visit_scope(void *context, struct vcm_slice key, struct vcm_slice value,
                       struct vcm_error *err)
{
    struct scope_walk *walk = context;
    struct vcm_scope scope;

    (void)key;
    walk->any = true;
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
    struct scope_walk walk = {visit, context, false};

    if (prefix.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return VCM_OK;
    int rc = vcm_table_each(txn, VCM_TABLE_SCOPES, prefix, prefix, visit_scope, &walk, err);
    return rc == VCM_OK && !walk.any ? vcm_page_table_check_no_scope(txn, prefix, err) : rc;
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
    uint8_t flags = vcm_wire_get_u8(&r);
    out->pins = vcm_wire_get_u32(&r);
    out->bytes = vcm_wire_get_u64(&r);
    out->tokens = vcm_wire_get_u32(&r);
    out->records = vcm_wire_get_u32(&r);
    out->compressed_bytes = vcm_wire_get_u64(&r);
    out->dictionary = vcm_wire_get_u64(&r);
    out->pinned = flags & FLAG_PINNED;
    out->is_volatile = flags & FLAG_VOLATILE;
    if (!vcm_wire_reader_done(&r) || out->state > VCM_PAGE_EVICTED ||
        flags > (FLAG_PINNED | FLAG_VOLATILE) || out->bytes > VCM_LIMIT_FRAME_BYTES)
        return vcm_table_malformed("a page descriptor", err);
    return VCM_OK;
}

int vcm_page_store_put_page(struct vcm_kv_txn *txn, const struct vcm_page_info *info,
                            struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(64);

    vcm_wire_put_u8(&value, (uint8_t)info->state);
    vcm_wire_put_u8(&value, (uint8_t)((info->pinned ? FLAG_PINNED : 0) |
                                      (info->is_volatile ? FLAG_VOLATILE : 0)));
    vcm_wire_put_u32(&value, info->pins);
    vcm_wire_put_u64(&value, info->bytes);
    vcm_wire_put_u32(&value, info->tokens);
    vcm_wire_put_u32(&value, info->records);
    vcm_wire_put_u64(&value, info->compressed_bytes);
    vcm_wire_put_u64(&value, info->dictionary);
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
        return VCM_OK; /* a prefix with an odd number of digits is one digit longer than its bytes
                        */
    if (search->count == search->max)
        return VCM_STOP;
    memcpy(search->ids[search->count++].bytes, key.data, key.len);
    return VCM_OK;
}

/* S3: a holder names a page that exists. */
static int match_holder(void *context, struct vcm_slice key, struct vcm_slice value,
                        struct vcm_error *err)
{
    const struct page_search *search = context;
    char hex[VCM_PAGE_ID_HEX + 1];

    (void)value;
    if (key.len != VCM_HOLDER_KEY_BYTES)
        return vcm_table_malformed("a holder", err);
    vcm_hash_to_hex(hex, (const unsigned char *)key.data, VCM_PAGE_ID_BYTES);
    if (memcmp(hex, search->prefix, search->prefix_len) != 0)
        return VCM_STOP;
    return vcm_error_set(err, VCM_STORE_CORRUPT,
                         "the store is damaged: a page table has page %s, which is missing", hex);
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
    int rc = vcm_table_each(txn, VCM_TABLE_PAGES, vcm_slice_of(start, search.prefix_len / 2),
                            vcm_slice_of(start, sizeof start), match_page, &search, err);
    *count = search.count;
    if (rc == VCM_OK && search.count == 0)
        rc = vcm_table_each(txn, VCM_TABLE_HOLDERS, vcm_slice_of(start, search.prefix_len / 2),
                            vcm_slice_of(start, sizeof start), match_holder, &search, err);
    return rc;
}

static int get_bytes(struct vcm_slice *out, struct vcm_kv_txn *txn, enum vcm_table table,
                     const struct vcm_page_id *id, struct vcm_error *err)
{
    int rc = vcm_kv_get(out, txn, table, vcm_table_id_key(id), err);
    if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK)) {
        char hex[VCM_PAGE_ID_HEX + 1];
        vcm_page_id_to_hex(hex, id);
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "page %s has no bytes in the store", hex);
    }
    return rc;
}

int vcm_page_store_frame(struct vcm_slice *out, struct vcm_kv_txn *txn,
                         const struct vcm_page_id *id, struct vcm_error *err)
{
    int rc = get_bytes(out, txn, VCM_TABLE_FRAMES, id, err);
    if (rc == VCM_OK)
        *out = vcm_table_trim_frame(*out);
    return rc;
}

int vcm_page_store_compressed(struct vcm_slice *out, struct vcm_kv_txn *txn,
                              const struct vcm_page_id *id, struct vcm_error *err)
{
    return get_bytes(out, txn, VCM_TABLE_COMPRESSED, id, err);
}
