/*
 * kv_fixture.h - what the tests of kv.h share: a store in a temporary directory, and other
 * processes, which are this test program started again with the name of a role.
 */
#ifndef VCM_TESTS_BASE_KV_FIXTURE_H
#define VCM_TESTS_BASE_KV_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/kv.h"
#include "base/limits.h"

#define SOON_MS  100u
#define LATER_MS 60000u

enum { PAGES, SCOPES };

struct fixture {
    char directory[64];
    char data[96];
    char lock[96];
    struct vcm_kv_options options;
    struct vcm_error err;
};

static const char *const kv_tables[] = {"pages", "scopes", NULL};

static inline void fixture_name(struct fixture *fixture, const char *directory)
{
    memset(fixture, 0, sizeof *fixture);
    snprintf(fixture->directory, sizeof fixture->directory, "%s", directory);
    snprintf(fixture->data, sizeof fixture->data, "%s/data.mdb", fixture->directory);
    snprintf(fixture->lock, sizeof fixture->lock, "%s/writer.lock", fixture->directory);
    fixture->options.directory = fixture->directory;
    fixture->options.lock_path = fixture->lock;
    fixture->options.tables = kv_tables;
}

static inline int fixture_setup(void **state)
{
    char directory[] = "/tmp/vcm-test-kv-XXXXXX";
    struct fixture *fixture = calloc(1, sizeof *fixture);

    if (!fixture || !mkdtemp(directory))
        return -1;
    fixture_name(fixture, directory);
    *state = fixture;
    return 0;
}

/* Everything below the directory, which generations have one level of. */
static inline void remove_all(int above, const char *name)
{
    if (unlinkat(above, name, 0) == 0)
        return;
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    if (!stream)
        return;
    while ((entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_all(dirfd(stream), entry->d_name);
    closedir(stream);
    unlinkat(above, name, AT_REMOVEDIR);
}

static inline int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    chmod(fixture->directory, 0700);
    remove_all(AT_FDCWD, fixture->directory);
    free(fixture);
    return 0;
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static inline struct vcm_kv *open_store(struct fixture *fixture)
{
    struct vcm_kv *kv;
    if (vcm_kv_handle_open(&kv, &fixture->options, &fixture->err) != VCM_OK)
        print_error("%s\n", fixture->err.message);
    assert_non_null(kv);
    return kv;
}

static inline struct vcm_slice text(const char *string)
{
    return vcm_slice_of_string(string);
}

struct pair {
    unsigned table;
    struct vcm_slice key;
    struct vcm_slice value;
};

static inline int put_pair(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct pair *pair = context;
    return vcm_kv_put(txn, pair->table, pair->key, pair->value, err);
}

static inline int store(struct vcm_kv *kv, const char *key, const char *value,
                        struct vcm_error *err)
{
    struct pair pair = {PAGES, text(key), text(value)};
    return vcm_kv_handle_update(kv, put_pair, &pair, LATER_MS, NULL, err);
}

/* `count` values of `bytes` bytes, each filled with its number. */
struct bulk {
    unsigned first;
    unsigned count;
    size_t bytes;
    unsigned runs;
};

static inline int put_bulk(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    struct bulk *bulk = context;
    char *value = malloc(bulk->bytes);
    int rc = VCM_OK;

    assert_non_null(value);
    bulk->runs++;
    for (unsigned i = bulk->first; i < bulk->first + bulk->count && rc == VCM_OK; i++) {
        char key[16];
        snprintf(key, sizeof key, "%08u", i);
        memset(value, (int)(i % 251), bulk->bytes);
        rc = vcm_kv_put(txn, PAGES, text(key), vcm_slice_of(value, bulk->bytes), err);
    }
    free(value);
    return rc;
}

/* How many values of put_bulk() from `first` on are there and right. */
static inline unsigned count_bulk(struct vcm_kv *kv, unsigned first, unsigned count, size_t bytes)
{
    struct vcm_kv_txn *txn;
    struct vcm_error err = {0};
    unsigned good = 0;

    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &err), VCM_OK);
    for (unsigned i = first; i < first + count; i++) {
        char key[16];
        struct vcm_slice value;
        snprintf(key, sizeof key, "%08u", i);
        int rc = vcm_kv_get(&value, txn, PAGES, text(key), &err);
        good += rc == VCM_OK && value.len == bytes && (unsigned char)value.data[0] == i % 251 &&
                (unsigned char)value.data[bytes - 1] == i % 251;
    }
    vcm_kv_handle_read_end(txn);
    return good;
}

static inline void assert_value(struct vcm_kv *kv, const char *key, const char *expected)
{
    struct vcm_kv_txn *txn;
    struct vcm_error err = {0};
    struct vcm_slice value;

    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &err), VCM_OK);
    int rc = vcm_kv_get(&value, txn, PAGES, text(key), &err);
    if (expected) {
        assert_int_equal(rc, VCM_OK);
        assert_true(vcm_slice_equal(value, text(expected)));
    } else {
        assert_int_equal(rc, VCM_NOT_FOUND);
        assert_int_equal(err.code, VCM_OK);
    }
    vcm_kv_handle_read_end(txn);
}

#endif
