/* Which pages of the file are free and which are used, and what a damaged file says of it. */
#include "base/kv_pages.h"
#include "tests/base/kv_fixture.h"
#include "tests/support/random.h"

#include "base/banned.h"

#define PAGE    4096u
#define ENTRIES 700u /* more free pages than a list has room for in a tree */

/* Where things are in a header: see kv_pages.c. */
#define FREE_ROOT (16u + 24u + 40u)
#define MAIN_ROOT (FREE_ROOT + 48u)
#define TXN       (16u + 24u + 96u + 8u)

struct found {
    unsigned count;
    char what[128];
    uint64_t page;
};

static int note(void *context, const struct vcm_kv_pages_finding *finding, struct vcm_error *err)
{
    struct found *found = context;

    (void)err;
    if (found->count++ > 0)
        return VCM_OK;
    snprintf(found->what, sizeof found->what, "%s", finding->what);
    found->page = finding->page;
    return VCM_OK;
}

static struct found check(struct fixture *fixture, struct vcm_kv *kv)
{
    struct found found = {0};

    int rc = vcm_kv_pages_check(
        kv, &(struct vcm_kv_pages_options){.found = note, .context = &found}, &fixture->err);
    if (rc != VCM_OK)
        fail_msg("%s", fixture->err.message);
    return found;
}

static void assert_in_order(struct fixture *fixture, struct vcm_kv *kv)
{
    struct found found = check(fixture, kv);

    if (found.count > 0)
        fail_msg("%s: %llu", found.what, (unsigned long long)found.page);
}

static int delete_bulk(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct bulk *bulk = context;
    int rc = VCM_OK;

    for (unsigned i = bulk->first; rc == VCM_OK && i < bulk->first + bulk->count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%08u", i);
        rc = vcm_kv_delete(txn, PAGES, text(key), err);
    }
    return rc;
}

static void change(struct fixture *fixture, struct vcm_kv *kv, vcm_kv_change_fn fn, unsigned first,
                   unsigned count, size_t bytes)
{
    struct bulk bulk = {.first = first, .count = count, .bytes = bytes};

    if (vcm_kv_handle_update(kv, fn, &bulk, LATER_MS, NULL, &fixture->err) != VCM_OK)
        fail_msg("%s", fixture->err.message);
}

/* With values of all sizes, and with free pages in long and short lists. */
static struct vcm_kv *make_store(struct fixture *fixture)
{
    struct vcm_kv *kv = open_store(fixture);

    assert_in_order(fixture, kv);
    change(fixture, kv, put_bulk, 0, ENTRIES, 5000);
    change(fixture, kv, put_bulk, 10000, 3000, 20);
    assert_in_order(fixture, kv);
    change(fixture, kv, delete_bulk, 0, ENTRIES - 10, 0);
    assert_in_order(fixture, kv);
    change(fixture, kv, put_bulk, 20000, 5, 2500);
    assert_in_order(fixture, kv);
    return kv;
}

static void whatever_is_written_every_page_is_free_or_used(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv_compacted compacted;
    uint64_t seed = 5;

    print_message("seed %llu\n", (unsigned long long)seed);
    struct vcm_kv *kv = make_store(fixture);
    for (unsigned i = 0; i < 60; i++) {
        unsigned first = test_random_below(&seed, 100) * 20;
        change(fixture, kv, put_bulk, first, 20, 1 + test_random_below(&seed, 30000));
        if (i % 2)
            change(fixture, kv, delete_bulk, first, 1 + test_random_below(&seed, 20), 0);
        assert_in_order(fixture, kv);
    }
    assert_int_equal(vcm_kv_compact(&compacted, kv, LATER_MS, NULL, &fixture->err), VCM_OK);
    assert_in_order(fixture, kv);
    vcm_kv_handle_close(kv);
}

static uint64_t get(int fd, uint64_t at)
{
    uint64_t value;

    assert_int_equal(pread(fd, &value, sizeof value, (off_t)at), sizeof value);
    return value;
}

static void put(int fd, uint64_t at, uint64_t value)
{
    assert_int_equal(pwrite(fd, &value, sizeof value, (off_t)at), sizeof value);
}

/* The header in force. */
static uint64_t meta_of(int fd)
{
    return get(fd, TXN) > get(fd, PAGE + TXN) ? 0 : PAGE;
}

/* The first list of free pages in the tree, which is small: its count, then the pages. */
static uint64_t list_of(int fd)
{
    uint64_t root = get(fd, meta_of(fd) + FREE_ROOT), at = 16;
    uint16_t end = (uint16_t)(get(fd, root * PAGE + 8) >> 32);

    for (; at < end; at += 2) {
        uint64_t node = root * PAGE + (get(fd, root * PAGE + at) & 0xffff);
        uint64_t header = get(fd, node);
        uint64_t value = node + 8 + (header >> 48);
        if ((header >> 32 & 1) == 0 && get(fd, value) >= 2)
            return value;
    }
    fail();
    return 0;
}

struct corruption {
    const char *told;
    void (*make)(int fd);
};

static void free_a_used_page(int fd)
{
    put(fd, list_of(fd) + 8, get(fd, meta_of(fd) + MAIN_ROOT));
}

static void free_a_page_twice(int fd)
{
    put(fd, list_of(fd) + 8, get(fd, list_of(fd) + 16));
}

static void lose_a_page(int fd)
{
    put(fd, list_of(fd), get(fd, list_of(fd)) - 1);
}

static void free_a_page_beyond_the_end(int fd)
{
    put(fd, list_of(fd) + 8, UINT64_C(1) << 40);
}

static void list_too_many(int fd)
{
    put(fd, list_of(fd), UINT64_C(1) << 61);
}

static void break_a_page(int fd)
{
    put(fd, get(fd, meta_of(fd) + FREE_ROOT) * PAGE, 7);
}

static const struct corruption corruptions[] = {
    {"free and in use", free_a_used_page},    {"free twice", free_a_page_twice},
    {"neither free nor in use", lose_a_page}, {"beyond the end", free_a_page_beyond_the_end},
    {"a list of free pages", list_too_many},  {"not one", break_a_page},
};

static void what_is_wrong_with_the_free_pages_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = make_store(fixture);
    int fd = open(fixture->data, O_RDWR | O_CLOEXEC);
    struct stat file;

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &file), 0);
    char *whole = malloc((size_t)file.st_size);
    assert_non_null(whole);
    assert_int_equal(pread(fd, whole, (size_t)file.st_size, 0), file.st_size);
    for (size_t i = 0; i < sizeof corruptions / sizeof corruptions[0]; i++) {
        corruptions[i].make(fd);
        struct found found = check(fixture, kv);
        if (!strstr(found.what, corruptions[i].told))
            fail_msg("'%s' instead of '%s'", found.what, corruptions[i].told);
        assert_int_equal(pwrite(fd, whole, (size_t)file.st_size, 0), file.st_size);
        assert_in_order(fixture, kv);
    }
    free(whole);
    close(fd);
    vcm_kv_handle_close(kv);
}

static void a_broken_file_never_crashes_the_check(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = make_store(fixture);
    int fd = open(fixture->data, O_RDWR | O_CLOEXEC);
    uint64_t seed = 11;
    unsigned told = 0;

    print_message("seed %llu\n", (unsigned long long)seed);
    assert_true(fd >= 0);
    uint64_t pages[] = {get(fd, meta_of(fd) + FREE_ROOT), get(fd, meta_of(fd) + MAIN_ROOT)};
    for (unsigned i = 0; i < 1500; i++) {
        /* Half of them in the heads of pages, where they do most. */
        uint64_t at = pages[i % 2] * PAGE + test_random_below(&seed, i % 4 < 2 ? 64 : PAGE - 8);
        uint64_t was = get(fd, at);
        put(fd, at, was ^ test_random(&seed) >> test_random_below(&seed, 64));
        struct found found = check(fixture, kv);
        told += found.count > 0;
        put(fd, at, was);
    }
    print_message("%u told\n", told);
    assert_true(told > 100);
    assert_in_order(fixture, kv);
    close(fd);
    vcm_kv_handle_close(kv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(whatever_is_written_every_page_is_free_or_used),
        STORE_TEST(what_is_wrong_with_the_free_pages_is_told),
        STORE_TEST(a_broken_file_never_crashes_the_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
