#include <string.h>

#include "base/defaults.h"
#include "base/limits.h"
#include "ops/shared.h"

#include "base/banned.h"

enum { INGEST_FILES, INGEST_REPO, INGEST_PROFILE, INGEST_JOBS };

static const struct vcm_op_param ingest_params[] = {
    [INGEST_FILES] = {.name = "files",
                      .reach = VCM_OP_REACH_FILE,
                      .type = VCM_OP_TEXT,
                      .positional = true,
                      .repeated = true,
                      .placeholder = "FILE",
                      .hint = VCM_OP_HINT_FILE,
                      .summary = "documents: PDF, Markdown, reStructuredText, HTML or text; or "
                                 "directories of them"},
    [INGEST_REPO] = {.name = "repo",
                     .reach = VCM_OP_REACH_REPO,
                     .type = VCM_OP_TEXT,
                     .placeholder = "REPO",
                     .hint = VCM_OP_HINT_DIRECTORY,
                     .summary =
                         "ingest everything that knowledge_routing of this repository names"},
    [INGEST_PROFILE] = {.name = "profile",
                        .type = VCM_OP_TEXT,
                        .placeholder = "P",
                        .summary =
                            "profile of the documents; a route's own profile has precedence"},
    [INGEST_JOBS] = {.name = "jobs",
                     .reach = VCM_OP_REACH_HERE,
                     .type = VCM_OP_NUMBER,
                     .placeholder = "N",
                     .min = 1,
                     .max = VCM_LIMIT_WORKERS,
                     .default_text = "number of cores",
                     .summary = "number of documents to read in parallel"},
};

static const struct vcm_result_member ingest_file[] = {
    {VCM_RESULT_SPLICE_GROUP(vcm_shared_kb_file)},
    {.name = "source",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_kb_file, source),
     .summary = "base scope id of its repository, or null"},
    {0},
};

struct ingestion {
    const struct vcm_op_call *call;
    struct vcm_jsonw *w;
    uint64_t ingested, skipped, failed, removed;
    struct vcm_kb_passed_over passed;
};

static const struct vcm_result_member passed_members[] = {
    {.name = "hidden",
     VCM_RESULT_FIELD(struct vcm_kb_passed_over, hidden),
     .summary = "number of files and directories whose name begins with a dot"},
    {.name = "links",
     VCM_RESULT_FIELD(struct vcm_kb_passed_over, links),
     .summary = "number of symbolic links"},
    {.name = "others",
     VCM_RESULT_FIELD(struct vcm_kb_passed_over, others),
     .summary = "number of files that are no documents"},
    {0},
};

static const struct vcm_result_member ingest_result[] = {
    {.name = "ingested",
     VCM_RESULT_FIELD(struct ingestion, ingested),
     .summary = "number of documents that are new or changed"},
    {.name = "skipped",
     VCM_RESULT_FIELD(struct ingestion, skipped),
     .summary = "number of documents already present with these bytes and this profile"},
    {.name = "failed",
     VCM_RESULT_FIELD(struct ingestion, failed),
     .summary = "number of documents that could not be read"},
    {.name = "removed",
     VCM_RESULT_FIELD(struct ingestion, removed),
     .summary = "number of documents removed because their file left the repository"},
    {.name = "files",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = ingest_file,
     .summary = "outcome of each document"},
    {.name = "passed_over",
     .type = VCM_RESULT_OBJECT,
     .optional = true,
     .members = passed_members,
     .summary = "what the directories have beside documents; missing if there is nothing"},
    {0},
};

static const char *const ingest_examples[] = {
    "vcm kb ingest papers/*.pdf --profile paper",
    "vcm kb ingest manuals",
    "vcm kb ingest --repo .",
    NULL,
};

static int put_file(void *context, const struct vcm_kb_file *file, struct vcm_error *err)
{
    struct ingestion *ingestion = context;

    (void)err;
    ingestion->ingested += strcmp(file->status, "ingested") == 0;
    ingestion->skipped += strcmp(file->status, "skipped_already_present") == 0;
    ingestion->failed += strcmp(file->status, "failed") == 0;
    ingestion->removed += strcmp(file->status, "removed") == 0;
    if (ingestion->call->progress)
        ingestion->call->progress(ingestion->call->progress_context,
                                  &(struct vcm_progress){.files = ingestion->ingested +
                                                                  ingestion->skipped +
                                                                  ingestion->failed});
    vcm_result_put(ingestion->w, ingest_file, file);
    return VCM_OK;
}

static int check_ingest(const struct vcm_kb_ingest_options *options, struct vcm_error *err)
{
    if (options->file_count == 0 && !options->repository)
        return vcm_error_set(
            err, VCM_INVALID_ARGUMENT,
            "nothing to ingest; name files, directories, or a repository with --repo");
    if (options->profile && options->profile[0] == '\0')
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "--profile needs a name");
    return VCM_OK;
}

static int run_ingest(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_shared_list files;
    struct ingestion ingestion = {.call = call, .w = vcm_shared_list_begin(&files)};
    const struct vcm_kb_ingest_options options = {
        .files = call->values[INGEST_FILES].list,
        .file_count = call->values[INGEST_FILES].count,
        .repository = vcm_op_text(call, INGEST_REPO),
        .profile = vcm_op_text(call, INGEST_PROFILE),
        .jobs = (unsigned)vcm_op_number(call, INGEST_JOBS, 0),
        .passed_over = &ingestion.passed,
    };
    struct vcm_jsonw *w = call->out;

    int rc = check_ingest(&options, err);
    if (rc == VCM_OK)
        rc = vcm_kb_ingest(call->vcm, &options, put_file, &ingestion, err);
    vcm_jsonw_begin_object(w);
    vcm_result_put_members(w, ingest_result, &ingestion);
    rc = vcm_shared_list_end(&files, w, "files", rc, err);
    if (ingestion.passed.hidden + ingestion.passed.links + ingestion.passed.others > 0) {
        vcm_jsonw_key(w, "passed_over");
        vcm_result_put(w, passed_members, &ingestion.passed);
    }
    vcm_jsonw_end_object(w);
    if (ingestion.failed > 0)
        call->exit_status = ingestion.ingested + ingestion.skipped + ingestion.removed > 0 ? 3 : 1;
    return rc;
}

static enum vcm_print_style file_style(const char *status)
{
    if (strcmp(status, "failed") == 0)
        return VCM_PRINT_BAD;
    return strcmp(status, "ingested") == 0 ? VCM_PRINT_GOOD : VCM_PRINT_DIM;
}

static void print_passed(struct vcm_print *out, const struct vcm_json *passed)
{
    if (passed)
        vcm_print_format(out, VCM_PRINT_PLAIN,
                         "passed over: %lld hidden, %lld symbolic links, %lld no documents\n",
                         (long long)vcm_json_get_int(passed, "hidden", 0),
                         (long long)vcm_json_get_int(passed, "links", 0),
                         (long long)vcm_json_get_int(passed, "others", 0));
}

static void print_ingest(struct vcm_print *out, const struct vcm_json *document,
                         const struct vcm_op_call *call)
{
    for (const struct vcm_json *f = vcm_json_get(document, "files")->first; f; f = f->next) {
        const char *status = vcm_json_get_text(f, "status", "");
        const char *message = vcm_json_get_text(f, "message", NULL);
        if (call->quiet && strcmp(status, "failed") != 0)
            continue;
        vcm_print_text(out, file_style(status), status);
        vcm_print_format(out, VCM_PRINT_PLAIN, "  %s", vcm_json_get_text(f, "path", ""));
        if (strcmp(status, "ingested") == 0)
            vcm_print_format(out, VCM_PRINT_DIM, "  %lld chunks",
                             (long long)vcm_json_get_int(f, "chunks", 0));
        if (message)
            vcm_print_format(out, VCM_PRINT_PLAIN, ": %s", message);
        vcm_print_text(out, VCM_PRINT_PLAIN, "\n");
    }
    if (call->quiet)
        return;
    vcm_print_format(out, VCM_PRINT_PLAIN,
                     "%lld ingested, %lld already there, %lld failed, %lld removed\n",
                     (long long)vcm_json_get_int(document, "ingested", 0),
                     (long long)vcm_json_get_int(document, "skipped", 0),
                     (long long)vcm_json_get_int(document, "failed", 0),
                     (long long)vcm_json_get_int(document, "removed", 0));
    print_passed(out, vcm_json_get(document, "passed_over"));
}

const struct vcm_op vcm_op_kb_ingest = {
    .name = "kb ingest",
    .summary = "take documents into the knowledge base",
    .description = "Reads each document, cuts it into chunks of at most " VCM_DEFAULT_TEXT(
        VCM_DEFAULT_CHUNK_TARGET_TOKENS) " tokens along headings, paragraphs "
                                         "and sentences (or as the literature row of the map says "
                                         "that covers it), and indexes "
                                         "them. A document is known by its repository and path; "
                                         "other bytes or another profile "
                                         "replace its chunks, the same ones change nothing. PDFs "
                                         "are read by a program of their "
                                         "own, vcm-extract. A directory is gone through in the "
                                         "order "
                                         "of names, at most 100,000 entries, without following "
                                         "symbolic links; hidden files and those that are no "
                                         "documents are counted, and are no failures. The exit "
                                         "status is 3 when some "
                                         "documents could not be read.",
    .examples = ingest_examples,
    .params = ingest_params,
    .param_count = VCM_OP_COUNT(ingest_params),
    .result = ingest_result,
    .run = run_ingest,
    .print = print_ingest,
    .tool =
        {
            .sets = VCM_OP_SET_KB,
            .title = "Ingest documents",
            .summary = "Reads documents (PDF, Markdown, reStructuredText, HTML, text) into the "
                       "knowledge base, so that kb_search finds them.",
            .effects = VCM_OP_WRITES | VCM_OP_IDEMPOTENT,
        },
};

/* Documents: listing and clearing */

#define FILTER_PARAMS                                                                              \
    [FILTER_PATH] = {.name = "path",                                                               \
                     .type = VCM_OP_TEXT,                                                          \
                     .placeholder = "GLOB",                                                        \
                     .summary = "only documents whose path this gitignore pattern matches"},       \
    [FILTER_SCOPE] = {.name = "scope",                                                             \
                      .type = VCM_OP_TEXT,                                                         \
                      .placeholder = "BASE",                                                       \
                      .summary = "only documents of this repository, by its base scope id"},       \
    [FILTER_PROFILE] = {.name = "profile",                                                         \
                        .type = VCM_OP_TEXT,                                                       \
                        .placeholder = "P",                                                        \
                        .summary = "only documents with this profile"}

enum { FILTER_PATH, FILTER_SCOPE, FILTER_PROFILE, CLEAR_ROUTE, CLEAR_REPO, CLEAR_ALL };

static const struct vcm_op_param list_params[] = {FILTER_PARAMS};

static const struct vcm_op_param clear_params[] = {
    FILTER_PARAMS,
    [CLEAR_ROUTE] = {.name = "route",
                     .type = VCM_OP_NUMBER,
                     .placeholder = "N",
                     .min = 1,
                     .max = VCM_LIMIT_GLOBS,
                     .summary = "documents that route N of the map matches, counted from 1"},
    [CLEAR_REPO] = {.name = "repo",
                    .type = VCM_OP_TEXT,
                    .placeholder = "REPO",
                    .hint = VCM_OP_HINT_DIRECTORY,
                    .default_text = "the repository around the current directory",
                    .summary = "repository whose map has the route"},
    [CLEAR_ALL] = {.name = "all", .type = VCM_OP_FLAG, .summary = "everything"},
};

static const struct vcm_result_member document_members[] = {
    {.name = "source",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_kb_document, source),
     .summary = "base scope id of its repository, or null"},
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_kb_document, path),
     .summary = "relative to the root of that repository, else absolute"},
    {.name = "profile",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_kb_document, profile),
     .summary = "its profile, or null"},
    {.name = "data_type",
     VCM_RESULT_FIELD(struct vcm_kb_document, data_type),
     .summary = "its profile, else its format"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_kb_document, bytes),
     .summary = "size of the document"},
    {.name = "chunks",
     VCM_RESULT_FIELD(struct vcm_kb_document, chunks),
     .summary = "number of chunks"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_kb_document, tokens),
     .summary = "tokens of all its chunks"},
    {.name = "ingested_at",
     VCM_RESULT_FIELD(struct vcm_kb_document, ingested_at),
     .summary = "time of ingestion, Unix seconds"},
    {0},
};

struct listing {
    struct vcm_jsonw *w;
    uint64_t documents, chunks;
};

static const struct vcm_result_member list_result[] = {
    {.name = "documents",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = document_members,
     .summary = "documents by repository and path"},
    VCM_ANSWER_MEMBERS,
    {0},
};

static const struct vcm_result_member clear_result[] = {
    {.name = "removed",
     VCM_RESULT_FIELD(struct listing, documents),
     .summary = "number of documents removed"},
    {.name = "chunks",
     VCM_RESULT_FIELD(struct listing, chunks),
     .summary = "number of chunks removed"},
    {.name = "documents",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = document_members,
     .summary = "the removed documents, as in kb list"},
    {0},
};

static const char *const list_examples[] = {"vcm kb list", "vcm kb list --path 'papers/**'", NULL};
static const char *const clear_examples[] = {"vcm kb clear --path 'drafts/*.md'",
                                             "vcm kb clear --route 2 --repo .", NULL};

static int put_document(void *context, const struct vcm_kb_document *document,
                        struct vcm_error *err)
{
    struct listing *listing = context;

    (void)err;
    listing->documents++;
    listing->chunks += document->chunks;
    vcm_result_put(listing->w, document_members, document);
    return VCM_OK;
}

static struct vcm_kb_filter take_filter(const struct vcm_op_call *call)
{
    return (struct vcm_kb_filter){
        .source = vcm_op_text(call, FILTER_SCOPE),
        .path = vcm_op_text(call, FILTER_PATH),
        .profile = vcm_op_text(call, FILTER_PROFILE),
    };
}

static int run_list(struct vcm_op_call *call, struct vcm_error *err)
{
    struct listing listing = {.w = call->out};
    const struct vcm_kb_filter filter = take_filter(call);

    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "documents");
    vcm_jsonw_begin_array(call->out);
    int rc = vcm_kb_list(call->vcm, &filter, put_document, &listing, err);
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_end_object(call->out);
    return rc;
}

static int run_clear(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_shared_list documents;
    struct listing listing;
    const struct vcm_kb_clear_options options = {
        .filter = take_filter(call),
        .repository = vcm_op_text(call, CLEAR_REPO),
        .route = (uint32_t)vcm_op_number(call, CLEAR_ROUTE, 0),
    };
    bool chosen = options.filter.path || options.filter.source || options.filter.profile;
    bool all = vcm_op_flag(call, CLEAR_ALL);

    if (chosen + (options.route > 0) + all != 1)
        return vcm_error_set(
            err, VCM_INVALID_ARGUMENT,
            "give exactly one of --path GLOB (with --scope or --profile), --route N and --all");
    if (options.repository && options.route == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "--repo goes with --route N");
    listing = (struct listing){.w = vcm_shared_list_begin(&documents)};
    int rc = vcm_kb_clear(call->vcm, &options, put_document, &listing, err);
    vcm_jsonw_begin_object(call->out);
    vcm_result_put_members(call->out, clear_result, &listing);
    rc = vcm_shared_list_end(&documents, call->out, "documents", rc, err);
    vcm_jsonw_end_object(call->out);
    return rc;
}

static void print_list(struct vcm_print *out, const struct vcm_json *document,
                       const struct vcm_op_call *call)
{
    static const char *const headings[] = {"SOURCE", "PATH", "TYPE", "CHUNKS", "TOKENS", "BYTES"};
    static const bool right[] = {false, false, false, true, true, true};
    const struct vcm_json *documents = vcm_json_get(document, "documents");
    struct vcm_print_table table;

    if (!documents->first) {
        if (!call->quiet)
            vcm_print_text(out, VCM_PRINT_PLAIN, "no documents\n");
        return;
    }
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *d = documents->first; d; d = d->next) {
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(d, "source", "-"));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(d, "path", ""));
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(d, "data_type", ""));
        vcm_shared_count_cell(&table, d, "chunks");
        vcm_shared_count_cell(&table, d, "tokens");
        vcm_shared_count_cell(&table, d, "bytes");
    }
    vcm_print_table_end(&table);
}

static void print_clear(struct vcm_print *out, const struct vcm_json *document,
                        const struct vcm_op_call *call)
{
    if (!call->quiet)
        vcm_print_format(out, VCM_PRINT_PLAIN, "%lld documents with %lld chunks removed\n",
                         (long long)vcm_json_get_int(document, "removed", 0),
                         (long long)vcm_json_get_int(document, "chunks", 0));
}

const struct vcm_op vcm_op_kb_list = {
    .name = "kb list",
    .summary = "list the documents of the knowledge base",
    .description = "Lists documents by repository and path; those that were ingested from outside "
                   "a repository come first, under their whole path.",
    .examples = list_examples,
    .params = list_params,
    .param_count = VCM_OP_COUNT(list_params),
    .result = list_result,
    .list = {"documents", {"source", "path"}},
    .run = run_list,
    .print = print_list,
    .tool =
        {
            .sets = VCM_OP_SET_KB,
            .title = "List documents",
            .summary = "Lists the documents of the knowledge base.",
        },
};

const struct vcm_op vcm_op_kb_clear = {
    .name = "kb clear",
    .summary = "remove documents from the knowledge base",
    .description = "Removes documents with their chunks, in one transaction. The files themselves "
                   "stay, and so do pages.",
    .examples = clear_examples,
    .params = clear_params,
    .param_count = VCM_OP_COUNT(clear_params),
    .result = clear_result,
    .run = run_clear,
    .print = print_clear,
};

/* Counts */

static const struct vcm_result_member stat_result[] = {
    {.name = "documents",
     VCM_RESULT_FIELD(struct vcm_kb_stat, documents),
     .summary = "number of documents"},
    {.name = "sources",
     VCM_RESULT_FIELD(struct vcm_kb_stat, sources),
     .summary = "number of repositories they belong to"},
    {.name = "chunks", VCM_RESULT_FIELD(struct vcm_kb_stat, chunks), .summary = "number of chunks"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_kb_stat, tokens),
     .summary = "tokens of all chunks"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_kb_stat, bytes),
     .summary = "size of all documents"},
    {.name = "file_bytes",
     VCM_RESULT_FIELD(struct vcm_kb_stat, file_bytes),
     .summary = "size of the knowledge base on disk"},
    {.name = "schema_version",
     VCM_RESULT_FIELD(struct vcm_kb_stat, schema_version),
     .summary = "version of the database schema; 0 if there is no knowledge base"},
    {0},
};

static const char *const stat_examples[] = {"vcm kb stat", NULL};

static int run_stat(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_kb_stat stat;

    int rc = vcm_kb_stat(&stat, call->vcm, err);
    vcm_result_put(call->out, stat_result, &stat);
    return rc;
}

static void print_stat(struct vcm_print *out, const struct vcm_json *document,
                       const struct vcm_op_call *call)
{
    char number[VCM_PRINT_NUMBER_BYTES];

    (void)call;
    for (const struct vcm_json *member = document->first; member; member = member->next) {
        uint64_t value = (uint64_t)member->integer;
        bool is_size = strstr(member->key.data, "bytes") != NULL;
        vcm_print_format(out, VCM_PRINT_PLAIN, "%-16s %s\n", member->key.data,
                         is_size ? vcm_print_bytes(number, value) : vcm_print_count(number, value));
    }
}

const struct vcm_op vcm_op_kb_stat = {
    .name = "kb stat",
    .summary = "show statistics of the knowledge base",
    .description = "Counts documents, chunks and tokens in the knowledge base of this home.",
    .examples = stat_examples,
    .result = stat_result,
    .run = run_stat,
    .print = print_stat,
    .tool =
        {
            .sets = VCM_OP_SET_KB,
            .title = "Show knowledge base statistics",
            .summary = "Counts the documents and chunks of the knowledge base.",
        },
};
