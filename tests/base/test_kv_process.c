/* Several processes on one store. The others are this program again, started with a role. */
#include <sys/resource.h>

#include "kv_process.h"
#include "tests/support/disk.h"

#include "base/banned.h"

#define PATIENCE 300u /* tenths of a second */

/* Roles, which report by their exit status: 0 is well. */

static int role_grow(struct fixture *fixture)
{
    struct vcm_kv *kv;
    struct bulk bulk = {.first = 100, .count = 1000, .bytes = 8168};
    fixture->options.map_bytes = VCM_MIB;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    int rc = vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, NULL);
    vcm_kv_handle_close(kv);
    return rc == VCM_OK ? 0 : 2;
}

static int put_and_hold(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    int rc = put_pair(context, txn, err);
    say_ready();
    wait_for_end_of_input();
    return rc;
}

static int role_hold(struct fixture *fixture)
{
    struct vcm_kv *kv;
    struct pair pair = {PAGES, text("held"), text("yes")};
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    int rc = vcm_kv_handle_update(kv, put_and_hold, &pair, 0, NULL, NULL);
    vcm_kv_handle_close(kv);
    return rc == VCM_OK ? 0 : 2;
}

/* What "alpha" is to one transaction does not change. */
static int role_read(struct fixture *fixture)
{
    struct vcm_kv *kv;
    struct vcm_kv_txn *txn;
    struct vcm_slice value;
    char before[16] = "";

    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    if (vcm_kv_handle_read_begin(&txn, kv, NULL) != VCM_OK)
        return 2;
    if (vcm_kv_get(&value, txn, PAGES, text("alpha"), NULL) == VCM_OK)
        snprintf(before, sizeof before, "%.*s", (int)value.len, value.data);
    say_ready();
    wait_for_end_of_input();
    int rc = vcm_kv_get(&value, txn, PAGES, text("alpha"), NULL);
    if (rc == VCM_OK ? !vcm_slice_equal(value, text(before)) : rc != VCM_NOT_FOUND)
        return 3;
    vcm_kv_handle_read_end(txn);
    vcm_kv_handle_close(kv);
    return 0;
}

/* Reads often enough that transactions are kept for the next reads, two at a time. */
static bool read_much(struct vcm_kv *kv)
{
    struct vcm_kv_txn *first, *second;

    for (unsigned i = 0; i < 100; i++) {
        if (vcm_kv_handle_read_begin(&first, kv, NULL) != VCM_OK ||
            vcm_kv_handle_read_begin(&second, kv, NULL) != VCM_OK)
            return false;
        vcm_kv_handle_read_end(first);
        vcm_kv_handle_read_end(second);
    }
    return true;
}

static int role_idle(struct fixture *fixture)
{
    struct vcm_kv *kv;
    struct vcm_kv_txn *first;

    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    if (!read_much(kv))
        return 2;
    say_ready();
    wait_for_end_of_input();
    if (vcm_kv_handle_read_begin(&first, kv, NULL) != VCM_OK)
        return 3;
    vcm_kv_handle_read_end(first);
    vcm_kv_handle_close(kv);
    return 0;
}

static int put_and_give_back(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct pair *pair = context;
    struct bulk bulk = {.count = 20, .bytes = 30000};
    int rc = put_bulk(&bulk, txn, err);
    for (unsigned i = 10; i < 20 && rc == VCM_OK; i++) {
        char key[16];
        snprintf(key, sizeof key, "%08u", i);
        rc = vcm_kv_delete(txn, PAGES, text(key), err);
    }
    if (rc == VCM_OK)
        rc = vcm_kv_put(txn, PAGES, text("left"), pair->value, err);
    return rc == VCM_OK ? vcm_kv_put(txn, SCOPES, text("right"), pair->value, err) : rc;
}

/* Writes until it is killed. */
static int role_write(struct fixture *fixture)
{
    struct vcm_kv *kv;
    fixture->options.map_bytes = VCM_MIB;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    say_ready();
    for (unsigned i = 0;; i++) {
        char number[16];
        struct pair pair = {.value = {number, 8}};
        snprintf(number, sizeof number, "%08u", i);
        if (vcm_kv_handle_update(kv, put_and_give_back, &pair, 0, NULL, NULL) != VCM_OK)
            return 2;
    }
}

/* Reads "alpha" without the permission to write, and is told so when it wants to. */
static int read_without_permission(struct fixture *fixture)
{
    struct vcm_kv *kv;
    struct vcm_kv_txn *txn;
    struct vcm_slice value;

    if (vcm_kv_handle_open(&kv, &fixture->options, &fixture->err) != VCM_IO_ERROR)
        return 2;
    if (!strstr(fixture->err.message, fixture->directory) ||
        !strstr(fixture->err.message, "write permission"))
        return 3;
    fixture->options.read_only = true;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 4;
    if (vcm_kv_handle_read_begin(&txn, kv, NULL) != VCM_OK)
        return 5;
    if (vcm_kv_get(&value, txn, PAGES, text("alpha"), NULL) != VCM_OK ||
        !vcm_slice_equal(value, text("one")))
        return 6;
    vcm_kv_handle_read_end(txn);
    struct vcm_kv *second;
    fixture->options.read_only = false;
    if (vcm_kv_handle_open(&second, &fixture->options, NULL) != VCM_IO_ERROR || second)
        return 7;
    vcm_kv_handle_close(kv);
    return 0;
}

static int role_nobody(struct fixture *fixture)
{
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return 1;
    return read_without_permission(fixture);
}

static int role_read_only_disk(struct fixture *fixture)
{
    struct vcm_kv *kv;
    if (!test_disk_mount(fixture->directory, "2m"))
        return SKIPPED;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK ||
        store(kv, "alpha", "one", NULL) != VCM_OK)
        return 1;
    vcm_kv_handle_close(kv);
    if (!test_disk_make_read_only(fixture->directory))
        return SKIPPED;
    return read_without_permission(fixture);
}

static int role_full_disk(struct fixture *fixture)
{
    struct vcm_kv *kv;
    struct bulk large = {.count = 1000, .bytes = 8168};
    if (!test_disk_mount(fixture->directory, "2m"))
        return SKIPPED;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK ||
        store(kv, "alpha", "one", NULL) != VCM_OK)
        return 1;
    if (vcm_kv_handle_update(kv, put_bulk, &large, 0, NULL, &fixture->err) != VCM_STORE_FULL)
        return 2;
    if (!strstr(fixture->err.message, fixture->directory))
        return 3;
    if (count_bulk(kv, 0, 1000, 8168) != 0)
        return 4;
    vcm_kv_handle_close(kv);
    vcm_error_reset(&fixture->err);
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 5;
    assert_value(kv, "alpha", "one");
    vcm_kv_handle_close(kv);
    return 0;
}

static int role_little_space(struct fixture *fixture)
{
    struct rlimit limit = {VCM_GIB, VCM_GIB};
    struct vcm_kv *kv;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return SKIPPED;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    int rc = store(kv, "alpha", "one", NULL);
    vcm_kv_handle_close(kv);
    return rc == VCM_OK ? 0 : 2;
}

static void make_store(struct fixture *fixture)
{
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
}

static void what_another_process_added_beyond_our_map_is_read(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct vcm_kv *kv = open_store(fixture);
    struct bulk bulk = {.count = 10, .bytes = 8168};
    assert_int_equal(vcm_kv_handle_update(kv, put_bulk, &bulk, 0, NULL, &fixture->err), VCM_OK);
    struct process other = start("grow", fixture);
    assert_int_equal(finish(&other), 0);
    assert_int_equal(count_bulk(kv, 100, 1000, 8168), 1000);
    assert_int_equal(count_bulk(kv, 0, 10, 8168), 10);
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
}

static void a_change_goes_on_after_another_process_grew_the_store(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct vcm_kv *kv = open_store(fixture);
    struct process other = start("grow", fixture);
    assert_int_equal(finish(&other), 0);
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    assert_value(kv, "alpha", "one");
    vcm_kv_handle_close(kv);
}

static void keep_line(void *context, enum vcm_log_level level, const char *line)
{
    assert_int_equal(level, VCM_LOG_INFO);
    vcm_buf_append_string(context, line);
    vcm_buf_append_byte(context, '\n');
}

static void a_second_writer_is_told_who_holds_the_lock(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_buf lines = VCM_BUF_INIT(4096);
    struct vcm_log log = {keep_line, &lines, VCM_LOG_INFO};
    char expected[128];
    make_store(fixture);
    fixture->options.log = &log;
    struct vcm_kv *kv = open_store(fixture);
    struct process other = start("hold", fixture);
    wait_ready(&other);

    struct pair pair = {PAGES, text("alpha"), text("two")};
    assert_int_equal(vcm_kv_handle_update(kv, put_pair, &pair, SOON_MS, NULL, &fixture->err),
                     VCM_STORE_BUSY);
    snprintf(expected, sizeof expected, "held by process %ld;", (long)other.pid);
    assert_non_null(strstr(fixture->err.message, expected));
    snprintf(expected, sizeof expected, "waiting for process %ld, which is writing to the store\n",
             (long)other.pid);
    assert_string_equal(vcm_buf_text(&lines), expected);

    struct vcm_cancel cancel = {true};
    assert_int_equal(vcm_kv_handle_update(kv, put_pair, &pair, LATER_MS, &cancel, NULL),
                     VCM_INTERRUPTED);
    assert_value(kv, "alpha", "one");
    close(other.to);
    other.to = -1;
    assert_int_equal(vcm_kv_handle_update(kv, put_pair, &pair, LATER_MS, NULL, NULL), VCM_OK);
    assert_int_equal(finish(&other), 0);
    assert_value(kv, "alpha", "two");
    assert_value(kv, "held", "yes");
    vcm_kv_handle_close(kv);
    vcm_buf_release(&lines);
}

static void a_writer_that_is_killed_leaves_no_trace_and_no_lock(void **state)
{
    struct fixture *fixture = *state;
    make_store(fixture);
    struct vcm_kv *kv = open_store(fixture);
    struct process other = start("hold", fixture);
    wait_ready(&other);
    kill(other.pid, SIGKILL);
    assert_int_equal(finish(&other), -SIGKILL);
    assert_value(kv, "held", NULL);
    assert_int_equal(store(kv, "alpha", "two", &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
    kv = open_store(fixture);
    assert_value(kv, "alpha", "two");
    assert_value(kv, "held", NULL);
    vcm_kv_handle_close(kv);
}

static void a_writer_may_be_killed_at_any_moment(void **state)
{
    struct fixture *fixture = *state;
    unsigned seed = 20240229;
    print_message("seed %u\n", seed);
    for (unsigned round = 0; round < 30; round++) {
        struct process other = start("write", fixture);
        wait_ready(&other);
        seed = seed * 1103515245u + 12345u;
        usleep(seed / 65536 % 12000);
        kill(other.pid, SIGKILL);
        assert_int_equal(finish(&other), -SIGKILL);

        struct vcm_kv *kv = open_store(fixture);
        struct vcm_kv_txn *txn;
        struct vcm_slice left, right;
        assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
        int rc = vcm_kv_get(&left, txn, PAGES, text("left"), &fixture->err);
        assert_int_equal(vcm_kv_get(&right, txn, SCOPES, text("right"), &fixture->err), rc);
        assert_true(vcm_slice_equal(left, right));
        vcm_kv_handle_read_end(txn);
        assert_int_equal(count_bulk(kv, 0, 20, 30000), rc == VCM_OK ? 10 : 0);
        vcm_kv_handle_close(kv);
    }
}

static void slots_of_killed_readers_are_reclaimed(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.readers_max = 2;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_txn *txn;
    struct process others[2];
    for (unsigned i = 0; i < 2; i++) {
        others[i] = start("read", fixture);
        wait_ready(&others[i]);
    }
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_STORE_BUSY);
    for (unsigned i = 0; i < 2; i++) {
        kill(others[i].pid, SIGKILL);
        assert_int_equal(finish(&others[i]), -SIGKILL);
    }
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, NULL), VCM_OK);
    vcm_kv_handle_read_end(txn);
    vcm_kv_handle_close(kv);
}

/* Each has the process id 1. What the first is reading stays as it was, whatever the second writes;
 * when it was killed, the next writer can tell that from the second, which lives. */
static void readers_of_two_containers_are_told_apart(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv_info info;

    make_store(fixture);
    struct process first = start_as("read", fixture, true);
    wait_ready(&first);
    struct process second = start_as("read", fixture, true);
    wait_ready(&second);
    for (unsigned i = 0; i < 4; i++) { /* what it replaces, the next one would overwrite */
        struct process writer = start_as("grow", fixture, true);
        assert_int_equal(finish(&writer), 0);
    }
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(vcm_kv_info(&info, kv, &fixture->err), VCM_OK);
    assert_int_equal(info.readers_used, 2);
    kill(first.pid, SIGKILL);
    assert_int_equal(finish(&first), -SIGKILL);
    for (unsigned i = 0; i < PATIENCE && info.readers_used == 2; i++) { /* it dies a moment later */
        vcm_kv_handle_close(kv);
        kv = open_store(fixture);
        assert_int_equal(store(kv, "alpha", "two", &fixture->err), VCM_OK);
        assert_int_equal(vcm_kv_info(&info, kv, &fixture->err), VCM_OK);
        usleep(100000);
    }
    assert_int_equal(info.readers_used, 1);
    assert_int_equal(finish(&second), 0);
    vcm_kv_handle_close(kv);
}

/* A process that has read and now waits has no slot; until it has given them back, a reader waits.
 */
static void processes_that_are_idle_take_no_slots(void **state)
{
    struct fixture *fixture = *state;
    const unsigned count = getenv("VCM_TEST_LONG") ? 512 : 8;
    struct process *others = calloc(count, sizeof *others);
    struct vcm_kv_info info = {.readers_used = 1};
    struct vcm_kv_txn *txn;

    assert_non_null(others);
    fixture->options.readers_max = 2 * count;
    struct vcm_kv *kv = open_store(fixture);
    for (unsigned i = 0; i < count; i++) {
        others[i] = start("idle", fixture);
        wait_ready(&others[i]);
    }
    for (unsigned i = 0; i < PATIENCE && info.readers_used > 0; i++) {
        int rc = vcm_kv_info(&info, kv, NULL);
        assert_true(rc == VCM_OK || rc == VCM_STORE_BUSY);
        usleep(100000);
    }
    assert_int_equal(info.readers_used, 0);
    assert_int_equal(info.readers_max, 2 * count);
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    vcm_kv_handle_read_end(txn);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(finish(&others[i]), 0);
    vcm_kv_handle_close(kv);
    free(others);
}

/* The thread that gives slots back does not exist in the child, which gets one of its own. */
static void a_forked_child_gives_its_slots_back_too(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture), *childs;
    struct vcm_kv_info info = {.readers_used = 1};
    int ready[2], status;
    char byte;

    assert_true(read_much(kv));
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (vcm_kv_handle_open(&childs, &fixture->options, NULL) != VCM_OK || !read_much(childs))
            _exit(1);
        close(ready[0]);
        close(ready[1]);
        pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 0);
    for (unsigned i = 0; i < PATIENCE && info.readers_used > 0; i++) {
        vcm_kv_info(&info, kv, NULL);
        usleep(100000);
    }
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(info.readers_used, 0);
    close(ready[0]);
    vcm_kv_handle_close(kv);
}

static void a_forked_child_may_not_use_the_store_but_open_it_and_does_no_harm(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_txn *txn, *other;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    pid_t pid = fork();
    if (pid == 0) {
        struct vcm_kv *second = NULL;
        bool refused = vcm_kv_handle_read_begin(&other, kv, NULL) == VCM_INVALID_ARGUMENT &&
                       store(kv, "alpha", "child", NULL) == VCM_INVALID_ARGUMENT;
        vcm_kv_handle_close(kv);
        bool opened = vcm_kv_handle_open(&second, &fixture->options, NULL) == VCM_OK &&
                      vcm_kv_handle_read_begin(&other, second, NULL) == VCM_OK;
        vcm_kv_handle_read_end(opened ? other : NULL);
        bool stored = opened && store(second, "beta", "child", NULL) == VCM_OK;
        vcm_kv_handle_close(second);
        _exit(refused && opened && stored ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    struct vcm_kv_info info;
    assert_int_equal(vcm_kv_info(&info, kv, &fixture->err), VCM_OK);
    assert_int_equal(info.readers_used, 1);
    vcm_kv_handle_read_end(txn);
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
}

static void a_store_without_write_permission_is_read(void **state)
{
    struct fixture *fixture = *state;
    char path[96];
    make_store(fixture);
    snprintf(path, sizeof path, "%s/lock.mdb", fixture->directory);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(fixture->data, 0444), 0);
    assert_int_equal(chmod(fixture->directory, 0555), 0);
    run_role(fixture, "nobody");
    chmod(fixture->directory, 0755);
    unlink(path);
    chmod(fixture->directory, 0555);
    run_role(fixture, "nobody");
}

static void a_store_on_a_read_only_disk_is_read(void **state)
{
    run_role(*state, "read_only_disk");
}

static void a_full_disk_is_a_full_store_which_stays_as_it_was(void **state)
{
    run_role(*state, "full_disk");
}

static void little_address_space_is_enough(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)state;
    skip(); /* sanitizers need more address space than the limit leaves */
#else
    run_role(*state, "little_space");
#endif
}

static int run_as(const char *role, const char *directory)
{
    static const struct {
        const char *name;
        int (*run)(struct fixture *fixture);
    } roles[] = {
        {"grow", role_grow},
        {"hold", role_hold},
        {"read", role_read},
        {"idle", role_idle},
        {"write", role_write},
        {"nobody", role_nobody},
        {"read_only_disk", role_read_only_disk},
        {"full_disk", role_full_disk},
        {"little_space", role_little_space},
    };
    struct fixture fixture;

    fixture_name(&fixture, directory);
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strcmp(role, roles[i].name) == 0)
            return roles[i].run(&fixture);
    return 125;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        _exit(run_as(argv[1], argv[2]));
    program = argv[0];
    const struct CMUnitTest tests[] = {
        STORE_TEST(what_another_process_added_beyond_our_map_is_read),
        STORE_TEST(a_change_goes_on_after_another_process_grew_the_store),
        STORE_TEST(a_second_writer_is_told_who_holds_the_lock),
        STORE_TEST(a_writer_that_is_killed_leaves_no_trace_and_no_lock),
        STORE_TEST(a_writer_may_be_killed_at_any_moment),
        STORE_TEST(slots_of_killed_readers_are_reclaimed),
        STORE_TEST(readers_of_two_containers_are_told_apart),
        STORE_TEST(processes_that_are_idle_take_no_slots),
        STORE_TEST(a_forked_child_gives_its_slots_back_too),
        STORE_TEST(a_forked_child_may_not_use_the_store_but_open_it_and_does_no_harm),
        STORE_TEST(a_store_without_write_permission_is_read),
        STORE_TEST(a_store_on_a_read_only_disk_is_read),
        STORE_TEST(a_full_disk_is_a_full_store_which_stays_as_it_was),
        STORE_TEST(little_address_space_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
