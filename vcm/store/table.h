/*
 * table.h - the tables of the page store, their keys and small values. Private to vcm/.
 */
#ifndef VCM_VCM_STORE_TABLE_H
#define VCM_VCM_STORE_TABLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/kv.h"
#include "base/wire.h"
#include "vcm/store/page_store.h"

enum vcm_table {
    VCM_TABLE_META,             /* name -> value */
    VCM_TABLE_SCOPES,           /* scope id -> scope.h */
    VCM_TABLE_MAPPINGS,         /* mapping -> state, pinned, scope id */
    VCM_TABLE_ROWS,             /* mapping, seq -> page id, records */
    VCM_TABLE_HOLDERS,          /* page id, mapping -> occurrences, first seq */
    VCM_TABLE_PAGES,            /* page id -> descriptor */
    VCM_TABLE_FRAMES,           /* page id -> bytes, of resident pages */
    VCM_TABLE_OMISSIONS,        /* mapping, number -> an item that is not in the page table */
    VCM_TABLE_COMPRESSED,       /* page id -> compressed bytes, of compressed pages */
    VCM_TABLE_DICTIONARIES,     /* number -> scope id, pages, ratio */
    VCM_TABLE_DICTIONARY_BYTES, /* number -> bytes */
    VCM_TABLE_LOCKS,            /* page id, hash of owner -> owner, until, reason */
    VCM_TABLE_PATHS,            /* mapping, hash of path, seq -> path */
    VCM_TABLE_ORPHANS,          /* page id -> nothing, of pages without a holder that are viewed */
};

/* In the order of the enumeration, ends with NULL. */
extern const char *const vcm_table_names[];

/* Keys of VCM_TABLE_META. */
#define VCM_META_FORMAT          "format"
#define VCM_META_TOKENIZER       "tokenizer"
#define VCM_META_TOTALS          "totals"
#define VCM_META_NEXT_MAPPING    "next_mapping"
#define VCM_META_NEXT_DICTIONARY "next_dictionary"
#define VCM_META_STAMP           "stamp"

enum vcm_mapping_state {
    VCM_MAPPING_BUILDING,
    VCM_MAPPING_IN_FORCE,
    VCM_MAPPING_DROPPING,
};

struct vcm_mapping_info {
    enum vcm_mapping_state state;
    bool pinned; /* then each of its pages counts it in `pins` */
    struct vcm_slice scope_id;
};

#define VCM_ROW_KEY_BYTES    12
#define VCM_HOLDER_KEY_BYTES (VCM_PAGE_ID_BYTES + 8)
#define VCM_PATH_KEY_BYTES   20

/* LMDB stores values of this size and above on pages of their own, which commits do not move. */
#define VCM_FRAME_VALUE_MIN 2040u

struct vcm_shm;
struct vcm_dictionary_cache;

/* The limits as this process read them last. */
struct vcm_page_store_last_limits {
    _Atomic uint64_t capacity, compressed_capacity;
    atomic_uint policy;
};

struct vcm_page_store {
    atomic_uint users;
    struct vcm_kv *kv;
    struct vcm_kv *writer; /* of a store opened for reading: opened when a page changes its state */
    pthread_mutex_t mutex; /* protects `writer` */
    char *directory;
    const struct vcm_log *log;
    bool read_only;
    size_t map_bytes;
    struct vcm_page_store_last_limits limits; /* not for writes: they use those of the transition */
    vcm_page_store_limits_fn read_limits;     /* may be NULL */
    void *read_limits_context;
    struct vcm_shm *shm;
    struct vcm_dictionary_cache *dictionaries;
    vcm_page_store_source_fn open_source; /* may be NULL */
    void *open_source_context;
};

/* The handle for changes of pages' states, which readers make, too, if the home can be written. */
int vcm_page_store_writer(struct vcm_kv **out, struct vcm_page_store *store, struct vcm_error *err);

static inline struct vcm_slice vcm_table_id_key(const struct vcm_page_id *id)
{
    return vcm_slice_of(id->bytes, sizeof id->bytes);
}

static inline struct vcm_slice vcm_table_row_key(unsigned char key[VCM_ROW_KEY_BYTES],
                                                 uint64_t mapping, uint32_t seq)
{
    vcm_wire_store_be64(key, mapping);
    vcm_wire_store_be32(key + 8, seq);
    return vcm_slice_of(key, VCM_ROW_KEY_BYTES);
}

static inline struct vcm_slice vcm_table_holder_key(unsigned char key[VCM_HOLDER_KEY_BYTES],
                                                    const struct vcm_page_id *id, uint64_t mapping)
{
    memcpy(key, id->bytes, sizeof id->bytes);
    vcm_wire_store_be64(key + sizeof id->bytes, mapping);
    return vcm_slice_of(key, VCM_HOLDER_KEY_BYTES);
}

struct vcm_slice vcm_page_table_path_key(unsigned char key[VCM_PATH_KEY_BYTES], uint64_t mapping,
                                         struct vcm_slice path, uint32_t seq);

/* The next path of an entry of the index of paths; false at its end. Paths of one row whose hashes
 * are the same, which is easy to bring about, share an entry. */
bool vcm_page_table_next_path(struct vcm_slice *path, struct vcm_slice *rest);
bool vcm_page_table_has_path(struct vcm_slice entry, struct vcm_slice path);

/*
 * Calls `visit` for each entry whose key begins with `prefix`, from `start` on (a key with that
 * prefix). Any result but VCM_OK from `visit` ends the walk, which returns it; VCM_STOP ends it
 * with success.
 */
typedef int (*vcm_table_entry_fn)(void *context, struct vcm_slice key, struct vcm_slice value,
                                  struct vcm_error *err);
int vcm_table_each(struct vcm_kv_txn *txn, enum vcm_table table, struct vcm_slice prefix,
                   struct vcm_slice start, vcm_table_entry_fn visit, void *context,
                   struct vcm_error *err);

/* Takes the next number of a series; numbers are not reused. */
int vcm_table_take_number(uint64_t *number, struct vcm_kv_txn *txn, const char *meta_key,
                          struct vcm_error *err);

/* The page's number of rows in a mapping and its first row; VCM_NOT_FOUND, err untouched, if it has
 * none. */
int vcm_page_table_get_holder(uint32_t *occurrences, uint32_t *first_seq, struct vcm_kv_txn *txn,
                              const struct vcm_page_id *id, uint64_t mapping,
                              struct vcm_error *err);

int vcm_page_table_get_mapping(struct vcm_mapping_info *out, struct vcm_kv_txn *txn,
                               uint64_t mapping, struct vcm_error *err);
int vcm_page_table_put_mapping(struct vcm_kv_txn *txn, uint64_t mapping,
                               const struct vcm_mapping_info *info, struct vcm_error *err);

/* For a caller that found no scope whose id begins with `prefix`: STORE_CORRUPT when a table in
 * force belongs to one (S7). */
int vcm_page_table_check_no_scope(struct vcm_kv_txn *txn, struct vcm_slice prefix,
                                  struct vcm_error *err);

/* For a caller that found no table in force with a page that exists: STORE_CORRUPT when no table at
 * all has it, and it is no orphan (S5). */
int vcm_page_table_check_held(struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                              struct vcm_error *err);

/* Writes the index entries of a row: one for each path. */
int vcm_page_table_put_paths(struct vcm_kv_txn *txn, uint64_t mapping, uint32_t seq,
                             struct vcm_slice records, struct vcm_error *err);

/* Deletes the index entries of a row. */
int vcm_page_table_delete_paths(struct vcm_kv_txn *txn, uint64_t mapping, uint32_t seq,
                                struct vcm_slice records, struct vcm_error *err);

int vcm_page_store_put_totals(struct vcm_kv_txn *txn, const struct vcm_page_totals *totals,
                              struct vcm_error *err);
int vcm_page_store_put_page(struct vcm_kv_txn *txn, const struct vcm_page_info *info,
                            struct vcm_error *err);

/* Short frames are padded with NULs to VCM_FRAME_VALUE_MIN bytes, and trimmed when they are read: a
 * frame contains no NUL. */
int vcm_table_put_frame(struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                        struct vcm_slice frame, struct vcm_error *err);
struct vcm_slice vcm_table_trim_frame(struct vcm_slice value);

/* Sets the error for a stored value whose layout is wrong. */
int vcm_table_malformed(const char *what, struct vcm_error *err);

/* Converts a store of format 1 to format 2, in one transaction. */
int vcm_page_migrate_from_1(struct vcm_kv_txn *txn, struct vcm_error *err);

#endif
