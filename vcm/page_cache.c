#include "vcm/page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

#define COUNTERS_MAGIC UINT64_C(0x31746e634d435621) /* "!VCMcnt1" as little-endian bytes */
#define COUNTERS_BYTES ((size_t)4096)

/* The file's layout; also used in private memory when there is no file. */
struct counters {
    _Atomic uint64_t magic;
    _Atomic uint64_t hits;
    _Atomic uint64_t minor_faults;
    _Atomic uint64_t major_faults;
    _Atomic uint64_t evictions;
};

struct vcm_page_cache {
    struct counters *shared; /* the mapped file, or NULL */
    bool writable;
    struct counters private; /* counts when the file cannot be written */
};

/* Takes the room for the file: on a full disk a write through the map would be SIGBUS. */
static bool make_room(int fd)
{
    if (fallocate(fd, 0, 0, (off_t)COUNTERS_BYTES) == 0)
        return true;
    return errno == EOPNOTSUPP && ftruncate(fd, (off_t)COUNTERS_BYTES) == 0;
}

static struct counters *map_file(const char *path, bool writable)
{
    int fd = open(path, (writable ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW, 0600);
    struct stat status;
    void *memory = MAP_FAILED;

    if (fd < 0)
        return NULL;
    bool sized = fstat(fd, &status) == 0 &&
                 (writable ? make_room(fd) : status.st_size >= (off_t)COUNTERS_BYTES);
    if (sized)
        memory = mmap(NULL, COUNTERS_BYTES, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                      MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

/* A new file is all zeros and becomes ours; anything else without the magic is left alone. */
static bool is_ours(struct counters *counters, bool writable)
{
    uint64_t magic = 0;

    if (writable && atomic_compare_exchange_strong(&counters->magic, &magic, COUNTERS_MAGIC))
        return true;
    return atomic_load(&counters->magic) == COUNTERS_MAGIC;
}

int vcm_page_cache_open(struct vcm_page_cache **out, const char *directory, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    *out = NULL;
    struct vcm_page_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return vcm_error_memory(err);
    vcm_path_join(&path, directory, "counters");
    if (path.fault == VCM_BUF_FINE) {
        cache->shared = map_file(vcm_buf_text(&path), true);
        cache->writable = cache->shared != NULL;
        if (!cache->shared)
            cache->shared = map_file(vcm_buf_text(&path), false);
    }
    vcm_buf_release(&path);
    if (cache->shared && !is_ours(cache->shared, cache->writable)) {
        munmap(cache->shared, COUNTERS_BYTES);
        cache->shared = NULL;
        cache->writable = false;
    }
    *out = cache;
    return VCM_OK;
}

void vcm_page_cache_close(struct vcm_page_cache *cache)
{
    if (!cache)
        return;
    if (cache->shared)
        munmap(cache->shared, COUNTERS_BYTES);
    free(cache);
}

int vcm_page_cache_read(struct vcm_slice *frame, struct vcm_page_cache *cache,
                        struct vcm_kv_txn *txn, const struct vcm_page_info *page,
                        struct vcm_error *err)
{
    struct counters *counters = cache->writable ? cache->shared : &cache->private;

    int rc = vcm_page_store_frame(frame, txn, &page->id, err);
    if (rc == VCM_OK)
        atomic_fetch_add_explicit(&counters->hits, 1, memory_order_relaxed);
    return rc;
}

void vcm_page_cache_counters(struct vcm_page_cache_counters *out,
                             const struct vcm_page_cache *cache)
{
    const struct counters *counters = cache->shared ? cache->shared : &cache->private;

    out->hits = atomic_load(&counters->hits);
    out->minor_faults = atomic_load(&counters->minor_faults);
    out->major_faults = atomic_load(&counters->major_faults);
    out->evictions = atomic_load(&counters->evictions);
}
