/*
 * kv_door.h - the way of one handle into one environment: table numbers, who is inside, and read
 * transactions that wait to be used again.
 *
 * Writers and others enter by being counted. Readers enter by taking a waiting transaction out of
 * its place and leave by putting it back. Two flags stop them: SHUT while
 * the map moves, when who enters has to wait; CLOSED for good when the handle has gone on to
 * another environment or ended, after which the last one out releases the environment. Whoever
 * enters looks at the flags afterwards, and whoever sets a flag looks for those inside afterwards,
 * so that one of them sees the other.
 * A door may be looked at as long as its handle is open, its environment only by those inside.
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

/* Of a read transaction: NULL, one that waits, or TAKEN while its user is inside. Each on a cache
 * line of its own. */
#define VCM_KV_DOOR_TAKEN ((struct vcm_kv_txn *)1)
struct vcm_kv_place {
    _Atomic(struct vcm_kv_txn *) txn;
    char unused[64 - sizeof(void *)];
};

struct vcm_kv_door {
    struct vcm_kv_door *next_of_handle;
    struct vcm_kv_door *next_of_env;
    struct vcm_kv_env *env;
    uint64_t generation;
    _Atomic uint64_t state;                /* how many are inside by count, and the flags */
    atomic_bool incomplete;                /* some tables were not in the file yet */
    atomic_uint handles[VCM_LIMIT_TABLES]; /* LMDB's numbers of the tables */
    struct vcm_kv_place places[VCM_KV_DOOR_PLACES];
};

/* Takes over the caller's reference to the environment, also when there is no memory: NULL. */
struct vcm_kv_door *vcm_kv_door_open(struct vcm_kv_env *env, uint64_t generation);
/* Nobody enters any more. */
void vcm_kv_door_close(struct vcm_kv_door *door);
/* When it is closed and everybody has left. */
void vcm_kv_door_free(struct vcm_kv_door *door);

/* False when it is closed. */
bool vcm_kv_door_enter(struct vcm_kv_door *door);
void vcm_kv_door_leave(struct vcm_kv_door *door);

/*
 * Enters by a place. `*txn` is the transaction that waited there, or NULL when one is to be made,
 * which then lives in the place. NULL when it is closed, or shut, or all places are taken: enter by
 * being counted then.
 */
static inline struct vcm_kv_place *vcm_kv_door_take(struct vcm_kv_txn **txn,
                                                    struct vcm_kv_door *door);

/* Leaves by it, with a transaction that waits, or NULL. */
static inline void vcm_kv_door_put(struct vcm_kv_door *door, struct vcm_kv_place *place,
                                   struct vcm_kv_txn *txn);

/* Whether those who set a flag make all threads of the process pass a memory barrier afterwards, so
 * that those who leave need none of their own, which would be the dearest part of a short read. */
extern bool vcm_kv_door_has_barrier;

/* After somebody has left while a flag was set. */
void vcm_kv_door_tell(struct vcm_kv_door *door);

/* Gives up the waiting transactions of all doors of the environment, and their reader slots. */
void vcm_kv_door_drop_idle(struct vcm_kv_env *env);

/* Holds everyone off and waits, not for ever, for those inside to leave and for holds to end.
 * True: nobody is inside until vcm_kv_door_open_all(). */
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
