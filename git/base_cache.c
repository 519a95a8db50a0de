#include "git/base_cache.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"

#include "base/banned.h"

#define BUCKETS 1024u

/* An entry is in the list of its bucket and in a ring ordered by use. The ring's head is no
 * object. */
struct entry {
    struct entry *next_in_bucket;
    struct entry *older;
    struct entry *newer;
    uint64_t offset;
    unsigned pack;
    size_t len;
    char *data;
};

struct vcm_git_base_cache {
    struct entry *buckets[BUCKETS];
    struct entry ring; /* ring.older is the most recently used */
    size_t bytes;
};

static atomic_size_t cache_count;

struct vcm_git_base_cache *vcm_git_base_cache_open(void)
{
    struct vcm_git_base_cache *cache = calloc(1, sizeof *cache);

    if (!cache)
        return NULL;
    cache->ring.older = cache->ring.newer = &cache->ring;
    atomic_fetch_add(&cache_count, 1);
    return cache;
}

static struct entry **bucket_of(struct vcm_git_base_cache *cache, unsigned pack, uint64_t offset)
{
    uint64_t mixed = (offset + pack) * UINT64_C(0x9e3779b97f4a7c15);

    return &cache->buckets[mixed >> 32 & (BUCKETS - 1)];
}

static void leave_ring(struct entry *entry)
{
    entry->older->newer = entry->newer;
    entry->newer->older = entry->older;
}

static void enter_ring(struct vcm_git_base_cache *cache, struct entry *entry)
{
    entry->newer = &cache->ring;
    entry->older = cache->ring.older;
    entry->older->newer = entry;
    cache->ring.older = entry;
}

static size_t weight(size_t len)
{
    return len + sizeof(struct entry);
}

static void drop(struct vcm_git_base_cache *cache, struct entry *entry)
{
    struct entry **link = bucket_of(cache, entry->pack, entry->offset);

    assert(entry != &cache->ring && cache->bytes >= weight(entry->len));
    while (*link != entry)
        link = &(*link)->next_in_bucket;
    *link = entry->next_in_bucket;
    leave_ring(entry);
    cache->bytes -= weight(entry->len);
    free(entry->data);
    free(entry);
}

void vcm_git_base_cache_close(struct vcm_git_base_cache *cache)
{
    if (!cache)
        return;
    while (cache->ring.newer != &cache->ring)
        drop(cache, cache->ring.newer);
    free(cache);
    atomic_fetch_sub(&cache_count, 1);
}

struct vcm_slice vcm_git_base_cache_get(struct vcm_git_base_cache *cache, unsigned pack,
                                        uint64_t offset)
{
    struct entry *entry = *bucket_of(cache, pack, offset);

    while (entry && (entry->offset != offset || entry->pack != pack))
        entry = entry->next_in_bucket;
    if (!entry)
        return vcm_slice_of(NULL, 0);
    leave_ring(entry);
    enter_ring(cache, entry);
    return vcm_slice_of(entry->data, entry->len);
}

void vcm_git_base_cache_put(struct vcm_git_base_cache *cache, unsigned pack, uint64_t offset,
                            char *data, size_t len)
{
    size_t bytes_max = VCM_LIMIT_BASE_CACHE_BYTES / atomic_load(&cache_count);
    /* An object that would evict most of the others is not cached. */
    struct entry *entry = weight(len) <= bytes_max / 2 ? malloc(sizeof *entry) : NULL;

    if (!entry) {
        free(data);
        return;
    }
    *entry = (struct entry){.offset = offset, .pack = pack, .len = len, .data = data};
    struct entry **bucket = bucket_of(cache, pack, offset);
    entry->next_in_bucket = *bucket;
    *bucket = entry;
    enter_ring(cache, entry);
    cache->bytes += weight(len);
    while (cache->bytes > bytes_max)
        drop(cache, cache->ring.newer);
}
