#include "vcm/check/check.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/kv_pages.h"
#include "base/limits.h"
#include "vcm/check/check_walk.h"
#include "vcm/store/dictionary.h"
#include "vcm/residency/lock.h"
#include "vcm/residency/transition.h"
#include "vcm/residency/transition_sets.h"

#include "base/banned.h"

#define WHERE_BYTES          400
#define KEY_BYTES_MAX        511 /* of LMDB */
#define READ_FAULTS_MAX      100 /* of one table */
#define RESIDENCY_TIMEOUT_MS 1000u

/* Several checks may read the same damaged value; it is reported once. Returns false when the table
 * of findings is full: then a finding may be reported twice. */
static bool was_reported(struct vcm_check *check, const char *what, const char *where)
{
    uint64_t sum = vcm_hash_checksum(vcm_slice_of_string(where),
                                     vcm_hash_checksum(vcm_slice_of_string(what), 0));

    sum += sum == 0; /* 0 is a free place */
    for (unsigned i = 0; i < VCM_CHECK_SEEN; i++) {
        uint64_t *place = &check->seen[(sum + i) & (VCM_CHECK_SEEN - 1)];
        if (*place == sum)
            return true;
        if (*place == 0) {
            *place = sum;
            return false;
        }
    }
    return false;
}

static void stop(struct vcm_check *check, int rc, const struct vcm_error *err)
{
    assert(rc != VCM_OK);
    if (check->rc != VCM_OK)
        return;
    check->rc = rc;
    check->fatal = *err;
}

void vcm_check_report(struct vcm_check *check, bool is_damage, const char *what, const char *format,
                      ...)
{
    char where[WHERE_BYTES];
    struct vcm_error err = {0};
    va_list arguments;

    assert(what && what[0] != '\0');
    if (check->rc != VCM_OK)
        return;
    va_start(arguments, format);
    vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    if (was_reported(check, what, where))
        return;
    if (++check->findings > VCM_CHECK_FINDINGS_MAX) {
        stop(check, VCM_STOP, &err);
        return;
    }
    int rc = check->options->found(
        check->options->context,
        &(struct vcm_check_finding){.what = what, .where = where, .is_damage = is_damage}, &err);
    if (rc != VCM_OK)
        stop(check, rc, &err);
}

bool vcm_check_found(struct vcm_check *check, int rc, const char *where)
{
    if (rc == VCM_NOT_FOUND && check->err.code == VCM_OK)
        return false;
    return vcm_check_read(check, rc, where);
}

bool vcm_check_read(struct vcm_check *check, int rc, const char *where)
{
    struct vcm_error found = check->err;

    if (rc == VCM_OK)
        return true;
    vcm_error_reset(&check->err);
    if (rc == VCM_STORE_CORRUPT || rc == VCM_NOT_FOUND) {
        check->unreadable = true;
        vcm_check_report(check, true, found.message[0] ? found.message : "an entry is missing",
                         "%s", where);
    } else if (rc == VCM_INTERNAL && check->unreadable) {
        check->txn_broken = true; /* LMDB refuses a transaction that has met damage */
    } else {
        stop(check, rc, &found);
    }
    return false;
}

static bool is_alive(struct vcm_check *check, const char *table)
{
    struct vcm_error err = {0};

    check->table = table;
    int rc = check->options->alive ? check->options->alive(check->options->context, table, &err)
                                   : VCM_OK;
    if (rc != VCM_OK)
        stop(check, rc, &err);
    return check->rc == VCM_OK;
}

/* Keys must ascend. This also ends the walk of a damaged tree that has a cycle. */
struct last_key {
    char bytes[KEY_BYTES_MAX];
    size_t len;
    bool any;
};

static bool ascends(struct last_key *last, struct vcm_slice key)
{
    size_t common = key.len < last->len ? key.len : last->len;
    int order = common > 0 ? memcmp(last->bytes, key.data, common) : 0;
    bool fine = !last->any || order < 0 || (order == 0 && last->len < key.len);

    if (!fine || key.len > sizeof last->bytes)
        return false;
    memcpy(last->bytes, key.data, key.len);
    last->len = key.len;
    last->any = true;
    return true;
}

static bool has_prefix(struct vcm_slice key, struct vcm_slice prefix)
{
    return key.len >= prefix.len &&
           (prefix.len == 0 || memcmp(key.data, prefix.data, prefix.len) == 0);
}

void vcm_check_each(struct vcm_check *check, enum vcm_table table, struct vcm_slice prefix,
                    vcm_check_entry_fn visit, void *context)
{
    struct vcm_kv_cursor *cursor = NULL;
    struct vcm_slice key = {0}, value = {0};
    struct last_key last = {.len = 0};
    char failed[sizeof check->err.message] = "";
    unsigned faults = 0;
    const char *name = vcm_table_names[table];

    assert(check->txn || check->rc != VCM_OK);
    if (!is_alive(check, name) ||
        !vcm_check_read(check, vcm_kv_cursor_open(&cursor, check->txn, table, &check->err), name))
        return;
    int rc = vcm_kv_cursor_seek(&key, &value, cursor, prefix, &check->err);
    while (!check->txn_broken && is_alive(check, name) &&
           (rc != VCM_NOT_FOUND || check->err.code != VCM_OK)) {
        if (rc == VCM_OK && !ascends(&last, key)) {
            vcm_check_report(check, true, "the keys are not in order", "table %s", name);
            check->unreadable = true;
            break;
        }
        if (rc == VCM_OK && !has_prefix(key, prefix))
            break;
        if (rc == VCM_OK) {
            visit(check, context, key, value);
        } else {
            /* The same error twice: the cursor does not get past it. */
            bool stuck = strcmp(failed, check->err.message) == 0 || ++faults > READ_FAULTS_MAX;
            memcpy(failed, check->err.message, sizeof failed);
            vcm_check_read(check, rc, name);
            if (stuck)
                break;
        }
        rc = vcm_kv_cursor_next(&key, &value, cursor, &check->err);
    }
    vcm_error_reset(&check->err);
    vcm_kv_cursor_close(cursor);
}

void vcm_check_all(struct vcm_check *check, enum vcm_table table, vcm_check_entry_fn visit)
{
    if (check->txn_broken) {
        vcm_kv_handle_read_end(check->txn);
        check->txn = NULL;
        check->txn_broken = false;
        check->mapping_known = false;
        int rc = vcm_page_store_read_begin(&check->txn, check->store, &check->err);
        if (rc != VCM_OK) {
            vcm_error_reset(&check->err);
            stop(check, VCM_STOP, &check->err);
        }
    }
    vcm_check_each(check, table, vcm_slice_of("", 0), visit, NULL);
}

bool vcm_check_mapping(struct vcm_mapping_info *out, struct vcm_check *check, uint64_t mapping,
                       const char *where)
{
    if (!check->mapping_known || check->mapping != mapping) {
        int rc = vcm_page_table_get_mapping(&check->mapping_info, check->txn, mapping, &check->err);
        check->mapping_known = false;
        if (rc == VCM_NOT_FOUND && check->err.code == VCM_OK)
            vcm_check_report(check, true, "S7: an entry belongs to a mapping that exists", "%s",
                             where);
        if (!vcm_check_found(check, rc, where))
            return false;
        check->mapping_known = true;
        check->mapping = mapping;
    }
    *out = check->mapping_info;
    return true;
}

bool vcm_check_frame(struct vcm_slice *out, struct vcm_check *check,
                     const struct vcm_page_info *info, const char *where)
{
    assert(info->state != VCM_PAGE_EVICTED);
    if (info->state == VCM_PAGE_RESIDENT)
        return vcm_check_read(check, vcm_page_store_frame(out, check->txn, &info->id, &check->err),
                              where);
    vcm_buf_clear(&check->frame);
    int rc =
        vcm_buf_reserve(&check->frame, info->bytes + 1) ? VCM_OK : vcm_error_memory(&check->err);
    if (rc == VCM_OK)
        rc = vcm_dictionary_decompress(check->frame.data, check->store, check->txn, info,
                                       &check->err);
    *out = vcm_slice_of(check->frame.data, info->bytes);
    return vcm_check_read(check, rc, where);
}

static int report_file_page(void *context, const struct vcm_kv_pages_finding *finding,
                            struct vcm_error *err)
{
    struct vcm_check *check = context;

    (void)err;
    vcm_check_report(check, true, finding->what, "page %llu of the file, %llu in all",
                     (unsigned long long)finding->page, (unsigned long long)finding->count);
    return check->rc == VCM_OK ? VCM_OK : VCM_INTERRUPTED;
}

static int file_is_alive(void *context, struct vcm_error *err)
{
    struct vcm_check *check = context;

    (void)err;
    return is_alive(check, "free pages") ? VCM_OK : VCM_INTERRUPTED;
}

/* S19: a page of the file is free or in use, and that once. */
static void check_file(struct vcm_check *check)
{
    const struct vcm_kv_pages_options options = {report_file_page, file_is_alive, check};

    if (check->rc != VCM_OK)
        return;
    int rc = vcm_kv_pages_check(check->store->kv, &options, &check->err);
    if (check->rc == VCM_OK)
        vcm_check_read(check, rc, "free pages");
}

int vcm_check_store(uint64_t *pages, struct vcm_page_store *store,
                    const struct vcm_check_options *options, struct vcm_error *err)
{
    struct vcm_check *check = calloc(1, sizeof *check);

    assert(options->found);
    *pages = 0;
    if (!check)
        return vcm_error_memory(err);
    check->store = store;
    check->options = options;
    vcm_buf_init(&check->frame, VCM_LIMIT_FRAME_BYTES + 1);
    vcm_buf_init(&check->dictionaries, VCM_GIB);
    if (options->deep)
        check->rc = vcm_rebuild_open(&check->rebuild, store, &check->fatal);
    if (check->rc == VCM_OK)
        check->rc = vcm_page_store_read_begin(&check->txn, store, &check->fatal);
    if (check->rc == VCM_OK) {
        vcm_check_page_all(check);
        vcm_check_table_all(check);
        check_file(check);
    }
    *pages = check->sums.pages;
    int rc = check->rc;
    if (rc == VCM_STOP)
        rc = VCM_OK; /* VCM_CHECK_FINDINGS_MAX were reported, or damage ended the walk */
    else if (rc != VCM_OK && err)
        *err = check->fatal;
    vcm_kv_handle_read_end(check->txn);
    vcm_rebuild_close(check->rebuild);
    vcm_buf_release(&check->dictionaries);
    vcm_buf_release(&check->frame);
    free(check);
    return rc;
}

/* What is found under the writers' lock, and reported after it is released. */
struct under_lock {
    struct {
        char what[512];
        const char *where;
    } found[4];
    unsigned count;
};

__attribute__((format(printf, 3, 4))) static void note(struct under_lock *seen, const char *where,
                                                       const char *format, ...)
{
    va_list arguments;

    assert(seen->count < sizeof seen->found / sizeof seen->found[0]);
    va_start(arguments, format);
    vsnprintf(seen->found[seen->count].what, sizeof seen->found[0].what, format, arguments);
    va_end(arguments);
    seen->found[seen->count++].where = where;
}

static void check_sets(struct under_lock *seen, struct vcm_transition *t)
{
    static const char *const names[] = {[VCM_SET_RESIDENT] = "the order of resident pages",
                                        [VCM_SET_COMPRESSED] = "the order of compressed pages"};
    /* Volatile pages that are compressed are in neither set, and count as pinned. */
    uint64_t in_set = t->sets_usable ? vcm_evict_count(&t->sets[VCM_SET_COMPRESSED]) : 0;
    uint64_t apart = t->totals.compressed > in_set ? t->totals.compressed - in_set : 0;
    apart = apart < t->totals.pinned ? apart : t->totals.pinned;
    uint64_t counts[] = {[VCM_SET_RESIDENT] = t->totals.resident - (t->totals.pinned - apart),
                         [VCM_SET_COMPRESSED] = t->totals.compressed - apart};

    for (unsigned i = 0; t->sets_usable && i < VCM_SHM_SETS && seen->count == 0; i++) {
        struct vcm_error found = {0};
        uint32_t count = vcm_evict_count(&t->sets[i]);
        if (vcm_evict_check(&t->sets[i], &found) != VCM_OK)
            note(seen, names[i], "%s", found.message);
        else if (count != counts[i])
            note(seen, names[i], "it has %u pages and should have %llu", count,
                 (unsigned long long)counts[i]);
        else
            continue;
        t->sets_changed = true; /* the transaction is rolled back, so the sets are rebuilt */
    }
}

/* C1, C2: neither limits nor pages change while the lock is held. A limit is exceeded when
 * config.yaml was edited by hand and nothing was written since. */
static void check_limits(struct under_lock *seen, struct vcm_transition *t)
{
    const unsigned long long capacity = t->limits.capacity;
    const unsigned long long compressed_capacity = t->limits.compressed_capacity;
    uint64_t locked = 0;

    if (t->totals.resident_bytes > t->limits.capacity)
        note(seen, "the resident pages",
             "C1: they have %llu bytes and cache.capacity is %llu; "
             "'vcm config set cache.capacity %llu' evicts pages",
             (unsigned long long)t->totals.resident_bytes, capacity, capacity);
    if (t->totals.compressed_bytes > t->limits.compressed_capacity)
        note(seen, "the compressed pages",
             "C1: they have %llu bytes and cache.compressed_capacity is %llu; "
             "'vcm config set cache.compressed_capacity %llu' evicts pages",
             (unsigned long long)t->totals.compressed_bytes, compressed_capacity,
             compressed_capacity);
    if (vcm_lock_bytes(&locked, t->txn, t->now_ms, NULL) != VCM_OK)
        return;
    locked += t->totals.pinned_bytes;
    if (locked > t->limits.capacity)
        note(seen, "the pinned and locked pages",
             "C2: they have %llu bytes and cache.capacity is %llu; raise it with "
             "'vcm config set cache.capacity SIZE', or unpin something",
             (unsigned long long)locked, capacity);
}

/* Changes nothing: the code rolls the transaction back. */
static int look_under_lock(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct under_lock *seen = context;

    (void)err;
    seen->count = 0;
    check_sets(seen, t);
    check_limits(seen, t);
    return VCM_STOP;
}

int vcm_check_residency(struct vcm_page_store *store, const struct vcm_check_options *options,
                        struct vcm_error *err)
{
    struct under_lock seen = {.count = 0};
    struct vcm_error ignored = {0};
    int rc = VCM_OK;

    /* A failure is not reported: this check is an addition to that of the tables. */
    vcm_transition_run(store, look_under_lock, &seen, RESIDENCY_TIMEOUT_MS, NULL, &ignored);
    for (unsigned i = 0; rc == VCM_OK && i < seen.count; i++)
        rc = options->found(
            options->context,
            &(struct vcm_check_finding){.what = seen.found[i].what, .where = seen.found[i].where},
            err);
    return rc;
}
