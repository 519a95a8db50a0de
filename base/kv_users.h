/*
 * kv_users.h - tells whether a process died while it had a store open.
 *
 * LMDB trusts its file: reading a damaged one may crash the reader, which can tell nobody. So every
 * process that opens an environment sets a byte of the file `users` beside it, and clears it when
 * it closes the environment or exits. It holds a lock on the byte meanwhile, which the kernel drops
 * when the process dies, in whatever container: a byte that is set and not locked is the trace of a
 * death. The trace does not tell the cause: a process that was killed leaves one, too. It costs a
 * few system calls when an environment is opened, and transactions nothing.
 * All of it is best effort: where the file cannot be written, nobody leaves a trace.
 */
#ifndef VCM_BASE_KV_USERS_H
#define VCM_BASE_KV_USERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VCM_KV_USERS_PLACES 4096u

struct vcm_kv_users {
    struct vcm_kv_users *next;
    unsigned forks;
    unsigned place;
    int fd; /* -1: not registered */
};

/* For the owner of an environment, which must stay where it is until it leaves. */
void vcm_kv_users_enter(struct vcm_kv_users *user, const char *directory);
void vcm_kv_users_leave(struct vcm_kv_users *user);

/* The traces that were found at one time. */
struct vcm_kv_users_dead {
    unsigned count;
    uint8_t places[VCM_KV_USERS_PLACES / 8]; /* a bit for each */
};

void vcm_kv_users_look(struct vcm_kv_users_dead *out, const char *directory);

/* Removes these traces, after the store was found sound. */
void vcm_kv_users_forget(const struct vcm_kv_users_dead *dead, const char *directory);

#endif
