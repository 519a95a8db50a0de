/*
 * handle.h - the fields of a handle, shared by the files of api/.
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
    const struct vcm_cancel *cancel; /* of the relay: follows vcm_set_cancel() */
    struct vcm_cancel_relay relay;
    struct vcm_config config;
    struct vcm_config_file config_file; /* the file that `config` was read from */
    bool config_loaded;
    struct vcm_limits_memo limits; /* for the store, which calls it from any thread */
    struct vcm_page_store *store;  /* NULL until it is opened, and while there is no store */
    bool store_writable;
    struct vcm_page_cache *cache;
    struct vcm_fault_service *faults; /* only with fault workers, else NULL */
    struct vcm_registry registry;
    struct vcm_own_source *own_sources;             /* source types that the caller defined */
    const char *type_names[VCM_REGISTRY_TYPES_MAX]; /* of the registry, for the loader of maps */
    struct vcm_repo_map_types types;
    struct vcm_git_clones clones; /* filled in by vcm_handle_clones() */
    char *clones_directory;
    struct vcm_git_credential *credentials; /* their texts are in the arena */
    struct vcm_arena credential_texts;
    uint32_t mark;  /* set while it is open; last, because free() overwrites what is first */
    pid_t process;  /* that opened it */
    unsigned forks; /* count of forks at opening, which detects a child process */
};

/* INVALID_ARGUMENT for a handle that is NULL, closed (as far as can be detected) or opened by
 * another process: a child must not use memory maps and locks of its parent. The functions below
 * check this. */
int vcm_handle_check(const struct vcm *vcm, struct vcm_error *err);

/* The store's directory in the home. */
#define VCM_HANDLE_STORE "store"

/* Updates vcm->config: reads config.yaml again if the file has changed. Texts of vcm->config are
 * valid until the next call. */
int vcm_handle_config(struct vcm *vcm, struct vcm_error *err);

/* Checks that config.yaml was read at least once. For a hit, which uses no setting and should not
 * cost a stat(). */
int vcm_handle_config_once(struct vcm *vcm, struct vcm_error *err);

/* Reads config.yaml into a struct of the caller. */
int vcm_handle_load_config(struct vcm_config *out, const struct vcm *vcm, struct vcm_error *err);

/* Opens the store for reading; vcm->store stays NULL when there is none yet. */
int vcm_handle_open_for_reading(struct vcm *vcm, struct vcm_error *err);

/* The same for a call that will write: see vcm_verify_after_death(). */
int vcm_handle_open_for_change(struct vcm *vcm, struct vcm_error *err);

/* Creates the home and the store if they are missing. UNSUPPORTED on a network file system. */
int vcm_handle_open_for_writing(struct vcm *vcm, struct vcm_error *err);

/* *exists is false when the home is missing; fails when the home cannot be accessed. */
int vcm_handle_look_at_home(bool *exists, const struct vcm *vcm, struct vcm_error *err);

/* The type (see sources/registry.h) must outlive the handle. INVALID_ARGUMENT when the name is
 * taken. */
int vcm_handle_register_source_type(struct vcm *vcm, const struct vcm_source_type *type,
                                    struct vcm_error *err);

void vcm_handle_close_store(struct vcm *vcm);

/* Creates the home. */
int vcm_handle_make_home(struct vcm *vcm, struct vcm_error *err);

/* Appends the path of something in the home. */
int vcm_handle_path(struct vcm_buf *out, const struct vcm *vcm, const char *name,
                    struct vcm_error *err);

/* Appends where the repository is that was mapped from `stored`: there, or, when that was one of
 * the clones of a home, among the clones of this home, which may have moved since. */
int vcm_handle_place(struct vcm_buf *out, const struct vcm *vcm, struct vcm_slice stored,
                     struct vcm_error *err);

/* Fills in what the configuration and the registry contribute to every plan. */
void vcm_handle_plan_defaults(struct vcm_plan_request *request, struct vcm *vcm);

/* Allows a plan to fetch into the clones of the home, with the configured credentials. `timeout_ms`
 * limits one fetch, 0 for the default. */
int vcm_handle_clones(struct vcm_plan_request *request, struct vcm *vcm, unsigned timeout_ms,
                      struct vcm_error *err);

/* Takes the scope off the roster, drops it, and what is kept for it elsewhere. */
int vcm_unmap_one(struct vcm *vcm, const char *scope_id, struct vcm_error *err);
/* The same for a scope that the store does not have; *listed, which may be NULL, tells whether the
 * roster did. */
int vcm_unmap_lost(bool *listed, struct vcm *vcm, const char *scope_id, struct vcm_error *err);

void vcm_map_coverage(struct vcm_coverage *out, const struct vcm_source_coverage *in);

/* Calls the caller's function with a stored scope. */
int vcm_scopes_pass(const struct vcm *vcm, vcm_scope_fn visit, void *context,
                    const struct vcm_scope *scope, struct vcm_error *err);

/* NULL for "": the store has "" where the interface has NULL. */
static inline const char *vcm_handle_text_or_null(const char *text)
{
    return text && text[0] != '\0' ? text : NULL;
}

#endif
