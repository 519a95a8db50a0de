#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "git/clone.h"
#include "git/credential.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo remote;
    struct test_repo home;
    char url[300];
    char directory[300];
    struct vcm_git_clones clones;
    struct vcm_git_clone clone;
    struct vcm_error err;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->remote);
    test_repo_init_directory(&fix->home);
    test_repo_write_text(&fix->remote, "a", "one\n");
    test_repo_commit(&fix->remote, "one");
    snprintf(fix->url, sizeof fix->url, "file://%s", fix->remote.path);
    snprintf(fix->directory, sizeof fix->directory, "%s/clones", fix->home.path);
    fix->clones.directory = fix->directory;
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_git_clone_release(&fix->clone);
    test_repo_release(&fix->home);
    test_repo_release(&fix->remote);
    free(fix);
    return 0;
}

static int fetch(struct fixture *fix, const char *branch, const char *commit)
{
    const struct vcm_git_clone_request request = {
        .url = fix->url, .branch = branch, .commit = commit};

    vcm_git_clone_release(&fix->clone);
    vcm_error_reset(&fix->err);
    return vcm_git_clone_fetch(&fix->clone, &fix->clones, &request, &fix->err);
}

static void assert_commit(const struct fixture *fix, const char *revision)
{
    char hex[VCM_GIT_ID_HEX + 1];
    char *expected = test_repo_git_output(&fix->remote, "rev-parse", revision, NULL);

    vcm_git_repo_id_to_hex(hex, &fix->clone.commit);
    assert_string_equal(hex, expected);
    free(expected);
}

static void a_clone_is_made_once_and_updated(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf path = VCM_BUF_INIT(4096);

    assert_int_equal(vcm_git_clone_find(&path, &fix->clones, fix->url, &fix->err), VCM_NOT_FOUND);
    vcm_error_reset(&fix->err);
    assert_int_equal(fetch(fix, NULL, NULL), VCM_OK);
    assert_commit(fix, "main");
    assert_string_equal(fix->clone.branch, "main");
    vcm_buf_clear(&path);
    assert_int_equal(vcm_git_clone_find(&path, &fix->clones, fix->url, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&path), fix->clone.path);
    test_repo_write_text(&fix->remote, "a", "two\n");
    test_repo_commit(&fix->remote, "two");
    assert_int_equal(fetch(fix, "main", NULL), VCM_OK);
    assert_commit(fix, "main");
    assert_string_equal(vcm_buf_text(&path), fix->clone.path);
    vcm_buf_release(&path);
}

static void a_guessed_branch_gives_way_to_head(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_clone_request request = {.url = fix->url, .branch = "other"};

    assert_int_equal(fetch(fix, "other", NULL), VCM_NOT_FOUND);
    request.branch_is_a_guess = true;
    vcm_error_reset(&fix->err);
    assert_int_equal(vcm_git_clone_fetch(&fix->clone, &fix->clones, &request, &fix->err), VCM_OK);
    assert_string_equal(fix->clone.branch, "main");
}

static void what_was_fetched_outlives_the_remote(void **state)
{
    struct fixture *fix = *state;
    char *commit = test_repo_git_output(&fix->remote, "rev-parse", "HEAD", NULL);

    assert_int_equal(fetch(fix, NULL, NULL), VCM_OK);
    test_repo_git(&fix->remote, "update-ref", "-d", "refs/heads/main", NULL);
    assert_int_equal(fetch(fix, NULL, NULL), VCM_NOT_FOUND);
    assert_int_equal(fetch(fix, NULL, commit), VCM_OK);
    free(commit);
}

static void a_url_with_control_characters_makes_nothing(void **state)
{
    struct fixture *fix = *state;
    struct stat status;

    snprintf(fix->url, sizeof fix->url, "file:///x\n[core]");
    assert_int_equal(fetch(fix, NULL, NULL), VCM_INVALID_ARGUMENT);
    snprintf(fix->url, sizeof fix->url, "/a/path");
    assert_int_equal(fetch(fix, NULL, NULL), VCM_INVALID_ARGUMENT);
    assert_int_not_equal(stat(fix->directory, &status), 0);
}

static void a_quote_in_the_url_stays_inside_the_configuration(void **state)
{
    struct fixture *fix = *state;
    struct test_repo odd = fix->remote;
    char *plain = test_repo_path(&fix->remote, "q\"uo\\te");
    struct vcm_git_repo *repo = NULL;
    struct vcm_buf origin = VCM_BUF_INIT(4096);

    snprintf(odd.path, sizeof odd.path, "%s", plain);
    test_repo_git(&fix->remote, "clone", "-q", "--bare", ".", plain, NULL);
    snprintf(fix->url, sizeof fix->url, "file://%s", plain);
    assert_int_equal(fetch(fix, NULL, NULL), VCM_OK);
    assert_int_equal(vcm_git_repo_open(&repo, fix->clone.path, &fix->err), VCM_OK);
    assert_int_equal(vcm_git_repo_origin(&origin, repo, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&origin), fix->url);
    vcm_buf_release(&origin);
    vcm_git_repo_close(repo);
    free(plain);
}

static void assert_secret(struct fixture *fix, const char *address, const char *user,
                          const char *password)
{
    struct vcm_git_secret secret;
    struct vcm_git_url url;

    assert_int_equal(vcm_git_url_parse(&url, address, &fix->err), VCM_OK);
    assert_int_equal(vcm_git_credential_find(&secret, &fix->clones, &url, &fix->err), VCM_OK);
    if (user)
        assert_string_equal(secret.user, user);
    else
        assert_null(secret.user);
    if (password)
        assert_string_equal(secret.password, password);
    else
        assert_null(secret.password);
    vcm_git_credential_release(&secret);
    vcm_git_url_release(&url);
}

static void the_closest_pattern_names_the_secret(void **state)
{
    static const struct vcm_git_credential credentials[] = {
        {"*", "VCM_TEST_ANY"},
        {"*.org", "VCM_TEST_ORG"},
        {"git.x.org", "VCM_TEST_HOST"},
        {"git.x.org:8443", "VCM_TEST_PORT"},
    };
    struct fixture *fix = *state;

    fix->clones.credentials = credentials;
    fix->clones.credential_count = 4;
    setenv("VCM_TEST_ANY", "any-token\n", 1);
    setenv("VCM_TEST_ORG", "org:pw:with:colons", 1);
    setenv("VCM_TEST_HOST", "host:pw", 1);
    setenv("VCM_TEST_PORT", "port:pw", 1);
    assert_secret(fix, "https://other.net/x", "x-access-token", "any-token");
    assert_secret(fix, "https://me@other.net/x", "me", "any-token");
    assert_secret(fix, "https://a.b.org/x", "org", "pw:with:colons");
    assert_secret(fix, "https://GIT.x.org:99/x", "host", "pw");
    assert_secret(fix, "https://git.x.org:8443/x", "port", "pw");
    assert_secret(fix, "https://u:p@git.x.org/x", "u", "p");
    assert_secret(fix, "ssh://git@git.x.org/x", NULL, NULL);
    fix->clones.credential_count = 0;
    assert_secret(fix, "https://me@other.net/x", "me", NULL);
    assert_secret(fix, "https://other.net/x", NULL, NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_clone_is_made_once_and_updated),
        TEST(a_guessed_branch_gives_way_to_head),
        TEST(what_was_fetched_outlives_the_remote),
        TEST(a_url_with_control_characters_makes_nothing),
        TEST(a_quote_in_the_url_stays_inside_the_configuration),
        TEST(the_closest_pattern_names_the_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
