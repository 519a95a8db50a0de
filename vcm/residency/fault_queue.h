/*
 * fault_queue.h - a queue of pages that are to be made resident, and the workers that serve it.
 *
 * Requests of higher priority are served first, among equals the older; a page that is requested
 * while it is queued or being loaded is loaded once, at the higher of the priorities. Up to 64
 * pages of a request are loaded together (loader.h). Workers gather at the same time and promote
 * one after the other: they wait for each other without a time limit, not for the writers' lock.
 * Any thread may request pages and wait for them.
 */
#ifndef VCM_VCM_RESIDENCY_FAULT_QUEUE_H
#define VCM_VCM_RESIDENCY_FAULT_QUEUE_H

#include "base/cancel.h"
#include "vcm/residency/loader.h"

#define VCM_FAULT_JOB_PAGES 64u /* of a request that are loaded together */

struct vcm_fault_queue;

/* Without workers, requests are served by vcm_fault_queue_serve() only. */
int vcm_fault_queue_open(struct vcm_fault_queue **out, struct vcm_page_store *store,
                         unsigned workers, struct vcm_error *err);
/* Stops the workers; threads that still wait get VCM_INTERRUPTED. No request may be made any more.
 */
void vcm_fault_queue_close(struct vcm_fault_queue *queue);

struct vcm_fault_queue_ticket;
int vcm_fault_queue_ask(struct vcm_fault_queue_ticket **out, struct vcm_fault_queue *queue,
                        const struct vcm_page_id *ids, unsigned count, unsigned priority,
                        struct vcm_error *err);

/* Waits until all pages of the ticket are done, writes the result of each to `out`, and frees the
 * ticket. Stops waiting when `cancel`, which may be NULL, requests it: the pages that are not done
 * are INTERRUPTED, and are loaded all the same. */
void vcm_fault_queue_wait(struct vcm_loader_outcome *out, struct vcm_fault_queue_ticket *ticket,
                          const struct vcm_cancel *cancel);

/* For a queue without workers: serves the most urgent job in the calling thread; false when there
 * is none. One thread at a time. */
bool vcm_fault_queue_serve(struct vcm_fault_queue *queue);

#endif
