/*
 * loader.h - makes pages resident that are not. Plain reads, faults, locks and pins all use it;
 * other code that needs pages in memory calls vcm_loader_load().
 *
 * Gather: the loader decompresses or rebuilds a page and keeps its frame. For a page that it had to
 * rebuild it also gathers the group (group.h), the evicted pages that hold other parts of the same
 * files, since the files are read anyway; not if the last promotion failed. Promote: the gathered
 * pages become resident in one transaction, those of groups first, so that none of them evicts a
 * requested page. Groups take at most a quarter of the capacity, and 8 MiB.
 * When the writers' lock is not free within 20 ms, or the home cannot be written, every page stays
 * as it was; the requested ones count as private answers.
 * One thread at a time uses a loader; other threads have loaders of their own.
 */
#ifndef VCM_VCM_RESIDENCY_LOADER_H
#define VCM_VCM_RESIDENCY_LOADER_H

#include <pthread.h>

#include "vcm/store/page_store.h"

#define VCM_LOADER_PAGES      256u          /* gathered pages that are promoted together */
#define VCM_LOADER_BYTES      (8 * VCM_MIB) /* likewise; and most bytes of groups */
#define VCM_LOADER_TIMEOUT_MS 20u           /* for the writers' lock */

struct vcm_loader;

int vcm_loader_open(struct vcm_loader **out, struct vcm_page_store *store, struct vcm_error *err);
/* Drops what was gathered and not promoted. */
void vcm_loader_close(struct vcm_loader *loader);

/* The result for one requested page. */
struct vcm_loader_outcome {
    int rc;                  /* VCM_OK: it is resident; else why it is not */
    bool is_read;            /* its bytes were read, and the read was counted */
    enum vcm_page_state was; /* its state when it was read */
    struct vcm_error error;
};

/*
 * Makes pages resident and counts each as one read; a page that is named twice counts once. None of
 * them is evicted for another of them: STORE_FULL for a page that has no room, STORE_BUSY when
 * views prevent evictions or the writers' lock is not free. `turn`, which may be NULL, is locked
 * during the promotion: threads that share it wait for each other here, without a time limit, and
 * not for the writers' lock.
 */
void vcm_loader_load(struct vcm_loader_outcome *out, struct vcm_loader *loader,
                     const struct vcm_page_id *ids, size_t count, pthread_mutex_t *turn);

/* Gathers the pages that are not resident, for a change that promotes them itself, all or none;
 * counts nothing and gathers no group. Pages that do not exist are skipped: that change reports
 * them. */
int vcm_loader_gather_all(struct vcm_loader *loader, const struct vcm_page_id *ids, size_t count,
                          struct vcm_error *err);

/* The frame of a gathered page, valid until another page is gathered; empty if the page is not
 * gathered. */
struct vcm_slice vcm_loader_frame(const struct vcm_loader *loader, const struct vcm_page_id *id);

/* For plain reads, which answer before the page is promoted. */

/* Appends the bytes of a page in any state; gathers and counts nothing. NOT_FOUND, err untouched,
 * when there is no such page. */
int vcm_loader_peek(struct vcm_buf *out, struct vcm_loader *loader, struct vcm_kv_txn *txn,
                    const struct vcm_page_id *id, struct vcm_error *err);

/* Gathers a requested page, and its group if the page had to be rebuilt; counts the read. *frame is
 * valid until the next page is gathered, that of a resident page until `txn` ends. The caller calls
 * vcm_loader_promote() when *enough is true. */
int vcm_loader_read(struct vcm_slice *frame, bool *enough, struct vcm_loader *loader,
                    struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err);

/* Promotes what was gathered. Never fails: a page that cannot be promoted is unchanged. */
void vcm_loader_promote(struct vcm_loader *loader);

#endif
