#include <pthread.h>
#include <stdatomic.h>

#include "kv_fixture.h"

#include "base/banned.h"

static int fill(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    static const char *const keys[] = {"delta", "alpha", "charlie", "bravo"};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(vcm_kv_put(txn, PAGES, text(keys[i]), text(keys[i]), err), VCM_OK);
    assert_int_equal(vcm_kv_put(txn, SCOPES, text("alpha"), text(""), err), VCM_OK);
    assert_int_equal(vcm_kv_put(txn, PAGES, text("delta"), text("again"), err), VCM_OK);
    return VCM_OK;
}

static void what_was_put_is_found_after_reopening(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(vcm_kv_handle_update(kv, fill, NULL, 0, NULL, &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);

    kv = open_store(fixture);
    assert_value(kv, "alpha", "alpha");
    assert_value(kv, "delta", "again");
    struct vcm_kv_txn *txn;
    struct vcm_slice value;
    uint64_t count;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, txn, SCOPES, text("alpha"), &fixture->err), VCM_OK);
    assert_int_equal(value.len, 0);
    assert_int_equal(vcm_kv_count(&count, txn, PAGES, &fixture->err), VCM_OK);
    assert_int_equal(count, 4);
    vcm_kv_handle_read_end(txn);
    vcm_kv_handle_close(kv);
}

static void a_missing_key_is_not_found_and_leaves_the_error_untouched(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    assert_value(kv, "nothing", NULL);
    struct vcm_kv_txn *txn;
    struct vcm_kv_cursor *cursor;
    struct vcm_slice key, value;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_cursor_open(&cursor, txn, SCOPES, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_cursor_seek(&key, &value, cursor, text("x"), &fixture->err),
                     VCM_NOT_FOUND);
    assert_int_equal(vcm_kv_cursor_next(&key, &value, cursor, &fixture->err), VCM_NOT_FOUND);
    assert_int_equal(fixture->err.code, VCM_OK);
    vcm_kv_cursor_close(cursor);
    vcm_kv_handle_read_end(txn);
    vcm_kv_handle_close(kv);
}

static void a_cursor_goes_through_the_keys_in_order_from_where_it_was_put(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_error *err = &fixture->err;
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(vcm_kv_handle_update(kv, fill, NULL, 0, NULL, err), VCM_OK);

    struct vcm_kv_txn *txn;
    struct vcm_kv_cursor *cursor;
    struct vcm_slice key, value;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, err), VCM_OK);
    assert_int_equal(vcm_kv_cursor_open(&cursor, txn, PAGES, err), VCM_OK);
    assert_int_equal(vcm_kv_cursor_seek(&key, &value, cursor, text("b"), err), VCM_OK);
    assert_true(vcm_slice_equal(key, text("bravo")) && vcm_slice_equal(value, text("bravo")));
    assert_int_equal(vcm_kv_cursor_next(&key, &value, cursor, err), VCM_OK);
    assert_true(vcm_slice_equal(key, text("charlie")));
    assert_int_equal(vcm_kv_cursor_next(&key, &value, cursor, err), VCM_OK);
    assert_true(vcm_slice_equal(key, text("delta")) && vcm_slice_equal(value, text("again")));
    assert_int_equal(vcm_kv_cursor_next(&key, &value, cursor, err), VCM_NOT_FOUND);
    assert_int_equal(vcm_kv_cursor_seek(&key, &value, cursor, text(""), err), VCM_OK);
    assert_true(vcm_slice_equal(key, text("alpha")));
    vcm_kv_cursor_close(cursor);
    vcm_kv_handle_read_end(txn);
    vcm_kv_handle_close(kv);
}

static int delete_even(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    unsigned *seen = context;
    struct vcm_kv_cursor *cursor;
    struct vcm_slice key, value;

    assert_int_equal(vcm_kv_cursor_open(&cursor, txn, PAGES, err), VCM_OK);
    while (vcm_kv_cursor_next(&key, &value, cursor, err) == VCM_OK) {
        char expected[16];
        snprintf(expected, sizeof expected, "%08u", *seen);
        assert_true(vcm_slice_equal(key, text(expected)));
        if (*seen % 2 == 0 || *seen > 900)
            assert_int_equal(vcm_kv_cursor_delete(cursor, err), VCM_OK);
        ++*seen;
    }
    vcm_kv_cursor_close(cursor);
    assert_int_equal(vcm_kv_delete(txn, PAGES, text("00000001"), err), VCM_OK);
    return vcm_kv_delete(txn, PAGES, text("00000001"), err) == VCM_NOT_FOUND ? VCM_OK
                                                                             : VCM_INTERNAL;
}

static void a_cursor_that_deletes_skips_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    struct bulk bulk = {.count = 1000, .bytes = 300};
    unsigned seen = 0;
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_update(kv, delete_even, &seen, 0, NULL, &fixture->err), VCM_OK);
    assert_int_equal(seen, 1000);
    assert_int_equal(count_bulk(kv, 0, 1000, 300), 449);
    vcm_kv_handle_close(kv);
}

static int put_and_refuse(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    assert_int_equal(vcm_kv_put(txn, PAGES, text("alpha"), text("other"), err), VCM_OK);
    return vcm_error_set(err, VCM_AMBIGUOUS, "not now");
}

static void a_change_that_fails_changes_nothing_and_its_error_comes_back(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_update(kv, put_and_refuse, NULL, 0, NULL, &fixture->err),
                     VCM_AMBIGUOUS);
    assert_string_equal(fixture->err.message, "not now");
    assert_value(kv, "alpha", "one");
    vcm_kv_handle_close(kv);
}

static void a_key_that_cannot_be_stored_is_an_invalid_argument(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    char longest[513];
    memset(longest, 'k', sizeof longest);
    longest[511] = '\0';
    assert_int_equal(store(kv, longest, "v", &fixture->err), VCM_OK);
    assert_int_equal(store(kv, "", "v", NULL), VCM_INVALID_ARGUMENT);
    longest[511] = 'k';
    longest[512] = '\0';
    assert_int_equal(store(kv, longest, "v", NULL), VCM_INVALID_ARGUMENT);
    vcm_kv_handle_close(kv);
}

static void the_map_grows_until_a_large_change_fits(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct vcm_kv *kv = open_store(fixture);
    struct bulk bulk = {.count = 2560, .bytes = 8168};
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, &fixture->err), VCM_OK);
    assert_true(bulk.runs > 1);
    assert_int_equal(count_bulk(kv, 0, 2560, 8168), 2560);
    struct vcm_kv_info info;
    assert_int_equal(vcm_kv_info(&info, kv, &fixture->err), VCM_OK);
    assert_true(info.map_bytes >= 20 * VCM_MIB);
    assert_true(info.used_bytes >= 20 * VCM_MIB && info.used_bytes <= info.file_bytes);
    assert_true(info.file_bytes <= info.map_bytes);
    vcm_kv_handle_close(kv);
}

static void the_map_grows_over_many_changes(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct vcm_kv *kv = open_store(fixture);
    for (unsigned i = 0; i < 20; i++) {
        struct bulk bulk = {.first = i * 128, .count = 128, .bytes = 8168};
        assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, &fixture->err), VCM_OK);
    }
    assert_int_equal(count_bulk(kv, 0, 2560, 8168), 2560);
    vcm_kv_handle_close(kv);
}

static void at_its_largest_size_the_store_is_full_and_as_it_was(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    fixture->options.map_bytes_max = 4 * VCM_MIB;
    struct vcm_kv *kv = open_store(fixture);
    struct bulk small = {.count = 10, .bytes = 8168};
    struct bulk large = {.first = 10, .count = 2560, .bytes = 8168};
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &small, 0, NULL, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &large, 0, NULL, &fixture->err),
                     VCM_STORE_FULL);
    assert_non_null(strstr(fixture->err.message, "4194304"));
    assert_int_equal(count_bulk(kv, 0, 100, 8168), 10);
    assert_int_equal(store(kv, "still", "works", NULL), VCM_OK);
    assert_value(kv, "still", "works");
    vcm_kv_handle_close(kv);
}

static void the_map_does_not_grow_under_an_open_read(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct vcm_kv *kv = open_store(fixture);
    struct bulk bulk = {.count = 512, .bytes = 8168};
    struct vcm_kv_txn *txn;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, &fixture->err),
                     VCM_STORE_BUSY);
    vcm_kv_handle_read_end(txn);
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, NULL), VCM_OK);
    assert_int_equal(count_bulk(kv, 0, 512, 8168), 512);
    vcm_kv_handle_close(kv);
}

static void a_flipped_byte_is_found_and_table_and_key_are_named(void **state)
{
    struct fixture *fixture = *state;
    static const char pattern[] = "a pattern that stands nowhere else";
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(store(kv, "the-key", pattern, &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);

    static char bytes[VCM_MIB];
    int fd = open(fixture->data, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    ssize_t size = read(fd, bytes, sizeof bytes);
    char *place = memmem(bytes, (size_t)size, pattern, sizeof pattern - 1);
    assert_non_null(place);
    assert_int_equal(pwrite(fd, "A", 1, place - bytes), 1);
    close(fd);

    kv = open_store(fixture);
    struct vcm_kv_txn *txn;
    struct vcm_kv_cursor *cursor;
    struct vcm_slice key, value;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, txn, PAGES, text("the-key"), &fixture->err),
                     VCM_STORE_CORRUPT);
    assert_non_null(strstr(fixture->err.message, "'pages'"));
    assert_non_null(strstr(fixture->err.message, "'the-key'"));
    assert_int_equal(vcm_kv_cursor_open(&cursor, txn, PAGES, NULL), VCM_OK);
    assert_int_equal(vcm_kv_cursor_next(&key, &value, cursor, NULL), VCM_STORE_CORRUPT);
    vcm_kv_cursor_close(cursor);
    vcm_kv_handle_read_end(txn);
    vcm_kv_handle_close(kv);
}

static void make_truncated(struct fixture *fixture)
{
    struct vcm_kv *kv = open_store(fixture);
    struct bulk bulk = {.count = 64, .bytes = 65000};
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
    assert_int_equal(truncate(fixture->data, 2 * (off_t)VCM_MIB), 0);
}

static void a_truncated_file_is_a_damaged_store(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv;
    make_truncated(fixture);
    assert_int_equal(vcm_kv_handle_open(&kv, &fixture->options, &fixture->err), VCM_STORE_CORRUPT);
    assert_null(kv);
    assert_non_null(strstr(fixture->err.message, fixture->directory));
    assert_int_equal(truncate(fixture->data, 5000), 0);
    assert_int_equal(vcm_kv_handle_open(&kv, &fixture->options, NULL), VCM_STORE_CORRUPT);
}

static int put_and_take_back(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    struct bulk bulk = {.first = 5, .count = 1, .bytes = 4 * VCM_MIB};
    for (unsigned i = 0; i < 8; i++) {
        char key[16];
        bulk.first = i;
        assert_int_equal(put_bulk(&bulk, txn, err), VCM_OK);
        snprintf(key, sizeof key, "%08u", i);
        if (i >= 4)
            assert_int_equal(vcm_kv_delete(txn, PAGES, text(key), err), VCM_OK);
    }
    return VCM_OK;
}

/* Cuts off what was never written at the end of the data file. */
static off_t cut_hole(struct fixture *fixture)
{
    int fd = open(fixture->data, O_RDWR | O_CLOEXEC);
    off_t size = lseek(fd, 0, SEEK_END);
    off_t end = 0;
    for (off_t data = 0; data >= 0; data = lseek(fd, end, SEEK_DATA))
        end = lseek(fd, data, SEEK_HOLE);
    assert_int_equal(ftruncate(fd, end), 0);
    close(fd);
    return size - end;
}

static void give_pages_back(struct fixture *fixture, unsigned round)
{
    struct vcm_kv *kv = open_store(fixture);
    struct bulk bulk = {.first = 100 + round * 100, .count = 100, .bytes = 3000 * round + 100};
    assert_int_equal(vcm_kv_handle_update(kv, put_and_take_back, NULL, 0, NULL, &fixture->err),
                     VCM_OK);
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
}

static void pages_that_were_never_written_do_not_look_like_truncation(void **state)
{
    for (unsigned round = 0; round < 4; round++)
        give_pages_back(*state, round);
}

static void a_file_that_a_dead_writer_left_short_is_completed(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv;
    off_t cut = 0;
    for (unsigned round = 0; round < 4 && cut == 0; round++) {
        give_pages_back(fixture, round);
        cut = cut_hole(fixture);
    }
    if (cut == 0)
        skip(); /* a file system without holes */
    assert_int_equal(vcm_kv_handle_open(&kv, &fixture->options, NULL), VCM_STORE_CORRUPT);
    int fd = open(fixture->lock, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, "1\n", 2), 2);
    close(fd);
    kv = open_store(fixture);
    assert_int_equal(count_bulk(kv, 0, 8, 4 * VCM_MIB), 4);
    vcm_kv_handle_close(kv);
}

static void another_file_in_place_of_the_data_is_a_damaged_store(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv;
    int fd = open(fixture->data, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(write(fd, "this is a text file\n", 20), 20);
    close(fd);
    assert_int_equal(vcm_kv_handle_open(&kv, &fixture->options, &fixture->err), VCM_STORE_CORRUPT);
    unlink(fixture->data);
    assert_int_equal(mkfifo(fixture->data, 0600), 0);
    assert_int_equal(vcm_kv_handle_open(&kv, &fixture->options, NULL), VCM_STORE_CORRUPT);
}

static void reading_where_there_is_no_store_is_not_found(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv;
    fixture->options.read_only = true;
    assert_int_equal(vcm_kv_handle_open(&kv, &fixture->options, &fixture->err), VCM_NOT_FOUND);
    assert_null(kv);
    assert_non_null(strstr(fixture->err.message, fixture->directory));
    assert_int_equal(access(fixture->data, F_OK), -1);
}

static void a_handle_for_reading_reads_and_refuses_changes(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
    fixture->options.read_only = true;
    kv = open_store(fixture);
    assert_value(kv, "alpha", "one");
    assert_int_equal(store(kv, "alpha", "two", &fixture->err), VCM_INVALID_ARGUMENT);
    assert_value(kv, "alpha", "one");
    vcm_kv_handle_close(kv);
}

static void a_table_that_is_not_there_yet_reads_as_empty_until_it_is(void **state)
{
    struct fixture *fixture = *state;
    static const char *const later[] = {"pages", "later", NULL};
    struct vcm_kv *writer = open_store(fixture);
    fixture->options.read_only = true;
    fixture->options.tables = later;
    struct vcm_kv *reader = open_store(fixture);
    struct vcm_kv_txn *txn;
    struct vcm_kv_cursor *cursor;
    struct vcm_slice key, value;
    uint64_t count;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, reader, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, txn, 1, text("k"), &fixture->err), VCM_NOT_FOUND);
    assert_int_equal(vcm_kv_count(&count, txn, 1, &fixture->err), VCM_OK);
    assert_int_equal(count, 0);
    assert_int_equal(vcm_kv_cursor_open(&cursor, txn, 1, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_cursor_next(&key, &value, cursor, &fixture->err), VCM_NOT_FOUND);
    vcm_kv_cursor_close(cursor);
    vcm_kv_handle_read_end(txn);

    fixture->options.read_only = false;
    struct vcm_kv *second = open_store(fixture);
    struct pair pair = {1, text("k"), text("v")};
    assert_int_equal(vcm_kv_handle_update(second, put_pair, &pair, 0, NULL, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_read_begin(&txn, reader, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, txn, 1, text("k"), &fixture->err), VCM_OK);
    vcm_kv_handle_read_end(txn);
    vcm_kv_handle_close(second);
    vcm_kv_handle_close(reader);
    vcm_kv_handle_close(writer);
}

static void two_handles_of_one_process_share_the_store(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *first = open_store(fixture);
    struct vcm_kv *second = open_store(fixture);
    assert_int_equal(store(first, "alpha", "one", &fixture->err), VCM_OK);
    assert_value(second, "alpha", "one");
    vcm_kv_handle_close(first);
    assert_int_equal(store(second, "alpha", "two", &fixture->err), VCM_OK);
    first = open_store(fixture);
    assert_value(first, "alpha", "two");
    vcm_kv_handle_close(second);
    assert_value(first, "alpha", "two");
    vcm_kv_handle_close(first);
}

static void a_read_sees_one_moment_whatever_is_written(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_txn *txn;
    struct vcm_slice value;
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(store(kv, "alpha", "two", &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, txn, PAGES, text("alpha"), &fixture->err), VCM_OK);
    assert_true(vcm_slice_equal(value, text("one")));
    vcm_kv_handle_read_end(txn);
    assert_value(kv, "alpha", "two");
    vcm_kv_handle_close(kv);
}

static void no_more_reads_than_slots(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.readers_max = 2;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_txn *first, *second, *third;
    struct vcm_kv_info info;
    assert_int_equal(vcm_kv_handle_read_begin(&first, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_info(&info, kv, &fixture->err), VCM_OK);
    assert_int_equal(info.readers_used, 1);
    assert_int_equal(info.readers_max, 2);
    assert_int_equal(vcm_kv_handle_read_begin(&second, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_read_begin(&third, kv, &fixture->err), VCM_STORE_BUSY);
    assert_null(third);
    vcm_kv_handle_read_end(first);
    assert_int_equal(vcm_kv_handle_read_begin(&third, kv, NULL), VCM_OK);
    vcm_kv_handle_read_end(second);
    vcm_kv_handle_read_end(third);
    vcm_kv_handle_close(kv);
}

struct crew {
    struct vcm_kv *kv;
    atomic_bool done;
    atomic_uint torn;
    atomic_uint reads;
};

static int put_twins(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const char *value = context;
    int rc = vcm_kv_put(txn, PAGES, text("left"), text(value), err);
    return rc == VCM_OK ? vcm_kv_put(txn, SCOPES, text("right"), text(value), err) : rc;
}

static void *read_twins(void *argument)
{
    struct crew *crew = argument;
    while (!atomic_load(&crew->done)) {
        struct vcm_kv_txn *txn;
        struct vcm_slice left, right;
        if (vcm_kv_handle_read_begin(&txn, crew->kv, NULL) != VCM_OK) {
            atomic_fetch_add(&crew->torn, 1);
            continue;
        }
        int rc = vcm_kv_get(&left, txn, PAGES, text("left"), NULL);
        if (rc == VCM_OK)
            rc = vcm_kv_get(&right, txn, SCOPES, text("right"), NULL);
        if (rc != VCM_OK || !vcm_slice_equal(left, right))
            atomic_fetch_add(&crew->torn, 1);
        atomic_fetch_add(&crew->reads, 1);
        vcm_kv_handle_read_end(txn);
    }
    return NULL;
}

static void threads_read_whole_changes_while_one_writes_and_grows(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct crew crew = {.kv = open_store(fixture)};
    pthread_t readers[4];
    char value[16] = "start";
    assert_int_equal(vcm_kv_handle_update(crew.kv, put_twins, value, 0, NULL, &fixture->err),
                     VCM_OK);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_twins, &crew), 0);
    for (unsigned i = 0; i < 100 || atomic_load(&crew.reads) < 100; i++) {
        struct bulk bulk = {.first = i, .count = 4, .bytes = 8168};
        snprintf(value, sizeof value, "%u", i);
        assert_int_equal(
            vcm_kv_handle_update(crew.kv, put_twins, value, LATER_MS, NULL, &fixture->err), VCM_OK);
        if (i < 400)
            assert_int_equal(
                vcm_kv_handle_update(crew.kv, put_bulk, &bulk, LATER_MS, NULL, &fixture->err),
                VCM_OK);
    }
    atomic_store(&crew.done, true);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&crew.torn), 0);
    vcm_kv_handle_close(crew.kv);
}

static int add_one(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    struct vcm_slice value;
    unsigned char count = 0;
    if (vcm_kv_get(&value, txn, PAGES, text("count"), err) == VCM_OK)
        count = (unsigned char)value.data[0];
    count++;
    return vcm_kv_put(txn, PAGES, text("count"), vcm_slice_of(&count, 1), err);
}

static void *add_many(void *argument)
{
    for (unsigned i = 0; i < 25; i++)
        if (vcm_kv_handle_update(argument, add_one, NULL, LATER_MS, NULL, NULL) != VCM_OK)
            return argument;
    return NULL;
}

static void writers_of_one_process_take_turns(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    pthread_t writers[4];
    void *failed;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, add_many, kv), 0);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(writers[i], &failed);
        assert_null(failed);
    }
    assert_value(kv, "count", "d"); /* 100 */
    vcm_kv_handle_close(kv);
}

static void the_library_tells_its_version(void **state)
{
    (void)state;
    assert_non_null(strstr(vcm_kv_library_version(), "LMDB 0."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(what_was_put_is_found_after_reopening),
        STORE_TEST(a_missing_key_is_not_found_and_leaves_the_error_untouched),
        STORE_TEST(a_cursor_goes_through_the_keys_in_order_from_where_it_was_put),
        STORE_TEST(a_cursor_that_deletes_skips_nothing),
        STORE_TEST(a_change_that_fails_changes_nothing_and_its_error_comes_back),
        STORE_TEST(a_key_that_cannot_be_stored_is_an_invalid_argument),
        STORE_TEST(the_map_grows_until_a_large_change_fits),
        STORE_TEST(the_map_grows_over_many_changes),
        STORE_TEST(at_its_largest_size_the_store_is_full_and_as_it_was),
        STORE_TEST(the_map_does_not_grow_under_an_open_read),
        STORE_TEST(a_flipped_byte_is_found_and_table_and_key_are_named),
        STORE_TEST(a_truncated_file_is_a_damaged_store),
        STORE_TEST(a_file_that_a_dead_writer_left_short_is_completed),
        STORE_TEST(pages_that_were_never_written_do_not_look_like_truncation),
        STORE_TEST(another_file_in_place_of_the_data_is_a_damaged_store),
        STORE_TEST(reading_where_there_is_no_store_is_not_found),
        STORE_TEST(a_handle_for_reading_reads_and_refuses_changes),
        STORE_TEST(a_table_that_is_not_there_yet_reads_as_empty_until_it_is),
        STORE_TEST(two_handles_of_one_process_share_the_store),
        STORE_TEST(a_read_sees_one_moment_whatever_is_written),
        STORE_TEST(no_more_reads_than_slots),
        STORE_TEST(threads_read_whole_changes_while_one_writes_and_grows),
        STORE_TEST(writers_of_one_process_take_turns),
        cmocka_unit_test(the_library_tells_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
