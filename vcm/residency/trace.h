/*
 * trace.h - traces of page accesses, and the hit ratio of each eviction policy on them.
 *
 * A trace is text, one line an access: milliseconds, page id, bytes, with blanks, tabs or a comma
 * between them. Empty lines and those that begin with # are skipped. For a page id any word of up
 * to 64 bytes will do, so that traces of other programs can be replayed; its size is that of its
 * first access. Times are checked and otherwise ignored: only the order matters. A replay uses
 * evict.h as the store does: a hit is a touch; a miss evicts until the page fits and inserts it; a
 * page larger than the capacity is a miss and evicts nothing. The optimum knows the future: it
 * drops the page whose next access is furthest away, the new one included, until the rest fits
 * (Belady). With pages of one size no policy hits more often. With unequal sizes the true optimum
 * is too expensive to compute: the result is then a strong reference, not a bound, and in bytes
 * even less so. A trace has one owner; replays of one trace may run at the same time.
 */
#ifndef VCM_VCM_RESIDENCY_TRACE_H
#define VCM_VCM_RESIDENCY_TRACE_H

#include "base/buf.h"
#include "base/cancel.h"
#include "vcm/residency/evict.h"
#include "vcm/page/page.h"

struct vcm_trace;

int vcm_trace_open(struct vcm_trace **out, struct vcm_error *err);
void vcm_trace_close(struct vcm_trace *trace);

/* Appends the accesses of a text. VCM_INVALID_ARGUMENT names the first bad line, counted from the
 * beginning of this text; VCM_UNSUPPORTED when there are too many. The accesses before it are kept.
 */
int vcm_trace_read(struct vcm_trace *trace, struct vcm_slice text, struct vcm_error *err);

/* Appends one access as a line that vcm_trace_read() reads. */
void vcm_trace_put(struct vcm_buf *out, uint64_t ms, const struct vcm_page_id *id, uint64_t bytes);

uint64_t vcm_trace_accesses(const struct vcm_trace *trace);

/* Different pages, and their bytes. */
uint64_t vcm_trace_pages(const struct vcm_trace *trace);
uint64_t vcm_trace_bytes(const struct vcm_trace *trace);

struct vcm_trace_result {
    uint64_t capacity;
    uint64_t accesses;
    uint64_t hits;
    uint64_t bytes; /* of all accesses */
    uint64_t hit_bytes;
    double hit_ratio;      /* 0 when there are no accesses */
    double byte_hit_ratio; /* likewise for bytes */
};

/* `capacity` in bytes. VCM_INTERRUPTED when `cancel`, which may be NULL, asks for it. */
int vcm_trace_replay(struct vcm_trace_result *out, const struct vcm_trace *trace,
                     enum vcm_evict_policy policy, uint64_t capacity,
                     const struct vcm_cancel *cancel, struct vcm_error *err);
int vcm_trace_optimum(struct vcm_trace_result *out, const struct vcm_trace *trace,
                      uint64_t capacity, const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
