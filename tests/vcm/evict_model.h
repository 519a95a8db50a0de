/*
 * evict_model.h - what the policies of vcm/residency/evict.h mean, written as plainly as possible:
 * lists that are searched from end to end. Tests compare victims with it.
 */
#ifndef VCM_TESTS_VCM_EVICT_MODEL_H
#define VCM_TESTS_VCM_EVICT_MODEL_H

#include "vcm/residency/evict.h"

#define MODEL_PAGES_MAX 512

struct model_page {
    uint64_t tag;
    uint64_t bytes;
    uint64_t used;  /* SIEVE: 0 or 1; S3-FIFO: up to 3 */
    uint64_t often; /* LFU */
    uint64_t when;  /* LRU and LFU; 0 when it was never used */
    bool was_main;  /* a ghost: it went from the main queue */
};

/* The oldest is the first. */
struct model_list {
    struct model_page pages[MODEL_PAGES_MAX];
    unsigned len;
};

struct model {
    enum vcm_evict_policy policy;
    struct model_list bulk, spared, small, main, ghosts;
    int hand; /* of SIEVE: an index of `main`, -1 for none */
    bool has_candidate;
    uint64_t candidate;
    uint64_t clock;
    double small_share; /* of S3-FIFO's bytes */
};

void model_init(struct model *model, enum vcm_evict_policy policy);
unsigned model_count(const struct model *model);
bool model_touch(struct model *model, uint64_t tag);
void model_insert(struct model *model, uint64_t tag, uint64_t bytes, enum vcm_evict_place place);
bool model_next(struct model *model, uint64_t *tag);
void model_remove(struct model *model, uint64_t tag);
void model_spare(struct model *model, uint64_t tag);
void model_settle(struct model *model);

#endif
