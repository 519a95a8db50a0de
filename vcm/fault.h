/*
 * fault.h - making pages resident that are not: a queue of requests, and workers.
 *
 * Requests of higher priority are served first, among equals the older; a page that is asked for
 * twice is loaded once. Pages that hold parts of one file are a group: when one of them has to be
 * rebuilt the others come with it, in one pass over the file. Pages of one request are loaded
 * together, too. What is loaded comes in with one transaction; when the writers' lock is not to be
 * had within 20 ms the pages stay as they were.
 * Any thread may ask and wait.
 */
#ifndef VCM_VCM_FAULT_H
#define VCM_VCM_FAULT_H

#include "vcm/page_store.h"

#define VCM_FAULT_JOB_PAGES 64u /* of a request that are loaded together */

struct vcm_fault_queue;

/* With no workers nothing is served until vcm_fault_serve(). */
int vcm_fault_open(struct vcm_fault_queue **out, struct vcm_page_store *store, unsigned workers,
                   struct vcm_error *err);
/* Serves nothing more; whoever still waits gets VCM_INTERRUPTED. No ticket may be taken any more.
 */
void vcm_fault_close(struct vcm_fault_queue *queue);

enum vcm_fault_kind {
    VCM_FAULT_HIT,
    VCM_FAULT_MINOR,
    VCM_FAULT_MAJOR,
};

struct vcm_fault_outcome {
    int rc; /* VCM_OK, or why the page could not be had */
    enum vcm_fault_kind kind;
    struct vcm_error error;
};

struct vcm_fault_ticket;
int vcm_fault_ask(struct vcm_fault_ticket **out, struct vcm_fault_queue *queue,
                  const struct vcm_page_id *ids, unsigned count, unsigned priority,
                  struct vcm_error *err);

/* Waits until all pages of the ticket are done, writes what became of each to `out`, and frees the
 * ticket. */
void vcm_fault_wait(struct vcm_fault_outcome *out, struct vcm_fault_ticket *ticket);

/* Serves the most urgent job in the calling thread; false when there is none. */
bool vcm_fault_serve(struct vcm_fault_queue *queue);

#endif
