/*
 * disk.h - a small file system of a test's own, for disks that are full or read-only.
 */
#ifndef VCM_TESTS_SUPPORT_DISK_H
#define VCM_TESTS_SUPPORT_DISK_H

#include <stdbool.h>

/* Mounts a tmpfs of this size ("64k") over the directory, in namespaces of this process alone: call
 * it in a child. False where that is not allowed. */
bool test_disk_mount(const char *directory, const char *size);

/* Makes it read-only. */
bool test_disk_make_read_only(const char *directory);

#endif
