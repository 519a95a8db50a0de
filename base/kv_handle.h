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
    pthread_mutex_t mutex;     /* protects what follows, and changes of `current` */
    struct vcm_kv_door *doors; /* all doors that the handle ever had: freed when it is closed */

    atomic_bool swept; /* leftovers of other generations were removed */
};

struct vcm_kv_txn {
    struct vcm_kv *kv;
    struct vcm_kv_door *door;
    struct vcm_kv_place *place; /* the place by which it entered; NULL when it was counted */
    struct MDB_txn *mdb;
    bool writes;
    bool complete; /* has the numbers of all tables */
    int fault; /* LMDB's code of the first failed write: such a transaction cannot be committed */
    unsigned handles[VCM_LIMIT_TABLES];
};

/* Takes the writers' lock, changes the handle to the generation that is then current, and removes
 * leftovers of other generations. */
int vcm_kv_handle_lock(struct vcm_kv_lock *lock, struct vcm_kv *kv, unsigned timeout_ms,
                       const struct vcm_cancel *cancel, struct vcm_error *err);
void vcm_kv_handle_unlock(struct vcm_kv_lock *lock);

/* Enters the current environment; ends with vcm_kv_door_leave(). */
int vcm_kv_handle_enter(struct vcm_kv_door **out, struct vcm_kv *kv, const struct vcm_kv_lock *held,
                        struct vcm_error *err);

#endif
