/*
 * mapping_lock.h - the file `mappings.lock`, by which processes see who builds which mapping.
 * Private to vcm/mapping/.
 *
 * The builder of mapping N holds an exclusive lock on byte N from before its first transaction is
 * committed until its table is in force or dropped. The kernel releases the lock when the process
 * dies. So a mapping that is not in force and whose byte is not locked has been abandoned, and any
 * process may drop it. The locks belong to the open file (F_OFD_SETLK), not to the process: two
 * threads of one process exclude each other, too.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_LOCK_H
#define VCM_VCM_MAPPING_MAPPING_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "vcm/store/page_store.h"

/* Opens the file, and creates it where it is missing. *fd is -1 after a failure; the caller closes
 * it, which releases its locks. */
int vcm_mapping_lock_open(int *fd, const struct vcm_page_store *store, struct vcm_error *err);

/* Locks the byte of a mapping that no other process can know yet, so it never waits. */
int vcm_mapping_lock_take(int fd, const struct vcm_page_store *store, uint64_t number,
                          struct vcm_error *err);

/* Whether no other open file holds the lock of a mapping. */
bool vcm_mapping_lock_is_free(int fd, uint64_t number);

/* For assertions: whether `fd` holds the lock of the mapping. True, too, when the file cannot be
 * opened a second time, without which the kernel does not answer. */
bool vcm_mapping_lock_is_held(int fd, uint64_t number);

#endif
