/* Compaction, and what stays valid across it. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "kv_process.h"
#include "tests/support/disk.h"
#include "tests/support/random.h"

#include "base/banned.h"

#define VALUES      200u
#define VALUE_BYTES 30000u

static int delete_bulk(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    const struct bulk *bulk = context;
    int rc = VCM_OK;
    for (unsigned i = bulk->first; i < bulk->first + bulk->count && rc == VCM_OK; i++) {
        char key[16];
        snprintf(key, sizeof key, "%08u", i);
        rc = vcm_kv_delete(txn, PAGES, text(key), err);
    }
    return rc;
}

static int change_bulk(struct vcm_kv *kv, vcm_kv_change_fn change, unsigned first, unsigned count)
{
    struct bulk bulk = {.first = first, .count = count, .bytes = VALUE_BYTES};
    return vcm_kv_handle_update(kv, change, &bulk, LATER_MS, NULL, NULL);
}

/* A store whose file is mostly free: the last quarter of the values is left. */
static struct vcm_kv *open_sparse(struct fixture *fixture)
{
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(change_bulk(kv, put_bulk, 0, VALUES), VCM_OK);
    assert_int_equal(change_bulk(kv, delete_bulk, 0, VALUES * 3 / 4), VCM_OK);
    return kv;
}

static unsigned count_left(struct vcm_kv *kv)
{
    assert_int_equal(count_bulk(kv, 0, VALUES * 3 / 4, VALUE_BYTES), 0);
    return count_bulk(kv, VALUES * 3 / 4, VALUES / 4, VALUE_BYTES);
}

static int compact(struct vcm_kv *kv, struct vcm_error *err)
{
    struct vcm_kv_compacted compacted;
    return vcm_kv_compact(&compacted, kv, LATER_MS, NULL, err);
}

static uint64_t generation(struct vcm_kv *kv)
{
    struct vcm_kv_info info;
    assert_int_equal(vcm_kv_info(&info, kv, NULL), VCM_OK);
    return info.generation;
}

/* How many maps of deleted data files this process has. */
static unsigned count_deleted_maps(const struct fixture *fixture)
{
    char line[1024];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        count += strstr(line, fixture->directory) && strstr(line, "data.mdb (deleted)");
    fclose(maps);
    return count;
}

static bool exists(const struct fixture *fixture, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", fixture->directory, name);
    return access(path, F_OK) == 0;
}

/* That there are the files of this generation and no others. */
static void assert_files_of(const struct fixture *fixture, uint64_t number)
{
    char expected[32];
    DIR *stream = opendir(fixture->directory);
    const struct dirent *entry;

    snprintf(expected, sizeof expected, "%llu", (unsigned long long)number);
    while ((entry = readdir(stream))) {
        const char *name = entry->d_name;
        bool plain = strcmp(name, "generation") == 0 || strcmp(name, "writer.lock") == 0 ||
                     strcmp(name, "users") == 0 || name[0] == '.';
        bool store = number == 0 ? strcmp(name, "data.mdb") == 0 || strcmp(name, "lock.mdb") == 0
                                 : strcmp(name, expected) == 0;
        if (!plain && !store)
            fail_msg("'%s' is left over beside generation %s", name, expected);
    }
    closedir(stream);
}

/* Roles, which report by their exit status: 0 is well. */

/* Holds a value of generation 0 while another process compacts, and then goes on. */
static int role_view(struct fixture *fixture)
{
    struct vcm_kv *kv;
    struct vcm_kv_txn *txn;
    struct vcm_kv_handle_hold *hold;
    struct vcm_slice value;
    char copy[VALUE_BYTES];

    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK ||
        vcm_kv_handle_read_begin(&txn, kv, NULL) != VCM_OK ||
        vcm_kv_get(&value, txn, PAGES, text("00000150"), NULL) != VCM_OK ||
        vcm_kv_handle_hold(&hold, txn, NULL) != VCM_OK)
        return 1;
    vcm_kv_handle_read_end(txn);
    memcpy(copy, value.data, VALUE_BYTES);
    say_ready();
    wait_for_end_of_input();
    if (memcmp(copy, value.data, VALUE_BYTES) != 0)
        return 2;
    if (count_deleted_maps(fixture) == 0)
        return 3;
    if (generation(kv) != 1)
        return 4;
    assert_value(kv, "later", "yes");
    if (memcmp(copy, value.data, VALUE_BYTES) != 0)
        return 5;
    vcm_kv_handle_hold_release(hold);
    if (count_deleted_maps(fixture) != 0)
        return 6;
    vcm_kv_handle_close(kv);
    return 0;
}

/* Compacts, and writes a little in between, until it is killed. */
static int role_compact(struct fixture *fixture)
{
    struct vcm_kv *kv;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    say_ready();
    for (unsigned i = 0;; i++)
        if (compact(kv, NULL) != VCM_OK || store(kv, "again", i % 2 ? "a" : "b", NULL) != VCM_OK)
            return 2;
}

static int role_full_disk(struct fixture *fixture)
{
    struct vcm_kv *kv;
    struct vcm_kv_compacted compacted;
    if (!test_disk_mount(fixture->directory, "9m"))
        return SKIPPED;
    kv = open_sparse(fixture);
    if (store(kv, "alpha", "one", NULL) != VCM_OK || change_bulk(kv, put_bulk, 1000, 60) != VCM_OK)
        return 10;
    char path[160], block[4096] = {0};
    snprintf(path, sizeof path, "%s/filler", fixture->directory);
    FILE *filler = fopen(path, "wb");
    setvbuf(filler, NULL, _IONBF, 0);
    while (fwrite(block, sizeof block, 1, filler) == 1)
        continue;
    fclose(filler);
    if (vcm_kv_compact(&compacted, kv, LATER_MS, NULL, &fixture->err) != VCM_STORE_FULL)
        return 1;
    if (!strstr(fixture->err.message, fixture->directory))
        return 2;
    if (count_left(kv) != VALUES / 4 || count_bulk(kv, 1000, 60, VALUE_BYTES) != 60)
        return 3;
    if (unlink(path) != 0 || generation(kv) != 0)
        return 4;
    assert_files_of(fixture, 0);
    if (compact(kv, NULL) != VCM_STORE_FULL || count_left(kv) != VALUES / 4)
        return 5; /* the copy has no room beside the old file */
    assert_files_of(fixture, 0);
    if (change_bulk(kv, delete_bulk, 1000, 60) != VCM_OK || compact(kv, NULL) != VCM_OK)
        return 6;
    assert_files_of(fixture, 1);
    if (count_left(kv) != VALUES / 4)
        return 7;
    vcm_kv_handle_close(kv);
    return 0;
}

static int role_nobody(struct fixture *fixture)
{
    struct vcm_kv *kv;
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
        return SKIPPED;
    fixture->options.read_only = true;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    if (generation(kv) != 1 || count_left(kv) != VALUES / 4)
        return 2;
    say_ready();
    wait_for_end_of_input();
    if (generation(kv) != 2 || count_left(kv) != VALUES / 4)
        return 3;
    vcm_kv_handle_close(kv);
    return 0;
}

static void compacting_gives_space_back_and_keeps_every_value(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_sparse(fixture);
    struct vcm_kv_compacted compacted;
    struct vcm_kv_info info;
    assert_int_equal(vcm_kv_compact(&compacted, kv, 0, NULL, &fixture->err), VCM_OK);
    assert_true(compacted.bytes_before > VALUES * VALUE_BYTES);
    assert_true(compacted.bytes_after < VALUES * VALUE_BYTES / 3);
    assert_int_equal(vcm_kv_info(&info, kv, &fixture->err), VCM_OK);
    assert_int_equal(info.file_bytes, compacted.bytes_after);
    assert_int_equal(info.generation, 1);
    assert_int_equal(count_left(kv), VALUES / 4);
    assert_files_of(fixture, 1);
    assert_int_equal(change_bulk(kv, put_bulk, 0, VALUES), VCM_OK);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    assert_files_of(fixture, 2);
    vcm_kv_handle_close(kv);
    kv = open_store(fixture);
    assert_int_equal(generation(kv), 2);
    assert_int_equal(count_bulk(kv, 0, VALUES, VALUE_BYTES), VALUES);
    vcm_kv_handle_close(kv);
}

static void what_is_open_stays_on_the_old_file_and_what_begins_is_on_the_new(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_sparse(fixture), *other = open_store(fixture);
    struct vcm_kv_txn *old;
    struct vcm_slice value;
    assert_int_equal(vcm_kv_handle_read_begin(&old, other, &fixture->err), VCM_OK);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    assert_int_equal(store(kv, "later", "yes", &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, old, PAGES, text("later"), NULL), VCM_NOT_FOUND);
    assert_int_equal(vcm_kv_get(&value, old, PAGES, text("00000150"), NULL), VCM_OK);
    assert_value(other, "later", "yes");
    assert_int_equal(store(other, "later", "again", &fixture->err), VCM_OK);
    assert_value(kv, "later", "again");
    assert_int_equal(count_deleted_maps(fixture), 1);
    vcm_kv_handle_read_end(old);
    assert_int_equal(count_deleted_maps(fixture), 0);
    assert_int_equal(count_left(other), VALUES / 4);
    vcm_kv_handle_close(other);
    vcm_kv_handle_close(kv);
}

static void held_memory_stays_whatever_happens_to_the_store(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_sparse(fixture);
    struct vcm_kv_txn *txn;
    struct vcm_kv_handle_hold *hold, *second;
    struct vcm_slice value, other;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, txn, PAGES, text("00000160"), &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_hold(&hold, txn, &fixture->err), VCM_OK);
    vcm_kv_handle_read_end(txn);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(change_bulk(kv, put_bulk, 0, i), VCM_OK);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&other, txn, PAGES, text("00000170"), &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_hold(&second, txn, &fixture->err), VCM_OK);
    vcm_kv_handle_read_end(txn);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
    assert_int_equal(value.len, VALUE_BYTES);
    for (unsigned i = 0; i < VALUE_BYTES; i++)
        assert_true((unsigned char)value.data[i] == 160 && (unsigned char)other.data[i] == 170);
    assert_int_equal(count_deleted_maps(fixture), 2);
    vcm_kv_handle_hold_release(hold);
    vcm_kv_handle_hold_release(second);
    vcm_kv_handle_hold_release(NULL);
    assert_int_equal(count_deleted_maps(fixture), 0);
}

static void the_map_does_not_move_under_a_hold(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_txn *txn;
    struct vcm_kv_handle_hold *hold;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_hold(&hold, txn, &fixture->err), VCM_OK);
    vcm_kv_handle_read_end(txn);
    assert_int_equal(change_bulk(kv, put_bulk, 0, VALUES), VCM_STORE_BUSY);
    vcm_kv_handle_hold_release(hold);
    assert_int_equal(change_bulk(kv, put_bulk, 0, VALUES), VCM_OK);
    vcm_kv_handle_close(kv);
}

static void a_store_of_the_default_size_grows_under_a_hold(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_txn *txn;
    struct vcm_kv_handle_hold *hold;
    struct vcm_slice value;
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, txn, PAGES, text("alpha"), &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_hold(&hold, txn, &fixture->err), VCM_OK);
    vcm_kv_handle_read_end(txn);
    assert_int_equal(change_bulk(kv, put_bulk, 0, VALUES), VCM_OK);
    vcm_kv_handle_hold_release(hold);
    vcm_kv_handle_close(kv);
}

/* The number of the map that the next transaction reads from. */
static uint64_t map_number(struct vcm_kv *kv)
{
    struct vcm_kv_txn *txn;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, NULL), VCM_OK);
    uint64_t number = vcm_kv_handle_map_number(txn);
    vcm_kv_handle_read_end(txn);
    return number;
}

static void a_map_is_held_by_its_number_until_it_moves(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.map_bytes = VCM_MIB;
    struct vcm_kv *kv = open_store(fixture), *other = open_store(fixture);
    struct vcm_kv_handle_hold *hold;
    uint64_t number = map_number(kv);
    assert_int_equal(map_number(other), number); /* handles of one process share it */
    assert_int_equal(vcm_kv_handle_hold_map(&hold, kv, number), VCM_OK);
    assert_int_equal(change_bulk(kv, put_bulk, 0, VALUES), VCM_STORE_BUSY);
    vcm_kv_handle_hold_release(hold);
    assert_int_equal(change_bulk(kv, put_bulk, 0, VALUES), VCM_OK);
    assert_int_equal(vcm_kv_handle_hold_map(&hold, kv, number), VCM_RETRY);
    assert_null(hold);
    assert_true(map_number(kv) != number);
    number = map_number(kv);
    assert_int_equal(vcm_kv_handle_hold_map(&hold, other, number), VCM_OK);
    vcm_kv_handle_hold_release(hold);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_hold_map(&hold, other, number), VCM_RETRY);
    assert_int_equal(vcm_kv_handle_hold_map(&hold, kv, number), VCM_RETRY);
    assert_int_equal(map_number(kv), map_number(other));
    assert_int_equal(vcm_kv_handle_hold_map(&hold, kv, map_number(kv)), VCM_OK);
    vcm_kv_handle_close(other);
    vcm_kv_handle_close(kv);
    vcm_kv_handle_hold_release(hold);
    assert_int_equal(count_deleted_maps(fixture), 0);
}

static void a_map_that_was_opened_before_a_fork_is_not_held(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_handle_hold *hold;
    uint64_t number = map_number(kv);
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(vcm_kv_handle_hold_map(&hold, kv, number) == VCM_RETRY ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    vcm_kv_handle_close(kv);
}

static void a_read_is_the_latest_until_something_is_committed(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_txn *old, *latest;
    assert_int_equal(vcm_kv_handle_read_begin(&old, kv, &fixture->err), VCM_OK);
    assert_true(vcm_kv_handle_is_latest(old));
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_handle_read_begin(&latest, kv, &fixture->err), VCM_OK);
    assert_false(vcm_kv_handle_is_latest(old));
    assert_true(vcm_kv_handle_is_latest(latest));
    vcm_kv_handle_read_end(latest);
    vcm_kv_handle_read_end(old);
    vcm_kv_handle_close(kv);
}

static int hold_in_change(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)err;
    return vcm_kv_handle_hold(context, txn, NULL) == VCM_INVALID_ARGUMENT ? VCM_OK : VCM_INTERNAL;
}

static void memory_of_a_change_cannot_be_held(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_store(fixture);
    struct vcm_kv_handle_hold *hold;
    assert_int_equal(vcm_kv_handle_update(kv, hold_in_change, &hold, 0, NULL, &fixture->err),
                     VCM_OK);
    assert_null(hold);
    vcm_kv_handle_close(kv);
}

static void another_process_keeps_what_it_holds_and_goes_on(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_sparse(fixture);
    struct process other = start("view", fixture);
    wait_ready(&other);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    assert_int_equal(change_bulk(kv, put_bulk, 0, VALUES), VCM_OK);
    assert_int_equal(store(kv, "later", "yes", &fixture->err), VCM_OK);
    assert_int_equal(finish(&other), 0);
    vcm_kv_handle_close(kv);
}

/* How long a compaction takes here, in microseconds. */
static unsigned measure_compaction(struct fixture *fixture)
{
    struct vcm_kv *kv = open_sparse(fixture);
    uint64_t before = vcm_clock_ms();
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    unsigned span = (unsigned)(vcm_clock_ms() - before + 1) * 1000 / 3;
    vcm_kv_handle_close(kv);
    return span;
}

static void a_compaction_may_be_killed_at_any_moment(void **state)
{
    struct fixture *fixture = *state;
    uint64_t seed = 20261116;
    print_message("seed %llu\n", (unsigned long long)seed);
    unsigned span = measure_compaction(fixture);
    for (unsigned round = 0; round < 60; round++) {
        struct process other = start("compact", fixture);
        wait_ready(&other);
        usleep(test_random_below(&seed, 2 * span));
        kill(other.pid, SIGKILL);
        assert_int_equal(finish(&other), -SIGKILL);

        struct vcm_kv *kv = open_store(fixture);
        assert_int_equal(count_left(kv), VALUES / 4);
        assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
        assert_files_of(fixture, generation(kv));
        vcm_kv_handle_close(kv);
    }
}

static void a_full_disk_leaves_the_store_as_it_was(void **state)
{
    run_role(*state, "full_disk");
}

static void make_readable(const struct fixture *fixture, const char *number)
{
    static const char *const names[] = {"data.mdb", "lock.mdb"};
    char path[160];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", fixture->directory, number, names[i]);
        chmod(path, 0444);
    }
    snprintf(path, sizeof path, "%s/%s", fixture->directory, number);
    assert_int_equal(chmod(path, 0555), 0);
}

static void who_may_only_read_goes_on_too(void **state)
{
    struct fixture *fixture = *state;
    char path[160];
    struct vcm_kv *kv = open_sparse(fixture);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    make_readable(fixture, "1");
    snprintf(path, sizeof path, "%s/generation", fixture->directory);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(fixture->directory, 0755), 0);
    struct process other = start("nobody", fixture);
    wait_ready(&other);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    assert_int_equal(finish(&other), 0);
    vcm_kv_handle_close(kv);
}

static void leftovers_of_other_generations_are_removed_by_the_next_writer(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = {"1", "3", "7.new", "3.new"};
    char path[160];
    struct vcm_kv *kv = open_sparse(fixture);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", fixture->directory, names[i]);
        mkdir(path, 0755);
        snprintf(path, sizeof path, "%s/%s/data.mdb", fixture->directory, names[i]);
        FILE *file = fopen(path, "ab");
        fclose(file);
    }
    FILE *stray = fopen(fixture->data, "wb");
    fclose(stray);
    snprintf(path, sizeof path, "%s/2007", fixture->directory);
    assert_int_equal(mkdir(path, 0755), 0);

    kv = open_store(fixture);
    assert_int_equal(count_left(kv), VALUES / 4);
    assert_true(exists(fixture, "7.new"));
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    assert_files_of(fixture, 3);
    assert_int_equal(count_left(kv), VALUES / 4);
    vcm_kv_handle_close(kv);
}

static void nothing_is_removed_through_a_link_or_by_a_similar_name(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[] = {"09", "8.old", "x", "9 ", "+5", "-1", "0"};
    char path[160], target[96];
    struct vcm_kv *kv = open_sparse(fixture);
    snprintf(target, sizeof target, "%s/x", fixture->directory);
    for (unsigned i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "%s/%s", fixture->directory, names[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    snprintf(path, sizeof path, "%s/data.mdb", target);
    fclose(fopen(path, "wb"));
    snprintf(path, sizeof path, "%s/5", fixture->directory);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    for (unsigned i = 0; i < 7; i++)
        assert_true(exists(fixture, names[i]));
    assert_true(exists(fixture, "x/data.mdb"));
    vcm_kv_handle_close(kv);
}

static void a_store_whose_generation_file_is_gone_is_found(void **state)
{
    struct fixture *fixture = *state;
    char path[160];
    struct vcm_kv *kv = open_sparse(fixture);
    assert_int_equal(compact(kv, &fixture->err), VCM_OK);
    vcm_kv_handle_close(kv);
    snprintf(path, sizeof path, "%s/generation", fixture->directory);
    assert_int_equal(unlink(path), 0);
    fixture->options.read_only = true;
    kv = open_store(fixture);
    assert_int_equal(count_left(kv), VALUES / 4);
    vcm_kv_handle_close(kv);
    assert_false(exists(fixture, "generation"));
    fixture->options.read_only = false;
    kv = open_store(fixture);
    assert_int_equal(store(kv, "alpha", "one", &fixture->err), VCM_OK);
    assert_int_equal(count_left(kv), VALUES / 4);
    assert_files_of(fixture, 1);
    vcm_kv_handle_close(kv);
}

static void a_generation_that_is_not_there_is_a_damaged_store(void **state)
{
    struct fixture *fixture = *state;
    uint64_t numbers[] = {5, UINT64_MAX};
    char path[160];
    struct vcm_kv *kv;
    vcm_kv_handle_close(open_sparse(fixture));
    snprintf(path, sizeof path, "%s/generation", fixture->directory);
    for (unsigned i = 0; i < 2; i++) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        assert_int_equal(write(fd, &numbers[i], 8), 8);
        close(fd);
        vcm_error_reset(&fixture->err);
        assert_int_equal(vcm_kv_handle_open(&kv, &fixture->options, &fixture->err),
                         VCM_STORE_CORRUPT);
        assert_non_null(strstr(fixture->err.message, "generation"));
    }
    assert_int_equal(truncate(path, 3), 0);
    kv = open_store(fixture);
    assert_int_equal(count_left(kv), VALUES / 4);
    vcm_kv_handle_close(kv);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    kv = open_store(fixture);
    assert_int_equal(count_left(kv), VALUES / 4);
    assert_int_equal(compact(kv, NULL), VCM_IO_ERROR);
    assert_int_equal(count_left(kv), VALUES / 4);
    vcm_kv_handle_close(kv);
}

static void only_one_who_may_write_compacts_and_only_alone(void **state)
{
    struct fixture *fixture = *state;
    struct vcm_kv *kv = open_sparse(fixture);
    struct vcm_kv_compacted compacted;
    struct vcm_cancel cancel = {true};
    assert_int_equal(vcm_kv_compact(&compacted, kv, 0, &cancel, NULL), VCM_INTERRUPTED);
    assert_int_equal(generation(kv), 0);
    assert_files_of(fixture, 0);
    struct process other = start("hold", fixture);
    wait_ready(&other);
    assert_int_equal(vcm_kv_compact(&compacted, kv, SOON_MS, NULL, NULL), VCM_STORE_BUSY);
    assert_int_equal(finish(&other), 0);
    vcm_kv_handle_close(kv);
    fixture->options.read_only = true;
    kv = open_store(fixture);
    assert_int_equal(vcm_kv_compact(&compacted, kv, 0, NULL, NULL), VCM_INVALID_ARGUMENT);
    vcm_kv_handle_close(kv);
}

static int put_and_wait(void *context, struct vcm_kv_txn *txn, struct vcm_error *err)
{
    (void)context;
    int rc = vcm_kv_put(txn, PAGES, text("held"), text("yes"), err);
    say_ready();
    wait_for_end_of_input();
    return rc;
}

static int role_hold(struct fixture *fixture)
{
    struct vcm_kv *kv;
    if (vcm_kv_handle_open(&kv, &fixture->options, NULL) != VCM_OK)
        return 1;
    int rc = vcm_kv_handle_update(kv, put_and_wait, NULL, 0, NULL, NULL);
    vcm_kv_handle_close(kv);
    return rc == VCM_OK ? 0 : 2;
}

struct crew {
    struct vcm_kv *kv;
    atomic_bool done;
    atomic_uint wrong;
    atomic_uint reads;
};

static void *read_and_hold(void *argument)
{
    struct crew *crew = argument;
    for (unsigned i = 0; !atomic_load(&crew->done); i++) {
        struct vcm_kv_txn *txn;
        struct vcm_kv_handle_hold *hold;
        struct vcm_slice value;
        char key[16];
        snprintf(key, sizeof key, "%08u", VALUES * 3 / 4 + i % (VALUES / 4));
        if (vcm_kv_handle_read_begin(&txn, crew->kv, NULL) != VCM_OK) {
            atomic_fetch_add(&crew->wrong, 1);
            continue;
        }
        int rc = vcm_kv_get_unchecked(&value, txn, PAGES, text(key), NULL);
        vcm_kv_handle_hold(&hold, txn, NULL);
        vcm_kv_handle_read_end(txn);
        if (rc != VCM_OK || value.len != VALUE_BYTES ||
            (unsigned char)value.data[VALUE_BYTES - 1] != (VALUES * 3 / 4 + i % (VALUES / 4)) % 251)
            atomic_fetch_add(&crew->wrong, 1);
        vcm_kv_handle_hold_release(hold);
        atomic_fetch_add(&crew->reads, 1);
    }
    return NULL;
}

static void threads_read_on_while_generations_pass(void **state)
{
    struct fixture *fixture = *state;
    struct crew crew = {.kv = open_sparse(fixture)};
    struct vcm_kv *other = open_store(fixture);
    pthread_t readers[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_and_hold, &crew), 0);
    for (unsigned i = 0; i < 15 || atomic_load(&crew.reads) < 200; i++) {
        assert_int_equal(compact(i % 2 ? crew.kv : other, &fixture->err), VCM_OK);
        assert_int_equal(store(other, "again", "and again", &fixture->err), VCM_OK);
    }
    atomic_store(&crew.done, true);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&crew.wrong), 0);
    assert_value(other, "again", "and again");
    assert_value(crew.kv, "again", "and again");
    assert_int_equal(count_deleted_maps(fixture), 0);
    vcm_kv_handle_close(other);
    vcm_kv_handle_close(crew.kv);
}

static void an_unchecked_read_is_the_same_without_the_check(void **state)
{
    struct fixture *fixture = *state;
    static const char pattern[] = "a pattern that stands nowhere else";
    static char bytes[VCM_MIB];
    struct vcm_kv *kv = open_store(fixture);
    assert_int_equal(store(kv, "the-key", pattern, &fixture->err), VCM_OK);
    int fd = open(fixture->data, O_RDWR | O_CLOEXEC);
    ssize_t size = pread(fd, bytes, sizeof bytes, 0);
    char *place = memmem(bytes, (size_t)size, pattern, sizeof pattern - 1);
    assert_int_equal(pwrite(fd, "A", 1, place - bytes), 1);
    close(fd);
    struct vcm_kv_txn *txn;
    struct vcm_slice value;
    assert_int_equal(vcm_kv_handle_read_begin(&txn, kv, &fixture->err), VCM_OK);
    assert_int_equal(vcm_kv_get(&value, txn, PAGES, text("the-key"), NULL), VCM_STORE_CORRUPT);
    assert_int_equal(vcm_kv_get_unchecked(&value, txn, PAGES, text("the-key"), NULL), VCM_OK);
    assert_true(vcm_slice_equal(value, text("A pattern that stands nowhere else")));
    assert_int_equal(vcm_kv_get_unchecked(&value, txn, PAGES, text("none"), &fixture->err),
                     VCM_NOT_FOUND);
    assert_int_equal(fixture->err.code, VCM_OK);
    vcm_kv_handle_read_end(txn);
    vcm_kv_handle_close(kv);
}

static void slots_that_wait_to_be_used_again_are_given_up_for_others(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.readers_max = 3;
    struct vcm_kv *one = open_store(fixture), *two = open_store(fixture);
    struct vcm_kv_txn *txns[3];
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(vcm_kv_handle_read_begin(&txns[i], one, &fixture->err), VCM_OK);
    for (unsigned i = 0; i < 3; i++)
        vcm_kv_handle_read_end(txns[i]);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(vcm_kv_handle_read_begin(&txns[i], two, &fixture->err), VCM_OK);
    for (unsigned i = 0; i < 3; i++)
        vcm_kv_handle_read_end(txns[i]);
    assert_int_equal(compact(one, &fixture->err), VCM_OK);
    vcm_kv_handle_close(one);
    vcm_kv_handle_close(two);
}

static int run_as(const char *role, const char *directory)
{
    static const struct {
        const char *name;
        int (*run)(struct fixture *fixture);
    } roles[] = {
        {"view", role_view},           {"compact", role_compact}, {"hold", role_hold},
        {"full_disk", role_full_disk}, {"nobody", role_nobody},
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
        STORE_TEST(compacting_gives_space_back_and_keeps_every_value),
        STORE_TEST(what_is_open_stays_on_the_old_file_and_what_begins_is_on_the_new),
        STORE_TEST(held_memory_stays_whatever_happens_to_the_store),
        STORE_TEST(the_map_does_not_move_under_a_hold),
        STORE_TEST(a_store_of_the_default_size_grows_under_a_hold),
        STORE_TEST(a_map_is_held_by_its_number_until_it_moves),
        STORE_TEST(a_map_that_was_opened_before_a_fork_is_not_held),
        STORE_TEST(a_read_is_the_latest_until_something_is_committed),
        STORE_TEST(memory_of_a_change_cannot_be_held),
        STORE_TEST(another_process_keeps_what_it_holds_and_goes_on),
        STORE_TEST(a_compaction_may_be_killed_at_any_moment),
        STORE_TEST(a_full_disk_leaves_the_store_as_it_was),
        STORE_TEST(who_may_only_read_goes_on_too),
        STORE_TEST(leftovers_of_other_generations_are_removed_by_the_next_writer),
        STORE_TEST(nothing_is_removed_through_a_link_or_by_a_similar_name),
        STORE_TEST(a_store_whose_generation_file_is_gone_is_found),
        STORE_TEST(a_generation_that_is_not_there_is_a_damaged_store),
        STORE_TEST(only_one_who_may_write_compacts_and_only_alone),
        STORE_TEST(threads_read_on_while_generations_pass),
        STORE_TEST(an_unchecked_read_is_the_same_without_the_check),
        STORE_TEST(slots_that_wait_to_be_used_again_are_given_up_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
