/*
 * report.h - what the documents about a repo map have in common. Private to ops/.
 */
#ifndef VCM_OPS_REPORT_H
#define VCM_OPS_REPORT_H

#include "ops/op.h"

void vcm_report_put_strings(struct vcm_jsonw *w, const char *name, const char *const *items,
                            size_t count);

/* The member "knowledge_routing", with or without counts. */
void vcm_report_put_routes(struct vcm_jsonw *w, const struct vcm_map_report *report,
                           bool with_counts);

/* A count that may be unknown: a number, or null for -1. */
void vcm_report_put_count(struct vcm_jsonw *w, const char *name, int64_t count);

/* The document of `preview`; `with_counts` adds matched_files to the sources. */
void vcm_report_put_preview(struct vcm_jsonw *w, const struct vcm_map_report *report,
                            bool with_counts);

/* 0, or 3 when some rows cannot be resolved, or 1 when none can. */
int vcm_report_preview_status(const struct vcm_map_report *report);

void vcm_report_print_preview(struct vcm_print *out, const struct vcm_json *document,
                              const struct vcm_op_call *call);

/* The routes as a table, when there are any. */
void vcm_report_print_routes(struct vcm_print *out, const struct vcm_json *document);

/* A list of strings of the document, joined by ", ". */
void vcm_report_join(struct vcm_buf *out, const struct vcm_json *list);

#endif
