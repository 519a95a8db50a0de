/*
 * process.h - numbers for processes, to be kept in shared memory: others can tell from the number
 * whether its owner still lives.
 *
 * A number is the process id, the time that it started at, and the space of process ids that it
 * lives in (containers have their own), so that an id which is used again is not taken for its
 * former owner.
 */
#ifndef VCM_BASE_PROCESS_H
#define VCM_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* This process; never 0. It reads files: callers keep the result. */
uint64_t vcm_process_self(void);

/* How often this process and its ancestors were forked since the first call. A caller that keeps
 * the number detects a fork more cheaply than with getpid(), which is a system call. */
unsigned vcm_process_forks(void);

/* False when that cannot be determined, as for a process of another container. Any number is
 * allowed. */
bool vcm_process_is_dead(uint64_t process);

#endif
