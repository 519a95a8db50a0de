#include "ops/report.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { REPO, BRANCH, COMMIT, TIMEOUT };

static const struct vcm_op_param params[] = {
    [REPO] = VCM_SHARED_REPO,
    [BRANCH] = {.name = "branch",
                .type = VCM_OP_TEXT,
                .placeholder = "B",
                .summary = "check the map at this branch instead of the working tree's"},
    [COMMIT] = {.name = "commit",
                .type = VCM_OP_TEXT,
                .placeholder = "C",
                .summary = "check the map at this commit instead of the working tree's"},
    [TIMEOUT] = VCM_SHARED_TIMEOUT,
};

static const struct vcm_result_member problem[] = {
    {.name = "line",
     VCM_RESULT_FIELD(struct vcm_map_problem, line),
     .summary = "from 1; 0 if there is no file"},
    {.name = "column",
     VCM_RESULT_FIELD(struct vcm_map_problem, column),
     .summary = "from 1; 0 if there is no file"},
    {.name = "where",
     VCM_RESULT_FIELD(struct vcm_map_problem, where),
     .summary = "place in the map, such as sources[0].name"},
    {.name = "message",
     VCM_RESULT_FIELD(struct vcm_map_problem, message),
     .summary = "what is wrong"},
    {0},
};

static const struct vcm_result_member source[] = {
    {.name = "name", VCM_RESULT_FIELD(struct vcm_map_row, name), .summary = "name of the row"},
    {.name = "type", VCM_RESULT_FIELD(struct vcm_map_row, type), .summary = "type of the source"},
    {.name = "matched_files",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_row, matched_files),
     .summary = "number of files it matches; null if they cannot be counted"},
    {0},
};

static void put_problems(struct vcm_jsonw *w, const struct vcm_map_report *report, bool warnings)
{
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < report->problem_count; i++)
        if (report->problems[i].is_warning == warnings)
            vcm_result_put(w, problem, &report->problems[i]);
    vcm_jsonw_end_array(w);
}

static void put_errors(struct vcm_jsonw *w, const void *from)
{
    put_problems(w, from, false);
}

static void put_warnings(struct vcm_jsonw *w, const void *from)
{
    put_problems(w, from, true);
}

static const struct vcm_result_member result[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_map_report, path),
     .summary = "path of the map, whether it exists or not"},
    {.name = "has_repo_map_file",
     VCM_RESULT_FIELD(struct vcm_map_report, has_repo_map_file),
     .summary = "whether the map file exists"},
    {.name = "ok",
     VCM_RESULT_FIELD(struct vcm_map_report, ok),
     .summary = "whether the map is valid"},
    {.name = "errors",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = problem,
     .put = put_errors,
     .summary = "list of errors"},
    {.name = "warnings",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = problem,
     .put = put_warnings,
     .summary = "list of warnings: valid, but probably not intended"},
    {.name = "sources",
     VCM_RESULT_STRUCTS(struct vcm_map_report, rows, row_count, source),
     .summary = "rows, each with the number of files it matches"},
    {.name = "knowledge_routing",
     VCM_RESULT_STRUCTS(struct vcm_map_report, routes, route_count, vcm_report_counted_route),
     .summary = "routes, each with the number of files it matches"},
    {.name = "unmapped_files",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_map_report, unmapped_files),
     .summary = "number of files that no row and no route matches; null for an invalid map"},
    {0},
};

static const char *const examples[] = {"vcm check", "vcm check ~/src/tool --commit v1.2", NULL};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *repo = vcm_op_text(call, REPO);
    struct vcm_map_query query = {
        .repository = repo ? repo : ".",
        .branch = vcm_op_text(call, BRANCH),
        .commit = vcm_op_text(call, COMMIT),
    };
    struct vcm_map_report *report = NULL;

    int rc = vcm_shared_timeout(&query.timeout_ms, vcm_op_text(call, TIMEOUT), err);
    if (rc == VCM_OK)
        rc = vcm_map_check(&report, call->vcm, &query, err);
    if (rc != VCM_OK)
        return rc;
    call->exit_status = report->ok ? 0 : 2;
    vcm_result_put(call->out, result, report);
    vcm_map_report_free(report);
    return VCM_OK;
}

static void print_problems(struct vcm_print *out, const struct vcm_json *document, const char *key,
                           const char *word, enum vcm_print_style style)
{
    const char *path = vcm_json_get_text(document, "path", "");

    for (const struct vcm_json *p = vcm_json_get(document, key)->first; p; p = p->next) {
        const char *where = vcm_json_get_text(p, "where", "");
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s:%lld:%lld: ", path,
                         (long long)vcm_json_get_int(p, "line", 0),
                         (long long)vcm_json_get_int(p, "column", 0));
        vcm_print_format(out, style, "%s: ", word);
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s%s%s\n", where, where[0] != '\0' ? ": " : "",
                         vcm_json_get_text(p, "message", ""));
    }
}

static void print_sources(struct vcm_print *out, const struct vcm_json *sources)
{
    static const char *const headings[] = {"SOURCE", "TYPE", "FILES"};
    static const bool right[] = {false, false, true};
    struct vcm_print_table table;
    char number[VCM_PRINT_NUMBER_BYTES];

    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *s = sources->first; s; s = s->next) {
        int64_t files = vcm_json_get_int(s, "matched_files", -1);
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(s, "name", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(s, "type", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             files < 0 ? "-" : vcm_print_count(number, (uint64_t)files));
    }
    vcm_print_table_end(&table);
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    char number[VCM_PRINT_NUMBER_BYTES];

    print_problems(out, document, "errors", "error", VCM_PRINT_BAD);
    print_problems(out, document, "warnings", "warning", VCM_PRINT_WARNING);
    if (call->quiet || !vcm_json_get_bool(document, "ok", false))
        return;
    if (!vcm_json_get_bool(document, "has_repo_map_file", false))
        vcm_print_format(out, VCM_PRINT_PLAIN, "there is no %s: the whole tree is one row\n",
                         vcm_json_get_text(document, "path", ""));
    else
        vcm_print_format(out, VCM_PRINT_GOOD, "%s is valid\n",
                         vcm_json_get_text(document, "path", ""));
    print_sources(out, vcm_json_get(document, "sources"));
    vcm_report_print_routes(out, document);
    int64_t unmapped = vcm_json_get_int(document, "unmapped_files", -1);
    if (unmapped < 0)
        return;
    vcm_print_format(out, VCM_PRINT_PLAIN, "%s file%s not mapped\n",
                     vcm_print_count(number, (uint64_t)unmapped), unmapped == 1 ? " is" : "s are");
}

const struct vcm_op vcm_op_check = {
    .name = "check",
    .summary = "validate the repo map of a repository",
    .description =
        "Reads .colony/repo_map.yaml from the working tree, or from a branch or commit, and "
        "reports all errors in one run, with line and column. A valid map is also compared with "
        "the files of the commit: check reports globs that match nothing, and files that no row "
        "and no route matches. The exit status is 2 when the map is not valid.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_REPO,
            .title = "Check a repo map",
            .summary = "Validates .colony/repo_map.yaml of a repository: errors and warnings with "
                       "line and column, how many files each row and route matches, and how many "
                       "files nothing matches.",
            .effects = VCM_OP_NETWORK,
        },
};
