#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "vcm/check/check_walk.h"
#include "vcm/store/dictionary.h"
#include "vcm/residency/lock.h"

#include "base/banned.h"

#define PLACE_BYTES (VCM_PAGE_ID_HEX + 8)

static void place_of(char out[PLACE_BYTES], const struct vcm_page_id *id)
{
    char hex[VCM_PAGE_ID_HEX + 1];

    vcm_page_id_to_hex(hex, id);
    snprintf(out, PLACE_BYTES, "page %s", hex);
}

static bool id_in(struct vcm_page_id *id, struct vcm_check *check, struct vcm_slice key)
{
    if (key.len < sizeof id->bytes) {
        vcm_check_report(check, true, "a key is too short for a page", "table %s", check->table);
        return false;
    }
    memcpy(id->bytes, key.data, sizeof id->bytes);
    return true;
}

static bool has_entry(struct vcm_check *check, enum vcm_table table, const struct vcm_page_id *id,
                      const char *where)
{
    struct vcm_slice value;

    return vcm_check_found(
        check, vcm_kv_get_unchecked(&value, check->txn, table, vcm_table_id_key(id), &check->err),
        where);
}

static void check_content(struct vcm_check *check, const struct vcm_page_info *info,
                          const char *where)
{
    struct vcm_slice frame, line;
    struct vcm_page_id hashed;
    uint32_t lines = 0;

    if (!vcm_check_frame(&frame, check, info, where))
        return;
    vcm_page_id_of(&hashed, frame);
    if (memcmp(&hashed, &info->id, sizeof hashed) != 0 || frame.len != info->bytes) {
        vcm_check_report(check, true, "S1: a page's key is the hash of its bytes", "%s", where);
        return;
    }
    VCM_CHECK(check, frame.len > 0 && frame.data[frame.len - 1] == '\n',
              "S2: a page ends with a line end", "%s", where);
    while (vcm_page_next_value(&line, &frame))
        lines++;
    VCM_CHECK(check, lines == info->records, "S2: a page has as many records as its descriptor",
              "%s", where);
}

static void check_bytes(struct vcm_check *check, const struct vcm_page_info *info,
                        const char *where)
{
    bool is_resident = info->state == VCM_PAGE_RESIDENT;
    bool is_compressed = info->state == VCM_PAGE_COMPRESSED;
    bool has_frame = has_entry(check, VCM_TABLE_FRAMES, &info->id, where);
    bool has_compressed = has_entry(check, VCM_TABLE_COMPRESSED, &info->id, where);
    struct vcm_slice packed;

    VCM_CHECK(check, has_frame == is_resident, "S2: a page has a frame while it is resident", "%s",
              where);
    VCM_CHECK(check, has_compressed == is_compressed,
              "S2: a page has compressed bytes while it is compressed", "%s", where);
    VCM_CHECK(check, is_compressed || (info->compressed_bytes == 0 && info->dictionary == 0),
              "S2: only a compressed page has compressed bytes and a dictionary", "%s", where);
    if ((is_resident && !has_frame) || (is_compressed && !has_compressed))
        return;
    if (is_compressed &&
        vcm_check_read(
            check, vcm_page_store_compressed(&packed, check->txn, &info->id, &check->err), where))
        VCM_CHECK(check, packed.len == info->compressed_bytes,
                  "S2: compressed bytes are as many as the descriptor says", "%s", where);
    if (is_resident || is_compressed)
        check_content(check, info, where);
}

/* vcm_rebuild_frame() compares the hash of what it rebuilds with the page's id. */
static void rebuild(struct vcm_check *check, const struct vcm_page_info *info, const char *where)
{
    assert(check->rebuild && info->state == VCM_PAGE_EVICTED);
    vcm_buf_clear(&check->frame);
    int rc = vcm_rebuild_frame(&check->frame, check->rebuild, check->txn, info, &check->err);
    if (rc == VCM_OK || rc == VCM_INTERRUPTED)
        return;
    vcm_check_report(check, false, check->err.message, "%s", where);
    vcm_error_reset(&check->err);
}

static int by_number(const void *a, const void *b)
{
    const struct vcm_check_dictionary *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

static void count_dictionary(struct vcm_check *check, uint64_t number, const char *where)
{
    struct vcm_check_dictionary wanted = {.number = number}, *found = NULL;
    size_t count = check->dictionaries.len / sizeof wanted;

    if (number == 0)
        return;
    if (count > 0)
        found = bsearch(&wanted, check->dictionaries.data, count, sizeof wanted, by_number);
    if (found)
        found->counted++;
    else
        vcm_check_report(check, true, "S18: the dictionary of a compressed page exists", "%s",
                         where);
}

struct holders {
    uint32_t count, pins;
    const char *where;
};

static void count_holder(struct vcm_check *check, void *context, struct vcm_slice key,
                         struct vcm_slice value)
{
    struct holders *holders = context;
    struct vcm_mapping_info mapping;

    (void)value;
    if (key.len != VCM_HOLDER_KEY_BYTES)
        return;
    holders->count++;
    uint64_t number = vcm_check_walk_number(vcm_slice_of(key.data + VCM_PAGE_ID_BYTES, 8));
    if (vcm_check_mapping(&mapping, check, number, holders->where))
        holders->pins += mapping.pinned;
}

static void add_page(struct vcm_page_totals *sums, const struct vcm_page_info *info)
{
    bool is_resident = info->state == VCM_PAGE_RESIDENT;

    sums->pages++;
    sums->tokens += info->tokens;
    sums->resident += is_resident;
    sums->resident_bytes += is_resident ? info->bytes : 0;
    sums->compressed += info->state == VCM_PAGE_COMPRESSED;
    sums->compressed_bytes += info->compressed_bytes;
    sums->pinned += vcm_page_store_is_kept(info);
    sums->pinned_bytes += vcm_page_store_is_kept(info) ? info->bytes : 0;
}

static void check_page(struct vcm_check *check, void *context, struct vcm_slice key,
                       struct vcm_slice value)
{
    char where[PLACE_BYTES];
    struct holders holders = {.where = where};
    struct vcm_page_info info;
    struct vcm_page_id id;

    (void)context;
    (void)value;
    if (!id_in(&id, check, key))
        return;
    place_of(where, &id);
    VCM_CHECK(check, key.len == VCM_PAGE_ID_BYTES, "S1: a page's key is an id", "%s", where);
    if (!vcm_check_read(check, vcm_page_store_page(&info, check->txn, &id, &check->err), where))
        return;
    check_bytes(check, &info, where);
    if (info.state == VCM_PAGE_COMPRESSED)
        count_dictionary(check, info.dictionary, where);
    if (info.state == VCM_PAGE_EVICTED && check->rebuild)
        rebuild(check, &info, where);
    vcm_check_each(check, VCM_TABLE_HOLDERS, vcm_table_id_key(&id), count_holder, &holders);
    VCM_CHECK(check, (holders.count == 0) == has_entry(check, VCM_TABLE_ORPHANS, &id, where),
              "S5: a page has a holder or is an orphan", "%s", where);
    VCM_CHECK(check, info.pins == holders.pins, "S15: a page counts the pinned tables that hold it",
              "%s", where);
    VCM_CHECK(check, !vcm_page_store_is_pinned(&info) || info.state == VCM_PAGE_RESIDENT,
              "S15: a pinned page is resident", "%s", where);
    add_page(&check->sums, &info);
}

/* A frame, compressed frame or orphan belongs to a page. */
static void check_owner(struct vcm_check *check, void *context, struct vcm_slice key,
                        struct vcm_slice value)
{
    char where[PLACE_BYTES];
    struct vcm_page_info info;
    struct vcm_page_id id;

    (void)context;
    (void)value;
    if (!id_in(&id, check, key))
        return;
    place_of(where, &id);
    int rc = vcm_page_store_page(&info, check->txn, &id, &check->err);
    if (!vcm_check_found(check, rc, where) && rc == VCM_NOT_FOUND)
        vcm_check_report(check, true, "S2: an entry belongs to a page that exists", "table %s, %s",
                         check->table, where);
}

static void gather_dictionary(struct vcm_check *check, void *context, struct vcm_slice key,
                              struct vcm_slice value)
{
    struct vcm_check_dictionary found = {0};
    struct vcm_dictionary_info info;
    struct vcm_slice bytes;
    char where[64];

    (void)context;
    (void)value;
    if (key.len != 8)
        return;
    found.number = vcm_check_walk_number(key);
    snprintf(where, sizeof where, "dictionary %" PRIu64, found.number);
    if (!vcm_check_read(check, vcm_dictionary_get(&info, check->txn, found.number, &check->err),
                        where))
        return;
    found.stored = info.pages;
    vcm_check_read(
        check, vcm_kv_get(&bytes, check->txn, VCM_TABLE_DICTIONARY_BYTES, key, &check->err), where);
    assert(check->dictionaries.len % sizeof found == 0); /* or bsearch() reads between two */
    vcm_buf_append(&check->dictionaries, &found, sizeof found);
}

static void check_dictionary_counts(struct vcm_check *check)
{
    const struct vcm_check_dictionary *all = (const void *)check->dictionaries.data;

    for (size_t i = 0; i < check->dictionaries.len / sizeof *all; i++)
        VCM_CHECK(check, all[i].stored == all[i].counted,
                  "S18: a dictionary counts the pages that are compressed with it",
                  "dictionary %" PRIu64, all[i].number);
}

static void check_dictionary_bytes(struct vcm_check *check, void *context, struct vcm_slice key,
                                   struct vcm_slice value)
{
    struct vcm_slice about;

    (void)context;
    (void)value;
    int rc = vcm_kv_get(&about, check->txn, VCM_TABLE_DICTIONARIES, key, &check->err);
    if (!vcm_check_found(check, rc, "dictionaries") && rc == VCM_NOT_FOUND)
        vcm_check_report(check, true, "S18: the bytes of a dictionary belong to one that exists",
                         "table %s", check->table);
}

static int check_lock(void *context, const struct vcm_lock_info *lock, struct vcm_error *err)
{
    struct vcm_check *check = context;
    struct vcm_page_info info;
    char where[PLACE_BYTES];

    (void)err;
    place_of(where, &lock->id);
    int rc = vcm_page_store_page(&info, check->txn, &lock->id, &check->err);
    if (rc == VCM_NOT_FOUND && check->err.code == VCM_OK)
        vcm_check_report(check, true, "S16: a lock names a page that exists", "%s", where);
    /* No damage: earlier versions kept locks past their time, and the clock may have stepped back
     * since. */
    if (vcm_check_found(check, rc, where) && info.state != VCM_PAGE_RESIDENT &&
        lock->until_ms > vcm_clock_wall_ms())
        vcm_check_report(check, false,
                         "S16: a locked page is resident; 'vcm fault PAGE' makes it so", "%s",
                         where);
    return VCM_OK;
}

static void check_readable(struct vcm_check *check, void *context, struct vcm_slice key,
                           struct vcm_slice value)
{
    (void)check;
    (void)context;
    (void)key;
    (void)value;
}

void vcm_check_page_all(struct vcm_check *check)
{
    struct vcm_page_totals totals;

    vcm_check_all(check, VCM_TABLE_META, check_readable);
    vcm_check_all(check, VCM_TABLE_DICTIONARIES, gather_dictionary);
    vcm_check_all(check, VCM_TABLE_DICTIONARY_BYTES, check_dictionary_bytes);
    vcm_check_all(check, VCM_TABLE_PAGES, check_page);
    vcm_check_all(check, VCM_TABLE_FRAMES, check_owner);
    vcm_check_all(check, VCM_TABLE_COMPRESSED, check_owner);
    vcm_check_all(check, VCM_TABLE_ORPHANS, check_owner);
    if (vcm_check_walk_stopped(check) || check->txn_broken)
        return;
    vcm_check_read(check, vcm_lock_each(check->txn, NULL, check_lock, check, &check->err),
                   "table locks");
    if (check->unreadable)
        return;
    check_dictionary_counts(check);
    if (vcm_check_read(check, vcm_page_store_totals(&totals, check->txn, &check->err), "totals"))
        VCM_CHECK(check, memcmp(&totals, &check->sums, sizeof totals) == 0,
                  "S10: the totals are the sums over all pages", "totals");
}
