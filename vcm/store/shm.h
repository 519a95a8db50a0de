/*
 * shm.h - what all processes of a home share about its pages without taking a lock: counters,
 * the memory of the eviction sets, views, departures and the trace of accesses.
 *
 * It is one mapped file, `residency`, changed with atomics. It knows nothing of how a victim is
 * chosen (evict.h works in the memory that this module gives out) nor of the store's tables.
 * The file survives processes and may be lost while nobody uses the home; whoever is alone with it
 * and finds something else in its place begins it anew. Nothing in it is trusted: no content of
 * the file crashes a reader.
 * Where no such file can be had (a home without write permission, a full disk) everything works on
 * private memory and vcm_shm_is_shared() is false. Such a process sees nobody's views, so
 * it must not free a frame, and nobody sees its own, so it is given none.
 * Any thread may use a handle; "the writer" is whoever holds the store's writer lock. A forked
 * child opens its own.
 * Bytes of the file: docs/FORMAT.md.
 */
#ifndef VCM_VCM_STORE_SHM_H
#define VCM_VCM_STORE_SHM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "vcm/page/page.h"

#define VCM_SHM_SETS 2u /* eviction sets: of resident pages, of compressed ones */

struct vcm_shm;

enum vcm_shm_counter {
    VCM_SHM_HITS,
    VCM_SHM_MINOR_FAULTS,
    VCM_SHM_MAJOR_FAULTS,
    VCM_SHM_EVICTIONS,
    VCM_SHM_PRIVATE_ANSWERS, /* faults whose page stayed where it was */
    VCM_SHM_COUNTERS
};

/* Fails only without memory. */
int vcm_shm_open(struct vcm_shm **out, const char *directory, struct vcm_error *err);
void vcm_shm_close(struct vcm_shm *shm);

bool vcm_shm_is_shared(const struct vcm_shm *shm);

/* A home that may be read but not written counts in private and shows what others counted. */
void vcm_shm_count(struct vcm_shm *shm, enum vcm_shm_counter which, uint64_t by);
uint64_t vcm_shm_counter(const struct vcm_shm *shm, enum vcm_shm_counter which);

/*
 * The memory of an eviction set, at a page boundary; NULL and 0 bytes before the first resize. It
 * holds anything: whoever uses it checks it. Cheap enough for every read. The address stays valid
 * until the handle is closed, but after a resize by any process it is no longer the set's: ask
 * again each time.
 */
void *vcm_shm_evict_memory(size_t *bytes, struct vcm_shm *shm, unsigned which);

/* Writer only. Gives the set new memory of at least so many bytes, all zero; the old one can be
 * read until the handle is closed. The file does not shrink: grow by doubling. STORE_FULL when the
 * disk has no room for it. */
int vcm_shm_evict_resize(struct vcm_shm *shm, unsigned which, size_t bytes, struct vcm_error *err);

/*
 * Writer only. Changes of the sets stand between write_begin() and write_end(), the commit of the
 * store among them; a writer that dies or fails in between leaves sets that must be rebuilt, as are
 * those of a new file, of another boot of the machine, and those that were left with another stamp.
 * The stamp names the content that the sets belong to; the store keeps one of its own.
 */
bool vcm_shm_needs_rebuild(const struct vcm_shm *shm, uint64_t stamp);
void vcm_shm_write_begin(struct vcm_shm *shm);
void vcm_shm_write_end(struct vcm_shm *shm, uint64_t stamp);

/* Writer only: the capacity of the store, for those who hold no lock to go by. */
void vcm_shm_set_capacity(struct vcm_shm *shm, uint64_t capacity);
/* `unknown` until a writer has set it. */
uint64_t vcm_shm_capacity(const struct vcm_shm *shm, uint64_t unknown);

/*
 * A view's slot protects the page's frame. The reader: asks departures(), and copies when it is
 * odd; begins a read transaction, finds the frame, takes a slot, asks departures() again, and drops
 * the slot and tries anew when it is another number. Who frees frames, with the writer lock:
 * depart_begin(), spares the pages that are viewed(), commits, depart_end(). The number is never
 * the same again after a frame was freed, so the reader may have found the frame long ago.
 * STORE_BUSY when all slots are taken or views would have more than `bytes_max` bytes in all;
 * UNSUPPORTED on private memory.
 */
int vcm_shm_view_take(unsigned *slot, struct vcm_shm *shm, const struct vcm_page_id *id,
                      uint64_t bytes, uint64_t bytes_max, struct vcm_error *err);
void vcm_shm_view_drop(struct vcm_shm *shm, unsigned slot);

/* Whether a living process views the page. Slots of dead ones are cleared on the way. */
bool vcm_shm_viewed(struct vcm_shm *shm, const struct vcm_page_id *id);

/* Views of living processes, and their bytes. */
void vcm_shm_views(unsigned *count, uint64_t *bytes, struct vcm_shm *shm);

uint64_t vcm_shm_departures(const struct vcm_shm *shm);
void vcm_shm_depart_begin(struct vcm_shm *shm);
void vcm_shm_depart_end(struct vcm_shm *shm);

/* One access to a page; costs next to nothing while nobody records. */
struct vcm_shm_access {
    uint64_t ms; /* on the clock of vcm_clock_ms(), the same for all processes */
    struct vcm_page_id id;
    uint32_t bytes;
};
void vcm_shm_trace(struct vcm_shm *shm, const struct vcm_page_id *id, uint32_t bytes);

/*
 * Recording is for one process at a time: STORE_BUSY while another that lives does it. The ring is
 * of limited size, so read() is called often: it appends at most `max` accesses in their order,
 * returns how many, and adds to `*lost` those that were overwritten before.
 */
int vcm_shm_trace_start(uint64_t *cursor, struct vcm_shm *shm, struct vcm_error *err);
unsigned vcm_shm_trace_read(struct vcm_shm_access *out, unsigned max, uint64_t *lost,
                            uint64_t *cursor, struct vcm_shm *shm);
void vcm_shm_trace_stop(struct vcm_shm *shm);

#endif
