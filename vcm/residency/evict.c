#include "vcm/residency/evict.h"

#include <assert.h>
#include <string.h>

#include "vcm/residency/evict_set.h"

#include "base/banned.h"

#define MAGIC         UINT64_C(0x31746369766d6376) /* "vcmvict1"; changes with the layout */
#define HEADER_BYTES  ((size_t)320)
#define CAPACITY_MAX  (UINT32_C(1) << 30)
#define HASH_MULTIPLY UINT64_C(0x9e3779b97f4a7c15)

_Static_assert(sizeof(struct vcm_evict_header) <= HEADER_BYTES, "the header fits");
_Static_assert(sizeof(struct vcm_evict_node) == 32, "two slots to a cache line");

static const struct vcm_evict_rules *const rules_table[VCM_EVICT_POLICY_END] = {
    [VCM_EVICT_SIEVE] = &vcm_evict_sieve_rules,
    [VCM_EVICT_S3FIFO] = &vcm_evict_s3fifo_rules,
    [VCM_EVICT_LRU] = &vcm_evict_lru_rules,
    [VCM_EVICT_LFU] = &vcm_evict_lfu_rules,
};

const struct vcm_evict_rules *vcm_evict_set_rules(uint32_t policy)
{
    return policy > 0 && policy < VCM_EVICT_POLICY_END ? rules_table[policy] : NULL;
}

const char *vcm_evict_policy_name(enum vcm_evict_policy policy)
{
    const struct vcm_evict_rules *rules = vcm_evict_set_rules(policy);

    return rules ? rules->name : NULL;
}

bool vcm_evict_policy_of(enum vcm_evict_policy *out, const char *name)
{
    for (enum vcm_evict_policy i = VCM_EVICT_SIEVE; i < VCM_EVICT_POLICY_END; i++)
        if (strcmp(rules_table[i]->name, name) == 0) {
            *out = i;
            return true;
        }
    return false;
}

/* One and a half times as many slots as pages: S3-FIFO remembers tags in the others. */
static uint64_t slots_of(uint64_t capacity)
{
    return capacity + capacity / 2;
}

static uint64_t buckets_of(uint64_t capacity)
{
    uint64_t wanted = slots_of(capacity) + slots_of(capacity) / 3 + 1;
    uint64_t buckets = 16;

    while (buckets < wanted)
        buckets *= 2;
    return buckets;
}

/* Header, slots, table, heap. */
size_t vcm_evict_bytes(uint32_t capacity)
{
    return HEADER_BYTES + slots_of(capacity) * sizeof(struct vcm_evict_node) +
           buckets_of(capacity) * sizeof(uint32_t) + capacity * sizeof(uint32_t);
}

static void lay_out(struct vcm_evict *out, void *memory, uint32_t capacity)
{
    char *at = memory;

    out->header = memory;
    out->capacity = capacity;
    out->slots = (uint32_t)slots_of(capacity);
    out->table_mask = (uint32_t)(buckets_of(capacity) - 1);
    at += HEADER_BYTES;
    out->nodes = (struct vcm_evict_node *)(void *)at;
    at += out->slots * sizeof(struct vcm_evict_node);
    out->table = (_Atomic uint32_t *)(void *)at;
    at += ((size_t)out->table_mask + 1) * sizeof(uint32_t);
    out->heap = (uint32_t *)(void *)at;
    assert((size_t)((char *)(out->heap + capacity) - (char *)memory) == vcm_evict_bytes(capacity));
    assert((out->table_mask & (out->table_mask + 1)) == 0 && out->table_mask >= out->slots);
}

static uint32_t capacity_that_fits(size_t bytes)
{
    uint32_t low = 0;
    uint32_t high = CAPACITY_MAX;

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (vcm_evict_bytes(middle) <= bytes)
            low = middle;
        else
            high = middle - 1;
    }
    assert(vcm_evict_bytes(low) <= bytes);
    return low;
}

void vcm_evict_init(struct vcm_evict *out, void *memory, size_t bytes, enum vcm_evict_policy policy)
{
    assert(bytes >= vcm_evict_bytes(0) && (uintptr_t)memory % 64 == 0);
    assert(vcm_evict_policy_name(policy));
    lay_out(out, memory, capacity_that_fits(bytes));
    memset(memory, 0, HEADER_BYTES);
    memset((void *)out->table, 0, ((size_t)out->table_mask + 1) * sizeof(uint32_t));
    struct vcm_evict_header *header = out->header;
    header->capacity = out->capacity;
    atomic_store(&header->policy, policy);
    header->hand = VCM_EVICT_NONE;
    header->candidate = VCM_EVICT_NONE;
    header->small_share = VCM_EVICT_SHARE_START;
    for (unsigned i = 0; i < VCM_EVICT_KINDS; i++) {
        header->queues[i].head = VCM_EVICT_NONE;
        header->queues[i].tail = VCM_EVICT_NONE;
    }
    header->magic = MAGIC;
}

bool vcm_evict_attach(struct vcm_evict *out, void *memory, size_t bytes)
{
    const struct vcm_evict_header *header = memory;

    memset(out, 0, sizeof *out);
    if (!memory || bytes < HEADER_BYTES || header->magic != MAGIC)
        return false;
    uint32_t capacity = header->capacity;
    if (capacity > CAPACITY_MAX || vcm_evict_bytes(capacity) > bytes)
        return false;
    lay_out(out, memory, capacity);
    return vcm_evict_policy_name(vcm_evict_policy(out)) != NULL;
}

enum vcm_evict_policy vcm_evict_policy(const struct vcm_evict *set)
{
    return (enum vcm_evict_policy)atomic_load_explicit(&set->header->policy, memory_order_relaxed);
}

/* The memory may have changed since vcm_evict_attach(). */
static const struct vcm_evict_rules *rules_of(const struct vcm_evict *set)
{
    const struct vcm_evict_rules *rules = vcm_evict_set_rules(vcm_evict_policy(set));

    if (rules)
        return rules;
    vcm_evict_set_damage(set);
    return rules_table[VCM_EVICT_DEFAULT];
}

uint32_t vcm_evict_count(const struct vcm_evict *set)
{
    return set->header->count;
}

bool vcm_evict_is_damaged(const struct vcm_evict *set)
{
    return atomic_load_explicit(&set->header->damaged, memory_order_relaxed) != 0;
}

/* Tags are hashes already, except in replays of traces, where they are numbers. */
static uint32_t home_of(const struct vcm_evict *set, uint64_t tag)
{
    return (uint32_t)((tag * HASH_MULTIPLY) >> 32) & set->table_mask;
}

uint32_t vcm_evict_set_find(uint32_t *bucket, const struct vcm_evict *set, uint64_t tag)
{
    uint32_t at = home_of(set, tag);

    for (uint64_t i = 0; i <= set->table_mask; i++, at = (at + 1) & set->table_mask) {
        uint32_t entry = atomic_load_explicit(&set->table[at], memory_order_acquire);
        if (entry == 0)
            break;
        if (entry - 1 < set->slots &&
            atomic_load_explicit(&set->nodes[entry - 1].tag, memory_order_relaxed) == tag) {
            *bucket = at;
            return entry - 1;
        }
    }
    return VCM_EVICT_NONE;
}

/* The slot's tag is written before: a reader that finds the entry finds the tag, too. */
static void table_add(struct vcm_evict *set, uint64_t tag, uint32_t index)
{
    uint32_t at = home_of(set, tag);

    for (uint64_t i = 0; i <= set->table_mask; i++, at = (at + 1) & set->table_mask)
        if (atomic_load_explicit(&set->table[at], memory_order_relaxed) == 0) {
            atomic_store_explicit(&set->table[at], index + 1, memory_order_release);
            return;
        }
    vcm_evict_set_damage(set);
}

/* Fills the gap with later entries that may be stored there, so that no search ends too early. */
static void table_remove(struct vcm_evict *set, uint32_t bucket)
{
    uint32_t gap = bucket;
    uint32_t at = bucket;

    for (uint64_t i = 0; i < set->table_mask; i++) {
        at = (at + 1) & set->table_mask;
        uint32_t entry = atomic_load_explicit(&set->table[at], memory_order_relaxed);
        if (entry == 0)
            break;
        const struct vcm_evict_node *node = vcm_evict_set_node(set, entry - 1);
        if (!node)
            break;
        uint32_t home = home_of(set, atomic_load_explicit(&node->tag, memory_order_relaxed));
        if (((at - home) & set->table_mask) < ((at - gap) & set->table_mask))
            continue;
        atomic_store_explicit(&set->table[gap], entry, memory_order_release);
        gap = at;
    }
    atomic_store_explicit(&set->table[gap], 0, memory_order_release);
}

bool vcm_evict_set_holds(enum vcm_evict_kind kind)
{
    return kind != VCM_EVICT_FREE && kind < VCM_EVICT_GHOST;
}

/* The slot of a page of the set. */
static struct vcm_evict_node *find_page(const struct vcm_evict *set, uint64_t tag, uint32_t *index)
{
    uint32_t bucket;

    *index = vcm_evict_set_find(&bucket, set, tag);
    if (*index == VCM_EVICT_NONE || !vcm_evict_set_holds(vcm_evict_set_kind(&set->nodes[*index])))
        return NULL;
    return &set->nodes[*index];
}

void vcm_evict_prefetch(const struct vcm_evict *set, uint64_t tag)
{
    __builtin_prefetch((const void *)&set->table[home_of(set, tag)]);
}

bool vcm_evict_touch(const struct vcm_evict *set, uint64_t tag)
{
    uint32_t index;
    struct vcm_evict_node *node = find_page(set, tag, &index);

    if (!node)
        return false;
    rules_of(set)->touch(set, node);
    return true;
}

/* Frees a slot that is in no place. */
static void release_slot(struct vcm_evict *set, uint32_t index)
{
    uint32_t bucket;
    uint64_t tag = atomic_load_explicit(&set->nodes[index].tag, memory_order_relaxed);

    if (vcm_evict_set_find(&bucket, set, tag) != index) {
        vcm_evict_set_damage(set);
        return;
    }
    table_remove(set, bucket);
    vcm_evict_set_push(set, index, VCM_EVICT_FREE);
}

static void forget_ghost(struct vcm_evict *set, uint32_t index)
{
    if (set->nodes[index].ghost_of == VCM_EVICT_MAIN)
        set->header->ghosts_of_main--;
    vcm_evict_set_unlink(set, index);
    if (!vcm_evict_is_damaged(set))
        release_slot(set, index);
}

static uint32_t take_slot(struct vcm_evict *set)
{
    struct vcm_evict_header *header = set->header;
    uint32_t index = vcm_evict_set_oldest(set, VCM_EVICT_FREE);

    if (index == VCM_EVICT_NONE && header->slots_used < set->slots)
        return header->slots_used++;
    if (index == VCM_EVICT_NONE) {
        uint32_t ghost = vcm_evict_set_oldest(set, VCM_EVICT_GHOST);
        if (ghost == VCM_EVICT_NONE)
            return VCM_EVICT_NONE;
        forget_ghost(set, ghost);
        index = vcm_evict_set_oldest(set, VCM_EVICT_FREE);
    }
    if (index != VCM_EVICT_NONE)
        vcm_evict_set_unlink(set, index);
    return vcm_evict_is_damaged(set) ? VCM_EVICT_NONE : index;
}

/* Makes a slot for the page, findable by its tag, that is in no place yet. */
static uint32_t make_slot(struct vcm_evict *set, uint64_t tag, uint64_t bytes)
{
    uint32_t index = take_slot(set);

    if (index == VCM_EVICT_NONE)
        return VCM_EVICT_NONE;
    struct vcm_evict_node *node = &set->nodes[index];
    atomic_store_explicit(&node->tag, tag, memory_order_relaxed);
    atomic_store_explicit(&node->mark, 0, memory_order_relaxed);
    atomic_store_explicit(&node->kind_bytes, 0, memory_order_relaxed);
    vcm_evict_set_resize(node, bytes);
    table_add(set, tag, index);
    return index;
}

static int outcome(const struct vcm_evict *set)
{
    return vcm_evict_is_damaged(set) ? VCM_STORE_CORRUPT : VCM_OK;
}

static void update(struct vcm_evict *set, struct vcm_evict_node *node, uint64_t bytes)
{
    struct vcm_evict_queue *queue = &set->header->queues[vcm_evict_set_kind(node)];

    queue->bytes -= vcm_evict_set_size(node);
    vcm_evict_set_resize(node, bytes);
    queue->bytes += vcm_evict_set_size(node);
}

int vcm_evict_insert(struct vcm_evict *set, uint64_t tag, uint64_t bytes,
                     enum vcm_evict_place place)
{
    const struct vcm_evict_rules *rules = rules_of(set);
    uint32_t bucket;

    assert(place == VCM_EVICT_HOT || place == VCM_EVICT_COLD);
    if (vcm_evict_is_damaged(set))
        return VCM_STORE_CORRUPT;
    uint32_t index = vcm_evict_set_find(&bucket, set, tag);
    if (index != VCM_EVICT_NONE && vcm_evict_set_holds(vcm_evict_set_kind(&set->nodes[index]))) {
        update(set, &set->nodes[index], bytes);
        if (place == VCM_EVICT_HOT)
            rules->touch(set, &set->nodes[index]);
        return outcome(set);
    }
    if (set->header->count >= set->capacity)
        return VCM_STORE_FULL;
    bool returned = false;
    if (index != VCM_EVICT_NONE) {
        returned = place == VCM_EVICT_HOT && rules->recall &&
                   rules->recall(set, &set->nodes[index], bytes);
        forget_ghost(set, index);
    }
    index = make_slot(set, tag, bytes);
    if (index == VCM_EVICT_NONE || vcm_evict_is_damaged(set)) {
        vcm_evict_set_damage(set);
        return VCM_STORE_CORRUPT;
    }
    set->header->count++;
    if (place == VCM_EVICT_COLD)
        vcm_evict_set_push(set, index, VCM_EVICT_BULK);
    else
        rules->enter(set, index, returned);
    return outcome(set);
}

/* Removes a slot from its place. */
static void take_out(struct vcm_evict *set, uint32_t index)
{
    enum vcm_evict_kind kind = vcm_evict_set_kind(&set->nodes[index]);

    if (set->header->candidate == index)
        set->header->candidate = VCM_EVICT_NONE;
    if (kind == VCM_EVICT_BULK || kind == VCM_EVICT_SPARED)
        vcm_evict_set_unlink(set, index);
    else
        rules_of(set)->leave(set, index);
}

/* Turns the slot of an evicted page into a ghost. There are at most as many ghosts as pages: older
 * ones are forgotten. */
static void remember(struct vcm_evict *set, uint32_t index, enum vcm_evict_kind kind)
{
    struct vcm_evict_header *header = set->header;

    set->nodes[index].ghost_of = kind;
    if (kind == VCM_EVICT_MAIN)
        header->ghosts_of_main++;
    vcm_evict_set_push(set, index, VCM_EVICT_GHOST);
    while (header->queues[VCM_EVICT_GHOST].count > header->count && !vcm_evict_is_damaged(set)) {
        uint32_t oldest = vcm_evict_set_oldest(set, VCM_EVICT_GHOST);
        if (oldest == VCM_EVICT_NONE)
            vcm_evict_set_damage(set);
        else
            forget_ghost(set, oldest);
    }
}

void vcm_evict_remove(struct vcm_evict *set, uint64_t tag)
{
    uint32_t index;
    struct vcm_evict_node *node = find_page(set, tag, &index);

    if (!node || vcm_evict_is_damaged(set))
        return;
    bool evicted = set->header->candidate == index;
    enum vcm_evict_kind kind = vcm_evict_set_kind(node);
    take_out(set, index);
    if (vcm_evict_is_damaged(set))
        return;
    if (evicted && kind != VCM_EVICT_BULK && rules_of(set)->recall)
        remember(set, index, kind);
    else
        release_slot(set, index);
    set->header->count--;
}

/* The oldest cold page that was not used; cold pages that were used are moved to the policy's
 * order, as new ones. */
static uint32_t choose_bulk(struct vcm_evict *set)
{
    while (!vcm_evict_is_damaged(set)) {
        uint32_t index = vcm_evict_set_oldest(set, VCM_EVICT_BULK);
        if (index == VCM_EVICT_NONE)
            return VCM_EVICT_NONE;
        if (atomic_load_explicit(&set->nodes[index].mark, memory_order_relaxed) == 0)
            return index;
        vcm_evict_set_unlink(set, index);
        if (!vcm_evict_is_damaged(set))
            rules_of(set)->enter(set, index, false);
    }
    return VCM_EVICT_NONE;
}

bool vcm_evict_next(struct vcm_evict *set, uint64_t *tag)
{
    uint32_t index = choose_bulk(set);

    if (index == VCM_EVICT_NONE && !vcm_evict_is_damaged(set))
        index = rules_of(set)->choose(set);
    if (vcm_evict_is_damaged(set))
        index = VCM_EVICT_NONE;
    set->header->candidate = index;
    if (index == VCM_EVICT_NONE)
        return false;
    *tag = atomic_load_explicit(&set->nodes[index].tag, memory_order_relaxed);
    return true;
}

void vcm_evict_spare(struct vcm_evict *set, uint64_t tag)
{
    uint32_t index;

    if (!find_page(set, tag, &index) || vcm_evict_is_damaged(set))
        return;
    take_out(set, index);
    if (!vcm_evict_is_damaged(set))
        vcm_evict_set_push(set, index, VCM_EVICT_SPARED);
}

void vcm_evict_settle(struct vcm_evict *set)
{
    const struct vcm_evict_rules *rules = rules_of(set);

    while (!vcm_evict_is_damaged(set)) {
        uint32_t index = vcm_evict_set_oldest(set, VCM_EVICT_SPARED);
        if (index == VCM_EVICT_NONE)
            return;
        vcm_evict_set_unlink(set, index);
        if (vcm_evict_is_damaged(set))
            return;
        rules->touch(set, &set->nodes[index]);
        rules->enter(set, index, false);
    }
}

/* Copies a slot into the place of its kind. */
static int copy_slot(struct vcm_evict *to, const struct vcm_evict *from, uint32_t index)
{
    const struct vcm_evict_node *node = &from->nodes[index];
    enum vcm_evict_kind kind = vcm_evict_set_kind(node);
    uint64_t tag = atomic_load_explicit(&node->tag, memory_order_relaxed);
    uint64_t mark = atomic_load_explicit(&node->mark, memory_order_relaxed);
    bool in_set = vcm_evict_set_holds(kind);
    uint32_t bucket;

    if (in_set ? to->header->count >= to->capacity : to->header->slots_used >= to->slots)
        return in_set ? VCM_STORE_FULL : VCM_OK;
    if (vcm_evict_set_find(&bucket, to, tag) != VCM_EVICT_NONE)
        return VCM_STORE_CORRUPT;
    uint32_t made = make_slot(to, tag, vcm_evict_set_size(node));
    if (made == VCM_EVICT_NONE)
        return VCM_STORE_CORRUPT;
    atomic_store_explicit(&to->nodes[made].mark, mark, memory_order_relaxed);
    to->header->count += in_set;
    if (kind == VCM_EVICT_GHOST) {
        to->nodes[made].ghost_of = node->ghost_of;
        to->header->ghosts_of_main += node->ghost_of == VCM_EVICT_MAIN;
    }
    if (from->header->hand == index)
        to->header->hand = made;
    if (kind == VCM_EVICT_MAIN && rules_of(to)->uses_heap) {
        to->nodes[made].known_key = mark;
        vcm_evict_heap_push(to, made);
    } else {
        vcm_evict_set_push(to, made, kind);
    }
    return outcome(to);
}

static int copy_queue(struct vcm_evict *to, const struct vcm_evict *from, enum vcm_evict_kind kind)
{
    uint32_t index = vcm_evict_set_oldest(from, kind);

    for (uint32_t i = 0; i < from->slots && index != VCM_EVICT_NONE; i++) {
        const struct vcm_evict_node *node = vcm_evict_set_node(from, index);
        if (!node || vcm_evict_set_kind(node) != kind)
            return VCM_STORE_CORRUPT;
        int rc = copy_slot(to, from, index);
        if (rc != VCM_OK)
            return rc;
        index = node->link.newer;
    }
    return outcome(from);
}

static int copy_heap(struct vcm_evict *to, const struct vcm_evict *from)
{
    uint32_t len = from->header->heap_len;

    if (len > from->capacity)
        return VCM_STORE_CORRUPT;
    for (uint32_t i = 0; i < len; i++) {
        const struct vcm_evict_node *node = vcm_evict_set_node(from, from->heap[i]);
        if (!node || vcm_evict_set_kind(node) != VCM_EVICT_MAIN)
            return VCM_STORE_CORRUPT;
        int rc = copy_slot(to, from, from->heap[i]);
        if (rc != VCM_OK)
            return rc;
    }
    return VCM_OK;
}

/* Ghosts are copied last, into the slots that are left. */
static int copy_as_is(struct vcm_evict *to, const struct vcm_evict *from)
{
    int rc = VCM_OK;

    atomic_store(&to->header->clock, atomic_load(&from->header->clock));
    to->header->small_share = from->header->small_share;
    for (enum vcm_evict_kind kind = VCM_EVICT_BULK; rc == VCM_OK && kind < VCM_EVICT_KINDS; kind++)
        rc = kind == VCM_EVICT_MAIN && rules_of(from)->uses_heap ? copy_heap(to, from)
                                                                 : copy_queue(to, from, kind);
    return rc;
}

/* Moves the pages in the order in which they would be evicted. */
static int move_all(struct vcm_evict *to, struct vcm_evict *from)
{
    uint64_t tag;
    uint32_t index;

    vcm_evict_settle(from);
    while (vcm_evict_next(from, &tag)) {
        struct vcm_evict_node *node = find_page(from, tag, &index);
        if (!node || from->header->candidate != index)
            return VCM_STORE_CORRUPT;
        bool bulk = vcm_evict_set_kind(node) == VCM_EVICT_BULK;
        int rc = vcm_evict_insert(to, tag, vcm_evict_set_size(node),
                                  bulk ? VCM_EVICT_COLD : VCM_EVICT_HOT);
        if (rc != VCM_OK)
            return rc;
        vcm_evict_remove(from, tag);
    }
    return outcome(from);
}

int vcm_evict_copy(struct vcm_evict *to, struct vcm_evict *from)
{
    assert(to->header != from->header && to->header->count == 0);
    if (vcm_evict_is_damaged(from))
        return VCM_STORE_CORRUPT;
    if (vcm_evict_policy(to) == vcm_evict_policy(from))
        return copy_as_is(to, from);
    return move_all(to, from);
}
