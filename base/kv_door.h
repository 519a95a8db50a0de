/*
 * kv_door.h - the way of one handle into one environment: table numbers, read transactions that
 * wait to be used again, and a count of those inside.
 *
 * Entering and leaving is one atomic addition each. The count shares a word with two flags: SHUT
 * while the map moves, when who enters has to wait; CLOSED for good when the handle has gone on to
 * another environment or ended, after which the last one out releases the environment. So a door
 * may be looked at as long as its handle is open, its environment only by those inside.
 */
#ifndef VCM_BASE_KV_DOOR_H
#define VCM_BASE_KV_DOOR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/kv_env.h"
#include "base/limits.h"

#define VCM_KV_DOOR_IDLE 8u

struct vcm_kv_door {
    struct vcm_kv_door *next_of_handle;
    struct vcm_kv_door *next_of_env;
    struct vcm_kv_env *env;
    uint64_t generation;
    _Atomic uint64_t state;
    atomic_bool incomplete;                /* some tables were not in the file yet */
    atomic_uint handles[VCM_LIMIT_TABLES]; /* LMDB's numbers of the tables */
    _Atomic(struct vcm_kv_txn *) idle[VCM_KV_DOOR_IDLE];
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

/* Inside only. A transaction that was taken is the caller's; one that finds no place stays it. */
struct vcm_kv_txn *vcm_kv_door_take_idle(struct vcm_kv_door *door);
bool vcm_kv_door_put_idle(struct vcm_kv_door *door, struct vcm_kv_txn *txn);

/* Gives up the waiting transactions of all doors of the environment, and their reader slots. */
void vcm_kv_door_drop_idle(struct vcm_kv_env *env);

/* Holds everyone off and waits, not for ever, for those inside to leave and for holds to end.
 * True: nobody is inside until vcm_kv_door_open_all(). */
bool vcm_kv_door_shut_all(struct vcm_kv_env *env);
void vcm_kv_door_open_all(struct vcm_kv_env *env);

/* Ends a hold. */
void vcm_kv_door_drop_hold(struct vcm_kv_env *env);

#endif
