#include "ops/stat.h"

#include "base/banned.h"

static const struct vcm_result_member page_counts[] = {
    {.name = "total",
     VCM_RESULT_FIELD(struct vcm_stat, pages),
     .summary = "all pages, each counted once"},
    {.name = "resident",
     VCM_RESULT_FIELD(struct vcm_stat, pages_resident),
     .summary = "readable in place"},
    {.name = "compressed",
     VCM_RESULT_FIELD(struct vcm_stat, pages_compressed),
     .summary = "pages that are decompressed when they are read"},
    {.name = "evicted",
     VCM_RESULT_FIELD(struct vcm_stat, pages_evicted),
     .summary = "pages that are rebuilt when they are read"},
    {.name = "pinned",
     VCM_RESULT_FIELD(struct vcm_stat, pages_pinned),
     .summary = "pages pinned by themselves or by a scope"},
    {.name = "locked",
     VCM_RESULT_FIELD(struct vcm_stat, pages_locked),
     .summary = "pages with a lock of any owner"},
    {0},
};

static const struct vcm_result_member byte_counts[] = {
    {.name = "resident",
     VCM_RESULT_FIELD(struct vcm_stat, bytes_resident),
     .summary = "size of resident pages"},
    {.name = "compressed",
     VCM_RESULT_FIELD(struct vcm_stat, bytes_compressed),
     .summary = "size of compressed pages"},
    {.name = "capacity",
     VCM_RESULT_FIELD(struct vcm_stat, bytes_capacity),
     .summary = "limit for resident pages"},
    {.name = "file",
     VCM_RESULT_FIELD(struct vcm_stat, bytes_file),
     .summary = "size of the store on disk"},
    {0},
};

static const struct vcm_result_member fault_counts[] = {
    {.name = "hit", VCM_RESULT_FIELD(struct vcm_stat, hits), .summary = "reads of resident pages"},
    {.name = "minor",
     VCM_RESULT_FIELD(struct vcm_stat, minor_faults),
     .summary = "reads that decompressed a page"},
    {.name = "major",
     VCM_RESULT_FIELD(struct vcm_stat, major_faults),
     .summary = "reads that rebuilt a page"},
    {0},
};

static void put_hit_ratio(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_stat *stat = from;
    uint64_t reads = stat->hits + stat->minor_faults + stat->major_faults;

    if (reads > 0)
        vcm_jsonw_number(w, (double)stat->hits / (double)reads);
    else
        vcm_jsonw_null(w);
}

static const char *const policies[] = {"s3fifo", "sieve", "lru", "lfu", NULL};

const struct vcm_result_member vcm_stat_result[] = {
    {.name = "home", VCM_RESULT_FIELD(struct vcm_stat, home), .summary = "directory of the store"},
    {.name = "format_version",
     VCM_RESULT_FIELD(struct vcm_stat, format_version),
     .summary = "version of the store's format"},
    {.name = "tokenizer",
     VCM_RESULT_FIELD(struct vcm_stat, tokenizer),
     .summary = "encoding used for token counts"},
    {.name = "scopes",
     VCM_RESULT_FIELD(struct vcm_stat, scopes),
     .summary = "number of mapped scopes"},
    {.name = "pages", VCM_RESULT_GROUP(page_counts), .summary = "number of pages by state"},
    {.name = "bytes",
     VCM_RESULT_GROUP(byte_counts),
     .summary = "size of pages by state, the capacity, and the size of the file"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_stat, tokens),
     .summary = "sum over all pages, each counted once"},
    {.name = "faults",
     VCM_RESULT_GROUP(fault_counts),
     .summary = "reads of pages: hits, minor and major faults"},
    {.name = "evictions",
     VCM_RESULT_FIELD(struct vcm_stat, evictions),
     .summary = "number of evictions"},
    {.name = "hit_ratio",
     .type = VCM_RESULT_NUMBER,
     .nullable = true,
     .put = put_hit_ratio,
     .summary = "share of hits among all reads; null before the first read"},
    {.name = "policy",
     VCM_RESULT_FIELD(struct vcm_stat, policy),
     .choices = policies,
     .summary = "eviction policy"},
    {0},
};

static const char *const examples[] = {"vcm stat", "vcm stat --json | jq .bytes", NULL};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_stat stat;

    int rc = vcm_stat(&stat, call->vcm, err);
    if (rc != VCM_OK)
        return rc;
    vcm_result_put(call->out, vcm_stat_result, &stat);
    return VCM_OK;
}

static void print_line(struct vcm_print *out, const char *label, const char *value)
{
    vcm_print_format(out, VCM_PRINT_BOLD, "%-11s", label);
    vcm_print_format(out, VCM_PRINT_PLAIN, " %s\n", value);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const struct vcm_json *pages = vcm_json_get(document, "pages");
    const struct vcm_json *bytes = vcm_json_get(document, "bytes");
    const struct vcm_json *faults = vcm_json_get(document, "faults");
    char a[VCM_PRINT_NUMBER_BYTES], b[VCM_PRINT_NUMBER_BYTES];
    struct vcm_buf text = VCM_BUF_INIT(512);

    (void)call;
    print_line(out, "home", vcm_json_get_text(document, "home", ""));
    print_line(out, "tokenizer", vcm_json_get_text(document, "tokenizer", ""));
    print_line(out, "scopes",
               vcm_print_count(a, (uint64_t)vcm_json_get_int(document, "scopes", 0)));
    vcm_buf_append_format(&text, "%s (",
                          vcm_print_count(a, (uint64_t)vcm_json_get_int(pages, "total", 0)));
    for (const struct vcm_json *p = pages->first->next; p; p = p->next)
        vcm_buf_append_format(&text, "%s %s%s", vcm_print_count(a, (uint64_t)p->integer),
                              p->key.data, p->next ? ", " : ")");
    print_line(out, "pages", vcm_buf_text(&text));
    vcm_buf_clear(&text);
    vcm_buf_append_format(&text, "%s of %s",
                          vcm_print_bytes(a, (uint64_t)vcm_json_get_int(bytes, "resident", 0)),
                          vcm_print_bytes(b, (uint64_t)vcm_json_get_int(bytes, "capacity", 0)));
    print_line(out, "resident", vcm_buf_text(&text));
    print_line(out, "compressed",
               vcm_print_bytes(a, (uint64_t)vcm_json_get_int(bytes, "compressed", 0)));
    print_line(out, "file", vcm_print_bytes(a, (uint64_t)vcm_json_get_int(bytes, "file", 0)));
    print_line(out, "tokens",
               vcm_print_count(a, (uint64_t)vcm_json_get_int(document, "tokens", 0)));
    vcm_buf_clear(&text);
    for (const struct vcm_json *f = faults->first; f; f = f->next)
        vcm_buf_append_format(&text, "%s %s%s", vcm_print_count(a, (uint64_t)f->integer),
                              f->key.data, f->next ? ", " : "");
    const struct vcm_json *ratio = vcm_json_get(document, "hit_ratio");
    if (ratio->kind != VCM_JSON_NULL)
        vcm_buf_append_format(&text, " (%.1f %% hits)", 100 * ratio->number);
    print_line(out, "reads", vcm_buf_text(&text));
    print_line(out, "evictions",
               vcm_print_count(a, (uint64_t)vcm_json_get_int(document, "evictions", 0)));
    print_line(out, "policy", vcm_json_get_text(document, "policy", ""));
    vcm_buf_release(&text);
}

const struct vcm_op vcm_op_stat = {
    .name = "stat",
    .summary = "show statistics of the store",
    .description = "Counts over the whole store. A page that several scopes share is counted once.",
    .examples = examples,
    .result = vcm_stat_result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_REPO,
            .title = "Show statistics",
            .summary = "Shows the size of the store, its scopes and pages by state, and the counts "
                       "of hits and faults.",
        },
};
