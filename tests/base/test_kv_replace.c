/* A data file that is replaced without being read, because it may be damaged. */
#include "tests/base/kv_fixture.h"

#include "base/banned.h"

struct replacing {
    struct fixture *fixture;
    char fresh[80], fresh_data[96], aside[80];
    int answer; /* of make() */
    uint64_t generation;
};

/* Makes a store with one value. */
static int make(void *context, uint64_t generation, struct vcm_error *err)
{
    struct replacing *replacing = context;
    struct fixture fresh;
    struct vcm_kv *kv;

    replacing->generation = generation;
    if (replacing->answer != VCM_OK)
        return replacing->answer;
    fixture_name(&fresh, replacing->fresh);
    assert_int_equal(mkdir(replacing->fresh, 0700), 0);
    int rc = vcm_kv_handle_open(&kv, &fresh.options, err);
    if (rc == VCM_OK)
        rc = store(kv, "which", "new", err);
    vcm_kv_handle_close(kv);
    return rc;
}

static int replace_with(struct replacing *replacing, struct fixture *fixture, int answer,
                        unsigned timeout_ms)
{
    *replacing = (struct replacing){.fixture = fixture, .answer = answer};
    snprintf(replacing->fresh, sizeof replacing->fresh, "%s/fresh", fixture->directory);
    snprintf(replacing->fresh_data, sizeof replacing->fresh_data, "%s/data.mdb", replacing->fresh);
    snprintf(replacing->aside, sizeof replacing->aside, "%s/aside", fixture->directory);
    remove_all(AT_FDCWD, replacing->fresh);
    return vcm_kv_replace(&(struct vcm_kv_replacement){.directory = fixture->directory,
                                                       .lock_path = fixture->lock,
                                                       .fresh = replacing->fresh_data,
                                                       .aside = replacing->aside,
                                                       .make = make,
                                                       .context = replacing},
                          timeout_ms, NULL, &fixture->err);
}

static void every_handle_goes_on_with_the_new_file(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture), *other = open_store(fixture);
    struct replacing replacing;
    struct vcm_kv_txn *old;
    struct vcm_slice value;

    assert_int_equal(store(kv, "which", "old", &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_read_begin(&old, other, &fixture->err), VCM_OK);
    assert_true(vcm_kv_handle_is_current(kv));
    assert_int_equal(replace_with(&replacing, fixture, VCM_OK, LATER_MS), VCM_OK);
    assert_int_equal(replacing.generation, 1);
    assert_false(vcm_kv_handle_is_current(kv));
    assert_int_equal(vcm_kv_get(&value, old, PAGES, text("which"), NULL), VCM_OK);
    assert_true(vcm_slice_equal(value, text("old")));
    vcm_kv_handle_read_end(old);
    assert_value(kv, "which", "new");
    assert_true(vcm_kv_handle_is_current(kv));
    assert_int_equal(store(other, "which", "later", &fixture->err), VCM_OK);
    assert_value(kv, "which", "later");
    assert_int_equal(access(replacing.aside, F_OK), 0);
    assert_int_not_equal(access(fixture->data, F_OK), 0);
    vcm_kv_handle_close(other);
    vcm_kv_handle_close(kv);
}

static void it_waits_for_the_writer_and_changes_nothing_when_it_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    struct replacing replacing;

    assert_int_equal(store(kv, "which", "old", &fixture->err), VCM_OK);
    int fd = open(fixture->lock, O_RDWR | O_CLOEXEC);
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &range), 0);
    assert_int_equal(replace_with(&replacing, fixture, VCM_OK, SOON_MS), VCM_STORE_BUSY);
    assert_int_equal(replacing.generation, 0);
    close(fd);
    vcm_error_reset(&fixture->err);
    assert_int_equal(replace_with(&replacing, fixture, VCM_STOP, LATER_MS), VCM_STOP);
    assert_true(vcm_kv_handle_is_current(kv));
    assert_value(kv, "which", "old");
    vcm_kv_handle_close(kv);
}

/* What is there is not opened, so it does not matter what it is. */
static void whatever_is_there_is_replaced(void **state)
{
    struct fixture *fixture = *state;
    char generation[96];
    struct replacing replacing;
    struct vcm_kv *kv = open_store(fixture);

    vcm_kv_handle_close(kv);
    assert_int_equal(truncate(fixture->data, 5000), 0);
    assert_int_equal(replace_with(&replacing, fixture, VCM_OK, LATER_MS), VCM_OK);
    kv = open_store(fixture);
    assert_value(kv, "which", "new");
    vcm_kv_handle_close(kv);

    snprintf(generation, sizeof generation, "%s/generation", fixture->directory);
    assert_int_equal(unlink(generation), 0);
    assert_int_equal(mkdir(generation, 0700), 0);
    assert_int_equal(replace_with(&replacing, fixture, VCM_OK, LATER_MS), VCM_OK);
    kv = open_store(fixture);
    assert_value(kv, "which", "new");
    vcm_kv_handle_close(kv);

    int fd = open(generation, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8), 8);
    close(fd);
    assert_int_equal(replace_with(&replacing, fixture, VCM_OK, LATER_MS), VCM_OK);
    kv = open_store(fixture);
    assert_value(kv, "which", "new");
    vcm_kv_handle_close(kv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(every_handle_goes_on_with_the_new_file),
        STORE_TEST(it_waits_for_the_writer_and_changes_nothing_when_it_is_refused),
        STORE_TEST(whatever_is_there_is_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
