#include "vcm/residency/transition_sets.h"

#include <assert.h>

#include "base/limits.h"

#include "base/banned.h"

#define SET_PAGES_MIN 1024u
#define SET_PAGES_MAX (1u << 30)

uint64_t vcm_transition_sets_tag(const struct vcm_page_id *id)
{
    return vcm_wire_load_be64(id->bytes);
}

/* Compressed pages are evicted in the order of insertion: a read promotes them instead of marking
 * them. */
static enum vcm_evict_policy policy_of(const struct vcm_transition *t, unsigned which)
{
    if (which == VCM_SET_COMPRESSED)
        return VCM_EVICT_SIEVE;
    return t->limits.policy != 0 ? (enum vcm_evict_policy)t->limits.policy : VCM_EVICT_DEFAULT;
}

/* Makes an empty set for at least `pages` pages. `in_place` reuses the memory of the old set, whose
 * content is lost: a reader that is touching it may then mark a wrong page, which is harmless. */
static int make_set(struct vcm_transition *t, unsigned which, uint64_t pages, bool in_place,
                    struct vcm_error *err)
{
    uint32_t capacity = SET_PAGES_MIN;
    size_t bytes = 0;

    while (capacity < pages && capacity < SET_PAGES_MAX)
        capacity *= 2;
    void *memory = vcm_shm_evict_memory(&bytes, t->store->shm, which);
    if (!memory || bytes < vcm_evict_bytes(capacity) || !in_place) {
        int rc = vcm_shm_evict_resize(t->store->shm, which, vcm_evict_bytes(capacity), err);
        if (rc != VCM_OK)
            return rc;
        memory = vcm_shm_evict_memory(&bytes, t->store->shm, which);
    }
    assert(memory && bytes >= vcm_evict_bytes(capacity));
    vcm_evict_init(&t->sets[which], memory, bytes, policy_of(t, which));
    return VCM_OK;
}

static int move_set(struct vcm_transition *t, unsigned which, uint64_t pages, struct vcm_error *err)
{
    struct vcm_evict old = t->sets[which];

    int rc = make_set(t, which, pages, false, err);
    if (rc == VCM_OK && vcm_evict_copy(&t->sets[which], &old) != VCM_OK)
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "an eviction set is damaged");
    return rc;
}

/* The store works without its sets, but no victim can be chosen; the next writer rebuilds them. */
static void give_up(struct vcm_transition *t, const struct vcm_error *cause)
{
    vcm_log_write(t->store->log, VCM_LOG_WARNING, "pages cannot be evicted for now: %s",
                  cause->message[0] ? cause->message : "the eviction sets are damaged");
    t->sets_usable = false;
    t->sets_changed = true;
}

void vcm_transition_sets_insert(struct vcm_transition *t, enum vcm_transition_set which,
                                const struct vcm_page_info *info, enum vcm_evict_place place)
{
    struct vcm_evict *set = &t->sets[which];
    uint64_t tag = vcm_transition_sets_tag(&info->id);
    struct vcm_error err = {0};

    if (!t->sets_usable)
        return;
    t->sets_changed = true;
    int rc = vcm_evict_insert(set, tag, info->bytes, place);
    if (rc == VCM_STORE_FULL) {
        rc = move_set(t, which, 2 * (uint64_t)set->capacity, &err);
        if (rc == VCM_OK)
            rc = vcm_evict_insert(set, tag, info->bytes, place);
    }
    if (rc != VCM_OK)
        give_up(t, &err);
}

void vcm_transition_sets_remove(struct vcm_transition *t, enum vcm_transition_set which,
                                const struct vcm_page_info *info)
{
    if (!t->sets_usable)
        return;
    t->sets_changed = true;
    vcm_evict_remove(&t->sets[which], vcm_transition_sets_tag(&info->id));
}

static int insert_page(void *context, struct vcm_slice key, struct vcm_slice value,
                       struct vcm_error *err)
{
    struct vcm_transition *t = context;
    struct vcm_page_info info;
    struct vcm_page_id id;

    (void)value;
    if (key.len != sizeof id.bytes)
        return vcm_table_malformed("a page id", err);
    memcpy(id.bytes, key.data, sizeof id.bytes);
    int rc = vcm_page_store_page(&info, t->txn, &id, err);
    if (rc != VCM_OK || vcm_page_store_is_kept(&info))
        return rc;
    if (info.state == VCM_PAGE_RESIDENT)
        vcm_transition_sets_insert(t, VCM_SET_RESIDENT, &info, VCM_EVICT_COLD);
    if (info.state == VCM_PAGE_COMPRESSED)
        vcm_transition_sets_insert(t, VCM_SET_COMPRESSED, &info, VCM_EVICT_COLD);
    return rc;
}

static int rebuild(struct vcm_transition *t, struct vcm_error *err)
{
    struct vcm_slice all = vcm_slice_of("", 0);
    struct vcm_error cause = {0};

    t->sets_usable = make_set(t, VCM_SET_RESIDENT, t->totals.resident, true, &cause) == VCM_OK &&
                     make_set(t, VCM_SET_COMPRESSED, t->totals.compressed, true, &cause) == VCM_OK;
    t->sets_changed = true;
    if (!t->sets_usable) {
        give_up(t, &cause);
        return VCM_OK;
    }
    return vcm_table_each(t->txn, VCM_TABLE_PAGES, all, all, insert_page, t, err);
}

static bool attach(struct vcm_transition *t, unsigned which)
{
    size_t bytes = 0;
    void *memory = vcm_shm_evict_memory(&bytes, t->store->shm, which);

    return memory && vcm_evict_attach(&t->sets[which], memory, bytes) &&
           !vcm_evict_is_damaged(&t->sets[which]);
}

int vcm_transition_sets_open(struct vcm_transition *t, bool must_rebuild, struct vcm_error *err)
{
    struct vcm_error cause = {0};

    t->sets_usable = true;
    if (must_rebuild || !attach(t, VCM_SET_RESIDENT) || !attach(t, VCM_SET_COMPRESSED))
        return rebuild(t, err);
    struct vcm_evict *set = &t->sets[VCM_SET_RESIDENT];
    if (vcm_evict_policy(set) != policy_of(t, VCM_SET_RESIDENT)) {
        t->sets_changed = true;
        if (move_set(t, VCM_SET_RESIDENT, set->capacity, &cause) != VCM_OK)
            return rebuild(t, err);
    }
    return VCM_OK;
}
