#include "tests/support/store_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "vcm/dictionary.h"
#include "vcm/lock.h"
#include "vcm/tables.h"

#include "base/banned.h"

struct check {
    struct vcm_page_store *store;
    struct vcm_kv_txn *txn;
    struct vcm_error err;
    bool finished;
    uint64_t next_mapping;
    struct vcm_page_totals sums;
};

/* What the rows and omissions of one mapping add up to. */
struct table_sums {
    struct check *check;
    uint64_t rows, records, tokens, bytes, omissions, paths;
    uint64_t by_outcome[VCM_SOURCE_OUTCOMES];
    struct vcm_page_id wanted; /* counted in `found` */
    uint64_t found;
    uint32_t found_first;
};

#define CHECK(invariant, condition)                                                                \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("invariant %s does not hold: %s", invariant, #condition);                     \
    } while (0)

static void succeed(struct check *check, int rc)
{
    if (rc != VCM_OK)
        fail_msg("the store cannot be read: %s %s", vcm_error_code_name((enum vcm_code)rc),
                 check->err.message);
}

static void open_check(struct check *check, const char *directory)
{
    memset(check, 0, sizeof *check);
    succeed(check, vcm_page_store_open(
                       &check->store,
                       &(struct vcm_page_store_options){.directory = directory, .read_only = true},
                       &check->err));
    succeed(check, vcm_page_store_read_begin(&check->txn, check->store, &check->err));
}

static void close_check(struct check *check)
{
    vcm_kv_read_end(check->txn);
    vcm_page_store_close(check->store);
}

typedef void (*entry_fn)(void *context, struct vcm_slice key, struct vcm_slice value);

static void each_entry(struct check *check, enum vcm_table table, entry_fn visit, void *context)
{
    struct vcm_kv_cursor *cursor;
    struct vcm_slice key, value;

    succeed(check, vcm_kv_cursor_open(&cursor, check->txn, table, &check->err));
    int rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_slice_of("", 0), &check->err);
    while (rc == VCM_OK) {
        visit(context, key, value);
        rc = vcm_kv_cursor_next(&key, &value, cursor, &check->err);
    }
    vcm_kv_cursor_close(cursor);
    if (rc != VCM_NOT_FOUND)
        succeed(check, rc);
}

static uint64_t number_of(struct vcm_slice key)
{
    return vcm_wire_load_be64((const unsigned char *)key.data);
}

/* A mapping, which must be there. */
static struct vcm_mapping_info mapping_of(struct check *check, uint64_t mapping)
{
    struct vcm_mapping_info info;

    int rc = vcm_table_get_mapping(&info, check->txn, mapping, &check->err);
    CHECK("S7", rc != VCM_NOT_FOUND);
    succeed(check, rc);
    return info;
}

static bool same_id(const struct vcm_page_id *a, const struct vcm_page_id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static struct vcm_page_id id_in(struct vcm_slice key)
{
    struct vcm_page_id id;

    CHECK("S1", key.len >= sizeof id.bytes);
    memcpy(id.bytes, key.data, sizeof id.bytes);
    return id;
}

static bool has_entry(struct check *check, enum vcm_table table, const struct vcm_page_id *id)
{
    struct vcm_slice value;

    int rc = vcm_kv_get(&value, check->txn, table, vcm_table_id_key(id), &check->err);
    if (rc != VCM_NOT_FOUND)
        succeed(check, rc);
    return rc == VCM_OK;
}

/* The bytes of a page that has some, in memory that the caller frees; NULL for an evicted one. */
static char *bytes_of(struct check *check, const struct vcm_page_info *info)
{
    struct vcm_slice frame;

    if (info->state == VCM_PAGE_EVICTED)
        return NULL;
    char *bytes = malloc(info->bytes + 1);
    assert_non_null(bytes);
    if (info->state == VCM_PAGE_RESIDENT) {
        succeed(check, vcm_page_store_frame(&frame, check->txn, &info->id, &check->err));
        CHECK("S2", frame.len == info->bytes);
        memcpy(bytes, frame.data, frame.len);
    } else {
        succeed(check, vcm_page_store_compressed(&frame, check->txn, &info->id, &check->err));
        CHECK("S2", frame.len == info->compressed_bytes);
        succeed(check,
                vcm_dictionary_decompress(bytes, check->store, check->txn, info, &check->err));
    }
    return bytes;
}

static void check_bytes(struct check *check, const struct vcm_page_info *info)
{
    struct vcm_page_id hashed;
    struct vcm_slice line;
    uint32_t lines = 0;

    CHECK("S2",
          has_entry(check, VCM_TABLE_FRAMES, &info->id) == (info->state == VCM_PAGE_RESIDENT));
    CHECK("S2", has_entry(check, VCM_TABLE_COMPRESSED, &info->id) ==
                    (info->state == VCM_PAGE_COMPRESSED));
    CHECK("S2", info->state == VCM_PAGE_COMPRESSED ||
                    (info->compressed_bytes == 0 && info->dictionary == 0));
    char *bytes = bytes_of(check, info);
    if (!bytes)
        return;
    struct vcm_slice frame = vcm_slice_of(bytes, info->bytes);
    vcm_page_id_of(&hashed, frame);
    CHECK("S1", same_id(&hashed, &info->id));
    CHECK("S2", frame.len > 0 && frame.data[frame.len - 1] == '\n');
    while (vcm_page_next_value(&line, &frame))
        lines++;
    CHECK("S2", lines == info->records);
    free(bytes);
}

struct pin_count {
    struct check *check;
    uint32_t holders, pins;
};

static void count_holder(struct pin_count *count, const struct vcm_page_id *id)
{
    struct vcm_kv_cursor *cursor;
    struct vcm_slice key, value;
    struct check *check = count->check;

    succeed(check, vcm_kv_cursor_open(&cursor, check->txn, VCM_TABLE_HOLDERS, &check->err));
    int rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_table_id_key(id), &check->err);
    while (rc == VCM_OK && key.len == VCM_HOLDER_KEY_BYTES &&
           memcmp(key.data, id->bytes, sizeof id->bytes) == 0) {
        count->holders++;
        count->pins +=
            mapping_of(check, number_of(vcm_slice_of(key.data + sizeof id->bytes, 8))).pinned;
        rc = vcm_kv_cursor_next(&key, &value, cursor, &check->err);
    }
    vcm_kv_cursor_close(cursor);
}

static void check_page(void *context, struct vcm_slice key, struct vcm_slice value)
{
    struct check *check = context;
    struct pin_count count = {.check = check};
    struct vcm_page_id id = id_in(key);
    struct vcm_page_info info;

    (void)value;
    CHECK("S1", key.len == VCM_PAGE_ID_BYTES);
    succeed(check, vcm_page_store_page(&info, check->txn, &id, &check->err));
    check_bytes(check, &info);
    count_holder(&count, &id);
    CHECK("S5", (count.holders == 0) == has_entry(check, VCM_TABLE_ORPHANS, &id));
    CHECK("S15", info.pins == count.pins);
    CHECK("S15", !vcm_page_info_pinned(&info) || info.state == VCM_PAGE_RESIDENT);
    check->sums.pages++;
    check->sums.tokens += info.tokens;
    check->sums.resident += info.state == VCM_PAGE_RESIDENT;
    check->sums.resident_bytes += info.state == VCM_PAGE_RESIDENT ? info.bytes : 0;
    check->sums.compressed += info.state == VCM_PAGE_COMPRESSED;
    check->sums.compressed_bytes += info.compressed_bytes;
    check->sums.pinned += vcm_page_info_pinned(&info);
    check->sums.pinned_bytes += vcm_page_info_pinned(&info) ? info.bytes : 0;
}

/* An entry that belongs to a page which is known. */
static void check_frame(void *context, struct vcm_slice key, struct vcm_slice value)
{
    struct check *check = context;
    struct vcm_page_id id = id_in(key);
    struct vcm_page_info info;

    (void)value;
    CHECK("S2", vcm_page_store_page(&info, check->txn, &id, &check->err) == VCM_OK);
}

static int check_lock(void *context, const struct vcm_lock_info *lock, struct vcm_error *err)
{
    struct check *check = context;
    struct vcm_page_info info;

    (void)err;
    CHECK("S16", vcm_page_store_page(&info, check->txn, &lock->id, &check->err) == VCM_OK);
    CHECK("S16", lock->until <= (uint64_t)time(NULL) || info.state == VCM_PAGE_RESIDENT);
    return VCM_OK;
}

struct dictionary_count {
    struct check *check;
    uint64_t number, pages;
};

static void count_dictionary(void *context, struct vcm_slice key, struct vcm_slice value)
{
    struct dictionary_count *count = context;
    struct vcm_page_id id = id_in(key);
    struct vcm_page_info info;

    (void)value;
    succeed(count->check, vcm_page_store_page(&info, count->check->txn, &id, &count->check->err));
    count->pages += info.state == VCM_PAGE_COMPRESSED && info.dictionary == count->number;
}

static void check_dictionary(void *context, struct vcm_slice key, struct vcm_slice value)
{
    struct check *check = context;
    struct dictionary_count count = {.check = check, .number = number_of(key)};
    struct vcm_dictionary_info info;
    struct vcm_slice bytes;

    (void)value;
    succeed(check, vcm_dictionary_get(&info, check->txn, count.number, &check->err));
    succeed(check, vcm_kv_get(&bytes, check->txn, VCM_TABLE_DICTIONARY_BYTES, key, &check->err));
    each_entry(check, VCM_TABLE_PAGES, count_dictionary, &count);
    CHECK("S18", info.pages == count.pages);
}

static int sum_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct table_sums *sums = context;

    (void)err;
    if (same_id(&row->id, &sums->wanted) && sums->found++ == 0)
        sums->found_first = row->seq;
    return VCM_OK;
}

static void check_holder(void *context, struct vcm_slice key, struct vcm_slice value)
{
    struct check *check = context;
    struct table_sums sums = {.check = check, .wanted = id_in(key)};
    uint32_t occurrences, first_seq;
    struct vcm_page_info info;

    (void)value;
    CHECK("S4", key.len == VCM_HOLDER_KEY_BYTES);
    uint64_t mapping = number_of(vcm_slice_of(key.data + VCM_PAGE_ID_BYTES, 8));
    mapping_of(check, mapping);
    succeed(check, vcm_table_get_holder(&occurrences, &first_seq, check->txn, &sums.wanted, mapping,
                                        &check->err));
    succeed(check, vcm_page_store_each_row(check->txn, mapping, 0, sum_row, &sums, &check->err));
    CHECK("S4", occurrences == sums.found && first_seq == sums.found_first);
    CHECK("S3", vcm_page_store_page(&info, check->txn, &sums.wanted, &check->err) == VCM_OK);
}

static int find_seq(void *context, uint32_t seq, struct vcm_error *err)
{
    int64_t *wanted = context;

    (void)err;
    if ((int64_t)seq == *wanted)
        *wanted = -1;
    return VCM_OK;
}

static void check_record_list(struct check *check, const struct vcm_page_info *info,
                              const struct vcm_page_row *row, struct table_sums *sums)
{
    struct vcm_page_record *list;
    uint64_t tokens = 0;
    uint32_t count;

    char *bytes = bytes_of(check, info);
    struct vcm_slice line, frame = vcm_slice_of(bytes, info->bytes);
    succeed(check, vcm_page_get_records(&list, &count, row->records, &check->err));
    CHECK("S6", count == info->records);
    for (uint32_t i = 0; i < count; i++) {
        CHECK("S6", !bytes || (vcm_page_next_value(&line, &frame) && line.len == list[i].bytes));
        CHECK("S6", list[i].part >= 1 && list[i].part <= list[i].parts);
        tokens += list[i].tokens;
        if (i > 0 && vcm_slice_equal(list[i].path, list[i - 1].path))
            continue;
        int64_t seq = row->seq;
        succeed(check, vcm_page_store_each_path(check->txn, sums->found, list[i].path, find_seq,
                                                &seq, &check->err));
        CHECK("S17", seq == -1);
        sums->paths++;
    }
    CHECK("S6", tokens == info->tokens);
    sums->records += count;
    free(list);
    free(bytes);
}

static int check_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct table_sums *sums = context;
    struct vcm_page_info info;
    uint32_t first_seq;
    (void)err;

    CHECK("S8", row->seq == sums->rows);
    CHECK("S3",
          vcm_page_store_page(&info, sums->check->txn, &row->id, &sums->check->err) == VCM_OK);
    check_record_list(sums->check, &info, row, sums);
    CHECK("S4", vcm_page_store_first_seq(&first_seq, sums->check->txn, &row->id, sums->found,
                                         &sums->check->err) == VCM_OK);
    sums->rows++;
    sums->tokens += info.tokens;
    sums->bytes += info.bytes;
    return VCM_OK;
}

static int count_path(void *context, struct vcm_slice key, struct vcm_slice value,
                      struct vcm_error *err)
{
    (void)key;
    (void)value;
    (void)err;
    ++*(uint64_t *)context;
    return VCM_OK;
}

static int check_omission(void *context, const struct vcm_page_omission *omission,
                          struct vcm_error *err)
{
    struct table_sums *sums = context;

    (void)err;
    CHECK("S9", omission->outcome < VCM_SOURCE_PAGED);
    sums->omissions++;
    sums->by_outcome[omission->outcome]++;
    return VCM_OK;
}

static void check_scope(void *context, struct vcm_slice key, struct vcm_slice value)
{
    struct check *check = context;
    struct table_sums sums = {.check = check};
    struct vcm_mapping_info mapping;
    struct vcm_scope scope;
    uint64_t tracked = 0, paths = 0;
    unsigned char prefix[8];

    succeed(check, vcm_scope_get(&scope, value, &check->err));
    CHECK("S7", vcm_slice_equal(scope.scope_id, key));
    mapping = mapping_of(check, scope.mapping);
    CHECK("S7", mapping.state == VCM_MAPPING_IN_FORCE);
    CHECK("S7", vcm_slice_equal(mapping.scope_id, key));
    CHECK("S15", mapping.pinned == scope.pinned);
    sums.found = scope.mapping;
    succeed(check,
            vcm_page_store_each_row(check->txn, scope.mapping, 0, check_row, &sums, &check->err));
    succeed(check, vcm_page_store_each_omission(check->txn, scope.mapping, check_omission, &sums,
                                                &check->err));
    vcm_wire_store_be64(prefix, scope.mapping);
    struct vcm_slice all = vcm_slice_of(prefix, sizeof prefix);
    succeed(check,
            vcm_table_each(check->txn, VCM_TABLE_PATHS, all, all, count_path, &paths, &check->err));
    CHECK("S17", paths == sums.paths);
    CHECK("S8", scope.pages == sums.rows && scope.records == sums.records);
    CHECK("S8", scope.tokens == sums.tokens && scope.bytes == sums.bytes);
    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        tracked += scope.coverage.by_outcome[i];
    CHECK("S9", scope.coverage.tracked == tracked);
    for (unsigned i = 0; i < VCM_SOURCE_PAGED; i++)
        CHECK("S9", scope.coverage.by_outcome[i] == sums.by_outcome[i]);
    vcm_scope_release(&scope);
}

static void check_mapping(void *context, struct vcm_slice key, struct vcm_slice value)
{
    struct check *check = context;
    struct vcm_scope scope;

    (void)value;
    CHECK("S7", key.len == 8);
    CHECK("S11", number_of(key) < check->next_mapping);
    struct vcm_mapping_info info = mapping_of(check, number_of(key));
    if (info.state != VCM_MAPPING_IN_FORCE) {
        CHECK("S12", !check->finished);
        return;
    }
    CHECK("S7", vcm_page_store_scope(&scope, check->txn, info.scope_id, &check->err) == VCM_OK);
    CHECK("S7", scope.mapping == number_of(key));
    vcm_scope_release(&scope);
}

/* A row, an omission or a path of a mapping that is known. */
static void check_owner(void *context, struct vcm_slice key, struct vcm_slice value)
{
    (void)value;
    CHECK("S7", key.len == VCM_ROW_KEY_BYTES || key.len == VCM_PATH_KEY_BYTES);
    mapping_of(context, number_of(key));
}

static uint64_t next_mapping(struct check *check)
{
    struct vcm_slice value;
    struct vcm_wire_reader r;

    int rc = vcm_kv_get(&value, check->txn, VCM_TABLE_META,
                        vcm_slice_of_string(VCM_META_NEXT_MAPPING), &check->err);
    if (rc == VCM_NOT_FOUND)
        return 1;
    succeed(check, rc);
    vcm_wire_reader_init(&r, value);
    return vcm_wire_get_u64(&r);
}

void store_check(const char *directory, bool finished)
{
    struct check check;
    struct vcm_page_totals totals;

    open_check(&check, directory);
    check.finished = finished;
    check.next_mapping = next_mapping(&check);
    each_entry(&check, VCM_TABLE_PAGES, check_page, &check);
    each_entry(&check, VCM_TABLE_FRAMES, check_frame, &check);
    each_entry(&check, VCM_TABLE_COMPRESSED, check_frame, &check);
    each_entry(&check, VCM_TABLE_ORPHANS, check_frame, &check);
    each_entry(&check, VCM_TABLE_DICTIONARIES, check_dictionary, &check);
    each_entry(&check, VCM_TABLE_PATHS, check_owner, &check);
    succeed(&check, vcm_lock_each(check.txn, NULL, check_lock, &check, &check.err));
    each_entry(&check, VCM_TABLE_HOLDERS, check_holder, &check);
    each_entry(&check, VCM_TABLE_ROWS, check_owner, &check);
    each_entry(&check, VCM_TABLE_OMISSIONS, check_owner, &check);
    each_entry(&check, VCM_TABLE_SCOPES, check_scope, &check);
    each_entry(&check, VCM_TABLE_MAPPINGS, check_mapping, &check);
    succeed(&check, vcm_page_store_totals(&totals, check.txn, &check.err));
    CHECK("S10", memcmp(&totals, &check.sums, sizeof totals) == 0);
    close_check(&check);
}

static void count_unfinished(void *context, struct vcm_slice key, struct vcm_slice value)
{
    (void)key;
    *(uint64_t *)context += value.data[0] != VCM_MAPPING_IN_FORCE;
}

void store_check_counts(struct store_counts *counts, const char *directory)
{
    struct check check;

    memset(counts, 0, sizeof *counts);
    open_check(&check, directory);
    const struct {
        enum vcm_table table;
        uint64_t *count;
    } tables[] = {
        {VCM_TABLE_SCOPES, &counts->scopes},       {VCM_TABLE_MAPPINGS, &counts->mappings},
        {VCM_TABLE_ROWS, &counts->rows},           {VCM_TABLE_HOLDERS, &counts->holders},
        {VCM_TABLE_PAGES, &counts->pages},         {VCM_TABLE_FRAMES, &counts->frames},
        {VCM_TABLE_OMISSIONS, &counts->omissions},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        succeed(&check, vcm_kv_count(tables[i].count, check.txn, tables[i].table, &check.err));
    each_entry(&check, VCM_TABLE_MAPPINGS, count_unfinished, &counts->unfinished);
    succeed(&check, vcm_page_store_totals(&counts->totals, check.txn, &check.err));
    close_check(&check);
}

struct digest {
    struct check *check;
    struct vcm_hash_sha256 hash;
};

static void add(struct digest *digest, struct vcm_slice bytes)
{
    char len[24];

    snprintf(len, sizeof len, "%zu:", bytes.len);
    vcm_hash_sha256_update(&digest->hash, len, strlen(len));
    vcm_hash_sha256_update(&digest->hash, bytes.data, bytes.len);
}

/* What is mapped, whatever the state of its pages. */
static int digest_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct digest *digest = context;

    (void)err;
    add(digest, vcm_slice_of(row->id.bytes, sizeof row->id.bytes));
    add(digest, row->records);
    return VCM_OK;
}

static int digest_omission(void *context, const struct vcm_page_omission *omission,
                           struct vcm_error *err)
{
    struct digest *digest = context;

    (void)err;
    add(digest, omission->raw_path);
    add(digest, omission->content_id);
    add(digest, omission->reason);
    add(digest, vcm_slice_of_string(vcm_source_outcome_name(omission->outcome)));
    return VCM_OK;
}

static int digest_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct digest *digest = context;
    struct vcm_scope shown = *scope;
    struct vcm_buf value = VCM_BUF_INIT((size_t)1 << 20);

    shown.mapping = shown.mapped_at = 0;
    vcm_scope_put(&value, &shown);
    add(digest, vcm_buf_slice(&value));
    vcm_buf_release(&value);
    int rc =
        vcm_page_store_each_row(digest->check->txn, scope->mapping, 0, digest_row, digest, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_omission(digest->check->txn, scope->mapping, digest_omission,
                                          digest, err);
    return rc;
}

void store_check_digest(char hex[2 * VCM_HASH_SHA256_BYTES + 1], const char *directory)
{
    struct check check;
    struct digest digest = {.check = &check};
    unsigned char bytes[VCM_HASH_SHA256_BYTES];

    open_check(&check, directory);
    vcm_hash_sha256_init(&digest.hash);
    succeed(&check, vcm_page_store_each_scope(check.txn, vcm_slice_of("", 0), digest_scope, &digest,
                                              &check.err));
    vcm_hash_sha256_final(&digest.hash, bytes);
    vcm_hash_to_hex(hex, bytes, sizeof bytes);
    close_check(&check);
}
