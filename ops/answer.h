/*
 * answer.h - answers that fit: how much of a listing one answer holds, and how the next one goes
 * on.
 *
 * An operation whose descriptor names its list (`.list` in op.h) has the parameters --limit,
 * --max-answer-tokens, --no-limit and --cursor, and its document the members `total`, `truncated`
 * and `next_cursor`. The operation need not know: what it wrote is cut to the bounds. One that can
 * begin in the middle or stop early asks where (vcm_answer_key(), vcm_answer_rows()).
 *
 * A cursor names the next row by its key, and how many rows were before it: it stays valid when
 * rows are added or removed elsewhere, and nobody keeps anything for it.
 */
#ifndef VCM_OPS_ANSWER_H
#define VCM_OPS_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "ops/cursor.h"
#include "ops/result.h"

struct vcm_op;
struct vcm_op_call;
struct vcm_op_param;
struct vcm_print;

struct vcm_answer {
    /* Set by the caller: the bounds when the reader gives none; 0 for none. Tokens are those of the
     * text as printed, or of the JSON document when that is the answer. */
    uint64_t rows_default, tokens_default;
    /* How the reader typed the command, without a cursor, and what has to stand behind the cursor,
     * for the last line of a text; NULL when nobody typed it. */
    const char *command, *command_end;

    /* Set when the call begins. */
    uint64_t rows_max, tokens_max; /* 0 for none */
    bool is_asked;                 /* a bound or a cursor is given */
    struct vcm_cursor from;
    bool is_sought; /* the operation asked where to begin */

    /* Set when the document is cut: rows before its first, and how many directly before have the
     * key of that. */
    uint64_t before, alike;
};

/* The parameters of every listing. */
#define VCM_ANSWER_PARAMS 4u
const struct vcm_op_param *vcm_answer_param(size_t index);

/* The members that the document of a listing has when a bound or a cursor is given. A listing that
 * always has one of them describes it itself. */
#define VCM_ANSWER_TOTAL                                                                           \
    {                                                                                              \
        .name = "total", .type = VCM_RESULT_INTEGER, .optional = true,                             \
        .summary = "how many there are, listed here or not; with a bound or a cursor"              \
    }
#define VCM_ANSWER_TRUNCATED                                                                       \
    {                                                                                              \
        .name = "truncated", .type = VCM_RESULT_BOOL, .optional = true,                            \
        .summary = "whether there are more behind the last one; with a bound or a cursor"          \
    }
#define VCM_ANSWER_NEXT_CURSOR                                                                     \
    {                                                                                              \
        .name = "next_cursor", .type = VCM_RESULT_TEXT, .nullable = true, .optional = true,        \
        .summary = "value for --cursor to continue, or null at the end; with a bound or a cursor"  \
    }
#define VCM_ANSWER_MEMBERS VCM_ANSWER_TOTAL, VCM_ANSWER_TRUNCATED, VCM_ANSWER_NEXT_CURSOR
extern const char *const vcm_answer_members[]; /* their names; ends with NULL */

/* Where a listing begins: the member of the first row's key at `index` of op.h's `key`, or NULL
 * from the beginning. Who asks begins with that row, or the first behind its place. A null is NULL,
 * too: the first key tells. */
const char *vcm_answer_key(struct vcm_op_call *call, size_t index);
uint64_t vcm_answer_key_number(struct vcm_op_call *call, size_t index);

/* How many rows are worth writing; UINT64_MAX for all. Who writes no more than these writes the
 * member "total", the number of all rows wherever the listing begins. */
uint64_t vcm_answer_rows(const struct vcm_op_call *call);

/* Reads the bounds and the cursor from the values of the call. INVALID_ARGUMENT. */
int vcm_answer_begin(struct vcm_op_call *call, struct vcm_error *err);

/* Cuts the document to its bounds and completes it. If a text is made of it, the bound on tokens is
 * left to vcm_answer_print(). */
int vcm_answer_end(struct vcm_buf *document, struct vcm_op_call *call, struct vcm_error *err);
void vcm_answer_release(struct vcm_op_call *call);

/* Prints the document of a listing, whose tree this changes, within the bound on tokens, and a last
 * line if there is more: how much, and the command that goes on. At least one row is printed. */
int vcm_answer_print(struct vcm_print *out, struct vcm_json *document, struct vcm_slice text,
                     const struct vcm_op_call *call, struct vcm_error *err);

#endif
