/*
 * metrics.h - counts the calls of a server, for /metrics. Any thread may call what is here.
 */
#ifndef VCM_SERVE_METRICS_H
#define VCM_SERVE_METRICS_H

#include "serve/tools.h"

#define VCM_METRICS_TOOLS_MAX 128u
#define VCM_METRICS_BUCKETS   6u

enum vcm_metrics_outcome {
    VCM_METRICS_OK,
    VCM_METRICS_TOOL_ERROR, /* isError */
    VCM_METRICS_PROTOCOL_ERROR,
    VCM_METRICS_OUTCOMES,
};

/* Counters of one tool, or of all other methods. */
struct vcm_metrics_row {
    uint64_t outcomes[VCM_METRICS_OUTCOMES];
    uint64_t buckets[VCM_METRICS_BUCKETS];
    uint64_t total_ms;
};

/* Zeroed at first. */
struct vcm_metrics {
    struct vcm_metrics_row
        rows[VCM_METRICS_TOOLS_MAX]; /* by place in the table; the last: others */
};

/* Counts a call that has ended. */
void vcm_metrics_count(struct vcm_metrics *metrics, const struct vcm_tools *tools,
                       const struct vcm_mcp_call *call, int code, uint64_t elapsed_ms);

/* Appends them in the text format of Prometheus. */
void vcm_metrics_put(struct vcm_buf *out, const struct vcm_metrics *metrics);

#endif
