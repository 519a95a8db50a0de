/*
 * process.h - names for processes that outlive them: a number in shared memory by which others can
 * tell whether its owner still lives.
 *
 * A number is the process id, the time that it started at, and the space of process ids that it
 * lives in (containers have their own), so that an id which is used again is not taken for its
 * former owner.
 */
#ifndef VCM_BASE_PROCESS_H
#define VCM_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* This process; never 0. Ask once: it reads files. */
uint64_t vcm_process_self(void);

/* How often this process and its ancestors were forked since the first call. Who remembers the
 * number tells a child by it, more cheaply than by getpid(), which asks the system. */
unsigned vcm_process_forks(void);

/* False when that cannot be known, as for a process of another container. Any number is allowed. */
bool vcm_process_is_dead(uint64_t process);

#endif
