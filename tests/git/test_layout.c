#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "git/layout.h"
#include "tests/support/repo.h"

#include "base/banned.h"

static void assert_layout(const struct test_repo *disk, const char *below, const char *own,
                          const char *shared)
{
    struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    char *path = test_repo_path(disk, below), *own_path = test_repo_path(disk, own);
    char *shared_path = test_repo_path(disk, shared);
    struct vcm_git_repo *repo;
    struct vcm_error err = {0};

    assert_int_equal(vcm_git_repo_open(&repo, path, &err), VCM_OK);
    assert_int_equal(vcm_git_layout_directory(&out, repo, &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), own_path);
    vcm_buf_clear(&out);
    assert_int_equal(vcm_git_layout_common_directory(&out, repo, &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), shared_path);
    vcm_git_repo_close(repo);
    vcm_buf_release(&out);
    free(path);
    free(own_path);
    free(shared_path);
}

static void directories_are_known_of_trees_and_bare_ones(void **state)
{
    struct test_repo disk;

    (void)state;
    test_repo_init(&disk);
    test_repo_commit(&disk, "first");
    test_repo_git(&disk, "worktree", "add", "--quiet", "tree", NULL);
    test_repo_git(&disk, "clone", "--quiet", "--bare", ".", "bare.git", NULL);
    assert_layout(&disk, ".", ".git", ".git");
    assert_layout(&disk, "tree", ".git/worktrees/tree", ".git");
    assert_layout(&disk, "bare.git", "bare.git", "bare.git");
    test_repo_release(&disk);
}

static void a_setting_is_read_or_empty(void **state)
{
    struct vcm_buf out = VCM_BUF_INIT(64);
    struct vcm_git_repo *repo;
    struct vcm_error err = {0};
    struct test_repo disk;

    (void)state;
    test_repo_init(&disk);
    test_repo_git(&disk, "config", "lfs.storage", "over there", NULL);
    assert_int_equal(vcm_git_repo_open(&repo, disk.path, &err), VCM_OK);
    assert_int_equal(vcm_git_layout_setting(&out, repo, "lfs.storage", &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&out), "over there");
    vcm_buf_clear(&out);
    assert_int_equal(vcm_git_layout_setting(&out, repo, "lfs.other", &err), VCM_OK);
    assert_int_equal(out.len, 0);
    vcm_git_repo_close(repo);
    vcm_buf_release(&out);
    test_repo_release(&disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories_are_known_of_trees_and_bare_ones),
        cmocka_unit_test(a_setting_is_read_or_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
