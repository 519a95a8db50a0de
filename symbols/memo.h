/*
 * memo.h - results that were computed for a list of files, stored beside their symbols.
 *
 * Every memo can be computed again from the repository and the symbols of its blobs: a missing memo
 * only costs time. The oldest are deleted when there are too many, or they are too large together.
 * A memo stays valid until the reader's transaction ends. Private to this folder.
 */
#ifndef VCM_SYMBOLS_MEMO_H
#define VCM_SYMBOLS_MEMO_H

#include "base/hash.h"
#include "base/kv.h"

/* Numbers are stored. */
enum vcm_memo_kind {
    VCM_MEMO_FILES = 1,
    VCM_MEMO_GRAPH = 2,
};

struct vcm_memo_key {
    unsigned char bytes[1 + VCM_HASH_SHA256_BYTES]; /* the kind, and a hash of what it is about */
};

void vcm_memo_key_make(struct vcm_memo_key *out, enum vcm_memo_kind kind,
                       const unsigned char digest[VCM_HASH_SHA256_BYTES]);

/* NOT_FOUND, with `err` untouched, when there is none. */
int vcm_memo_get(struct vcm_slice *out, struct vcm_kv_txn *txn, unsigned table,
                 const struct vcm_memo_key *key, struct vcm_error *err);

/* Keeps at most VCM_LIMIT_SYMBOLS_MEMOS memos of `bytes_max` together. OK also when this one is too
 * large to be stored. Codes of vcm_kv_handle_update(). */
int vcm_memo_put(struct vcm_kv *kv, unsigned table, const struct vcm_memo_key *key,
                 struct vcm_slice value, size_t bytes_max, const struct vcm_cancel *cancel,
                 struct vcm_error *err);

#endif
