/*
 * dictionary.h - the dictionaries that frames are compressed with: one at a time for each scope. It
 * is trained when a page of the scope is compressed for the first time, and again when it no longer
 * compresses well. Private to vcm/.
 *
 * A dictionary has a number that is never reused, and a compressed page keeps the number. A
 * dictionary is deleted when no page uses it and its scope has a newer one or no longer exists.
 * The store keeps digested dictionaries in a cache that all threads use.
 */
#ifndef VCM_VCM_STORE_DICTIONARY_H
#define VCM_VCM_STORE_DICTIONARY_H

#include "vcm/page/codec.h"
#include "vcm/store/table.h"

/* The number of pages between two checks of a dictionary's ratio. */
#define VCM_DICTIONARY_WINDOW 256u

struct vcm_dictionary_info {
    uint64_t number;
    struct vcm_slice scope_id; /* valid until the next change of the transaction */
    uint64_t pages;            /* that are compressed with it now */
    uint32_t ratio;            /* bytes by compressed bytes, in thousandths, in its first window */
    bool worn;                 /* the ratio fell clearly: the next compression trains a new one */
    uint32_t window_pages;     /* of the window that is being measured */
    uint64_t window_bytes;
    uint64_t window_compressed_bytes;
};

struct vcm_dictionary_cache;
int vcm_dictionary_cache_open(struct vcm_dictionary_cache **out, struct vcm_error *err);
void vcm_dictionary_cache_close(struct vcm_dictionary_cache *cache);

/* Frames to train with when the scope's own pages are not written yet. */
struct vcm_dictionary_samples {
    const struct vcm_slice *frames;
    unsigned count;
};

/*
 * Compresses a frame of the scope into `out` with the scope's dictionary. If there is none yet, it
 * is trained with the rows of `mapping` and with `samples`, if these are enough. *number is 0 when
 * no dictionary was used. Counts the page as one of the dictionary's.
 */
int vcm_dictionary_compress(struct vcm_buf *out, uint64_t *number, struct vcm_page_store *store,
                            struct vcm_kv_txn *txn, struct vcm_slice scope_id, uint64_t mapping,
                            const struct vcm_dictionary_samples *samples, struct vcm_slice frame,
                            struct vcm_error *err);

/* Writes the `info->bytes` bytes of a compressed page's frame to `frame`. They are not verified:
 * the checksum of the compressed bytes was. */
int vcm_dictionary_decompress(void *frame, struct vcm_page_store *store, struct vcm_kv_txn *txn,
                              const struct vcm_page_info *info, struct vcm_error *err);

/* Called when a page is no longer compressed with the dictionary. Does nothing for number 0. */
int vcm_dictionary_leave(struct vcm_kv_txn *txn, uint64_t number, struct vcm_error *err);

/* Deletes the dictionaries that are not needed any more. */
int vcm_dictionary_sweep(struct vcm_kv_txn *txn, struct vcm_error *err);

int vcm_dictionary_get(struct vcm_dictionary_info *out, struct vcm_kv_txn *txn, uint64_t number,
                       struct vcm_error *err);

#endif
