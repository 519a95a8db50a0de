/*
 * scope_id.h - names of scopes: a base for each repository, and below it one for each row.
 */
#ifndef VCM_REPOMAP_SCOPE_ID_H
#define VCM_REPOMAP_SCOPE_ID_H

#include <stdbool.h>

#include "base/buf.h"

/* INVALID_ARGUMENT unless `base` is 1 to 128 of A-Z a-z 0-9 . _ - */
int vcm_scope_id_check_base(const char *base, struct vcm_error *err);

/* The same for one or more such names joined by ':', at most VCM_LIMIT_NAME_BYTES together. */
int vcm_scope_id_check_nested(const char *base, struct vcm_error *err);

/* Appends "<name>-<8 hex>": the last part of the origin's URL (else the directory's name) and a
 * hash of the URL without credentials (else of the real path). */
void vcm_scope_id_derive(struct vcm_buf *out, const char *origin_url, const char *root);

/* Appends the scope id of a row: "<base>:<row>", or the base itself if the only row is called
 * "default". */
void vcm_scope_id_of_row(struct vcm_buf *out, const char *base, const char *row, bool only_row);

/* Whether the scope belongs to the base: the base itself or "<base>:<row>". With another ':' it
 * belongs to a nested base. The scope of a working tree is named by itself only. */
bool vcm_scope_id_belongs(struct vcm_slice scope_id, struct vcm_slice base);

#endif
