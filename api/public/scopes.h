/*
 * <vcm/scopes.h> - scopes: listing, the coverage ledger, and unmapping.
 *
 * Scopes and files live until the callback returns.
 */
#ifndef VCM_PUBLIC_SCOPES_H
#define VCM_PUBLIC_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/public/map.h"

#ifdef __cplusplus
extern "C" {
/* A struct and a function may have one name, as in stat(2). */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

struct vcm_scope_info {
    const char *scope_id;
    const char *name; /* of the row */
    const char *type;
    const char *repo_root;
    const char *origin_url; /* NULL without a remote */
    const char *branch;     /* NULL when HEAD was detached */
    const char *commit;     /* NULL for a working tree */
    const char *tree; /* id of the tree that a working tree made when it was mapped, else NULL */
    uint32_t flush_threshold, flush_token_budget;
    bool pinned;
    uint64_t records, pages, tokens, bytes;
    struct vcm_coverage coverage;
    uint64_t mapped_at; /* Unix seconds */
};

typedef int (*vcm_scope_fn)(void *context, const struct vcm_scope_info *scope,
                            struct vcm_error *err);
/* Visits scopes in the order of their ids. */
int vcm_scopes(struct vcm *vcm, vcm_scope_fn visit, void *context, struct vcm_error *err);

/* A path of the scope's tree and its outcome. */
struct vcm_coverage_file {
    const char *path;
    const char *outcome; /* "paged", "binary": the names of the members of struct vcm_coverage */
    const char *reason;  /* why it failed, NULL otherwise; see vcm_reason_list() */
};

/* An outcome of a path, or one of the reasons for an outcome. */
struct vcm_reason_info {
    const char *outcome; /* "failed": as in struct vcm_coverage_file */
    const char *reason;  /* "no text layer"; NULL: this is the outcome itself */
    const char *word;    /* its name on a command line: "failed", "no_text_layer" */
    bool left_out;       /* such a path is in no page */
    bool retried;        /* every mapping reads it again, even if it has not changed */
    const char *remedy;  /* what the user can do; NULL for nothing */
};

/* All outcomes, in the order of struct vcm_coverage, then all reasons. The list is static and not
 * freed; `count` may be NULL. A source of the caller, or a store of another version, may have
 * reasons that are not in it. */
const struct vcm_reason_info *vcm_reason_list(size_t *count);

struct vcm_coverage_query {
    const char *scope;  /* id or unique prefix */
    const char *reason; /* only files of this outcome or reason (name or word); NULL: all */
};

typedef int (*vcm_coverage_fn)(void *context, const struct vcm_coverage_file *file,
                               struct vcm_error *err);
/* The coverage ledger of a scope: calls `on_scope` once, then `visit` for every path in byte order.
 * NOT_FOUND, AMBIGUOUS. */
int vcm_coverage(struct vcm *vcm, const struct vcm_coverage_query *query, vcm_scope_fn on_scope,
                 vcm_coverage_fn visit, void *context, struct vcm_error *err);

typedef int (*vcm_unmapped_fn)(void *context, const char *scope_id, struct vcm_error *err);
/* Unmaps a scope, or all scopes of a base. `scope` may be a unique prefix, `visit` NULL. NOT_FOUND,
 * AMBIGUOUS. */
int vcm_unmap(struct vcm *vcm, const char *scope, vcm_unmapped_fn visit, void *context,
              struct vcm_error *err);

#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

#endif
