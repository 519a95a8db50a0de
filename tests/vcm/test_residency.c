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
#include "vcm/residency.h"

#include "base/banned.h"

#define NOBODY  65534
#define SKIPPED 77
#define LOTS    UINT64_MAX
#define STAMP   UINT64_C(42)

static const char *program;

static struct vcm_residency *open_in(const struct test_repo *disk)
{
    struct vcm_residency *residency;
    struct vcm_error err = {0};

    assert_int_equal(vcm_residency_open(&residency, disk->path, &err), VCM_OK);
    return residency;
}

static struct vcm_page_id page(unsigned number)
{
    struct vcm_page_id id;

    memset(id.bytes, (int)(number % 251), sizeof id.bytes);
    memcpy(id.bytes + 12, &number, sizeof number);
    return id;
}

static unsigned take(struct vcm_residency *residency, unsigned number)
{
    struct vcm_page_id id = page(number);
    unsigned slot;

    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 100, LOTS, NULL), VCM_OK);
    return slot;
}

static bool viewed(struct vcm_residency *residency, unsigned number)
{
    struct vcm_page_id id = page(number);

    return vcm_residency_viewed(residency, &id);
}

static uint64_t hits(const struct vcm_residency *residency)
{
    return vcm_residency_counter(residency, VCM_RESIDENCY_HITS);
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
static int role_busy(struct vcm_residency *residency)
{
    uint64_t cursor;

    take(residency, 1);
    take(residency, 2);
    vcm_residency_depart_begin(residency);
    vcm_residency_write_begin(residency);
    if (vcm_residency_trace_start(&cursor, residency, NULL) != VCM_OK)
        return 1;
    return wait_in_role();
}

/* Counts, gives set 0 other memory, and fills it. */
static int role_grow(struct vcm_residency *residency)
{
    size_t bytes;

    vcm_residency_count(residency, VCM_RESIDENCY_HITS, 5);
    if (vcm_residency_evict_resize(residency, 0, 3 * VCM_MIB, NULL) != VCM_OK)
        return 1;
    char *memory = vcm_residency_evict_memory(&bytes, residency, 0);
    memset(memory, 'g', bytes);
    return 0;
}

static int role_nobody(struct vcm_residency *residency)
{
    struct vcm_page_id id = page(1);
    unsigned slot;
    size_t bytes;

    if (vcm_residency_is_shared(residency))
        return 1;
    if (hits(residency) != 7)
        return 2;
    vcm_residency_count(residency, VCM_RESIDENCY_HITS, 1);
    if (vcm_residency_view_take(&slot, residency, &id, 1, LOTS, NULL) != VCM_UNSUPPORTED)
        return 3;
    if (vcm_residency_evict_memory(&bytes, residency, 0))
        return 4;
    if (vcm_residency_evict_resize(residency, 0, VCM_MIB, NULL) != VCM_OK)
        return 5;
    char *memory = vcm_residency_evict_memory(&bytes, residency, 0);
    return memory && bytes == VCM_MIB && memory[bytes - 1] == 0 ? 0 : 6;
}

/* A small file system over the directory, which it fills to the last block. */
static int role_full_disk(const char *directory)
{
    struct vcm_residency *residency;
    char path[512], block[4096] = {0};

    if (!test_disk_mount(directory, "2m"))
        return SKIPPED;
    if (vcm_residency_open(&residency, directory, NULL) != VCM_OK ||
        !vcm_residency_is_shared(residency))
        return 1;
    if (vcm_residency_evict_resize(residency, 1, 16 * VCM_MIB, NULL) != VCM_STORE_FULL)
        return 2;
    if (vcm_residency_evict_resize(residency, 1, 8192, NULL) != VCM_OK)
        return 3;
    snprintf(path, sizeof path, "%s/filler", directory);
    FILE *filler = fopen(path, "wb");
    setvbuf(filler, NULL, _IONBF, 0);
    while (fwrite(block, sizeof block, 1, filler) == 1)
        continue;
    fclose(filler);
    size_t bytes;
    memset(vcm_residency_evict_memory(&bytes, residency, 1), 1, 8192);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++)
        take(residency, i);
    vcm_residency_close(residency);
    snprintf(path, sizeof path, "%s/residency", directory);
    if (truncate(path, 0) != 0 || vcm_residency_open(&residency, directory, NULL) != VCM_OK)
        return 4;
    vcm_residency_count(residency, VCM_RESIDENCY_HITS, 1);
    vcm_residency_close(residency);
    return 0;
}

static int run_role(const char *role, const char *directory)
{
    struct vcm_residency *residency;

    if (strcmp(role, "full_disk") == 0)
        return role_full_disk(directory);
    if (strcmp(role, "nobody") == 0 && geteuid() == 0 && setuid(NOBODY) != 0)
        return 125;
    if (vcm_residency_open(&residency, directory, NULL) != VCM_OK)
        return 124;
    int status = strcmp(role, "busy") == 0   ? role_busy(residency)
                 : strcmp(role, "grow") == 0 ? role_grow(residency)
                                             : role_nobody(residency);
    vcm_residency_close(residency);
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
    struct vcm_residency *one = open_in(*state), *two = open_in(*state);

    assert_true(vcm_residency_is_shared(one));
    vcm_residency_count(one, VCM_RESIDENCY_HITS, 2);
    vcm_residency_count(two, VCM_RESIDENCY_HITS, 3);
    vcm_residency_count(two, VCM_RESIDENCY_PRIVATE_ANSWERS, 1);
    struct process other = start("grow", *state);
    assert_int_equal(finish(&other), 0);
    assert_int_equal(hits(one), 10);
    assert_int_equal(vcm_residency_counter(one, VCM_RESIDENCY_PRIVATE_ANSWERS), 1);
    assert_int_equal(vcm_residency_counter(one, VCM_RESIDENCY_EVICTIONS), 0);
    vcm_residency_close(one);
    vcm_residency_close(two);
    one = open_in(*state);
    assert_int_equal(hits(one), 10);
    vcm_residency_close(one);
    vcm_residency_close(NULL);
}

static void a_set_that_another_process_made_larger_is_seen_at_the_same_time(void **state)
{
    struct vcm_residency *residency = open_in(*state);
    size_t bytes;

    assert_null(vcm_residency_evict_memory(&bytes, residency, 0));
    assert_int_equal(bytes, 0);
    assert_int_equal(vcm_residency_evict_resize(residency, 1, 5000, NULL), VCM_OK);
    assert_int_equal(vcm_residency_evict_resize(residency, 0, 4096, NULL), VCM_OK);
    char *first = vcm_residency_evict_memory(&bytes, residency, 0);
    assert_int_equal(bytes, 4096);
    memset(first, 'f', bytes);
    char *other_set = vcm_residency_evict_memory(&bytes, residency, 1);
    assert_int_equal(bytes, 8192);
    memset(other_set, 'o', bytes);

    struct process other = start("grow", *state);
    assert_int_equal(finish(&other), 0);
    char *grown = vcm_residency_evict_memory(&bytes, residency, 0);
    assert_int_equal(bytes, 3 * VCM_MIB);
    assert_true(grown[0] == 'g' && grown[bytes - 1] == 'g');
    assert_true(first[0] == 'f' && first[4095] == 'f');
    assert_true(vcm_residency_evict_memory(&bytes, residency, 1) == other_set);
    assert_true(other_set[0] == 'o' && other_set[8191] == 'o');
    vcm_residency_close(residency);
}

static void new_memory_of_a_set_is_zero(void **state)
{
    struct vcm_residency *residency = open_in(*state);
    size_t bytes;

    for (size_t size = 4096; size <= 16 * 4096; size *= 2) {
        assert_int_equal(vcm_residency_evict_resize(residency, 0, size, NULL), VCM_OK);
        char *memory = vcm_residency_evict_memory(&bytes, residency, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 1, bytes);
    }
    assert_int_equal(vcm_residency_evict_resize(residency, 0, 2 * VCM_LIMIT_RESIDENCY_BYTES, NULL),
                     VCM_UNSUPPORTED);
    vcm_residency_close(residency);
}

static void sets_are_rebuilt_when_new_or_left_in_the_middle_or_of_other_content(void **state)
{
    struct vcm_residency *residency = open_in(*state);

    assert_true(vcm_residency_needs_rebuild(residency, STAMP));
    vcm_residency_write_begin(residency);
    assert_true(vcm_residency_needs_rebuild(residency, STAMP));
    vcm_residency_write_end(residency, STAMP);
    assert_false(vcm_residency_needs_rebuild(residency, STAMP));
    assert_true(vcm_residency_needs_rebuild(residency, STAMP + 1));
    vcm_residency_close(residency);
    residency = open_in(*state);
    assert_false(vcm_residency_needs_rebuild(residency, STAMP));
    vcm_residency_write_begin(residency);
    vcm_residency_close(residency);
    residency = open_in(*state);
    assert_true(vcm_residency_needs_rebuild(residency, STAMP));
    vcm_residency_close(residency);
}

static void sets_of_another_boot_are_rebuilt(void **state)
{
    struct vcm_residency *residency = open_in(*state);
    char *path = test_repo_path(*state, "residency");
    uint64_t boot = 1;

    vcm_residency_write_begin(residency);
    vcm_residency_write_end(residency, STAMP);
    vcm_residency_count(residency, VCM_RESIDENCY_HITS, 1);
    vcm_residency_close(residency);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, &boot, sizeof boot, 8), sizeof boot);
    close(fd);
    residency = open_in(*state);
    assert_true(vcm_residency_needs_rebuild(residency, STAMP));
    assert_int_equal(hits(residency), 1);
    vcm_residency_close(residency);
    free(path);
}

static void a_viewed_page_is_seen_by_every_handle_until_the_last_view_is_dropped(void **state)
{
    struct vcm_residency *one = open_in(*state), *two = open_in(*state);
    unsigned count;
    uint64_t bytes;

    unsigned first = take(one, 1), again = take(two, 1), other = take(one, 2);
    assert_true(viewed(one, 1) && viewed(two, 1) && viewed(two, 2));
    assert_false(viewed(one, 3));
    vcm_residency_views(&count, &bytes, one);
    assert_int_equal(count, 3);
    assert_int_equal(bytes, 300);
    vcm_residency_view_drop(one, first);
    assert_true(viewed(one, 1));
    vcm_residency_view_drop(two, again);
    assert_false(viewed(one, 1));
    assert_true(viewed(one, 2));
    vcm_residency_view_drop(one, other);
    vcm_residency_close(one);
    vcm_residency_close(two);
}

static void there_are_1024_views_and_no_more(void **state)
{
    struct vcm_residency *residency = open_in(*state);
    struct vcm_page_id id = page(5000);
    struct vcm_error err = {0};
    unsigned slots[VCM_LIMIT_VIEWS], slot;

    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++)
        slots[i] = take(residency, i);
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 1, LOTS, &err), VCM_STORE_BUSY);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS; i++)
        assert_true(viewed(residency, i));
    vcm_residency_view_drop(residency, slots[500]);
    assert_false(viewed(residency, 500));
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 1, LOTS, NULL), VCM_OK);
    assert_true(viewed(residency, 5000));
    vcm_residency_close(residency);
}

static void views_have_no_more_bytes_than_allowed(void **state)
{
    struct vcm_residency *residency = open_in(*state);
    struct vcm_page_id id = page(2);
    unsigned slot;

    unsigned first = take(residency, 1);
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 101, 200, NULL),
                     VCM_STORE_BUSY);
    assert_false(viewed(residency, 2));
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 100, 200, NULL), VCM_OK);
    vcm_residency_view_drop(residency, slot);
    vcm_residency_view_drop(residency, first);
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 101, 200, NULL), VCM_OK);
    vcm_residency_close(residency);
}

static void what_a_killed_process_left_is_cleared(void **state)
{
    struct vcm_residency *residency = open_in(*state);
    uint64_t cursor, bytes;
    unsigned count, slot;
    struct vcm_page_id id = page(3);

    vcm_residency_write_begin(residency);
    vcm_residency_write_end(residency, STAMP);
    struct process other = start("busy", *state);
    wait_ready(&other);
    assert_true(viewed(residency, 1) && viewed(residency, 2));
    assert_int_equal(vcm_residency_departures(residency) % 2, 1);
    assert_int_equal(vcm_residency_trace_start(&cursor, residency, NULL), VCM_STORE_BUSY);
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 1, 200, NULL), VCM_STORE_BUSY);
    kill_now(&other);

    assert_false(viewed(residency, 1));
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 1, 200, NULL), VCM_OK);
    vcm_residency_views(&count, &bytes, residency);
    assert_int_equal(count, 1);
    uint64_t before = vcm_residency_departures(residency);
    assert_int_equal(before % 2, 1);
    vcm_residency_depart_begin(residency);
    assert_int_equal(vcm_residency_departures(residency), before + 2);
    vcm_residency_depart_end(residency);
    assert_int_equal(vcm_residency_departures(residency), before + 3);
    assert_true(vcm_residency_needs_rebuild(residency, STAMP));
    assert_int_equal(vcm_residency_trace_start(&cursor, residency, NULL), VCM_OK);
    vcm_residency_close(residency);
}

static void full_slots_of_a_killed_process_are_given_out_again(void **state)
{
    struct vcm_residency *residency = open_in(*state);
    struct process other = start("busy", *state);
    struct vcm_page_id id = page(9);
    unsigned slot;

    wait_ready(&other);
    for (unsigned i = 0; i < VCM_LIMIT_VIEWS - 2; i++)
        take(residency, 100);
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 1, LOTS, NULL), VCM_STORE_BUSY);
    kill_now(&other);
    assert_int_equal(vcm_residency_view_take(&slot, residency, &id, 1, LOTS, NULL), VCM_OK);
    vcm_residency_close(residency);
}

static void the_first_to_come_clears_what_the_last_to_die_left(void **state)
{
    struct process other = start("busy", *state);
    unsigned count;
    uint64_t bytes, cursor;

    wait_ready(&other);
    kill_now(&other);
    struct vcm_residency *residency = open_in(*state);
    vcm_residency_views(&count, &bytes, residency);
    assert_int_equal(count, 0);
    assert_int_equal(vcm_residency_departures(residency) % 2, 0);
    assert_int_equal(vcm_residency_trace_start(&cursor, residency, NULL), VCM_OK);
    vcm_residency_close(residency);
}

/* A frame that a writer frees and writes to again, beside readers that view it by the protocol. */
struct stage {
    struct vcm_residency *residency;
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
        uint64_t before = vcm_residency_departures(stage->residency);
        if (before % 2 == 1)
            continue;
        unsigned seen = atomic_load(&stage->frame);
        if (vcm_residency_view_take(&slot, stage->residency, &id, 1, LOTS, NULL) != VCM_OK)
            continue;
        if (vcm_residency_departures(stage->residency) == before) {
            for (unsigned i = 0; i < 50; i++)
                if (atomic_load(&stage->frame) != seen)
                    atomic_fetch_add(&stage->torn, 1);
            atomic_fetch_add(&stage->views, 1);
        }
        vcm_residency_view_drop(stage->residency, slot);
    }
    return NULL;
}

static void no_frame_goes_while_it_is_viewed(void **state)
{
    struct stage stage = {.residency = open_in(*state)};
    pthread_t readers[3];
    unsigned freed = 0;

    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, view_often, &stage), 0);
    for (unsigned i = 0; i < 3000 || freed < 10 || atomic_load(&stage.views) < 100; i++) {
        vcm_residency_depart_begin(stage.residency);
        if (!viewed(stage.residency, 1)) {
            atomic_fetch_add(&stage.frame, 1);
            freed++;
        }
        vcm_residency_depart_end(stage.residency);
        usleep(10);
    }
    atomic_store(&stage.done, true);
    for (unsigned i = 0; i < 3; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&stage.torn), 0);
    vcm_residency_close(stage.residency);
}

static void accesses_are_recorded_in_order_only_while_somebody_asks(void **state)
{
    struct vcm_residency *residency = open_in(*state), *other = open_in(*state);
    struct vcm_residency_access read[8];
    struct vcm_page_id ids[3] = {page(1), page(2), page(3)};
    uint64_t cursor, second, lost = 0;

    vcm_residency_trace(residency, &ids[0], 1);
    assert_int_equal(vcm_residency_trace_start(&cursor, residency, NULL), VCM_OK);
    assert_int_equal(vcm_residency_trace_start(&second, other, NULL), VCM_STORE_BUSY);
    for (unsigned i = 0; i < 3; i++)
        vcm_residency_trace(i % 2 ? other : residency, &ids[i], 10 + i);
    assert_int_equal(vcm_residency_trace_read(read, 2, &lost, &cursor, residency), 2);
    assert_int_equal(vcm_residency_trace_read(read + 2, 6, &lost, &cursor, residency), 1);
    for (unsigned i = 0; i < 3; i++) {
        assert_memory_equal(&read[i].id, &ids[i], sizeof ids[i]);
        assert_int_equal(read[i].bytes, 10 + i);
        assert_true(i == 0 || read[i].ms >= read[i - 1].ms);
    }
    assert_int_equal(vcm_residency_trace_read(read, 8, &lost, &cursor, residency), 0);
    assert_int_equal(lost, 0);
    vcm_residency_trace_stop(residency);
    vcm_residency_trace(residency, &ids[0], 1);
    assert_int_equal(vcm_residency_trace_read(read, 8, &lost, &cursor, residency), 0);
    vcm_residency_close(other);
    vcm_residency_close(residency);
}

static void *access_often(void *argument)
{
    for (unsigned i = 0; i < 20000; i++) {
        struct vcm_page_id id = page(i);
        vcm_residency_trace(argument, &id, i);
    }
    return NULL;
}

static void what_a_full_ring_overwrote_is_counted_as_lost(void **state)
{
    struct vcm_residency *residency = open_in(*state);
    static struct vcm_residency_access read[30000];
    pthread_t threads[2];
    uint64_t cursor, lost = 0;

    assert_int_equal(vcm_residency_trace_start(&cursor, residency, NULL), VCM_OK);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, access_often, residency), 0);
    unsigned count = vcm_residency_trace_read(read, 10000, &lost, &cursor, residency);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    count += vcm_residency_trace_read(read + count, 20000, &lost, &cursor, residency);
    assert_int_equal(count + lost, 40000);
    assert_true(lost > 0);
    for (unsigned i = 0; i < count; i++) {
        struct vcm_page_id id = page(read[i].bytes);
        assert_memory_equal(&read[i].id, &id, sizeof id);
    }
    vcm_residency_close(residency);
}

/* Uses everything; only a crash is wrong. */
static void use_all(struct vcm_residency *residency)
{
    struct vcm_residency_access read[64];
    uint64_t cursor, lost = 0, sum;
    struct vcm_page_id id = page(7);
    unsigned slot, count;
    size_t bytes;

    for (unsigned i = 0; i < VCM_RESIDENCY_SETS; i++) {
        volatile char *memory = vcm_residency_evict_memory(&bytes, residency, i);
        if (memory)
            memory[bytes - 1] = memory[0];
    }
    vcm_residency_evict_resize(residency, 0, 4096, NULL);
    if (vcm_residency_view_take(&slot, residency, &id, 1, LOTS, NULL) == VCM_OK)
        vcm_residency_view_drop(residency, slot);
    vcm_residency_viewed(residency, &id);
    vcm_residency_views(&count, &sum, residency);
    vcm_residency_trace_start(&cursor, residency, NULL);
    vcm_residency_trace(residency, &id, 1);
    vcm_residency_trace_read(read, 64, &lost, &cursor, residency);
    vcm_residency_depart_begin(residency);
    vcm_residency_depart_end(residency);
    vcm_residency_needs_rebuild(residency, STAMP);
}

/* Garbage in a file that others use: everything but the magic number is random. */
static void no_content_of_the_file_is_fatal(void **state)
{
    struct vcm_residency *residency = open_in(*state);
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
        use_all(residency);
        struct vcm_residency *second = open_in(*state);
        use_all(second);
        vcm_residency_close(second);
        if (round % 4 == 3) {
            vcm_residency_close(residency);
            residency = open_in(*state);
        }
    }
    vcm_residency_close(residency);
    free(path);
}

static void assert_begins_anew(const struct test_repo *disk, bool shared)
{
    struct vcm_residency *residency = open_in(disk);

    assert_int_equal(vcm_residency_is_shared(residency), shared);
    assert_int_equal(hits(residency), 0);
    assert_true(vcm_residency_needs_rebuild(residency, 0));
    vcm_residency_count(residency, VCM_RESIDENCY_HITS, 2);
    assert_int_equal(hits(residency), 2);
    vcm_residency_close(residency);
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
    struct vcm_residency *residency = open_in(disk);
    char *path = test_repo_path(disk, "residency");

    vcm_residency_count(residency, VCM_RESIDENCY_HITS, 7);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(disk->path, 0555), 0);
    struct process other = start("nobody", disk);
    assert_int_equal(finish(&other), 0);
    chmod(disk->path, 0755);
    assert_int_equal(hits(residency), 7);
    vcm_residency_close(residency);
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
