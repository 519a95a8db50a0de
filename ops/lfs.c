#include <string.h>

#include "ops/shared.h"

#include "base/banned.h"

enum { REPO };
enum { SCOPE };

static const struct vcm_op_param status_params[] = {
    [REPO] = VCM_SHARED_REPO,
};

static const struct vcm_op_param pull_params[] = {
    [SCOPE] = {.name = "scope",
               .type = VCM_OP_TEXT,
               .placeholder = "S",
               .default_text = "every mapped scope",
               .summary = "scope, base of scopes, or a unique prefix of either"},
};

static const char *const modes[] = {"same_remote", "separate", "disabled", NULL};

static const struct vcm_result_member file_members[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_lfs_file, path),
     .summary = "path, relative to the root"},
    {.name = "oid", VCM_RESULT_FIELD(struct vcm_lfs_file, oid), .summary = "64 hex digits"},
    {.name = "size", VCM_RESULT_FIELD(struct vcm_lfs_file, size), .summary = "size of the content"},
    {.name = "present",
     VCM_RESULT_FIELD(struct vcm_lfs_file, present),
     .summary = "whether the content is on this machine"},
    {0},
};

static const struct vcm_result_member pulled_members[] = {
    {.name = "scope_id",
     VCM_RESULT_FIELD(struct vcm_lfs_file, scope_id),
     .summary = "scope that lacked it"},
    {VCM_RESULT_SPLICE_GROUP(file_members)},
    {.name = "fetched",
     VCM_RESULT_FIELD(struct vcm_lfs_file, fetched),
     .summary = "whether it was fetched by this call"},
    {0},
};

static const struct vcm_result_member gap_members[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_lfs_gap, path),
     .summary = "path, relative to the root"},
    {.name = "reason",
     VCM_RESULT_FIELD(struct vcm_lfs_gap, reason),
     .summary = "why, as in 'vcm coverage'"},
    {0},
};

static const struct vcm_result_member status_result[] = {
    {.name = "files",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = file_members,
     .summary = "every pointer of the tree with its size and whether its content is present"},
    {.name = "repo_root",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, repo_root),
     .summary = "the working tree, or the directory of a bare repository"},
    {.name = "commit",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_lfs_summary, commit),
     .summary = "commit of HEAD; null if there is none"},
    {.name = "lfs_mode",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, mode),
     .choices = modes,
     .summary = "lfs.mode of the manifest"},
    {.name = "count",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, files),
     .summary = "number of files in LFS"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, bytes),
     .summary = "size of all of them"},
    {.name = "present",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, present),
     .summary = "number of files whose content is present"},
    {.name = "missing",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, missing),
     .summary = "number of files whose content is missing"},
    {.name = "bytes_to_fetch",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, missing_bytes),
     .summary = "size of the missing content"},
    {.name = "incomplete",
     VCM_RESULT_STRUCTS(struct vcm_lfs_summary, incomplete, incomplete_count, gap_members),
     .summary = "files that cannot be read; they may be kept in LFS"},
    {0},
};

static const struct vcm_result_member pull_result[] = {
    {.name = "files",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = pulled_members,
     .summary = "every file that a mapped row lacked, and whether it was fetched"},
    {.name = "fetched",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, fetched),
     .summary = "number of files fetched"},
    {.name = "missing",
     VCM_RESULT_FIELD(struct vcm_lfs_summary, missing),
     .summary = "number of files still missing"},
    {.name = "bytes", .type = VCM_RESULT_INTEGER, .summary = "size of the fetched content"},
    {.name = "error",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_lfs_summary, error),
     .summary = "why content is still missing, or null"},
    {0},
};

static const char *const status_examples[] = {
    "vcm lfs status",
    "vcm lfs status --json | jq .bytes_to_fetch",
    NULL,
};

static const char *const pull_examples[] = {"vcm lfs pull --scope docs-1a2b3c4d", "vcm lfs pull",
                                            NULL};

struct listing {
    struct vcm_op_call *call;
    uint64_t fetched_bytes;
};

static int put_file(void *context, const struct vcm_lfs_file *file, struct vcm_error *err)
{
    struct listing *listing = context;

    (void)err;
    vcm_result_put(listing->call->out, file->scope_id ? pulled_members : file_members, file);
    listing->fetched_bytes += file->fetched ? file->size : 0;
    return VCM_OK;
}

static int put_status(void *context, const struct vcm_lfs_summary *sum, struct vcm_error *err)
{
    struct listing *listing = context;
    struct vcm_jsonw *w = listing->call->out;

    (void)err;
    vcm_jsonw_end_array(w);
    vcm_result_put_members(w, status_result + 1, sum);
    return VCM_OK;
}

static int run_status(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *repo = vcm_op_text(call, REPO);
    struct listing listing = {.call = call};

    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "files");
    vcm_jsonw_begin_array(call->out);
    int rc = vcm_lfs_status(call->vcm, repo ? repo : ".", put_file, put_status, &listing, err);
    if (rc == VCM_OK)
        vcm_jsonw_end_object(call->out);
    return rc;
}

/* The exit status is 3 when some content was fetched and some was not, 1 when none was. */
static int put_pull(void *context, const struct vcm_lfs_summary *sum, struct vcm_error *err)
{
    struct listing *listing = context;
    struct vcm_jsonw *w = listing->call->out;

    (void)err;
    vcm_jsonw_end_array(w);
    const struct vcm_result_member *bytes = vcm_result_put_members(w, pull_result + 1, sum);
    vcm_jsonw_member_uint(w, bytes->name, listing->fetched_bytes);
    vcm_result_put_members(w, bytes + 1, sum);
    if (sum->missing > 0 || sum->error)
        listing->call->exit_status = sum->present > 0 ? 3 : 1;
    return VCM_OK;
}

static int run_pull(struct vcm_op_call *call, struct vcm_error *err)
{
    struct listing listing = {.call = call};

    vcm_jsonw_begin_object(call->out);
    vcm_jsonw_key(call->out, "files");
    vcm_jsonw_begin_array(call->out);
    int rc = vcm_lfs_pull(call->vcm, vcm_op_text(call, SCOPE), put_file, put_pull, &listing, err);
    if (rc == VCM_OK)
        vcm_jsonw_end_object(call->out);
    return rc;
}

static void print_files(struct vcm_print *out, const struct vcm_json *files, const char *good)
{
    static const char *const headings[] = {"CONTENT", "SIZE", "OID", "PATH"};
    static const bool right[] = {false, true, false, false};
    char number[VCM_PRINT_NUMBER_BYTES], oid[13];
    struct vcm_print_table table;

    if (!files->first)
        return;
    vcm_print_table_begin(&table, out, headings, right, VCM_OP_COUNT(headings));
    for (const struct vcm_json *f = files->first; f; f = f->next) {
        bool present = vcm_json_get_bool(f, "present", false);
        vcm_print_table_cell(&table, present ? VCM_PRINT_GOOD : VCM_PRINT_WARNING,
                             present ? good : "missing");
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN,
                             vcm_print_bytes(number, (uint64_t)vcm_json_get_int(f, "size", 0)));
        memcpy(oid, vcm_json_get_text(f, "oid", "            "), 12);
        oid[12] = '\0';
        vcm_print_table_cell(&table, VCM_PRINT_DIM, oid);
        vcm_print_table_cell(&table, VCM_PRINT_PLAIN, vcm_json_get_text(f, "path", ""));
    }
    vcm_print_table_end(&table);
}

static void print_status(struct vcm_print *out, const struct vcm_json *document,
                         const struct vcm_op_call *call)
{
    char a[VCM_PRINT_NUMBER_BYTES], b[VCM_PRINT_NUMBER_BYTES];
    const struct vcm_json *incomplete = vcm_json_get(document, "incomplete");

    print_files(out, vcm_json_get(document, "files"), "here");
    for (const struct vcm_json *f = incomplete->first; f && !call->quiet; f = f->next)
        vcm_print_format(out, VCM_PRINT_WARNING, "%s: not read: %s\n",
                         vcm_json_get_text(f, "path", ""), vcm_json_get_text(f, "reason", ""));
    vcm_print_format(out, VCM_PRINT_PLAIN, "%lld files in LFS, %s; %lld missing, %s to fetch\n",
                     (long long)vcm_json_get_int(document, "count", 0),
                     vcm_print_bytes(a, (uint64_t)vcm_json_get_int(document, "bytes", 0)),
                     (long long)vcm_json_get_int(document, "missing", 0),
                     vcm_print_bytes(b, (uint64_t)vcm_json_get_int(document, "bytes_to_fetch", 0)));
}

static void print_pull(struct vcm_print *out, const struct vcm_json *document,
                       const struct vcm_op_call *call)
{
    const char *error = vcm_json_get_text(document, "error", NULL);
    char bytes[VCM_PRINT_NUMBER_BYTES];

    (void)call;
    print_files(out, vcm_json_get(document, "files"), "fetched");
    vcm_print_format(out, VCM_PRINT_PLAIN, "%lld fetched, %s; %lld missing\n",
                     (long long)vcm_json_get_int(document, "fetched", 0),
                     vcm_print_bytes(bytes, (uint64_t)vcm_json_get_int(document, "bytes", 0)),
                     (long long)vcm_json_get_int(document, "missing", 0));
    if (error)
        vcm_print_format(out, VCM_PRINT_BAD, "%s\n", error);
    if (vcm_json_get_int(document, "fetched", 0) > 0)
        vcm_print_text(out, VCM_PRINT_DIM, "map again to have it in pages\n");
}

const struct vcm_op vcm_op_lfs_status = {
    .name = "lfs status",
    .summary = "list files in LFS and whether their content is present",
    .description = "Lists the LFS pointers of HEAD's tree with their sizes, and whether the "
                   "content of each is on this machine. Fetches nothing.",
    .examples = status_examples,
    .params = status_params,
    .param_count = VCM_OP_COUNT(status_params),
    .result = status_result,
    .run = run_status,
    .print = print_status,
};

const struct vcm_op vcm_op_lfs_pull = {
    .name = "lfs pull",
    .summary = "fetch the LFS content that mapped rows lack",
    .description = "Runs git lfs fetch for the files that mapped rows left out as lfs_missing, and "
                   "for no others; working trees do not change. The manifest of the mapped commit "
                   "decides: nothing is fetched if it disables LFS, and separate_url is used if it "
                   "has one. Map again afterwards to get the content into pages. The exit status "
                   "is 3 when some content could not be fetched, and 1 when none could.",
    .examples = pull_examples,
    .params = pull_params,
    .param_count = VCM_OP_COUNT(pull_params),
    .result = pull_result,
    .run = run_pull,
    .print = print_pull,
};
