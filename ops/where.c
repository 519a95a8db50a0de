#include "ops/where.h"

#include <string.h>

#include "base/limits.h"

#include "base/banned.h"

#define TRIES_MAX 12u

void vcm_where_fill(struct vcm_place_query *out, const struct vcm_op_call *call, size_t repo)
{
    *out = (struct vcm_place_query){
        .repo = vcm_op_text(call, repo),
        .scope = vcm_op_text(call, repo + 1),
        .all_scopes = vcm_op_flag(call, repo + 2),
        .commit = vcm_op_text(call, repo + 3),
        .worktree = vcm_op_flag(call, repo + 4),
    };
}

void vcm_where_go_on(struct vcm_buf *out, const struct vcm_op_call *call,
                     const struct vcm_where_rest *rest)
{
    const struct vcm_answer *answer = &call->answer;
    char number[VCM_PRINT_NUMBER_BYTES];

    vcm_buf_append_format(out, "%s more %s: %s --cursor %s%s\n",
                          vcm_print_count(number, rest->left), rest->what,
                          answer->command ? answer->command : "continue with", rest->cursor,
                          answer->command_end ? answer->command_end : "");
}

/* What the last line takes; few tokens have less than two bytes. */
static uint64_t last_line_tokens(const struct vcm_op_call *call)
{
    struct vcm_buf line = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);

    vcm_where_go_on(&line, call, &(struct vcm_where_rest){1000000, "lines", "1000:1000000000"});
    size_t len = line.len;
    vcm_buf_release(&line);
    return len / 2;
}

/* Writes the document and counts it; a document that fits is the result of the call. */
static int try_document(bool *fits, uint64_t *tokens, struct vcm_op_call *call, uint64_t bound,
                        uint64_t most, const struct vcm_where_answer *answer, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &text);
    int rc = answer->put(answer->context, call, &w, most, err);
    if (rc == VCM_OK)
        rc = vcm_jsonw_finish(&w, err);
    if (rc == VCM_OK && bound > 0)
        rc = vcm_tokens_count(tokens, NULL, vcm_buf_text(&text), text.len, 0, err);
    *fits = rc == VCM_OK && (bound == 0 || *tokens <= bound);
    if (*fits)
        vcm_jsonw_raw(call->out, vcm_buf_slice(&text));
    vcm_buf_release(&text);
    return rc;
}

/* A document has more tokens than the text in it: the bound of that is lowered until it fits. */
static int put_document(struct vcm_op_call *call, uint64_t bound,
                        const struct vcm_where_answer *answer, struct vcm_error *err)
{
    uint64_t most = bound, tokens = 0;
    bool fits = false;
    int rc = VCM_OK;

    for (unsigned tries = 0; rc == VCM_OK && !fits && tries < TRIES_MAX; tries++) {
        rc = try_document(&fits, &tokens, call, bound, most, answer, err);
        if (rc == VCM_OK && !fits)
            most = most * bound / (tokens + tokens / 16 + 1);
        most = bound > 0 && most == 0 ? 1 : most;
    }
    /* What cannot be less is given as it is. */
    return rc == VCM_OK && !fits ? try_document(&fits, &tokens, call, 0, 1, answer, err) : rc;
}

int vcm_where_answer(struct vcm_op_call *call, size_t bound, const struct vcm_where_answer *answer,
                     struct vcm_error *err)
{
    bool for_person = call->text && !call->json_wanted;
    /* --format json on the command line is --json, which is complete. */
    uint64_t most = call->text && call->json_wanted ? 0 : call->answer.tokens_default;

    if (vcm_op_is_set(call, bound) && vcm_op_flag(call, bound + 1))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "no-limit does not go with max-answer-tokens");
    most = vcm_op_flag(call, bound + 1) ? 0 : vcm_op_number(call, bound, most);
    if (!for_person)
        return put_document(call, most, answer, err);
    uint64_t reserved = last_line_tokens(call);
    if (most > 2 * reserved)
        most -= reserved;
    int rc = answer->put(answer->context, call, NULL, most, err);
    return rc == VCM_OK ? vcm_buf_check(call->text, "the text", err) : rc;
}

void vcm_where_print(struct vcm_print *out, const struct vcm_json *document,
                     const struct vcm_op_call *call)
{
    (void)document;
    if (out->terminal)
        vcm_print_slice(out, VCM_PRINT_PLAIN, vcm_buf_slice(call->text));
    else
        vcm_buf_append_slice(out->out, vcm_buf_slice(call->text));
}
