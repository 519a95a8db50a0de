/* Other processes are this program again, started with a role. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_fixture.h"
#include "vcm/page_cache.h"
#include "tests/support/disk.h"

#include "base/banned.h"

#define NOBODY  65534
#define SKIPPED 77

static const char *program;

static struct vcm_page_cache *open_cache(struct fixture *fix)
{
    struct vcm_page_cache *cache;

    assert_ok(fix, vcm_page_cache_open(&cache, fix->disk.path, &fix->err));
    return cache;
}

/* Reads the page "1" so many times. */
static int read_page(struct vcm_page_store *store, struct vcm_page_cache *cache, unsigned times)
{
    struct vcm_page_info info = {.id = id_of("1")};
    struct vcm_kv_txn *txn;
    struct vcm_slice frame;
    int rc = vcm_page_store_read_begin(&txn, store, NULL);

    for (; rc == VCM_OK && times > 0; times--)
        rc = vcm_page_cache_read(&frame, cache, txn, &info, NULL);
    vcm_kv_read_end(txn);
    return rc;
}

static uint64_t hits(const struct vcm_page_cache *cache)
{
    struct vcm_page_cache_counters counters;

    vcm_page_cache_counters(&counters, cache);
    assert_int_equal(counters.minor_faults + counters.major_faults + counters.evictions, 0);
    return counters.hits;
}

/* A small file system over the directory, filled to the last block. */
static int count_on_full_disk(const char *directory)
{
    struct vcm_page_cache *cache;
    char path[512], block[4096] = {0};

    if (!test_disk_mount(directory, "64k"))
        return SKIPPED;
    snprintf(path, sizeof path, "%s/filler", directory);
    FILE *filler = fopen(path, "wb");
    if (!filler)
        return 1;
    setvbuf(filler, NULL, _IONBF, 0);
    while (fwrite(block, sizeof block, 1, filler) == 1)
        continue;
    fclose(filler);
    if (vcm_page_cache_open(&cache, directory, NULL) != VCM_OK)
        return 2;
    vcm_page_cache_close(cache);
    return 0;
}

static int run_role(const char *role, const char *directory)
{
    struct vcm_page_store *store;
    struct vcm_page_cache *cache;

    if (strcmp(role, "full_disk") == 0)
        return count_on_full_disk(directory);
    if (strcmp(role, "nobody") == 0 && geteuid() == 0 && setuid(NOBODY) != 0)
        return 1;
    if (vcm_page_store_open(
            &store, &(struct vcm_page_store_options){.directory = directory, .read_only = true},
            NULL) != VCM_OK)
        return 2;
    if (vcm_page_cache_open(&cache, directory, NULL) != VCM_OK)
        return 3;
    if (read_page(store, cache, 3) != VCM_OK)
        return 4;
    vcm_page_cache_close(cache);
    vcm_page_store_close(store);
    return 0;
}

static int start(const char *role, const struct fixture *fix)
{
    char *argv[] = {(char *)program, (char *)role, (char *)fix->disk.path, NULL};

    return test_repo_run(NULL, argv, NULL);
}

static void handles_and_processes_count_together(void **state)
{
    struct fixture *fix = *state;

    map_pages(fix, "s", PAGES("1"));
    struct vcm_page_cache *one = open_cache(fix), *two = open_cache(fix);
    assert_ok(fix, read_page(fix->store, one, 2));
    assert_ok(fix, read_page(fix->store, two, 5));
    assert_int_equal(hits(one), 7);
    assert_int_equal(start("read", fix), 0);
    assert_int_equal(hits(two), 10);
    vcm_page_cache_close(one);
    vcm_page_cache_close(two);
    one = open_cache(fix);
    assert_int_equal(hits(one), 10);
    vcm_page_cache_close(one);
    vcm_page_cache_close(NULL);
}

static void a_failed_read_is_not_counted(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_cache *cache = open_cache(fix);

    assert_int_equal(read_page(fix->store, cache, 1), VCM_STORE_CORRUPT);
    assert_int_equal(hits(cache), 0);
    vcm_page_cache_close(cache);
}

/* Pages are read, and counted in private, whatever lies in the place of the counters. */
static void assert_reads_without_file(struct fixture *fix)
{
    struct vcm_page_cache *cache = open_cache(fix);

    assert_ok(fix, read_page(fix->store, cache, 2));
    assert_int_equal(hits(cache), 2);
    vcm_page_cache_close(cache);
    cache = open_cache(fix);
    assert_int_equal(hits(cache), 0);
    vcm_page_cache_close(cache);
}

static void an_unusable_counters_file_does_not_hinder_reading(void **state)
{
    struct fixture *fix = *state;
    char garbage[8192];
    char *path = test_repo_path(&fix->disk, "counters");

    map_pages(fix, "s", PAGES("1"));
    memset(garbage, 'x', sizeof garbage);
    test_repo_write(&fix->disk, "counters", garbage, sizeof garbage);
    assert_reads_without_file(fix);
    test_repo_write(&fix->disk, "counters", garbage, 10);
    assert_reads_without_file(fix);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_reads_without_file(fix);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_reads_without_file(fix);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_reads_without_file(fix);
    free(path);
}

static void a_home_without_write_permission_is_read(void **state)
{
    struct fixture *fix = *state;
    static const char *const names[] = {"data.mdb", "lock.mdb", "counters"};

    map_pages(fix, "s", PAGES("1"));
    struct vcm_page_cache *cache = open_cache(fix);
    assert_ok(fix, read_page(fix->store, cache, 1));
    close_store(fix);
    for (unsigned i = 0; i < 3; i++) {
        char *path = test_repo_path(&fix->disk, names[i]);
        assert_int_equal(chmod(path, 0444), 0);
        free(path);
    }
    assert_int_equal(chmod(fix->disk.path, 0555), 0);
    assert_int_equal(start("nobody", fix), 0);
    chmod(fix->disk.path, 0755);
    assert_int_equal(hits(cache), 1);
    vcm_page_cache_close(cache);
}

static void a_full_disk_is_no_reason_to_die(void **state)
{
    int status = start("full_disk", *state);

    if (status == SKIPPED)
        skip();
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(handles_and_processes_count_together),
        STORE_TEST(a_failed_read_is_not_counted),
        STORE_TEST(an_unusable_counters_file_does_not_hinder_reading),
        STORE_TEST(a_home_without_write_permission_is_read),
        STORE_TEST(a_full_disk_is_no_reason_to_die),
    };
    if (argc == 3)
        _exit(run_role(argv[1], argv[2]));
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
