/*
 * page_rows.h - what the operations on single pages have in common: fault, lock, unlock, evict.
 * Private to ops/.
 */
#ifndef VCM_OPS_PAGE_ROWS_H
#define VCM_OPS_PAGE_ROWS_H

#include "ops/op.h"

/* The argument that names pages. */
#define VCM_PAGE_ROWS_PAGES                                                                        \
    {                                                                                              \
        .name = "pages", .type = VCM_OP_TEXT, .positional = true, .required = true,                \
        .repeated = true, .placeholder = "PAGE",                                                   \
        .summary = "id of a page, or its first 6 or more digits"                                   \
    }

/* Who asks; locks of different owners do not touch each other. */
#define VCM_PAGE_ROWS_OWNER                                                                        \
    {                                                                                              \
        .name = "owner", .type = VCM_OP_TEXT, .placeholder = "O", .default_text = "cli",           \
        .summary = "whose lock it is"                                                              \
    }

/* A page, and until when it is locked: over a struct vcm_page_outcome. */
extern const struct vcm_result_member vcm_residency_page[];

/* What is written while pages are visited, and how it went. */
struct vcm_page_rows {
    struct vcm_jsonw *w;
    const struct vcm_result_member *members; /* of each, over a struct vcm_page_outcome */
    uint64_t good, bad;
};

/* A vcm_page_outcome_fn over these rows: one object for each page. */
int vcm_page_rows_put(void *context, const struct vcm_page_outcome *page, struct vcm_error *err);

/* 0, 3 when some were bad, or 1 when all were. */
int vcm_page_rows_status(const struct vcm_page_rows *rows);

/* One line for each page of the document. */
void vcm_page_rows_print(struct vcm_print *out, const struct vcm_json *document,
                         const struct vcm_op_call *call);

/* The milliseconds of `text`, which was given for `option`; at most ten years. */
int vcm_page_rows_duration(uint64_t *ms, const char *option, const char *text,
                           struct vcm_error *err);

#endif
