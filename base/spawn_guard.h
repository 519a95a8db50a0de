/*
 * spawn_guard.h - a process between us and a program that starts others: when we die, it ends all
 * of them. Private to base/.
 *
 * The kernel can kill a child with its parent, but not the children of that child, and git leaves
 * its transports running. The guard leads the process group of the program, waits for the program
 * and ends as it ended. It is the forked child without an exec: it only makes system calls.
 */
#ifndef VCM_BASE_SPAWN_GUARD_H
#define VCM_BASE_SPAWN_GUARD_H

#include <stdbool.h>

/*
 * To be called in a forked child that leads a process group, and safe there in a threaded process.
 * `alive` is the read end of a pipe whose other end only the process to be watched has open.
 * Returns in the process that is to become the program, which dies with the guard. False: there is
 * no guard.
 */
bool vcm_spawn_guard_split(int alive);

#endif
