#include <string.h>

#include "ops/shared.h"

#include "base/banned.h"

enum { FILES, ENCODING };

static const struct vcm_op_param params[] = {
    [FILES] = {.name = "files",
               .reach = VCM_OP_REACH_FILE,
               .type = VCM_OP_TEXT,
               .positional = true,
               .repeated = true,
               .placeholder = "FILE",
               .hint = VCM_OP_HINT_FILE,
               .default_text = "standard input",
               .summary = "files to count; - is standard input"},
    [ENCODING] = {.name = "encoding",
                  .type = VCM_OP_TEXT,
                  .placeholder = "E",
                  .default_text = "the setting tokenizer",
                  .summary = "o200k_base, cl100k_base, or approx4 for bytes / 4"},
};

static const struct vcm_result_member file_members[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_tokens_file, path),
     .summary = "path of the file; - for standard input"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_tokens_file, bytes),
     .summary = "size of the file"},
    {.name = "tokens",
     VCM_RESULT_FIELD(struct vcm_tokens_file, tokens),
     .summary = "tokens of the file"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "encoding",
     VCM_RESULT_FIELD(struct vcm_tokens_file, encoding),
     .summary = "encoding that was used"},
    {.name = "files",
     .type = VCM_RESULT_OBJECT,
     .is_list = true,
     .members = file_members,
     .summary = "every file that could be read"},
    {.name = "total", .type = VCM_RESULT_INTEGER, .summary = "sum of the tokens"},
    {0},
};

static const char *const examples[] = {
    "vcm tokens src/*.c",
    "git show HEAD | vcm tokens --encoding cl100k_base",
    NULL,
};

struct counting {
    struct vcm_op_call *call;
    bool begun; /* the document was begun, with the first file */
    uint64_t total;
    size_t counted;
    struct vcm_error first; /* of the first file that could not be read; reported at the end */
};

static int put_file(void *context, const struct vcm_tokens_file *file, struct vcm_error *err)
{
    struct counting *counting = context;
    struct vcm_jsonw *w = counting->call->out;

    (void)err;
    if (!counting->begun) {
        vcm_jsonw_begin_object(w);
        vcm_result_put_members(w, result, file);
        vcm_jsonw_key(w, "files");
        vcm_jsonw_begin_array(w);
        counting->begun = true;
    }
    if (file->error) {
        if (counting->first.code != VCM_OK)
            vcm_log_write(counting->call->log, VCM_LOG_ERROR, "%s", file->error->message);
        else
            counting->first = *file->error;
        return VCM_OK;
    }
    counting->counted++;
    counting->total += file->tokens;
    vcm_result_put(w, file_members, file);
    return VCM_OK;
}

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    struct counting counting = {.call = call};
    const struct vcm_tokens_query query = {
        .paths = call->values[FILES].list,
        .count = call->values[FILES].count,
        .encoding = vcm_op_text(call, ENCODING),
    };

    int rc = vcm_tokens(call->vcm, &query, put_file, &counting, err);
    if (rc != VCM_OK)
        return rc;
    vcm_jsonw_end_array(call->out);
    vcm_jsonw_member_uint(call->out, "total", counting.total);
    vcm_jsonw_end_object(call->out);
    if (counting.first.code == VCM_OK)
        return VCM_OK;
    if (counting.counted == 0) {
        *err = counting.first;
        return (int)counting.first.code;
    }
    vcm_log_write(call->log, VCM_LOG_ERROR, "%s", counting.first.message);
    call->exit_status = 3;
    return VCM_OK;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    const struct vcm_json *files = vcm_json_get(document, "files");

    for (const struct vcm_json *f = files->first; f; f = f->next)
        vcm_print_format(out, VCM_PRINT_PLAIN, "%10lld  %s\n",
                         (long long)vcm_json_get_int(f, "tokens", 0),
                         vcm_json_get_text(f, "path", ""));
    if (!call->quiet)
        vcm_print_format(out, VCM_PRINT_BOLD, "%10lld  total\n",
                         (long long)vcm_json_get_int(document, "total", 0));
}

const struct vcm_op vcm_op_tokens = {
    .name = "tokens",
    .summary = "count the tokens of files",
    .description =
        "Counts exactly what the model's tokenizer would count, with special tokens as plain text. "
        "Invalid UTF-8 is replaced by U+FFFD before it is counted. Files of any size take little "
        "memory. The exit status is 3 when some files could not be read.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
    .tool =
        {
            .sets = VCM_OP_SET_CONTEXT,
            .title = "Count tokens",
            .summary = "Counts the tokens of files exactly.",
        },
};
