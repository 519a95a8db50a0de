/*
 * mapping.h - replaces a scope's page table in one step for readers, however long the work takes.
 *
 * A mapping is a page table with a number. It is built beside the one in force in as many
 * transactions as it needs, each of bounded size, and published by one; a reader sees the old
 * table or the new one, never a mixture. Then the old one is dropped.
 * The builder holds a lock on one byte of a file. A process that dies loses its locks; a mapping
 * that is not in force and not locked has been abandoned, and the next vcm_mapping_begin() drops
 * it. One thread per mapping; several mappings may be built at a time.
 * After an error of an add function only vcm_mapping_abort() may follow.
 */
#ifndef VCM_VCM_MAPPING_MAPPING_H
#define VCM_VCM_MAPPING_MAPPING_H

#include <stdint.h>

#include "base/cancel.h"
#include "vcm/mapping/page_builder.h"
#include "vcm/store/page_store.h"

struct vcm_mapping;

struct vcm_mapping_options {
    struct vcm_slice scope_id;
    const char *tokenizer; /* INVALID_ARGUMENT when stored pages were counted with another */
    bool pinned;           /* its pages are resident and stay so; STORE_FULL when they cannot */
    /* The table in force, which may be revised; may be NULL, and is for a pinned table. Valid until
     * the mapping is freed. When it has changed, or the store has lost a page of it, adding and
     * committing return VCM_RETRY: the caller begins again without it. */
    const struct vcm_known_base *base;
    /* What the caller knows to be in force: a scope as it was read, or one without an id for none.
     * Committing returns VCM_RETRY when something else is, so that no change of another process is
     * undone. NULL: whatever is in force is replaced. Not used after vcm_mapping_begin(). */
    const struct vcm_scope *former;
    const struct vcm_cancel *cancel;
};

struct vcm_mapping_result {
    uint64_t pages_created; /* were not in the store before */
    uint64_t pages_reused;  /* were */
    uint64_t pages_dropped; /* of the scope's former table, not in the new one */
};

int vcm_mapping_begin(struct vcm_mapping **out, struct vcm_page_store *store,
                      const struct vcm_mapping_options *options, struct vcm_error *err);

/* Adds the next page of the table. It is written with others, as a batch. */
int vcm_mapping_add_page(struct vcm_mapping *mapping, const struct vcm_page_built *page,
                         struct vcm_error *err);

/* Adds an item of the source that has no pages. */
int vcm_mapping_add_omission(struct vcm_mapping *mapping, const struct vcm_page_omission *omission,
                             struct vcm_error *err);

/* Publishes the table as that of `scope`, whose `mapping` and `pinned` are filled in, and frees
 * `mapping`, also on failure: then the store is as it was. */
int vcm_mapping_commit(struct vcm_mapping *mapping, struct vcm_scope *scope,
                       struct vcm_mapping_result *result, struct vcm_error *err);

/* Drops what was written and frees. Takes NULL. */
void vcm_mapping_abort(struct vcm_mapping *mapping);

/* Drops the mappings that processes which died left unfinished. vcm_mapping_begin() does it, too.
 * A store that is open for reading only stays as it is. */
int vcm_mapping_clear(struct vcm_page_store *store, const struct vcm_cancel *cancel,
                      struct vcm_error *err);

/* Removes a scope and what only it refers to. NOT_FOUND when it is not mapped. */
int vcm_mapping_drop_scope(struct vcm_page_store *store, struct vcm_slice scope_id,
                           const struct vcm_cancel *cancel, struct vcm_error *err);

/* Gives a scope a pin of its own, or takes all pins away from it; and nothing else: copies its
 * table into one that is pinned, or is not. NOT_FOUND when it is not mapped, STORE_FULL as in
 * vcm_mapping_commit(). */
int vcm_mapping_pin_set(struct vcm_page_store *store, struct vcm_slice scope_id, bool pinned,
                        const struct vcm_cancel *cancel, struct vcm_error *err);

/* The same for the pin of its row, which leaves a pin of its own alone. */
int vcm_mapping_pin_set_by_row(struct vcm_page_store *store, struct vcm_slice scope_id, bool pinned,
                               const struct vcm_cancel *cancel, struct vcm_error *err);

#endif
