#include "api/self_check.h"

#ifndef NDEBUG

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/handle.h"
#include "vcm/check/check.h"

#include "base/banned.h"

/* Checking larger stores would make tests slow. */
#define PAGES_MAX 500u

struct outcome {
    char broken[256]; /* the first invariant that does not hold */
    bool unreadable;  /* the file is damaged: invariants cannot be checked */
};

static int note(void *context, const struct vcm_check_finding *finding, struct vcm_error *err)
{
    struct outcome *outcome = context;
    bool invariant = finding->what[0] == 'S' && isdigit((unsigned char)finding->what[1]);

    (void)err;
    if (!invariant)
        outcome->unreadable = true;
    else if (finding->is_damage && outcome->broken[0] == '\0')
        snprintf(outcome->broken, sizeof outcome->broken, "%s (%s)", finding->what, finding->where);
    return VCM_OK;
}

static bool is_small(struct vcm *vcm)
{
    struct vcm_page_totals totals = {0};
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_page_store_read_begin(&txn, vcm->store, NULL);
    if (rc == VCM_OK)
        rc = vcm_page_store_totals(&totals, txn, NULL);
    vcm_kv_handle_read_end(txn);
    return rc == VCM_OK && totals.pages <= PAGES_MAX;
}

void vcm_self_check(struct vcm *vcm)
{
    struct outcome outcome = {0};
    const struct vcm_check_options options = {.found = note, .context = &outcome};
    uint64_t pages;

    if (!vcm->store || !vcm->store_writable || !is_small(vcm))
        return;
    if (vcm_check_store(&pages, vcm->store, &options, NULL) == VCM_OK && !outcome.unreadable &&
        outcome.broken[0] != '\0') {
        vcm_log_write(vcm->log, VCM_LOG_ERROR, "the store violates an invariant: %s",
                      outcome.broken);
        abort();
    }
}

#endif
