#include "api/fault_service.h"

#include <stdlib.h>

#include "api/residency.h"

#include "base/banned.h"

struct vcm_fault_service {
    pthread_mutex_t mutex; /* protects the fields below and page look-ups */
    struct vcm *vcm;
    unsigned workers;
    struct vcm_fault_queue *queue; /* NULL until the first fault of an existing page */
};

int vcm_fault_service_open(struct vcm_fault_service **out, const struct vcm_open_options *options,
                           struct vcm_error *err)
{
    const struct vcm_open_options without = {
        .home = options->home, .log = options->log, .cancel = options->cancel};

    *out = NULL;
    struct vcm_fault_service *service = calloc(1, sizeof *service);
    if (!service)
        return vcm_error_memory(err);
    pthread_mutex_init(&service->mutex, NULL);
    service->workers = options->fault_workers;
    int rc = vcm_open(&service->vcm, &without, err);
    if (rc == VCM_OK)
        *out = service;
    else
        vcm_fault_service_close(service);
    return rc;
}

void vcm_fault_service_close(struct vcm_fault_service *service)
{
    if (!service)
        return;
    if (service->vcm && vcm_handle_check(service->vcm, NULL) == VCM_OK)
        vcm_fault_queue_close(service->queue); /* in a forked child the workers do not exist: they
                                                  belong to the parent */
    vcm_close(service->vcm);
    pthread_mutex_destroy(&service->mutex);
    free(service);
}

void vcm_fault_service_set_sources(struct vcm_fault_service *service,
                                   const struct vcm_registry *registry)
{
    service->vcm->registry = *registry;
}

void vcm_fault_service_enter(struct vcm_fault_service *service)
{
    pthread_mutex_lock(&service->mutex);
}

void vcm_fault_service_leave(struct vcm_fault_service *service)
{
    pthread_mutex_unlock(&service->mutex);
}

int vcm_fault_service_find(struct vcm_page_id **ids, struct vcm **vcm,
                           struct vcm_fault_queue **queue, struct vcm_fault_service *service,
                           const struct vcm_fault_query *query, struct vcm_error *err)
{
    vcm_fault_service_enter(service);
    int rc = vcm_handle_config_once(service->vcm, err);
    if (rc == VCM_OK)
        rc = vcm_residency_find(ids, service->vcm, query->pages, query->count, err);
    if (rc == VCM_OK && !service->queue) {
        rc = vcm_fault_queue_open(&service->queue, service->vcm->store, service->workers, err);
        if (rc != VCM_OK) {
            free(*ids);
            *ids = NULL;
        }
    }
    *vcm = service->vcm;
    *queue = service->queue;
    vcm_fault_service_leave(service);
    return rc;
}
