/*
 * How a read is answered.
 *
 *   1. The memo (frame_memo.h) knows where the frame was found last. If no frame was freed since,
 *      and the map is the same, the frame is still there: no look-up, no checksum.
 *   2. Otherwise the frame is looked up in the table of frames. Its checksum is verified unless the
 *      page was found whole at this very place before. The memo notes the place.
 *   3. A page found by 1 or 2 is a hit. The answer points into the map and is valid until the
 *      transaction ends. The read sets a mark in the eviction set, counts, and enters the trace if
 *      one is being recorded. It takes no lock and writes nothing to the store.
 *   4. A page that has no frame is a fault. The loader decompresses it (minor fault) or rebuilds it
 *      from its source (major fault), and the reader gets a copy at once.
 *
 * The page of a fault becomes resident later: the loader keeps its frame and promotes it in one
 * transaction with others, when 256 pages or 8 MiB are gathered, when it gathered the group of a
 * rebuilt page, or when the cache is flushed or closed. So few reads pay for a transaction. It
 * waits at most 20 ms for the writers' lock. If the lock is not free by then, the pages stay as
 * they are and the reads count as private answers.
 */
#include "vcm/residency/page_cache.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "vcm/residency/access.h"
#include "vcm/residency/loader.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

struct vcm_page_cache {
    struct vcm_page_store *store;
    struct vcm_loader *loader; /* for pages that are not resident */
    struct vcm_access access;
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
    cache->access.shm = store->shm;
    int rc = vcm_loader_open(&cache->loader, store, err);
    if (rc == VCM_OK)
        *out = cache;
    else
        vcm_page_cache_close(cache);
    return rc;
}

void vcm_page_cache_close(struct vcm_page_cache *cache)
{
    if (!cache)
        return;
    vcm_page_cache_flush(cache);
    vcm_loader_close(cache->loader);
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
    vcm_access_note(&cache->access, id, VCM_PAGE_RESIDENT, bytes);
}

/* Looks a frame up, and verifies its checksum unless it was found whole at this place before. */
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
 * A remembered place is as good as one that is looked up: no frame was freed since, and LMDB does
 * not overwrite what is freed from now on before `txn` ends. The memo relies on a place only if
 * `txn` was still the latest transaction after the number of departures was read: then no frame
 * that it sees was freed before. A process without the shared file does not see departures of
 * others and relies on no place.
 * The prefetches load, during the look-up, the cache lines that are needed after it.
 */
int vcm_page_cache_find(struct vcm_slice *out, struct vcm_page_cache *cache, struct vcm_kv_txn *txn,
                        const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_shm *shm = cache->store->shm;
    uint64_t departures = vcm_shm_departures(shm);
    uint64_t map = vcm_kv_handle_map_number(txn);

    vcm_access_prefetch(&cache->access, id);
    if (cache->memo.departures == departures && cache->memo.map == map &&
        vcm_frame_memo_find(out, &cache->memo, id))
        return VCM_OK;
    vcm_frame_memo_prefetch(&cache->memo, id);
    int rc = look_up(out, cache, txn, id, map, err);
    if (rc == VCM_OK) {
        assert(out->data);
        bool latest = vcm_shm_is_shared(shm) && vcm_kv_handle_is_latest(txn);
        vcm_frame_memo_note(&cache->memo, latest ? departures : VCM_FRAME_MEMO_UNRELIABLE, map, id,
                            *out);
    }
    return rc;
}

int vcm_page_cache_peek(struct vcm_page_cache_frame *out, struct vcm_page_cache *cache,
                        struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_buf frame = VCM_BUF_INIT(VCM_LIMIT_FRAME_BYTES);

    *out = (struct vcm_page_cache_frame){.memory = NULL};
    int rc = vcm_page_cache_find(&out->bytes, cache, txn, id, err);
    if (rc != VCM_NOT_FOUND)
        return rc;
    rc = vcm_loader_peek(&frame, cache->loader, txn, id, err);
    if (rc == VCM_OK) {
        out->bytes.len = frame.len;
        out->memory = vcm_buf_detach(&frame);
        out->bytes.data = out->memory;
    }
    vcm_buf_release(&frame);
    return rc;
}

/* Reads a page that is not resident: the reader gets a copy, the loader promotes the page. */
static int read_absent(struct vcm_page_cache_frame *out, struct vcm_page_cache *cache,
                       struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_slice frame;
    bool enough;

    int rc = vcm_loader_read(&frame, &enough, cache->loader, txn, id, err);
    if (rc != VCM_OK)
        return rc;
    out->memory = malloc(frame.len + 1);
    if (out->memory) {
        memcpy(out->memory, frame.data, frame.len);
        out->bytes = vcm_slice_of(out->memory, frame.len);
    } else {
        rc = vcm_error_memory(err);
    }
    if (enough)
        vcm_loader_promote(cache->loader);
    return rc;
}

int vcm_page_cache_read(struct vcm_page_cache_frame *out, struct vcm_page_cache *cache,
                        struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err)
{
    *out = (struct vcm_page_cache_frame){.memory = NULL};
    int rc = vcm_page_cache_find(&out->bytes, cache, txn, id, err);
    if (rc == VCM_OK)
        vcm_page_cache_note_hit(cache, id, out->bytes.len);
    assert(!out->memory); /* a hit points into the map */
    return rc == VCM_NOT_FOUND ? read_absent(out, cache, txn, id, err) : rc;
}

void vcm_page_cache_release(struct vcm_page_cache_frame *frame)
{
    free(frame->memory);
    *frame = (struct vcm_page_cache_frame){.memory = NULL};
}

void vcm_page_cache_flush(struct vcm_page_cache *cache)
{
    if (cache->loader)
        vcm_loader_promote(cache->loader);
}

void vcm_page_cache_counters(struct vcm_page_cache_counters *out,
                             const struct vcm_page_store *store)
{
    const struct vcm_shm *shm = store->shm;

    out->hits = vcm_shm_counter(shm, VCM_SHM_HITS);
    out->minor_faults = vcm_shm_counter(shm, VCM_SHM_MINOR_FAULTS);
    out->major_faults = vcm_shm_counter(shm, VCM_SHM_MAJOR_FAULTS);
    out->evictions = vcm_shm_counter(shm, VCM_SHM_EVICTIONS);
    out->private_answers = vcm_shm_counter(shm, VCM_SHM_PRIVATE_ANSWERS);
}
