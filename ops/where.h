/*
 * where.h - shared by the operations that look into a repository or into mapped scopes: the
 * parameters that say where, and those that bound a text. Private to ops/.
 */
#ifndef VCM_OPS_WHERE_H
#define VCM_OPS_WHERE_H

#include "ops/shared.h"

/* The parameters of struct vcm_place_query, for the enum and the table of an operation. */
#define VCM_WHERE_INDEXES WHERE_REPO, WHERE_SCOPE, WHERE_ALL, WHERE_COMMIT, WHERE_WORKTREE
#define VCM_WHERE_PARAMS                                                                           \
    [WHERE_REPO] = {.name = "repo",                                                                \
                    .type = VCM_OP_TEXT,                                                           \
                    .placeholder = "R",                                                            \
                    .hint = VCM_OP_HINT_DIRECTORY,                                                 \
                    .reach = VCM_OP_REACH_REPO,                                                    \
                    .default_text = "the repository around the current directory",                 \
                    .summary = "path of a repository, or of a directory in it, or a git URL"},     \
    [WHERE_SCOPE] = {.name = "scope",                                                              \
                     .type = VCM_OP_TEXT,                                                          \
                     .placeholder = "S",                                                           \
                     .summary = "look at the mapped pages of this scope or base"},                 \
    [WHERE_ALL] = {.name = "all-scopes",                                                           \
                   .type = VCM_OP_FLAG,                                                            \
                   .summary = "look at the mapped pages of all scopes"},                           \
    [WHERE_COMMIT] = VCM_SHARED_LOOK_AT_COMMIT,                                                    \
    [WHERE_WORKTREE] = {.name = "worktree",                                                        \
                        .type = VCM_OP_FLAG,                                                       \
                        .summary = "HEAD with what is changed, added and deleted"}

/* Fills the query from the parameters; `repo` is the index of the first of them. */
void vcm_where_fill(struct vcm_place_query *out, const struct vcm_op_call *call, size_t repo);

/* The parameters that bound a text. */
#define VCM_WHERE_BOUND_INDEXES BOUND_TOKENS, BOUND_NONE, BOUND_CURSOR
#define VCM_WHERE_BOUND_PARAMS                                                                     \
    [BOUND_TOKENS] = {.name = "max-answer-tokens",                                                 \
                      .type = VCM_OP_NUMBER,                                                       \
                      .placeholder = "N",                                                          \
                      .min = 1,                                                                    \
                      .max = VCM_LIMIT_ANSWER_TOKENS_MAX,                                          \
                      .default_text =                                                              \
                          VCM_DEFAULT_TEXT(VCM_DEFAULT_ANSWER_TOKENS) "; none with --json",        \
                      .summary = "print only what fits this many tokens"},                         \
    [BOUND_NONE] = {.name = "no-limit",                                                            \
                    .type = VCM_OP_FLAG,                                                           \
                    .reach = VCM_OP_REACH_HERE,                                                    \
                    .summary = "print everything"},                                                \
    [BOUND_CURSOR] = {.name = "cursor",                                                            \
                      .type = VCM_OP_TEXT,                                                         \
                      .placeholder = "C",                                                          \
                      .summary = "go on where an answer ended: its next_cursor"}

/* Makes the answer: into `w` as the document or, when that is NULL, into call->text as text. Its
 * text has at most `max_tokens`, 0 for no bound. */
struct vcm_where_answer {
    int (*put)(void *context, const struct vcm_op_call *call, struct vcm_jsonw *w,
               uint64_t max_tokens, struct vcm_error *err);
    void *context;
};

/* Makes the answer within the bound that was asked for, else within the default of the call: of a
 * text with its last line, of a document as a whole. `bound` is the index of the first of the
 * parameters.
 */
int vcm_where_answer(struct vcm_op_call *call, size_t bound, const struct vcm_where_answer *answer,
                     struct vcm_error *err);

struct vcm_where_rest {
    uint64_t left;    /* how many more there are */
    const char *what; /* of these, in the plural */
    const char *cursor;
};

/* Appends the last line of a text that is not complete: how many more there are, and the command
 * that goes on. */
void vcm_where_go_on(struct vcm_buf *out, const struct vcm_op_call *call,
                     const struct vcm_where_rest *rest);

/* The `print` of operations whose text is in call->text: replaces control characters for a
 * terminal. */
void vcm_where_print(struct vcm_print *out, const struct vcm_json *document,
                     const struct vcm_op_call *call);

#endif
