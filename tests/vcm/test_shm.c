/* Other processes are this program again, started with a role. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "tests/support/disk.h"
#include "tests/support/random.h"
#include "tests/support/repo.h"
#include "vcm/store/shm.h"

#include "base/banned.h"

#define NOBODY  65534
#define SKIPPED 77
#define LOTS    UINT64_MAX
#define STAMP   UINT64_C(42)

static const char *program;

static struct vcm_shm *open_in(const struct test_repo *disk)
{
    struct vcm_shm *shm;
    struct vcm_error err = {0};

    assert_int_equal(vcm_shm_open(&shm, disk->path, &err), VCM_OK);
    return shm;
}

static struct vcm_page_id page(unsigned number)
{
    struct vcm_page_id id;

    memset(id.bytes, (int)(number % 251), sizeof id.bytes);
    memcpy(id.bytes + 12, &number, sizeof number);
    return id;
}

static unsigned take(struct vcm_shm *shm, unsigned number)
{
    struct vcm_page_id id = page(number);
    unsigned slot;

    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 100, LOTS, NULL), VCM_OK);
    return slot;
}

static bool viewed(struct vcm_shm *shm, unsigned number)
{
    struct vcm_page_id id = page(number);

    return vcm_shm_viewed(shm, &id);
}

static uint64_t hits(const struct vcm_shm *shm)
{
    return vcm_shm_counter(shm, VCM_SHM_HITS);
}

/* Another process, which says when it is ready and then waits for the end of its input. */
struct process {
    pid_t pid;
    int to;
    int from;
};

static struct process start(const char *role, const struct test_repo *disk)
{
    struct process process;
    int in[2], out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    process.pid = fork();
    if (process.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(program, program, role, disk->path, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    process.to = in[1];
    process.from = out[0];
    return process;
}

static void wait_ready(const struct process *process)
{
    char byte;

    assert_int_equal(read(process->from, &byte, 1), 1);
}

static int finish(struct process *process)
{
    int status;

    close(process->to);
    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    close(process->from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void kill_now(struct process *process)
{
    kill(process->pid, SIGKILL);
    assert_int_equal(finish(process), -SIGKILL);
}

static int wait_in_role(void)
{
    char byte;

    if (write(1, "!", 1) != 1)
        return 126;
    while (read(0, &byte, 1) > 0)
        continue;
    return 0;
}

/* Views pages 1 and 2, is in the middle of a departure and of a write, and records. */
static int role_busy(struct vcm_shm *shm)
{
    uint64_t cursor;

    take(shm, 1);
    take(shm, 2);
    vcm_shm_depart_begin(shm);
    vcm_shm_write_begin(shm);
    if (vcm_shm_trace_start(&cursor, shm, NULL) != VCM_OK)
        return 1;
    return wait_in_role();
}

/* Counts, gives set 0 other memory, and fills it. */
static int role_grow(struct vcm_shm *shm)
{
    size_t bytes;

    vcm_shm_count(shm, VCM_SHM_HITS, 5);
    if (vcm_shm_evict_resize(shm, 0, 3 * VCM_MIB, NULL) != VCM_OK)
        return 1;
    char *memory = vcm_shm_evict_memory(&bytes, shm, 0);
    memset(memory, 'g', bytes);
    return 0;
}

static int role_nobody(struct vcm_shm *shm)
{
    struct vcm_page_id id = page(1);
    unsigned slot;
    size_t bytes;

    if (vcm_shm_is_shared(shm))
        return 1;
    if (hits(shm) != 7)
        return 2;
    vcm_shm_count(shm, VCM_SHM_HITS, 1);
    if (vcm_shm_view_take(&slot, shm, &id, 1, LOTS, NULL) != VCM_UNSUPPORTED)
        return 3;
    if (vcm_shm_evict_memory(&bytes, shm, 0))
        return 4;
    if (vcm_shm_evict_resize(shm, 0, VCM_MIB, NULL) != VCM_OK)
        return 5;
    char *memory = vcm_shm_evict_memory(&bytes, shm, 0);
    return memory && bytes == VCM_MIB && memory[bytes - 1] == 0 ? 0 : 6;
}

/* A small file system over the directory, which it fills to the last block. */
static int role_full_disk(const char *directory)
{
    struct vcm_shm *shm;
    char path[512], block[4096] = {0};

    if (!test_disk_mount(directory, "2m"))
        return SKIPPED;
    if (vcm_shm_open(&shm, directory, NULL) != VCM_OK || !vcm_shm_is_shared(shm))
        return 1;
    if (vcm_shm_evict_resize(shm, 1, 16 * VCM_MIB, NULL) != VCM_STORE_FULL)
        return 2;
    if (vcm_shm_evict_resize(shm, 1, 8192, NULL) != VCM_OK)
        return 3;
    snprintf(path, sizeof path, "%s/filler", directory);
    FILE *filler = fopen(path, "wb");
    setvbuf(filler, NULL, _IONBF, 0);
    while (fwrite(block, sizeof block, 1, filler) == 1)
        continue;
    fclose(filler);
    size_t bytes;
    memset(vcm_shm_evict_memory(&bytes, shm, 1), 1, 8192);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++)
        take(shm, i);
    vcm_shm_close(shm);
    snprintf(path, sizeof path, "%s/residency", directory);
    if (truncate(path, 0) != 0 || vcm_shm_open(&shm, directory, NULL) != VCM_OK)
        return 4;
    vcm_shm_count(shm, VCM_SHM_HITS, 1);
    vcm_shm_close(shm);
    return 0;
}

static int run_role(const char *role, const char *directory)
{
    struct vcm_shm *shm;

    if (strcmp(role, "full_disk") == 0)
        return role_full_disk(directory);
    if (strcmp(role, "nobody") == 0 && geteuid() == 0 && setuid(NOBODY) != 0)
        return 125;
    if (vcm_shm_open(&shm, directory, NULL) != VCM_OK)
        return 124;
    int status = strcmp(role, "busy") == 0   ? role_busy(shm)
                 : strcmp(role, "grow") == 0 ? role_grow(shm)
                                             : role_nobody(shm);
    vcm_shm_close(shm);
    return status;
}

static int setup(void **state)
{
    struct test_repo *disk = calloc(1, sizeof *disk);

    test_repo_init_directory(disk);
    *state = disk;
    return 0;
}

static int teardown(void **state)
{
    struct test_repo *disk = *state;

    test_repo_release(disk);
    free(disk);
    return 0;
}

static void handles_and_processes_count_together(void **state)
{
    struct vcm_shm *one = open_in(*state), *two = open_in(*state);

    assert_true(vcm_shm_is_shared(one));
    vcm_shm_count(one, VCM_SHM_HITS, 2);
    vcm_shm_count(two, VCM_SHM_HITS, 3);
    vcm_shm_count(two, VCM_SHM_PRIVATE_ANSWERS, 1);
    struct process other = start("grow", *state);
    assert_int_equal(finish(&other), 0);
    assert_int_equal(hits(one), 10);
    assert_int_equal(vcm_shm_counter(one, VCM_SHM_PRIVATE_ANSWERS), 1);
    assert_int_equal(vcm_shm_counter(one, VCM_SHM_EVICTIONS), 0);
    vcm_shm_close(one);
    vcm_shm_close(two);
    one = open_in(*state);
    assert_int_equal(hits(one), 10);
    vcm_shm_close(one);
    vcm_shm_close(NULL);
}

static void a_set_that_another_process_made_larger_is_seen_at_the_same_time(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    size_t bytes;

    assert_null(vcm_shm_evict_memory(&bytes, shm, 0));
    assert_int_equal(bytes, 0);
    assert_int_equal(vcm_shm_evict_resize(shm, 1, 5000, NULL), VCM_OK);
    assert_int_equal(vcm_shm_evict_resize(shm, 0, 4096, NULL), VCM_OK);
    char *first = vcm_shm_evict_memory(&bytes, shm, 0);
    assert_int_equal(bytes, 4096);
    memset(first, 'f', bytes);
    char *other_set = vcm_shm_evict_memory(&bytes, shm, 1);
    assert_int_equal(bytes, 8192);
    memset(other_set, 'o', bytes);

    struct process other = start("grow", *state);
    assert_int_equal(finish(&other), 0);
    char *grown = vcm_shm_evict_memory(&bytes, shm, 0);
    assert_int_equal(bytes, 3 * VCM_MIB);
    assert_true(grown[0] == 'g' && grown[bytes - 1] == 'g');
    assert_true(first[0] == 'f' && first[4095] == 'f');
    assert_true(vcm_shm_evict_memory(&bytes, shm, 1) == other_set);
    assert_true(other_set[0] == 'o' && other_set[8191] == 'o');
    vcm_shm_close(shm);
}

static void new_memory_of_a_set_is_zero(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    size_t bytes;

    for (size_t size = 4096; size <= 16 * 4096; size *= 2) {
        assert_int_equal(vcm_shm_evict_resize(shm, 0, size, NULL), VCM_OK);
        char *memory = vcm_shm_evict_memory(&bytes, shm, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 1, bytes);
    }
    assert_int_equal(vcm_shm_evict_resize(shm, 0, 2 * VCM_LIMIT_RESIDENCY_BYTES, NULL),
                     VCM_UNSUPPORTED);
    vcm_shm_close(shm);
}

static void sets_are_rebuilt_when_new_or_left_in_the_middle_or_of_other_content(void **state)
{
    struct vcm_shm *shm = open_in(*state);

    assert_true(vcm_shm_needs_rebuild(shm, STAMP));
    vcm_shm_write_begin(shm);
    assert_true(vcm_shm_needs_rebuild(shm, STAMP));
    vcm_shm_write_end(shm, STAMP);
    assert_false(vcm_shm_needs_rebuild(shm, STAMP));
    assert_true(vcm_shm_needs_rebuild(shm, STAMP + 1));
    vcm_shm_close(shm);
    shm = open_in(*state);
    assert_false(vcm_shm_needs_rebuild(shm, STAMP));
    vcm_shm_write_begin(shm);
    vcm_shm_close(shm);
    shm = open_in(*state);
    assert_true(vcm_shm_needs_rebuild(shm, STAMP));
    vcm_shm_close(shm);
}

static void sets_of_another_boot_are_rebuilt(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    char *path = test_repo_path(*state, "residency");
    uint64_t boot = 1;

    vcm_shm_write_begin(shm);
    vcm_shm_write_end(shm, STAMP);
    vcm_shm_count(shm, VCM_SHM_HITS, 1);
    vcm_shm_close(shm);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, &boot, sizeof boot, 8), sizeof boot);
    close(fd);
    shm = open_in(*state);
    assert_true(vcm_shm_needs_rebuild(shm, STAMP));
    assert_int_equal(hits(shm), 1);
    vcm_shm_close(shm);
    free(path);
}

static void a_viewed_page_is_seen_by_every_handle_until_the_last_view_is_dropped(void **state)
{
    struct vcm_shm *one = open_in(*state), *two = open_in(*state);
    unsigned count;
    uint64_t bytes;

    unsigned first = take(one, 1), again = take(two, 1), other = take(one, 2);
    assert_true(viewed(one, 1) && viewed(two, 1) && viewed(two, 2));
    assert_false(viewed(one, 3));
    vcm_shm_views(&count, &bytes, one);
    assert_int_equal(count, 3);
    assert_int_equal(bytes, 300);
    vcm_shm_view_drop(one, first);
    assert_true(viewed(one, 1));
    vcm_shm_view_drop(two, again);
    assert_false(viewed(one, 1));
    assert_true(viewed(one, 2));
    vcm_shm_view_drop(one, other);
    vcm_shm_close(one);
    vcm_shm_close(two);
}

static void there_are_1024_views_and_no_more(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    struct vcm_page_id id = page(5000);
    struct vcm_error err = {0};
    unsigned slots[VCM_LIMIT_VIEWS], slot;

    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++)
        slots[i] = take(shm, i);
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 1, LOTS, &err), VCM_STORE_BUSY);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++)
        assert_true(viewed(shm, i));
    vcm_shm_view_drop(shm, slots[500]);
    assert_false(viewed(shm, 500));
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 1, LOTS, NULL), VCM_OK);
    assert_true(viewed(shm, 5000));
    vcm_shm_close(shm);
}

static void views_have_no_more_bytes_than_allowed(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    struct vcm_page_id id = page(2);
    unsigned slot;

    unsigned first = take(shm, 1);
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 101, 200, NULL), VCM_STORE_BUSY);
    assert_false(viewed(shm, 2));
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 100, 200, NULL), VCM_OK);
    vcm_shm_view_drop(shm, slot);
    vcm_shm_view_drop(shm, first);
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 101, 200, NULL), VCM_OK);
    vcm_shm_close(shm);
}

static void what_a_killed_process_left_is_cleared(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    uint64_t cursor, bytes;
    unsigned count, slot;
    struct vcm_page_id id = page(3);

    vcm_shm_write_begin(shm);
    vcm_shm_write_end(shm, STAMP);
    struct process other = start("busy", *state);
    wait_ready(&other);
    assert_true(viewed(shm, 1) && viewed(shm, 2));
    assert_int_equal(vcm_shm_departures(shm) % 2, 1);
    assert_int_equal(vcm_shm_trace_start(&cursor, shm, NULL), VCM_STORE_BUSY);
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 1, 200, NULL), VCM_STORE_BUSY);
    kill_now(&other);

    assert_false(viewed(shm, 1));
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 1, 200, NULL), VCM_OK);
    vcm_shm_views(&count, &bytes, shm);
    assert_int_equal(count, 1);
    uint64_t before = vcm_shm_departures(shm);
    assert_int_equal(before % 2, 1);
    vcm_shm_depart_begin(shm);
    assert_int_equal(vcm_shm_departures(shm), before + 2);
    vcm_shm_depart_end(shm);
    assert_int_equal(vcm_shm_departures(shm), before + 3);
    assert_true(vcm_shm_needs_rebuild(shm, STAMP));
    assert_int_equal(vcm_shm_trace_start(&cursor, shm, NULL), VCM_OK);
    vcm_shm_close(shm);
}

static void full_slots_of_a_killed_process_are_given_out_again(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    struct process other = start("busy", *state);
    struct vcm_page_id id = page(9);
    unsigned slot;

    wait_ready(&other);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS - 2; i++)
        take(shm, 100);
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 1, LOTS, NULL), VCM_STORE_BUSY);
    kill_now(&other);
    assert_int_equal(vcm_shm_view_take(&slot, shm, &id, 1, LOTS, NULL), VCM_OK);
    vcm_shm_close(shm);
}

static void the_first_to_come_clears_what_the_last_to_die_left(void **state)
{
    struct process other = start("busy", *state);
    unsigned count;
    uint64_t bytes, cursor;

    wait_ready(&other);
    kill_now(&other);
    struct vcm_shm *shm = open_in(*state);
    vcm_shm_views(&count, &bytes, shm);
    assert_int_equal(count, 0);
    assert_int_equal(vcm_shm_departures(shm) % 2, 0);
    assert_int_equal(vcm_shm_trace_start(&cursor, shm, NULL), VCM_OK);
    vcm_shm_close(shm);
}

/* A frame that a writer frees and writes to again, beside readers that view it by the protocol. */
struct stage {
    struct vcm_shm *shm;
    atomic_uint frame; /* what a view must find unchanged while it lives */
    atomic_uint torn;
    atomic_uint views;
    atomic_bool done;
};

static void *view_often(void *argument)
{
    struct stage *stage = argument;
    struct vcm_page_id id = page(1);
    unsigned slot;

    while (!atomic_load(&stage->done)) {
        uint64_t before = vcm_shm_departures(stage->shm);
        if (before % 2 == 1)
            continue;
        unsigned seen = atomic_load(&stage->frame);
        if (vcm_shm_view_take(&slot, stage->shm, &id, 1, LOTS, NULL) != VCM_OK)
            continue;
        if (vcm_shm_departures(stage->shm) == before) {
            for (unsigned i = 0; i < 50; i++)
                if (atomic_load(&stage->frame) != seen)
                    atomic_fetch_add(&stage->torn, 1);
            atomic_fetch_add(&stage->views, 1);
        }
        vcm_shm_view_drop(stage->shm, slot);
    }
    return NULL;
}

static void no_frame_goes_while_it_is_viewed(void **state)
{
    struct stage stage = {.shm = open_in(*state)};
    pthread_t readers[3];
    unsigned freed = 0;

    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, view_often, &stage), 0);
    for (unsigned i = 0; i < 3000 || freed < 10 || atomic_load(&stage.views) < 100; i++) {
        vcm_shm_depart_begin(stage.shm);
        if (!viewed(stage.shm, 1)) {
            atomic_fetch_add(&stage.frame, 1);
            freed++;
        }
        vcm_shm_depart_end(stage.shm);
        usleep(10);
    }
    atomic_store(&stage.done, true);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&stage.torn), 0);
    vcm_shm_close(stage.shm);
}

static void accesses_are_recorded_in_order_only_while_somebody_asks(void **state)
{
    struct vcm_shm *shm = open_in(*state), *other = open_in(*state);
    struct vcm_shm_access read[8];
    struct vcm_page_id ids[3] = {page(1), page(2), page(3)};
    uint64_t cursor, second, lost = 0;

    vcm_shm_trace(shm, &ids[0], 1);
    assert_int_equal(vcm_shm_trace_start(&cursor, shm, NULL), VCM_OK);
    assert_int_equal(vcm_shm_trace_start(&second, other, NULL), VCM_STORE_BUSY);
    for (unsigned i = 0; i < 3; i++)
        vcm_shm_trace(i % 2 ? other : shm, &ids[i], 10 + i);
    assert_int_equal(vcm_shm_trace_read(read, 2, &lost, &cursor, shm), 2);
    assert_int_equal(vcm_shm_trace_read(read + 2, 6, &lost, &cursor, shm), 1);
    for (unsigned i = 0; i < 3; i++) {
        assert_memory_equal(&read[i].id, &ids[i], sizeof ids[i]);
        assert_int_equal(read[i].bytes, 10 + i);
        assert_true(i == 0 || read[i].ms >= read[i - 1].ms);
    }
    assert_int_equal(vcm_shm_trace_read(read, 8, &lost, &cursor, shm), 0);
    assert_int_equal(lost, 0);
    vcm_shm_trace_stop(shm);
    vcm_shm_trace(shm, &ids[0], 1);
    assert_int_equal(vcm_shm_trace_read(read, 8, &lost, &cursor, shm), 0);
    vcm_shm_close(other);
    vcm_shm_close(shm);
}

static void *access_often(void *argument)
{
    for (unsigned i = 0; i < 20000; i++) {
        struct vcm_page_id id = page(i);
        vcm_shm_trace(argument, &id, i);
    }
    return NULL;
}

static void what_a_full_ring_overwrote_is_counted_as_lost(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    static struct vcm_shm_access read[30000];
    pthread_t threads[2];
    uint64_t cursor, lost = 0;

    assert_int_equal(vcm_shm_trace_start(&cursor, shm, NULL), VCM_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, access_often, shm), 0);
    unsigned count = vcm_shm_trace_read(read, 10000, &lost, &cursor, shm);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    count += vcm_shm_trace_read(read + count, 20000, &lost, &cursor, shm);
    assert_int_equal(count + lost, 40000);
    assert_true(lost > 0);
    for (unsigned i = 0; i < count; i++) {
        struct vcm_page_id id = page(read[i].bytes);
        assert_memory_equal(&read[i].id, &id, sizeof id);
    }
    vcm_shm_close(shm);
}

/* Uses everything; only a crash is wrong. */
static void use_all(struct vcm_shm *shm)
{
    struct vcm_shm_access read[64];
    uint64_t cursor, lost = 0, sum;
    struct vcm_page_id id = page(7);
    unsigned slot, count;
    size_t bytes;

    for (unsigned i = 0; i < VCM_SHM_SETS; i++) {
        volatile char *memory = vcm_shm_evict_memory(&bytes, shm, i);
        if (memory)
            memory[bytes - 1] = memory[0];
    }
    vcm_shm_evict_resize(shm, 0, 4096, NULL);
    if (vcm_shm_view_take(&slot, shm, &id, 1, LOTS, NULL) == VCM_OK)
        vcm_shm_view_drop(shm, slot);
    vcm_shm_viewed(shm, &id);
    vcm_shm_views(&count, &sum, shm);
    vcm_shm_trace_start(&cursor, shm, NULL);
    vcm_shm_trace(shm, &id, 1);
    vcm_shm_trace_read(read, 64, &lost, &cursor, shm);
    vcm_shm_depart_begin(shm);
    vcm_shm_depart_end(shm);
    vcm_shm_needs_rebuild(shm, STAMP);
}

/* Garbage in a file that others use: everything but the magic number is random. */
static void no_content_of_the_file_is_fatal(void **state)
{
    struct vcm_shm *shm = open_in(*state);
    char *path = test_repo_path(*state, "residency");
    uint64_t seed = 20261116, garbage[1024];

    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 40; round++) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        for (off_t at = 0; at < 64 * 4096; at += (off_t)sizeof garbage) {
            for (unsigned i = 0; i < 1024; i++)
                garbage[i] = test_random_below(&seed, 3) == 0 ? test_random_below(&seed, 600)
                                                              : test_random(&seed);
            size_t skip = at == 0 ? 8 : 0;
            assert_true(
                pwrite(fd, (char *)garbage + skip, sizeof garbage - skip, at + (off_t)skip) > 0);
        }
        close(fd);
        use_all(shm);
        struct vcm_shm *second = open_in(*state);
        use_all(second);
        vcm_shm_close(second);
        if (round % 4 == 3) {
            vcm_shm_close(shm);
            shm = open_in(*state);
        }
    }
    vcm_shm_close(shm);
    free(path);
}

static void assert_begins_anew(const struct test_repo *disk, bool shared)
{
    struct vcm_shm *shm = open_in(disk);

    assert_int_equal(vcm_shm_is_shared(shm), shared);
    assert_int_equal(hits(shm), 0);
    assert_true(vcm_shm_needs_rebuild(shm, 0));
    vcm_shm_count(shm, VCM_SHM_HITS, 2);
    assert_int_equal(hits(shm), 2);
    vcm_shm_close(shm);
}

static void another_file_in_its_place_is_begun_anew_or_done_without(void **state)
{
    struct test_repo *disk = *state;
    char garbage[8192];
    char *path = test_repo_path(disk, "residency");

    memset(garbage, 'x', sizeof garbage);
    test_repo_write(disk, "residency", garbage, sizeof garbage);
    assert_begins_anew(disk, true);
    test_repo_write(disk, "residency", garbage, 10);
    assert_begins_anew(disk, true);
    assert_int_equal(truncate(path, 4096), 0); /* ours, but short */
    assert_begins_anew(disk, true);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_begins_anew(disk, false);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_begins_anew(disk, false);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_begins_anew(disk, false);
    free(path);
}

static void a_home_without_write_permission_is_shown_what_others_counted(void **state)
{
    struct test_repo *disk = *state;
    struct vcm_shm *shm = open_in(disk);
    char *path = test_repo_path(disk, "residency");

    vcm_shm_count(shm, VCM_SHM_HITS, 7);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(disk->path, 0555), 0);
    struct process other = start("nobody", disk);
    assert_int_equal(finish(&other), 0);
    chmod(disk->path, 0755);
    assert_int_equal(hits(shm), 7);
    vcm_shm_close(shm);
    free(path);
}

static void a_full_disk_is_no_reason_to_die(void **state)
{
    struct process other = start("full_disk", *state);
    int status = finish(&other);

    if (status == SKIPPED)
        skip();
    assert_int_equal(status, 0);
}

#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        DISK_TEST(handles_and_processes_count_together),
        DISK_TEST(a_set_that_another_process_made_larger_is_seen_at_the_same_time),
        DISK_TEST(new_memory_of_a_set_is_zero),
        DISK_TEST(sets_are_rebuilt_when_new_or_left_in_the_middle_or_of_other_content),
        DISK_TEST(sets_of_another_boot_are_rebuilt),
        DISK_TEST(a_viewed_page_is_seen_by_every_handle_until_the_last_view_is_dropped),
        DISK_TEST(there_are_1024_views_and_no_more),
        DISK_TEST(views_have_no_more_bytes_than_allowed),
        DISK_TEST(what_a_killed_process_left_is_cleared),
        DISK_TEST(full_slots_of_a_killed_process_are_given_out_again),
        DISK_TEST(the_first_to_come_clears_what_the_last_to_die_left),
        DISK_TEST(no_frame_goes_while_it_is_viewed),
        DISK_TEST(accesses_are_recorded_in_order_only_while_somebody_asks),
        DISK_TEST(what_a_full_ring_overwrote_is_counted_as_lost),
        DISK_TEST(no_content_of_the_file_is_fatal),
        DISK_TEST(another_file_in_its_place_is_begun_anew_or_done_without),
        DISK_TEST(a_home_without_write_permission_is_shown_what_others_counted),
        DISK_TEST(a_full_disk_is_no_reason_to_die),
    };
    if (argc == 3)
        _exit(run_role(argv[1], argv[2]));
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
