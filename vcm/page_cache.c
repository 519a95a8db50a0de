#include "vcm/page_cache.h"

#include <stdlib.h>

#include "base/limits.h"
#include "vcm/group.h"
#include "vcm/rebuild.h"
#include "vcm/transition.h"
#include "vcm/transition_sets.h"

#include "base/banned.h"

#define SHRINK_BATCH_BYTES (16 * VCM_MIB)

/* A page that was faulted and is to come in. */
struct pending {
    struct vcm_page_id id;
    size_t at, len; /* of its frame in the cache's buffer */
};

struct vcm_page_cache {
    struct vcm_page_store *store;
    struct vcm_rebuild *rebuild; /* NULL until a fault needs it */
    struct pending pending[VCM_PAGE_CACHE_PENDING_PAGES];
    unsigned pending_count;
    struct vcm_buf frames; /* of the pending pages */
    bool shut_out;         /* pages that were to come in last did not */
    struct vcm_evict set;  /* of resident pages, in the memory where it was found last */
    void *set_memory;
    size_t set_bytes;
    struct vcm_frame_memo memo;
};

int vcm_page_cache_open(struct vcm_page_cache **out, struct vcm_page_store *store,
                        struct vcm_error *err)
{
    *out = NULL;
    struct vcm_page_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return vcm_error_memory(err);
    cache->store = store;
    vcm_buf_init(&cache->frames, VCM_PAGE_CACHE_PENDING_BYTES + VCM_LIMIT_FRAME_BYTES);
    *out = cache;
    return VCM_OK;
}

void vcm_page_cache_close(struct vcm_page_cache *cache)
{
    if (!cache)
        return;
    vcm_page_cache_flush(cache);
    vcm_rebuild_close(cache->rebuild);
    vcm_buf_release(&cache->frames);
    vcm_frame_memo_release(&cache->memo);
    free(cache);
}

struct vcm_page_store *vcm_page_cache_store(const struct vcm_page_cache *cache)
{
    return cache->store;
}

const struct vcm_frame_memo *vcm_page_cache_memo(const struct vcm_page_cache *cache)
{
    return &cache->memo;
}

void vcm_page_cache_note_hit(struct vcm_page_cache *cache, const struct vcm_page_id *id,
                             size_t bytes)
{
    struct vcm_residency *residency = cache->store->residency;
    size_t bytes_of_set;

    void *memory = vcm_residency_evict_memory(&bytes_of_set, residency, VCM_SET_RESIDENT);
    if (memory != cache->set_memory || bytes_of_set != cache->set_bytes) {
        bool usable = memory && vcm_evict_attach(&cache->set, memory, bytes_of_set);
        cache->set_memory = usable ? memory : NULL;
        cache->set_bytes = usable ? bytes_of_set : 0;
    }
    if (cache->set_memory)
        vcm_evict_touch(&cache->set, vcm_transition_tag(id));
    vcm_residency_count(residency, VCM_RESIDENCY_HITS, 1);
    vcm_residency_trace(residency, id, (uint32_t)bytes);
}

/* Looks a frame up, and verifies it unless it was whole at the same place before. */
static int look_up(struct vcm_slice *out, struct vcm_page_cache *cache, struct vcm_kv_txn *txn,
                   const struct vcm_page_id *id, uint64_t map, struct vcm_error *err)
{
    struct vcm_slice key = vcm_table_id_key(id);

    int rc = vcm_kv_get_unchecked(out, txn, VCM_TABLE_FRAMES, key, err);
    if (rc != VCM_OK)
        return rc;
    *out = vcm_table_trim_frame(*out);
    if (vcm_frame_memo_is_whole(&cache->memo, map, id, *out))
        return VCM_OK;
    rc = vcm_kv_get(out, txn, VCM_TABLE_FRAMES, key, err);
    if (rc == VCM_OK)
        *out = vcm_table_trim_frame(*out);
    return rc;
}

/*
 * A place that is remembered is as good as one that is looked up: nothing was freed since, and what
 * is freed from now on LMDB does not write over before `txn` ends. A place is relied upon when the
 * number of departures was read while the transaction was the latest: a frame that it sees was not
 * freed by then. On private memory nobody tells of departures.
 * What is needed after the look-up is fetched during it.
 */
int vcm_page_cache_find(struct vcm_slice *out, struct vcm_page_cache *cache, struct vcm_kv_txn *txn,
                        const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_residency *residency = cache->store->residency;
    uint64_t departures = vcm_residency_departures(residency);
    uint64_t map = vcm_kv_map_number(txn);

    if (cache->set_memory)
        vcm_evict_prefetch(&cache->set, vcm_transition_tag(id));
    if (cache->memo.departures == departures && cache->memo.map == map &&
        vcm_frame_memo_find(out, &cache->memo, id))
        return VCM_OK;
    vcm_frame_memo_prefetch(&cache->memo, id);
    int rc = look_up(out, cache, txn, id, map, err);
    if (rc == VCM_OK) {
        bool latest = vcm_residency_is_shared(residency) && vcm_kv_is_latest(txn);
        vcm_frame_memo_note(&cache->memo, latest ? departures : VCM_FRAME_MEMO_UNRELIABLE, map, id,
                            *out);
    }
    return rc;
}

static bool is_pending(const struct vcm_page_cache *cache, const struct vcm_page_id *id)
{
    for (unsigned i = 0; i < cache->pending_count; i++)
        if (memcmp(&cache->pending[i].id, id, sizeof *id) == 0)
            return true;
    return false;
}

/* Keeps a copy for the transaction in which the page comes in. */
static void keep_pending(struct vcm_page_cache *cache, const struct vcm_page_id *id,
                         struct vcm_slice frame)
{
    if (is_pending(cache, id))
        return;
    size_t at = cache->frames.len;
    vcm_buf_append_slice(&cache->frames, frame);
    if (cache->frames.fault != VCM_BUF_FINE) {
        vcm_buf_truncate(&cache->frames, at);
        return;
    }
    cache->pending[cache->pending_count++] = (struct pending){*id, at, frame.len};
    if (cache->pending_count == VCM_PAGE_CACHE_PENDING_PAGES ||
        cache->frames.len >= VCM_PAGE_CACHE_PENDING_BYTES)
        vcm_page_cache_flush(cache);
}

/* A page that is not resident, in memory of its own; `*state` says what it was. */
static int read_absent(struct vcm_page_cache_frame *out, enum vcm_page_state *state,
                       struct vcm_page_cache *cache, struct vcm_kv_txn *txn,
                       const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_buf frame = VCM_BUF_INIT(VCM_LIMIT_FRAME_BYTES);
    struct vcm_page_info info;

    int rc = vcm_page_store_page(&info, txn, id, err);
    if (rc == VCM_OK && !cache->rebuild)
        rc = vcm_rebuild_open(&cache->rebuild, cache->store, err);
    if (rc == VCM_OK)
        rc = vcm_rebuild_frame(&frame, cache->rebuild, txn, &info, err);
    if (rc == VCM_OK) {
        *state = info.state;
        out->bytes.len = frame.len;
        out->memory = vcm_buf_detach(&frame);
        out->bytes.data = out->memory;
    }
    vcm_buf_release(&frame);
    return rc;
}

/* The pages that come in with one that was rebuilt. */
struct group {
    struct vcm_page_cache *cache;
    struct vcm_kv_txn *txn;
    uint64_t bytes, bytes_max;
};

static int load_neighbour(void *context, const struct vcm_page_info *info, struct vcm_error *err)
{
    struct vcm_buf frame = VCM_BUF_INIT(VCM_LIMIT_FRAME_BYTES);
    struct group *group = context;
    struct vcm_kv *writer = NULL;

    if (group->bytes == 0)
        group->cache->shut_out = vcm_page_store_writer(&writer, group->cache->store, err) != VCM_OK;
    group->bytes += info->bytes;
    if (group->bytes > group->bytes_max || group->cache->shut_out)
        return VCM_STOP;
    if (is_pending(group->cache, &info->id))
        return VCM_OK;
    int rc = vcm_rebuild_frame(&frame, group->cache->rebuild, group->txn, info, err);
    if (rc == VCM_OK)
        keep_pending(group->cache, &info->id, vcm_buf_slice(&frame));
    vcm_buf_release(&frame);
    return rc;
}

/*
 * Where pages do not come in, those that nobody asked for would be made for nothing, with each read
 * again. A quarter of the capacity bounds them, lest they send each other away. Those whose files
 * are gone just stay.
 */
static void load_group(struct vcm_page_cache *cache, struct vcm_kv_txn *txn,
                       const struct vcm_page_id *id)
{
    struct group group = {cache, txn, 0, cache->store->limits.capacity / 4};
    struct vcm_error ignored = {0};

    if (group.bytes_max > VCM_PAGE_CACHE_PENDING_BYTES)
        group.bytes_max = VCM_PAGE_CACHE_PENDING_BYTES;
    if (cache->shut_out)
        return;
    vcm_group_each(txn, id, load_neighbour, &group, &ignored);
    if (group.bytes > 0)
        vcm_page_cache_flush(cache);
}

int vcm_page_cache_peek(struct vcm_page_cache_frame *out, struct vcm_page_cache *cache,
                        struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err)
{
    enum vcm_page_state state;

    *out = (struct vcm_page_cache_frame){.memory = NULL};
    int rc = vcm_page_cache_find(&out->bytes, cache, txn, id, err);
    return rc == VCM_NOT_FOUND ? read_absent(out, &state, cache, txn, id, err) : rc;
}

int vcm_page_cache_read(struct vcm_page_cache_frame *out, struct vcm_page_cache *cache,
                        struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_residency *residency = cache->store->residency;
    enum vcm_page_state state = VCM_PAGE_RESIDENT;

    *out = (struct vcm_page_cache_frame){.memory = NULL};
    int rc = vcm_page_cache_find(&out->bytes, cache, txn, id, err);
    if (rc == VCM_OK)
        vcm_page_cache_note_hit(cache, id, out->bytes.len);
    if (rc != VCM_NOT_FOUND)
        return rc;
    rc = read_absent(out, &state, cache, txn, id, err);
    if (rc != VCM_OK)
        return rc;
    vcm_residency_count(
        residency,
        state == VCM_PAGE_COMPRESSED ? VCM_RESIDENCY_MINOR_FAULTS : VCM_RESIDENCY_MAJOR_FAULTS, 1);
    vcm_residency_trace(residency, id, (uint32_t)out->bytes.len);
    keep_pending(cache, id, out->bytes);
    if (state == VCM_PAGE_EVICTED)
        load_group(cache, txn, id);
    return VCM_OK;
}

void vcm_page_cache_release(struct vcm_page_cache_frame *frame)
{
    free(frame->memory);
    *frame = (struct vcm_page_cache_frame){.memory = NULL};
}

struct flush {
    struct vcm_page_cache *cache;
    uint64_t left_out;
};

static int flush_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct flush *flush = context;
    const struct vcm_page_cache *cache = flush->cache;
    int rc = VCM_OK;

    flush->left_out = 0;
    for (unsigned i = 0; rc == VCM_OK && i < cache->pending_count; i++) {
        const struct pending *pending = &cache->pending[i];
        struct vcm_page_info info;
        rc = vcm_page_store_page(&info, t->txn, &pending->id, err);
        if (rc == VCM_OK)
            rc = vcm_transition_promote(
                t, &info, vcm_slice_of(cache->frames.data + pending->at, pending->len), err);
        if (rc == VCM_NOT_FOUND || rc == VCM_NO_ROOM) { /* VCM_NOT_FOUND: gone meanwhile */
            flush->left_out++;
            rc = VCM_OK;
        }
    }
    return rc;
}

void vcm_page_cache_flush(struct vcm_page_cache *cache)
{
    struct flush flush = {.cache = cache};
    struct vcm_error ignored = {0};

    if (cache->pending_count == 0)
        return;
    if (vcm_transition_run(cache->store, flush_change, &flush, VCM_PAGE_CACHE_TIMEOUT_MS, NULL,
                           &ignored) != VCM_OK) {
        flush.left_out = cache->pending_count;
        vcm_log_write(cache->store->log, VCM_LOG_DEBUG, "faulted pages do not come in: %s",
                      ignored.message);
    }
    vcm_residency_count(cache->store->residency, VCM_RESIDENCY_PRIVATE_ANSWERS, flush.left_out);
    cache->shut_out = flush.left_out > 0;
    cache->pending_count = 0;
    vcm_buf_clear(&cache->frames);
}

static int shrink_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    bool *done = context;

    *done = false;
    int rc = vcm_transition_check_pinned(t, err);
    if (rc == VCM_OK)
        rc = vcm_transition_make_room(t, 0, SHRINK_BATCH_BYTES, err);
    if (rc == VCM_OK)
        rc = vcm_transition_make_compressed_room(t, 0, err);
    if (rc == VCM_NO_ROOM)
        rc = vcm_error_set(err, VCM_STORE_BUSY,
                           "nobody can be sent away, and pages hold more than the capacity: %s; "
                           "try again",
                           vcm_transition_hindrance(t));
    *done = t->totals.resident_bytes <= t->limits.capacity;
    return rc;
}

int vcm_page_cache_shrink(struct vcm_page_store *store, const struct vcm_cancel *cancel,
                          struct vcm_error *err)
{
    bool done = false;
    int rc = VCM_OK;

    while (rc == VCM_OK && !done)
        rc =
            vcm_transition_run(store, shrink_change, &done, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel, err);
    return rc;
}

void vcm_page_cache_counters(struct vcm_page_cache_counters *out,
                             const struct vcm_page_store *store)
{
    const struct vcm_residency *residency = store->residency;

    out->hits = vcm_residency_counter(residency, VCM_RESIDENCY_HITS);
    out->minor_faults = vcm_residency_counter(residency, VCM_RESIDENCY_MINOR_FAULTS);
    out->major_faults = vcm_residency_counter(residency, VCM_RESIDENCY_MAJOR_FAULTS);
    out->evictions = vcm_residency_counter(residency, VCM_RESIDENCY_EVICTIONS);
    out->private_answers = vcm_residency_counter(residency, VCM_RESIDENCY_PRIVATE_ANSWERS);
}
