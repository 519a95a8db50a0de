/*
 * page_rows.h - shared by the operations on single pages: fault, lock, unlock, evict. Private to
 * ops/.
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

/* The owner of locks; owners do not affect each other's locks. */
#define VCM_PAGE_ROWS_OWNER                                                                        \
    {                                                                                              \
        .name = "owner", .type = VCM_OP_TEXT, .placeholder = "O", .default_text = "cli",           \
        .summary = "owner of the lock"                                                             \
    }

/* A page and its state, over a struct vcm_page_outcome. */
extern const struct vcm_result_member vcm_page_rows_state[];

/* A page, its state and its lock, over a struct vcm_page_outcome. */
extern const struct vcm_result_member vcm_residency_page[];

/* The rows that are written while pages are visited, and their counts. */
struct vcm_page_rows {
    struct vcm_jsonw *w;
    const struct vcm_result_member *members; /* of each, over a struct vcm_page_outcome */
    uint64_t good, bad;
};

/* A vcm_page_outcome_fn over these rows: one object for each page. */
int vcm_page_rows_put(void *context, const struct vcm_page_outcome *page, struct vcm_error *err);

/* The exit status: 0, 3 when some rows are bad, 1 when all are. */
int vcm_page_rows_status(const struct vcm_page_rows *rows);

/* Prints one line for each page of the document. */
void vcm_page_rows_print(struct vcm_print *out, const struct vcm_json *document,
                         const struct vcm_op_call *call);

/* Parses `text`, the value of `option`, to the milliseconds that a lock lasts. */
int vcm_page_rows_duration(uint64_t *ms, const char *option, const char *text,
                           struct vcm_error *err);

#endif
