/*
 * estimate.h - estimates what a migration of committed files to LFS would rewrite.
 */
#ifndef VCM_LFS_ESTIMATE_H
#define VCM_LFS_ESTIMATE_H

#include "base/arena.h"
#include "git/history.h"
#include "lfs/attributes.h"

struct vcm_estimate_file {
    const char *path;
    uint64_t versions;
    uint64_t bytes; /* of all versions */
};

struct vcm_estimate {
    struct vcm_estimate_file *files; /* sorted by the bytes of their paths; in the arena */
    size_t file_count;
    uint64_t bytes;
    uint64_t commits; /* that would get another id */
};

struct vcm_estimate_query {
    const char *include; /* patterns that are to be in every commit's .gitattributes */
    bool (*matches)(void *context, struct vcm_slice path);
    void *context;
    const struct vcm_cancel *cancel;
};

int vcm_estimate_run(struct vcm_estimate *out, struct vcm_arena *arena, const char *repository,
                     const struct vcm_estimate_query *query, struct vcm_error *err);

/* How many files of HEAD's tree match and are not in LFS; 0 before the first commit. */
int vcm_estimate_count_plain(uint64_t *files, const char *repository,
                             const struct vcm_estimate_query *query, struct vcm_error *err);

#endif
