/*
 * memo.h - what was worked out for a list of files, kept in the store beside their symbols.
 *
 * Everything here can be made again from the repository and the symbols of its blobs: a memo that
 * is missing costs time. The oldest go when there are many, or large ones. A reader's memo stays
 * where it is until the reader's transaction ends. Private to this folder.
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

/* Keeps VCM_LIMIT_SYMBOLS_MEMOS memos of `bytes_max` together. OK too when this one is too large to
 * be kept. Codes of vcm_kv_handle_update(). */
int vcm_memo_put(struct vcm_kv *kv, unsigned table, const struct vcm_memo_key *key,
                 struct vcm_slice value, size_t bytes_max, const struct vcm_cancel *cancel,
                 struct vcm_error *err);

#endif
