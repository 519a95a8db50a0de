#include "ops/answer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/defaults.h"
#include "base/limits.h"
#include "base/text.h"
#include "ops/op.h"
#include "ops/rows.h"

#include "base/banned.h"

#define ROWS_TRIED_FIRST ((size_t)16)

enum { LIMIT, MAX_TOKENS, NO_LIMIT, CURSOR };

static const struct vcm_op_param params[VCM_ANSWER_PARAMS] = {
    [LIMIT] = {.name = "limit",
               .type = VCM_OP_NUMBER,
               .placeholder = "N",
               .min = 1,
               .max = VCM_LIMIT_ANSWER_ROWS,
               .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_ANSWER_ROWS) "; all with --json",
               .summary = "list at most this many"},
    [MAX_TOKENS] = {.name = "max-answer-tokens",
                    .type = VCM_OP_NUMBER,
                    .placeholder = "N",
                    .min = 1,
                    .max = VCM_LIMIT_ANSWER_TOKENS_MAX,
                    .default_text =
                        VCM_DEFAULT_TEXT(VCM_DEFAULT_ANSWER_TOKENS) " if --limit is not given "
                                                                    "either; none with --json",
                    .summary = "list only what fits this many tokens, but at least one"},
    [NO_LIMIT] = {.name = "no-limit",
                  .reach = VCM_OP_REACH_HERE,
                  .type = VCM_OP_FLAG,
                  .summary = "list everything"},
    [CURSOR] = {.name = "cursor",
                .type = VCM_OP_TEXT,
                .placeholder = "C",
                .summary = "continue a listing: the next_cursor of the answer before"},
};

const char *const vcm_answer_members[] = {"total", "truncated", "next_cursor", NULL};

const struct vcm_op_param *vcm_answer_param(size_t index)
{
    assert(index < VCM_ANSWER_PARAMS);
    return &params[index];
}

static const struct vcm_op_value *value_of(const struct vcm_op_call *call, size_t index)
{
    return &call->values[call->op->param_count + index];
}

static const struct vcm_result_member *member_of(const struct vcm_result_member *members,
                                                 const char *name)
{
    const struct vcm_result_member *found = NULL;

    for (const struct vcm_result_member *m = members; !found && m->name; m++)
        found = m->is_spliced ? member_of(m->members, name) : strcmp(m->name, name) == 0 ? m : NULL;
    return found;
}

/* Members of the key that are integers must be numbers in the cursor, too. */
static int check_numbers(const struct vcm_op_call *call, struct vcm_error *err)
{
    const struct vcm_op_list *list = &call->op->list;
    const struct vcm_result_member *rows = member_of(call->op->result, list->member);
    uint64_t number;

    for (size_t i = 0; i < VCM_ANSWER_KEYS_MAX && list->key[i]; i++) {
        const char *text = call->answer.from.key[i];
        if (member_of(rows->members, list->key[i])->type == VCM_RESULT_INTEGER &&
            !(text && vcm_text_parse_uint(&number, text)))
            return vcm_cursor_refuse(value_of(call, CURSOR)->text, err);
    }
    return VCM_OK;
}

static int take_cursor(struct vcm_op_call *call, struct vcm_error *err)
{
    if (!value_of(call, CURSOR)->is_set)
        return VCM_OK;
    int rc =
        vcm_cursor_parse(&call->answer.from, value_of(call, CURSOR)->text, call->op->list.key, err);
    return rc == VCM_OK ? check_numbers(call, err) : rc;
}

/* What the reader asks for replaces both default bounds. */
int vcm_answer_begin(struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_answer *answer = &call->answer;

    answer->from = (struct vcm_cursor){0};
    answer->rows_max = answer->tokens_max = answer->alike = 0;
    answer->is_sought = false;
    answer->is_asked = answer->rows_default > 0 || answer->tokens_default > 0;
    if (!call->op->list.member)
        return VCM_OK;
    for (size_t i = 0; i < VCM_ANSWER_PARAMS; i++)
        answer->is_asked = answer->is_asked || value_of(call, i)->is_set;
    bool limited = value_of(call, LIMIT)->is_set || value_of(call, MAX_TOKENS)->is_set;
    bool unlimited = value_of(call, NO_LIMIT)->is_set;
    if (limited && unlimited)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "no-limit goes neither with limit nor with max-answer-tokens");
    if (limited) {
        answer->rows_max = value_of(call, LIMIT)->number;
        answer->tokens_max = value_of(call, MAX_TOKENS)->number;
    } else if (!unlimited) {
        answer->rows_max = answer->rows_default;
        answer->tokens_max = answer->tokens_default;
    }
    return take_cursor(call, err);
}

void vcm_answer_release(struct vcm_op_call *call)
{
    vcm_cursor_release(&call->answer.from);
}

const char *vcm_answer_key(struct vcm_op_call *call, size_t index)
{
    assert(index < VCM_ANSWER_KEYS_MAX && call->op->list.key[index]);
    call->answer.is_sought = true;
    return call->answer.from.key[index];
}

uint64_t vcm_answer_key_number(struct vcm_op_call *call, size_t index)
{
    const char *text = vcm_answer_key(call, index);
    uint64_t number = 0;

    return text && vcm_text_parse_uint(&number, text) ? number : 0;
}

uint64_t vcm_answer_rows(const struct vcm_op_call *call)
{
    const struct vcm_answer *answer = &call->answer;
    /* A row has at least one token. */
    uint64_t most = answer->rows_max > 0 ? answer->rows_max : answer->tokens_max;

    /* One more tells whether there is more, and is what the next cursor names. */
    return most > 0 ? most + answer->from.alike + 1 : UINT64_MAX;
}

/* The document of a listing while it is cut. */
struct cutting {
    struct vcm_op_call *call;
    struct vcm_rows rows;
    size_t first;    /* the first row of the answer */
    uint64_t before; /* rows of the listing before that */
    uint64_t total;
    bool has_total, has_truncated, has_cursor;
    struct vcm_buf text; /* scratch */
};

static int read_row(struct vcm_json **out, struct vcm_arena *arena, const struct vcm_rows *rows,
                    size_t index, struct vcm_error *err)
{
    return vcm_json_parse(out, arena, vcm_rows_between(rows, index, index + 1), err);
}

/* How many rows directly before the one at `index` have its key. */
static int count_alike(uint64_t *out, const struct vcm_rows *rows, const char *const *names,
                       size_t index, struct vcm_error *err)
{
    struct vcm_json *row = NULL, *other = NULL;
    bool alike = true;
    struct vcm_arena arena;

    vcm_arena_init(&arena, VCM_GIB);
    *out = 0;
    int rc = read_row(&row, &arena, rows, index, err);
    while (rc == VCM_OK && alike && *out < index) {
        rc = read_row(&other, &arena, rows, index - *out - 1, err);
        alike = rc == VCM_OK && vcm_cursor_alike(names, row, other);
        *out += alike;
    }
    vcm_arena_release(&arena);
    return rc;
}

/* Appends the cursor of a row. `before`: rows of the listing before the first of `rows`, the last
 * `alike` of which have its key. */
static int append_cursor(struct vcm_buf *out, const struct vcm_rows *rows, const char *const *names,
                         size_t index, uint64_t before, uint64_t alike, struct vcm_error *err)
{
    struct vcm_json *row = NULL;
    struct vcm_arena arena;
    uint64_t same = 0;

    vcm_arena_init(&arena, VCM_GIB);
    int rc = count_alike(&same, rows, names, index, err);
    if (rc == VCM_OK)
        rc = read_row(&row, &arena, rows, index, err);
    if (rc == VCM_OK)
        vcm_cursor_append(out, before + index, same + (same == index ? alike : 0), names, row);
    vcm_arena_release(&arena);
    return rc == VCM_OK ? vcm_buf_check(out, "a cursor", err) : rc;
}

/* Whether the row at `index` has the key of the cursor. */
static int is_named(bool *out, const struct cutting *cut, size_t index, struct vcm_error *err)
{
    struct vcm_json *row = NULL;
    struct vcm_arena arena;

    vcm_arena_init(&arena, VCM_GIB);
    int rc = read_row(&row, &arena, &cut->rows, index, err);
    *out = rc == VCM_OK && vcm_cursor_names(&cut->call->answer.from, cut->call->op->list.key, row);
    vcm_arena_release(&arena);
    return rc;
}

/* Finds the first row of the answer: the one that the cursor names or, when that is gone, the one
 * at its place. */
static int find_first(struct cutting *cut, struct vcm_error *err)
{
    const struct vcm_answer *answer = &cut->call->answer;
    bool found = false;
    int rc = VCM_OK;

    if (!answer->from.is_set)
        return VCM_OK;
    size_t at = 0;
    while (rc == VCM_OK && !found && at < (answer->is_sought ? 1 : cut->rows.count)) {
        if (at < cut->rows.count)
            rc = is_named(&found, cut, at, err);
        at += !found;
    }
    if (found)
        for (uint64_t i = 0; rc == VCM_OK && found && i < answer->from.alike; i++) {
            at++;
            found = at < cut->rows.count;
            if (found)
                rc = is_named(&found, cut, at, err);
        }
    else
        at = answer->is_sought                       ? 0
             : answer->from.before < cut->rows.count ? (size_t)answer->from.before
                                                     : cut->rows.count;
    cut->first = at;
    cut->before = answer->is_sought ? answer->from.before : at;
    return rc;
}

static void see_member(void *context, struct vcm_slice name, struct vcm_slice value)
{
    struct cutting *cut = context;
    char digits[24] = "";

    cut->has_truncated =
        cut->has_truncated || vcm_slice_equal(name, vcm_slice_of_string("truncated"));
    cut->has_cursor = cut->has_cursor || vcm_slice_equal(name, vcm_slice_of_string("next_cursor"));
    if (!vcm_slice_equal(name, vcm_slice_of_string("total")) || value.len >= sizeof digits)
        return;
    memcpy(digits, value.data, value.len);
    cut->has_total = vcm_text_parse_uint(&cut->total, digits);
}

struct copying {
    struct vcm_buf *out;
    const struct cutting *cut;
    size_t end;
};

static void copy_member(void *context, struct vcm_slice name, struct vcm_slice value)
{
    const struct copying *copying = context;
    const struct cutting *cut = copying->cut;

    for (const char *const *own = vcm_answer_members; *own; own++)
        if (vcm_slice_equal(name, vcm_slice_of_string(*own)))
            return;
    vcm_buf_append_format(copying->out, "\"%.*s\":", (int)name.len, name.data);
    if (value.data == cut->rows.document.data + cut->rows.list_begin) {
        vcm_buf_append_byte(copying->out, '[');
        vcm_buf_append_slice(copying->out, vcm_rows_between(&cut->rows, cut->first, copying->end));
        vcm_buf_append_byte(copying->out, ']');
    } else {
        vcm_buf_append_slice(copying->out, value);
    }
    vcm_buf_append_byte(copying->out, ',');
}

/* Writes the document with `count` rows. */
static int compose(struct vcm_buf *out, const struct cutting *cut, size_t count,
                   struct vcm_error *err)
{
    struct copying copying = {out, cut, cut->first + count};
    bool more = copying.end < cut->rows.count;

    vcm_buf_clear(out);
    vcm_buf_append_byte(out, '{');
    int rc = vcm_rows_each_member(cut->rows.document, copy_member, &copying, err);
    vcm_buf_append_format(out, "\"total\":%llu,\"truncated\":%s,\"next_cursor\":",
                          (unsigned long long)cut->total, more ? "true" : "false");
    if (rc == VCM_OK && more) {
        vcm_buf_append_byte(out, '"');
        rc = append_cursor(out, &cut->rows, cut->call->op->list.key, copying.end,
                           cut->before - cut->first, 0, err);
        vcm_buf_append_byte(out, '"');
    } else {
        vcm_buf_append_string(out, "null");
    }
    vcm_buf_append_byte(out, '}');
    return rc == VCM_OK ? vcm_buf_check(out, "the answer", err) : rc;
}

static int fits(bool *out, const struct vcm_buf *text, uint64_t tokens_max, struct vcm_error *err)
{
    uint64_t tokens = 0;

    *out = true;
    if (text->len <= tokens_max) /* a token has at least one byte */
        return VCM_OK;
    int rc = vcm_tokens_count(&tokens, NULL, text->data, text->len, tokens_max, err);
    *out = tokens <= tokens_max;
    return rc;
}

/* Makes the answer of `count` rows in `context`, and tells whether it fits. */
typedef int (*try_fn)(void *context, size_t count, bool *fits, struct vcm_error *err);

/* The largest number of rows, of at most `count` and at least one, that fits. The cost is that of
 * a few answers of the size that is found, whatever `count` is. */
static int find_fitting(size_t *out, size_t count, try_fn try_rows, void *context,
                        struct vcm_error *err)
{
    size_t good = 0, bad = count + 1, next = ROWS_TRIED_FIRST < count ? ROWS_TRIED_FIRST : count;
    int rc = VCM_OK;

    while (rc == VCM_OK && good + 1 < bad) {
        bool does = false;
        rc = try_rows(context, next, &does, err);
        if (does)
            good = next;
        else
            bad = next;
        next = bad > count && good > 0 ? (2 * good < count ? 2 * good : count)
                                       : good + (bad - good) / 2;
    }
    *out = good > 0 || count == 0 ? good : 1;
    return rc;
}

static int try_document(void *context, size_t count, bool *does, struct vcm_error *err)
{
    struct cutting *cut = context;

    int rc = compose(&cut->text, cut, count, err);
    return rc == VCM_OK ? fits(does, &cut->text, cut->call->answer.tokens_max, err) : rc;
}

/* Completes a document of which nothing is cut off. */
static int complete(struct vcm_buf *document, const struct cutting *cut, struct vcm_error *err)
{
    if (!cut->call->answer.is_asked)
        return VCM_OK;
    vcm_buf_truncate(document, document->len - 1);
    if (!cut->has_total)
        vcm_buf_append_format(document, ",\"total\":%llu", (unsigned long long)cut->total);
    if (!cut->has_truncated)
        vcm_buf_append_string(document, ",\"truncated\":false");
    if (!cut->has_cursor)
        vcm_buf_append_string(document, ",\"next_cursor\":null");
    vcm_buf_append_byte(document, '}');
    return vcm_buf_check(document, "the answer", err);
}

static int cut_document(struct vcm_buf *document, struct cutting *cut, bool by_tokens,
                        struct vcm_error *err)
{
    struct vcm_answer *answer = &cut->call->answer;
    size_t there = cut->rows.count - cut->first;
    size_t count =
        answer->rows_max > 0 && answer->rows_max < there ? (size_t)answer->rows_max : there;
    uint64_t least = cut->before + there;
    int rc = VCM_OK;

    if (!cut->has_total)
        cut->total = answer->is_sought ? least : cut->rows.count;
    cut->total = cut->total > least ? cut->total : least;
    if (by_tokens && answer->tokens_max > 0)
        rc = find_fitting(&count, count, try_document, cut, err);
    if (rc == VCM_OK && cut->first == 0 && count == cut->rows.count)
        return complete(document, cut, err);
    if (rc == VCM_OK && cut->first < cut->rows.count)
        rc = count_alike(&answer->alike, &cut->rows, cut->call->op->list.key, cut->first, err);
    if (rc == VCM_OK)
        rc = compose(&cut->text, cut, count, err);
    vcm_buf_clear(document);
    vcm_buf_append_slice(document, vcm_buf_slice(&cut->text));
    return rc == VCM_OK ? vcm_buf_check(document, "the answer", err) : rc;
}

int vcm_answer_end(struct vcm_buf *document, struct vcm_op_call *call, struct vcm_error *err)
{
    struct cutting cut = {.call = call};

    if (!call->op->list.member || call->is_over || document->len == 0)
        return VCM_OK;
    vcm_buf_init(&cut.text, document->max);
    int rc = vcm_rows_find(&cut.rows, vcm_buf_slice(document), call->op->list.member, err);
    if (rc == VCM_OK && cut.rows.has_list) {
        rc = vcm_rows_each_member(vcm_buf_slice(document), see_member, &cut, err);
        if (rc == VCM_OK)
            rc = find_first(&cut, err);
        if (rc == VCM_OK)
            rc = cut_document(document, &cut, !call->text || call->json_wanted, err);
        call->answer.before = cut.before;
    }
    vcm_rows_release(&cut.rows);
    vcm_buf_release(&cut.text);
    return rc;
}

/* Printing */

struct printing {
    struct vcm_print *out;
    const struct vcm_op_call *call;
    struct vcm_json *document, *list;
    struct vcm_json **nodes; /* of the rows */
    size_t count;
    struct vcm_rows rows;
    size_t start; /* of the answer in the buffer */
};

static int append_last_line(const struct printing *p, size_t count, struct vcm_error *err)
{
    const struct vcm_answer *answer = &p->call->answer;
    const char *next = vcm_json_get_text(p->document, "next_cursor", NULL);
    uint64_t total = (uint64_t)vcm_json_get_int(p->document, "total", 0);
    struct vcm_buf cursor = VCM_BUF_INIT(VCM_MIB);
    char number[VCM_PRINT_NUMBER_BYTES];
    int rc = VCM_OK;

    if (count == p->count && !next)
        return VCM_OK;
    if (count < p->count)
        rc = append_cursor(&cursor, &p->rows, p->call->op->list.key, count, answer->before,
                           answer->alike, err);
    else
        vcm_buf_append_string(&cursor, next);
    vcm_print_format(p->out, VCM_PRINT_DIM, "%s more: %s --cursor %s%s\n",
                     vcm_print_count(number, total - answer->before - count),
                     answer->command ? answer->command : "continue with", vcm_buf_text(&cursor),
                     answer->command_end ? answer->command_end : "");
    vcm_buf_release(&cursor);
    return rc;
}

/* Prints the document with its first `count` rows. */
static int print_rows(struct printing *p, size_t count, struct vcm_error *err)
{
    vcm_buf_truncate(p->out->out, p->start);
    p->list->first = count > 0 ? p->nodes[0] : NULL;
    p->list->count = (unsigned)count;
    for (size_t i = 0; i < count; i++)
        p->nodes[i]->next = i + 1 < count ? p->nodes[i + 1] : NULL;
    p->call->op->print(p->out, p->document, p->call);
    return append_last_line(p, count, err);
}

static int try_print(void *context, size_t count, bool *does, struct vcm_error *err)
{
    struct printing *p = context;

    int rc = print_rows(p, count, err);
    return rc == VCM_OK ? fits(does, p->out->out, p->call->answer.tokens_max, err) : rc;
}

int vcm_answer_print(struct vcm_print *out, struct vcm_json *document, struct vcm_slice text,
                     const struct vcm_op_call *call, struct vcm_error *err)
{
    struct vcm_json *list = (struct vcm_json *)vcm_json_get(document, call->op->list.member);
    struct printing p = {.out = out,
                         .call = call,
                         .document = document,
                         .list = list,
                         .count = list->count,
                         .start = out->out->len};
    size_t count = p.count;

    p.nodes = calloc(p.count + 1, sizeof(struct vcm_json *));
    if (!p.nodes)
        return vcm_error_memory(err);
    size_t i = 0;
    for (struct vcm_json *row = list->first; row; row = row->next)
        p.nodes[i++] = row;
    int rc = vcm_rows_find(&p.rows, text, call->op->list.member, err);
    if (rc == VCM_OK && call->answer.tokens_max > 0)
        rc = find_fitting(&count, p.count, try_print, &p, err);
    if (rc == VCM_OK)
        rc = print_rows(&p, count, err);
    vcm_rows_release(&p.rows);
    free(p.nodes);
    return rc;
}
