/*
 * kv_handle.h - what a handle on a store and its transactions consist of; for kv*.c only.
 */
#ifndef VCM_BASE_KV_HANDLE_H
#define VCM_BASE_KV_HANDLE_H

#include <stdatomic.h>

#include "base/kv_door.h"
#include "base/kv_generation.h"
#include "base/kv_lock.h"

#define VCM_KV_HANDLE_NO_TABLE UINT32_MAX

struct MDB_txn;

struct vcm_kv_table {
    char *name;
    uint64_t seed; /* checksum of the name */
};

struct vcm_kv {
    struct vcm_kv_options options; /* complete, with strings of our own and without tables */
    unsigned tables_count;
    struct vcm_kv_table tables[VCM_LIMIT_TABLES];
    struct vcm_kv_generation generation;

    _Atomic(struct vcm_kv_door *) current;
    pthread_mutex_t mutex;     /* of what follows, and of changing `current` */
    struct vcm_kv_door *doors; /* all that there were: freed when the handle is closed */

    atomic_bool swept; /* leftovers of other generations were removed */
};

struct vcm_kv_txn {
    struct vcm_kv *kv;
    struct vcm_kv_door *door;
    struct vcm_kv_place *place; /* of the door, by which it entered; NULL when it was counted */
    struct MDB_txn *mdb;
    bool writes;
    bool complete; /* the handles are of all tables */
    int fault;     /* LMDB's code for the first write that failed: such a change cannot be kept */
    unsigned handles[VCM_LIMIT_TABLES];
};

/* The writers' lock, with the handle in the generation that is then in force and without leftovers
 * of others. */
int vcm_kv_handle_lock(struct vcm_kv_lock *lock, struct vcm_kv *kv, unsigned timeout_ms,
                       const struct vcm_cancel *cancel, struct vcm_error *err);
void vcm_kv_handle_unlock(struct vcm_kv_lock *lock);

/* Inside the environment in force, until vcm_kv_door_leave(). */
int vcm_kv_handle_enter(struct vcm_kv_door **out, struct vcm_kv *kv, const struct vcm_kv_lock *held,
                        struct vcm_error *err);

#endif
