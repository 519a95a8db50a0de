/*
 * loader.h - brings in pages that are not resident. Plain reads, faults, locks and pins all come
 * here; whoever else needs pages in memory calls vcm_loader_load().
 *
 * Gather: a page is decompressed or rebuilt, and its frame is kept. With a page that had to be
 * rebuilt come the evicted pages that hold other parts of its files, its group (group.h), in one
 * pass over them; where pages do not come in, groups are not made. Promote: what was gathered
 * becomes resident in one transaction, the pages that nobody asked for first, so that none of them
 * sends one away that somebody did. They hold at most a quarter of the capacity, and 8 MiB.
 * When the writers' lock is not to be had within 20 ms, or the home cannot be written, every page
 * stays as it was; those that were asked for count as private answers.
 * One thread at a time; others have loaders of their own.
 */
#ifndef VCM_VCM_RESIDENCY_LOADER_H
#define VCM_VCM_RESIDENCY_LOADER_H

#include <pthread.h>

#include "vcm/store/page_store.h"

#define VCM_LOADER_PAGES      256u          /* that are gathered before they come in */
#define VCM_LOADER_BYTES      (8 * VCM_MIB) /* likewise */
#define VCM_LOADER_TIMEOUT_MS 20u

struct vcm_loader;

int vcm_loader_open(struct vcm_loader **out, struct vcm_page_store *store, struct vcm_error *err);
/* Drops what was gathered and not promoted. */
void vcm_loader_close(struct vcm_loader *loader);

/* What became of a page that was to come in. */
struct vcm_loader_outcome {
    int rc;                  /* VCM_OK: it is resident; else why it is not */
    bool is_read;            /* its bytes could be had, and that was counted */
    enum vcm_page_state was; /* when it was read */
    struct vcm_error error;
};

/*
 * Makes pages resident and counts each as one read; a page that is named twice counts once. None of
 * them goes for another of them: STORE_FULL for a page that finds no room, STORE_BUSY when views
 * are in the way or the lock is not to be had. `turn` is held while pages come in, so that threads
 * which share it do not wait for each other with a time limit; it may be NULL.
 */
void vcm_loader_load(struct vcm_loader_outcome *out, struct vcm_loader *loader,
                     const struct vcm_page_id *ids, size_t count, pthread_mutex_t *turn);

/* Gathers the pages that are not resident for a change that makes them so itself, all or none;
 * counts nothing, and brings no group. Pages that are not there are left to that change. */
int vcm_loader_gather_all(struct vcm_loader *loader, const struct vcm_page_id *ids, size_t count,
                          struct vcm_error *err);

/* The frame of a page that is gathered, until something else is; empty when it is not. */
struct vcm_slice vcm_loader_frame(const struct vcm_loader *loader, const struct vcm_page_id *id);

/* For plain reads, which answer before the page comes in. */

/* Appends the bytes of a page in whatever state; nothing is gathered or counted. NOT_FOUND, err
 * untouched, when there is no such page. */
int vcm_loader_peek(struct vcm_buf *out, struct vcm_loader *loader, struct vcm_kv_txn *txn,
                    const struct vcm_page_id *id, struct vcm_error *err);

/* Gathers a page that somebody asked for, and its group if it had to be rebuilt; counts the read.
 * *frame is valid until the next page is gathered; it is empty when the page is resident. Call
 * vcm_loader_promote() once *enough. */
int vcm_loader_read(struct vcm_slice *frame, bool *enough, struct vcm_loader *loader,
                    struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err);

/* Lets in what was gathered. Never fails: what does not come in stays as it was. */
void vcm_loader_promote(struct vcm_loader *loader);

#endif
