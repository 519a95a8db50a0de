#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "vcm/check/check_walk.h"

#include "base/banned.h"

#define PLACE_BYTES (VCM_LIMIT_SCOPE_ID_BYTES + 64)

/* Sums over the rows and omissions of a table in force. */
struct table_sums {
    struct vcm_check *check;
    uint64_t mapping;
    char where[PLACE_BYTES];
    uint64_t rows, records, tokens, bytes, paths;
    uint64_t by_outcome[VCM_SOURCE_OUTCOMES];
};

/* A page of a row and the row's number, to be compared with the holder. */
struct place {
    struct vcm_page_id id;
    uint32_t seq;
};

static bool same_id(const struct vcm_page_id *a, const struct vcm_page_id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static int by_id_and_seq(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = memcmp(x->id.bytes, y->id.bytes, sizeof x->id.bytes);

    return order != 0 ? order : (x->seq > y->seq) - (x->seq < y->seq);
}

static int gather_place(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct vcm_buf *places = context;
    struct place place = {row->id, row->seq};

    vcm_buf_append(places, &place, sizeof place);
    return vcm_buf_check(places, "the rows of a table", err);
}

/* The holder of a page that `count` rows have. */
static void check_holder_of(struct vcm_check *check, uint64_t mapping, bool in_force,
                            const struct place *first, uint64_t count)
{
    char hex[VCM_PAGE_ID_HEX + 1];
    uint32_t occurrences = 0, first_seq = 0;

    assert(count > 0);
    vcm_page_id_to_hex(hex, &first->id);
    int rc = vcm_page_table_get_holder(&occurrences, &first_seq, check->txn, &first->id, mapping,
                                       &check->err);
    if (rc == VCM_NOT_FOUND && check->err.code == VCM_OK && in_force)
        vcm_check_report(check, true, "S4: a row has its holder", "page %s, mapping %" PRIu64, hex,
                         mapping);
    if (vcm_check_found(check, rc, "table holders"))
        VCM_CHECK(check, occurrences == count && first_seq == first->seq,
                  "S4: a holder has the occurrences and the first seq of its rows",
                  "page %s, mapping %" PRIu64, hex, mapping);
}

static void check_places(struct vcm_check *check, uint64_t mapping, bool in_force)
{
    struct vcm_buf places = VCM_BUF_INIT(16 * VCM_GIB);

    int rc = vcm_page_table_each_row(check->txn, mapping, 0, gather_place, &places, &check->err);
    if (vcm_check_read(check, rc, "table rows") && places.len > 0) {
        struct place *all = (struct place *)places.data;
        size_t count = places.len / sizeof *all;
        qsort(all, count, sizeof *all, by_id_and_seq);
        for (size_t i = 0, end; i < count && !vcm_check_walk_stopped(check); i = end) {
            for (end = i + 1; end < count && same_id(&all[i].id, &all[end].id); end++) {
            }
            check_holder_of(check, mapping, in_force, &all[i], end - i);
        }
    }
    vcm_buf_release(&places);
}

static void check_mapping(struct vcm_check *check, void *context, struct vcm_slice key,
                          struct vcm_slice value)
{
    struct vcm_mapping_info info;
    struct vcm_scope scope;
    char where[64];

    (void)context;
    (void)value;
    if (key.len != 8) {
        vcm_check_report(check, true, "S7: a mapping's key is a number", "table mappings");
        return;
    }
    uint64_t number = vcm_check_walk_number(key);
    snprintf(where, sizeof where, "mapping %" PRIu64, number);
    VCM_CHECK(check, number < check->next_mapping,
              "S11: the next mapping's number is above that of every other", "%s", where);
    if (!vcm_check_mapping(&info, check, number, where))
        return;
    bool in_force = info.state == VCM_MAPPING_IN_FORCE;
    check_places(check, number, in_force);
    VCM_CHECK(check, in_force || !check->options->finished, "S12: every mapping is in force", "%s",
              where);
    if (!in_force)
        return;
    int rc = vcm_page_store_scope(&scope, check->txn, info.scope_id, &check->err);
    bool is_missing = rc == VCM_NOT_FOUND && check->err.code == VCM_OK;
    if (!is_missing && !vcm_check_read(check, rc, where))
        return;
    VCM_CHECK(check, !is_missing && scope.mapping == number,
              "S7: a mapping in force is that of its scope", "%s", where);
    if (!is_missing)
        vcm_scope_release(&scope);
}

static void check_holder(struct vcm_check *check, void *context, struct vcm_slice key,
                         struct vcm_slice value)
{
    struct vcm_mapping_info mapping;
    struct vcm_page_info info;
    struct vcm_page_row row;
    struct vcm_page_id id;
    uint32_t occurrences, first_seq;
    char hex[VCM_PAGE_ID_HEX + 1];

    (void)context;
    (void)value;
    if (key.len != VCM_HOLDER_KEY_BYTES) {
        vcm_check_report(check, true, "S4: a holder's key is a page and a mapping",
                         "table holders");
        return;
    }
    memcpy(id.bytes, key.data, sizeof id.bytes);
    vcm_page_id_to_hex(hex, &id);
    uint64_t number = vcm_check_walk_number(vcm_slice_of(key.data + VCM_PAGE_ID_BYTES, 8));
    if (!vcm_check_mapping(&mapping, check, number, "table holders") ||
        !vcm_check_read(check,
                        vcm_page_table_get_holder(&occurrences, &first_seq, check->txn, &id, number,
                                                  &check->err),
                        "table holders"))
        return;
    int rc = vcm_page_store_page(&info, check->txn, &id, &check->err);
    if (rc == VCM_NOT_FOUND && check->err.code == VCM_OK)
        vcm_check_report(check, true, "S3: a holder names a page that exists", "page %s", hex);
    vcm_check_found(check, rc, "table pages");
    rc = vcm_page_table_row(&row, check->txn, number, first_seq, &check->err);
    bool is_missing = rc == VCM_NOT_FOUND && check->err.code == VCM_OK;
    if (is_missing || vcm_check_read(check, rc, "table rows"))
        VCM_CHECK(check, !is_missing && same_id(&row.id, &id),
                  "S4: the row at a holder's first seq has its page", "page %s, mapping %" PRIu64,
                  hex, number);
}

/* A row, an omission or a path belongs to a mapping. */
static void check_owner(struct vcm_check *check, void *context, struct vcm_slice key,
                        struct vcm_slice value)
{
    struct vcm_mapping_info info;
    char where[64];

    (void)context;
    (void)value;
    if (key.len != VCM_ROW_KEY_BYTES && key.len != VCM_PATH_KEY_BYTES) {
        vcm_check_report(check, true, "S7: a key begins with a mapping", "table %s", check->table);
        return;
    }
    snprintf(where, sizeof where, "table %s, mapping %" PRIu64, check->table,
             vcm_check_walk_number(key));
    vcm_check_mapping(&info, check, vcm_check_walk_number(key), where);
}

static int find_seq(void *context, uint32_t seq, struct vcm_error *err)
{
    int64_t *wanted = context;

    (void)err;
    if ((int64_t)seq == *wanted)
        *wanted = -1;
    return VCM_OK;
}

static void check_path(struct table_sums *sums, struct vcm_slice path, uint32_t row,
                       const char *where)
{
    struct vcm_check *check = sums->check;
    int64_t seq = row;

    sums->paths++;
    if (vcm_check_read(
            check,
            vcm_page_table_each_path(check->txn, sums->mapping, path, find_seq, &seq, &check->err),
            where))
        VCM_CHECK(check, seq == -1, "S17: a row is found by the paths of its records", "%s", where);
}

static int by_path(const void *a, const void *b)
{
    const struct vcm_page_record *x = a, *y = b;
    size_t common = x->path.len < y->path.len ? x->path.len : y->path.len;
    int order = common > 0 ? memcmp(x->path.data, y->path.data, common) : 0;

    return order != 0 ? order : (x->path.len > y->path.len) - (x->path.len < y->path.len);
}

/* Each path once: a file may have several parts in a page, and a source may repeat a path. */
static void check_paths(struct table_sums *sums, struct vcm_page_record *list, uint32_t count,
                        uint32_t row, const char *where)
{
    if (count > 1)
        qsort(list, count, sizeof *list, by_path);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || !vcm_slice_equal(list[i].path, list[i - 1].path))
            check_path(sums, list[i].path, row, where);
}

static void check_records(struct table_sums *sums, const struct vcm_page_info *info,
                          const struct vcm_page_row *row, const char *where)
{
    struct vcm_check *check = sums->check;
    struct vcm_slice line, frame = {0};
    struct vcm_page_record *list = NULL;
    uint64_t tokens = 0;
    uint32_t count = 0;

    if (!vcm_check_read(check, vcm_page_get_records(&list, &count, row->records, &check->err),
                        where))
        return;
    bool has_frame = info->state != VCM_PAGE_EVICTED && vcm_check_frame(&frame, check, info, where);
    VCM_CHECK(check, count == info->records, "S6: a row has as many records as its page", "%s",
              where);
    for (uint32_t i = 0; i < count; i++) {
        bool fits = !has_frame || (vcm_page_next_value(&line, &frame) && line.len == list[i].bytes);
        VCM_CHECK(check, fits, "S6: a row's records are the lines of its page", "%s", where);
        VCM_CHECK(check, list[i].part >= 1 && list[i].part <= list[i].parts,
                  "S6: a part is one of the parts", "%s", where);
        tokens += list[i].tokens;
    }
    VCM_CHECK(check, tokens == info->tokens, "S6: the tokens of a row's records are the page's",
              "%s", where);
    sums->records += count;
    check_paths(sums, list, count, row->seq, where);
    free(list);
}

static int check_row(void *context, const struct vcm_page_row *row, struct vcm_error *err)
{
    struct table_sums *sums = context;
    struct vcm_check *check = sums->check;
    struct vcm_page_info info;
    char where[PLACE_BYTES + 32];

    (void)err;
    snprintf(where, sizeof where, "%s, seq %" PRIu32, sums->where, row->seq);
    VCM_CHECK(check, row->seq == sums->rows, "S8: the rows of a table have no gap", "%s", where);
    sums->rows++;
    int rc = vcm_page_store_page(&info, check->txn, &row->id, &check->err);
    if (rc == VCM_NOT_FOUND && check->err.code == VCM_OK)
        vcm_check_report(check, true, "S3: a row names a page that exists", "%s", where);
    if (vcm_check_found(check, rc, where)) {
        sums->tokens += info.tokens;
        sums->bytes += info.bytes;
        check_records(sums, &info, row, where);
    }
    if (check->options->alive && check->rc == VCM_OK)
        check->rc = check->options->alive(check->options->context, "rows", &check->fatal);
    return check->rc == VCM_OK ? VCM_OK : VCM_STOP;
}

static int check_omission(void *context, const struct vcm_page_omission *omission,
                          struct vcm_error *err)
{
    struct table_sums *sums = context;

    (void)err;
    if (omission->outcome != VCM_SOURCE_PAGED)
        sums->by_outcome[omission->outcome]++;
    else
        vcm_check_report(sums->check, true, "S9: an omission has an outcome", "%s", sums->where);
    return VCM_OK;
}

static void count_paths(struct vcm_check *check, void *context, struct vcm_slice key,
                        struct vcm_slice value)
{
    struct vcm_slice path;

    (void)check;
    (void)key;
    while (vcm_page_table_next_path(&path, &value))
        ++*(uint64_t *)context;
}

static void check_sums(const struct table_sums *sums, const struct vcm_scope *scope)
{
    struct vcm_check *check = sums->check;
    uint64_t tracked = 0;

    VCM_CHECK(check, scope->pages == sums->rows && scope->records == sums->records,
              "S8: a scope counts its pages and records", "%s", sums->where);
    VCM_CHECK(check, scope->tokens == sums->tokens && scope->bytes == sums->bytes,
              "S8: a scope counts its tokens and bytes", "%s", sums->where);
    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        tracked += scope->coverage.by_outcome[i];
    VCM_CHECK(check, scope->coverage.tracked == tracked,
              "S9: what is tracked is the sum over the outcomes", "%s", sums->where);
    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        VCM_CHECK(check,
                  i == VCM_SOURCE_PAGED || scope->coverage.by_outcome[i] == sums->by_outcome[i],
                  "S9: there are as many omissions as are counted", "%s", sums->where);
}

static void check_table(struct vcm_check *check, const struct vcm_scope *scope,
                        struct table_sums *sums)
{
    unsigned char prefix[8];
    uint64_t paths = 0;

    int rc = vcm_page_table_each_row(check->txn, scope->mapping, 0, check_row, sums, &check->err);
    bool whole = vcm_check_read(check, rc, sums->where);
    rc =
        vcm_page_table_each_omission(check->txn, scope->mapping, check_omission, sums, &check->err);
    whole = vcm_check_read(check, rc, sums->where) && whole;
    vcm_wire_store_be64(prefix, scope->mapping);
    vcm_check_each(check, VCM_TABLE_PATHS, vcm_slice_of(prefix, sizeof prefix), count_paths,
                   &paths);
    if (!whole || check->unreadable)
        return;
    VCM_CHECK(check, paths == sums->paths, "S17: each path of a row is in the index once", "%s",
              sums->where);
    check_sums(sums, scope);
}

static void check_scope(struct vcm_check *check, void *context, struct vcm_slice key,
                        struct vcm_slice value)
{
    struct table_sums sums = {.check = check};
    struct vcm_mapping_info mapping;
    struct vcm_scope scope;

    (void)context;
    snprintf(sums.where, sizeof sums.where, "scope '%.*s'",
             (int)(key.len < VCM_LIMIT_SCOPE_ID_BYTES ? key.len : VCM_LIMIT_SCOPE_ID_BYTES),
             key.data);
    if (!vcm_check_read(check, vcm_scope_get(&scope, value, &check->err), sums.where))
        return;
    sums.mapping = scope.mapping;
    VCM_CHECK(check, vcm_slice_equal(scope.scope_id, key), "S7: a scope's key is its id", "%s",
              sums.where);
    if (vcm_check_mapping(&mapping, check, scope.mapping, sums.where)) {
        VCM_CHECK(check,
                  mapping.state == VCM_MAPPING_IN_FORCE && vcm_slice_equal(mapping.scope_id, key),
                  "S7: a scope's mapping is in force and names the scope", "%s", sums.where);
        VCM_CHECK(check, mapping.pinned == scope.pinned,
                  "S15: a scope is pinned when its mapping is", "%s", sums.where);
        check_table(check, &scope, &sums);
    }
    vcm_scope_release(&scope);
}

static uint64_t next_mapping(struct vcm_check *check)
{
    struct vcm_wire_reader r;
    struct vcm_slice value;

    int rc = vcm_kv_get(&value, check->txn, VCM_TABLE_META,
                        vcm_slice_of_string(VCM_META_NEXT_MAPPING), &check->err);
    if (rc == VCM_NOT_FOUND && check->err.code == VCM_OK)
        return 1;
    if (!vcm_check_read(check, rc, "table meta"))
        return UINT64_MAX;
    vcm_wire_reader_init(&r, value);
    return vcm_wire_get_u64(&r);
}

void vcm_check_table_all(struct vcm_check *check)
{
    if (vcm_check_walk_stopped(check))
        return;
    check->next_mapping = next_mapping(check);
    vcm_check_all(check, VCM_TABLE_ROWS, check_owner);
    vcm_check_all(check, VCM_TABLE_OMISSIONS, check_owner);
    vcm_check_all(check, VCM_TABLE_PATHS, check_owner);
    vcm_check_all(check, VCM_TABLE_HOLDERS, check_holder);
    vcm_check_all(check, VCM_TABLE_MAPPINGS, check_mapping);
    vcm_check_all(check, VCM_TABLE_SCOPES, check_scope);
}
