/*
 * check_walk.h - how the parts of check.h walk tables and tell what they find. Private to
 * vcm/check*.c.
 */
#ifndef VCM_VCM_CHECK_CHECK_WALK_H
#define VCM_VCM_CHECK_CHECK_WALK_H

#include "vcm/check/check.h"
#include "vcm/residency/rebuild.h"
#include "vcm/store/table.h"

#define VCM_CHECK_FINDINGS_MAX 1000u
#define VCM_CHECK_SEEN         4096u /* places for findings that were told; a power of two */

/* How many pages say that they were compressed with a dictionary. */
struct vcm_check_dictionary {
    uint64_t number;
    uint64_t stored, counted;
};

struct vcm_check {
    struct vcm_page_store *store;
    struct vcm_kv_txn *txn;
    const struct vcm_check_options *options;
    struct vcm_error err; /* of the last read */
    int rc;               /* why the check cannot go on */
    struct vcm_error fatal;
    unsigned findings;
    uint64_t seen[VCM_CHECK_SEEN];
    bool unreadable; /* something could not be read: sums say nothing then */
    bool txn_broken; /* by damage, for LMDB: the next walk needs another transaction */
    const char *table;

    struct vcm_buf frame; /* of a page that is not resident */
    struct vcm_rebuild *rebuild;
    struct vcm_page_totals sums;
    uint64_t next_mapping;
    struct vcm_buf dictionaries; /* struct vcm_check_dictionary, by number */

    uint64_t mapping; /* that was looked up last */
    bool mapping_known;
    struct vcm_mapping_info mapping_info;
};

/* Tells a finding, once. `format` is the place. */
void vcm_check_tell(struct vcm_check *check, bool is_damage, const char *what, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

#define VCM_CHECK(check, condition, what, ...)                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            vcm_check_tell(check, true, what, __VA_ARGS__);                                        \
    } while (0)

/* Whether a read succeeded. Damage is told, and anything else ends the check. */
bool vcm_check_read(struct vcm_check *check, int rc, const char *where);

/* The same where nothing may be there, which is false without a finding. */
bool vcm_check_found(struct vcm_check *check, int rc, const char *where);

typedef void (*vcm_check_entry_fn)(struct vcm_check *check, void *context, struct vcm_slice key,
                                   struct vcm_slice value);
/* Every entry that can be read, of a table or of its keys with a prefix. */
void vcm_check_each(struct vcm_check *check, enum vcm_table table, struct vcm_slice prefix,
                    vcm_check_entry_fn visit, void *context);

/* The same of a whole table, by itself: what damage does to one walk, another does not feel. */
void vcm_check_all(struct vcm_check *check, enum vcm_table table, vcm_check_entry_fn visit);

/* The mapping; false, and told, when there is none. */
bool vcm_check_mapping(struct vcm_mapping_info *out, struct vcm_check *check, uint64_t mapping,
                       const char *where);

/* The bytes of a page that has some; false when they cannot be had, which is told. Valid until the
 * next call. */
bool vcm_check_frame(struct vcm_slice *out, struct vcm_check *check,
                     const struct vcm_page_info *info, const char *where);

/* In check_table.c: scopes, mappings, rows, holders, paths. */
void vcm_check_table_all(struct vcm_check *check);

/* In check_page.c: pages, frames, dictionaries, locks, sums. */
void vcm_check_page_all(struct vcm_check *check);

static inline uint64_t vcm_check_walk_number(struct vcm_slice key)
{
    return vcm_wire_load_be64((const unsigned char *)key.data);
}

static inline bool vcm_check_walk_stopped(const struct vcm_check *check)
{
    return check->rc != VCM_OK;
}

#endif
