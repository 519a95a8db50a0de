/*
 * materialise.h - carries out a plan: maps every row to a scope, or reports why it failed.
 *
 * Rows are independent: a row that fails does not stop the others, and what other rows wrote stays.
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
    char message[768];      /* a note for the user, or "" */
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
    const struct vcm_heading_functions *headings; /* of the parts of files; may be NULL */
    const char *extractions; /* path of the knowledge base, which caches texts; may be NULL */
    unsigned jobs;
    bool replace;      /* replace scopes of another origin */
    bool only_live;    /* leave mapped static rows alone */
    bool only_missing; /* leave all mapped rows alone */
    bool offline;      /* leave rows alone that would have to be fetched */
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
 * names any more (not with a selection of rows), before it is dropped. INVALID_ARGUMENT, before
 * anything is done, when the scope belongs to another origin. Interruption ends the run; every
 * other failure is reported in its row.
 */
int vcm_materialise_run(const struct vcm_plan *plan, const struct vcm_materialise_options *options,
                        vcm_materialise_row_fn on_row, vcm_materialise_unmapped_fn on_unmapped,
                        void *context, struct vcm_error *err);

#endif
