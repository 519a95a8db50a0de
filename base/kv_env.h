/*
 * kv_env.h - one LMDB environment, shared by all handles of this process on the same file.
 *
 * LMDB forbids opening a file twice in a process (closing one would drop the other's locks), so
 * environments are kept in a list by device and inode. Only the other kv*.c include this: together
 * they are the owner of LMDB.
 * An environment lives as long as something refers to it: doors (kv_door.h), by which transactions
 * enter it, and holds, which keep its memory at its address. While the map moves no thread is
 * inside and there is no hold.
 */
#ifndef VCM_BASE_KV_ENV_H
#define VCM_BASE_KV_ENV_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/kv.h"
#include "base/kv_lock.h"
#include "base/kv_users.h"

struct MDB_env;
struct vcm_kv_door;

/* One object for all holds of an environment, so that taking a hold allocates nothing. */
struct vcm_kv_handle_hold {
    struct vcm_kv_env *env;
};

struct vcm_kv_env {
    struct vcm_kv_env *next;
    struct MDB_env *mdb;
    struct vcm_kv_users user; /* the trace that this process leaves if it dies */
    dev_t device; /* with inode: of the data file, which the open environment keeps alive */
    ino_t inode;
    unsigned forks; /* number of forks of this process and its ancestors when it was opened */
    atomic_uint references;
    bool read_only;
    bool lost; /* the map could not be restored after a resize; changed while no thread is inside */
    uint64_t map_number; /* changes whenever the map has moved; changed while no thread is inside */

    pthread_mutex_t tables_mutex; /* LMDB allows one transaction at a time that opens tables */

    struct vcm_kv_handle_hold hold;
    atomic_uint holds;

    /* Address of the map, once a thread inside has found it; NULL after the map has moved. */
    _Atomic(char *) map_start;
    atomic_size_t map_bytes;

    struct vcm_kv_door *doors; /* this and the next: protected by the mutex of kv_door.c */
    atomic_bool resizing;
};

/* Sets the error for a code of LMDB or a system error that it returned. */
int vcm_kv_env_fail(const struct vcm_kv_options *options, int code, struct vcm_error *err);

/*
 * The environment in `directory`, which is that of the options or one below it. The options are
 * complete: no default is filled in here. A missing one is created with `create`, otherwise the
 * result is VCM_NOT_FOUND with `err` untouched. `held` is the writers' lock if the caller has it,
 * or NULL.
 */
int vcm_kv_env_acquire(struct vcm_kv_env **out, const char *directory, bool create,
                       const struct vcm_kv_options *options, const struct vcm_kv_lock *held,
                       struct vcm_error *err);
/* Takes another reference; the caller has one or is inside. */
void vcm_kv_env_retain(struct vcm_kv_env *env);
void vcm_kv_env_release(struct vcm_kv_env *env);

/* Whether this process is a child that was forked after the environment was opened. */
bool vcm_kv_env_is_forked(const struct vcm_kv_env *env);
int vcm_kv_env_check_process(const struct vcm_kv_env *env, const struct vcm_kv_options *options,
                             struct vcm_error *err);

/* Makes the map larger: with `grow` because a change did not fit, otherwise to see pages that
 * another process added beyond the end of our map. The caller has a reference and is not inside.
 * VCM_STORE_BUSY when other threads stay inside or hold memory. */
int vcm_kv_env_resize(struct vcm_kv_env *env, const struct vcm_kv_options *options, bool grow,
                      struct vcm_error *err);

/* After a commit, inside, with the writers' lock: makes the data file as long as its header says.
 */
void vcm_kv_env_complete_file(struct vcm_kv_env *env);

#endif
