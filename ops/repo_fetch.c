#include "ops/shared.h"

#include "base/banned.h"

enum { URL, REF, SUBPATH, DEST, DEPTH, TIMEOUT };

static const struct vcm_op_param params[] = {
    [URL] = {.name = "url",
             .reach = VCM_OP_REACH_URL,
             .type = VCM_OP_TEXT,
             .positional = true,
             .required = true,
             .placeholder = "URL",
             .hint = VCM_OP_HINT_DIRECTORY,
             .summary = "https, ssh or file URL, git@host:path, or a path"},
    [REF] = {.name = "ref",
             .type = VCM_OP_TEXT,
             .placeholder = "R",
             .default_text = "HEAD",
             .summary = "branch, tag or commit"},
    [SUBPATH] = {.name = "subpath",
                 .type = VCM_OP_TEXT,
                 .placeholder = "P",
                 .summary = "fetch, describe and check out only this directory"},
    [DEST] = {.name = "dest",
              .reach = VCM_OP_REACH_HERE,
              .type = VCM_OP_TEXT,
              .placeholder = "DIR",
              .hint = VCM_OP_HINT_DIRECTORY,
              .summary = "check it out here; without it, only clone into the home"},
    [DEPTH] = {.name = "depth",
               .type = VCM_OP_NUMBER,
               .placeholder = "N",
               .default_text = "1",
               .min = 1,
               .max = 100000,
               .summary = "number of commits of history to fetch"},
    [TIMEOUT] = {.name = "timeout",
                 .type = VCM_OP_TEXT,
                 .placeholder = "DURATION",
                 .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_REPO_FETCH_SECONDS) "s",
                 .summary = "time limit, in ms, s, m or h"},
};

static const struct vcm_result_member readme_members[] = {
    {.name = "path", .type = VCM_RESULT_TEXT, .summary = "path of the README"},
    {.name = "content", .type = VCM_RESULT_TEXT, .summary = "its text, at most 4 KiB"},
    {.name = "truncated", .type = VCM_RESULT_BOOL, .summary = "whether the text is cut"},
    {0},
};

static const struct vcm_result_member entry_members[] = {
    {.name = "path", .type = VCM_RESULT_TEXT, .summary = "path of the file"},
    {.name = "kind", .type = VCM_RESULT_TEXT, .summary = "its role, such as cmake or agent-doc"},
    {0},
};

static const struct vcm_result_member signal_members[] = {
    {.name = "has_readme",
     .type = VCM_RESULT_BOOL,
     .summary = "whether there is a README at the root"},
    {.name = "has_docs_dir",
     .type = VCM_RESULT_BOOL,
     .summary = "whether there is a documentation directory at the root"},
    {.name = "has_code",
     .type = VCM_RESULT_BOOL,
     .summary = "whether there is code in a language that vcm symbols knows"},
    {.name = "doc_file_count",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of documents, without the licence"},
    {.name = "code_file_count", .type = VCM_RESULT_INTEGER, .summary = "number of files of code"},
    {.name = "sparse",
     .type = VCM_RESULT_BOOL,
     .summary = "whether there is neither a README nor code nor documents"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "clone_path",
     .type = VCM_RESULT_TEXT,
     .summary = "the directory of --dest, or a bare repository in the home"},
    {.name = "commit", .type = VCM_RESULT_TEXT, .summary = "described commit"},
    {.name = "files", .type = VCM_RESULT_INTEGER, .summary = "number of tracked files"},
    {.name = "files_not_fetched",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of files of the commit that were not fetched because they are outside of "
                "--subpath; 0 if the server does not support partial clones"},
    {.name = "tree",
     .type = VCM_RESULT_TEXT,
     .is_list = true,
     .summary = "paths in byte order, at most 300: some of every top-level entry, then those "
                "nearest to the root"},
    {.name = "tree_total", .type = VCM_RESULT_INTEGER, .summary = "number of all files"},
    {.name = "tree_truncated", .type = VCM_RESULT_BOOL, .summary = "whether some are left out"},
    {.name = "readme",
     .type = VCM_RESULT_OBJECT,
     .nullable = true,
     .members = readme_members,
     .summary = "null if there is none, or if not even its path fits"},
    {.name = "entrypoints",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = entry_members,
     .summary = "files to begin with; those at the root first"},
    {.name = "entrypoints_total",
     .type = VCM_RESULT_INTEGER,
     .summary = "number of all entry points"},
    {.name = "doc_hints",
     .type = VCM_RESULT_TEXT,
     .is_list = true,
     .summary = "document patterns that match something here"},
    {.name = "signals",
     .type = VCM_RESULT_OBJECT,
     .members = signal_members,
     .summary = "what the repository offers"},
    {0},
};

static const char *const examples[] = {
    "vcm repo fetch https://example.org/tool.git",
    "vcm repo fetch git@example.org:tool.git --ref v1.2 --dest tool",
    "vcm repo fetch . --subpath src --json | jq .signals",
    NULL,
};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_repo_fetch_options options = {
        .url = vcm_op_text(call, URL),
        .ref = vcm_op_text(call, REF),
        .subpath = vcm_op_text(call, SUBPATH),
        .dest = vcm_op_text(call, DEST),
        .depth = (unsigned)vcm_op_number(call, DEPTH, 0),
    };

    int rc = vcm_shared_timeout(&options.timeout_ms, vcm_op_text(call, TIMEOUT), err);
    return rc == VCM_OK ? vcm_repo_fetch(call->vcm, &options, vcm_shared_put_document, call, err)
                        : rc;
}

static void print_list(struct vcm_print *out, const struct vcm_json *list, const char *name,
                       const char *key, int64_t total)
{
    int64_t count = 0;

    vcm_print_format(out, VCM_PRINT_BOLD, "\n%s (%lld)\n", name, (long long)total);
    for (const struct vcm_json *item = list->first; item; item = item->next, count++)
        vcm_print_format(out, VCM_PRINT_PLAIN, "  %s\n",
                         key ? vcm_json_get_text(item, key, "") : item->text.data);
    if (count < total)
        vcm_print_format(out, VCM_PRINT_DIM, "  and %lld more\n", (long long)(total - count));
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const struct vcm_json *readme = vcm_json_get(document, "readme");
    const struct vcm_json *signals = vcm_json_get(document, "signals");
    int64_t missing = vcm_json_get_int(document, "files_not_fetched", 0);

    (void)call;
    vcm_print_format(out, VCM_PRINT_PLAIN, "%s\n%s\n",
                     vcm_json_get_text(document, "clone_path", ""),
                     vcm_json_get_text(document, "commit", ""));
    vcm_print_format(out, VCM_PRINT_PLAIN, "%lld files, %lld of code, %lld documents\n",
                     (long long)vcm_json_get_int(document, "files", 0),
                     (long long)vcm_json_get_int(signals, "code_file_count", 0),
                     (long long)vcm_json_get_int(signals, "doc_file_count", 0));
    if (missing > 0)
        vcm_print_format(out, VCM_PRINT_DIM,
                         "%lld files of the commit are not fetched: they are not below --subpath\n",
                         (long long)missing);
    if (vcm_json_get_bool(signals, "sparse", false))
        vcm_print_text(out, VCM_PRINT_WARNING,
                       "nothing here to work from: no README, no code, no documents\n");
    print_list(out, vcm_json_get(document, "entrypoints"), "entry points", "path",
               vcm_json_get_int(document, "entrypoints_total", 0));
    print_list(out, vcm_json_get(document, "tree"), "tree", NULL,
               vcm_json_get_int(document, "tree_total", 0));
    if (readme && readme->kind == VCM_JSON_OBJECT) {
        vcm_print_format(out, VCM_PRINT_BOLD, "\n%s\n", vcm_json_get_text(readme, "path", ""));
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s\n", vcm_json_get_text(readme, "content", ""));
    }
}

const struct vcm_op vcm_op_repo_fetch = {
    .name = "repo fetch",
    .summary = "clone a repository and describe it",
    .description =
        "Clones a repository, or updates a clone to its upstream, and describes it in at most "
        "8,192 bytes of JSON: its files, README and entry points. A fetch that fails for lack of "
        "credentials is tried again over the other one of ssh and https; a fetch that the network "
        "interrupts is retried. A directory given with --dest is reused only if vcm made it, for "
        "the same URL; what you changed or committed there is never overwritten. With --subpath, "
        "all paths of the commit are fetched "
        "but only the contents of that directory, if the server supports it; a later fetch without "
        "--subpath, or vcm map, fetches the rest.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_REPO,
            .title = "Fetch a repository",
            .summary = "Clones a repository by its URL into the home, or updates the clone, and "
                       "describes it: languages, files, entry points.",
            .effects = VCM_OP_WRITES | VCM_OP_IDEMPOTENT | VCM_OP_NETWORK,
        },
};
