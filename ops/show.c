#include "base/defaults.h"
#include "base/limits.h"
#include "ops/report.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { REPO, RAW, TREE, MAX_DEPTH, MAX_NODES, TIMEOUT };

static const struct vcm_op_param params[] = {
    [REPO] = VCM_SHARED_REPO,
    [RAW] = {.name = "raw", .type = VCM_OP_FLAG, .summary = "the text of the map as it is"},
    [TREE] = {.name = "tree", .type = VCM_OP_FLAG, .summary = "the directories and files on disk"},
    [MAX_DEPTH] = {.name = "max-depth",
                   .type = VCM_OP_NUMBER,
                   .placeholder = "N",
                   .min = 1,
                   .max = VCM_LIMIT_JSON_DEPTH / 2 - 4,
                   .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_TREE_DEPTH),
                   .summary = "how deep --tree goes"},
    [MAX_NODES] = {.name = "max-nodes",
                   .type = VCM_OP_NUMBER,
                   .placeholder = "N",
                   .min = 1,
                   .max = VCM_LIMIT_LISTING_ROWS,
                   .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_TREE_NODES),
                   .summary = "how many entries --tree shows"},
    [TIMEOUT] = VCM_SHARED_TIMEOUT,
};

static const struct vcm_op_key result[] = {
    {"path", "where the map is, or would be"},
    {"has_repo_map_file", "whether it is there"},
    {"map", "the map as it counts, defaults filled in; null if it is invalid"},
    {"raw", "its text with --raw, else null"},
    {"tree", "the directory with --tree, else null"},
    {"tree_truncated", "whether the tree was cut at a limit"},
    {NULL, NULL},
};

static const char *const examples[] = {"vcm show", "vcm show --raw",
                                       "vcm show --tree --max-depth 2", NULL};

static void put_optional_strings(struct vcm_jsonw *w, const char *name, const char *const *items,
                                 size_t count)
{
    if (count > 0)
        vcm_report_put_strings(w, name, items, count);
    else
        vcm_jsonw_member_null(w, name);
}

static void put_row(struct vcm_jsonw *w, const struct vcm_map_row *row)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "name", row->name);
    vcm_jsonw_member_string(w, "type", row->type);
    vcm_jsonw_member_string(w, "origin_url", row->origin_url);
    vcm_jsonw_member_string(w, "submodule", row->submodule);
    vcm_jsonw_member_string(w, "branch", row->branch);
    vcm_jsonw_member_string(w, "commit", row->commit);
    vcm_jsonw_member_string(w, "start_dir", row->start_dir);
    put_optional_strings(w, "include_globs", row->include_globs, row->include_count);
    put_optional_strings(w, "exclude_globs", row->exclude_globs, row->exclude_count);
    vcm_jsonw_member_string(w, "binary_policy", row->include_binaries ? "include" : "skip");
    vcm_jsonw_member_bool(w, "static", row->is_static);
    if (row->is_literature) {
        vcm_jsonw_member_uint(w, "chunk_target_tokens", row->chunk_target_tokens);
        vcm_jsonw_member_uint(w, "chunk_overlap_tokens", row->chunk_overlap_tokens);
    } else {
        vcm_jsonw_member_null(w, "chunk_target_tokens");
        vcm_jsonw_member_null(w, "chunk_overlap_tokens");
    }
    vcm_jsonw_member_uint(w, "flush_threshold", row->flush_threshold);
    vcm_jsonw_member_uint(w, "flush_token_budget", row->flush_token_budget);
    vcm_jsonw_member_bool(w, "pinned", row->pinned);
    vcm_jsonw_end_object(w);
}

static void put_map(struct vcm_jsonw *w, const struct vcm_map_report *report)
{
    if (!report->ok) {
        vcm_jsonw_member_null(w, "map");
        return;
    }
    vcm_jsonw_key(w, "map");
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_uint(w, "schema_version", 1);
    vcm_jsonw_key(w, "sources");
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < report->row_count; i++)
        put_row(w, &report->rows[i]);
    vcm_jsonw_end_array(w);
    vcm_report_put_routes(w, report, false);
    vcm_jsonw_end_object(w);
}

static int enter_node(void *context, const char *path, bool is_directory, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "path", path);
    vcm_jsonw_member_bool(w, "is_dir", is_directory);
    vcm_jsonw_key(w, "children");
    vcm_jsonw_begin_array(w);
    if (!is_directory) {
        vcm_jsonw_end_array(w);
        vcm_jsonw_end_object(w);
    }
    return VCM_OK;
}

static int leave_node(void *context, struct vcm_error *err)
{
    struct vcm_jsonw *w = context;

    (void)err;
    vcm_jsonw_end_array(w);
    vcm_jsonw_end_object(w);
    return VCM_OK;
}

static int put_tree(bool *truncated, struct vcm_op_call *call, const struct vcm_map_report *report,
                    struct vcm_error *err)
{
    static const struct vcm_directory_visitor visitor = {enter_node, leave_node};
    const struct vcm_directory_query query = {
        .root = report->repo_root,
        .max_depth = (unsigned)vcm_op_number(call, MAX_DEPTH, VCM_DEFAULT_TREE_DEPTH),
        .max_nodes = (unsigned)vcm_op_number(call, MAX_NODES, VCM_DEFAULT_TREE_NODES),
    };

    if (report->is_bare)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "'%s' is a bare repository: it has no files on disk to show",
                             report->repo_root);
    vcm_jsonw_key(call->out, "tree");
    return vcm_directory_walk(truncated, &query, &visitor, call->out, err);
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *repo = vcm_op_text(call, REPO);
    bool raw = vcm_op_flag(call, RAW), tree = vcm_op_flag(call, TREE);
    struct vcm_map_query query = {.repository = repo ? repo : ".", .even_invalid = raw || tree};
    struct vcm_map_report *report = NULL;
    struct vcm_jsonw *w = call->out;
    bool truncated = false;

    int rc = vcm_shared_timeout(&query.timeout_ms, vcm_op_text(call, TIMEOUT), err);
    if (rc == VCM_OK)
        rc = vcm_map_show(&report, call->vcm, &query, err);
    if (rc != VCM_OK)
        return rc;
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "path", report->path);
    vcm_jsonw_member_bool(w, "has_repo_map_file", report->has_repo_map_file);
    put_map(w, report);
    if (raw && report->raw)
        vcm_jsonw_member_slice(w, "raw", vcm_slice_of(report->raw, report->raw_len));
    else
        vcm_jsonw_member_null(w, "raw");
    if (tree)
        rc = put_tree(&truncated, call, report, err);
    else
        vcm_jsonw_member_null(w, "tree");
    vcm_jsonw_member_bool(w, "tree_truncated", truncated);
    vcm_jsonw_end_object(w);
    vcm_map_report_free(report);
    return rc;
}

/* A row as YAML, one field to a line, without those that do not apply. */
static void print_row(struct vcm_print *out, const struct vcm_json *row)
{
    struct vcm_buf value = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);

    for (const struct vcm_json *member = row->first; member; member = member->next) {
        vcm_buf_clear(&value);
        if (member->kind == VCM_JSON_NULL)
            continue;
        if (member->kind == VCM_JSON_ARRAY) {
            vcm_buf_append_byte(&value, '[');
            for (const struct vcm_json *item = member->first; item; item = item->next) {
                vcm_jsonw_escape(&value, item->text);
                vcm_buf_append_string(&value, item->next ? ", " : "");
            }
            vcm_buf_append_byte(&value, ']');
        } else if (member->kind == VCM_JSON_BOOL) {
            vcm_buf_append_string(&value, member->boolean ? "true" : "false");
        } else if (member->kind == VCM_JSON_INT) {
            vcm_buf_append_format(&value, "%lld", (long long)member->integer);
        } else {
            vcm_jsonw_escape(&value, member->text);
        }
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s%s: %s\n", member == row->first ? "  - " : "    ",
                         member->key.data, vcm_buf_text(&value));
    }
    vcm_buf_release(&value);
}

static void print_list(struct vcm_print *out, const char *name, const struct vcm_json *list)
{
    vcm_print_format(out, VCM_PRINT_PLAIN, "%s:%s\n", name, list->first ? "" : " []");
    for (const struct vcm_json *row = list->first; row; row = row->next)
        print_row(out, row);
}

static void print_node(struct vcm_print *out, const struct vcm_json *node, unsigned depth)
{
    const char *path = vcm_json_get_text(node, "path", "");
    struct vcm_slice name = vcm_slice_of_string(path);
    bool is_directory = vcm_json_get_bool(node, "is_dir", false);

    for (size_t i = name.len; i > 0; i--)
        if (path[i - 1] == '/') {
            name = vcm_slice_of(path + i, name.len - i);
            break;
        }
    vcm_print_format(out, VCM_PRINT_PLAIN, "%*s", (int)(2 * depth), "");
    vcm_print_format(out, is_directory ? VCM_PRINT_BOLD : VCM_PRINT_PLAIN, "%.*s%s\n",
                     (int)name.len, name.data, is_directory ? "/" : "");
    for (const struct vcm_json *c = vcm_json_get(node, "children")->first; c; c = c->next)
        print_node(out, c, depth + 1);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const struct vcm_json *map = vcm_json_get(document, "map");
    const struct vcm_json *raw = vcm_json_get(document, "raw");
    const struct vcm_json *tree = vcm_json_get(document, "tree");

    if (vcm_op_flag(call, RAW) && raw->kind == VCM_JSON_STRING)
        vcm_buf_append_slice(out->out, raw->text);
    else if (vcm_op_flag(call, RAW))
        vcm_print_format(out, VCM_PRINT_DIM, "there is no %s\n",
                         vcm_json_get_text(document, "path", ""));
    if (tree->kind == VCM_JSON_OBJECT)
        print_node(out, tree, 0);
    if (vcm_json_get_bool(document, "tree_truncated", false))
        vcm_print_text(out, VCM_PRINT_DIM, "... and more; see --max-depth and --max-nodes\n");
    if (vcm_op_flag(call, RAW) || vcm_op_flag(call, TREE))
        return;
    vcm_print_format(out, VCM_PRINT_PLAIN, "schema_version: %lld\n",
                     (long long)vcm_json_get_int(map, "schema_version", 1));
    print_list(out, "sources", vcm_json_get(map, "sources"));
    print_list(out, "knowledge_routing", vcm_json_get(map, "knowledge_routing"));
}

const struct vcm_op vcm_op_show = {
    .name = "show",
    .summary = "show a repository's map, and its directories",
    .description =
        "Prints the map of the working tree with every default filled in. --raw prints its text "
        "instead, --tree the directories and files on disk, folders first and .git left out; both "
        "also when the map is invalid.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
