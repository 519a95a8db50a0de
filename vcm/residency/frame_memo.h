/*
 * frame_memo.h - the places where frames were found last. A page that is read again need not be
 * looked up again, nor its checksum verified.
 *
 * Frames do not move and their bytes do not change until they are freed, and a writer raises the
 * number of departures (shm.h) before it frees frames. So a place is valid while that number and
 * the map (kv.h) are those with which it was found. After a departure the memo no longer relies on
 * its places. It still knows that a page was whole at a place: if the page is found at the same
 * place again, its checksum need not be verified again. With another map everything is forgotten.
 * A memo may lose entries: what does not fit is not kept, and without memory nothing is kept.
 * A memo does not prevent that a frame is freed: its user holds a transaction or a slot first, and
 * reads the number of departures afterwards. One thread at a time.
 */
#ifndef VCM_VCM_RESIDENCY_FRAME_MEMO_H
#define VCM_VCM_RESIDENCY_FRAME_MEMO_H

#include "base/buf.h"
#include "vcm/page/page.h"

/* Given instead of a number of departures (it is odd, as during a departure): the frame is whole,
 * but may be freed already. */
#define VCM_FRAME_MEMO_UNRELIABLE UINT64_MAX

struct vcm_frame_memo {
    uint64_t departures; /* places of this epoch are valid while the number is this one */
    uint64_t map;        /* number of the map, 0 for none */
    uint32_t epoch;      /* how often `departures` changed */
    unsigned next;       /* which entry of a full set is replaced next, in turn */
    const char *base;    /* a frame of the map; places are distances to it */
    struct vcm_frame_memo_set *sets; /* in `memory`, aligned to a cache line */
    void *memory;
};

void vcm_frame_memo_release(struct vcm_frame_memo *memo);

/* Prefetches the cache lines that the other functions read first. */
void vcm_frame_memo_prefetch(const struct vcm_frame_memo *memo, const struct vcm_page_id *id);

/* The frame, valid if the number of departures is still `memo->departures`; false when the memo has
 * no such place. */
bool vcm_frame_memo_find(struct vcm_slice *out, const struct vcm_frame_memo *memo,
                         const struct vcm_page_id *id);

/* Whether the page was found whole at this place before. */
bool vcm_frame_memo_is_whole(const struct vcm_frame_memo *memo, uint64_t map,
                             const struct vcm_page_id *id, struct vcm_slice frame);

/* Keeps the place of a frame whose checksum was verified and that was found with these numbers. */
void vcm_frame_memo_note(struct vcm_frame_memo *memo, uint64_t departures, uint64_t map,
                         const struct vcm_page_id *id, struct vcm_slice frame);

#endif
