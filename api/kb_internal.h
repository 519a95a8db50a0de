/*
 * kb_internal.h - what the files of the knowledge base in api/ share. Private to them.
 */
#ifndef VCM_API_KB_INTERNAL_H
#define VCM_API_KB_INTERNAL_H

#include "api/handle.h"
#include "kb/database.h"

/* Opens the knowledge base; for reading, *out is NULL when there is none. */
int vcm_kb_open_store(struct vcm_database **out, struct vcm *vcm, bool writable,
                      struct vcm_error *err);

/* Texts that only this scope of pages needed go. What is wrong with that is logged. */
void vcm_kb_texts_forget_scope(struct vcm *vcm, const char *scope_id);

/* The same for the texts that the scope's page table does not name any more, and for all scopes. */
void vcm_kb_texts_settle_scope(struct vcm *vcm, const char *scope_id);
void vcm_kb_texts_settle_all(struct vcm *vcm);

#endif
