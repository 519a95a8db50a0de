#include "vcm/mapping/relimit.h"

#include <assert.h>

#include "base/limits.h"
#include "vcm/mapping/mapping.h"
#include "vcm/store/table.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

#define SHRINK_BATCH_BYTES (16 * VCM_MIB)

struct relimit {
    const struct vcm_page_store_limits *limits; /* NULL: those in force */
    const char *tokenizer;
    vcm_relimit_publish_fn publish; /* may be NULL */
    void *context;
    bool done;
    int rc; /* of publishing */
    struct vcm_error err;
};

static void publish(void *context, struct vcm_transition *t)
{
    struct relimit *relimit = context;

    assert(relimit->done && relimit->publish);
    assert(!relimit->limits || t->totals.resident_bytes <= relimit->limits->capacity);
    assert(!relimit->limits || t->totals.compressed_bytes <= relimit->limits->compressed_capacity);
    relimit->rc = relimit->publish(relimit->context, &relimit->err);
    if (relimit->rc == VCM_OK && relimit->limits) {
        vcm_page_store_set_limits(t->store, relimit->limits);
        vcm_shm_set_capacity(t->store->shm, relimit->limits->capacity);
    }
}

/* The store is within the new limits: they are published after the commit of this transaction. */
static void finish(struct relimit *relimit, struct vcm_transition *t)
{
    relimit->done = true;
    if (relimit->publish)
        t->committed = publish;
}

static int run(struct vcm_page_store *store, vcm_transition_fn change, struct relimit *relimit,
               const struct vcm_cancel *cancel, struct vcm_error *err)
{
    int rc = VCM_OK;

    while (rc == VCM_OK && !relimit->done)
        rc = vcm_transition_run(store, change, relimit, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel, err);
    if (rc == VCM_OK && relimit->rc != VCM_OK && err)
        *err = relimit->err;
    return rc == VCM_OK ? relimit->rc : rc;
}

/* Evicts at most SHRINK_BATCH_BYTES, so that other writers run in between. */
static int shrink_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct relimit *relimit = context;

    relimit->done = false;
    if (relimit->limits)
        t->limits = *relimit->limits;
    int rc = vcm_transition_check_pinned(t, err);
    if (rc == VCM_OK)
        rc = vcm_transition_make_room(t, 0, SHRINK_BATCH_BYTES, err);
    if (rc == VCM_OK)
        rc = vcm_transition_make_compressed_room(t, 0, err);
    if (rc == VCM_NO_ROOM)
        rc = vcm_error_set(err, VCM_STORE_BUSY,
                           "no page can be evicted, and the resident pages exceed the capacity: "
                           "%s; try again",
                           vcm_transition_hindrance(t));
    if (rc == VCM_OK && t->totals.resident_bytes <= t->limits.capacity)
        finish(relimit, t);
    return rc;
}

int vcm_relimit_shrink(struct vcm_page_store *store, const struct vcm_cancel *cancel,
                       struct vcm_error *err)
{
    return run(store, shrink_change, &(struct relimit){.limits = NULL}, cancel, err);
}

int vcm_relimit_capacity(struct vcm_page_store *store, const struct vcm_page_store_limits *limits,
                         vcm_relimit_publish_fn publish_limits, void *context,
                         const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct relimit relimit = {.limits = limits, .publish = publish_limits, .context = context};

    return run(store, shrink_change, &relimit, cancel, err);
}

static int tokenizer_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct relimit *relimit = context;
    struct vcm_buf stored = VCM_BUF_INIT(VCM_PAGE_STORE_TOKENIZER_BYTES);
    uint64_t scopes = 0, mappings = 0;

    relimit->done = false;
    int rc = vcm_page_store_tokenizer(&stored, t->txn, err);
    bool is_other = strcmp(vcm_buf_text(&stored), relimit->tokenizer) != 0;
    vcm_buf_release(&stored);
    if (rc == VCM_OK)
        rc = vcm_kv_count(&scopes, t->txn, VCM_TABLE_SCOPES, err);
    if (rc == VCM_OK)
        rc = vcm_kv_count(&mappings, t->txn, VCM_TABLE_MAPPINGS, err);
    if (rc == VCM_OK && is_other && scopes > 0)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "the tokenizer can change only while no scope is mapped, and %llu %s; "
                           "use another --home",
                           (unsigned long long)scopes, scopes == 1 ? "is" : "are");
    else if (rc == VCM_OK && is_other && mappings > 0)
        rc = vcm_error_set(err, VCM_STORE_BUSY,
                           "the tokenizer can change only while no scope is mapped, and one is "
                           "being mapped or unmapped; try again when that has finished");
    if (rc == VCM_OK)
        finish(relimit, t);
    return rc;
}

int vcm_relimit_tokenizer(struct vcm_page_store *store, const char *tokenizer,
                          vcm_relimit_publish_fn publish_tokenizer, void *context,
                          const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct relimit relimit = {
        .tokenizer = tokenizer, .publish = publish_tokenizer, .context = context};

    int rc = vcm_mapping_clear(store, cancel, err); /* abandoned mappings would count */
    return rc == VCM_OK ? run(store, tokenizer_change, &relimit, cancel, err) : rc;
}
