#include "serve/metrics.h"

#include <string.h>

#include "ops/table.h"

#include "base/banned.h"

#define OTHERS (VCM_METRICS_TOOLS_MAX - 1)

static const char *const outcomes[] = {"ok", "tool_error", "protocol_error"};
static const unsigned bounds_ms[VCM_METRICS_BUCKETS] = {1, 10, 100, 1000, 10000, 100000};

static unsigned row_of(const struct vcm_tools *tools, const struct vcm_mcp_call *call)
{
    const struct vcm_op *op = NULL;
    unsigned row = 0;

    if (strcmp(call->message.method, "tools/call") == 0)
        op = vcm_tools_find(tools, vcm_json_get_text(call->message.params, "name", ""));
    while (op && row < OTHERS && vcm_ops[row] && vcm_ops[row] != op)
        row++;
    return op ? row : OTHERS;
}

static void add(uint64_t *counter, uint64_t by)
{
    __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

void vcm_metrics_count(struct vcm_metrics *metrics, const struct vcm_tools *tools,
                       const struct vcm_mcp_call *call, int code, uint64_t elapsed_ms)
{
    struct vcm_metrics_row *row = &metrics->rows[row_of(tools, call)];

    add(&row->outcomes[code != 0             ? VCM_METRICS_PROTOCOL_ERROR
                       : call->is_tool_error ? VCM_METRICS_TOOL_ERROR
                                             : VCM_METRICS_OK],
        1);
    add(&row->total_ms, elapsed_ms);
    for (unsigned i = 0; i < VCM_METRICS_BUCKETS; i++)
        if (elapsed_ms <= bounds_ms[i])
            add(&row->buckets[i], 1);
}

static uint64_t get(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void put_latency(struct vcm_buf *out, const struct vcm_metrics_row *row, const char *name)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < VCM_METRICS_OUTCOMES; i++)
        count += get(&row->outcomes[i]);
    for (unsigned i = 0; i < VCM_METRICS_BUCKETS; i++)
        vcm_buf_append_format(out, "vcm_request_seconds_bucket{tool=\"%s\",le=\"%g\"} %llu\n", name,
                              bounds_ms[i] / 1000.0, (unsigned long long)get(&row->buckets[i]));
    vcm_buf_append_format(out,
                          "vcm_request_seconds_bucket{tool=\"%s\",le=\"+Inf\"} %llu\n"
                          "vcm_request_seconds_sum{tool=\"%s\"} %g\n"
                          "vcm_request_seconds_count{tool=\"%s\"} %llu\n",
                          name, (unsigned long long)count, name,
                          (double)get(&row->total_ms) / 1000.0, name, (unsigned long long)count);
}

static bool is_used(const struct vcm_metrics_row *row)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < VCM_METRICS_OUTCOMES; i++)
        count += get(&row->outcomes[i]);
    return count > 0;
}

void vcm_metrics_put(struct vcm_buf *out, const struct vcm_metrics *metrics)
{
    vcm_buf_append_string(out, "# TYPE vcm_requests_total counter\n");
    for (unsigned pass = 0; pass < 2; pass++) {
        if (pass == 1)
            vcm_buf_append_string(out, "# TYPE vcm_request_seconds histogram\n");
        for (unsigned i = 0, ended = 0; i < VCM_METRICS_TOOLS_MAX; i++) {
            const struct vcm_metrics_row *row = &metrics->rows[i];
            ended = ended || !vcm_ops[i];
            const char *name = ended ? "" : vcm_ops[i]->name;
            if (!is_used(row))
                continue;
            for (unsigned o = 0; pass == 0 && o < VCM_METRICS_OUTCOMES; o++)
                vcm_buf_append_format(out, "vcm_requests_total{tool=\"%s\",outcome=\"%s\"} %llu\n",
                                      name, outcomes[o],
                                      (unsigned long long)get(&row->outcomes[o]));
            if (pass == 1)
                put_latency(out, row, name);
        }
    }
}
