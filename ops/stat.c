#include "ops/stat.h"

#include "base/banned.h"

static const struct vcm_op_key result[] = {
    {"home", "the directory of the store"},
    {"format_version", "of the store"},
    {"tokenizer", "that token counts are made with"},
    {"scopes", "how many are mapped"},
    {"pages", "how many there are, by state"},
    {"bytes", "of pages by state, the capacity, and the size of the file"},
    {"tokens", "sum over all pages, each once"},
    {"faults", "reads of pages: hits, minor and major faults"},
    {"evictions", "how many pages were evicted"},
    {"hit_ratio", "hits among all reads, null before the first"},
    {"policy", "of eviction"},
    {NULL, NULL},
};

static const char *const examples[] = {"vcm stat", "vcm stat --json | jq .bytes", NULL};

void vcm_stat_put(struct vcm_jsonw *w, const struct vcm_stat *stat)
{
    uint64_t reads = stat->hits + stat->minor_faults + stat->major_faults;

    vcm_jsonw_member_string(w, "home", stat->home);
    vcm_jsonw_member_uint(w, "format_version", stat->format_version);
    vcm_jsonw_member_string(w, "tokenizer", stat->tokenizer);
    vcm_jsonw_member_uint(w, "scopes", stat->scopes);
    vcm_jsonw_key(w, "pages");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_uint(w, "total", stat->pages);
    vcm_jsonw_member_uint(w, "resident", stat->pages_resident);
    vcm_jsonw_member_uint(w, "compressed", stat->pages_compressed);
    vcm_jsonw_member_uint(w, "evicted", stat->pages_evicted);
    vcm_jsonw_member_uint(w, "pinned", stat->pages_pinned);
    vcm_jsonw_member_uint(w, "locked", stat->pages_locked);
    vcm_jsonw_end_object(w);
    vcm_jsonw_key(w, "bytes");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_uint(w, "resident", stat->bytes_resident);
    vcm_jsonw_member_uint(w, "compressed", stat->bytes_compressed);
    vcm_jsonw_member_uint(w, "capacity", stat->bytes_capacity);
    vcm_jsonw_member_uint(w, "file", stat->bytes_file);
    vcm_jsonw_end_object(w);
    vcm_jsonw_member_uint(w, "tokens", stat->tokens);
    vcm_jsonw_key(w, "faults");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_uint(w, "hit", stat->hits);
    vcm_jsonw_member_uint(w, "minor", stat->minor_faults);
    vcm_jsonw_member_uint(w, "major", stat->major_faults);
    vcm_jsonw_end_object(w);
    vcm_jsonw_member_uint(w, "evictions", stat->evictions);
    vcm_jsonw_key(w, "hit_ratio");
    if (reads > 0)
        vcm_jsonw_number(w, (double)stat->hits / (double)reads);
    else
        vcm_jsonw_null(w);
    vcm_jsonw_member_string(w, "policy", stat->policy);
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_stat stat;

    int rc = vcm_stat(&stat, call->vcm, err);
    if (rc != VCM_OK)
        return rc;
    vcm_jsonw_begin_object(call->out);
    vcm_stat_put(call->out, &stat);
    vcm_jsonw_end_object(call->out);
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
    .summary = "show what the store holds",
    .description = "Counts over the whole store, each page once however many scopes share it.",
    .examples = examples,
    .result = result,
    .run = run,
    .print = print,
};
