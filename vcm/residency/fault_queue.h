/*
 * fault_queue.h - a queue of pages that are to be made resident, and the workers that serve it.
 *
 * Requests of higher priority are served first, among equals the older; a page that is asked for
 * while it is on its way is loaded once, at the higher of the priorities. Up to 64 pages of a
 * request are loaded together (loader.h). Workers gather side by side and let pages in one after
 * the other: they never wait for each other with a time limit.
 * Any thread may ask and wait.
 */
#ifndef VCM_VCM_RESIDENCY_FAULT_QUEUE_H
#define VCM_VCM_RESIDENCY_FAULT_QUEUE_H

#include "base/cancel.h"
#include "vcm/residency/loader.h"

#define VCM_FAULT_JOB_PAGES 64u /* of a request that are loaded together */

struct vcm_fault_queue;

/* With no workers nothing is served until vcm_fault_queue_serve(). */
int vcm_fault_queue_open(struct vcm_fault_queue **out, struct vcm_page_store *store,
                         unsigned workers, struct vcm_error *err);
/* Serves nothing more; whoever still waits gets VCM_INTERRUPTED. No ticket may be taken any more.
 */
void vcm_fault_queue_close(struct vcm_fault_queue *queue);

struct vcm_fault_queue_ticket;
int vcm_fault_queue_ask(struct vcm_fault_queue_ticket **out, struct vcm_fault_queue *queue,
                        const struct vcm_page_id *ids, unsigned count, unsigned priority,
                        struct vcm_error *err);

/* Waits until all pages of the ticket are done, writes what became of each to `out`, and frees the
 * ticket. Once `cancel`, which may be NULL, asks for it, waits no longer: the pages that are not
 * done are INTERRUPTED, and come in all the same. */
void vcm_fault_queue_wait(struct vcm_loader_outcome *out, struct vcm_fault_queue_ticket *ticket,
                          const struct vcm_cancel *cancel);

/* Of a queue without workers: serves the most urgent job in the calling thread, one at a time;
 * false when there is none. */
bool vcm_fault_queue_serve(struct vcm_fault_queue *queue);

#endif
