/*
 * op.h - what an operation is: one descriptor that the command line, and later MCP and HTTP, read.
 *
 * Everything about an operation is here: its name, what it takes, what it gives, how it is run and
 * how its result reads for a person. A new one is a file in this folder and a line in table.c
 * (CONTRIBUTING.md).
 */
#ifndef VCM_OPS_OP_H
#define VCM_OPS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/vcm.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/log.h"
#include "ops/print.h"
#include "ops/result.h"

enum vcm_op_type {
    VCM_OP_TEXT,
    VCM_OP_FLAG,
    VCM_OP_NUMBER,
    VCM_OP_CHOICE,
};

/* What may stand for a value, so that a shell can complete it. */
enum vcm_op_hint {
    VCM_OP_HINT_NONE,
    VCM_OP_HINT_DIRECTORY,
    VCM_OP_HINT_FILE,
};

struct vcm_op_param {
    const char *name; /* "token-budget": --token-budget here, token_budget in JSON */
    enum vcm_op_type type;
    bool positional;
    bool required;
    bool repeated; /* takes several values; the last positional only */
    enum vcm_op_hint hint;
    const char *placeholder;    /* "N"; positional ones use it as their name in help */
    const char *default_text;   /* shown in help; NULL for none */
    const char *const *choices; /* of VCM_OP_CHOICE; ends with NULL */
    uint64_t min, max;          /* of VCM_OP_NUMBER */
    const char *summary;
};

/* A parameter's value in a call, at the parameter's index. */
struct vcm_op_value {
    bool is_set;
    const char *text; /* the last one given */
    uint64_t number;
    const char **list; /* all that were given, of repeated ones */
    size_t count, capacity;
};

/* A document that an operation writes instead of the usual one, or beside it. */
struct vcm_op_document {
    const char *when; /* "with --dry-run" */
    const struct vcm_result_member *members;
    bool is_open; /* it has members that are not described here */
};

/* A call. All that it needs and gives is here or belongs to its handle, so that calls on different
 * handles may run at the same time. */
struct vcm_op_call {
    struct vcm *vcm;
    const struct vcm_op_value *values;
    struct vcm_jsonw *out; /* the result document goes here */
    struct vcm_buf *text;  /* or, where it is not NULL, what a reader sees in place of it */
    const struct vcm_log *log;
    const struct vcm_cancel *cancel; /* asks this call to stop; NULL: the handle's flag does */
    bool quiet;                      /* print only what was asked for */
    int exit_status;                 /* 0 unless the operation says otherwise: 1 or 3 */
    bool json_wanted;                /* a parameter asked for the document itself */
    bool is_over; /* it was all passed on by `emit`: there is no document any more */

    /* Passes on one JSON object of several, as it comes; NULL where that cannot be done. Anything
     * but VCM_OK ends the operation. */
    int (*emit)(void *context, struct vcm_slice document, struct vcm_error *err);
    int (*emit_idle)(void *context, struct vcm_error *err); /* whether someone still listens */
    void *emit_context;
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

struct vcm_op {
    const char *name; /* one word, or two for a family: "config set" */
    const char *summary;
    const char *description;     /* a paragraph or two for help and manual */
    const char *const *examples; /* commands, without the prompt; ends with NULL */
    const struct vcm_op_param *params;
    size_t param_count;
    const struct vcm_result_member *result; /* the document, see result.h */
    bool is_stream; /* passes on one such object after the other by `emit`, and has no document */
    const struct vcm_op_document *also; /* others that come; ends without members, may be NULL */

    /* Writes exactly one JSON document, or fails. Where the result is a text of the library, it may
     * write that to call->text instead. */
    int (*run)(struct vcm_op_call *call, struct vcm_error *err);

    /* The document for a person, NULL when call->text was written. Of an operation that goes on:
     * the objects that are no events. */
    void (*print)(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call);

    /* An object with a member "event", of an operation that goes on; else NULL. */
    void (*print_event)(struct vcm_print *out, const struct vcm_json *event);
};

#define VCM_OP_COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct vcm_op_settings {
    const char *home; /* NULL for the default */
    const struct vcm_log *log;
    const struct vcm_cancel *cancel;
};

/* Runs the operation on a handle that is open and that no other thread uses meanwhile, as a server
 * does for each request. `call` has its values, wishes, log and cancel flag set; the flag counts
 * for this call alone, and the handle can be used again whatever became of the call. The document
 * is appended to `document`; what that holds after a failure is void. */
int vcm_op_run_on(struct vcm_buf *document, struct vcm_op_call *call, const struct vcm_op *op,
                  struct vcm *vcm, struct vcm_error *err);

/* The same on a home that is opened for it and closed again, with the log and the flag of
 * `settings`. */
int vcm_op_run(struct vcm_buf *document, struct vcm_op_call *call, const struct vcm_op *op,
               const struct vcm_op_settings *settings, struct vcm_error *err);

/* Takes one value for a parameter: checks its type, range and choices. `values` is the array of the
 * operation; lists grow in the arena. INVALID_ARGUMENT names the parameter. */
int vcm_op_take(struct vcm_op_value *values, const struct vcm_op *op, size_t index,
                const char *text, struct vcm_arena *arena, struct vcm_error *err);

/* INVALID_ARGUMENT when a required parameter has no value. */
int vcm_op_check_required(const struct vcm_op_value *values, const struct vcm_op *op,
                          struct vcm_error *err);

/* The value of the parameter at `index`, or what stands for a missing one. */
const char *vcm_op_text(const struct vcm_op_call *call, size_t index);
uint64_t vcm_op_number(const struct vcm_op_call *call, size_t index, uint64_t otherwise);
bool vcm_op_flag(const struct vcm_op_call *call, size_t index);

#endif
