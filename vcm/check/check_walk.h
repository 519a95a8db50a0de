/*
 * check_walk.h - how the parts of check.h walk tables and report what they find. Private to
 * vcm/check/.
 */
#ifndef VCM_VCM_CHECK_CHECK_WALK_H
#define VCM_VCM_CHECK_CHECK_WALK_H

#include <assert.h>

#include "vcm/check/check.h"
#include "vcm/residency/rebuild.h"
#include "vcm/store/table.h"

#define VCM_CHECK_FINDINGS_MAX 1000u
#define VCM_CHECK_SEEN         4096u /* hashes of findings that were reported; a power of two */

/* How many pages are compressed with a dictionary: as it says itself, and as the pages say. */
struct vcm_check_dictionary {
    uint64_t number;
    uint64_t stored, counted;
};

struct vcm_check {
    struct vcm_page_store *store;
    struct vcm_kv_txn *txn;
    const struct vcm_check_options *options;
    struct vcm_error err; /* of the last read */
    int rc;               /* why the check ends; VCM_STOP when it is no error */
    struct vcm_error fatal;
    unsigned findings;
    uint64_t seen[VCM_CHECK_SEEN];
    bool unreadable; /* an entry could not be read, so sums are not compared */
    bool txn_broken; /* damage broke the transaction: the next walk begins another */
    const char *table;

    struct vcm_buf frame; /* of a page that is not resident */
    struct vcm_rebuild *rebuild;
    struct vcm_page_totals sums;
    uint64_t next_mapping;
    struct vcm_buf dictionaries; /* struct vcm_check_dictionary, by number */

    uint64_t mapping; /* the one that vcm_check_mapping() read last */
    bool mapping_known;
    struct vcm_mapping_info mapping_info;
};

/* Reports a finding, once. `format` is the place. */
void vcm_check_report(struct vcm_check *check, bool is_damage, const char *what, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

#define VCM_CHECK(check, condition, what, ...)                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            vcm_check_report(check, true, what, __VA_ARGS__);                                      \
    } while (0)

/* Whether a read succeeded. Reports damage; any other failure ends the check. */
bool vcm_check_read(struct vcm_check *check, int rc, const char *where);

/* The same for an entry that may be missing: then it is false without a finding. */
bool vcm_check_found(struct vcm_check *check, int rc, const char *where);

typedef void (*vcm_check_entry_fn)(struct vcm_check *check, void *context, struct vcm_slice key,
                                   struct vcm_slice value);
/* Visits every entry that can be read, of a table or of its keys with a prefix. */
void vcm_check_each(struct vcm_check *check, enum vcm_table table, struct vcm_slice prefix,
                    vcm_check_entry_fn visit, void *context);

/* The same for a whole table, in a new transaction when damage broke that of the former walk. */
void vcm_check_all(struct vcm_check *check, enum vcm_table table, vcm_check_entry_fn visit);

/* Reads the mapping; false, and reported, when there is none. */
bool vcm_check_mapping(struct vcm_mapping_info *out, struct vcm_check *check, uint64_t mapping,
                       const char *where);

/* The frame of a page that is not evicted; false, and reported, when it cannot be read. Valid until
 * the next call. */
bool vcm_check_frame(struct vcm_slice *out, struct vcm_check *check,
                     const struct vcm_page_info *info, const char *where);

/* In check_table.c: scopes, mappings, rows, holders, paths. */
void vcm_check_table_all(struct vcm_check *check);

/* In check_page.c: pages, frames, dictionaries, locks, sums. */
void vcm_check_page_all(struct vcm_check *check);

static inline uint64_t vcm_check_walk_number(struct vcm_slice key)
{
    assert(key.len >= 8);
    return vcm_wire_load_be64((const unsigned char *)key.data);
}

static inline bool vcm_check_walk_stopped(const struct vcm_check *check)
{
    return check->rc != VCM_OK;
}

#endif
