/*
 * shared.h - parts that several operations share. Private to ops/.
 */
#ifndef VCM_OPS_SHARED_H
#define VCM_OPS_SHARED_H

#include "base/defaults.h"
#include "ops/op.h"

/* The argument that names the repository. */
#define VCM_SHARED_REPO                                                                            \
    {                                                                                              \
        .name = "repo", .type = VCM_OP_TEXT, .positional = true, .placeholder = "REPO",            \
        .hint = VCM_OP_HINT_DIRECTORY, .reach = VCM_OP_REACH_REPO,                                 \
        .default_text = "the repository around the current directory",                             \
        .summary = "path of the repository, or of a directory in it, or a git URL"                 \
    }

/* Looks at all scopes, where a command without a scope looks at those of the repository around the
 * current directory. */
#define VCM_SHARED_ALL_SCOPES                                                                      \
    {                                                                                              \
        .name = "all-scopes", .type = VCM_OP_FLAG,                                                 \
        .summary = "look at all scopes, not only those of the repository around the current "      \
                   "directory"                                                                     \
    }

/* The time limit of a fetch; read it with vcm_shared_timeout(). */
#define VCM_SHARED_TIMEOUT                                                                         \
    {                                                                                              \
        .name = "timeout", .type = VCM_OP_TEXT, .placeholder = "DURATION",                         \
        .reach = VCM_OP_REACH_HERE,                                                                \
        .default_text = VCM_DEFAULT_TEXT(VCM_DEFAULT_FETCH_MINUTES) "m",                           \
        .summary = "time limit for fetching one repository, in ms, s, m or h"                      \
    }

/* Parameters that choose what a repository is mapped to and from; `what` is the summary. */
#define VCM_SHARED_BASE                                                                            \
    {                                                                                              \
        .name = "scope", .type = VCM_OP_TEXT, .placeholder = "BASE",                               \
        .default_text = "derived from the origin", .summary = "base name of the scopes"            \
    }
#define VCM_SHARED_BRANCH(what)                                                                    \
    {                                                                                              \
        .name = "branch", .type = VCM_OP_TEXT, .placeholder = "B", .default_text = "HEAD's",       \
        .summary = (what)                                                                          \
    }
#define VCM_SHARED_COMMIT(what)                                                                    \
    {                                                                                              \
        .name = "commit", .type = VCM_OP_TEXT, .placeholder = "C",                                 \
        .default_text = "the branch's tip", .summary = (what)                                      \
    }
/* The commit that a command looks at (struct vcm_place_query). */
#define VCM_SHARED_LOOK_AT_COMMIT                                                                  \
    {                                                                                              \
        .name = "commit", .type = VCM_OP_TEXT, .placeholder = "C", .default_text = "HEAD",         \
        .summary = "commit, tag or branch"                                                         \
    }
#define VCM_SHARED_ONLY(what)                                                                      \
    {                                                                                              \
        .name = "only", .type = VCM_OP_TEXT, .repeated = true, .placeholder = "NAME",              \
        .summary = (what)                                                                          \
    }

/* Parses a duration to milliseconds; 0 for NULL. INVALID_ARGUMENT. */
int vcm_shared_timeout(unsigned *ms, const char *text, struct vcm_error *err);

/* The members of a "coverage" object, over a struct vcm_coverage. */
extern const struct vcm_result_member vcm_shared_coverage[];

/* The states of a page. */
extern const char *const vcm_shared_states[];

/* The outcome of ingesting a document, over a struct vcm_kb_file. */
extern const struct vcm_result_member vcm_shared_kb_file[];

/* Prints "110 paged, 6 binary, 4 symlinks" from a coverage object, without zeros. */
void vcm_shared_print_coverage(struct vcm_print *out, const struct vcm_json *coverage);

/* Adds a count of the document as a cell of a table. */
void vcm_shared_count_cell(struct vcm_print_table *table, const struct vcm_json *object,
                           const char *key);

/* A list that is written before the members in front of it are known. */
struct vcm_shared_list {
    struct vcm_buf text;
    struct vcm_jsonw writer;
};

/* Begins the list and returns the writer for its elements. */
struct vcm_jsonw *vcm_shared_list_begin(struct vcm_shared_list *list);

/* Writes the list into the document under its key, and frees it. Returns `rc`, or its own failure
 * if that is VCM_OK. */
int vcm_shared_list_end(struct vcm_shared_list *list, struct vcm_jsonw *out, const char *key,
                        int rc, struct vcm_error *err);

/* A vcm_document_fn whose context is the call: makes the document the result of the call. */
int vcm_shared_put_document(void *context, const char *json, size_t len, struct vcm_error *err);

/* The colour of a row's status. */
enum vcm_print_style vcm_shared_status_style(const char *status);

/* The files whose symbols are incomplete, as 'vcm symbols', 'vcm refs' and 'vcm repo map' list
 * them. A missing ctags is one thing to say, however many files it would have read. */
extern const struct vcm_result_member vcm_shared_gap_members[];
void vcm_shared_print_incomplete(struct vcm_print *out, const struct vcm_json *incomplete);

#endif
