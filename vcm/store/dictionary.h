/*
 * dictionary.h - the dictionaries that compressed frames were made with: one at a time for each
 * scope, trained when a page of it is compressed first, and anew when it stops paying. Private to
 * vcm/.
 *
 * A dictionary has a number that is never used twice. Pages keep the number; a dictionary goes when
 * no page has it any more and its scope has a younger one or is gone.
 * Digested dictionaries are kept by the store, for any thread.
 */
#ifndef VCM_VCM_STORE_DICTIONARY_H
#define VCM_VCM_STORE_DICTIONARY_H

#include "vcm/page/codec.h"
#include "vcm/store/table.h"

/* After so many pages it is asked whether a dictionary still pays. */
#define VCM_DICTIONARY_WINDOW 256u

struct vcm_dictionary_info {
    uint64_t number;
    struct vcm_slice scope_id; /* valid until the next change of the transaction */
    uint64_t pages;            /* that were compressed with it and still are */
    uint32_t ratio;            /* in thousandths: what it made of the pages after its training */
    bool worn;                 /* clearly less now: the next compression trains another */
    uint32_t window_pages;     /* of the ratio that is being taken */
    uint64_t window_bytes;
    uint64_t window_compressed_bytes;
};

struct vcm_dictionary_cache;
int vcm_dictionary_cache_open(struct vcm_dictionary_cache **out, struct vcm_error *err);
void vcm_dictionary_cache_close(struct vcm_dictionary_cache *cache);

/* Frames to learn from when the scope's own pages are not written yet. */
struct vcm_dictionary_samples {
    const struct vcm_slice *frames;
    unsigned count;
};

/*
 * Compresses a frame of the scope into `out`, with the scope's dictionary, which is trained from
 * the rows of `mapping`, or from `samples`, where there is none yet and enough to learn from.
 * *number is 0 when no dictionary was used. Counts the page as one of the dictionary's.
 */
int vcm_dictionary_compress(struct vcm_buf *out, uint64_t *number, struct vcm_page_store *store,
                            struct vcm_kv_txn *txn, struct vcm_slice scope_id, uint64_t mapping,
                            const struct vcm_dictionary_samples *samples, struct vcm_slice frame,
                            struct vcm_error *err);

/* Writes the frame of a compressed page to `frame`, `info->bytes` of them: the checksum
 * of what was compressed speaks for them. */
int vcm_dictionary_decompress(void *frame, struct vcm_page_store *store, struct vcm_kv_txn *txn,
                              const struct vcm_page_info *info, struct vcm_error *err);

/* A page is no longer compressed with it. Takes 0. */
int vcm_dictionary_leave(struct vcm_kv_txn *txn, uint64_t number, struct vcm_error *err);

/* Deletes those that nothing needs. */
int vcm_dictionary_sweep(struct vcm_kv_txn *txn, struct vcm_error *err);

int vcm_dictionary_get(struct vcm_dictionary_info *out, struct vcm_kv_txn *txn, uint64_t number,
                       struct vcm_error *err);

#endif
