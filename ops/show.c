#include "base/defaults.h"
#include "base/limits.h"
#include "ops/report.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { REPO, RAW, TREE, MAX_DEPTH, MAX_NODES, TIMEOUT };

static const struct vcm_op_param params[] = {
    [REPO] = VCM_SHARED_REPO,
    [RAW] = {.name = "raw", .type = VCM_OP_FLAG, .summary = "print the text of the map unchanged"},
    [TREE] = {.name = "tree",
              .type = VCM_OP_FLAG,
              .summary = "print the directories and files on disk"},
    [MAX_DEPTH] = {.name = "max-depth",
                   .type = VCM_OP_NUMBER,
                   .placeholder = "N",
                   .min = 1,
                   .max = VCM_LIMIT_JSON_DEPTH / 2 - 4,
                   .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_TREE_DEPTH),
                   .summary = "maximum depth of --tree"},
    [MAX_NODES] = {.name = "max-nodes",
                   .type = VCM_OP_NUMBER,
                   .placeholder = "N",
                   .min = 1,
                   .max = VCM_LIMIT_LISTING_ROWS,
                   .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_TREE_NODES),
                   .summary = "maximum number of entries of --tree"},
    [TIMEOUT] = VCM_SHARED_TIMEOUT,
};

static void put_strings_or_null(struct vcm_jsonw *w, const char *const *items, size_t count)
{
    if (count > 0)
        vcm_report_put_strings(w, items, count);
    else
        vcm_jsonw_null(w);
}

static void put_includes(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_row *row = from;

    put_strings_or_null(w, row->include_globs, row->include_count);
}

static void put_excludes(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_row *row = from;

    put_strings_or_null(w, row->exclude_globs, row->exclude_count);
}

static void put_binary_policy(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_row *row = from;

    vcm_jsonw_string(w, vcm_report_binary_policies[row->include_binaries]);
}

static void put_chunk_number(struct vcm_jsonw *w, const struct vcm_map_row *row, uint32_t number)
{
    if (row->is_literature)
        vcm_jsonw_uint(w, number);
    else
        vcm_jsonw_null(w);
}

static void put_chunk_target(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_row *row = from;

    put_chunk_number(w, row, row->chunk_target_tokens);
}

static void put_chunk_overlap(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_row *row = from;

    put_chunk_number(w, row, row->chunk_overlap_tokens);
}

static const struct vcm_result_member row_members[] = {
    {.name = "name", VCM_RESULT_FIELD(struct vcm_map_row, name), .summary = "name of the row"},
    {.name = "type", VCM_RESULT_FIELD(struct vcm_map_row, type), .summary = "type of the source"},
    {.name = "origin_url",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, origin_url),
     .summary = "URL of another repository, or null"},
    {.name = "submodule",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, submodule),
     .summary = "path of a submodule, or null"},
    {.name = "branch",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, branch),
     .summary = "as written, or null"},
    {.name = "commit",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, commit),
     .summary = "as written, or null"},
    {.name = "start_dir",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, start_dir),
     .summary = "directory to map; null for the whole tree"},
    {.name = "include_globs",
     .type = VCM_RESULT_TEXT,
     .is_list = true,
     .nullable = true,
     .put = put_includes,
     .summary = "only files that match; null for all"},
    {.name = "exclude_globs",
     .type = VCM_RESULT_TEXT,
     .is_list = true,
     .nullable = true,
     .put = put_excludes,
     .summary = "no files that match, or null"},
    {.name = "binary_policy",
     .type = VCM_RESULT_TEXT,
     .choices = vcm_report_binary_policies,
     .put = put_binary_policy,
     .summary = "whether binary files become records"},
    {.name = "static",
     VCM_RESULT_FIELD(struct vcm_map_row, is_static),
     .summary = "whether a watch leaves the row alone"},
    {.name = "chunk_target_tokens",
     .type = VCM_RESULT_INTEGER,
     .nullable = true,
     .put = put_chunk_target,
     .summary = "maximum number of tokens of a chunk; null except for literature"},
    {.name = "chunk_overlap_tokens",
     .type = VCM_RESULT_INTEGER,
     .nullable = true,
     .put = put_chunk_overlap,
     .summary = "tokens that a chunk repeats from the one before; null except for literature"},
    {VCM_RESULT_SPLICE_GROUP(vcm_report_limits)},
    {0},
};

static void put_schema_version(struct vcm_jsonw *w, const void *from)
{
    (void)from;
    vcm_jsonw_uint(w, 1);
}

static const struct vcm_result_member map_members[] = {
    {.name = "schema_version",
     .type = VCM_RESULT_INTEGER,
     .put = put_schema_version,
     .summary = "version of the map's format"},
    {.name = "sources",
     VCM_RESULT_STRUCTS(struct vcm_map_report, rows, row_count, row_members),
     .summary = "the rows"},
    {.name = "knowledge_routing",
     VCM_RESULT_STRUCTS(struct vcm_map_report, routes, route_count, vcm_report_route),
     .summary = "the routes"},
    {0},
};

static void put_map(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_map_report *report = from;

    if (report->ok)
        vcm_result_put(w, map_members, report);
    else
        vcm_jsonw_null(w);
}

static const struct vcm_result_member node_members[4];

static const struct vcm_result_member node_members[4] = {
    {.name = "path",
     .type = VCM_RESULT_TEXT,
     .summary = "path relative to the root; \".\" for the root"},
    {.name = "is_dir", .type = VCM_RESULT_BOOL, .summary = "whether it is a directory"},
    {.name = "children",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = node_members,
     .defined = "node",
     .summary = "entries of a directory, directories first"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_map_report, path),
     .summary = "path of the map, whether it exists or not"},
    {.name = "has_repo_map_file",
     VCM_RESULT_FIELD(struct vcm_map_report, has_repo_map_file),
     .summary = "whether the map file exists"},
    {.name = "map",
     .type = VCM_RESULT_OBJECT,
     .nullable = true,
     .members = map_members,
     .put = put_map,
     .summary = "the map with defaults filled in; null if it is invalid"},
    {.name = "raw",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "text of the map with --raw, else null"},
    {.name = "tree",
     .type = VCM_RESULT_OBJECT,
     .nullable = true,
     .members = node_members,
     .defined = "node",
     .summary = "the directory with --tree, else null"},
    {.name = "tree_truncated",
     .type = VCM_RESULT_BOOL,
     .summary = "whether the tree was cut at a limit"},
    {0},
};

static const char *const examples[] = {"vcm show", "vcm show --raw",
                                       "vcm show --tree --max-depth 2", NULL};

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
    vcm_result_put_members(w, result, report);
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

/* Prints a row as YAML, one field per line, without null fields. */
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

    if (vcm_op_flag(call, RAW) && raw->kind == VCM_JSON_STRING && out->terminal)
        vcm_print_slice(out, VCM_PRINT_PLAIN, raw->text);
    else if (vcm_op_flag(call, RAW) && raw->kind == VCM_JSON_STRING)
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
    .summary = "show the repo map or the files of a repository",
    .description = "Prints the map of the working tree with all defaults filled in. --raw prints "
                   "the text of the map instead, and --tree the directories and files on disk, "
                   "directories first and without .git; both also work when the map is invalid.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_REPO,
            .title = "Show a repo map",
            .summary = "Shows the parsed repo map of a repository with defaults filled in, its raw "
                       "text, or a bounded tree of directories and files.",
            .effects = VCM_OP_NETWORK,
        },
};
