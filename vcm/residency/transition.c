/*
 * How a transition runs.
 *
 * vcm_transition_run() takes the writers' lock, begins a write transaction, and calls run_change():
 *
 *   1. It reads the limits in force, the stamp and the sums of the store, and leaves the capacity
 *      in the shared file for views, which hold no lock.
 *   2. It marks the eviction sets as being written and attaches to them. It rebuilds them from the
 *      tables when their stamp is not the store's, or when a writer died or failed with them.
 *   3. It calls the change, which calls the functions of this file. Each keeps four things in step:
 *      the page's bytes (frame or compressed frame), its descriptor, the sums, and its place in an
 *      eviction set.
 *   4. It puts spared pages back into the order of eviction, and writes the sums and the next
 *      stamp.
 *
 * The transaction then commits, and settle() runs with the lock still held: it ends the departure,
 * so that views in place can begin again, marks the sets as clean with the stamp that the store now
 * has, and counts the evictions. If the change or the commit fails, LMDB rolls the tables back. The
 * sets are in shared memory and are not rolled back: if the change touched them they stay marked as
 * being written, and the next writer rebuilds them. When the map is full, the transaction is rolled
 * back and run_change() is called again with a larger map; it then rebuilds the sets, too.
 *
 * Victims: vcm_transition_make_room() asks a set for the next tag, evict_tag() looks up the pages
 * of this tag. The tables decide, the set is a hint. A page that is pinned, locked, viewed or kept
 * is spared: the set does not offer it again in this transaction. Others are compressed (resident
 * pages) or evicted (compressed ones).
 *
 * Departures: before the first look for views, is_viewed() begins a departure. From then until
 * settle() every reader that opens a view either has its slot already, which is_viewed() sees, or
 * notices the departure and copies. view.c describes the reader's side. take_bytes(), the only
 * function that frees a frame, asserts that a departure is under way.
 */
#include "vcm/residency/transition.h"

#include <assert.h>

#include "base/clock.h"
#include "base/limits.h"
#include "vcm/page/id_map.h"
#include "vcm/residency/lock.h"
#include "vcm/residency/transition_sets.h"

#include "base/banned.h"

struct run {
    struct vcm_transition t;
    vcm_transition_fn change;
    void *context;
    bool begun; /* the sets were opened: by this call of run_change(), or by one that failed */
};

static int get_stamp(uint64_t *stamp, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct vcm_wire_reader r;
    struct vcm_slice value;

    *stamp = 0;
    int rc = vcm_kv_get(&value, txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_STAMP), err);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK)
        return rc;
    vcm_wire_reader_init(&r, value);
    *stamp = vcm_wire_get_u64(&r);
    return vcm_wire_reader_done(&r) ? VCM_OK : vcm_table_malformed("the stamp", err);
}

static int put_stamp(struct vcm_kv_txn *txn, uint64_t stamp, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(16);

    vcm_wire_put_u64(&value, stamp);
    int rc = vcm_buf_check(&value, "the stamp", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, VCM_TABLE_META, vcm_slice_of_string(VCM_META_STAMP),
                        vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

static int run_change(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct run *run = context;
    struct vcm_transition *t = &run->t;
    struct vcm_page_store *store = t->store;
    bool rebuild = run->begun && t->sets_changed;

    *t = (struct vcm_transition){
        .store = store, .txn = txn, .now_ms = vcm_clock_wall_ms(), .departing = t->departing};
    int rc = vcm_page_store_read_limits(&t->limits, store, err);
    if (rc == VCM_OK)
        rc = get_stamp(&t->stamp, txn, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_totals(&t->totals, txn, err);
    if (rc != VCM_OK)
        return rc;
    vcm_shm_set_capacity(store->shm, t->limits.capacity);
    rebuild = rebuild || (!run->begun && vcm_shm_needs_rebuild(store->shm, t->stamp));
    run->begun = true;
    vcm_shm_write_begin(store->shm);
    rc = vcm_transition_sets_open(t, rebuild, err);
    if (rc == VCM_OK)
        rc = run->change(run->context, t, err);
    for (unsigned i = 0; t->spared && t->sets_usable && i < VCM_SHM_SETS; i++)
        vcm_evict_settle(&t->sets[i]);
    if (rc == VCM_OK)
        rc = vcm_page_store_put_totals(txn, &t->totals, err);
    return rc == VCM_OK ? put_stamp(txn, t->stamp + 1, err) : rc;
}

/* Called once, after the commit or the rollback, with the writers' lock still held: no other
 * process has changed the sets since run_change(). */
static void settle(void *context, bool committed)
{
    struct run *run = context;
    struct vcm_transition *t = &run->t;
    struct vcm_shm *shm = t->store->shm;

    assert(!committed || run->begun);
    if (t->departing)
        vcm_shm_depart_end(shm);
    if (run->begun && t->sets_usable && (committed || !t->sets_changed))
        vcm_shm_write_end(shm, committed ? t->stamp + 1 : t->stamp);
    if (committed && t->evictions > 0)
        vcm_shm_count(shm, VCM_SHM_EVICTIONS, t->evictions);
    if (committed && t->committed)
        t->committed(run->context, t);
}

int vcm_transition_run(struct vcm_page_store *store, vcm_transition_fn change, void *context,
                       unsigned timeout_ms, const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct run run = {.t = {.store = store}, .change = change, .context = context};

    struct vcm_kv *kv = NULL;
    int rc = vcm_page_store_writer(&kv, store, err);
    return rc == VCM_OK
               ? vcm_kv_handle_update_settled(kv, run_change, settle, &run, timeout_ms, cancel, err)
               : rc;
}

/* Begins a departure: from here on no view in place can begin until the transaction has ended. A
 * process that cannot use the shared file sees no views, so it treats every frame as viewed. */
static bool is_viewed(struct vcm_transition *t, const struct vcm_page_info *info)
{
    struct vcm_shm *shm = t->store->shm;

    if (info->state != VCM_PAGE_RESIDENT)
        return false;
    if (!vcm_shm_is_shared(shm))
        return true;
    if (!t->departing) {
        vcm_shm_depart_begin(shm);
        t->departing = true;
    }
    return vcm_shm_viewed(shm, &info->id);
}

int vcm_transition_may_go(bool *may, struct vcm_transition *t, const struct vcm_page_info *info,
                          struct vcm_error *err)
{
    uint64_t until = 0;
    uint32_t number;

    *may = false;
    if (vcm_page_store_is_kept(info) || (t->kept && info->state == VCM_PAGE_RESIDENT &&
                                         vcm_id_map_find(&number, t->kept, &info->id)))
        return VCM_OK;
    int rc = vcm_lock_until(&until, t->txn, &info->id, t->now_ms, err);
    if (rc == VCM_OK)
        *may = until == 0 && !is_viewed(t, info);
    return rc;
}

static int delete_entry(struct vcm_transition *t, enum vcm_table table,
                        const struct vcm_page_id *id, struct vcm_error *err)
{
    int rc = vcm_kv_delete(t->txn, table, vcm_table_id_key(id), err);
    if (rc == VCM_NOT_FOUND)
        rc = vcm_table_malformed("a page without its bytes", err);
    return rc;
}

/* Deletes the page's bytes, frame or compressed frame; the caller writes the descriptor. */
static int take_bytes(struct vcm_transition *t, struct vcm_page_info *info, struct vcm_error *err)
{
    int rc = VCM_OK;

    if (info->state == VCM_PAGE_RESIDENT) {
        /* V4: otherwise readers would rely on places that they remember. */
        assert(t->departing && vcm_shm_departures(t->store->shm) % 2 == 1);
        rc = delete_entry(t, VCM_TABLE_FRAMES, &info->id, err);
        /* S16: its locks are past their time, and must not count again if the clock steps back. */
        if (rc == VCM_OK)
            rc = vcm_lock_drop(t->txn, &info->id, err);
        t->totals.resident--;
        t->totals.resident_bytes -= info->bytes;
        vcm_transition_sets_remove(t, VCM_SET_RESIDENT, info);
    } else if (info->state == VCM_PAGE_COMPRESSED) {
        rc = delete_entry(t, VCM_TABLE_COMPRESSED, &info->id, err);
        if (rc == VCM_OK)
            rc = vcm_dictionary_leave(t->txn, info->dictionary, err);
        t->totals.compressed--;
        t->totals.compressed_bytes -= info->compressed_bytes;
        vcm_transition_sets_remove(t, VCM_SET_COMPRESSED, info);
    }
    info->state = VCM_PAGE_EVICTED;
    info->compressed_bytes = 0;
    info->dictionary = 0;
    return rc;
}

static int give_frame(struct vcm_transition *t, struct vcm_page_info *info, struct vcm_slice frame,
                      enum vcm_evict_place place, struct vcm_error *err)
{
    info->state = VCM_PAGE_RESIDENT;
    t->totals.resident++;
    t->totals.resident_bytes += info->bytes;
    assert(t->totals.resident_bytes <= t->limits.capacity); /* C1: the caller made room */
    if (!vcm_page_store_is_kept(info))
        vcm_transition_sets_insert(t, VCM_SET_RESIDENT, info, place);
    return vcm_table_put_frame(t->txn, &info->id, frame, err);
}

static int give_compressed(struct vcm_transition *t, struct vcm_page_info *info,
                           struct vcm_slice packed, uint64_t dictionary, struct vcm_error *err)
{
    info->state = VCM_PAGE_COMPRESSED;
    info->compressed_bytes = packed.len;
    info->dictionary = dictionary;
    t->totals.compressed++;
    t->totals.compressed_bytes += packed.len;
    assert(t->totals.compressed_bytes <= t->limits.compressed_capacity); /* C1 */
    if (!info->is_volatile)
        vcm_transition_sets_insert(t, VCM_SET_COMPRESSED, info, VCM_EVICT_COLD);
    return vcm_kv_put(t->txn, VCM_TABLE_COMPRESSED, vcm_table_id_key(&info->id), packed, err);
}

/* Finds a page table that holds the page, in any state: the page is compressed with the dictionary
 * of its scope. */
static int find_mapping(uint64_t *mapping, struct vcm_slice *scope_id, struct vcm_transition *t,
                        const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_mapping_info info;
    struct vcm_slice key, value;

    *mapping = 0;
    *scope_id = vcm_slice_of("", 0);
    int rc = vcm_kv_cursor_open(&cursor, t->txn, VCM_TABLE_HOLDERS, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_kv_cursor_seek(&key, &value, cursor, vcm_table_id_key(id), err);
    if (rc == VCM_OK && key.len == VCM_HOLDER_KEY_BYTES &&
        memcmp(key.data, id->bytes, sizeof id->bytes) == 0)
        *mapping = vcm_wire_load_be64((const unsigned char *)key.data + sizeof id->bytes);
    vcm_kv_cursor_close(cursor);
    if (rc == VCM_OK && *mapping != 0)
        rc = vcm_page_table_get_mapping(&info, t->txn, *mapping, err);
    if (rc == VCM_OK && *mapping != 0)
        *scope_id = info.scope_id;
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}

int vcm_transition_compress(struct vcm_transition *t, struct vcm_page_info *info,
                            struct vcm_error *err)
{
    struct vcm_buf packed = VCM_BUF_INIT(2 * VCM_LIMIT_FRAME_BYTES);
    struct vcm_slice frame, scope_id;
    uint64_t mapping, dictionary = 0;

    assert(info->state == VCM_PAGE_RESIDENT && !vcm_page_store_is_pinned(info));
    int rc = find_mapping(&mapping, &scope_id, t, &info->id, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_frame(&frame, t->txn, &info->id, err);
    /* Training a dictionary writes, and a write may move what this transaction has read. */
    struct vcm_buf copy = VCM_BUF_INIT(VCM_LIMIT_FRAME_BYTES);
    if (rc == VCM_OK) {
        vcm_buf_append_slice(&copy, frame);
        rc = vcm_buf_check(&copy, "a frame", err);
    }
    if (rc == VCM_OK)
        rc = vcm_dictionary_compress(&packed, &dictionary, t->store, t->txn, scope_id, mapping,
                                     NULL, vcm_buf_slice(&copy), err);
    if (rc == VCM_OK)
        rc = vcm_transition_make_compressed_room(t, packed.len, err);
    bool fits = rc == VCM_OK;
    if (rc == VCM_NO_ROOM)
        rc = vcm_dictionary_leave(t->txn, dictionary, err);
    if (rc == VCM_OK && (fits || !info->is_volatile))
        rc = take_bytes(t, info, err);
    if (rc == VCM_OK && fits)
        rc = give_compressed(t, info, vcm_buf_slice(&packed), dictionary, err);
    if (rc == VCM_OK && info->state != VCM_PAGE_RESIDENT) {
        rc = vcm_page_store_put_page(t->txn, info, err);
        t->evictions += rc == VCM_OK;
    }
    vcm_buf_release(&copy);
    vcm_buf_release(&packed);
    return rc;
}

int vcm_transition_evict(struct vcm_transition *t, struct vcm_page_info *info,
                         struct vcm_error *err)
{
    assert(!vcm_page_store_is_kept(info));
    if (info->state == VCM_PAGE_EVICTED)
        return VCM_OK;
    int rc = take_bytes(t, info, err);
    t->evictions += rc == VCM_OK;
    return rc == VCM_OK ? vcm_page_store_put_page(t->txn, info, err) : rc;
}

int vcm_transition_promote(struct vcm_transition *t, struct vcm_page_info *info,
                           struct vcm_slice frame, struct vcm_error *err)
{
    struct vcm_page_id id = info->id;

    if (info->state == VCM_PAGE_RESIDENT)
        return VCM_OK;
    int rc = vcm_transition_make_room(t, info->bytes, UINT64_MAX, err);
    if (rc == VCM_OK) /* which may have evicted this very page, if it was compressed */
        rc = vcm_page_store_page(info, t->txn, &id, err);
    if (rc == VCM_OK)
        rc = take_bytes(t, info, err);
    if (rc == VCM_OK)
        rc = give_frame(t, info, frame, VCM_EVICT_HOT, err);
    return rc == VCM_OK ? vcm_page_store_put_page(t->txn, info, err) : rc;
}

const char *vcm_transition_hindrance(const struct vcm_transition *t)
{
    return t->sets_usable && vcm_shm_is_shared(t->store->shm)
               ? "pages are being viewed"
               : "the store's file 'residency' cannot be used";
}

int vcm_transition_no_room(const struct vcm_transition *t, const struct vcm_page_info *info,
                           struct vcm_error *err)
{
    char hex[VCM_PAGE_ID_HEX + 1];
    uint64_t locked = 0, until = 0;

    int rc = vcm_lock_bytes(&locked, t->txn, t->now_ms, err);
    if (rc == VCM_OK)
        rc = vcm_lock_until(&until, t->txn, &info->id, t->now_ms, err);
    if (rc != VCM_OK)
        return rc;
    uint64_t needed = t->totals.pinned_bytes + locked;
    if (until == 0 && !vcm_page_store_is_kept(info))
        needed += info->bytes; /* it was to be pinned or locked */
    if (needed > t->limits.capacity)
        return vcm_transition_too_much(needed, t->limits.capacity, err);
    vcm_page_id_to_hex(hex, &info->id);
    return vcm_error_set(err, VCM_STORE_BUSY,
                         "no room for page %s in the %llu bytes of cache.capacity: %s; try again",
                         hex, (unsigned long long)t->limits.capacity, vcm_transition_hindrance(t));
}

/* Adds a page that has no room among the resident ones: compressed if that fits, else evicted. */
static int add_compressed(struct vcm_transition *t, struct vcm_page_info *info,
                          struct vcm_slice frame, struct vcm_slice scope_id, uint64_t mapping,
                          const struct vcm_dictionary_samples *samples, struct vcm_error *err)
{
    struct vcm_buf packed = VCM_BUF_INIT(2 * VCM_LIMIT_FRAME_BYTES);
    uint64_t dictionary = 0, limit = t->limits.compressed_capacity;
    int rc = VCM_OK;

    info->state = VCM_PAGE_EVICTED;
    if (t->totals.compressed_bytes < limit) {
        rc = vcm_dictionary_compress(&packed, &dictionary, t->store, t->txn, scope_id, mapping,
                                     samples, frame, err);
        bool fits = packed.len <= limit - t->totals.compressed_bytes;
        if (rc == VCM_OK && fits)
            rc = give_compressed(t, info, vcm_buf_slice(&packed), dictionary, err);
        else if (rc == VCM_OK)
            rc = vcm_dictionary_leave(t->txn, dictionary, err);
    }
    vcm_buf_release(&packed);
    return rc;
}

int vcm_transition_add(struct vcm_transition *t, struct vcm_page_info *info, struct vcm_slice frame,
                       struct vcm_slice scope_id, uint64_t mapping,
                       const struct vcm_dictionary_samples *samples, struct vcm_error *err)
{
    bool pinned = vcm_page_store_is_kept(info);
    int rc = VCM_OK;

    assert(frame.len == info->bytes && info->compressed_bytes == 0 && info->dictionary == 0);
    t->totals.pages++;
    t->totals.tokens += info->tokens;
    if (pinned) {
        t->totals.pinned++;
        t->totals.pinned_bytes += info->bytes;
        rc = vcm_transition_make_room(t, info->bytes, UINT64_MAX, err);
        if (rc == VCM_NO_ROOM)
            return vcm_transition_no_room(t, info, err);
    }
    if (rc == VCM_OK && t->totals.resident_bytes + info->bytes <= t->limits.capacity)
        rc = give_frame(t, info, frame, VCM_EVICT_COLD, err);
    else if (rc == VCM_OK)
        rc = add_compressed(t, info, frame, scope_id, mapping, samples, err);
    return rc == VCM_OK ? vcm_page_store_put_page(t->txn, info, err) : rc;
}

/* Adjusts the sums and the sets to a page that counts as pinned now, or no longer. */
static void settle_kept(struct vcm_transition *t, const struct vcm_page_info *info, bool before)
{
    bool after = vcm_page_store_is_kept(info);
    enum vcm_transition_set set =
        info->state == VCM_PAGE_RESIDENT ? VCM_SET_RESIDENT : VCM_SET_COMPRESSED;

    if (after && !before) {
        t->totals.pinned++;
        t->totals.pinned_bytes += info->bytes;
        vcm_transition_sets_remove(t, set, info);
    } else if (before && !after) {
        t->totals.pinned--;
        t->totals.pinned_bytes -= info->bytes;
        vcm_transition_sets_insert(t, set, info, VCM_EVICT_HOT);
    }
}

int vcm_transition_set_volatile(struct vcm_transition *t, struct vcm_page_info *info,
                                bool is_volatile, struct vcm_error *err)
{
    bool before = vcm_page_store_is_kept(info);

    assert(info->state != VCM_PAGE_EVICTED);
    info->is_volatile = is_volatile;
    settle_kept(t, info, before);
    return vcm_page_store_put_page(t->txn, info, err);
}

int vcm_transition_pin(struct vcm_transition *t, struct vcm_page_info *info, int tables,
                       bool by_itself, struct vcm_error *err)
{
    bool before = vcm_page_store_is_kept(info);

    assert(tables >= -1 && tables <= 1);
    if (tables < 0 && info->pins == 0)
        return vcm_table_malformed("the pins of a page", err);
    info->pins = tables < 0 ? info->pins - 1 : info->pins + (uint32_t)tables;
    info->pinned = by_itself;
    assert(!vcm_page_store_is_pinned(info) || info->state == VCM_PAGE_RESIDENT);
    settle_kept(t, info, before);
    return vcm_page_store_put_page(t->txn, info, err);
}

int vcm_transition_forget(struct vcm_transition *t, struct vcm_page_info *info,
                          struct vcm_error *err)
{
    struct vcm_slice key = vcm_table_id_key(&info->id);
    int rc = VCM_OK;

    if (vcm_page_store_is_pinned(info))
        rc = vcm_transition_pin(t, info, info->pins > 0 ? -1 : 0, false, err);
    if (rc == VCM_OK && info->is_volatile)
        rc = vcm_transition_set_volatile(t, info, false, err);
    if (rc == VCM_OK)
        rc = vcm_lock_drop(t->txn, &info->id, err);
    if (rc != VCM_OK)
        return rc;
    if (is_viewed(t, info))
        return vcm_kv_put(t->txn, VCM_TABLE_ORPHANS, key, vcm_slice_of("", 0), err);
    t->totals.pages--;
    t->totals.tokens -= info->tokens;
    rc = take_bytes(t, info, err);
    return rc == VCM_OK ? vcm_kv_delete(t->txn, VCM_TABLE_PAGES, key, err) : rc;
}

static int take_id(void *context, struct vcm_slice key, struct vcm_slice value,
                   struct vcm_error *err)
{
    (void)value;
    if (key.len != VCM_PAGE_ID_BYTES)
        return vcm_table_malformed("a page id", err);
    vcm_buf_append_slice(context, key);
    return vcm_buf_check(context, "a list of pages", err);
}

int vcm_transition_sweep_orphans(struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_buf ids = VCM_BUF_INIT(64 * VCM_MIB);
    struct vcm_slice all = vcm_slice_of("", 0);
    struct vcm_page_info info;
    struct vcm_page_id id;

    int rc = vcm_table_each(t->txn, VCM_TABLE_ORPHANS, all, all, take_id, &ids, err);
    for (size_t at = 0; rc == VCM_OK && at < ids.len; at += sizeof id.bytes) {
        memcpy(id.bytes, ids.data + at, sizeof id.bytes);
        rc = vcm_page_store_page(&info, t->txn, &id, err);
        if (rc == VCM_OK)
            rc = vcm_kv_delete(t->txn, VCM_TABLE_ORPHANS, vcm_table_id_key(&id), err);
        if (rc == VCM_OK)
            rc = vcm_transition_forget(t, &info, err);
        if (rc == VCM_NOT_FOUND)
            rc = vcm_table_malformed("an orphan", err);
    }
    vcm_buf_release(&ids);
    return rc;
}

/* The pages of one tag. Two pages with the same tag are possible, though very unlikely. */
struct tagged {
    struct vcm_page_id ids[4];
    unsigned count;
};

static int take_tagged(void *context, struct vcm_slice key, struct vcm_slice value,
                       struct vcm_error *err)
{
    struct tagged *tagged = context;

    (void)value;
    if (key.len != VCM_PAGE_ID_BYTES)
        return vcm_table_malformed("a page id", err);
    if (tagged->count < sizeof tagged->ids / sizeof tagged->ids[0])
        memcpy(tagged->ids[tagged->count++].bytes, key.data, key.len);
    return VCM_OK;
}

/* Compresses or evicts the pages of a tag; the set spares the tag if one of them has to stay. */
static int evict_tag(struct vcm_transition *t, enum vcm_transition_set set, uint64_t tag,
                     struct vcm_error *err)
{
    enum vcm_page_state from = set == VCM_SET_RESIDENT ? VCM_PAGE_RESIDENT : VCM_PAGE_COMPRESSED;
    struct tagged tagged = {.count = 0};
    unsigned char prefix[8];
    bool stays = false;

    vcm_wire_store_be64(prefix, tag);
    struct vcm_slice key = vcm_slice_of(prefix, sizeof prefix);
    int rc = vcm_table_each(t->txn, VCM_TABLE_PAGES, key, key, take_tagged, &tagged, err);
    for (unsigned i = 0; rc == VCM_OK && i < tagged.count; i++) {
        struct vcm_page_info info;
        bool may = false;
        rc = vcm_page_store_page(&info, t->txn, &tagged.ids[i], err);
        if (rc != VCM_OK || info.state != from || vcm_page_store_is_kept(&info))
            continue;
        rc = vcm_transition_may_go(&may, t, &info, err);
        if (rc == VCM_OK && may)
            rc = set == VCM_SET_RESIDENT ? vcm_transition_compress(t, &info, err)
                                         : vcm_transition_evict(t, &info, err);
        stays = stays || !may;
    }
    t->sets_changed = true;
    if (rc == VCM_OK && stays) {
        vcm_evict_spare(&t->sets[set], tag);
        t->spared = true;
    } else if (rc == VCM_OK) {
        vcm_evict_remove(&t->sets[set], tag);
    }
    return rc;
}

int vcm_transition_make_room(struct vcm_transition *t, uint64_t bytes, uint64_t budget,
                             struct vcm_error *err)
{
    uint64_t start = t->totals.resident_bytes, tag;

    if (bytes > t->limits.capacity)
        return VCM_NO_ROOM;
    while (t->totals.resident_bytes > t->limits.capacity - bytes) {
        if (start > t->totals.resident_bytes && start - t->totals.resident_bytes >= budget)
            return VCM_OK;
        if (!t->sets_usable || !vcm_evict_next(&t->sets[VCM_SET_RESIDENT], &tag))
            return VCM_NO_ROOM;
        int rc = evict_tag(t, VCM_SET_RESIDENT, tag, err);
        if (rc != VCM_OK)
            return rc;
    }
    return VCM_OK;
}

int vcm_transition_make_compressed_room(struct vcm_transition *t, uint64_t bytes,
                                        struct vcm_error *err)
{
    uint64_t limit = t->limits.compressed_capacity, tag;

    if (bytes > limit)
        return VCM_NO_ROOM;
    while (t->totals.compressed_bytes > limit - bytes) {
        if (!t->sets_usable || !vcm_evict_next(&t->sets[VCM_SET_COMPRESSED], &tag))
            return VCM_NO_ROOM;
        int rc = evict_tag(t, VCM_SET_COMPRESSED, tag, err);
        if (rc != VCM_OK)
            return rc;
    }
    return VCM_OK;
}

int vcm_transition_too_much(uint64_t needed, uint64_t capacity, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_STORE_FULL,
                         "the pinned and locked pages would need %llu bytes and cache.capacity is "
                         "%llu; raise it with 'vcm config set cache.capacity SIZE', or unpin "
                         "something",
                         (unsigned long long)needed, (unsigned long long)capacity);
}

int vcm_transition_check_pinned(const struct vcm_transition *t, struct vcm_error *err)
{
    uint64_t locked = 0;

    int rc = vcm_lock_bytes(&locked, t->txn, t->now_ms, err);
    if (rc == VCM_OK && t->totals.pinned_bytes + locked > t->limits.capacity)
        rc = vcm_transition_too_much(t->totals.pinned_bytes + locked, t->limits.capacity, err);
    return rc;
}
