/*
 * shm.h - what all processes of a home share about its pages without taking a lock: counters,
 * the memory of the eviction sets, views, departures and the trace of accesses.
 *
 * It is one mapped file, `residency`, changed with atomics. This module does not choose victims
 * (evict.h works in the memory that it provides) and does not know the store's tables.
 * The file survives processes, and may be deleted while no process uses the home. A process that is
 * alone with the file and finds another content clears it. The content is never trusted: no
 * content of the file crashes a reader.
 * When the file cannot be used (a home without write permission, a full disk) everything works on
 * private memory and vcm_shm_is_shared() is false. Such a process does not see the views of others,
 * so it must not free a frame; others would not see its views, so it gets none.
 * Any thread may use a handle; "the writer" is the process that holds the store's writer lock. A
 * forked child opens its own handle.
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
    VCM_SHM_PRIVATE_ANSWERS, /* faults whose page was not promoted */
    VCM_SHM_COUNTERS
};

/* Fails only without memory. */
int vcm_shm_open(struct vcm_shm **out, const char *directory, struct vcm_error *err);
void vcm_shm_close(struct vcm_shm *shm);

bool vcm_shm_is_shared(const struct vcm_shm *shm);

/* In a home that may be read but not written, counts go to private memory, and reading a counter
 * gives the value in the file. */
void vcm_shm_count(struct vcm_shm *shm, enum vcm_shm_counter which, uint64_t by);
uint64_t vcm_shm_counter(const struct vcm_shm *shm, enum vcm_shm_counter which);

/*
 * The memory of an eviction set, at a page boundary; NULL and 0 bytes before the first resize. Its
 * content may be anything: the user checks it. Cheap enough for every read. The address stays valid
 * until the handle is closed, but after a resize by any process the set is elsewhere: call this
 * again each time.
 */
void *vcm_shm_evict_memory(size_t *bytes, struct vcm_shm *shm, unsigned which);

/* Writer only. Gives the set new memory of at least `bytes` bytes, all zero; the old memory can be
 * read until the handle is closed. The file does not shrink: grow by doubling. STORE_FULL when the
 * disk is full. */
int vcm_shm_evict_resize(struct vcm_shm *shm, unsigned which, size_t bytes, struct vcm_error *err);

/*
 * Writer only. All changes of the sets, and the commit of the store, happen between write_begin()
 * and write_end(). A writer that dies or fails in between leaves sets that must be rebuilt. So must
 * those of a new file, of an earlier boot of the machine, and those with another stamp. The stamp
 * names the state of the store that the sets belong to; the store has a stamp of its own.
 */
bool vcm_shm_needs_rebuild(const struct vcm_shm *shm, uint64_t stamp);
void vcm_shm_write_begin(struct vcm_shm *shm);
void vcm_shm_write_end(struct vcm_shm *shm, uint64_t stamp);

/* Writer only: publishes the capacity of the store, for readers that hold no lock. */
void vcm_shm_set_capacity(struct vcm_shm *shm, uint64_t capacity);
/* `unknown` until a writer has set it. */
uint64_t vcm_shm_capacity(const struct vcm_shm *shm, uint64_t unknown);

/*
 * A view's slot protects the page's frame. The reader reads departures(), and copies the frame if
 * the number is odd. It begins a read transaction, finds the frame, takes a slot, reads
 * departures() again, and if the number changed drops the slot and tries again. The writer, before
 * it frees frames: depart_begin(), skips the pages that are viewed(), commits, depart_end(). The
 * number never returns to an earlier value, so the reader may have found the frame long ago. view.c
 * says why this is safe. STORE_BUSY when all slots are taken or all views together would exceed
 * `bytes_max` bytes; UNSUPPORTED on private memory.
 */
int vcm_shm_view_take(unsigned *slot, struct vcm_shm *shm, const struct vcm_page_id *id,
                      uint64_t bytes, uint64_t bytes_max, struct vcm_error *err);
void vcm_shm_view_drop(struct vcm_shm *shm, unsigned slot);

/* Whether a living process views the page. Frees the slots of dead processes that it meets. */
bool vcm_shm_viewed(struct vcm_shm *shm, const struct vcm_page_id *id);

/* The number of views of living processes, and their bytes. */
void vcm_shm_views(unsigned *count, uint64_t *bytes, struct vcm_shm *shm);

/* Even, or odd while a writer frees frames. */
uint64_t vcm_shm_departures(const struct vcm_shm *shm);
void vcm_shm_depart_begin(struct vcm_shm *shm);
void vcm_shm_depart_end(struct vcm_shm *shm);

/* One access to a page. vcm_shm_trace() costs one load while no process records. */
struct vcm_shm_access {
    uint64_t ms; /* on the clock of vcm_clock_ms(), the same for all processes */
    struct vcm_page_id id;
    uint32_t bytes;
};
void vcm_shm_trace(struct vcm_shm *shm, const struct vcm_page_id *id, uint32_t bytes);

/*
 * One process records at a time: STORE_BUSY while another living one does. The ring has a limited
 * size, so read() must be called often: it writes at most `max` accesses in their order, returns
 * how many, and adds to `*lost` those that were overwritten before it read them.
 */
int vcm_shm_trace_start(uint64_t *cursor, struct vcm_shm *shm, struct vcm_error *err);
unsigned vcm_shm_trace_read(struct vcm_shm_access *out, unsigned max, uint64_t *lost,
                            uint64_t *cursor, struct vcm_shm *shm);
void vcm_shm_trace_stop(struct vcm_shm *shm);

#endif
