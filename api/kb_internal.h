/*
 * kb_internal.h - shared by the files of the knowledge base in api/. Private to them.
 */
#ifndef VCM_API_KB_INTERNAL_H
#define VCM_API_KB_INTERNAL_H

#include "api/handle.h"
#include "kb/database.h"

/* Opens the knowledge base. For reading, *out is NULL when there is none. */
int vcm_kb_open_store(struct vcm_database **out, struct vcm *vcm, bool writable,
                      struct vcm_error *err);

/* Removes the texts that only this scope's pages needed. Failures are logged. */
void vcm_kb_texts_forget_scope(struct vcm *vcm, const char *scope_id);

/* Removes the texts that the scope's page table does not name any more, of one scope or of all.
 * Failures are logged. */
void vcm_kb_texts_settle_scope(struct vcm *vcm, const char *scope_id);
void vcm_kb_texts_settle_all(struct vcm *vcm);

#endif
