/*
 * op.h - the descriptor of an operation, which the command line and MCP read.
 *
 * The descriptor has the operation's name, its parameters, the description of its result, how to
 * run it and how to print its result. A new operation is a file in this folder and a line in
 * table.c (CONTRIBUTING.md). table_check.h checks what must hold for every descriptor.
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
#include "ops/answer.h"
#include "ops/print.h"
#include "ops/result.h"

enum vcm_op_type {
    VCM_OP_TEXT,
    VCM_OP_FLAG,
    VCM_OP_NUMBER,
    VCM_OP_CHOICE,
};

/* What a parameter names outside of the home. A server opens only what lies beneath its roots, and
 * no other URLs than it was started for. */
enum vcm_op_reach {
    VCM_OP_REACH_HOME, /* nothing else */
    VCM_OP_REACH_REPO, /* a repository: a path or a URL */
    VCM_OP_REACH_URL,  /* a repository elsewhere */
    VCM_OP_REACH_FILE, /* a path on disk that is read */
    VCM_OP_REACH_HERE, /* for a person at this machine: a server does not offer the parameter */
};

/* What an operation changes, in the terms of MCP's hints. */
enum vcm_op_effect {
    VCM_OP_WRITES = 1 << 0,     /* changes the store or a file; else it only reads */
    VCM_OP_DESTROYS = 1 << 1,   /* may remove what a user would have to make again */
    VCM_OP_IDEMPOTENT = 1 << 2, /* doing it twice changes no more than doing it once */
    VCM_OP_NETWORK = 1 << 3,    /* may ask other machines */
};

/* The sets of tools that a server can be started with. */
enum vcm_op_set {
    VCM_OP_SET_CORE = 1 << 0,
    VCM_OP_SET_CONTEXT = 1 << 1,
    VCM_OP_SET_NAV = 1 << 2,
    VCM_OP_SET_REPO = 1 << 3,
    VCM_OP_SET_KB = 1 << 4,
    VCM_OP_SET_CORPUS = 1 << 5,
    VCM_OP_SET_STORE = 1 << 6,
};

#define VCM_OP_TOOL_NAME_BYTES    40u
#define VCM_OP_TOOL_SUMMARY_BYTES 1024u

/* The operation as a tool of MCP. */
struct vcm_op_tool {
    unsigned sets; /* of enum vcm_op_set; 0: it is never a tool */
    const char *title;
    const char *summary; /* for models: the first sentence says what it is for */
    unsigned effects;    /* of enum vcm_op_effect */
};

/* The kind of values that a shell offers as completions. */
enum vcm_op_hint {
    VCM_OP_HINT_NONE,
    VCM_OP_HINT_DIRECTORY,
    VCM_OP_HINT_FILE,
};

struct vcm_op_param {
    const char *name; /* "token-budget": --token-budget on the command line, token_budget in JSON */
    char letter;      /* -i on the command line, beside the name; 0 for none */
    enum vcm_op_type type;
    bool positional;
    bool required;
    bool repeated; /* takes several values; of positional parameters only the last */
    enum vcm_op_hint hint;
    enum vcm_op_reach reach;
    const char *placeholder;    /* "N"; the name of a positional parameter in help */
    const char *default_text;   /* shown in help; NULL for none */
    const char *const *choices; /* of VCM_OP_CHOICE; ends with NULL */
    uint64_t min, max;          /* of VCM_OP_NUMBER */
    const char *summary;
};

/* A parameter's value in a call, at the parameter's index. */
struct vcm_op_value {
    bool is_set;
    const char *text; /* the last value */
    uint64_t number;
    const char **list; /* of a repeated parameter: all values */
    size_t count, capacity;
};

/* A document that an operation writes instead of the usual one, or in addition. */
struct vcm_op_document {
    const char *when; /* "with --dry-run" */
    const struct vcm_result_member *members;
    bool is_open; /* it has members that are not described */
};

/* Of an operation that lists: what its rows are. Its answers are then bounded (answer.h). */
struct vcm_op_list {
    const char *member; /* of the result: its value is the list; NULL: nothing is listed */
    /* Members of a row which together tell it from others, in the order of the list: texts and
     * integers. Neighbours may be alike. A cursor is made of them. */
    const char *key[VCM_ANSWER_KEYS_MAX];
};

/* The exit status of an operation that ends by interruption. */
#define VCM_OP_INTERRUPTED 130

/* A call. Its state is here or in its handle, so calls on different handles may run at the same
 * time. */
struct vcm_op_call {
    const struct vcm_op *op; /* set by vcm_op_run_on(): what is run */
    struct vcm *vcm;
    const struct vcm_op_value *values;
    struct vcm_jsonw *out; /* the result document is written here */
    struct vcm_buf *text;  /* if not NULL, `run` may write text for the reader here instead */
    const struct vcm_log *log;
    const struct vcm_cancel *cancel; /* stops this call; NULL: the handle's flag does */
    bool quiet;                      /* print only what was asked for */
    int exit_status;                 /* set by the operation: 0 to 3, or VCM_OP_INTERRUPTED */
    bool json_wanted;                /* `run` sets it: a parameter asked for the JSON document */
    bool is_over;             /* `run` sets it: `emit` got everything, and there is no document */
    struct vcm_answer answer; /* how much of a listing is wanted; the caller sets its bounds */

    /* Receives the JSON objects of a stream one by one; NULL: the caller cannot take a stream.
     * Anything but VCM_OK ends the operation. */
    int (*emit)(void *context, struct vcm_slice document, struct vcm_error *err);
    bool is_watched; /* `emit` writes to a person's terminal, or to a program that reads JSON */
    int (*emit_idle)(void *context, struct vcm_error *err); /* fails when the reader is gone */
    void *emit_context;
    void (*progress)(void *context, const struct vcm_progress *progress); /* may be NULL */
    void *progress_context;
};

struct vcm_op {
    /* One word, or two for a family: "config set". A family may have one of one word, too, which
     * runs when the next word is none of the others. */
    const char *name;
    const char *summary;
    const char *description;     /* one or more paragraphs for help and manual */
    const char *const *examples; /* commands, without the prompt; ends with NULL */
    const struct vcm_op_param *params;
    size_t param_count; /* of its own: vcm_op_param_at() has those of a listing, too */
    const struct vcm_result_member *result; /* the document, see result.h */
    struct vcm_op_list list;
    bool is_stream; /* writes a sequence of such objects to `emit`, and no document */
    bool is_screen; /* of a stream: each object is drawn over the last one, and keys steer it */
    const struct vcm_op_document *also; /* other documents; the last has no members; may be NULL */
    struct vcm_op_tool tool;

    /* Writes exactly one JSON document, or fails. If the result is a text of the library, it may
     * write that to call->text instead, and no document. */
    int (*run)(struct vcm_op_call *call, struct vcm_error *err);

    /* Prints the document; `document` is NULL if call->text was written. Of a stream: prints the
     * objects that have no "event". */
    void (*print)(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call);

    /* Of a stream: prints an object with a member "event". NULL for other operations. */
    void (*print_event)(struct vcm_print *out, const struct vcm_json *event);
};

#define VCM_OP_COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct vcm_op_settings {
    const char *home; /* NULL for the default */
    const struct vcm_log *log;
    const struct vcm_cancel *cancel;
};

/* How many parameters it has, with those that every listing has, and the one at an index. Values of
 * a call are in the same order. */
size_t vcm_op_param_total(const struct vcm_op *op);
const struct vcm_op_param *vcm_op_param_at(const struct vcm_op *op, size_t index);

/* Runs the operation on an open handle, which no other thread uses meanwhile; a server calls this
 * for each request. The caller sets values, options, log and cancel flag of `call`; the flag
 * applies to this call only, and the handle stays usable whatever the outcome. Appends the document
 * to `document`, whose content is undefined after a failure. */
int vcm_op_run_on(struct vcm_buf *document, struct vcm_op_call *call, const struct vcm_op *op,
                  struct vcm *vcm, struct vcm_error *err);

/* Opens the home, runs the operation with the log and the cancel flag of `settings`, and closes the
 * home. */
int vcm_op_run(struct vcm_buf *document, struct vcm_op_call *call, const struct vcm_op *op,
               const struct vcm_op_settings *settings, struct vcm_error *err);

/* Sets one value of a parameter after checking its type, range and choices. `values` is the array
 * of the operation; lists are allocated in the arena. INVALID_ARGUMENT names the parameter. */
int vcm_op_take(struct vcm_op_value *values, const struct vcm_op *op, size_t index,
                const char *text, struct vcm_arena *arena, struct vcm_error *err);

/* INVALID_ARGUMENT when a required parameter has no value. */
int vcm_op_check_required(const struct vcm_op_value *values, const struct vcm_op *op,
                          struct vcm_error *err);

/* The value of the parameter at `index`: NULL, `otherwise` or false if it was not given. */
const char *vcm_op_text(const struct vcm_op_call *call, size_t index);
uint64_t vcm_op_number(const struct vcm_op_call *call, size_t index, uint64_t otherwise);
bool vcm_op_flag(const struct vcm_op_call *call, size_t index);

/* Whether a value was given, of a parameter of any type. */
bool vcm_op_is_set(const struct vcm_op_call *call, size_t index);

#endif
