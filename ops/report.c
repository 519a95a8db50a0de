#include "ops/report.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "ops/failure.h"

#include "base/banned.h"

const char *const vcm_report_binary_policies[] = {"skip", "include", NULL};

static const char *const destinations[] = {"knowledge_base", "vcm", NULL};

void vcm_report_put_strings(struct vcm_jsonw *w, const char *const *items, size_t count)
{
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < count; i++)
        vcm_jsonw_string(w, items[i]);
    vcm_jsonw_end_array(w);
}

const struct vcm_result_member vcm_report_route[] = {
    {.name = "paths",
     VCM_RESULT_STRINGS(struct vcm_map_route, paths, path_count),
     .summary = "gitignore patterns"},
    {.name = "ingest_to",
     VCM_RESULT_FIELD(struct vcm_map_route, ingest_to),
     .choices = destinations,
     .summary = "destination of the files"},
    {.name = "profile",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_route, profile),
     .summary = "profile of the documents, or null"},
    {0},
};

const struct vcm_result_member vcm_report_counted_route[] = {
    {VCM_RESULT_SPLICE_GROUP(vcm_report_route)},
    {.name = "matched_files",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_route, matched_files),
     .summary = "number of files it matches, before promotion; null if they cannot be counted"},
    {0},
};

/* The call that maps a row: the fields that are always present, then those that the row sets. */
static const struct vcm_result_member call_members[] = {
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_map_row, scope_id),
     .summary = "id of the scope"},
    {.name = "source_type",
     VCM_RESULT_FIELD(struct vcm_map_row, type),
     .summary = "type of the source"},
    {.name = "origin_url",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, call_origin_url),
     .summary = "URL of the repository, or null"},
    {.name = "branch",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, call_branch),
     .summary = "branch; null on a detached HEAD"},
    {.name = "commit",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, call_commit),
     .summary = "commit id; as written in the map for another repository"},
    {.name = "start_dir", .type = VCM_RESULT_TEXT, .optional = true, .summary = "directory to map"},
    {.name = "include_globs",
     .type = VCM_RESULT_TEXT,
     .optional = true,
     .is_list = true,
     .summary = "only files that match"},
    {.name = "exclude_globs",
     .type = VCM_RESULT_TEXT,
     .optional = true,
     .is_list = true,
     .summary = "no files that match"},
    {.name = "binary_policy",
     .type = VCM_RESULT_TEXT,
     .optional = true,
     .choices = vcm_report_binary_policies,
     .summary = "whether binary files become records"},
    {.name = "static",
     .type = VCM_RESULT_BOOL,
     .optional = true,
     .summary = "whether a watch leaves the row alone"},
    {.name = "chunk_target_tokens",
     .type = VCM_RESULT_INTEGER,
     .optional = true,
     .summary = "maximum number of tokens of a chunk"},
    {.name = "chunk_overlap_tokens",
     .type = VCM_RESULT_INTEGER,
     .optional = true,
     .summary = "tokens that a chunk repeats from the one before"},
    {0},
};

static void put_call(struct vcm_jsonw *w, const struct vcm_map_row *row)
{
    vcm_jsonw_key(w, "mmap_kwargs");
    vcm_jsonw_begin_object(w);
    vcm_result_put_members(w, call_members, row);
    if (row->sets & VCM_MAP_START_DIR)
        vcm_jsonw_member_string(w, "start_dir", row->start_dir ? row->start_dir : ".");
    if (row->sets & VCM_MAP_INCLUDE_GLOBS) {
        vcm_jsonw_key(w, "include_globs");
        vcm_report_put_strings(w, row->include_globs, row->include_count);
    }
    if (row->sets & VCM_MAP_EXCLUDE_GLOBS) {
        vcm_jsonw_key(w, "exclude_globs");
        vcm_report_put_strings(w, row->exclude_globs, row->exclude_count);
    }
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

const struct vcm_result_member vcm_report_limits[] = {
    {.name = "flush_threshold",
     VCM_RESULT_FIELD(struct vcm_map_row, flush_threshold),
     .summary = "maximum number of records in a page"},
    {.name = "flush_token_budget",
     VCM_RESULT_FIELD(struct vcm_map_row, flush_token_budget),
     .summary = "maximum number of tokens in a page"},
    {.name = "pinned",
     VCM_RESULT_FIELD(struct vcm_map_row, pinned),
     .summary = "whether the pages are exempt from eviction"},
    {0},
};

static const struct vcm_result_member source[] = {
    {.name = "name", VCM_RESULT_FIELD(struct vcm_map_row, name), .summary = "name of the row"},
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_map_row, scope_id),
     .summary = "scope that it would be mapped to"},
    {.name = "error",
     .type = VCM_RESULT_OBJECT,
     .optional = true,
     .members = vcm_failure_cause,
     .summary = "why the row cannot be resolved"},
    {.name = "mmap_kwargs",
     .type = VCM_RESULT_OBJECT,
     .optional = true,
     .members = call_members,
     .summary = "call that would map it, with exactly the fields that the row sets"},
    {.name = "config", VCM_RESULT_GROUP(vcm_report_limits), .summary = "limits of its pages"},
    {0},
};

static const struct vcm_result_member counted_source[] = {
    {VCM_RESULT_SPLICE_GROUP(source)},
    {.name = "matched_files",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, matched_files),
     .summary = "number of files it matches; null if they cannot be counted"},
    {0},
};

static void put_sources(struct vcm_jsonw *w, const struct vcm_map_report *report, bool with_counts)
{
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < report->row_count; i++) {
        const struct vcm_map_row *row = &report->rows[i];
        vcm_jsonw_begin_object(w);
        vcm_result_put_members(w, source, row);
        if (row->error) {
            vcm_jsonw_key(w, "error");
            vcm_result_put(w, vcm_failure_cause, row->error);
        } else {
            put_call(w, row);
        }
        vcm_jsonw_key(w, "config");
        vcm_result_put(w, vcm_report_limits, row);
        if (with_counts)
            vcm_result_put_members(w, counted_source + 1, row);
        vcm_jsonw_end_object(w);
    }
    vcm_jsonw_end_array(w);
}

static void put_plain_sources(struct vcm_jsonw *w, const void *from)
{
    put_sources(w, from, false);
}

static void put_counted_sources(struct vcm_jsonw *w, const void *from)
{
    put_sources(w, from, true);
}

static const struct vcm_result_member head[] = {
    {.name = "origin_url",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_report, origin_url),
     .summary = "URL of the repository, or null"},
    {.name = "branch",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_report, branch),
     .summary = "branch that would be mapped, or null"},
    {.name = "commit",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_report, commit),
     .summary = "commit that would be mapped"},
    {.name = "base_scope_id",
     VCM_RESULT_FIELD(struct vcm_map_report, base_scope_id),
     .summary = "base name of the scopes"},
    {.name = "has_repo_map_file",
     VCM_RESULT_FIELD(struct vcm_map_report, has_repo_map_file),
     .summary = "whether the repository has a map"},
    {0},
};

static const struct vcm_result_member tail[] = {
    {.name = "knowledge_routing",
     VCM_RESULT_STRUCTS(struct vcm_map_report, routes, route_count, vcm_report_counted_route),
     .summary = "routes, each with the number of files it matches"},
    {0},
};

const struct vcm_result_member vcm_report_preview[] = {
    {VCM_RESULT_SPLICE_GROUP(head)},
    {.name = "sources",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = source,
     .put = put_plain_sources,
     .summary = "mapping call of each row, or why there is none, and its page limits"},
    {VCM_RESULT_SPLICE_GROUP(tail)},
    {0},
};

const struct vcm_result_member vcm_report_counted_preview[] = {
    {VCM_RESULT_SPLICE_GROUP(head)},
    {.name = "sources",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = counted_source,
     .put = put_counted_sources,
     .summary = "mapping call of each row, or why there is none, and its page limits"},
    {VCM_RESULT_SPLICE_GROUP(tail)},
    {0},
};

static int preview_status(const struct vcm_map_report *report)
{
    size_t errors = 0;

    for (size_t i = 0; i < report->row_count; i++)
        errors += report->rows[i].error != NULL;
    if (errors == 0)
        return 0;
    return errors == report->row_count ? 1 : 3;
}

int vcm_report_preview_run(struct vcm_op_call *call, const struct vcm_map_query *query,
                           const struct vcm_result_member *members, struct vcm_error *err)
{
    struct vcm_map_report *report = NULL;

    int rc = vcm_map_preview(&report, call->vcm, query, err);
    if (rc != VCM_OK)
        return rc;
    call->exit_status = preview_status(report);
    vcm_result_put(call->out, members, report);
    vcm_map_report_free(report);
    return VCM_OK;
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
