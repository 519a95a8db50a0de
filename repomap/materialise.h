/*
 * materialise.h - carries a plan out: every row becomes a mapped scope, or says why not.
 *
 * A row that fails costs that row alone. Rows are independent: what one row wrote stays when
 * another fails.
 */
#ifndef VCM_REPOMAP_MATERIALISE_H
#define VCM_REPOMAP_MATERIALISE_H

#include "repomap/plan.h"
#include "sources/registry.h"
#include "vcm/mapping/ingest.h"

enum vcm_materialise_status {
    VCM_MATERIALISE_MAPPED,
    VCM_MATERIALISE_ALREADY_MAPPED,
    VCM_MATERIALISE_REMAPPED,
    VCM_MATERIALISE_ERROR,
};

struct vcm_materialise_row {
    const struct vcm_plan_row *plan;
    enum vcm_materialise_status status;
    struct vcm_error error; /* of a row that failed */
    char message[768];      /* what is worth knowing, or "" */
    struct vcm_mapping_result changes;
    struct vcm_source_coverage coverage;
    uint64_t records;
    uint64_t pages;
    uint64_t tokens;
    uint64_t bytes;
    uint64_t elapsed_ms;
};

struct vcm_materialise_options {
    struct vcm_page_store *store;
    const struct vcm_registry *registry;
    const struct vcm_tokenizer *tokenizer;
    const char *extractions; /* path of the knowledge base, which keeps texts; may be NULL */
    unsigned jobs;
    bool replace;   /* another origin may take the scope over */
    bool only_live; /* static rows that are mapped stay as they are */
    bool offline;   /* and so do rows that would have to be fetched */
    const struct vcm_cancel *cancel;
    vcm_ingest_progress_fn progress;
    void *progress_context;
};

typedef int (*vcm_materialise_row_fn)(void *context, const struct vcm_materialise_row *row,
                                      struct vcm_error *err);
typedef int (*vcm_materialise_unmapped_fn)(void *context, const char *scope_id,
                                           struct vcm_error *err);

/*
 * Calls `on_row` for each row in order, then `on_unmapped` for each scope of the base that no row
 * names any more (not with a selection of rows). INVALID_ARGUMENT, before anything is done, when
 * the scope holds another origin; an interruption ends the run; everything else stays with its row.
 */
int vcm_materialise_run(const struct vcm_plan *plan, const struct vcm_materialise_options *options,
                        vcm_materialise_row_fn on_row, vcm_materialise_unmapped_fn on_unmapped,
                        void *context, struct vcm_error *err);

#endif
