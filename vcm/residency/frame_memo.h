/*
 * frame_memo.h - where frames lay when they were found last, so that a page that is read again need
 * not be looked up again, nor its checksum verified.
 *
 * Frames do not move, and their bytes do not change: once in place they stay there until they are
 * freed, and who frees frames raises the number of departures (shm.h) before. So a place is
 * as good as new while that number, and the map (kv.h), are those that it was found with. After a
 * departure places are no longer relied upon; that a page was seen to be whole at a place stays
 * known, for it comes back there whole or not at all. With another map everything is forgotten.
 * It is a memo and no more: what does not fit is not kept, and without memory nothing is.
 * It does not keep a frame from being freed: who uses a place has a transaction or a slot first,
 * and asks for departures afterwards. One thread at a time.
 */
#ifndef VCM_VCM_RESIDENCY_FRAME_MEMO_H
#define VCM_VCM_RESIDENCY_FRAME_MEMO_H

#include "base/buf.h"
#include "vcm/page/page.h"

/* In the place of a number of departures, which is even while none is under way: a frame that is
 * whole, and may be freed already. */
#define VCM_FRAME_MEMO_UNRELIABLE UINT64_MAX

struct vcm_frame_memo {
    uint64_t departures; /* with which places are relied upon */
    uint64_t map;        /* that they lie in, 0 for none */
    uint32_t epoch;      /* how often the former changed */
    unsigned next;       /* whoever finds no room takes the place of another in turn */
    const char *base;    /* a frame of the map; places are told by their distance to it */
    struct vcm_frame_memo_set *sets;
    void *memory; /* that has the sets, from a full line of the processor's cache on */
};

void vcm_frame_memo_release(struct vcm_frame_memo *memo);

/* Begins to fetch what the other functions look at first. */
void vcm_frame_memo_prefetch(const struct vcm_frame_memo *memo, const struct vcm_page_id *id);

/* Where the frame lies if nobody has departed since `memo->departures`; false when that is not
 * known. */
bool vcm_frame_memo_find(struct vcm_slice *out, const struct vcm_frame_memo *memo,
                         const struct vcm_page_id *id);

/* Whether the page was whole at this place. */
bool vcm_frame_memo_is_whole(const struct vcm_frame_memo *memo, uint64_t map,
                             const struct vcm_page_id *id, struct vcm_slice frame);

/* Keeps the place of a frame that is whole and was found with these numbers. */
void vcm_frame_memo_note(struct vcm_frame_memo *memo, uint64_t departures, uint64_t map,
                         const struct vcm_page_id *id, struct vcm_slice frame);

#endif
