/*
 * How processes share the file `residency`.
 *
 * Life of the file. Every process that uses the file holds a read lock on it. A process that gets
 * the write lock is alone: it checks the magic number, clears the file if it is wrong, and
 * clears what dead processes left (views, the recorder, a departure without an end). After a reboot
 * the eviction sets are stale, since the last writes to the map may be lost. Then it turns the
 * write lock into a read lock. Blocks are allocated before they are mapped, because a write to a
 * hole on a full disk raises SIGBUS. The file is mapped once, far beyond its end, so that it can
 * grow while its address stays. If any of this fails, the handle uses private memory.
 *
 * Eviction sets lie behind the fixed part. A set's place, offset and length, is one 64-bit word: a
 * resize fills new memory first and then publishes the place with one store. Old memory is never
 * given out again while the file is in use, since another process may still read it. A place that
 * this process did not make is checked once (check_place()) before it is used. `sets_state` and
 * `sets_stamp` say whether a writer left the sets whole, and for which state of the store.
 *
 * Views. A slot is free when its owner is 0. A reader claims one by compare-and-swap, writes the
 * page's id, and then sets `view_live`. Slots of processes that died are freed by the next process
 * that needs one or that finds them in its way. The sum of bytes is checked after the slot is
 * taken, so that two readers at the bound are both refused rather than both admitted.
 *
 * Departures. The number is raised to odd before frames are freed and to even after the commit. The
 * store to `view_live`, the loads of it, and all operations on `departures` are sequentially
 * consistent: at least one of a reader that takes a slot and a writer that frees frames sees the
 * other (view.c has the proof). The other fields need no such order.
 *
 * The trace is a ring. A reader takes the next number, writes the entry without a lock, and last a
 * check value over the number and the content. The recorder accepts an entry only if its check
 * value is right: an entry that is half written, or overwritten by a later one, is counted as lost.
 */
#include "vcm/store/shm.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/process.h"

#include "base/banned.h"

#define MAGIC          UINT64_C(0x317365724d435621) /* "!VCMres1" as little-endian bytes */
#define PAGE_BYTES     ((size_t)4096)
#define ID_WORDS       3u
#define RING_ENTRIES   16384u
#define ENTRY_TRIES    100u
#define ENTRIES_RECENT 64u /* that threads may still be writing */
#define LOCK_TRIES     100u
#define LOCK_NAP_MS    2

enum set_state {
    SETS_STALE, /* the state in a new file */
    SETS_CLEAN,
    SETS_BEING_WRITTEN,
};

/* An id as words; the upper half of the last one is free for other use. */
struct id_words {
    _Atomic uint64_t word[ID_WORDS];
};

struct ring_entry {
    _Atomic uint64_t check; /* over the access's number and the rest: right once it is complete */
    _Atomic uint64_t ms;
    struct id_words id; /* and the frame's bytes in the upper half of the last word */
};

/* The file's fixed part; eviction sets lie behind it. A set's place has its first page in the upper
 * half and its number of pages in the lower one, so that both change at once. */
struct layout {
    _Atomic uint64_t magic;
    _Atomic uint64_t boot;
    _Atomic uint64_t counters[VCM_SHM_COUNTERS];
    _Atomic uint64_t sets_state;
    _Atomic uint64_t sets_stamp;
    _Atomic uint64_t sets_place[VCM_SHM_SETS];
    _Atomic uint64_t departures;
    _Atomic uint64_t recorder;  /* process that records a trace, or 0 */
    _Atomic uint64_t accesses;  /* written to the ring so far */
    _Atomic uint64_t views_end; /* no slot from this one on is taken; a hint for sums of bytes */
    _Atomic uint64_t capacity;  /* of the store plus 1, as the last writer read it; 0: unknown */

    /* Views, one array for each field: a search for slots reads the owners only. */
    _Alignas(4096) _Atomic uint64_t view_owner[VCM_LIMIT_VIEWS]; /* 0: free */
    _Atomic uint64_t view_bytes[VCM_LIMIT_VIEWS];
    _Atomic uint64_t view_live[VCM_LIMIT_VIEWS]; /* 1 once the id is complete */
    struct id_words view_id[VCM_LIMIT_VIEWS];

    _Alignas(4096) struct ring_entry ring[RING_ENTRIES];
};

/* As in docs/FORMAT.md. */
_Static_assert(offsetof(struct layout, sets_place) == 72, "layout");
_Static_assert(offsetof(struct layout, views_end) == 112, "layout");
_Static_assert(offsetof(struct layout, capacity) == 120, "layout");
_Static_assert(offsetof(struct layout, view_id) == 28672, "layout");
_Static_assert(offsetof(struct layout, ring) == 53248, "layout");
_Static_assert(sizeof(struct ring_entry) == 40, "layout");

/* An atomic that needs a lock would have it in the memory of one process. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && sizeof(long long) == 8,
               "atomics work across processes");
_Static_assert(VCM_PAGE_ID_BYTES == (ID_WORDS - 1) * 8 + 4, "half of the last word is free");
_Static_assert(VCM_LIMIT_RESIDENCY_BYTES / PAGE_BYTES <= UINT32_MAX, "a place fits a word");

struct vcm_shm {
    struct layout *map;
    size_t map_bytes;     /* of address space; must not be touched beyond the end of the file */
    int fd;               /* -1: private memory */
    struct layout *shown; /* the counters of a file that may only be read; or NULL */
    uint64_t self;        /* this process, see base/process.h */
    _Atomic uint64_t checked_place[VCM_SHM_SETS]; /* places that passed check_place() */
};

static void id_to_words(uint64_t words[ID_WORDS], const struct vcm_page_id *id)
{
    words[ID_WORDS - 1] = 0;
    memcpy(words, id->bytes, VCM_PAGE_ID_BYTES);
}

static int set_lock(int fd, short type)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_SETLK, &range);
}

static uint64_t boot_number(void)
{
    char text[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    return vcm_hash_checksum(vcm_slice_of(text, got > 0 ? (size_t)got : 0), 0);
}

/* Maps the file far beyond its end, so that it can grow while its address stays. Takes less address
 * space if there is little. */
static struct layout *map_memory(size_t *bytes, int fd)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_NORESERVE;

    for (*bytes = VCM_LIMIT_RESIDENCY_BYTES; *bytes >= sizeof(struct layout); *bytes /= 16) {
        void *memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
        if (memory != MAP_FAILED)
            return memory;
    }
    return NULL;
}

/* No other process uses the file: every owner in it is dead. */
static void begin_alone(struct layout *map)
{
    uint64_t boot = boot_number();

    if (atomic_exchange(&map->boot, boot) != boot)
        atomic_store(&map->sets_state, SETS_STALE);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++) {
        atomic_store(&map->view_live[i], 0);
        atomic_store(&map->view_owner[i], 0);
    }
    atomic_store(&map->recorder, 0);
    atomic_fetch_add(&map->departures, atomic_load(&map->departures) % 2);
    assert(atomic_load(&map->departures) % 2 == 0);
    atomic_store(&map->magic, MAGIC);
}

/* The sets have to be rebuilt: shrinks the file, so that they begin small. */
static bool forget_sets(struct layout *map, int fd)
{
    for (unsigned i = 0; i < VCM_SHM_SETS; i++)
        atomic_store(&map->sets_place[i], 0);
    return ftruncate(fd, (off_t)sizeof *map) == 0;
}

/* Allocates blocks instead of only setting the size: a write to a mapped hole on a full disk raises
 * SIGBUS. */
static bool allocate(int fd, size_t offset, size_t bytes)
{
    return posix_fallocate(fd, (off_t)offset, (off_t)bytes) == 0;
}

static bool has_magic(int fd)
{
    uint64_t magic = 0;
    struct stat status;

    return pread(fd, &magic, sizeof magic, 0) == (ssize_t)sizeof magic && magic == MAGIC &&
           fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(struct layout);
}

/* Called with the write lock: makes the file valid, whatever it was. */
static bool prepare(struct vcm_shm *shm, int fd)
{
    if (!has_magic(fd) && ftruncate(fd, 0) != 0)
        return false;
    if (!allocate(fd, 0, sizeof(struct layout)))
        return false;
    shm->map = map_memory(&shm->map_bytes, fd);
    if (!shm->map)
        return false;
    begin_alone(shm->map);
    return atomic_load(&shm->map->sets_state) == SETS_CLEAN || forget_sets(shm->map, fd);
}

static bool join(struct vcm_shm *shm, int fd)
{
    if (!has_magic(fd) || !allocate(fd, 0, sizeof(struct layout)))
        return false;
    shm->map = map_memory(&shm->map_bytes, fd);
    return shm->map != NULL;
}

/* Every process that uses the file has a read lock on it. One that gets the write lock is alone. */
static bool share(struct vcm_shm *shm, int fd)
{
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (set_lock(fd, F_WRLCK) == 0)
            return prepare(shm, fd) && set_lock(fd, F_RDLCK) == 0;
        if (errno != EAGAIN && errno != EACCES)
            return false;
        if (set_lock(fd, F_RDLCK) == 0) {
            if (join(shm, fd))
                return true;
            set_lock(fd, F_UNLCK);
        }
        vcm_clock_sleep_ms(LOCK_NAP_MS);
    }
    return false;
}

/* O_NONBLOCK because the path may be a FIFO. */
static int open_regular(const char *path, int access)
{
    int fd = open(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct stat status;

    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static void drop_map(struct vcm_shm *shm)
{
    if (shm->map)
        munmap(shm->map, shm->map_bytes);
    shm->map = NULL;
}

static void open_file(struct vcm_shm *shm, const char *path)
{
    shm->fd = open_regular(path, O_RDWR | O_CREAT);
    if (shm->fd >= 0) {
        if (share(shm, shm->fd))
            return;
        drop_map(shm);
        close(shm->fd);
        shm->fd = -1;
        return;
    }
    int fd = open_regular(path, O_RDONLY);
    if (fd < 0)
        return;
    if (has_magic(fd)) {
        void *memory = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
        shm->shown = memory == MAP_FAILED ? NULL : memory;
    }
    close(fd);
}

int vcm_shm_open(struct vcm_shm **out, const char *directory, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    *out = NULL;
    struct vcm_shm *shm = calloc(1, sizeof *shm);
    if (!shm)
        return vcm_error_memory(err);
    shm->fd = -1;
    shm->self = vcm_process_self();
    vcm_path_join(&path, directory, "residency");
    if (path.fault == VCM_BUF_FINE)
        open_file(shm, vcm_buf_text(&path));
    vcm_buf_release(&path);
    if (!shm->map)
        shm->map = map_memory(&shm->map_bytes, -1);
    if (!shm->map) {
        vcm_shm_close(shm);
        return vcm_error_memory(err);
    }
    *out = shm;
    return VCM_OK;
}

void vcm_shm_close(struct vcm_shm *shm)
{
    if (!shm)
        return;
    drop_map(shm);
    if (shm->shown)
        munmap(shm->shown, PAGE_BYTES);
    if (shm->fd >= 0)
        close(shm->fd);
    free(shm);
}

bool vcm_shm_is_shared(const struct vcm_shm *shm)
{
    return shm->fd >= 0;
}

void vcm_shm_count(struct vcm_shm *shm, enum vcm_shm_counter which, uint64_t by)
{
    assert(which < VCM_SHM_COUNTERS);
    atomic_fetch_add_explicit(&shm->map->counters[which], by, memory_order_relaxed);
}

uint64_t vcm_shm_counter(const struct vcm_shm *shm, enum vcm_shm_counter which)
{
    const struct layout *map = shm->shown ? shm->shown : shm->map;

    assert(which < VCM_SHM_COUNTERS);
    return atomic_load_explicit(&map->counters[which], memory_order_relaxed);
}

void vcm_shm_set_capacity(struct vcm_shm *shm, uint64_t capacity)
{
    assert(capacity < UINT64_MAX);
    atomic_store_explicit(&shm->map->capacity, capacity + 1, memory_order_relaxed);
}

uint64_t vcm_shm_capacity(const struct vcm_shm *shm, uint64_t unknown)
{
    uint64_t known = atomic_load_explicit(&shm->map->capacity, memory_order_relaxed);

    return known > 0 ? known - 1 : unknown;
}

static size_t place_offset(uint64_t place)
{
    return (size_t)(place >> 32) * PAGE_BYTES;
}

static size_t place_bytes(uint64_t place)
{
    return (size_t)(uint32_t)place * PAGE_BYTES;
}

static bool place_is_sane(uint64_t place)
{
    return place_offset(place) >= sizeof(struct layout) &&
           place_offset(place) <= VCM_LIMIT_RESIDENCY_BYTES &&
           place_bytes(place) <= VCM_LIMIT_RESIDENCY_BYTES - place_offset(place);
}

/* Checks a place that another process made, or that is garbage; once for each place. */
static bool check_place(struct vcm_shm *shm, unsigned which, uint64_t place)
{
    struct stat status;

    if (!place_is_sane(place) || place_offset(place) + place_bytes(place) > shm->map_bytes)
        return false;
    if (shm->fd >= 0 && (fstat(shm->fd, &status) != 0 ||
                         status.st_size < (off_t)(place_offset(place) + place_bytes(place)) ||
                         !allocate(shm->fd, place_offset(place), place_bytes(place))))
        return false;
    atomic_store(&shm->checked_place[which], place);
    return true;
}

void *vcm_shm_evict_memory(size_t *bytes, struct vcm_shm *shm, unsigned which)
{
    assert(which < VCM_SHM_SETS);
    uint64_t place = atomic_load_explicit(&shm->map->sets_place[which], memory_order_acquire);
    uint64_t checked = atomic_load_explicit(&shm->checked_place[which], memory_order_relaxed);

    *bytes = 0;
    if ((uint32_t)place == 0 || (place != checked && !check_place(shm, which, place)))
        return NULL;
    *bytes = place_bytes(place);
    return (char *)shm->map + place_offset(place);
}

/* The end of the memory in use. Places only move upwards, so memory that another process may still
 * use for a set is below the end and is not given out again. */
static size_t end_of_sets(const struct vcm_shm *shm)
{
    size_t end = (sizeof(struct layout) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

    for (unsigned i = 0; i < VCM_SHM_SETS; i++) {
        uint64_t place = atomic_load(&shm->map->sets_place[i]);
        if (place_is_sane(place) && place_offset(place) + place_bytes(place) > end)
            end = place_offset(place) + place_bytes(place);
    }
    return end;
}

int vcm_shm_evict_resize(struct vcm_shm *shm, unsigned which, size_t bytes, struct vcm_error *err)
{
    assert(which < VCM_SHM_SETS && bytes > 0);
    size_t offset = end_of_sets(shm);

    bytes += (PAGE_BYTES - bytes % PAGE_BYTES) % PAGE_BYTES;
    if (offset > shm->map_bytes || bytes > shm->map_bytes - offset)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "no address space for %zu bytes that order pages for eviction", bytes);
    if (shm->fd >= 0) {
        int code = posix_fallocate(shm->fd, (off_t)offset, (off_t)bytes);
        if (code != 0)
            return vcm_error_sys(err, VCM_IO_ERROR, code,
                                 "cannot make the store's residency file larger");
    }
    /* It is not zero if a process was killed during a resize. */
    memset((char *)shm->map + offset, 0, bytes);
    uint64_t place = (uint64_t)(offset / PAGE_BYTES) << 32 | bytes / PAGE_BYTES;
    assert(place_is_sane(place) && place_offset(place) == offset && place_bytes(place) == bytes);
    atomic_store(&shm->checked_place[which], place);
    atomic_store(&shm->map->sets_place[which], place);
    return VCM_OK;
}

bool vcm_shm_needs_rebuild(const struct vcm_shm *shm, uint64_t stamp)
{
    return atomic_load(&shm->map->sets_state) != SETS_CLEAN ||
           atomic_load(&shm->map->sets_stamp) != stamp;
}

void vcm_shm_write_begin(struct vcm_shm *shm)
{
    atomic_store(&shm->map->sets_state, SETS_BEING_WRITTEN);
}

void vcm_shm_write_end(struct vcm_shm *shm, uint64_t stamp)
{
    assert(atomic_load(&shm->map->sets_state) == SETS_BEING_WRITTEN);
    atomic_store(&shm->map->sets_stamp, stamp);
    atomic_store(&shm->map->sets_state, SETS_CLEAN);
}

/* Frees the slot if its owner is dead; returns whether it is. */
static bool clear_if_dead(struct vcm_shm *shm, unsigned slot, uint64_t owner)
{
    if (owner == shm->self || !vcm_process_is_dead(owner))
        return false;
    atomic_compare_exchange_strong(&shm->map->view_owner[slot], &owner, 0);
    return true;
}

/* Takes the first free slot, so that the slots in use stay together. */
static bool claim(unsigned *slot, struct vcm_shm *shm)
{
    struct layout *map = shm->map;

    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++) {
        uint64_t no_owner = 0;
        if (atomic_load_explicit(&map->view_owner[i], memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&map->view_owner[i], &no_owner, shm->self)) {
            *slot = i;
            return true;
        }
    }
    return false;
}

static unsigned clear_dead_views(struct vcm_shm *shm)
{
    unsigned cleared = 0;

    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++) {
        uint64_t owner = atomic_load(&shm->map->view_owner[i]);
        if (owner != 0)
            cleared += clear_if_dead(shm, i, owner);
    }
    return cleared;
}

/* Sums up to the hint, and corrects the hint. Only this sum depends on it: a hint that is too low
 * for a moment may admit one view too many, but no frame is freed because of it. */
static uint64_t sum_view_bytes(struct layout *map)
{
    uint64_t hint = atomic_load_explicit(&map->views_end, memory_order_relaxed);
    uint64_t sum = 0, end = 0;

    for (unsigned i = 0; i < VCM_LIMIT_VIEWS && i < hint; i++) {
        if (atomic_load_explicit(&map->view_owner[i], memory_order_relaxed) != 0) {
            sum += atomic_load_explicit(&map->view_bytes[i], memory_order_relaxed);
            end = i + 1;
        }
    }
    if (end < hint)
        atomic_compare_exchange_strong(&map->views_end, &hint, end);
    return sum;
}

static void raise_views_end(struct layout *map, unsigned slot)
{
    uint64_t hint = atomic_load_explicit(&map->views_end, memory_order_relaxed);

    while (hint <= slot && !atomic_compare_exchange_weak(&map->views_end, &hint, slot + 1))
        continue;
}

/* Called with the slot taken, so two readers that reach the bound together may both be refused. */
static bool within_bytes(struct vcm_shm *shm, uint64_t bytes_max)
{
    return sum_view_bytes(shm->map) <= bytes_max ||
           (clear_dead_views(shm) > 0 && sum_view_bytes(shm->map) <= bytes_max);
}

int vcm_shm_view_take(unsigned *slot, struct vcm_shm *shm, const struct vcm_page_id *id,
                      uint64_t bytes, uint64_t bytes_max, struct vcm_error *err)
{
    struct layout *map = shm->map;
    uint64_t words[ID_WORDS];

    *slot = 0;
    if (shm->fd < 0)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "no views in place: the store's residency file cannot be written");
    if (!claim(slot, shm) && (clear_dead_views(shm) == 0 || !claim(slot, shm)))
        return vcm_error_set(err, VCM_STORE_BUSY,
                             "all %u views of the store are taken; release some", VCM_LIMIT_VIEWS);
    assert(*slot < VCM_LIMIT_VIEWS);
    raise_views_end(map, *slot);
    atomic_store_explicit(&map->view_live[*slot], 0, memory_order_relaxed);
    atomic_store_explicit(&map->view_bytes[*slot], bytes, memory_order_relaxed);
    id_to_words(words, id);
    for (unsigned i = 0; i < ID_WORDS; i++)
        atomic_store_explicit(&map->view_id[*slot].word[i], words[i], memory_order_relaxed);
    atomic_store(&map->view_live[*slot], 1);
    if (within_bytes(shm, bytes_max))
        return VCM_OK;
    vcm_shm_view_drop(shm, *slot);
    return vcm_error_set(err, VCM_STORE_BUSY,
                         "views of the store have %llu bytes at most; release some",
                         (unsigned long long)bytes_max);
}

void vcm_shm_view_drop(struct vcm_shm *shm, unsigned slot)
{
    assert(slot < VCM_LIMIT_VIEWS);
    assert(atomic_load(&shm->map->view_owner[slot]) == shm->self);
    atomic_store_explicit(&shm->map->view_live[slot], 0, memory_order_release);
    atomic_store_explicit(&shm->map->view_owner[slot], 0, memory_order_release);
}

/* A slot that changes during this call belongs to a reader that reads departures() afterwards. */
static bool slot_views(const struct layout *map, unsigned slot, const uint64_t words[ID_WORDS])
{
    bool same = atomic_load(&map->view_live[slot]) == 1;

    for (unsigned i = 0; i < ID_WORDS && same; i++)
        same = atomic_load_explicit(&map->view_id[slot].word[i], memory_order_relaxed) == words[i];
    return same;
}

bool vcm_shm_viewed(struct vcm_shm *shm, const struct vcm_page_id *id)
{
    uint64_t words[ID_WORDS];

    id_to_words(words, id);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++) {
        uint64_t owner = atomic_load(&shm->map->view_owner[i]);
        if (owner != 0 && slot_views(shm->map, i, words) && !clear_if_dead(shm, i, owner))
            return true;
    }
    return false;
}

void vcm_shm_views(unsigned *count, uint64_t *bytes, struct vcm_shm *shm)
{
    const struct layout *map = shm->map;

    *count = 0;
    *bytes = 0;
    clear_dead_views(shm);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++) {
        if (atomic_load(&map->view_owner[i]) != 0) {
            ++*count;
            *bytes += atomic_load(&map->view_bytes[i]);
        }
    }
}

uint64_t vcm_shm_departures(const struct vcm_shm *shm)
{
    return atomic_load(&shm->map->departures);
}

/* The number is odd already if the last writer died during its departure. It is then raised twice:
 * a reader that read any earlier value finds another number. */
void vcm_shm_depart_begin(struct vcm_shm *shm)
{
    if (atomic_load(&shm->map->departures) % 2 == 1)
        atomic_fetch_add(&shm->map->departures, 1);
    atomic_fetch_add(&shm->map->departures, 1);
    assert(atomic_load(&shm->map->departures) % 2 == 1);
}

void vcm_shm_depart_end(struct vcm_shm *shm)
{
    assert(atomic_load(&shm->map->departures) % 2 == 1);
    atomic_fetch_add(&shm->map->departures, 1);
}

static uint64_t access_check(uint64_t turn, uint64_t ms, const uint64_t words[ID_WORDS])
{
    return vcm_hash_checksum(vcm_slice_of(words, ID_WORDS * sizeof words[0]), turn ^ ms << 32);
}

/* If others fill the whole ring while this call writes its entry, the entry's check value is wrong.
 */
void vcm_shm_trace(struct vcm_shm *shm, const struct vcm_page_id *id, uint32_t bytes)
{
    struct layout *map = shm->map;
    uint64_t words[ID_WORDS];

    if (atomic_load_explicit(&map->recorder, memory_order_relaxed) == 0)
        return;
    uint64_t turn = atomic_fetch_add(&map->accesses, 1);
    uint64_t ms = vcm_clock_ms();
    struct ring_entry *entry = &map->ring[turn % RING_ENTRIES];
    id_to_words(words, id);
    words[ID_WORDS - 1] |= (uint64_t)bytes << 32;
    atomic_store_explicit(&entry->ms, ms, memory_order_relaxed);
    for (unsigned i = 0; i < ID_WORDS; i++)
        atomic_store_explicit(&entry->id.word[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&entry->check, access_check(turn, ms, words), memory_order_relaxed);
}

int vcm_shm_trace_start(uint64_t *cursor, struct vcm_shm *shm, struct vcm_error *err)
{
    uint64_t recorder = atomic_load(&shm->map->recorder);

    *cursor = 0;
    if (shm->fd < 0)
        return vcm_error_set(
            err, VCM_UNSUPPORTED,
            "accesses cannot be recorded: the store's residency file cannot be written");
    if ((recorder != 0 && !vcm_process_is_dead(recorder)) ||
        !atomic_compare_exchange_strong(&shm->map->recorder, &recorder, shm->self))
        return vcm_error_set(err, VCM_STORE_BUSY,
                             "accesses to the store are being recorded by "
                             "another process; stop that one first");
    *cursor = atomic_load(&shm->map->accesses);
    return VCM_OK;
}

/* False while the access is being written, or after it was overwritten. */
static bool read_entry(struct vcm_shm_access *out, const struct ring_entry *entry, uint64_t turn)
{
    uint64_t words[ID_WORDS];

    out->ms = atomic_load_explicit(&entry->ms, memory_order_relaxed);
    for (unsigned i = 0; i < ID_WORDS; i++)
        words[i] = atomic_load_explicit(&entry->id.word[i], memory_order_relaxed);
    memcpy(out->id.bytes, words, VCM_PAGE_ID_BYTES);
    out->bytes = (uint32_t)(words[ID_WORDS - 1] >> 32);
    return atomic_load_explicit(&entry->check, memory_order_relaxed) ==
           access_check(turn, out->ms, words);
}

/* Waits a little for a thread that may be writing the entry; the access of one that died or sleeps
 * is lost. */
static bool await_entry(struct vcm_shm_access *out, const struct ring_entry *entry, uint64_t turn,
                        bool recent)
{
    bool complete = read_entry(out, entry, turn);

    for (unsigned i = 0; i < ENTRY_TRIES && recent && !complete; i++) {
        sched_yield();
        complete = read_entry(out, entry, turn);
    }
    return complete;
}

unsigned vcm_shm_trace_read(struct vcm_shm_access *out, unsigned max, uint64_t *lost,
                            uint64_t *cursor, struct vcm_shm *shm)
{
    const struct layout *map = shm->map;
    unsigned count = 0;

    while (count < max) {
        uint64_t end = atomic_load(&map->accesses);
        if (*cursor == end)
            break;
        if (end - *cursor > RING_ENTRIES) {
            *lost += end - RING_ENTRIES - *cursor;
            *cursor = end - RING_ENTRIES;
        }
        if (await_entry(&out[count], &map->ring[*cursor % RING_ENTRIES], *cursor,
                        end - *cursor <= ENTRIES_RECENT))
            count++;
        else
            ++*lost;
        ++*cursor;
    }
    return count;
}

void vcm_shm_trace_stop(struct vcm_shm *shm)
{
    uint64_t self = shm->self;

    atomic_compare_exchange_strong(&shm->map->recorder, &self, 0);
}
