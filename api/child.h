/*
 * child.h - how a forked child begins that reads a store which may be damaged.
 */
#ifndef VCM_API_CHILD_H
#define VCM_API_CHILD_H

#include <sys/types.h>

/* The descriptor that the child writes to. */
#define VCM_CHILD_FD 3

/* Called in the child, which writes to the pipe `fd` and ends with _exit(). It dies with its
 * parent; the parent's crash handlers do not run in it; it has no other descriptor of its parent,
 * and what libraries print goes nowhere. */
void vcm_child_begin(int fd, pid_t parent);

/* Waits until the child has ended. 0 or an errno. */
int vcm_child_wait(int *status, pid_t pid);

#endif
