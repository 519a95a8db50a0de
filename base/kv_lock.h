/*
 * kv_lock.h - the writers' lock file of a store: one writer at a time, with a limit on the wait.
 *
 * An open-file-description lock, so that threads of one process exclude each other too and the
 * kernel releases it when the process dies. While it is held the file names the holder's process; a
 * holder that died leaves its name behind, which the next holder is told.
 */
#ifndef VCM_BASE_KV_LOCK_H
#define VCM_BASE_KV_LOCK_H

#include <stdbool.h>

#include "base/cancel.h"
#include "base/log.h"

struct vcm_kv_lock {
    int fd;             /* meaningful while the lock is held */
    bool previous_died; /* the previous holder did not release it */
};

/* VCM_STORE_BUSY, naming the holder, after `timeout_ms`; 0 tries once. A wait is logged once,
 * unless `timeout_ms` is below a tenth of a second. */
int vcm_kv_lock_take(struct vcm_kv_lock *lock, const char *path, unsigned timeout_ms,
                     const struct vcm_cancel *cancel, const struct vcm_log *log,
                     struct vcm_error *err);

void vcm_kv_lock_release(struct vcm_kv_lock *lock);

#endif
