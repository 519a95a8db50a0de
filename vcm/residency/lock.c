#include "vcm/residency/lock.h"

#include <assert.h>

#include "base/hash.h"
#include "base/limits.h"
#include "vcm/store/table.h"
#include "vcm/residency/transition.h"

#include "base/banned.h"

#define OWNER_HASH_BYTES 16
#define LOCK_KEY_BYTES   (VCM_PAGE_ID_BYTES + OWNER_HASH_BYTES)

/* Earlier builds stored seconds. As seconds, this is the year 5138; as milliseconds, 1973. */
#define SECONDS_BELOW UINT64_C(100000000000)

static struct vcm_slice lock_key(unsigned char key[LOCK_KEY_BYTES], const struct vcm_page_id *id,
                                 const char *owner)
{
    unsigned char digest[VCM_HASH_SHA256_BYTES];

    vcm_hash_sha256_of(digest, vcm_slice_of_string(owner));
    memcpy(key, id->bytes, sizeof id->bytes);
    memcpy(key + sizeof id->bytes, digest, OWNER_HASH_BYTES);
    return vcm_slice_of(key, LOCK_KEY_BYTES);
}

int vcm_lock_get(struct vcm_lock_info *out, struct vcm_slice key, struct vcm_slice value,
                 struct vcm_error *err)
{
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, value);
    out->owner = vcm_wire_get_bytes(&r);
    out->until_ms = vcm_wire_get_u64(&r);
    if (out->until_ms < SECONDS_BELOW)
        out->until_ms *= 1000;
    out->reason = vcm_wire_get_bytes(&r);
    if (key.len != LOCK_KEY_BYTES || !vcm_wire_reader_done(&r))
        return vcm_table_malformed("a lock", err);
    memcpy(out->id.bytes, key.data, sizeof out->id.bytes);
    return VCM_OK;
}

struct walk {
    vcm_lock_fn visit;
    void *context;
};

static int visit_lock(void *context, struct vcm_slice key, struct vcm_slice value,
                      struct vcm_error *err)
{
    const struct walk *walk = context;
    struct vcm_lock_info lock;

    int rc = vcm_lock_get(&lock, key, value, err);
    return rc == VCM_OK ? walk->visit(walk->context, &lock, err) : rc;
}

int vcm_lock_each(struct vcm_kv_txn *txn, const struct vcm_page_id *id, vcm_lock_fn visit,
                  void *context, struct vcm_error *err)
{
    struct walk walk = {visit, context};
    struct vcm_slice prefix = id ? vcm_table_id_key(id) : vcm_slice_of("", 0);

    return vcm_table_each(txn, VCM_TABLE_LOCKS, prefix, prefix, visit_lock, &walk, err);
}

/* Sums over the locks whose time is not over. */
struct sum {
    struct vcm_kv_txn *txn;
    uint64_t now_ms;
    struct vcm_page_id last; /* the page of the previous lock: locks are sorted by page */
    bool any;
    uint64_t until_ms, pages, bytes;
};

static int add_lock(void *context, const struct vcm_lock_info *lock, struct vcm_error *err)
{
    struct sum *sum = context;
    struct vcm_page_info info;

    if (lock->until_ms <= sum->now_ms)
        return VCM_OK;
    if (lock->until_ms > sum->until_ms)
        sum->until_ms = lock->until_ms;
    if (sum->any && memcmp(&sum->last, &lock->id, sizeof lock->id) == 0)
        return VCM_OK;
    sum->any = true;
    sum->last = lock->id;
    sum->pages++;
    int rc = vcm_page_store_page(&info, sum->txn, &lock->id, err);
    if (rc == VCM_NOT_FOUND)
        return vcm_table_malformed("a lock without a page", err);
    if (rc == VCM_OK && !vcm_page_store_is_kept(&info))
        sum->bytes += info.bytes;
    return rc;
}

static int add_up(struct sum *sum, struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                  uint64_t now_ms, struct vcm_error *err)
{
    *sum = (struct sum){.txn = txn, .now_ms = now_ms};
    return vcm_lock_each(txn, id, add_lock, sum, err);
}

int vcm_lock_until(uint64_t *until_ms, struct vcm_kv_txn *txn, const struct vcm_page_id *id,
                   uint64_t now_ms, struct vcm_error *err)
{
    struct sum sum;

    int rc = add_up(&sum, txn, id, now_ms, err);
    *until_ms = sum.until_ms;
    return rc;
}

int vcm_lock_pages(uint64_t *pages, struct vcm_kv_txn *txn, uint64_t now_ms, struct vcm_error *err)
{
    struct sum sum;

    int rc = add_up(&sum, txn, NULL, now_ms, err);
    *pages = sum.pages;
    return rc;
}

int vcm_lock_bytes(uint64_t *bytes, struct vcm_kv_txn *txn, uint64_t now_ms, struct vcm_error *err)
{
    struct sum sum;

    int rc = add_up(&sum, txn, NULL, now_ms, err);
    *bytes = sum.bytes;
    return rc;
}

/* The locks to delete, gathered before the first one is deleted. */
struct removal {
    const char *owner; /* NULL: all owners */
    uint64_t now_ms;
    bool only_over;   /* only those whose time is over */
    uint64_t counted; /* deleted ones whose time was not over */
    struct vcm_buf keys;
};

static int consider_removal(void *context, struct vcm_slice key, struct vcm_slice value,
                            struct vcm_error *err)
{
    struct removal *removal = context;
    struct vcm_lock_info lock;

    int rc = vcm_lock_get(&lock, key, value, err);
    if (rc != VCM_OK || (removal->only_over && lock.until_ms > removal->now_ms) ||
        (removal->owner && !vcm_slice_equal(lock.owner, vcm_slice_of_string(removal->owner))))
        return rc;
    removal->counted += lock.until_ms > removal->now_ms;
    vcm_buf_append_slice(&removal->keys, key);
    return vcm_buf_check(&removal->keys, "a list of locks", err);
}

static int remove_locks(struct removal *removal, struct vcm_kv_txn *txn,
                        const struct vcm_page_id *id, struct vcm_error *err)
{
    struct vcm_slice prefix = id ? vcm_table_id_key(id) : vcm_slice_of("", 0);

    vcm_buf_init(&removal->keys, LOCK_KEY_BYTES * (size_t)VCM_LIMIT_LOCKS);
    int rc = vcm_table_each(txn, VCM_TABLE_LOCKS, prefix, prefix, consider_removal, removal, err);
    assert(rc != VCM_OK || removal->keys.len % LOCK_KEY_BYTES == 0);
    for (size_t at = 0; rc == VCM_OK && at < removal->keys.len; at += LOCK_KEY_BYTES)
        rc = vcm_kv_delete(txn, VCM_TABLE_LOCKS,
                           vcm_slice_of(removal->keys.data + at, LOCK_KEY_BYTES), err);
    vcm_buf_release(&removal->keys);
    return rc;
}

int vcm_lock_drop(struct vcm_kv_txn *txn, const struct vcm_page_id *id, struct vcm_error *err)
{
    struct removal removal = {0};
    uint64_t locks = 0;

    int rc = vcm_kv_count(&locks, txn, VCM_TABLE_LOCKS, err);
    return rc == VCM_OK && locks > 0 ? remove_locks(&removal, txn, id, err) : rc;
}

static int put_lock(struct vcm_transition *t, const struct vcm_page_id *id,
                    const struct vcm_lock_request *request, struct vcm_error *err)
{
    struct vcm_buf value = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    unsigned char bytes[LOCK_KEY_BYTES];
    struct vcm_slice key = lock_key(bytes, id, request->owner), stored;
    struct vcm_lock_info former = {.until_ms = 0};
    uint64_t until_ms = t->now_ms + request->ttl_ms;

    int rc = vcm_kv_get(&stored, t->txn, VCM_TABLE_LOCKS, key, err);
    if (rc == VCM_OK)
        rc = vcm_lock_get(&former, key, stored, err);
    else if (rc == VCM_NOT_FOUND)
        rc = VCM_OK;
    if (rc == VCM_OK && former.until_ms > 0 &&
        !vcm_slice_equal(former.owner, vcm_slice_of_string(request->owner)))
        rc = vcm_table_malformed("the owner of a lock", err);
    if (rc != VCM_OK)
        return rc;
    vcm_wire_put_string(&value, request->owner);
    vcm_wire_put_u64(&value, former.until_ms > until_ms ? former.until_ms : until_ms);
    vcm_wire_put_string(&value, request->reason);
    rc = vcm_buf_check(&value, "a lock's owner and reason", err);
    if (rc == VCM_OK)
        rc = vcm_kv_put(t->txn, VCM_TABLE_LOCKS, key, vcm_buf_slice(&value), err);
    vcm_buf_release(&value);
    return rc;
}

static int no_page(const struct vcm_page_id *id, struct vcm_error *err)
{
    char hex[VCM_PAGE_ID_HEX + 1];

    vcm_page_id_to_hex(hex, id);
    return vcm_error_set(err, VCM_NOT_FOUND, "there is no page %s", hex);
}

/* Promotes a page whose lock is written already: so it is not chosen as a victim itself while room
 * is made for the request's other pages. */
static int lock_page(struct vcm_transition *t, const struct vcm_lock_request *request, unsigned i,
                     struct vcm_error *err)
{
    struct vcm_page_info info;

    int rc = vcm_page_store_page(&info, t->txn, &request->ids[i], err);
    if (rc == VCM_NOT_FOUND)
        return no_page(&request->ids[i], err);
    if (rc == VCM_OK && info.state != VCM_PAGE_RESIDENT &&
        (!request->frames || request->frames[i].len == 0))
        return VCM_RETRY;
    if (rc == VCM_OK)
        rc = vcm_transition_promote(
            t, &info, request->frames ? request->frames[i] : vcm_slice_of("", 0), err);
    assert(rc != VCM_OK || info.state == VCM_PAGE_RESIDENT); /* S16 */
    return rc == VCM_NO_ROOM ? vcm_transition_no_room(t, &info, err) : rc;
}

static int take_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    const struct vcm_lock_request *request = context;
    struct removal over = {.now_ms = t->now_ms, .only_over = true};
    uint64_t locks = 0;

    int rc = remove_locks(&over, t->txn, NULL, err);
    for (unsigned i = 0; rc == VCM_OK && i < request->count; i++) {
        struct vcm_page_info info;
        rc = vcm_page_store_page(&info, t->txn, &request->ids[i], err);
        if (rc == VCM_NOT_FOUND)
            return no_page(&request->ids[i], err);
        if (rc == VCM_OK)
            rc = put_lock(t, &request->ids[i], request, err);
    }
    if (rc == VCM_OK)
        rc = vcm_kv_count(&locks, t->txn, VCM_TABLE_LOCKS, err);
    if (rc == VCM_OK && locks > VCM_LIMIT_LOCKS)
        rc = vcm_error_set(err, VCM_STORE_FULL, "there are %u locks already; unlock something",
                           VCM_LIMIT_LOCKS);
    if (rc == VCM_OK)
        rc = vcm_transition_check_pinned(t, err);
    for (unsigned i = 0; rc == VCM_OK && i < request->count; i++)
        rc = lock_page(t, request, i, err);
    return rc;
}

int vcm_lock_take(struct vcm_page_store *store, const struct vcm_lock_request *request,
                  const struct vcm_cancel *cancel, struct vcm_error *err)
{
    assert(request->owner);
    return vcm_transition_run(store, take_change, (void *)request, request->timeout_ms, cancel,
                              err);
}

struct release {
    const struct vcm_page_id *ids;
    unsigned count;
    const char *owner;
    uint64_t released;
};

static int release_change(void *context, struct vcm_transition *t, struct vcm_error *err)
{
    struct release *release = context;
    int rc = VCM_OK;

    release->released = 0;
    for (unsigned i = 0; rc == VCM_OK && i < release->count; i++) {
        struct removal removal = {.owner = release->owner, .now_ms = t->now_ms};
        rc = remove_locks(&removal, t->txn, &release->ids[i], err);
        release->released += removal.counted;
    }
    return rc;
}

int vcm_lock_release(uint64_t *released, struct vcm_page_store *store,
                     const struct vcm_page_id *ids, unsigned count, const char *owner,
                     const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct release release = {ids, count, owner, 0};

    int rc =
        vcm_transition_run(store, release_change, &release, VCM_LIMIT_LOCK_TIMEOUT_MS, cancel, err);
    *released = rc == VCM_OK ? release.released : 0;
    return rc;
}
