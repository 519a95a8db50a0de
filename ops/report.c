#include "ops/report.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"

#include "base/banned.h"

void vcm_report_put_strings(struct vcm_jsonw *w, const char *name, const char *const *items,
                            size_t count)
{
    vcm_jsonw_key(w, name);
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < count; i++)
        vcm_jsonw_string(w, items[i]);
    vcm_jsonw_end_array(w);
}

void vcm_report_put_count(struct vcm_jsonw *w, const char *name, int64_t count)
{
    if (count >= 0)
        vcm_jsonw_member_int(w, name, count);
    else
        vcm_jsonw_member_null(w, name);
}

void vcm_report_put_routes(struct vcm_jsonw *w, const struct vcm_map_report *report,
                           bool with_counts)
{
    vcm_jsonw_key(w, "knowledge_routing");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < report->route_count; i++) {
        const struct vcm_map_route *route = &report->routes[i];
        vcm_jsonw_begin_object(w);
        vcm_report_put_strings(w, "paths", route->paths, route->path_count);
        vcm_jsonw_member_string(w, "ingest_to", route->ingest_to);
        vcm_jsonw_member_string(w, "profile", route->profile);
        if (with_counts)
            vcm_report_put_count(w, "matched_files", route->matched_files);
        vcm_jsonw_end_object(w);
    }
    vcm_jsonw_end_array(w);
}

/* The call that maps a row: what is always there, then what the row itself sets. */
static void put_call(struct vcm_jsonw *w, const struct vcm_map_row *row)
{
    vcm_jsonw_key(w, "mmap_kwargs");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "scope_id", row->scope_id);
    vcm_jsonw_member_string(w, "source_type", row->type);
    vcm_jsonw_member_string(w, "origin_url", row->call_origin_url);
    vcm_jsonw_member_string(w, "branch", row->call_branch);
    vcm_jsonw_member_string(w, "commit", row->call_commit);
    if (row->sets & VCM_MAP_START_DIR)
        vcm_jsonw_member_string(w, "start_dir", row->start_dir ? row->start_dir : ".");
    if (row->sets & VCM_MAP_INCLUDE_GLOBS)
        vcm_report_put_strings(w, "include_globs", row->include_globs, row->include_count);
    if (row->sets & VCM_MAP_EXCLUDE_GLOBS)
        vcm_report_put_strings(w, "exclude_globs", row->exclude_globs, row->exclude_count);
    if (row->sets & VCM_MAP_BINARY_POLICY)
        vcm_jsonw_member_string(w, "binary_policy", row->include_binaries ? "include" : "skip");
    if (row->sets & VCM_MAP_STATIC)
        vcm_jsonw_member_bool(w, "static", row->is_static);
    if (row->sets & VCM_MAP_CHUNK_TARGET_TOKENS)
        vcm_jsonw_member_uint(w, "chunk_target_tokens", row->chunk_target_tokens);
    if (row->sets & VCM_MAP_CHUNK_OVERLAP_TOKENS)
        vcm_jsonw_member_uint(w, "chunk_overlap_tokens", row->chunk_overlap_tokens);
    vcm_jsonw_end_object(w);
}

static void put_source(struct vcm_jsonw *w, const struct vcm_map_row *row, bool with_counts)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "name", row->name);
    vcm_jsonw_member_string(w, "scope_id", row->scope_id);
    if (row->error) {
        vcm_jsonw_key(w, "error");
        vcm_jsonw_begin_object(w);
        vcm_jsonw_member_string(w, "code", vcm_error_code_name(row->error->code));
        vcm_jsonw_member_string(w, "message", row->error->message);
        vcm_jsonw_end_object(w);
    } else {
        put_call(w, row);
    }
    vcm_jsonw_key(w, "config");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_uint(w, "flush_threshold", row->flush_threshold);
    vcm_jsonw_member_uint(w, "flush_token_budget", row->flush_token_budget);
    vcm_jsonw_member_bool(w, "pinned", row->pinned);
    vcm_jsonw_end_object(w);
    if (with_counts)
        vcm_report_put_count(w, "matched_files", row->matched_files);
    vcm_jsonw_end_object(w);
}

void vcm_report_put_preview(struct vcm_jsonw *w, const struct vcm_map_report *report,
                            bool with_counts)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "origin_url", report->origin_url);
    vcm_jsonw_member_string(w, "branch", report->branch);
    vcm_jsonw_member_string(w, "commit", report->commit);
    vcm_jsonw_member_string(w, "base_scope_id", report->base_scope_id);
    vcm_jsonw_member_bool(w, "has_repo_map_file", report->has_repo_map_file);
    vcm_jsonw_key(w, "sources");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < report->row_count; i++)
        put_source(w, &report->rows[i], with_counts);
    vcm_jsonw_end_array(w);
    vcm_report_put_routes(w, report, true);
    vcm_jsonw_end_object(w);
}

int vcm_report_preview_status(const struct vcm_map_report *report)
{
    size_t errors = 0;

    for (size_t i = 0; i < report->row_count; i++)
        errors += report->rows[i].error != NULL;
    if (errors == 0)
        return 0;
    return errors == report->row_count ? 1 : 3;
}

void vcm_report_join(struct vcm_buf *out, const struct vcm_json *list)
{
    for (const struct vcm_json *item = list ? list->first : NULL; item; item = item->next)
        vcm_buf_append_format(out, "%s%s", item == list->first ? "" : ", ", item->text.data);
}

static void print_call(struct vcm_print *out, const struct vcm_json *call)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);

    for (const struct vcm_json *member = call->first; member; member = member->next) {
        vcm_buf_clear(&value);
        if (member->kind == VCM_JSON_ARRAY)
            vcm_report_join(&value, member);
        else if (member->kind == VCM_JSON_BOOL)
            vcm_buf_append_string(&value, member->boolean ? "true" : "false");
        else if (member->kind == VCM_JSON_INT)
            vcm_buf_append_format(&value, "%lld", (long long)member->integer);
        else
            vcm_buf_append_slice(&value, member->text);
        vcm_print_format(out, VCM_PRINT_PLAIN, "  %-20s %s\n", member->key.data,
                         vcm_buf_text(&value));
    }
    vcm_buf_release(&value);
}

void vcm_report_print_routes(struct vcm_print *out, const struct vcm_json *document)
{
    static const char *const headings[] = {"ROUTE", "GOES TO", "PROFILE", "FILES"};
    static const bool right[] = {false, false, false, true};
    const struct vcm_json *routes = vcm_json_get(document, "knowledge_routing");
    struct vcm_buf paths = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);
    struct vcm_print_table table;
    char number[VCM_PRINT_NUMBER_BYTES];

    if (!routes || !routes->first)
        return;
    vcm_buf_append_byte(out->out, '\n');
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *r = routes->first; r; r = r->next) {
        int64_t files = vcm_json_get_int(r, "matched_files", -1);
        vcm_buf_clear(&paths);
        vcm_report_join(&paths, vcm_json_get(r, "paths"));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_buf_text(&paths));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(r, "ingest_to", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(r, "profile", "-"));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             files < 0 ? "-" : vcm_print_count(number, (uint64_t)files));
    }
    vcm_print_table_end(&table);
    vcm_buf_release(&paths);
}

void vcm_report_print_preview(struct vcm_print *out, const struct vcm_json *document,
                              const struct vcm_op_call *call)
{
    char number[VCM_PRINT_NUMBER_BYTES];

    (void)call;
    for (const struct vcm_json *s = vcm_json_get(document, "sources")->first; s; s = s->next) {
        const struct vcm_json *error = vcm_json_get(s, "error");
        const struct vcm_json *config = vcm_json_get(s, "config");
        const struct vcm_json *files = vcm_json_get(s, "matched_files");
        vcm_print_format(out, VCM_PRINT_BOLD, "%s\n", vcm_json_get_text(s, "name", ""));
        if (error)
            vcm_print_format(out, VCM_PRINT_BAD, "  %s: %s\n", vcm_json_get_text(error, "code", ""),
                             vcm_json_get_text(error, "message", ""));
        else
            print_call(out, vcm_json_get(s, "mmap_kwargs"));
        vcm_print_format(out, VCM_PRINT_PLAIN,
                         "  pages of at most %lld records and %lld tokens%s\n",
                         (long long)vcm_json_get_int(config, "flush_threshold", 0),
                         (long long)vcm_json_get_int(config, "flush_token_budget", 0),
                         vcm_json_get_bool(config, "pinned", false) ? ", pinned" : "");
        if (files && files->kind == VCM_JSON_INT)
            vcm_print_format(out, VCM_PRINT_PLAIN, "  %s file%s\n",
                             vcm_print_count(number, (uint64_t)files->integer),
                             files->integer == 1 ? "" : "s");
    }
    vcm_report_print_routes(out, document);
}
