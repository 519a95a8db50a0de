/*
 * sweep.h - deletes the symbols of older formats, which are not read any more.
 *
 * A run checks a bounded number of rows, in one transaction that also records its progress; the
 * next run continues there. When all rows were checked, a run costs one look-up until the format
 * changes. Rows of a newer format belong to a newer program and are kept. Private to this folder.
 */
#ifndef VCM_SYMBOLS_SWEEP_H
#define VCM_SYMBOLS_SWEEP_H

#include "base/kv.h"

struct vcm_sweep {
    unsigned blobs;    /* the table whose keys end with the format */
    size_t key_bytes;  /* of its keys; others are not touched */
    unsigned memos;    /* the table that records the progress */
    unsigned format;   /* the current one; fits a byte */
    unsigned rows_max; /* to check in one run; 0 for the default */
};

/* Best effort: does not wait for another writer. *dropped counts the deleted rows. */
int vcm_sweep_run(size_t *dropped, struct vcm_kv *kv, const struct vcm_sweep *sweep,
                  const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
