/*
 * fault_service.h - what a handle with fault workers has for vcm_fault() alone, so that any thread
 * may call it beside any other call: a second handle of the home, whose store nothing else opens
 * or closes, and the queue of faults with its workers.
 *
 * Nothing is opened before the first fault.
 */
#ifndef VCM_API_FAULT_SERVICE_H
#define VCM_API_FAULT_SERVICE_H

#include "api/handle.h"
#include "vcm/residency/fault_queue.h"

struct vcm_fault_service;

int vcm_fault_service_open(struct vcm_fault_service **out, const struct vcm_open_options *options,
                           struct vcm_error *err);
/* Nobody may be in vcm_fault() any more. */
void vcm_fault_service_close(struct vcm_fault_service *service);

/* The handle has these types of sources now. Not while faults are served. */
void vcm_fault_service_set_sources(struct vcm_fault_service *service,
                                   const struct vcm_registry *registry);

/* One thread at a time is between the two. */
void vcm_fault_service_enter(struct vcm_fault_service *service);
void vcm_fault_service_leave(struct vcm_fault_service *service);

/* Finds pages by their names, as vcm_residency_find() does, by any thread. *vcm is the handle whose
 * store has them; of it only the store and what never changes may be used. */
int vcm_fault_service_find(struct vcm_page_id **ids, struct vcm **vcm,
                           struct vcm_fault_queue **queue, struct vcm_fault_service *service,
                           const struct vcm_fault_query *query, struct vcm_error *err);

#endif
