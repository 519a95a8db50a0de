/* Through api/vcm.h, as everybody does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/vcm.h"
#include "tests/support/repo.h"
#include "tests/support/store_check.h"

#include "base/banned.h"

struct fixture {
    struct test_repo repo, disk;
    struct vcm *vcm;
    struct vcm_map_options options;
    struct vcm_map_result *result;
    struct vcm_error err;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->repo);
    test_repo_init_directory(&fix->disk);
    test_repo_write_text(&fix->disk, "config.yaml", "tokenizer: approx4\n");
    test_repo_write_text(&fix->repo, "a", "one\n");
    test_repo_write_text(&fix->repo, "b", "two\n");
    test_repo_commit(&fix->repo, "first");
    fix->options = (struct vcm_map_options){
        .repository = fix->repo.path, .base_scope_id = "s", .flush_threshold = 1, .jobs = 2};
    assert_int_equal(vcm_open(&fix->vcm, &(struct vcm_open_options){.home = fix->disk.path}, NULL),
                     VCM_OK);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;
    char *store = test_repo_path(&fix->disk, "store");

    vcm_map_result_free(fix->result);
    vcm_close(fix->vcm);
    store_check(store, true);
    free(store);
    test_repo_release(&fix->repo);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static const struct vcm_map_source *map(struct fixture *fix)
{
    vcm_map_result_free(fix->result);
    if (vcm_map(&fix->result, fix->vcm, &fix->options, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    assert_int_equal(fix->result->source_count, 1);
    return &fix->result->sources[0];
}

static void the_first_map_makes_and_the_second_finds(void **state)
{
    struct fixture *fix = *state;

    const struct vcm_map_source *row = map(fix);
    assert_int_equal(row->status, VCM_STATUS_MAPPED);
    assert_int_equal(row->pages_created, 2);
    assert_string_equal(row->scope_id, "s");
    row = map(fix);
    assert_int_equal(row->status, VCM_STATUS_ALREADY_MAPPED);
    assert_int_equal(row->pages_created, 0);
    assert_int_equal(row->pages_reused, 2);
    assert_int_equal(fix->result->status, VCM_STATUS_ALREADY_MAPPED);
}

static void a_new_commit_is_remapped_and_shares_what_is_the_same(void **state)
{
    struct fixture *fix = *state;

    map(fix);
    test_repo_write_text(&fix->repo, "b", "changed\n");
    test_repo_commit(&fix->repo, "second");
    const struct vcm_map_source *row = map(fix);
    assert_int_equal(row->status, VCM_STATUS_REMAPPED);
    assert_int_equal(row->pages_created, 1);
    assert_int_equal(row->pages_reused, 1);
    assert_int_equal(row->pages_dropped, 1);
}

static void another_configuration_is_remapped(void **state)
{
    struct fixture *fix = *state;

    map(fix);
    fix->options.flush_threshold = 2;
    const struct vcm_map_source *row = map(fix);
    assert_int_equal(row->status, VCM_STATUS_REMAPPED);
    assert_int_equal(row->pages, 1);
}

static void pinning_alone_remaps_without_a_page_created(void **state)
{
    struct fixture *fix = *state;

    map(fix);
    fix->options.pinned = true;
    const struct vcm_map_source *row = map(fix);
    assert_int_equal(row->status, VCM_STATUS_REMAPPED);
    assert_int_equal(row->pages_created, 0);
    assert_int_equal(map(fix)->status, VCM_STATUS_ALREADY_MAPPED);
}

static void another_origin_needs_replace(void **state)
{
    struct fixture *fix = *state;
    struct vcm_map_result *result = NULL;

    map(fix);
    test_repo_git(&fix->repo, "remote", "add", "origin", "https://example.org/x.git", NULL);
    assert_int_equal(vcm_map(&result, fix->vcm, &fix->options, &fix->err), VCM_INVALID_ARGUMENT);
    assert_null(result);
    assert_non_null(strstr(fix->err.message, "--replace"));
    vcm_error_reset(&fix->err);
    fix->options.replace = true;
    assert_int_equal(map(fix)->status, VCM_STATUS_REMAPPED);
}

static void a_file_that_can_be_read_again_is_mapped_by_the_next_run(void **state)
{
    struct fixture *fix = *state;

    char *id = test_repo_git_output(&fix->repo, "rev-parse", "HEAD:b", NULL);
    char *path = test_repo_object_path(&fix->repo, id);
    assert_int_equal(unlink(path), 0);
    const struct vcm_map_source *row = map(fix);
    assert_int_equal(row->coverage.failed, 1);
    assert_non_null(strstr(row->message, "b (object_missing)"));
    assert_int_equal(fix->result->status, VCM_STATUS_PARTIAL);
    row = map(fix);
    assert_int_equal(row->status, VCM_STATUS_ALREADY_MAPPED);
    assert_int_equal(row->coverage.failed, 1);
    test_repo_git(&fix->repo, "hash-object", "-w", "b", NULL);
    row = map(fix);
    assert_int_equal(row->status, VCM_STATUS_REMAPPED);
    assert_int_equal(row->coverage.failed, 0);
    free(id);
    free(path);
}

#define MAP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MAP_TEST(the_first_map_makes_and_the_second_finds),
        MAP_TEST(a_new_commit_is_remapped_and_shares_what_is_the_same),
        MAP_TEST(another_configuration_is_remapped),
        MAP_TEST(pinning_alone_remaps_without_a_page_created),
        MAP_TEST(another_origin_needs_replace),
        MAP_TEST(a_file_that_can_be_read_again_is_mapped_by_the_next_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
