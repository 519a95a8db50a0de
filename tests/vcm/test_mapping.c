/* Tables come and go as a whole. Other processes are this program again, started with a role. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_fixture.h"
#include "vcm/mapping/mapping_drop.h"
#include "vcm/store/table.h"

#include "base/banned.h"

/* More than one batch: what is added before it, and its first half, is written when it returns. */
#define LARGE_BYTES (4 * VCM_MIB - 4096)
#define LARGE_PAGES 6

static const char *program;

static int add_large(struct vcm_mapping *mapping, struct vcm_scope *scope, unsigned count,
                     struct vcm_error *err)
{
    char *content = malloc(LARGE_BYTES + 1);
    int rc = VCM_OK;

    assert_non_null(content);
    for (unsigned i = 0; rc == VCM_OK && i < count; i++) {
        memset(content, 'a' + (int)i, LARGE_BYTES);
        content[LARGE_BYTES] = '\0';
        rc = add_page(mapping, scope, content, err);
    }
    free(content);
    return rc;
}

static bool same_counts(const struct store_counts *a, const struct store_counts *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void a_reader_sees_the_old_table_until_it_looks_again(void **state)
{
    struct fixture *fix = *state;

    map_pages(fix, "s", PAGES("old 1", "kept", "old 2"));
    struct vcm_kv_txn *before = read_begin(fix);
    struct vcm_mapping_result result = map_pages(fix, "s", PAGES("kept", "new"));
    assert_int_equal(result.pages_created, 1);
    assert_int_equal(result.pages_reused, 1);
    assert_int_equal(result.pages_dropped, 2);
    struct vcm_kv_txn *after = read_begin(fix);
    assert_pages(fix, before, "s", PAGES("old 1", "kept", "old 2"));
    assert_pages(fix, after, "s", PAGES("kept", "new"));
    struct vcm_page_id dropped = id_of("old 1");
    struct vcm_slice frame;
    struct vcm_page_info info;
    assert_ok(fix, vcm_page_store_frame(&frame, before, &dropped, &fix->err));
    assert_int_equal(vcm_page_store_page(&info, after, &dropped, &fix->err), VCM_NOT_FOUND);
    vcm_kv_handle_read_end(before);
    vcm_kv_handle_read_end(after);
}

static void a_table_that_is_being_built_is_seen_by_nobody(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("s")}, found;
    struct vcm_mapping_result result;

    struct vcm_mapping *mapping = begin(fix, "s");
    assert_ok(fix, add_large(mapping, &scope, LARGE_PAGES, &fix->err));
    assert_true(counts_of(fix).rows > 0);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_int_equal(vcm_page_store_scope(&found, txn, text("s"), &fix->err), VCM_NOT_FOUND);
    vcm_kv_handle_read_end(txn);
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    assert_int_equal(result.pages_created, LARGE_PAGES);
    assert_int_equal(counts_of(fix).rows, LARGE_PAGES);
}

static void an_aborted_mapping_leaves_no_trace(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("s")};

    map_pages(fix, "s", PAGES("1", "2"));
    struct store_counts before = counts_of(fix);
    struct vcm_mapping *mapping = begin(fix, "s");
    assert_ok(fix, add_page(mapping, &scope, "2", &fix->err));
    assert_ok(fix, add_omission(mapping, &scope, "x", VCM_SOURCE_BINARY, NULL, &fix->err));
    assert_ok(fix, add_large(mapping, &scope, LARGE_PAGES, &fix->err));
    struct store_counts during = counts_of(fix);
    assert_true(during.pages > before.pages);
    store_check(fix->disk.path, false);
    vcm_mapping_abort(mapping);
    struct store_counts after = counts_of(fix);
    assert_true(same_counts(&before, &after));
    vcm_mapping_abort(NULL);
}

static void pages_are_shared_between_scopes(void **state)
{
    struct fixture *fix = *state;

    map_pages(fix, "a", PAGES("1", "2", "2"));
    struct vcm_mapping_result result = map_pages(fix, "b", PAGES("2", "3"));
    assert_int_equal(result.pages_created, 1);
    assert_int_equal(result.pages_reused, 1);
    assert_int_equal(counts_of(fix).pages, 3);
    assert_int_equal(counts_of(fix).totals.pages, 3);
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("a"), NULL, &fix->err));
    assert_int_equal(counts_of(fix).pages, 2);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_pages(fix, txn, "b", PAGES("2", "3"));
    vcm_kv_handle_read_end(txn);
}

static void a_page_that_is_being_mapped_elsewhere_stays(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("b")};
    struct vcm_mapping_result result;

    map_pages(fix, "a", PAGES("1"));
    struct vcm_mapping *building = begin(fix, "b");
    assert_ok(fix, add_page(building, &scope, "1", &fix->err));
    assert_ok(fix, add_large(building, &scope, LARGE_PAGES, &fix->err));
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("a"), NULL, &fix->err));
    store_check(fix->disk.path, false);
    assert_ok(fix, vcm_mapping_commit(building, &scope, &result, &fix->err));
}

static void the_last_removal_empties_the_store(void **state)
{
    struct fixture *fix = *state;
    struct store_counts empty = counts_of(fix);

    map_pages(fix, "a", PAGES("1", "2"));
    map_pages(fix, "b", PAGES("2"));
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("a"), NULL, &fix->err));
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("b"), NULL, &fix->err));
    struct store_counts after = counts_of(fix);
    assert_true(same_counts(&empty, &after));
    assert_int_equal(vcm_mapping_drop_scope(fix->store, text("a"), NULL, &fix->err), VCM_NOT_FOUND);
    assert_non_null(strstr(fix->err.message, "'a'"));
}

static void pinning_changes_nothing_else(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope, was;

    map_pages(fix, "a", PAGES("1", "2", "1"));
    struct store_counts before = counts_of(fix);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_store_scope(&was, txn, text("a"), &fix->err));
    vcm_kv_handle_read_end(txn);
    assert_ok(fix, vcm_mapping_pin_set(fix->store, text("a"), true, NULL, &fix->err));
    assert_int_equal(counts_of(fix).totals.pinned, 2);
    txn = read_begin(fix);
    assert_ok(fix, vcm_page_store_scope(&scope, txn, text("a"), &fix->err));
    assert_true(scope.pinned);
    assert_int_equal(scope.mapped_at, was.mapped_at);
    assert_pages(fix, txn, "a", PAGES("1", "2", "1"));
    vcm_scope_release(&scope);
    vcm_scope_release(&was);
    vcm_kv_handle_read_end(txn);
    assert_ok(fix, vcm_mapping_pin_set(fix->store, text("a"), false, NULL, &fix->err));
    struct store_counts after = counts_of(fix);
    assert_true(same_counts(&before, &after));
    assert_int_equal(vcm_mapping_pin_set(fix->store, text("x"), true, NULL, &fix->err),
                     VCM_NOT_FOUND);
}

static int map_from(struct fixture *fix, const struct vcm_scope *former, const char *page,
                    bool pin_meanwhile)
{
    struct vcm_scope scope = {.scope_id = text("s")};
    struct vcm_mapping_result result;
    struct vcm_mapping *mapping = NULL;

    assert_ok(fix, vcm_mapping_begin(&mapping, fix->store,
                                     &(struct vcm_mapping_options){.scope_id = text("s"),
                                                                   .tokenizer = "approx4",
                                                                   .former = former},
                                     &fix->err));
    assert_ok(fix, add_page(mapping, &scope, page, &fix->err));
    if (pin_meanwhile)
        assert_ok(fix, vcm_mapping_pin_set(fix->store, text("s"), true, NULL, &fix->err));
    return vcm_mapping_commit(mapping, &scope, &result, &fix->err);
}

static void a_scope_that_changed_meanwhile_is_not_replaced(void **state)
{
    struct fixture *fix = *state;
    const struct vcm_scope none = {0};
    struct vcm_scope former, now;

    assert_ok(fix, map_from(fix, &none, "one", false));
    assert_int_equal(map_from(fix, &none, "two", false), VCM_RETRY);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_store_scope(&former, txn, text("s"), &fix->err));
    vcm_kv_handle_read_end(txn);
    assert_int_equal(map_from(fix, &former, "three", true), VCM_RETRY);
    txn = read_begin(fix);
    assert_pages(fix, txn, "s", PAGES("one"));
    assert_ok(fix, vcm_page_store_scope(&now, txn, text("s"), &fix->err));
    assert_true(now.pinned && now.pinned_by_own && !now.pinned_by_row);
    vcm_kv_handle_read_end(txn);
    assert_ok(fix, map_from(fix, &now, "four", false));
    vcm_scope_release(&former);
    vcm_scope_release(&now);
}

struct replaced {
    char *fresh;
};

static int make_fresh(void *context, uint64_t generation, struct vcm_error *err)
{
    const struct replaced *replaced = context;

    assert_int_equal(mkdir(replaced->fresh, 0700), 0);
    return vcm_page_store_make(replaced->fresh, generation, err);
}

static void replace_store(struct fixture *fix)
{
    struct replaced replaced = {test_repo_path(&fix->disk, "fresh")};
    char *lock = test_repo_path(&fix->disk, "writer.lock");
    char *aside = test_repo_path(&fix->disk, "aside");
    char *data = test_repo_path(&fix->disk, "fresh/data.mdb");

    assert_ok(fix, vcm_kv_replace(&(struct vcm_kv_replacement){.directory = fix->disk.path,
                                                               .lock_path = lock,
                                                               .fresh = data,
                                                               .aside = aside,
                                                               .make = make_fresh,
                                                               .context = &replaced},
                                  1000, NULL, &fix->err));
    free(data);
    free(aside);
    free(lock);
    free(replaced.fresh);
}

static void a_mapping_does_not_go_on_in_a_store_that_replaced_its_own(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("s")}, again = {.scope_id = text("s")};
    struct vcm_mapping_result result;
    uint64_t era = 1;

    map_pages(fix, "a", PAGES("1", "2"));
    assert_ok(fix, vcm_page_store_era(&era, fix->store, &fix->err));
    assert_int_equal(era, 0);
    struct vcm_mapping *mapping = begin(fix, "s");
    assert_ok(fix, add_page(mapping, &scope, "one", &fix->err));
    replace_store(fix);
    assert_int_equal(vcm_mapping_commit(mapping, &scope, &result, &fix->err), VCM_RETRY);
    assert_ok(fix, vcm_page_store_era(&era, fix->store, &fix->err));
    assert_int_equal(era, 1);
    assert_int_equal(counts_of(fix).totals.pages, 0);
    mapping = begin(fix, "s");
    assert_ok(fix, add_page(mapping, &again, "one", &fix->err));
    assert_ok(fix, vcm_mapping_commit(mapping, &again, &result, &fix->err));
    assert_true(again.mapping >> 32 == 1);
}

static void two_mappings_of_one_scope_end_in_that_of_the_later_commit(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope first = {.scope_id = text("s")}, second = {.scope_id = text("s")};
    struct vcm_mapping_result result;

    struct vcm_mapping *one = begin(fix, "s"), *two = begin(fix, "s");
    assert_ok(fix, add_page(one, &first, "one", &fix->err));
    assert_ok(fix, add_page(two, &second, "two", &fix->err));
    assert_ok(fix, vcm_mapping_commit(two, &second, &result, &fix->err));
    assert_ok(fix, vcm_mapping_commit(one, &first, &result, &fix->err));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_pages(fix, txn, "s", PAGES("one"));
    vcm_kv_handle_read_end(txn);
}

static void set_limits(struct fixture *fix, uint64_t capacity, uint64_t compressed_capacity)
{
    vcm_page_store_set_limits(
        fix->store, &(struct vcm_page_store_limits){.capacity = capacity,
                                                    .compressed_capacity = compressed_capacity});
}

static void what_is_pinned_beyond_the_capacity_is_refused_and_the_store_as_it_was(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("b")};
    struct vcm_mapping_result result;

    map_pages(fix, "a", PAGES("1"));
    struct store_counts before = counts_of(fix);
    set_limits(fix, 5 * LARGE_BYTES, VCM_GIB);
    struct vcm_mapping *mapping = begin_pinned(fix, "b", true);
    int rc = add_large(mapping, &scope, LARGE_PAGES, &fix->err);
    if (rc == VCM_OK)
        rc = vcm_mapping_commit(mapping, &scope, &result, &fix->err);
    else
        vcm_mapping_abort(mapping);
    assert_int_equal(rc, VCM_STORE_FULL);
    assert_non_null(strstr(fix->err.message, "cache.capacity"));
    struct store_counts after = counts_of(fix);
    assert_int_equal(after.pages, before.pages);
    assert_int_equal(after.rows, before.rows);
    assert_int_equal(after.totals.pinned_bytes, 0);
}

/* Each tier takes what the one above has no room for, and nobody has to go. */
static void beyond_the_capacity_pages_enter_compressed_and_then_evicted(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("b")};
    struct vcm_mapping_result result;

    set_limits(fix, 3 * LARGE_BYTES, 700);
    map_pages(fix, "a", PAGES("1"));
    struct vcm_mapping *mapping = begin(fix, "b");
    assert_ok(fix, add_large(mapping, &scope, LARGE_PAGES, &fix->err));
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    assert_int_equal(result.pages_created, LARGE_PAGES);
    struct vcm_page_totals totals = counts_of(fix).totals;
    assert_int_equal(totals.pages, LARGE_PAGES + 1);
    assert_int_equal(totals.resident, 3);
    assert_true(totals.compressed >= 1 && totals.compressed < LARGE_PAGES - 2);
    assert_true(totals.resident_bytes <= 3 * LARGE_BYTES && totals.compressed_bytes <= 700);
}

static int begin_with(struct fixture *fix, struct vcm_mapping **out, const char *tokenizer)
{
    vcm_error_reset(&fix->err);
    return vcm_mapping_begin(
        out, fix->store,
        &(struct vcm_mapping_options){.scope_id = text("t"), .tokenizer = tokenizer}, &fix->err);
}

static void assert_tokenizer(struct fixture *fix, const char *expected)
{
    struct vcm_buf name = VCM_BUF_INIT(64);
    struct vcm_kv_txn *txn = read_begin(fix);

    assert_ok(fix, vcm_page_store_tokenizer(&name, txn, &fix->err));
    assert_string_equal(vcm_buf_text(&name), expected);
    vcm_kv_handle_read_end(txn);
    vcm_buf_release(&name);
}

static void counts_of_two_tokenizers_do_not_mix(void **state)
{
    struct fixture *fix = *state;
    struct vcm_mapping *mapping;

    assert_tokenizer(fix, "");
    map_pages(fix, "s", PAGES("1"));
    assert_tokenizer(fix, "approx4");
    assert_int_equal(begin_with(fix, &mapping, "cl100k_base"), VCM_INVALID_ARGUMENT);
    assert_null(mapping);
    assert_non_null(strstr(fix->err.message, "approx4"));
    vcm_error_reset(&fix->err);
    assert_ok(fix, vcm_mapping_drop_scope(fix->store, text("s"), NULL, &fix->err));
    assert_ok(fix, begin_with(fix, &mapping, "cl100k_base"));
    assert_tokenizer(fix, "cl100k_base");
    vcm_mapping_abort(mapping);
}

/* Its pages are counted with it already, though no scope is there yet. */
static void a_tokenizer_does_not_change_while_a_first_mapping_is_being_built(void **state)
{
    struct fixture *fix = *state;
    struct vcm_mapping *other, *mapping = begin(fix, "s");

    assert_int_equal(begin_with(fix, &other, "cl100k_base"), VCM_INVALID_ARGUMENT);
    assert_null(other);
    assert_tokenizer(fix, "approx4");
    vcm_mapping_abort(mapping);
    assert_ok(fix, begin_with(fix, &other, "cl100k_base"));
    vcm_mapping_abort(other);
}

static void the_map_grows_with_the_pages(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("s")};
    struct vcm_mapping_result result;

    close_store(fix);
    fix->options.map_bytes = VCM_MIB;
    open_store(fix);
    struct vcm_mapping *mapping = begin(fix, "s");
    assert_ok(fix, add_large(mapping, &scope, LARGE_PAGES, &fix->err));
    assert_ok(fix, vcm_mapping_commit(mapping, &scope, &result, &fix->err));
    assert_int_equal(result.pages_created, LARGE_PAGES);
    assert_int_equal(result.pages_reused, 0);
}

/* A mapping can come in force between being found unfinished and being dropped: the reader's
 * snapshot is older than its look at the lock. */
static void a_table_in_force_is_not_dropped(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope;
    uint64_t dropped = 9;

    map_pages(fix, "s", PAGES("1", "2"));
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_store_scope(&scope, txn, text("s"), &fix->err));
    vcm_kv_handle_read_end(txn);
    assert_ok(fix, vcm_mapping_drop(&dropped, fix->store, scope.mapping, 0,
                                    VCM_LIMIT_LOCK_TIMEOUT_MS, NULL, &fix->err));
    assert_int_equal(dropped, 0);
    txn = read_begin(fix);
    assert_pages(fix, txn, "s", PAGES("1", "2"));
    vcm_kv_handle_read_end(txn);
    vcm_scope_release(&scope);
}

static void a_cancelled_commit_happens_as_a_whole_or_not_at_all(void **state)
{
    struct fixture *fix = *state;
    struct vcm_cancel cancel = {false};
    struct vcm_scope scope = {.scope_id = text("s")};
    struct vcm_mapping *mapping;
    struct vcm_mapping_result result;

    struct store_counts before = counts_of(fix);
    assert_ok(fix, vcm_mapping_begin(&mapping, fix->store,
                                     &(struct vcm_mapping_options){.scope_id = text("s"),
                                                                   .tokenizer = "approx4",
                                                                   .cancel = &cancel},
                                     &fix->err));
    assert_ok(fix, add_large(mapping, &scope, LARGE_PAGES, &fix->err));
    vcm_cancel_request(&cancel);
    int rc = vcm_mapping_commit(mapping, &scope, &result, &fix->err);
    assert_true(rc == VCM_INTERRUPTED || rc == VCM_OK);
    struct store_counts after = counts_of(fix);
    assert_int_equal(after.unfinished, 0);
    if (rc != VCM_OK)
        assert_true(same_counts(&before, &after));
}

struct process {
    pid_t pid;
    int to, from;
};

static struct process start(const char *role, const struct fixture *fix)
{
    struct process process;
    int in[2], out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    process.pid = fork();
    assert_true(process.pid >= 0);
    if (process.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(program, program, role, fix->disk.path, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    process.to = in[1];
    process.from = out[0];
    char byte;
    assert_int_equal(read(process.from, &byte, 1), 1);
    return process;
}

static int finish(const struct process *process)
{
    int status;

    close(process->to);
    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    close(process->from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Builds half a table, says so, waits, and then commits it or dies. */
static int run_role(const char *role, const char *directory)
{
    struct vcm_page_store *store;
    struct vcm_mapping *mapping;
    struct vcm_mapping_result result;
    struct vcm_scope scope = {.scope_id = text("other")};
    char byte;

    if (vcm_page_store_open(&store, &(struct vcm_page_store_options){.directory = directory},
                            NULL) != VCM_OK)
        return 1;
    if (vcm_mapping_begin(
            &mapping, store,
            &(struct vcm_mapping_options){.scope_id = scope.scope_id, .tokenizer = "approx4"},
            NULL) != VCM_OK)
        return 2;
    if (add_omission(mapping, &scope, "x", VCM_SOURCE_BINARY, NULL, NULL) != VCM_OK ||
        add_large(mapping, &scope, LARGE_PAGES, NULL) != VCM_OK || write(1, "!", 1) != 1)
        return 3;
    while (read(0, &byte, 1) > 0)
        continue;
    if (strcmp(role, "die") == 0)
        _exit(0);
    return vcm_mapping_commit(mapping, &scope, &result, NULL) == VCM_OK ? 0 : 4;
}

static void what_a_dead_process_was_building_is_cleared_by_the_next_mapping(void **state)
{
    struct fixture *fix = *state;

    map_pages(fix, "s", PAGES("1"));
    struct store_counts before = counts_of(fix);
    struct process other = start("die", fix);
    assert_int_equal(finish(&other), 0);
    struct store_counts left = counts_of(fix);
    assert_int_equal(left.unfinished, 1);
    assert_true(left.pages > before.pages && left.rows > before.rows && left.omissions == 1);
    store_check(fix->disk.path, false);
    vcm_mapping_abort(begin(fix, "s"));
    struct store_counts after = counts_of(fix);
    assert_true(same_counts(&before, &after));
}

static void what_a_living_process_is_building_is_left_alone(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope;

    struct process other = start("commit", fix);
    struct store_counts before = counts_of(fix);
    assert_int_equal(before.unfinished, 1);
    map_pages(fix, "s", PAGES("1"));
    struct store_counts after = counts_of(fix);
    assert_int_equal(after.unfinished, 1);
    /* Its writer may be at work on the second batch of the other's rows. */
    assert_true(after.rows > before.rows);
    assert_int_equal(finish(&other), 0);
    assert_int_equal(counts_of(fix).unfinished, 0);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_ok(fix, vcm_page_store_scope(&scope, txn, text("other"), &fix->err));
    assert_int_equal(scope.pages, LARGE_PAGES);
    vcm_scope_release(&scope);
    vcm_kv_handle_read_end(txn);
}

static void a_mapping_of_our_own_that_is_being_built_is_left_alone(void **state)
{
    struct fixture *fix = *state;
    struct vcm_scope scope = {.scope_id = text("a")};
    struct vcm_mapping_result result;

    struct vcm_mapping *first = begin(fix, "a");
    assert_ok(fix, add_large(first, &scope, LARGE_PAGES, &fix->err));
    map_pages(fix, "b", PAGES("1"));
    assert_ok(fix, vcm_mapping_commit(first, &scope, &result, &fix->err));
    assert_int_equal(counts_of(fix).scopes, 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_reader_sees_the_old_table_until_it_looks_again),
        STORE_TEST(a_table_that_is_being_built_is_seen_by_nobody),
        STORE_TEST(an_aborted_mapping_leaves_no_trace),
        STORE_TEST(pages_are_shared_between_scopes),
        STORE_TEST(a_page_that_is_being_mapped_elsewhere_stays),
        STORE_TEST(the_last_removal_empties_the_store),
        STORE_TEST(pinning_changes_nothing_else),
        STORE_TEST(a_scope_that_changed_meanwhile_is_not_replaced),
        STORE_TEST(a_mapping_does_not_go_on_in_a_store_that_replaced_its_own),
        STORE_TEST(two_mappings_of_one_scope_end_in_that_of_the_later_commit),
        STORE_TEST(what_is_pinned_beyond_the_capacity_is_refused_and_the_store_as_it_was),
        STORE_TEST(beyond_the_capacity_pages_enter_compressed_and_then_evicted),
        STORE_TEST(counts_of_two_tokenizers_do_not_mix),
        STORE_TEST(a_tokenizer_does_not_change_while_a_first_mapping_is_being_built),
        STORE_TEST(the_map_grows_with_the_pages),
        STORE_TEST(a_table_in_force_is_not_dropped),
        STORE_TEST(a_cancelled_commit_happens_as_a_whole_or_not_at_all),
        STORE_TEST(what_a_dead_process_was_building_is_cleared_by_the_next_mapping),
        STORE_TEST(what_a_living_process_is_building_is_left_alone),
        STORE_TEST(a_mapping_of_our_own_that_is_being_built_is_left_alone),
    };
    if (argc == 3)
        _exit(run_role(argv[1], argv[2]));
    program = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
