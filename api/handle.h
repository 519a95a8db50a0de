/*
 * handle.h - the inside of a handle, shared by the files of api/.
 */
#ifndef VCM_API_HANDLE_H
#define VCM_API_HANDLE_H

#include <sys/types.h>

#include "api/config.h"
#include "api/limits_memo.h"
#include "api/vcm.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/log.h"
#include "repomap/plan.h"
#include "sources/registry.h"
#include "vcm/residency/evict.h"
#include "vcm/residency/page_cache.h"
#include "vcm/store/page_store.h"

struct vcm {
    char *home;
    const struct vcm_log *log;
    const struct vcm_cancel *cancel; /* the relay's: heeds what vcm_set_cancel() said last */
    struct vcm_cancel_relay relay;
    struct vcm_config config;
    struct vcm_config_file config_file; /* that it was read from */
    bool config_loaded;
    struct vcm_limits_memo limits; /* for the store, which asks in any thread */
    struct vcm_page_store *store;  /* NULL until needed, and while there is none */
    bool store_writable;
    struct vcm_page_cache *cache;
    struct vcm_fault_service *faults; /* of a handle with fault workers, else NULL */
    struct vcm_registry registry;
    struct vcm_own_source *own_sources;             /* types that a caller defined */
    const char *type_names[VCM_REGISTRY_TYPES_MAX]; /* of the registry, for the loader */
    struct vcm_repo_map_types types;
    struct vcm_git_clones clones; /* what vcm_handle_clones() filled in */
    char *clones_directory;
    struct vcm_git_credential *credentials; /* their texts are in the arena */
    struct vcm_arena credential_texts;
    uint32_t mark;  /* of a handle that is open; last, where free() writes nothing */
    pid_t process;  /* that opened it */
    unsigned forks; /* by which a child of it is told */
};

/* INVALID_ARGUMENT for a handle that is NULL, closed as far as can be told, or that another process
 * opened: what is mapped and locked there is not its child's. The functions below check it. */
int vcm_handle_check(const struct vcm *vcm, struct vcm_error *err);

/* The store's directory in the home. */
#define VCM_HANDLE_STORE "store"

/* Brings vcm->config up to date: reads config.yaml where it is another one than last time. Texts of
 * vcm->config are valid until the next call. */
int vcm_handle_config(struct vcm *vcm, struct vcm_error *err);

/* That config.yaml could be read once; for a hit, which uses no setting and costs no stat(). */
int vcm_handle_config_once(struct vcm *vcm, struct vcm_error *err);

/* Reads config.yaml for the caller. */
int vcm_handle_load_config(struct vcm_config *out, const struct vcm *vcm, struct vcm_error *err);

/* Opens the store for reading; vcm->store stays NULL when there is none yet. */
int vcm_handle_open_for_reading(struct vcm *vcm, struct vcm_error *err);

/* Makes the home and the store where they are missing. UNSUPPORTED on a network file system. */
int vcm_handle_open_for_writing(struct vcm *vcm, struct vcm_error *err);

/* Tells a home that is not there from one that cannot be looked into. */
int vcm_handle_look_at_home(bool *exists, const struct vcm *vcm, struct vcm_error *err);

/* The type (see sources/registry.h) must outlive the handle. INVALID_ARGUMENT when the name is
 * taken. */
int vcm_handle_register_source_type(struct vcm *vcm, const struct vcm_source_type *type,
                                    struct vcm_error *err);

void vcm_handle_close_store(struct vcm *vcm);

/* Makes the home. */
int vcm_handle_make_home(struct vcm *vcm, struct vcm_error *err);

/* Appends the path of something in the home. */
int vcm_handle_path(struct vcm_buf *out, const struct vcm *vcm, const char *name,
                    struct vcm_error *err);

/* Fills in what the configuration and the registry say about any plan. */
void vcm_handle_plan_defaults(struct vcm_plan_request *request, struct vcm *vcm);

/* Lets a plan fetch into the clones of the home, with the credentials of the configuration.
 * `timeout_ms` is that of one fetch, 0 for the default. */
int vcm_handle_clones(struct vcm_plan_request *request, struct vcm *vcm, unsigned timeout_ms,
                      struct vcm_error *err);

void vcm_map_coverage(struct vcm_coverage *out, const struct vcm_source_coverage *in);

/* Hands a stored scope to a caller's function. */
int vcm_scopes_pass(vcm_scope_fn visit, void *context, const struct vcm_scope *scope,
                    struct vcm_error *err);

/* For "" in the store and NULL outside. */
static inline const char *vcm_handle_text_or_null(const char *text)
{
    return text && text[0] != '\0' ? text : NULL;
}

#endif
