/*
 * page_store.h - pages and page tables on disk: which keys and values there are, and how to read
 * them. docs/FORMAT.md describes them byte for byte.
 *
 * Pages are content-addressed and shared between scopes. mapping.h changes page tables,
 * transition.h the states of pages. Everything read is valid until its transaction ends.
 * A function that visits entries ends the walk by returning anything but VCM_OK, and the walk
 * returns that code; VCM_STOP ends the walk with success.
 * Several threads and processes may use a store; one thread at a time uses a transaction.
 */
#ifndef VCM_VCM_STORE_PAGE_STORE_H
#define VCM_VCM_STORE_PAGE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/kv.h"
#include "vcm/page/page.h"
#include "vcm/store/scope.h"

#define VCM_PAGE_STORE_FORMAT 3u
/* Of this and of later formats a program that only reads needs no conversion. */
#define VCM_PAGE_STORE_FORMAT_READ 2u

struct vcm_page_store;

#define VCM_PAGE_STORE_LOCK "writer.lock" /* in the store's directory */

#define VCM_PAGE_STORE_TOKENIZER_BYTES 32

/* How much the store may hold, and the settings that a write depends on. */
struct vcm_page_store_limits {
    uint64_t capacity;                              /* of resident pages, in bytes */
    uint64_t compressed_capacity;                   /* of compressed pages, in bytes */
    unsigned policy;                                /* enum vcm_evict_policy */
    char tokenizer[VCM_PAGE_STORE_TOKENIZER_BYTES]; /* of a first mapping; "" for any */
};

/* Reads the limits in force. Any thread calls it, at the beginning of every write transaction, with
 * the writers' lock held: it must be quick and must not use the store. */
typedef int (*vcm_page_store_limits_fn)(void *context, struct vcm_page_store_limits *out,
                                        struct vcm_error *err);

struct vcm_page_store_options {
    const char *directory;                      /* made by the caller */
    bool read_only;                             /* VCM_NOT_FOUND when there is no store yet */
    size_t map_bytes;                           /* first size of the map, 0 for the default */
    const struct vcm_page_store_limits *limits; /* initial ones; NULL: a gibibyte each */
    vcm_page_store_limits_fn read_limits;       /* NULL: those that were set last are in force */
    void *read_limits_context;
    const struct vcm_log *log;
};

enum vcm_page_state {
    VCM_PAGE_RESIDENT,
    VCM_PAGE_COMPRESSED,
    VCM_PAGE_EVICTED,
};

struct vcm_page_info {
    struct vcm_page_id id;
    enum vcm_page_state state;
    bool pinned;      /* has a pin of its own */
    bool is_volatile; /* no source can give its text again: it is never evicted */
    uint32_t pins;    /* number of pinned page tables that hold it */
    uint64_t bytes;   /* of the frame */
    uint32_t tokens;
    uint32_t records;
    uint64_t compressed_bytes; /* of a compressed page, else 0 */
    uint64_t dictionary;       /* that it was compressed with, 0 for none */
};

static inline bool vcm_page_store_is_pinned(const struct vcm_page_info *info)
{
    return info->pinned || info->pins > 0;
}

/* Whether it counts as pinned against the capacity. One that is volatile and not pinned may be
 * compressed when a caller asks for it, never to make room. */
static inline bool vcm_page_store_is_kept(const struct vcm_page_info *info)
{
    return vcm_page_store_is_pinned(info) || info->is_volatile;
}

/* One line of a scope's page table. */
struct vcm_page_row {
    uint32_t seq;
    struct vcm_page_id id;
    struct vcm_slice records; /* for vcm_page_get_records() */
};

/* Sums over the whole store, each page once. */
struct vcm_page_totals {
    uint64_t pages;
    uint64_t resident;
    uint64_t compressed;
    uint64_t pinned;
    uint64_t resident_bytes;
    uint64_t compressed_bytes;
    uint64_t pinned_bytes;
    uint64_t tokens;
};

/* UNSUPPORTED when the store has a newer format, or an older one and is opened for reading; opening
 * it for writing converts it. */
int vcm_page_store_open(struct vcm_page_store **out, const struct vcm_page_store_options *options,
                        struct vcm_error *err);
/*
 * Makes a store that is to replace a damaged one, in an empty directory. Its era is in the upper
 * half of all its mappings' numbers: no number of the damaged store occurs again, so that a
 * process which was building a mapping there detects the replacement.
 */
int vcm_page_store_make(const char *directory, uint64_t era, struct vcm_error *err);
/* 0 for a store that replaced none. */
int vcm_page_store_era(uint64_t *out, struct vcm_page_store *store, struct vcm_error *err);

/* Whether what was read last came from the data file that is in use now. */
bool vcm_page_store_is_current(struct vcm_page_store *store);

/* Closes the store when the last of its users has called this; vcm_page_store_share() adds a user.
 */
void vcm_page_store_close(struct vcm_page_store *store);
struct vcm_page_store *vcm_page_store_share(struct vcm_page_store *store);

/* The limits in force, for a check before a write; the write itself reads them again
 * (vcm/residency/transition.h). */
int vcm_page_store_read_limits(struct vcm_page_store_limits *out, struct vcm_page_store *store,
                               struct vcm_error *err);
/* For a store without `read_limits`. */
void vcm_page_store_set_limits(struct vcm_page_store *store,
                               const struct vcm_page_store_limits *limits);

/* Opens the source of a mapped scope again, to rebuild pages from it. Any thread may call it. */
typedef int (*vcm_page_store_source_fn)(void *context, struct vcm_source **out,
                                        const struct vcm_scope *scope, struct vcm_error *err);
void vcm_page_store_set_sources(struct vcm_page_store *store, vcm_page_store_source_fn open,
                                void *context);

int vcm_page_store_read_begin(struct vcm_kv_txn **out, struct vcm_page_store *store,
                              struct vcm_error *err);

/* Appends the name of the tokenizer of the stored counts; nothing if there is no mapping yet. */
int vcm_page_store_tokenizer(struct vcm_buf *out, struct vcm_kv_txn *txn, struct vcm_error *err);

int vcm_page_store_totals(struct vcm_page_totals *out, struct vcm_kv_txn *txn,
                          struct vcm_error *err);
int vcm_page_store_file_info(struct vcm_kv_info *out, struct vcm_page_store *store,
                             struct vcm_error *err);

/* VCM_NOT_FOUND, err untouched, when no such scope is mapped. */
int vcm_page_store_scope(struct vcm_scope *out, struct vcm_kv_txn *txn, struct vcm_slice scope_id,
                         struct vcm_error *err);

/* Every scope whose id begins with `prefix`, in the order of the ids. STORE_CORRUPT when there is
 * none, and there are page tables in force of such scopes. */
typedef int (*vcm_page_store_scope_fn)(void *context, const struct vcm_scope *scope,
                                       struct vcm_error *err);
int vcm_page_store_each_scope(struct vcm_kv_txn *txn, struct vcm_slice prefix,
                              vcm_page_store_scope_fn visit, void *context, struct vcm_error *err);

/* VCM_NOT_FOUND, err untouched, when there is no such page. */
int vcm_page_store_page(struct vcm_page_info *out, struct vcm_kv_txn *txn,
                        const struct vcm_page_id *id, struct vcm_error *err);

/* The pages whose hexadecimal id begins with `prefix`, at most `max`. */
int vcm_page_store_find_pages(struct vcm_page_id *ids, unsigned *count, unsigned max,
                              struct vcm_kv_txn *txn, const char *prefix, struct vcm_error *err);

/* The bytes of a resident page, in place. */
int vcm_page_store_frame(struct vcm_slice *out, struct vcm_kv_txn *txn,
                         const struct vcm_page_id *id, struct vcm_error *err);

/* The compressed bytes of a compressed page, in place. */
int vcm_page_store_compressed(struct vcm_slice *out, struct vcm_kv_txn *txn,
                              const struct vcm_page_id *id, struct vcm_error *err);

/* One row; VCM_NOT_FOUND, err untouched, if the table has no such row. */
int vcm_page_table_row(struct vcm_page_row *out, struct vcm_kv_txn *txn, uint64_t mapping,
                       uint32_t seq, struct vcm_error *err);

/* The rows of a page table from `seq` on. */
typedef int (*vcm_page_store_row_fn)(void *context, const struct vcm_page_row *row,
                                     struct vcm_error *err);
int vcm_page_table_each_row(struct vcm_kv_txn *txn, uint64_t mapping, uint32_t seq,
                            vcm_page_store_row_fn visit, void *context, struct vcm_error *err);

/* Every page table in force that holds the page, with its scope. */
struct vcm_page_holder {
    uint64_t mapping;
    uint32_t occurrences;
    uint32_t first_seq;
    struct vcm_slice scope_id;
};
typedef int (*vcm_page_store_holder_fn)(void *context, const struct vcm_page_holder *holder,
                                        struct vcm_error *err);
int vcm_page_table_each_holder(struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                               vcm_page_store_holder_fn visit, void *context,
                               struct vcm_error *err);

/* The first row of a page table with the page; VCM_NOT_FOUND, err untouched, when it has none. */
int vcm_page_table_first_seq(uint32_t *out, struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                             uint64_t mapping, struct vcm_error *err);

/* The rows of a page table whose pages have a record of the file, in order. */
typedef int (*vcm_page_store_path_fn)(void *context, uint32_t seq, struct vcm_error *err);
int vcm_page_table_each_path(struct vcm_kv_txn *txn, uint64_t mapping, struct vcm_slice path,
                             vcm_page_store_path_fn visit, void *context, struct vcm_error *err);

/* An item that is not in the page table: its path as shown, its outcome and, if it failed, why. */
struct vcm_page_omission {
    struct vcm_slice path;
    struct vcm_slice raw_path; /* bytes as the source has them */
    struct vcm_slice content_id;
    enum vcm_source_outcome outcome;
    struct vcm_slice reason;
};
typedef int (*vcm_page_store_omission_fn)(void *context, const struct vcm_page_omission *omission,
                                          struct vcm_error *err);
int vcm_page_table_each_omission(struct vcm_kv_txn *txn, uint64_t mapping,
                                 vcm_page_store_omission_fn visit, void *context,
                                 struct vcm_error *err);

#endif
