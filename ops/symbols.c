#include "base/text.h"
#include "ops/shared.h"

#include "base/banned.h"

#define PLACE                                                                                      \
    {                                                                                              \
        .name = "path", .type = VCM_OP_TEXT, .positional = true, .placeholder = "REPO",            \
        .hint = VCM_OP_HINT_DIRECTORY, .reach = VCM_OP_REACH_REPO,                                 \
        .default_text = "the repository around the current directory",                             \
        .summary = "path of a repository, or of a directory in it, or a git URL"                   \
    }

/* Definitions */

enum { SYMBOLS_REPO, SYMBOLS_KIND, SYMBOLS_FILE, SYMBOLS_NAME, SYMBOLS_COMMIT, SYMBOLS_WORKTREE };

static const char *const kinds[] = {
    "function", "method",   "constructor", "prototype",  "macro", "class",  "struct",
    "union",    "enum",     "interface",   "trait",      "type",  "module", "namespace",
    "constant", "variable", "field",       "enumerator", NULL,
};

static const struct vcm_op_param symbols_params[] = {
    [SYMBOLS_REPO] = PLACE,
    [SYMBOLS_KIND] = {.name = "kind",
                      .type = VCM_OP_CHOICE,
                      .choices = kinds,
                      .placeholder = "K",
                      .repeated = true,
                      .summary = "only this kind (may be repeated)"},
    [SYMBOLS_FILE] = {.name = "file",
                      .type = VCM_OP_TEXT,
                      .placeholder = "GLOB",
                      .summary = "only files that match, as in .gitignore"},
    [SYMBOLS_NAME] = {.name = "name",
                      .type = VCM_OP_TEXT,
                      .placeholder = "Q",
                      .summary = "only names that contain this, ignoring case"},
    [SYMBOLS_COMMIT] = VCM_SHARED_LOOK_AT_COMMIT,
    [SYMBOLS_WORKTREE] = {.name = "worktree",
                          .type = VCM_OP_FLAG,
                          .summary = "HEAD with what is changed, added and deleted"},
};

static const char *const sources[] = {"tree-sitter", "ctags", NULL};
static const char *const visibilities[] = {"public", "protected", "private", "internal", NULL};

static const struct vcm_result_member symbol_members[] = {
    {.name = "symbol_id", .type = VCM_RESULT_TEXT, .summary = "path, line, container and name"},
    {.name = "name", .type = VCM_RESULT_TEXT, .summary = "name of the symbol"},
    {.name = "kind", .type = VCM_RESULT_TEXT, .choices = kinds, .summary = "kind of symbol"},
    {.name = "signature", .type = VCM_RESULT_TEXT, .summary = "as written in the source"},
    {.name = "documentation",
     .type = VCM_RESULT_TEXT,
     .summary = "first sentence of its comment; may be empty"},
    {.name = "file_path", .type = VCM_RESULT_TEXT, .summary = "path, relative to the root"},
    {.name = "line", .type = VCM_RESULT_INTEGER, .summary = "line of its name"},
    {.name = "start_line", .type = VCM_RESULT_INTEGER, .summary = "first line"},
    {.name = "end_line", .type = VCM_RESULT_INTEGER, .summary = "last line"},
    {.name = "container",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "symbol that contains it, or null"},
    {.name = "language", .type = VCM_RESULT_TEXT, .summary = "language of the file"},
    {.name = "source", .type = VCM_RESULT_TEXT, .choices = sources, .summary = "how it was found"},
    {.name = "visibility",
     .type = VCM_RESULT_TEXT,
     .choices = visibilities,
     .summary = "where the symbol is visible"},
    {0},
};

static const struct vcm_result_member symbols_result[] = {
    {.name = "symbols",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = symbol_members,
     .summary = "definitions by path and line"},
    {.name = "total", .type = VCM_RESULT_INTEGER, .summary = "number of definitions"},
    {.name = "truncated", .type = VCM_RESULT_BOOL, .summary = "whether some are left out"},
    {.name = "incomplete",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = vcm_shared_gap_members,
     .summary = "files whose symbols are incomplete, and why"},
    {.name = "commit",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "commit that was looked at; null for the working tree"},
    VCM_ANSWER_NEXT_CURSOR,
    {0},
};

static const char *const symbols_examples[] = {
    "vcm symbols --name parse",
    "vcm symbols file:///srv/git/app.git --commit v1.0 --name parse",
    "vcm symbols --kind struct --file 'src/*.h' --json",
    NULL,
};

static int run_symbols(struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_symbol_query query = {
        .path = vcm_op_text(call, SYMBOLS_REPO),
        .commit = vcm_op_text(call, SYMBOLS_COMMIT),
        .worktree = vcm_op_flag(call, SYMBOLS_WORKTREE),
        .kinds = call->values[SYMBOLS_KIND].list,
        .kind_count = call->values[SYMBOLS_KIND].count,
        .file = vcm_op_text(call, SYMBOLS_FILE),
        .name = vcm_op_text(call, SYMBOLS_NAME),
        .from_file = vcm_answer_key(call, 0),
        .from_line = (uint32_t)vcm_answer_key_number(call, 1),
        .limit = vcm_answer_rows(call),
        .progress = call->progress,
        .progress_context = call->progress_context,
    };

    return vcm_symbol_list(call->vcm, &query, vcm_shared_put_document, call, err);
}

static void print_end(struct vcm_print *out, const struct vcm_json *document,
                      const struct vcm_op_call *call)
{
    if (!call->quiet && vcm_json_get_int(document, "total", 0) == 0)
        vcm_print_text(out, VCM_PRINT_PLAIN, "nothing found\n");
}

static void print_symbols(struct vcm_print *out, const struct vcm_json *document,
                          const struct vcm_op_call *call)
{
    const struct vcm_json *list = vcm_json_get(document, "symbols");

    for (const struct vcm_json *s = list->first; s; s = s->next) {
        const char *kind = vcm_json_get_text(s, "kind", "");
        const char *signature = vcm_json_get_text(s, "signature", "");
        const char *name = vcm_json_get_text(s, "name", "");
        bool by_ctags = strcmp(vcm_json_get_text(s, "source", ""), "ctags") == 0;
        bool tells =
            vcm_text_tells_kind(vcm_slice_of_string(signature), kind, vcm_slice_of_string(name));
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s:%lld: %s%s%s%s\n",
                         vcm_json_get_text(s, "file_path", ""),
                         (long long)vcm_json_get_int(s, "line", 0), tells ? "" : kind,
                         tells ? "" : " ", signature, by_ctags ? " (ctags)" : "");
        const char *text = vcm_json_get_text(s, "documentation", "");
        if (text[0] != '\0')
            vcm_print_format(out, VCM_PRINT_DIM, "    %s\n", text);
    }
    if (!call->quiet)
        vcm_shared_print_incomplete(out, vcm_json_get(document, "incomplete"));
    print_end(out, document, call);
}

const struct vcm_op vcm_op_symbols = {
    .name = "symbols",
    .summary = "list the definitions of a repository",
    .description =
        "Lists the definitions of a commit: functions, types, variables and their members, "
        "with signature and the first sentence of their comment.",
    .examples = symbols_examples,
    .params = symbols_params,
    .param_count = VCM_OP_COUNT(symbols_params),
    .result = symbols_result,
    .list = {"symbols", {"file_path", "line"}},
    .run = run_symbols,
    .print = print_symbols,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_NAV,
            .title = "List symbols",
            .summary = "Lists definitions (functions, types, ...) with file, line and signature. "
                       "Narrow it with name, kind or file.",
        },
};

/* References */

enum { REFS_NAME, REFS_REPO, REFS_COMMIT, REFS_WORKTREE };

static const struct vcm_op_param refs_params[] = {
    [REFS_NAME] = {.name = "name",
                   .type = VCM_OP_TEXT,
                   .positional = true,
                   .required = true,
                   .placeholder = "NAME",
                   .summary = "a name, or the symbol_id of a definition"},
    [REFS_REPO] = PLACE,
    [REFS_COMMIT] = VCM_SHARED_LOOK_AT_COMMIT,
    [REFS_WORKTREE] = {.name = "worktree",
                       .type = VCM_OP_FLAG,
                       .summary = "HEAD with what is changed, added and deleted"},
};

static const char *const uses[] = {"call",           "read",     "write", "instantiate",
                                   "implementation", "override", NULL};
static const char *const resolutions[] = {"resolved", "unresolved", NULL};

static const struct vcm_result_member reference_members[] = {
    {.name = "kind", .type = VCM_RESULT_TEXT, .choices = uses, .summary = "kind of use"},
    {.name = "from_symbol",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "symbol_id of the definition that contains it, or null"},
    {.name = "file_path", .type = VCM_RESULT_TEXT, .summary = "path, relative to the root"},
    {.name = "line", .type = VCM_RESULT_INTEGER, .summary = "line of the reference"},
    {.name = "excerpt", .type = VCM_RESULT_TEXT, .summary = "text of the line"},
    {.name = "source", .type = VCM_RESULT_TEXT, .choices = sources, .summary = "how it was found"},
    {.name = "resolution_state",
     .type = VCM_RESULT_TEXT,
     .choices = resolutions,
     .summary = "whether exactly one definition matches"},
    {.name = "target",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "symbol_id of the definition, or null"},
    {.name = "to_name", .type = VCM_RESULT_TEXT, .summary = "name that is used"},
    {.name = "to_container_hint",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "type, module or words before the name, or null"},
    {.name = "candidates",
     .type = VCM_RESULT_TEXT,
     .is_list = true,
     .summary = "symbol_ids that an unresolved reference may mean, 5 at the most"},
    {.name = "candidates_total", .type = VCM_RESULT_INTEGER, .summary = "number of candidates"},
    {0},
};

static const struct vcm_result_member refs_result[] = {
    {.name = "references",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = reference_members,
     .summary = "references by path and line"},
    {.name = "total", .type = VCM_RESULT_INTEGER, .summary = "number of references"},
    {.name = "resolved", .type = VCM_RESULT_INTEGER, .summary = "number of resolved references"},
    {.name = "truncated", .type = VCM_RESULT_BOOL, .summary = "whether some are left out"},
    {.name = "incomplete",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = vcm_shared_gap_members,
     .summary = "files that cannot be read"},
    {.name = "commit",
     .type = VCM_RESULT_TEXT,
     .nullable = true,
     .summary = "commit that was looked at; null for the working tree"},
    VCM_ANSWER_NEXT_CURSOR,
    {0},
};

static const char *const refs_examples[] = {
    "vcm refs vcm_buf_append",
    "vcm refs 'src/store.py:41#Store.read' --json",
    NULL,
};

static int run_refs(struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_reference_query query = {
        .name = vcm_op_text(call, REFS_NAME),
        .path = vcm_op_text(call, REFS_REPO),
        .commit = vcm_op_text(call, REFS_COMMIT),
        .worktree = vcm_op_flag(call, REFS_WORKTREE),
        .from_file = vcm_answer_key(call, 0),
        .from_line = (uint32_t)vcm_answer_key_number(call, 1),
        .limit = vcm_answer_rows(call),
        .progress = call->progress,
        .progress_context = call->progress_context,
    };

    return vcm_reference_list(call->vcm, &query, vcm_shared_put_document, call, err);
}

static void print_refs(struct vcm_print *out, const struct vcm_json *document,
                       const struct vcm_op_call *call)
{
    const struct vcm_json *list = vcm_json_get(document, "references");

    for (const struct vcm_json *r = list->first; r; r = r->next)
        vcm_print_format(
            out, VCM_PRINT_PLAIN, "%s:%lld: %s%s: %s\n", vcm_json_get_text(r, "file_path", ""),
            (long long)vcm_json_get_int(r, "line", 0), vcm_json_get_text(r, "kind", ""),
            vcm_json_get_text(r, "target", NULL) ? "" : " (unresolved)",
            vcm_json_get_text(r, "excerpt", ""));
    if (!call->quiet)
        vcm_shared_print_incomplete(out, vcm_json_get(document, "incomplete"));
    print_end(out, document, call);
}

const struct vcm_op vcm_op_refs = {
    .name = "refs",
    .summary = "list the references to a name",
    .description =
        "Lists the references to a name at a commit. A reference is resolved when file, imports "
        "and "
        "the scoping rules of its language leave exactly one definition. An ambiguous one, or a "
        "member of an object of unknown type, is listed as unresolved. With a symbol_id, as 'vcm "
        "symbols' prints it, references that resolve to other definitions are left out.",
    .examples = refs_examples,
    .params = refs_params,
    .param_count = VCM_OP_COUNT(refs_params),
    .result = refs_result,
    .list = {"references", {"file_path", "line"}},
    .run = run_refs,
    .print = print_refs,
    .tool =
        {
            .sets = VCM_OP_SET_CORE | VCM_OP_SET_NAV,
            .title = "Find references",
            .summary = "Finds definitions of a name and where it is used.",
        },
};
