/*
 * kv_env.h - one LMDB environment, shared by all handles of this process on the same file.
 *
 * LMDB forbids opening a file twice in a process (closing one would drop the other's locks), so
 * environments are kept in a list by device and inode. Only kv.c includes this: with kv_env.c it
 * is the owner of LMDB.
 * Transactions enter the environment and leave it; while the map moves nobody is inside.
 */
#ifndef VCM_BASE_KV_ENV_H
#define VCM_BASE_KV_ENV_H

#include <pthread.h>
#include <sys/types.h>

#include "base/kv.h"

struct MDB_env;

struct vcm_kv_env {
    struct vcm_kv_env *next;
    struct MDB_env *mdb;
    dev_t device; /* with inode: of the data file, which the open environment keeps alive */
    ino_t inode;
    pid_t pid;
    unsigned references;
    bool read_only;
    bool lost; /* the map could not be put back after a resize; changed with nobody inside */

    pthread_mutex_t tables_mutex; /* LMDB allows one transaction at a time that opens tables */

    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    unsigned inside; /* transactions of this process */
    bool resizing;
};

/* Sets the error for a code of LMDB or a system error that it handed on. */
int vcm_kv_env_fail(const struct vcm_kv_options *options, int code, struct vcm_error *err);

/* The options are complete: no default is filled in here. */
int vcm_kv_env_acquire(struct vcm_kv_env **out, const struct vcm_kv_options *options,
                       struct vcm_error *err);
void vcm_kv_env_release(struct vcm_kv_env *env);

/* VCM_INVALID_ARGUMENT in a child that was forked after the environment was opened. */
int vcm_kv_env_check_process(const struct vcm_kv_env *env, const struct vcm_kv_options *options,
                             struct vcm_error *err);

void vcm_kv_env_enter(struct vcm_kv_env *env);
void vcm_kv_env_leave(struct vcm_kv_env *env);

/* Makes the map larger: `grow` because a change did not fit, else to see what another process
 * added beyond the end of ours. The caller is not inside. VCM_STORE_BUSY when others stay inside.
 */
int vcm_kv_env_resize(struct vcm_kv_env *env, const struct vcm_kv_options *options, bool grow,
                      struct vcm_error *err);

/* After a commit, inside, with the writers' lock: makes the data file as long as its header says.
 */
void vcm_kv_env_complete_file(struct vcm_kv_env *env);

#endif
