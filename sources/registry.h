/*
 * registry.h - which types of source there are, by the name that a repo map gives in `type`.
 *
 * A registry is a small table that belongs to the handle of a store; it is filled before the first
 * mapping and not changed while one runs.
 */
#ifndef VCM_SOURCES_REGISTRY_H
#define VCM_SOURCES_REGISTRY_H

#include "base/error.h"
#include "vcm/page/source.h"

#define VCM_REGISTRY_TYPES_MAX 32

struct vcm_git_repo;
struct vcm_source_type;

/* What a source reads: a row of a map with its repository resolved. */
struct vcm_source_request {
    const struct vcm_source_type *type; /* the type of the row */
    const char *repository;             /* path of a repository on this machine */
    const struct vcm_git_repo
        *snapshot;              /* a handle of it with a snapshot of the working tree (git/
                                   overlay.h), where `commit` lies; NULL: in the repository */
    const char *commit;         /* full id */
    const char *start_dir;      /* "" for the whole tree */
    const char *const *include; /* gitignore patterns relative to start_dir; none: everything */
    unsigned include_count;
    const char *const *exclude;
    unsigned exclude_count;
    bool include_binaries;
    uint32_t chunk_target_tokens; /* of literature, as the next */
    uint32_t chunk_overlap_tokens;
    const char *extractions;         /* path of the knowledge base, which keeps the texts of PDFs;
                                        NULL: they are read each time */
    const char *scope_id;            /* that is mapped, for which they are kept; NULL: for none */
    const struct vcm_cancel *cancel; /* may be NULL; outlives the source */
};

struct vcm_source_type {
    const char *name;
    int (*open)(struct vcm_source **out, const struct vcm_source_request *request,
                struct vcm_error *err);
};

struct vcm_registry {
    const struct vcm_source_type *types[VCM_REGISTRY_TYPES_MAX];
    unsigned count;
};

/* Initialises it with our own types. */
void vcm_registry_init(struct vcm_registry *registry);

/* The type must outlive the registry. INVALID_ARGUMENT when the name is taken. */
int vcm_registry_add(struct vcm_registry *registry, const struct vcm_source_type *type,
                     struct vcm_error *err);

/* INVALID_ARGUMENT that lists the known types when there is none of this name. */
int vcm_registry_find(const struct vcm_source_type **out, const struct vcm_registry *registry,
                      const char *name, struct vcm_error *err);

#endif
