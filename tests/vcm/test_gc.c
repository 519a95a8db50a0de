/* What nobody refers to goes, and its space with it. */
#include "tests/vcm/store_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include "vcm/mapping/gc.h"

#include "base/banned.h"

#define LARGE_PAGES 20
#define LARGE_BYTES VCM_MIB

static int add_large(struct vcm_mapping *mapping, struct vcm_scope *scope, char first)
{
    char *content = malloc(LARGE_BYTES + 1);
    int rc = content ? VCM_OK : VCM_INTERNAL;

    for (int i = 0; rc == VCM_OK && i < LARGE_PAGES; i++) {
        memset(content, first + i, LARGE_BYTES);
        content[LARGE_BYTES] = '\0';
        rc = add_page(mapping, scope, content, NULL);
    }
    free(content);
    return rc;
}

/* A process that dies with half a table written. */
static void die_while_mapping(struct fixture *fix)
{
    int status;

    close_store(fix);
    pid_t pid = fork();
    if (pid == 0) {
        struct vcm_scope scope = {.scope_id = text("left")};
        struct vcm_mapping *mapping;
        bool fine = vcm_page_store_open(&fix->store, &fix->options, NULL) == VCM_OK &&
                    vcm_mapping_begin(&mapping, fix->store,
                                      &(struct vcm_mapping_options){.scope_id = scope.scope_id,
                                                                    .tokenizer = "approx4"},
                                      NULL) == VCM_OK &&
                    add_large(mapping, &scope, 'a') == VCM_OK;
        _exit(fine ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    open_store(fix);
}

static void what_a_dead_process_left_is_dropped_and_its_space_given_back(void **state)
{
    struct fixture *fix = *state;
    struct vcm_gc_result result;

    map_pages(fix, "kept", PAGES("1", "2"));
    die_while_mapping(fix);
    struct store_counts before = counts_of(fix);
    assert_int_equal(before.unfinished, 1);
    assert_true(before.pages > 2);
    assert_ok(fix, vcm_gc_run(&result, fix->store, NULL, &fix->err));
    assert_int_equal(result.pages_dropped, before.pages - 2);
    assert_true(result.bytes_after < result.bytes_before - 8 * VCM_MIB);
    struct store_counts after = counts_of(fix);
    assert_int_equal(after.unfinished, 0);
    assert_int_equal(after.pages, 2);
    struct vcm_kv_txn *txn = read_begin(fix);
    assert_pages(fix, txn, "kept", PAGES("1", "2"));
    vcm_kv_handle_read_end(txn);
}

static void a_store_with_nothing_to_drop_stays_as_it_is(void **state)
{
    struct fixture *fix = *state;
    struct vcm_gc_result result;
    char before[2 * VCM_HASH_SHA256_BYTES + 1], after[2 * VCM_HASH_SHA256_BYTES + 1];

    map_pages(fix, "a", PAGES("1", "2", "1"));
    store_check_digest(before, fix->disk.path);
    for (int i = 0; i < 3; i++) {
        assert_ok(fix, vcm_gc_run(&result, fix->store, NULL, &fix->err));
        assert_int_equal(result.pages_dropped, 0);
    }
    store_check_digest(after, fix->disk.path);
    assert_string_equal(after, before);
    map_pages(fix, "b", PAGES("3"));
}

static void an_interruption_ends_it(void **state)
{
    struct fixture *fix = *state;
    struct vcm_gc_result result;
    struct vcm_cancel cancel = {.requested = true};

    map_pages(fix, "a", PAGES("1"));
    assert_int_equal(vcm_gc_run(&result, fix->store, &cancel, &fix->err), VCM_INTERRUPTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(what_a_dead_process_left_is_dropped_and_its_space_given_back),
        STORE_TEST(a_store_with_nothing_to_drop_stays_as_it_is),
        STORE_TEST(an_interruption_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
