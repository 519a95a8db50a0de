/*
 * tables.h - the tables of the page store and the small values in them. Private to vcm/.
 */
#ifndef VCM_VCM_TABLES_H
#define VCM_VCM_TABLES_H

#include "base/kv.h"
#include "base/wire.h"
#include "vcm/page_store.h"

enum vcm_table {
    VCM_TABLE_META,      /* name -> value */
    VCM_TABLE_SCOPES,    /* scope id -> scope.h */
    VCM_TABLE_MAPPINGS,  /* mapping -> state, scope id */
    VCM_TABLE_ROWS,      /* mapping, seq -> page id, records */
    VCM_TABLE_HOLDERS,   /* page id, mapping -> occurrences, first seq */
    VCM_TABLE_PAGES,     /* page id -> descriptor */
    VCM_TABLE_FRAMES,    /* page id -> bytes */
    VCM_TABLE_OMISSIONS, /* mapping, seq -> what was left out */
};

/* Keys of VCM_TABLE_META. */
#define VCM_META_FORMAT       "format"
#define VCM_META_TOKENIZER    "tokenizer"
#define VCM_META_TOTALS       "totals"
#define VCM_META_NEXT_MAPPING "next_mapping"

enum vcm_mapping_state {
    VCM_MAPPING_BUILDING,
    VCM_MAPPING_IN_FORCE,
    VCM_MAPPING_DROPPING,
};

#define VCM_ROW_KEY_BYTES    12
#define VCM_HOLDER_KEY_BYTES (VCM_PAGE_ID_BYTES + 8)

struct vcm_page_store {
    struct vcm_kv *kv;
    char *directory;
    const struct vcm_log *log;
};

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

/* Occurrences and first seq of a page in a mapping; VCM_NOT_FOUND, err untouched, without any. */
int vcm_table_get_holder(uint32_t *occurrences, uint32_t *first_seq, struct vcm_kv_txn *txn,
                         const struct vcm_page_id *id, uint64_t mapping, struct vcm_error *err);

int vcm_table_get_mapping(enum vcm_mapping_state *state, struct vcm_slice *scope_id,
                          struct vcm_kv_txn *txn, uint64_t mapping, struct vcm_error *err);
int vcm_table_put_mapping(struct vcm_kv_txn *txn, uint64_t mapping, enum vcm_mapping_state state,
                          struct vcm_slice scope_id, struct vcm_error *err);

int vcm_table_put_totals(struct vcm_kv_txn *txn, const struct vcm_page_totals *totals,
                         struct vcm_error *err);
int vcm_table_put_page(struct vcm_kv_txn *txn, const struct vcm_page_info *info,
                       struct vcm_error *err);

/* The error of a stored value that does not have its layout. */
int vcm_table_malformed(const char *what, struct vcm_error *err);

#endif
