/*
 * names.h - finds the scope or page that a name means: exact names first, then unique prefixes of
 * at least VCM_LIMIT_PREFIX_MIN characters.
 */
#ifndef VCM_API_NAMES_H
#define VCM_API_NAMES_H

#include "base/limits.h"
#include "vcm/store/page_store.h"

/* A scope, or all scopes of a base. */
struct vcm_names_scope {
    char text[VCM_LIMIT_SCOPE_ID_BYTES + 1];
    bool is_base; /* matches "<text>" and "<text>:..." */
};

/* Finds one scope, or with `allow_base` one base. NOT_FOUND, or AMBIGUOUS with the candidates. */
int vcm_names_find_scope(struct vcm_names_scope *out, struct vcm_kv_txn *txn, const char *name,
                         bool allow_base, struct vcm_error *err);

bool vcm_names_scope_matches(const struct vcm_names_scope *name, struct vcm_slice scope_id);

/* INVALID_ARGUMENT for a name that is too short for a page. */
int vcm_names_check_page(const char *name, struct vcm_error *err);
int vcm_names_find_page(struct vcm_page_id *out, struct vcm_kv_txn *txn, const char *name,
                        struct vcm_error *err);

/* The errors that an empty store gives. */
int vcm_names_no_scope(const char *name, struct vcm_error *err);
int vcm_names_no_page(const char *name, struct vcm_error *err);

#endif
