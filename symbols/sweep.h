/*
 * sweep.h - deletes the symbols of older formats, which are not read any more.
 *
 * A run looks at a bounded number of rows, in one transaction that also says how far it came; the
 * next run goes on there. When all rows were seen, runs cost one look-up until the format changes.
 * Rows of a newer format are another program's and stay. Private to this folder.
 */
#ifndef VCM_SYMBOLS_SWEEP_H
#define VCM_SYMBOLS_SWEEP_H

#include "base/kv.h"

struct vcm_sweep {
    unsigned blobs;    /* the table whose keys end with the format */
    size_t key_bytes;  /* of its keys; others are not touched */
    unsigned memos;    /* the table that says how far the sweep came */
    unsigned format;   /* in force; fits a byte */
    unsigned rows_max; /* to look at in one run; 0 for what is right for a store */
};

/* Best effort: does not wait for another writer. *dropped is what went. */
int vcm_sweep_run(size_t *dropped, struct vcm_kv *kv, const struct vcm_sweep *sweep,
                  const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
