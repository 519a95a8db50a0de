/*
 * salvage.h - reads what people asked for, pins and locks, out of a store that may be damaged.
 *
 * A damaged file can crash the process that reads it: the caller is a child process that does
 * nothing else, while its parent holds the writers' lock. Each finding is reported at once, so that
 * the parent has those that were made before a crash. Values that are damaged are skipped.
 */
#ifndef VCM_VCM_CHECK_SALVAGE_H
#define VCM_VCM_CHECK_SALVAGE_H

#include "vcm/residency/lock.h"

/* Each returns VCM_OK to go on. */
struct vcm_salvage_visitor {
    int (*scope)(void *context, struct vcm_slice scope_id, struct vcm_error *err);   /* pinned */
    int (*page)(void *context, const struct vcm_page_id *id, struct vcm_error *err); /* pinned */
    vcm_lock_fn lock;                                   /* also when its time is over */
    int (*alive)(void *context, struct vcm_error *err); /* is called often */
    void *context;
};

int vcm_salvage_run(const char *directory, const struct vcm_salvage_visitor *visitor,
                    struct vcm_error *err);

#endif
