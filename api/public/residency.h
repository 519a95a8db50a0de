/*
 * <vcm/residency.h> - residency: which pages are in memory, and stay there.
 *
 * `visit` may be NULL where pages are locked, unlocked, pinned, unpinned or evicted.
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

/* What became of a page that was asked for. */
struct vcm_page_outcome {
    const char *page_id;
    const char *state; /* after the call: "resident", "compressed" or "evicted" */
    const char *fault; /* of vcm_fault(): "hit", "minor" or "major", how it was read; else NULL */
    const char *stays; /* of vcm_evict(): "pinned", "locked" or "viewed", why it is not sent down */
    uint64_t locked_until;         /* Unix seconds, 0 for no lock */
    const struct vcm_error *error; /* of vcm_fault(): why the page is not resident, or NULL */
};
typedef int (*vcm_page_outcome_fn)(void *context, const struct vcm_page_outcome *page,
                                   struct vcm_error *err);

struct vcm_fault_query {
    const char *const *pages; /* ids or unique prefixes */
    size_t count;
    unsigned priority;  /* with fault workers: higher ones first; among equals the older */
    uint64_t lock_ms;   /* also locks them for so long; 0 for no lock */
    const char *owner;  /* of the lock; NULL: "cli" */
    const char *reason; /* of the lock; NULL: none */
};

/*
 * Makes pages resident, each counted as one read. A page that is not resident in the end is visited
 * with its error, and the others are done: NOT_FOUND and the like when its content cannot be had;
 * STORE_FULL when the pages asked for, with those that are pinned or locked, exceed the capacity;
 * STORE_BUSY when another holds the writers' lock for 20 ms or views are in the way, so that trying
 * again may help. Names that are no page fail the call. In the order given.
 * Without fault workers the calling thread loads the pages in the order given. With them all
 * threads' calls share one queue: the most urgent is served first, and a page that several ask for
 * is read once.
 */
int vcm_fault(struct vcm *vcm, const struct vcm_fault_query *query, vcm_page_outcome_fn visit,
              void *context, struct vcm_error *err);

struct vcm_lock_query {
    const char *const *pages;
    size_t count;
    const char *owner; /* NULL: "cli" */
    uint64_t ttl_ms;   /* of vcm_lock(): from now; rounded up to a full second */
    const char *reason;
    bool force; /* of vcm_unlock(): also the locks of other owners */
};

/* Locks all pages or none, and makes them resident; a lock of the same owner is extended, never
 * shortened. STORE_FULL when what is pinned or locked would exceed the capacity. */
int vcm_lock(struct vcm *vcm, const struct vcm_lock_query *query, vcm_page_outcome_fn visit,
             void *context, struct vcm_error *err);

/* *released counts the locks that were removed before their time. */
int vcm_unlock(uint64_t *released, struct vcm *vcm, const struct vcm_lock_query *query,
               vcm_page_outcome_fn visit, void *context, struct vcm_error *err);

struct vcm_lock_entry {
    const char *page_id;
    const char *owner;
    const char *reason;    /* NULL for none */
    uint64_t locked_until; /* Unix seconds */
};
typedef int (*vcm_lock_entry_fn)(void *context, const struct vcm_lock_entry *lock,
                                 struct vcm_error *err);

/* The locks that hold, of a page by its id or a unique prefix, or of all pages for NULL. */
int vcm_locks(struct vcm *vcm, const char *page, vcm_lock_entry_fn visit, void *context,
              struct vcm_error *err);

/* Lets the owner's lock on a page last `add_ms` longer than it would. NOT_FOUND when the owner has
 * none. *locked_until is its new end. */
int vcm_lock_extend(uint64_t *locked_until, struct vcm *vcm, const char *page, const char *owner,
                    uint64_t add_ms, struct vcm_error *err);

struct vcm_pin_outcome {
    const char *scope_id; /* NULL when a page was named */
    const char *page_id;  /* NULL when a scope was named */
    bool changed;         /* it was not so before */
};
typedef int (*vcm_pin_fn)(void *context, const struct vcm_pin_outcome *pin, struct vcm_error *err);

/* Pins a page, a scope, or all scopes of a base; a unique prefix will do, and a scope goes before a
 * page. STORE_FULL, and nothing of that scope is changed, when what is pinned or locked would
 * exceed the capacity. */
int vcm_pin(struct vcm *vcm, const char *name, vcm_pin_fn visit, void *context,
            struct vcm_error *err);
/* Takes the pin back that it names: a page stays pinned while a scope that holds it is. */
int vcm_unpin(struct vcm *vcm, const char *name, vcm_pin_fn visit, void *context,
              struct vcm_error *err);

struct vcm_evict_query {
    const char *const *pages; /* or */
    size_t count;
    const char *scope;  /* a scope, or all scopes of a base, or */
    bool all;           /* everything */
    const char *target; /* "compressed" or "evicted"; NULL: "compressed" */
};

struct vcm_evict_result {
    uint64_t pages_compressed; /* that became so */
    uint64_t pages_evicted;    /* that became so */
    uint64_t pages_stayed;     /* pinned, locked or viewed */
};

/* Sends pages down. Visits the pages that were named, or else those that stay. */
int vcm_evict(struct vcm_evict_result *result, struct vcm *vcm, const struct vcm_evict_query *query,
              vcm_page_outcome_fn visit, void *context, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
