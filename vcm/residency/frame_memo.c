#include "vcm/residency/frame_memo.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#include "base/banned.h"

#define SETS       16384u
#define WAYS       4u /* entries of a set, which takes two cache lines */
#define CACHE_LINE ((size_t)64)

/* A place is the distance to the base, in pages of the file, and the length. A frame begins at a
 * page of the file. Distances may be negative. */
#define LEN_BITS   29
#define PAGE_BYTES 4096
#define MIDDLE     (INT64_C(1) << (63 - LEN_BITS))

_Static_assert(VCM_LIMIT_FRAME_BYTES >> LEN_BITS == 0, "a length fits");

/* Half a cache line. It has the whole id: an attacker could make two pages with equal halves. */
struct entry {
    struct vcm_page_id id;
    uint32_t epoch; /* in which the place is valid, 0 for none */
    uint64_t place; /* 0: free */
};

struct vcm_frame_memo_set {
    struct entry entries[WAYS];
};

_Static_assert(sizeof(struct vcm_frame_memo_set) == 2 * CACHE_LINE, "layout");

void vcm_frame_memo_release(struct vcm_frame_memo *memo)
{
    free(memo->memory);
    *memo = (struct vcm_frame_memo){.memory = NULL};
}

static struct vcm_frame_memo_set *set_of(const struct vcm_frame_memo *memo,
                                         const struct vcm_page_id *id)
{
    uint32_t number;

    memcpy(&number, id->bytes, sizeof number);
    return &memo->sets[number % SETS];
}

static struct entry *find_entry(const struct vcm_frame_memo *memo, const struct vcm_page_id *id)
{
    struct vcm_frame_memo_set *set = set_of(memo, id);

    for (unsigned i = 0; i < WAYS; i++)
        if (set->entries[i].place != 0 && memcmp(&set->entries[i].id, id, sizeof *id) == 0)
            return &set->entries[i];
    return NULL;
}

/* 0 for a frame whose place cannot be expressed. */
static uint64_t place_of(const struct vcm_frame_memo *memo, struct vcm_slice frame)
{
    ptrdiff_t distance = frame.data - memo->base;
    uint64_t pages = (uint64_t)(distance / PAGE_BYTES + MIDDLE);

    if (frame.len >> LEN_BITS != 0 || distance % PAGE_BYTES != 0 || pages >> (64 - LEN_BITS) != 0)
        return 0;
    return pages << LEN_BITS | frame.len;
}

static struct vcm_slice frame_at(const struct vcm_frame_memo *memo, uint64_t place)
{
    int64_t pages = (int64_t)(place >> LEN_BITS) - MIDDLE;
    size_t len = (size_t)(place & ((UINT64_C(1) << LEN_BITS) - 1));

    return vcm_slice_of(memo->base + pages * PAGE_BYTES, len);
}

void vcm_frame_memo_prefetch(const struct vcm_frame_memo *memo, const struct vcm_page_id *id)
{
    if (!memo->sets)
        return;
    const char *set = (const char *)set_of(memo, id);
    __builtin_prefetch(set, 1);
    __builtin_prefetch(set + CACHE_LINE, 1);
}

bool vcm_frame_memo_find(struct vcm_slice *out, const struct vcm_frame_memo *memo,
                         const struct vcm_page_id *id)
{
    const struct entry *entry = memo->sets ? find_entry(memo, id) : NULL;

    if (!entry || entry->epoch == 0 || entry->epoch != memo->epoch)
        return false;
    *out = frame_at(memo, entry->place);
    return true;
}

bool vcm_frame_memo_is_whole(const struct vcm_frame_memo *memo, uint64_t map,
                             const struct vcm_page_id *id, struct vcm_slice frame)
{
    const struct entry *entry = memo->sets && memo->map == map ? find_entry(memo, id) : NULL;

    return entry && entry->place == place_of(memo, frame);
}

static void forget_all(struct vcm_frame_memo *memo)
{
    memset(memo->sets, 0, SETS * sizeof *memo->sets);
}

/* The memory is allocated with the first place that is kept. */
static bool begin_map(struct vcm_frame_memo *memo, uint64_t map, const char *base)
{
    if (!memo->memory) {
        memo->memory = calloc(SETS + 1, sizeof *memo->sets);
        if (!memo->memory)
            return false;
        char *memory = memo->memory;
        memory += (CACHE_LINE - (uintptr_t)memory % CACHE_LINE) % CACHE_LINE;
        memo->sets = (struct vcm_frame_memo_set *)(void *)memory;
    } else {
        forget_all(memo);
    }
    memo->map = map;
    memo->base = base;
    return true;
}

static void begin_epoch(struct vcm_frame_memo *memo, uint64_t departures)
{
    memo->departures = departures;
    if (++memo->epoch == 0) { /* the counter wrapped around */
        forget_all(memo);
        memo->epoch = 1;
    }
}

/* The page's own entry, else a free one, else one that is replaced. */
static struct entry *choose_entry(struct vcm_frame_memo *memo, const struct vcm_page_id *id)
{
    struct vcm_frame_memo_set *set = set_of(memo, id);
    struct entry *entry = find_entry(memo, id);

    for (unsigned i = 0; i < WAYS && !entry; i++)
        if (set->entries[i].place == 0)
            entry = &set->entries[i];
    return entry ? entry : &set->entries[memo->next++ % WAYS];
}

void vcm_frame_memo_note(struct vcm_frame_memo *memo, uint64_t departures, uint64_t map,
                         const struct vcm_page_id *id, struct vcm_slice frame)
{
    bool reliable = departures % 2 == 0;

    assert(map != 0);
    if (memo->map != map && !begin_map(memo, map, frame.data))
        return;
    if (reliable && (memo->epoch == 0 || memo->departures != departures))
        begin_epoch(memo, departures);
    uint64_t place = place_of(memo, frame);
    assert(place == 0 || frame_at(memo, place).data == frame.data);
    if (place != 0)
        *choose_entry(memo, id) = (struct entry){*id, reliable ? memo->epoch : 0, place};
}
