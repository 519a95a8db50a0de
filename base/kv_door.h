/*
 * kv_door.h - the way of one handle into one environment: table numbers, a count of the threads
 * that are inside, and idle read transactions for reuse.
 *
 * Writers and others enter by being counted. Readers enter by taking an idle transaction out of its
 * place and leave by putting it back. Two flags stop them: SHUT while the map moves (a thread that
 * enters has to wait), and CLOSED for good when the handle has changed to another environment or
 * was closed (the last thread that leaves releases the environment). A thread enters first and then
 * reads the flags; a thread that sets a flag sets it first and then looks for threads inside. So at
 * least one of them sees the other.
 * A door may be read as long as its handle is open, its environment only by threads inside.
 *
 * An idle transaction has a reader slot of the store, and all processes share those. So a thread
 * ends all idle transactions of the process once a second. It exists from the first transaction
 * that may become idle until a look finds none: a process that does not read has neither slots nor
 * the thread. The first reads by a door leave no transaction behind, so that a command that reads a
 * few values needs no thread.
 */
#ifndef VCM_BASE_KV_DOOR_H
#define VCM_BASE_KV_DOOR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/kv_env.h"
#include "base/limits.h"

#define VCM_KV_DOOR_PLACES 8u
#define VCM_KV_DOOR_SHUT   (UINT64_C(1) << 62)
#define VCM_KV_DOOR_CLOSED (UINT64_C(1) << 63)

struct vcm_kv_txn;

/* A place for a read transaction: NULL, an idle transaction, or TAKEN while its user is inside.
 * Each has a cache line of its own. */
#define VCM_KV_DOOR_TAKEN ((struct vcm_kv_txn *)1)
struct vcm_kv_place {
    _Atomic(struct vcm_kv_txn *) txn;
    char unused[64 - sizeof(void *)];
};

struct vcm_kv_door {
    struct vcm_kv_door *next_of_handle;
    struct vcm_kv_door *next_of_env;
    struct vcm_kv_door *next_of_all;
    struct vcm_kv_env *env;
    uint64_t generation;
    _Atomic uint64_t state;                /* the number of counted threads inside, and the flags */
    atomic_bool incomplete;                /* some tables were not in the file yet */
    atomic_uint begun;                     /* reads without a place, up to a few */
    atomic_uint handles[VCM_LIMIT_TABLES]; /* LMDB's numbers of the tables */
    struct vcm_kv_place places[VCM_KV_DOOR_PLACES];
};

/* Takes over the caller's reference to the environment, also when it returns NULL for want of
 * memory. */
struct vcm_kv_door *vcm_kv_door_open(struct vcm_kv_env *env, uint64_t generation);
/* No thread can enter any more. */
void vcm_kv_door_close(struct vcm_kv_door *door);
/* When it is closed and no thread is inside. */
void vcm_kv_door_free(struct vcm_kv_door *door);

/* False when it is closed. */
bool vcm_kv_door_enter(struct vcm_kv_door *door);
void vcm_kv_door_leave(struct vcm_kv_door *door);

/*
 * Enters by a place. `*txn` is the idle transaction that was there, or NULL when the caller has to
 * begin one, which then belongs to the place. Returns NULL when the door is closed or shut, or all
 * places are taken: then the caller enters by being counted.
 */
static inline struct vcm_kv_place *vcm_kv_door_take(struct vcm_kv_txn **txn,
                                                    struct vcm_kv_door *door);

/* Leaves, and puts an idle transaction, or NULL, into the place. */
static inline void vcm_kv_door_put(struct vcm_kv_door *door, struct vcm_kv_place *place,
                                   struct vcm_kv_txn *txn);

/* Whether a thread that sets a flag makes all threads of the process execute a memory barrier
 * afterwards (membarrier(2)). Then a thread that leaves needs no barrier of its own, which would be
 * the most expensive part of a short read. */
extern bool vcm_kv_door_has_barrier;

/* Called after a thread has left while a flag was set. */
void vcm_kv_door_tell(struct vcm_kv_door *door);

/* Ends the idle transactions of all doors of the environment, which frees their reader slots. */
void vcm_kv_door_drop_idle(struct vcm_kv_env *env);

/* Called by a thread that took a place and begins a transaction there: makes sure that the thread
 * runs that ends it when it is idle. Without memory for a thread it stays until it is needed. */
void vcm_kv_door_expect_idle(void);
/* After a handle was closed: ends the thread, and waits for that, when no door is left. */
void vcm_kv_door_end_thread(void);

/* Around a fork, so that the child finds the lists whole. */
void vcm_kv_door_begin_fork(void);
void vcm_kv_door_end_fork(bool is_child);

/* Stops threads from entering and waits, for a limited time, until all threads have left and all
 * holds have ended. True: no thread is inside until vcm_kv_door_open_all(). */
bool vcm_kv_door_shut_all(struct vcm_kv_env *env);
void vcm_kv_door_open_all(struct vcm_kv_env *env);

/* Ends a hold. */
void vcm_kv_door_drop_hold(struct vcm_kv_env *env);

static inline bool vcm_kv_door_is_flagged(struct vcm_kv_door *door)
{
    return (atomic_load(&door->state) & (VCM_KV_DOOR_SHUT | VCM_KV_DOOR_CLOSED)) != 0;
}

static inline void vcm_kv_door_put(struct vcm_kv_door *door, struct vcm_kv_place *place,
                                   struct vcm_kv_txn *txn)
{
    if (vcm_kv_door_has_barrier)
        atomic_store_explicit(&place->txn, txn, memory_order_release);
    else
        atomic_exchange(&place->txn, txn);
    if (vcm_kv_door_is_flagged(door))
        vcm_kv_door_tell(door);
}

static inline struct vcm_kv_place *vcm_kv_door_take(struct vcm_kv_txn **txn,
                                                    struct vcm_kv_door *door)
{
    for (unsigned i = 0; i < VCM_KV_DOOR_PLACES; i++) {
        struct vcm_kv_place *place = &door->places[i];
        if (atomic_load_explicit(&place->txn, memory_order_relaxed) == VCM_KV_DOOR_TAKEN)
            continue;
        *txn = atomic_exchange(&place->txn, VCM_KV_DOOR_TAKEN);
        if (*txn == VCM_KV_DOOR_TAKEN)
            continue;
        if (!vcm_kv_door_is_flagged(door))
            return place;
        vcm_kv_door_put(door, place, *txn);
        return NULL;
    }
    return NULL;
}

#endif
