/*
 * report.h - shared by the documents about a repo map. Private to ops/.
 */
#ifndef VCM_OPS_REPORT_H
#define VCM_OPS_REPORT_H

#include "ops/op.h"

/* A route of a map, over a struct vcm_map_route, without and with its file count. */
extern const struct vcm_result_member vcm_report_route[];
extern const struct vcm_result_member vcm_report_counted_route[];

/* The document of `preview`, over a struct vcm_map_report, and with matched_files of the sources.
 */
extern const struct vcm_result_member vcm_report_preview[];
extern const struct vcm_result_member vcm_report_counted_preview[];

/* The limits of a row's pages, over a struct vcm_map_row. */
extern const struct vcm_result_member vcm_report_limits[];

/* The names of the policies for binary files. */
extern const char *const vcm_report_binary_policies[];

/* Writes a list of strings as one value. */
void vcm_report_put_strings(struct vcm_jsonw *w, const char *const *items, size_t count);

/* Previews the mapping and writes the document by `members`, one of the two above. The exit status
 * is 3 when some rows cannot be resolved, 1 when none can. */
int vcm_report_preview_run(struct vcm_op_call *call, const struct vcm_map_query *query,
                           const struct vcm_result_member *members, struct vcm_error *err);

void vcm_report_print_preview(struct vcm_print *out, const struct vcm_json *document,
                              const struct vcm_op_call *call);

/* Prints the routes as a table, if there are any. */
void vcm_report_print_routes(struct vcm_print *out, const struct vcm_json *document);

/* Appends a list of strings of the document, joined by ", ". */
void vcm_report_join(struct vcm_buf *out, const struct vcm_json *list);

#endif
