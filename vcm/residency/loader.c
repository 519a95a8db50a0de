/*
 * How a page becomes resident.
 *
 * The work is split so that no page is decompressed or rebuilt under the writers' lock. gather()
 * runs in a read transaction: it decompresses the page, or rebuilds it from its source, which may
 * take long, and appends the frame to `frames`. promote() runs one write transaction for all that
 * was gathered: promote_page() looks each page up again, since it may have been promoted or deleted
 * meanwhile, and vcm_transition_promote() evicts others for it.
 *
 * Groups. A rebuild of one part of a file reads and cuts the whole file, so gather_group() keeps
 * the file's other evicted parts as well. They are a guess, therefore bounded (C6) and promoted
 * before the requested pages: if room is short, a requested page evicts them, never the reverse.
 * `promotion_failed` stops this guessing: if gathered pages cannot become resident, each read would
 * rebuild its whole group again for nothing. One promotion that succeeds resets it.
 *
 * vcm_loader_load() is for faults, which report a result per page. It works in batches: gathers
 * until a batch is full, promotes, goes on. All requested pages are in `asked`, which the
 * transaction takes as t->kept, so that no batch evicts pages of an earlier one (C5). A page that
 * has no room gets an error and stays as it was.
 *
 * If the promotion's transaction fails as a whole (the lock is not free within 20 ms, the home
 * cannot be written), report_failure() gives every requested page the same error. A plain read has
 * its bytes by then; it counts as a private answer.
 */
#include "vcm/residency/loader.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "vcm/residency/access.h"
#include "vcm/residency/group.h"
#include "vcm/page/id_map.h"
#include "vcm/residency/lock.h"
#include "vcm/residency/rebuild.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

#define FRAMES_BYTES_MAX (16 * VCM_GIB)

/* A page whose frame is kept until it is promoted. */
struct gathered {
    struct vcm_page_id id;
    size_t at, len;                     /* of its frame in `frames` */
    bool asked;                         /* requested; false: gathered for a group only */
    struct vcm_loader_outcome *outcome; /* in vcm_loader_load(), else NULL */
};

struct vcm_loader {
    struct vcm_page_store *store;
    struct vcm_rebuild *rebuild; /* NULL until a page needs it */
    struct vcm_access access;
    struct vcm_buf frames;
    struct gathered *pages;
    size_t count, capacity;
    struct vcm_id_map numbers; /* index in `pages` by id */
    uint64_t group_bytes;      /* of pages that were gathered for a group */
    bool promotion_failed;     /* the last promotion left a requested page out */
    /* During vcm_loader_load(): */
    const struct vcm_id_map *asked; /* all requested pages; none is evicted for another */
    uint64_t asked_bytes;           /* of those that are resident and not pinned */
};

int vcm_loader_open(struct vcm_loader **out, struct vcm_page_store *store, struct vcm_error *err)
{
    *out = NULL;
    struct vcm_loader *loader = calloc(1, sizeof *loader);
    if (!loader)
        return vcm_error_memory(err);
    loader->store = store;
    loader->access.shm = store->shm;
    vcm_buf_init(&loader->frames, FRAMES_BYTES_MAX);
    *out = loader;
    return VCM_OK;
}

void vcm_loader_close(struct vcm_loader *loader)
{
    if (!loader)
        return;
    vcm_rebuild_close(loader->rebuild);
    vcm_buf_release(&loader->frames);
    vcm_id_map_release(&loader->numbers);
    free(loader->pages);
    free(loader);
}

static bool is_full(const struct vcm_loader *loader)
{
    return loader->count >= VCM_LOADER_PAGES || loader->frames.len >= VCM_LOADER_BYTES;
}

static void clear(struct vcm_loader *loader)
{
    loader->count = 0;
    loader->group_bytes = 0;
    vcm_id_map_clear(&loader->numbers);
    vcm_buf_clear(&loader->frames);
}

static struct vcm_slice frame_of(const struct vcm_loader *loader, const struct gathered *page)
{
    assert(page->at + page->len <= loader->frames.len);
    return vcm_slice_of(loader->frames.data + page->at, page->len);
}

struct vcm_slice vcm_loader_frame(const struct vcm_loader *loader, const struct vcm_page_id *id)
{
    uint32_t number;

    return vcm_id_map_find(&number, &loader->numbers, id) ? frame_of(loader, &loader->pages[number])
                                                          : vcm_slice_of("", 0);
}

/* Appends the frame of a page to `out`. */
static int make_frame(struct vcm_buf *out, struct vcm_loader *loader, struct vcm_kv_txn *txn,
                      const struct vcm_page_info *info, struct vcm_error *err)
{
    int rc = loader->rebuild ? VCM_OK : vcm_rebuild_open(&loader->rebuild, loader->store, err);
    return rc == VCM_OK ? vcm_rebuild_frame(out, loader->rebuild, txn, info, err) : rc;
}

int vcm_loader_peek(struct vcm_buf *out, struct vcm_loader *loader, struct vcm_kv_txn *txn,
                    const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_page_info info;

    int rc = vcm_page_store_page(&info, txn, id, err);
    return rc == VCM_OK ? make_frame(out, loader, txn, &info, err) : rc;
}

/* Keeps the frame of a page that is not resident, unless it is kept already. */
static int gather(uint32_t *number, struct vcm_loader *loader, struct vcm_kv_txn *txn,
                  const struct vcm_page_info *info, struct vcm_error *err)
{
    assert(info->state != VCM_PAGE_RESIDENT);
    if (vcm_id_map_find(number, &loader->numbers, &info->id))
        return VCM_OK;
    size_t at = loader->frames.len;
    int rc = vcm_array_reserve(&loader->pages, &loader->capacity, loader->count + 1,
                               2 * (size_t)VCM_LIMIT_LISTING_ROWS, err);
    if (rc == VCM_OK)
        rc = make_frame(&loader->frames, loader, txn, info, err);
    if (rc == VCM_OK)
        rc = vcm_id_map_put(&loader->numbers, &info->id, (uint32_t)loader->count, err);
    if (rc != VCM_OK) {
        vcm_buf_truncate(&loader->frames, at);
        return rc;
    }
    *number = (uint32_t)loader->count++;
    loader->pages[*number] = (struct gathered){info->id, at, loader->frames.len - at, false, NULL};
    assert(loader->numbers.count == loader->count);
    return VCM_OK;
}

/* A group that is being gathered. */
struct group {
    struct vcm_loader *loader;
    struct vcm_kv_txn *txn;
    uint64_t bytes_max;
    bool begun;
};

static int gather_neighbour(void *context, const struct vcm_page_info *info, struct vcm_error *err)
{
    struct group *group = context;
    struct vcm_loader *loader = group->loader;
    struct vcm_kv *writer = NULL;
    uint32_t number;

    if (!group->begun)
        loader->promotion_failed = vcm_page_store_writer(&writer, loader->store, err) != VCM_OK;
    group->begun = true;
    if (vcm_id_map_find(&number, &loader->numbers, &info->id))
        return VCM_OK;
    if (loader->promotion_failed || loader->group_bytes + info->bytes > group->bytes_max)
        return VCM_STOP;
    loader->group_bytes += info->bytes;
    return gather(&number, loader, group->txn, info, err);
}

/* Gathers the group of a page, unless the last promotion failed. A quarter of the capacity is the
 * bound: more of them would evict each other. A page whose file cannot be read any more is skipped.
 * True when the group had a page to gather. */
static bool gather_group(struct vcm_loader *loader, struct vcm_kv_txn *txn,
                         const struct vcm_page_id *id)
{
    struct group group = {loader, txn, loader->store->limits.capacity / 4, false};
    struct vcm_error ignored = {0};

    if (group.bytes_max > VCM_LOADER_BYTES)
        group.bytes_max = VCM_LOADER_BYTES;
    if (!loader->promotion_failed)
        vcm_group_each(txn, id, gather_neighbour, &group, &ignored);
    return group.begun;
}

int vcm_loader_gather_all(struct vcm_loader *loader, const struct vcm_page_id *ids, size_t count,
                          struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_page_store_read_begin(&txn, loader->store, err);
    for (size_t i = 0; rc == VCM_OK && i < count; i++) {
        struct vcm_page_info info;
        uint32_t number;
        rc = vcm_page_store_page(&info, txn, &ids[i], err);
        if (rc == VCM_NOT_FOUND)
            rc = VCM_OK;
        else if (rc == VCM_OK && info.state != VCM_PAGE_RESIDENT)
            rc = gather(&number, loader, txn, &info, err);
    }
    vcm_kv_handle_read_end(txn);
    return rc;
}

int vcm_loader_read(struct vcm_slice *frame, bool *enough, struct vcm_loader *loader,
                    struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_page_info info;
    uint32_t number;

    *enough = false;
    int rc = vcm_page_store_page(&info, txn, id, err);
    if (rc == VCM_OK && info.state == VCM_PAGE_RESIDENT)
        rc = vcm_page_store_frame(frame, txn, id, err);
    else if (rc == VCM_OK)
        rc = gather(&number, loader, txn, &info, err);
    if (rc != VCM_OK)
        return rc;
    vcm_access_note(&loader->access, id, info.state, info.bytes);
    if (info.state == VCM_PAGE_RESIDENT)
        return VCM_OK;
    loader->pages[number].asked = true;
    bool grouped = info.state == VCM_PAGE_EVICTED && gather_group(loader, txn, id);
    *enough = grouped || is_full(loader);
    *frame = frame_of(loader, &loader->pages[number]);
    return VCM_OK;
}

/* The result of one run of the transaction. */
struct promotion {
    struct vcm_loader *loader;
    uint64_t asked_bytes; /* of requested pages that became resident */
    uint64_t left_out;    /* requested pages that did not */
};

static int no_page(const struct vcm_page_id *id, struct vcm_error *err)
{
    char hex[VCM_PAGE_ID_HEX + 1];

    vcm_page_id_to_hex(hex, id);
    return vcm_error_set(err, VCM_NOT_FOUND, "there is no page %s", hex);
}

/* Why a requested page has no room. */
static int no_room(const struct promotion *promotion, struct vcm_transition *t,
                   const struct vcm_page_info *info, struct vcm_error *err)
{
    char hex[VCM_PAGE_ID_HEX + 1];
    uint64_t locked = 0;

    int rc = vcm_lock_bytes(&locked, t->txn, t->now_ms, err);
    if (rc != VCM_OK)
        return rc;
    uint64_t needed = t->totals.pinned_bytes + locked + promotion->loader->asked_bytes +
                      promotion->asked_bytes + info->bytes;
    if (needed <= t->limits.capacity)
        return vcm_transition_no_room(t, info, err);
    vcm_page_id_to_hex(hex, &info->id);
    return vcm_error_set(err, VCM_STORE_FULL,
                         "no room for page %s: with the pages that are pinned, locked or requested "
                         "it needs %llu bytes and cache.capacity is %llu; raise it with 'vcm "
                         "config set cache.capacity SIZE', or request fewer",
                         hex, (unsigned long long)needed, (unsigned long long)t->limits.capacity);
}

static int promote_page(struct promotion *promotion, struct vcm_transition *t,
                        const struct gathered *page, struct vcm_error *err)
{
    struct vcm_loader_outcome *outcome = page->outcome;
    struct vcm_page_info info = {.bytes = 0};

    int rc = vcm_page_store_page(&info, t->txn, &page->id, err);
    if (rc == VCM_OK)
        rc = vcm_transition_promote(t, &info, frame_of(promotion->loader, page), err);
    if (rc != VCM_OK && rc != VCM_NOT_FOUND && rc != VCM_NO_ROOM)
        return rc;
    if (outcome) {
        vcm_error_reset(&outcome->error);
        if (rc == VCM_NOT_FOUND)
            outcome->rc = no_page(&page->id, &outcome->error);
        else
            outcome->rc = rc == VCM_NO_ROOM ? no_room(promotion, t, &info, &outcome->error) : rc;
    }
    promotion->left_out += page->asked && rc != VCM_OK;
    if (page->asked && rc == VCM_OK && !vcm_page_store_is_kept(&info))
        promotion->asked_bytes += info.bytes;
    return VCM_OK;
}

static int promote_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct promotion *promotion = context;
    const struct vcm_loader *loader = promotion->loader;
    int rc = VCM_OK;

    promotion->asked_bytes = promotion->left_out = 0;
    t->kept = loader->asked;
    for (unsigned asked = 0; asked < 2; asked++)
        for (size_t i = 0; rc == VCM_OK && i < loader->count; i++)
            if (loader->pages[i].asked == (asked == 1))
                rc = promote_page(promotion, t, &loader->pages[i], err);
    return rc;
}

/* The transaction failed: no page was promoted, and every requested one gets the same error. */
static void report_failure(struct promotion *promotion, int rc, const struct vcm_error *err)
{
    const struct vcm_loader *loader = promotion->loader;

    promotion->asked_bytes = promotion->left_out = 0;
    for (size_t i = 0; i < loader->count; i++) {
        struct vcm_loader_outcome *outcome = loader->pages[i].outcome;
        promotion->left_out += loader->pages[i].asked;
        if (outcome) {
            outcome->rc = rc;
            outcome->error = *err;
        }
    }
    vcm_log_write(loader->store->log, VCM_LOG_DEBUG, "faulted pages are not promoted: %s",
                  err->message);
}

static void promote(struct vcm_loader *loader, pthread_mutex_t *turn)
{
    struct promotion promotion = {.loader = loader};
    struct vcm_error err = {0};

    assert(loader->group_bytes <= VCM_LOADER_BYTES); /* C6 */
    if (loader->count == 0)
        return;
    if (turn)
        pthread_mutex_lock(turn);
    int rc = vcm_transition_run(loader->store, promote_change, &promotion, VCM_LOADER_TIMEOUT_MS,
                                NULL, &err);
    if (turn)
        pthread_mutex_unlock(turn);
    if (rc != VCM_OK)
        report_failure(&promotion, rc, &err);
    vcm_shm_count(loader->store->shm, VCM_SHM_PRIVATE_ANSWERS, promotion.left_out);
    loader->asked_bytes += promotion.asked_bytes;
    loader->promotion_failed = rc != VCM_OK || promotion.left_out > 0;
    clear(loader);
}

void vcm_loader_promote(struct vcm_loader *loader)
{
    promote(loader, NULL);
}

static void load_page(struct vcm_loader_outcome *out, struct vcm_loader *loader,
                      struct vcm_kv_txn *txn, const struct vcm_page_id *id)
{
    struct vcm_page_info info;
    uint32_t number;

    out->rc = vcm_page_store_page(&info, txn, id, &out->error);
    if (out->rc == VCM_NOT_FOUND)
        no_page(id, &out->error);
    if (out->rc == VCM_OK && info.state != VCM_PAGE_RESIDENT)
        out->rc = gather(&number, loader, txn, &info, &out->error);
    if (out->rc != VCM_OK)
        return;
    out->is_read = true;
    out->was = info.state;
    vcm_access_note(&loader->access, id, info.state, info.bytes);
    if (info.state == VCM_PAGE_RESIDENT) {
        loader->asked_bytes += vcm_page_store_is_kept(&info) ? 0 : info.bytes;
        return;
    }
    loader->pages[number].asked = true;
    loader->pages[number].outcome = out;
    if (info.state == VCM_PAGE_EVICTED)
        gather_group(loader, txn, id);
}

/* Loads pages from index `from` on until a batch is full; returns the index of the next one. */
static size_t load_batch(struct vcm_loader_outcome *out, struct vcm_loader *loader,
                         const struct vcm_page_id *ids, size_t from, size_t count,
                         pthread_mutex_t *turn)
{
    struct vcm_kv_txn *txn = NULL;
    struct vcm_error err = {0};
    uint32_t first = 0;

    assert(from < count && loader->count == 0); /* so that each batch takes a page at least */
    int rc = vcm_page_store_read_begin(&txn, loader->store, &err);
    for (; from < count && !is_full(loader); from++) {
        out[from] = (struct vcm_loader_outcome){.rc = rc, .error = err};
        if (rc == VCM_OK && vcm_id_map_find(&first, loader->asked, &ids[from]) && first == from)
            load_page(&out[from], loader, txn, &ids[from]);
    }
    vcm_kv_handle_read_end(txn);
    promote(loader, turn);
    return from;
}

void vcm_loader_load(struct vcm_loader_outcome *out, struct vcm_loader *loader,
                     const struct vcm_page_id *ids, size_t count, pthread_mutex_t *turn)
{
    struct vcm_id_map asked = {.slots = NULL};
    struct vcm_error err = {0};
    uint32_t first;
    int rc = VCM_OK;

    assert(!loader->asked && count < UINT32_MAX);
    for (size_t i = 0; rc == VCM_OK && i < count; i++)
        if (!vcm_id_map_find(&first, &asked, &ids[i]))
            rc = vcm_id_map_put(&asked, &ids[i], (uint32_t)i, &err);
    clear(loader);
    loader->asked = &asked;
    loader->asked_bytes = 0;
    for (size_t at = 0; rc == VCM_OK && at < count;)
        at = load_batch(out, loader, ids, at, count, turn);
    for (size_t i = 0; i < count; i++) {
        if (rc != VCM_OK)
            out[i] = (struct vcm_loader_outcome){.rc = rc, .error = err};
        else if (vcm_id_map_find(&first, &asked, &ids[i]) && first != i)
            out[i] = out[first];
    }
    loader->asked = NULL;
    vcm_id_map_release(&asked);
}
