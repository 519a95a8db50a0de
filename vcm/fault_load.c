#include "vcm/fault_load.h"

#include <stdlib.h>

#include "base/limits.h"
#include "vcm/group.h"
#include "vcm/page_cache.h"
#include "vcm/rebuild.h"
#include "vcm/transition.h"
#include "vcm/transition_sets.h"

#include "base/banned.h"

/* A page with the bytes that it comes in with. */
struct loaded {
    struct vcm_page_id id;
    size_t at, len;
};

struct load {
    struct vcm_page_store *store;
    struct vcm_rebuild *rebuild;
    struct vcm_kv_txn *txn;
    struct vcm_buf frames;
    struct loaded *pages;
    unsigned count, capacity;
    uint64_t left_out;
};

static bool is_loaded(const struct load *load, const struct vcm_page_id *id)
{
    for (unsigned i = 0; i < load->count; i++)
        if (memcmp(&load->pages[i].id, id, sizeof *id) == 0)
            return true;
    return false;
}

static int load_frame(struct load *load, const struct vcm_page_info *info, struct vcm_error *err)
{
    if (is_loaded(load, &info->id))
        return VCM_OK;
    if (load->count == load->capacity) {
        unsigned capacity = load->capacity ? 2 * load->capacity : 64;
        struct loaded *pages = realloc(load->pages, capacity * sizeof *pages);
        if (!pages)
            return vcm_error_memory(err);
        load->pages = pages;
        load->capacity = capacity;
    }
    size_t at = load->frames.len;
    int rc = vcm_rebuild_frame(&load->frames, load->rebuild, load->txn, info, err);
    if (rc == VCM_OK)
        load->pages[load->count++] = (struct loaded){info->id, at, load->frames.len - at};
    else
        vcm_buf_truncate(&load->frames, at);
    return rc;
}

static void touch(struct vcm_page_store *store, const struct vcm_page_id *id)
{
    struct vcm_evict set;
    size_t bytes;

    void *memory = vcm_residency_evict_memory(&bytes, store->residency, VCM_SET_RESIDENT);
    if (memory && vcm_evict_attach(&set, memory, bytes))
        vcm_evict_touch(&set, vcm_transition_tag(id));
}

static void load_page(struct vcm_fault_outcome *out, struct load *load,
                      const struct vcm_page_id *id)
{
    static const enum vcm_residency_counter counters[] = {
        [VCM_FAULT_HIT] = VCM_RESIDENCY_HITS,
        [VCM_FAULT_MINOR] = VCM_RESIDENCY_MINOR_FAULTS,
        [VCM_FAULT_MAJOR] = VCM_RESIDENCY_MAJOR_FAULTS,
    };
    struct vcm_page_info info;
    char hex[VCM_PAGE_ID_HEX + 1];

    out->rc = vcm_page_store_page(&info, load->txn, id, &out->error);
    if (out->rc == VCM_NOT_FOUND) {
        vcm_page_id_to_hex(hex, id);
        vcm_error_set(&out->error, VCM_NOT_FOUND, "there is no page %s", hex);
    }
    if (out->rc != VCM_OK)
        return;
    out->kind = info.state == VCM_PAGE_RESIDENT     ? VCM_FAULT_HIT
                : info.state == VCM_PAGE_COMPRESSED ? VCM_FAULT_MINOR
                                                    : VCM_FAULT_MAJOR;
    if (out->kind == VCM_FAULT_HIT)
        touch(load->store, id);
    else
        out->rc = load_frame(load, &info, &out->error);
    if (out->rc != VCM_OK)
        return;
    vcm_residency_count(load->store->residency, counters[out->kind], 1);
    vcm_residency_trace(load->store->residency, id, (uint32_t)info.bytes);
}

static int load_neighbour(void *context, const struct vcm_page_info *info, struct vcm_error *err)
{
    struct load *load = context;

    if (load->frames.len >= VCM_PAGE_CACHE_PENDING_BYTES)
        return VCM_STOP;
    return load_frame(load, info, err);
}

static int promote_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct load *load = context;
    int rc = VCM_OK;

    load->left_out = 0;
    for (unsigned i = 0; rc == VCM_OK && i < load->count; i++) {
        const struct loaded *page = &load->pages[i];
        struct vcm_page_info info;
        rc = vcm_page_store_page(&info, t->txn, &page->id, err);
        if (rc == VCM_OK)
            rc = vcm_transition_promote(t, &info,
                                        vcm_slice_of(load->frames.data + page->at, page->len), err);
        if (rc == VCM_NOT_FOUND || rc == VCM_NO_ROOM) {
            load->left_out++;
            rc = VCM_OK;
        }
    }
    return rc;
}

static void promote(struct load *load)
{
    struct vcm_error ignored = {0};

    if (load->count == 0)
        return;
    if (vcm_transition_run(load->store, promote_change, load, VCM_PAGE_CACHE_TIMEOUT_MS, NULL,
                           &ignored) != VCM_OK) {
        load->left_out = load->count;
        vcm_log_write(load->store->log, VCM_LOG_DEBUG, "faulted pages do not come in: %s",
                      ignored.message);
    }
    vcm_residency_count(load->store->residency, VCM_RESIDENCY_PRIVATE_ANSWERS, load->left_out);
}

void vcm_fault_load(struct vcm_fault_outcome *out, struct vcm_page_store *store,
                    const struct vcm_page_id *ids, unsigned count)
{
    struct load load = {.store = store};
    struct vcm_error err = {0}, ignored = {0};

    vcm_buf_init(&load.frames,
                 VCM_PAGE_CACHE_PENDING_BYTES +
                     (VCM_FAULT_JOB_PAGES + VCM_GROUP_PAGES_MAX) * VCM_LIMIT_FRAME_BYTES);
    int rc = vcm_rebuild_open(&load.rebuild, store, &err);
    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&load.txn, store, &err);
    for (unsigned i = 0; i < count; i++) {
        out[i] = (struct vcm_fault_outcome){.rc = rc, .error = err};
        if (rc != VCM_OK)
            continue;
        load_page(&out[i], &load, &ids[i]);
        if (out[i].rc == VCM_OK && out[i].kind == VCM_FAULT_MAJOR)
            vcm_group_each(load.txn, &ids[i], load_neighbour, &load, &ignored);
    }
    vcm_kv_read_end(load.txn);
    promote(&load);
    vcm_rebuild_close(load.rebuild);
    vcm_buf_release(&load.frames);
    free(load.pages);
}
