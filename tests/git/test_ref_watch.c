#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "git/ref_watch.h"
#include "tests/support/repo.h"

#include "base/banned.h"

/* Longer than any machine needs to tell; what does not come is waited for this long. */
#define PATIENCE_MS 10000u
#define MOMENT_MS   50u

struct fixture {
    struct test_repo disk;
    struct vcm_git_repo *repo;
    struct vcm_git_ref_watch *watch;
    struct vcm_error err;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->disk);
    test_repo_write_text(&fix->disk, "a", "a\n");
    test_repo_commit(&fix->disk, "first");
    assert_int_equal(vcm_git_ref_watch_open(&fix->watch, &fix->err), VCM_OK);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_git_ref_watch_close(fix->watch);
    vcm_git_repo_close(fix->repo);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static void watch_repo(struct fixture *fix, const char *below)
{
    char *path = test_repo_path(&fix->disk, below);

    vcm_git_repo_close(fix->repo);
    if (vcm_git_repo_open(&fix->repo, path, &fix->err) != VCM_OK ||
        vcm_git_ref_watch_set(fix->watch, fix->repo, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    free(path);
}

static bool changed(struct fixture *fix, unsigned timeout_ms)
{
    bool seen = false;

    /* Events that do not matter end a wait early. */
    for (unsigned i = 0; i < 20 && !seen; i++)
        assert_int_equal(vcm_git_ref_watch_wait(&seen, fix->watch, timeout_ms / 20, &fix->err),
                         VCM_OK);
    return seen;
}

static void a_commit_a_checkout_and_new_branches_wake(void **state)
{
    struct fixture *fix = *state;

    watch_repo(fix, ".");
    assert_false(changed(fix, MOMENT_MS));
    test_repo_commit(&fix->disk, "second");
    assert_true(changed(fix, PATIENCE_MS));
    watch_repo(fix, ".");
    test_repo_git(&fix->disk, "checkout", "--quiet", "--detach", NULL);
    assert_true(changed(fix, PATIENCE_MS));
    watch_repo(fix, ".");
    test_repo_git(&fix->disk, "branch", "deep/er/branch", NULL);
    assert_true(changed(fix, PATIENCE_MS));
    watch_repo(fix, ".");
    test_repo_git(&fix->disk, "branch", "-f", "deep/er/branch", "HEAD~1", NULL);
    assert_true(changed(fix, PATIENCE_MS));
    watch_repo(fix, ".");
    test_repo_git(&fix->disk, "pack-refs", "--all", NULL);
    assert_true(changed(fix, PATIENCE_MS));
}

static void work_in_the_tree_and_the_index_does_not_wake(void **state)
{
    struct fixture *fix = *state;

    watch_repo(fix, ".");
    test_repo_write_text(&fix->disk, "b", "b\n");
    test_repo_git(&fix->disk, "add", "--all", NULL);
    test_repo_git(&fix->disk, "status", "--short", NULL);
    assert_false(changed(fix, MOMENT_MS));
}

static void a_working_tree_wakes_for_its_own_head_and_for_shared_refs(void **state)
{
    struct fixture *fix = *state;

    test_repo_git(&fix->disk, "worktree", "add", "--quiet", "--detach", "tree", NULL);
    watch_repo(fix, "tree");
    test_repo_git(&fix->disk, "-C", "tree", "checkout", "--quiet", "-b", "side", NULL);
    assert_true(changed(fix, PATIENCE_MS));
    watch_repo(fix, "tree");
    test_repo_commit(&fix->disk, "in the other tree");
    assert_true(changed(fix, PATIENCE_MS));
}

static void what_is_watched_no_more_is_quiet(void **state)
{
    struct fixture *fix = *state;

    watch_repo(fix, ".");
    assert_int_equal(vcm_git_ref_watch_set(fix->watch, NULL, &fix->err), VCM_OK);
    test_repo_commit(&fix->disk, "second");
    assert_false(changed(fix, MOMENT_MS));
}

static void a_repository_that_goes_away_wakes(void **state)
{
    struct fixture *fix = *state;

    watch_repo(fix, ".");
    char *from = test_repo_path(&fix->disk, ".git"), *to = test_repo_path(&fix->disk, "git-away");
    assert_int_equal(rename(from, to), 0);
    assert_true(changed(fix, PATIENCE_MS));
    assert_int_equal(rename(to, from), 0);
    free(from);
    free(to);
}

#define WATCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(a_commit_a_checkout_and_new_branches_wake),
        WATCH_TEST(work_in_the_tree_and_the_index_does_not_wake),
        WATCH_TEST(a_working_tree_wakes_for_its_own_head_and_for_shared_refs),
        WATCH_TEST(what_is_watched_no_more_is_quiet),
        WATCH_TEST(a_repository_that_goes_away_wakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
