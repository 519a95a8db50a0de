/*
 * fault_service.h - what vcm_fault() uses in a handle with fault workers, so that any thread may
 * call it at any time: a second handle on the home, whose store nothing else opens or closes, and
 * the fault queue with its workers.
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
/* All calls of vcm_fault() must have returned. */
void vcm_fault_service_close(struct vcm_fault_service *service);

/* Sets the source types of the handle. Not while faults are served. */
void vcm_fault_service_set_sources(struct vcm_fault_service *service,
                                   const struct vcm_registry *registry);

/* A mutex: one thread at a time is between enter and leave. */
void vcm_fault_service_enter(struct vcm_fault_service *service);
void vcm_fault_service_leave(struct vcm_fault_service *service);

/* Finds pages by name, like vcm_residency_find(); any thread may call it. *vcm is the handle whose
 * store has them; use only its store and fields that never change. */
int vcm_fault_service_find(struct vcm_page_id **ids, struct vcm **vcm,
                           struct vcm_fault_queue **queue, struct vcm_fault_service *service,
                           const struct vcm_fault_query *query, struct vcm_error *err);

#endif
