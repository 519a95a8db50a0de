/*
 * known.h - the records of a scope's former page table, so that a remap need not read, cut and
 * count what has not changed.
 *
 * A file is found by its path and content id, and all files below a directory by its path. Copies
 * at most VCM_KNOWN_RECORDS_MAX records; the rest of a larger table is not known, and is read.
 * One thread at a time.
 */
#ifndef VCM_VCM_MAPPING_KNOWN_H
#define VCM_VCM_MAPPING_KNOWN_H

#include "vcm/mapping/known_tree.h"
#include "vcm/store/page_store.h"

#define VCM_KNOWN_RECORDS_MAX 250000u
#define VCM_KNOWN_NONE        UINT32_MAX

struct vcm_known;

/* The table that was read. */
struct vcm_known_base {
    uint64_t mapping;
    uint32_t pages;
    struct vcm_slice scope; /* its stored description; when that is the same, so is the table */
};

/* *out is NULL, with VCM_OK, when the scope has no table, or one of another configuration. */
int vcm_known_open(struct vcm_known **out, struct vcm_page_store *store,
                   const struct vcm_scope *scope, struct vcm_error *err);
void vcm_known_close(struct vcm_known *known);

/* Valid until the end of `known`. NULL when the table is pinned. */
const struct vcm_known_base *vcm_known_base(const struct vcm_known *known);

/* The number of the file's first record, whose parts have the numbers that follow, or NONE. */
uint32_t vcm_known_find(const struct vcm_known *known, struct vcm_slice path,
                        struct vcm_slice content_id);

/* The table's records and omissions below a directory. */
struct vcm_known_directory_items {
    struct vcm_known_range records;
    struct vcm_known_range omissions;
};

/* Finds everything below a directory. False when it has to be walked: the table has nothing of it,
 * an item in it is to be tried again, only a part of the table was copied, or a path is shown in
 * another form than the source has it. */
bool vcm_known_directory(struct vcm_known_directory_items *out, const struct vcm_known *known,
                         struct vcm_slice directory);

/* The commit of the table; empty when no directory is known. */
struct vcm_slice vcm_known_commit(const struct vcm_known *known);

/* Valid until the end of `known`. */
const struct vcm_page_omission *vcm_known_omission(const struct vcm_known *known, uint32_t number);

/* Valid until the end of `known`. */
const struct vcm_page_record *vcm_known_record(const struct vcm_known *known, uint32_t number);

/* Whether `count` records from `number` on are exactly a page; sets its id and its row. */
bool vcm_known_page(struct vcm_page_id *id, uint32_t *seq, const struct vcm_known *known,
                    uint32_t number, uint32_t count);

/* Appends the serialised value of a record, from its page. NOT_FOUND when the page was dropped. */
int vcm_known_value(struct vcm_buf *out, struct vcm_known *known, uint32_t number,
                    struct vcm_error *err);

#endif
