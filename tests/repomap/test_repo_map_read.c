#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "repomap/repo_map_read.h"
#include "repomap/repo_map.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo disk;
    struct vcm_error err;
    struct vcm_buf text;
    bool found;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    vcm_buf_init(&fix->text, 4 * VCM_MIB);
    test_repo_init(&fix->disk);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_buf_release(&fix->text);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static int read_commit(struct fixture *fix)
{
    struct vcm_git_repo *repo = NULL;
    struct vcm_git_id commit;

    test_repo_commit(&fix->disk, "x");
    vcm_buf_clear(&fix->text);
    vcm_error_reset(&fix->err);
    int rc = vcm_git_repo_open(&repo, fix->disk.path, &fix->err);
    if (rc == VCM_OK)
        rc = vcm_git_repo_resolve(&commit, repo, NULL, NULL, &fix->err);
    if (rc == VCM_OK)
        rc = vcm_repo_map_read_commit(&fix->text, &fix->found, repo, &commit, &fix->err);
    vcm_git_repo_close(repo);
    return rc;
}

static int read_directory(struct fixture *fix)
{
    vcm_buf_clear(&fix->text);
    vcm_error_reset(&fix->err);
    return vcm_repo_map_read_directory(&fix->text, &fix->found, fix->disk.path, &fix->err);
}

static void check_both(struct fixture *fix, int rc, bool found, const char *text)
{
    assert_int_equal(read_directory(fix), rc);
    assert_int_equal(fix->found && rc == VCM_OK, found);
    assert_string_equal(vcm_buf_text(&fix->text), text);
    assert_int_equal(read_commit(fix), rc);
    assert_int_equal(fix->found && rc == VCM_OK, found);
    assert_string_equal(vcm_buf_text(&fix->text), text);
}

static void put_link(struct fixture *fix, const char *name, const char *target)
{
    char *path = test_repo_path(&fix->disk, name);

    assert_int_equal(symlink(target, path), 0);
    free(path);
}

static void the_text_comes_from_commit_or_directory(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, VCM_REPO_MAP_PATH, "schema_version: 1\n");
    check_both(fix, VCM_OK, true, "schema_version: 1\n");
    test_repo_write_text(&fix->disk, VCM_REPO_MAP_PATH, "");
    check_both(fix, VCM_OK, true, "");
}

static void a_missing_file_is_no_error(void **state)
{
    struct fixture *fix = *state;

    check_both(fix, VCM_OK, false, "");
    test_repo_write_text(&fix->disk, ".colony/manifest.json", "{}");
    check_both(fix, VCM_OK, false, "");
}

static void a_file_in_place_of_the_folder_is_no_map(void **state)
{
    test_repo_write_text(&((struct fixture *)*state)->disk, ".colony", "x");
    check_both(*state, VCM_OK, false, "");
}

static void a_directory_in_place_of_the_file_is_refused(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, VCM_REPO_MAP_PATH "/x", "x");
    check_both(fix, VCM_INVALID_REPO_MAP, false, "");
    assert_string_equal(fix->err.message,
                        ".colony/repo_map.yaml is a directory; it must be a plain "
                        "file of at most 1048576 bytes");
}

static void a_link_is_refused_wherever_it_leads(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, ".colony/real.yaml", "x");
    put_link(fix, VCM_REPO_MAP_PATH, "/etc/passwd");
    check_both(fix, VCM_INVALID_REPO_MAP, false, "");
    test_repo_git(&fix->disk, "rm", "-q", VCM_REPO_MAP_PATH, NULL);
    put_link(fix, VCM_REPO_MAP_PATH, "real.yaml");
    check_both(fix, VCM_INVALID_REPO_MAP, false, "");
}

static void a_link_in_place_of_the_folder_is_refused(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "real/repo_map.yaml", "x");
    put_link(fix, ".colony", "real");
    check_both(fix, VCM_INVALID_REPO_MAP, false, "");
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    struct fixture *fix = *state;
    char *large = calloc(1, VCM_LIMIT_YAML_BYTES + 1);

    memset(large, '#', VCM_LIMIT_YAML_BYTES + 1);
    test_repo_write(&fix->disk, VCM_REPO_MAP_PATH, large, VCM_LIMIT_YAML_BYTES + 1);
    assert_int_equal(read_commit(fix), VCM_INVALID_REPO_MAP);
    assert_int_equal(read_directory(fix), VCM_INVALID_REPO_MAP);
    test_repo_write(&fix->disk, VCM_REPO_MAP_PATH, large, VCM_LIMIT_YAML_BYTES);
    assert_int_equal(read_commit(fix), VCM_OK);
    assert_int_equal(read_directory(fix), VCM_OK);
    free(large);
}

static void a_fifo_is_refused_and_does_not_hang(void **state)
{
    struct fixture *fix = *state;
    char *path = test_repo_path(&fix->disk, VCM_REPO_MAP_PATH);

    test_repo_write_text(&fix->disk, ".colony/x", "x");
    assert_int_equal(mkfifo(path, 0600), 0);
    free(path);
    assert_int_equal(read_directory(fix), VCM_INVALID_REPO_MAP);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_text_comes_from_commit_or_directory),
        TEST(a_missing_file_is_no_error),
        TEST(a_file_in_place_of_the_folder_is_no_map),
        TEST(a_directory_in_place_of_the_file_is_refused),
        TEST(a_link_is_refused_wherever_it_leads),
        TEST(a_link_in_place_of_the_folder_is_refused),
        TEST(a_file_that_is_too_large_is_refused),
        TEST(a_fifo_is_refused_and_does_not_hang),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
