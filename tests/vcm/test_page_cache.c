/* Other processes are this program again, started with a role. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_fixture.h"
#include "vcm/residency/page_cache.h"

#include "base/banned.h"

#define NOBODY 65534

static const char *program;

static struct vcm_page_cache *open_cache(struct fixture *fix)
{
    struct vcm_page_cache *cache;

    assert_ok(fix, vcm_page_cache_open(&cache, fix->store, &fix->err));
    return cache;
}

/* Reads the page "1" so many times. */
static int read_page(struct vcm_page_store *store, struct vcm_page_cache *cache, unsigned times)
{
    struct vcm_page_id id = id_of("1");
    struct vcm_page_cache_frame frame;
    struct vcm_kv_txn *txn;
    int rc = vcm_page_store_read_begin(&txn, store, NULL);

    for (; rc == VCM_OK && times > 0; times--) {
        rc = vcm_page_cache_read(&frame, cache, txn, &id, NULL);
        vcm_page_cache_release(&frame);
    }
    vcm_kv_handle_read_end(txn);
    return rc;
}

static uint64_t hits(const struct fixture *fix)
{
    struct vcm_page_cache_counters counters;

    vcm_page_cache_counters(&counters, fix->store);
    assert_int_equal(counters.minor_faults + counters.major_faults + counters.evictions, 0);
    return counters.hits;
}

static int run_role(const char *role, const char *directory)
{
    struct vcm_page_store *store;
    struct vcm_page_cache *cache;

    if (strcmp(role, "nobody") == 0 && geteuid() == 0 && setuid(NOBODY) != 0)
        return 1;
    if (vcm_page_store_open(
            &store, &(struct vcm_page_store_options){.directory = directory, .read_only = true},
            NULL) != VCM_OK)
        return 2;
    if (vcm_page_cache_open(&cache, store, NULL) != VCM_OK)
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
    assert_int_equal(hits(fix), 7);
    assert_int_equal(start("read", fix), 0);
    assert_int_equal(hits(fix), 10);
    vcm_page_cache_close(one);
    vcm_page_cache_close(two);
    close_store(fix);
    open_store(fix);
    assert_int_equal(hits(fix), 10);
    vcm_page_cache_close(NULL);
}

static void a_failed_read_is_not_counted(void **state)
{
    struct fixture *fix = *state;
    struct vcm_page_cache *cache = open_cache(fix);

    assert_int_equal(read_page(fix->store, cache, 1), VCM_NOT_FOUND);
    assert_int_equal(hits(fix), 0);
    vcm_page_cache_close(cache);
}

static void a_home_without_write_permission_is_read(void **state)
{
    struct fixture *fix = *state;
    static const char *const names[] = {"data.mdb", "lock.mdb", "residency"};

    map_pages(fix, "s", PAGES("1"));
    struct vcm_page_cache *cache = open_cache(fix);
    assert_ok(fix, read_page(fix->store, cache, 1));
    vcm_page_cache_close(cache);
    close_store(fix);
    for (unsigned i = 0; i < 3; i++) {
        char *path = test_repo_path(&fix->disk, names[i]);
        assert_int_equal(chmod(path, 0444), 0);
        free(path);
    }
    assert_int_equal(chmod(fix->disk.path, 0555), 0);
    assert_int_equal(start("nobody", fix), 0);
    chmod(fix->disk.path, 0755);
    for (unsigned i = 0; i < 3; i++) {
        char *path = test_repo_path(&fix->disk, names[i]);
        assert_int_equal(chmod(path, 0644), 0);
        free(path);
    }
    open_store(fix);
    assert_int_equal(hits(fix), 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(handles_and_processes_count_together),
        STORE_TEST(a_failed_read_is_not_counted),
        STORE_TEST(a_home_without_write_permission_is_read),
    };
    if (argc == 3)
        _exit(run_role(argv[1], argv[2]));
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
