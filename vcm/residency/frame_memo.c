#include "vcm/residency/frame_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#include "base/banned.h"

#define SETS       16384u
#define WAYS       4u /* of a set, which is two lines of the processor's cache */
#define CACHE_LINE ((size_t)64)

/* A place is the distance to the base in pages of the file, of which a frame has its own, and the
 * length. Distances may be negative. */
#define LEN_BITS   29
#define PAGE_BYTES 4096
#define MIDDLE     (INT64_C(1) << (63 - LEN_BITS))

_Static_assert(VCM_LIMIT_FRAME_BYTES >> LEN_BITS == 0, "a length fits");

/* Half a line. The page's whole id, for half of one can be forged. */
struct entry {
    struct vcm_page_id id;
    uint32_t epoch; /* in which it is relied upon, 0 for none */
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

/* 0 for one that does not fit. */
static uint64_t place_of(const struct vcm_frame_memo *memo, struct vcm_slice frame)
{
    ptrdiff_t distance = frame.data - memo->base;
    uint64_t pages = (uint64_t)(distance / PAGE_BYTES + MIDDLE);

    if (frame.len >> LEN_BITS != 0 || distance % PAGE_BYTES != 0 || pages >> (64 - LEN_BITS) != 0)
        return 0;
    return pages << LEN_BITS | frame.len;
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
    int64_t pages = (int64_t)(entry->place >> LEN_BITS) - MIDDLE;
    size_t len = (size_t)(entry->place & ((UINT64_C(1) << LEN_BITS) - 1));
    *out = vcm_slice_of(memo->base + pages * PAGE_BYTES, len);
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

/* Sets are made when there is something to keep. */
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
    if (++memo->epoch == 0) { /* all of them were used */
        forget_all(memo);
        memo->epoch = 1;
    }
}

/* That of the page, else a free one, else one after the other. */
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

    if (memo->map != map && !begin_map(memo, map, frame.data))
        return;
    if (reliable && (memo->epoch == 0 || memo->departures != departures))
        begin_epoch(memo, departures);
    uint64_t place = place_of(memo, frame);
    if (place != 0)
        *choose_entry(memo, id) = (struct entry){*id, reliable ? memo->epoch : 0, place};
}
