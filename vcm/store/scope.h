/*
 * scope.h - the description of a mapped scope: its source, how it was cut into pages, its sums.
 */
#ifndef VCM_VCM_STORE_SCOPE_H
#define VCM_VCM_STORE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "vcm/page/source.h"

struct vcm_scope {
    struct vcm_slice scope_id;
    struct vcm_slice row_name;
    struct vcm_slice source_type;
    struct vcm_slice repo_root;
    struct vcm_slice origin;     /* the same for two clones: URL without secrets, or path */
    struct vcm_slice origin_url; /* empty without a remote */
    struct vcm_slice branch;     /* empty when HEAD was detached */
    struct vcm_slice commit;     /* hex */
    unsigned char
        fingerprint[VCM_HASH_SHA256_BYTES]; /* of all that determines the pages but the commit */
    uint32_t flush_threshold;
    uint32_t flush_token_budget;
    bool pinned;        /* its table is, for one of the two reasons that follow */
    bool pinned_by_row; /* as the row said when it was mapped */
    bool pinned_by_own; /* a pin of its own, which stays until it is unpinned */
    uint64_t mapping;   /* number of the page table that is in force, see README.md */
    uint64_t mapped_at; /* Unix seconds */
    uint64_t records;
    uint64_t pages;
    uint64_t tokens;
    uint64_t bytes;
    struct vcm_source_coverage coverage;
    uint32_t chunk_target_tokens; /* of literature, 0 otherwise */
    uint32_t chunk_overlap_tokens;
    char *memory; /* of the slices, if the scope was read from the store; else NULL */
};

/* Behind the id of a scope that holds a working tree. No name has such a byte. */
#define VCM_SCOPE_WORKTREE "@worktree"

bool vcm_scope_is_worktree(struct vcm_slice scope_id);

/* A number that changes whenever the scope is mapped again; `mapping` may stay the same. */
uint64_t vcm_scope_revision(const struct vcm_scope *scope);

void vcm_scope_put(struct vcm_buf *out, const struct vcm_scope *scope);

/* Reads a stored scope; the copy outlives the transaction and is freed by vcm_scope_release(). */
int vcm_scope_get(struct vcm_scope *out, struct vcm_slice value, struct vcm_error *err);
void vcm_scope_release(struct vcm_scope *scope);

#endif
