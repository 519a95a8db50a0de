#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "vcm/store/page_store.h"
#include "vcm/store/table.h"

#include "base/banned.h"

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

int vcm_page_table_row(struct vcm_page_row *out, struct vcm_kv_txn *txn, uint64_t mapping,
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

int vcm_page_table_each_row(struct vcm_kv_txn *txn, uint64_t mapping, uint32_t seq,
                            vcm_page_store_row_fn visit, void *context, struct vcm_error *err)
{
    struct row_walk walk = {visit, context};
    unsigned char bytes[VCM_ROW_KEY_BYTES];
    struct vcm_slice start = vcm_table_row_key(bytes, mapping, seq);

    return vcm_table_each(txn, VCM_TABLE_ROWS, vcm_slice_of(bytes, 8), start, visit_row, &walk,
                          err);
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

int vcm_page_table_get_holder(uint32_t *occurrences, uint32_t *first_seq, struct vcm_kv_txn *txn,
                              const struct vcm_page_id *id, uint64_t mapping, struct vcm_error *err)
{
    unsigned char key[VCM_HOLDER_KEY_BYTES];
    struct vcm_slice value;

    *occurrences = *first_seq = 0;
    int rc =
        vcm_kv_get(&value, txn, VCM_TABLE_HOLDERS, vcm_table_holder_key(key, id, mapping), err);
    return rc == VCM_OK ? parse_holder(occurrences, first_seq, value, err) : rc;
}

int vcm_page_table_first_seq(uint32_t *out, struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                             uint64_t mapping, struct vcm_error *err)
{
    uint32_t occurrences;
    return vcm_page_table_get_holder(&occurrences, out, txn, id, mapping, err);
}

static int parse_mapping(struct vcm_mapping_info *out, struct vcm_slice value,
                         struct vcm_error *err)
{
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, value);
    out->state = vcm_wire_get_u8(&r);
    uint8_t pinned = vcm_wire_get_u8(&r);
    out->pinned = pinned != 0;
    out->scope_id = vcm_wire_get_bytes(&r);
    if (!vcm_wire_reader_done(&r) || out->state > VCM_MAPPING_DROPPING || pinned > 1)
        return vcm_table_malformed("a mapping", err);
    return VCM_OK;
}

int vcm_page_table_get_mapping(struct vcm_mapping_info *out, struct vcm_kv_txn *txn,
                               uint64_t mapping, struct vcm_error *err)
{
    unsigned char key[8];
    struct vcm_slice value;

    memset(out, 0, sizeof *out);
    vcm_wire_store_be64(key, mapping);
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_MAPPINGS, vcm_slice_of(key, sizeof key), err);
    return rc == VCM_OK ? parse_mapping(out, value, err) : rc;
}

static int match_mapping(void *context, struct vcm_slice key, struct vcm_slice value,
                         struct vcm_error *err)
{
    const struct vcm_slice *prefix = context;
    struct vcm_mapping_info info;

    (void)key;
    int rc = parse_mapping(&info, value, err);
    if (rc != VCM_OK || info.state != VCM_MAPPING_IN_FORCE || info.scope_id.len < prefix->len ||
        memcmp(info.scope_id.data, prefix->data, prefix->len) != 0)
        return rc;
    return vcm_error_set(err, VCM_STORE_CORRUPT,
                         "the store is damaged: scope '%.*s' has a page table and is missing",
                         (int)info.scope_id.len, info.scope_id.data);
}

int vcm_page_table_check_no_scope(struct vcm_kv_txn *txn, struct vcm_slice prefix,
                                  struct vcm_error *err)
{
    struct vcm_slice all = vcm_slice_of("", 0);

    return vcm_table_each(txn, VCM_TABLE_MAPPINGS, all, all, match_mapping, &prefix, err);
}

int vcm_page_table_put_mapping(struct vcm_kv_txn *txn, uint64_t mapping,
                               const struct vcm_mapping_info *info, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(1024);
    unsigned char key[8];

    assert(mapping != 0 && info->scope_id.len <= VCM_LIMIT_SCOPE_ID_BYTES);
    vcm_wire_store_be64(key, mapping);
    vcm_wire_put_u8(&value, (uint8_t)info->state);
    vcm_wire_put_u8(&value, info->pinned);
    vcm_wire_put_bytes(&value, info->scope_id);
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
    struct vcm_mapping_info mapping;

    if (key.len != VCM_HOLDER_KEY_BYTES)
        return vcm_table_malformed("a holder of a page", err);
    holder.mapping = vcm_wire_load_be64((const unsigned char *)key.data + VCM_PAGE_ID_BYTES);
    int rc = parse_holder(&holder.occurrences, &holder.first_seq, value, err);
    if (rc == VCM_OK)
        rc = vcm_page_table_get_mapping(&mapping, walk->txn, holder.mapping, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a holder of a page", err);
    if (rc != VCM_OK || mapping.state != VCM_MAPPING_IN_FORCE)
        return rc;
    holder.scope_id = mapping.scope_id;
    return walk->visit(walk->context, &holder, err);
}

int vcm_page_table_each_holder(struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                               vcm_page_store_holder_fn visit, void *context, struct vcm_error *err)
{
    struct holder_walk walk = {txn, visit, context};
    struct vcm_slice prefix = vcm_table_id_key(id);

    return vcm_table_each(txn, VCM_TABLE_HOLDERS, prefix, prefix, visit_holder, &walk, err);
}

static int note_entry(void *context, struct vcm_slice key, struct vcm_slice value,
                      struct vcm_error *err)
{
    (void)key;
    (void)value;
    (void)err;
    *(bool *)context = true;
    return VCM_STOP;
}

int vcm_page_table_check_held(struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                              struct vcm_error *err)
{
    struct vcm_slice key = vcm_table_id_key(id);
    char hex[VCM_PAGE_ID_HEX + 1];
    bool held = false;

    int rc = vcm_table_each(txn, VCM_TABLE_HOLDERS, key, key, note_entry, &held, err);
    if (rc == VCM_OK && !held)
        rc = vcm_table_each(txn, VCM_TABLE_ORPHANS, key, key, note_entry, &held, err);
    vcm_page_id_to_hex(hex, id);
    return rc == VCM_OK && !held
               ? vcm_error_set(err, VCM_STORE_CORRUPT,
                               "the store is damaged: no page table has page %s", hex)
               : rc;
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

int vcm_page_table_each_omission(struct vcm_kv_txn *txn, uint64_t mapping,
                                 vcm_page_store_omission_fn visit, void *context,
                                 struct vcm_error *err)
{
    struct omission_walk walk = {visit, context};
    unsigned char prefix[8];

    vcm_wire_store_be64(prefix, mapping);
    struct vcm_slice key = vcm_slice_of(prefix, sizeof prefix);
    return vcm_table_each(txn, VCM_TABLE_OMISSIONS, key, key, visit_omission, &walk, err);
}

struct vcm_slice vcm_page_table_path_key(unsigned char key[VCM_PATH_KEY_BYTES], uint64_t mapping,
                                         struct vcm_slice path, uint32_t seq)
{
    vcm_wire_store_be64(key, mapping);
    vcm_wire_store_be64(key + 8, vcm_hash_checksum(path, 0));
    vcm_wire_store_be32(key + 16, seq);
    return vcm_slice_of(key, VCM_PATH_KEY_BYTES);
}

bool vcm_page_table_next_path(struct vcm_slice *path, struct vcm_slice *rest)
{
    if (!rest->data)
        return false;
    const char *end = rest->len > 0 ? memchr(rest->data, '\0', rest->len) : NULL;
    *path = vcm_slice_of(rest->data, end ? (size_t)(end - rest->data) : rest->len);
    *rest = end ? vcm_slice_of(end + 1, rest->len - path->len - 1) : vcm_slice_of(NULL, 0);
    return true;
}

bool vcm_page_table_has_path(struct vcm_slice entry, struct vcm_slice path)
{
    struct vcm_slice one;

    while (vcm_page_table_next_path(&one, &entry))
        if (vcm_slice_equal(one, path))
            return true;
    return false;
}

/* Adds a path to the entry of its key, which another path of the row may have made. */
static int put_path(struct vcm_kv_txn *txn, struct vcm_slice key, struct vcm_slice path,
                    struct vcm_error *err)
{
    struct vcm_buf joined = VCM_BUF_INIT(VCM_LIMIT_FRAME_BYTES);
    struct vcm_slice entry;

    int rc = vcm_kv_get(&entry, txn, VCM_TABLE_PATHS, key, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_kv_put(txn, VCM_TABLE_PATHS, key, path, err);
    if (rc != VCM_OK || vcm_page_table_has_path(entry, path))
        return rc;
    vcm_buf_append_slice(&joined, entry);
    vcm_buf_append_byte(&joined, '\0');
    vcm_buf_append_slice(&joined, path);
    rc = vcm_buf_check(&joined, "the paths of a page", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_PATHS, key, vcm_buf_slice(&joined), err);
    vcm_buf_release(&joined);
    return rc;
}

int vcm_page_table_put_paths(struct vcm_kv_txn *txn, uint64_t mapping, uint32_t seq,
                             struct vcm_slice records, struct vcm_error *err)
{
    unsigned char key[VCM_PATH_KEY_BYTES];
    struct vcm_page_record *list = NULL;
    uint32_t count;

    int rc = vcm_page_get_records(&list, &count, records, err);
    for (uint32_t i = 0; rc == VCM_OK && i < count; i++) {
        if (i > 0 && vcm_slice_equal(list[i].path, list[i - 1].path))
            continue; /* another part of the same file */
        rc = put_path(txn, vcm_page_table_path_key(key, mapping, list[i].path, seq), list[i].path,
                      err);
    }
    free(list);
    return rc;
}

int vcm_page_table_delete_paths(struct vcm_kv_txn *txn, uint64_t mapping, uint32_t seq,
                                struct vcm_slice records, struct vcm_error *err)
{
    unsigned char key[VCM_PATH_KEY_BYTES];
    struct vcm_page_record *list = NULL;
    uint32_t count;

    int rc = vcm_page_get_records(&list, &count, records, err);
    for (uint32_t i = 0; rc == VCM_OK && i < count; i++) {
        rc = vcm_kv_delete(txn, VCM_TABLE_PATHS,
                           vcm_page_table_path_key(key, mapping, list[i].path, seq), err);
        if (rc == VCM_NOT_FOUND)
            rc = VCM_OK; /* another part of the same file, or a path with the same hash */
    }
    free(list);
    return rc;
}

struct path_walk {
    struct vcm_slice path;
    vcm_page_store_path_fn visit;
    void *context;
};

/* Two paths may have the same hash; the value has the paths themselves. */
static int visit_path(void *context, struct vcm_slice key, struct vcm_slice value,
                      struct vcm_error *err)
{
    const struct path_walk *walk = context;

    if (key.len != VCM_PATH_KEY_BYTES)
        return vcm_table_malformed("an entry of the index of paths", err);
    if (!vcm_page_table_has_path(value, walk->path))
        return VCM_OK;
    return walk->visit(walk->context, vcm_wire_load_be32((const unsigned char *)key.data + 16),
                       err);
}

int vcm_page_table_each_path(struct vcm_kv_txn *txn, uint64_t mapping, struct vcm_slice path,
                             vcm_page_store_path_fn visit, void *context, struct vcm_error *err)
{
    struct path_walk walk = {path, visit, context};
    unsigned char bytes[VCM_PATH_KEY_BYTES];
    struct vcm_slice start = vcm_page_table_path_key(bytes, mapping, path, 0);

    return vcm_table_each(txn, VCM_TABLE_PATHS, vcm_slice_of(bytes, 16), start, visit_path, &walk,
                          err);
}
