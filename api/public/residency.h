/*
 * <vcm/residency.h> - residency: making pages resident, locking, pinning and evicting them.
 *
 * Outcomes live until the callback returns. `visit` may be NULL except in vcm_fault() and
 * vcm_locks().
 */
#ifndef VCM_PUBLIC_RESIDENCY_H
#define VCM_PUBLIC_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a call did with a page. */
struct vcm_page_outcome {
    const char *page_id;
    const char *state; /* after the call: "resident", "compressed" or "evicted" */
    const char *fault; /* of vcm_fault(): "hit", "minor" or "major"; NULL from other calls */
    const char *stays; /* of vcm_evict(): "pinned", "locked", "viewed" or "volatile", why it was not
                          evicted; else NULL */
    uint64_t locked_until;         /* Unix seconds, rounded up; 0 for no lock */
    const struct vcm_error *error; /* of vcm_fault(): why the page is not resident, or NULL */
};
typedef int (*vcm_page_outcome_fn)(void *context, const struct vcm_page_outcome *page,
                                   struct vcm_error *err);

struct vcm_fault_query {
    const char *const *pages; /* ids or unique prefixes */
    size_t count;
    unsigned priority;  /* with fault workers: higher ones first, then older ones */
    uint64_t lock_ms;   /* also lock the pages for this long, at most ten years; 0: no lock */
    const char *owner;  /* of the lock; NULL: "cli" */
    const char *reason; /* of the lock; NULL: none */
};

/*
 * Makes pages resident; each counts as one read. Visits pages in the order given. A page that could
 * not be made resident is visited with its error, and the others are still loaded:
 *
 * NOT_FOUND and similar: its content is not available any more.
 * STORE_FULL: the requested, pinned and locked pages together exceed the capacity.
 * STORE_BUSY: another process held the writers' lock for 20 ms, or views keep pages in memory; a
 * retry may succeed.
 *
 * A name that matches no page fails the call. Without fault workers the calling thread loads the
 * pages. With fault workers the calls of all threads share one queue: the highest priority is
 * served first, and a page that several calls ask for is loaded once.
 */
int vcm_fault(struct vcm *vcm, const struct vcm_fault_query *query, vcm_page_outcome_fn visit,
              void *context, struct vcm_error *err);

struct vcm_lock_query {
    const char *const *pages;
    size_t count;
    const char *owner; /* NULL: "cli" */
    uint64_t ttl_ms;   /* of vcm_lock(): from now; 0 or more than ten years is refused */
    const char *reason;
    bool force; /* of vcm_unlock(): also the locks of other owners */
};

/* Locks all pages or none, and makes them resident. Locking again as the same owner extends the
 * lock, never shortens it. STORE_FULL when pinned and locked pages would exceed the capacity. */
int vcm_lock(struct vcm *vcm, const struct vcm_lock_query *query, vcm_page_outcome_fn visit,
             void *context, struct vcm_error *err);

/* *released counts the locks that were removed before they expired. */
int vcm_unlock(uint64_t *released, struct vcm *vcm, const struct vcm_lock_query *query,
               vcm_page_outcome_fn visit, void *context, struct vcm_error *err);

struct vcm_lock_entry {
    const char *page_id;
    const char *owner;
    const char *reason;    /* NULL for none */
    uint64_t locked_until; /* Unix seconds, rounded up */
};
typedef int (*vcm_lock_entry_fn)(void *context, const struct vcm_lock_entry *lock,
                                 struct vcm_error *err);

/* Visits the locks in force on one page (id or unique prefix), or on all pages for NULL. */
int vcm_locks(struct vcm *vcm, const char *page, vcm_lock_entry_fn visit, void *context,
              struct vcm_error *err);

/* Extends the owner's lock on a page by `add_ms`; *locked_until is its new end. NOT_FOUND when the
 * owner has no lock on the page; INVALID_ARGUMENT when it would last more than ten years. */
int vcm_lock_extend(uint64_t *locked_until, struct vcm *vcm, const char *page, const char *owner,
                    uint64_t add_ms, struct vcm_error *err);

struct vcm_pin_outcome {
    const char *scope_id; /* NULL when a page was named */
    const char *page_id;  /* NULL when a scope was named */
    bool changed;         /* the call changed it */
};
typedef int (*vcm_pin_fn)(void *context, const struct vcm_pin_outcome *pin, struct vcm_error *err);

/* Pins a page, a scope, or all scopes of a base. `name` may be a unique prefix; scopes are searched
 * before pages. STORE_FULL, with that scope unchanged, when pinned and locked pages would exceed
 * the capacity. */
int vcm_pin(struct vcm *vcm, const char *name, vcm_pin_fn visit, void *context,
            struct vcm_error *err);
/* Removes the pin with this name, which no mapping removes. A scope whose row is `pinned` is pinned
 * again when it is mapped. A page stays pinned while a scope that holds it is pinned. */
int vcm_unpin(struct vcm *vcm, const char *name, vcm_pin_fn visit, void *context,
              struct vcm_error *err);

struct vcm_evict_query {
    const char *const *pages; /* either these pages, */
    size_t count;
    const char *scope;  /* or this scope, or all scopes of this base, */
    bool all;           /* or every page */
    const char *target; /* "compressed" or "evicted"; NULL: "compressed" */
};

struct vcm_evict_result {
    uint64_t pages_compressed; /* pages that this call compressed */
    uint64_t pages_evicted;    /* pages that this call evicted */
    uint64_t pages_stayed;     /* pages left alone: pinned, locked, viewed, or volatile */
};

/* Compresses or evicts pages. Visits the named pages; for a scope or all, only those that stay. */
int vcm_evict(struct vcm_evict_result *result, struct vcm *vcm, const struct vcm_evict_query *query,
              vcm_page_outcome_fn visit, void *context, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
