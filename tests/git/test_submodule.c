#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "git/submodule.h"
#include "tests/support/repo.h"

#include "base/banned.h"

#define GITLINK "1234567890123456789012345678901234567890"

struct fixture {
    struct test_repo disk;
    struct vcm_git_repo *repo;
    struct vcm_git_id commit;
    struct vcm_git_submodule found;
    struct vcm_error err;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->disk);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_git_submodule_release(&fix->found);
    vcm_git_repo_close(fix->repo);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static void reopen(struct fixture *fix)
{
    vcm_git_repo_close(fix->repo);
    if (vcm_git_repo_open(&fix->repo, fix->disk.path, &fix->err) != VCM_OK ||
        vcm_git_repo_resolve(&fix->commit, fix->repo, NULL, NULL, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
}

/* Commits a .gitmodules with this text, and a gitlink at `path`. */
static void commit(struct fixture *fix, const char *modules, const char *path)
{
    char cache_info[300];

    test_repo_write_text(&fix->disk, ".gitmodules", modules);
    test_repo_git(&fix->disk, "add", ".gitmodules", NULL);
    if (path) {
        snprintf(cache_info, sizeof cache_info, "160000,%s,%s", GITLINK, path);
        test_repo_git(&fix->disk, "update-index", "--add", "--cacheinfo", cache_info, NULL);
    }
    test_repo_git(&fix->disk, "commit", "-q", "--allow-empty", "-m", "x", NULL);
    reopen(fix);
}

static int find(struct fixture *fix, const char *path)
{
    vcm_git_submodule_release(&fix->found);
    vcm_error_reset(&fix->err);
    return vcm_git_submodule_find(&fix->found, fix->repo, &fix->commit, path, &fix->err);
}

static void check_found(struct fixture *fix, const char *path, const char *url)
{
    char hex[VCM_GIT_ID_HEX + 1];

    if (find(fix, path) != VCM_OK)
        fail_msg("%s", fix->err.message);
    assert_string_equal(fix->found.url, url);
    vcm_git_repo_id_to_hex(hex, &fix->found.commit);
    assert_string_equal(hex, GITLINK);
}

static void check_refused(struct fixture *fix, const char *path, int code, const char *message)
{
    assert_int_equal(find(fix, path), code);
    assert_string_equal(fix->err.message, message);
}

static void url_and_commit_come_from_the_commits_own_tree(void **state)
{
    struct fixture *fix = *state;

    commit(fix, "[submodule \"lib\"]\n\tpath = third/lib\n\turl = https://example.org/lib.git\n",
           "third/lib");
    test_repo_write_text(&fix->disk, ".gitmodules", "");
    check_found(fix, "third/lib", "https://example.org/lib.git");
    check_found(fix, "third/lib/", "https://example.org/lib.git");
    assert_string_equal(fix->found.name, "lib");
    assert_string_equal(fix->found.path, "third/lib");
}

static void quotes_escapes_and_comments_are_git_configuration(void **state)
{
    struct fixture *fix = *state;

    commit(fix,
           "# a comment\n[Submodule \"a \\\"name\\\"\"] ; another\n"
           "  PATH = \"third party/a;b\" # here\n  url=\"https://example.org/\\\"x\"\n",
           "third party/a;b");
    check_found(fix, "third party/a;b", "https://example.org/\"x");
    assert_string_equal(fix->found.name, "a \"name\"");
}

static void credentials_in_a_url_are_left_out(void **state)
{
    struct fixture *fix = *state;

    commit(fix, "[submodule \"a\"]\n path = a\n url = https://u:secret@example.org/a\n", "a");
    check_found(fix, "a", "https://example.org/a");
}

static void what_is_missing_is_told(void **state)
{
    struct fixture *fix = *state;

    test_repo_commit(&fix->disk, "x");
    reopen(fix);
    check_refused(fix, "lib", VCM_NOT_FOUND, "no submodule 'lib': the commit has no .gitmodules");
    commit(fix, "[submodule \"a\"]\n path = a\n[submodule \"b\"]\n path = b\n url = x\n", "a");
    check_refused(fix, "lib", VCM_NOT_FOUND, "no submodule 'lib' in .gitmodules");
    check_refused(fix, "a", VCM_NOT_FOUND, "the submodule 'a' has no url in .gitmodules");
    check_refused(fix, "b", VCM_NOT_FOUND,
                  "'b' is in .gitmodules, but is no submodule of the commit; 'git add' it there");
}

static void a_file_in_place_of_the_gitlink_is_no_submodule(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "a", "x");
    test_repo_git(&fix->disk, "add", "a", NULL);
    commit(fix, "[submodule \"a\"]\n path = a\n url = x\n", NULL);
    assert_int_equal(find(fix, "a"), VCM_NOT_FOUND);
}

static void paths_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const paths[] = {"../a", "a/../b", "-a", "/a", "", "a\nb", "a\rb", "a//b"};
    struct fixture *fix = *state;

    commit(fix, "[submodule \"a\"]\n path = a\n url = x\n", "a");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(find(fix, paths[i]), VCM_INVALID_ARGUMENT);
        assert_non_null(strstr(fix->err.message, "is refused"));
    }
}

static void names_and_urls_with_tricks_are_refused(void **state)
{
    static const char *const modules[] = {
        "[submodule \"../../hooks\"]\n path = a\n url = x\n",
        "[submodule \"-x\"]\n path = a\n url = x\n",
        "[submodule \"x\"]\n path = a\n url = --upload-pack=evil\n",
        "[submodule \"x\"]\n path = a\n url = \"a\\nb\"\n",
        "[submodule \"x\"]\n path = a\n url = \"a\rb\"\n",
        "[submodule \"x\"]\n path = a\n url = ../../../../../../../../../../x\n",
        "[submodule \"x\n path = a\n",
    };
    struct fixture *fix = *state;

    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        commit(fix, modules[i], "a");
        if (find(fix, "a") != VCM_INVALID_ARGUMENT)
            fail_msg("%s: %d %s", modules[i], (int)fix->err.code, fix->err.message);
    }
}

static void includes_are_not_followed(void **state)
{
    static const char *const forms[] = {
        "[include]\n path = %s/other\n",
        "[INCLUDE]path=%s/other\n",
        "[x] [include] path = %s/other\n",
        "[includeIf \"gitdir:/**\"]\n path = %s/other\n",
        "[include]\n path = ../other\n path = %s/other\n",
    };
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "other",
                         "[submodule \"evil\"]\n path = a\n url = https://evil.example/\n");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct vcm_buf modules = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
        const char *at = strstr(forms[i], "%s");
        vcm_buf_append(&modules, forms[i], (size_t)(at - forms[i]));
        vcm_buf_append_string(&modules, fix->disk.path);
        vcm_buf_append_string(&modules, at + 2);
        vcm_buf_append_string(&modules, "[submodule \"b\"]\n path = b\n url = x\n");
        commit(fix, vcm_buf_text(&modules), "a");
        int rc = find(fix, "a");
        if (rc == VCM_OK)
            fail_msg("%s was followed", forms[i]);
        vcm_buf_release(&modules);
    }
}

/* The git program itself refuses to make such a commit. */
static void a_gitmodules_that_is_a_link_is_refused(void **state)
{
    char *const argv[] = {"sh", "-c",
                          "blob=$(printf real | git hash-object -w --stdin) && "
                          "tree=$(printf '120000 blob %s\\t.gitmodules\\n' $blob | git mktree) && "
                          "git update-ref refs/heads/main $(git commit-tree -m x $tree)",
                          NULL};
    struct fixture *fix = *state;

    assert_int_equal(test_repo_run(fix->disk.path, argv, NULL), 0);
    reopen(fix);
    check_refused(fix, "a", VCM_INVALID_ARGUMENT, "submodule 'a': .gitmodules is no plain file");
}

static void a_gitmodules_that_is_too_large_is_refused(void **state)
{
    struct fixture *fix = *state;
    char *large = malloc(VCM_LIMIT_GITMODULES_BYTES + 2);

    memset(large, '#', VCM_LIMIT_GITMODULES_BYTES + 1);
    large[VCM_LIMIT_GITMODULES_BYTES + 1] = '\0';
    commit(fix, large, "a");
    free(large);
    assert_int_equal(find(fix, "a"), VCM_UNSUPPORTED);
}

/* What 'git submodule init' makes of the same url. */
static void relative_urls_are_resolved_as_git_resolves_them(void **state)
{
    static const char *const origins[] = {
        "https://example.org/group/parent.git",
        "https://example.org:8080/group/deep/parent/",
        "ssh://git@example.org/group/parent",
        "git@example.org:group/parent.git",
        "git@example.org:/abs/parent",
        "file:///srv/git/parent.git",
        "/srv/g:t/git/parent.git",
        NULL,
    };
    static const char *const urls[] = {"../child.git", "./child",   "../other/child",
                                       ".././../x",    "../child/", "https://example.net/y"};
    struct fixture *fix = *state;

    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        for (size_t j = 0; j < sizeof urls / sizeof urls[0]; j++) {
            char modules[256];
            snprintf(modules, sizeof modules, "[submodule \"s\"]\n path = s\n url = %s\n", urls[j]);
            char *set[] = {"git", "config", "remote.origin.url", (char *)origins[i], NULL};
            char *unset[] = {"git", "config", "--unset", "submodule.s.url", NULL};
            if (origins[i])
                assert_int_equal(test_repo_run(fix->disk.path, set, NULL), 0);
            else if (j == 0)
                test_repo_git(&fix->disk, "config", "--unset", "remote.origin.url", NULL);
            test_repo_run(fix->disk.path, unset, NULL);
            commit(fix, modules, "s");
            char *init[] = {"sh", "-c", "git submodule --quiet init s 2>/dev/null", NULL};
            assert_int_equal(test_repo_run(fix->disk.path, init, NULL), 0);
            char *expected = test_repo_git_output(&fix->disk, "config", "submodule.s.url", NULL);
            check_found(fix, "s", expected);
            free(expected);
        }
    }
}

static void a_relative_origin_is_resolved_from_the_root(void **state)
{
    struct fixture *fix = *state;
    char expected[300];

    test_repo_git(&fix->disk, "config", "remote.origin.url", "./up/parent.git", NULL);
    commit(fix, "[submodule \"s\"]\n path = s\n url = ../child.git\n", "s");
    snprintf(expected, sizeof expected, "%s/up/child.git", fix->disk.path);
    check_found(fix, "s", expected);
}

static void a_url_that_leads_above_its_root_is_refused(void **state)
{
    static const char *const bases[][2] = {
        {"https://example.org/a", "../../x"},
        {"https://example.org", "../x"},
        {"git@example.org:a", "../../x"},
        {"/a", "../../x"},
        {"file:///a", "../../x"},
    };
    struct vcm_buf url = VCM_BUF_INIT(1024);

    (void)state;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++)
        assert_int_equal(vcm_git_submodule_resolve_url(&url, bases[i][0], bases[i][1], NULL),
                         VCM_INVALID_ARGUMENT);
    vcm_buf_release(&url);
}

static void a_submodule_that_is_here_is_opened(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_repo *inner = NULL;
    struct test_repo other;

    test_repo_init(&other);
    test_repo_write_text(&other, "x", "x");
    test_repo_commit(&other, "x");
    test_repo_git(&fix->disk, "submodule", "--quiet", "add", "--name", "n", other.path, "deep/sub",
                  NULL);
    test_repo_commit(&fix->disk, "x");
    reopen(fix);
    assert_int_equal(find(fix, "deep/sub"), VCM_OK);
    assert_int_equal(vcm_git_submodule_open(&inner, fix->repo, &fix->found, &fix->err), VCM_OK);
    char *root = test_repo_path(&fix->disk, "deep/sub");
    assert_string_equal(vcm_git_repo_root(inner), root);
    free(root);
    vcm_git_repo_close(inner);

    test_repo_git(&fix->disk, "submodule", "--quiet", "deinit", "-f", "deep/sub", NULL);
    assert_int_equal(vcm_git_submodule_open(&inner, fix->repo, &fix->found, &fix->err), VCM_OK);
    vcm_git_repo_close(inner);

    fix->found.commit.bytes[0] ^= 1;
    assert_int_equal(vcm_git_submodule_open(&inner, fix->repo, &fix->found, &fix->err),
                     VCM_NOT_FOUND);
    assert_null(inner);
    test_repo_release(&other);
}

static void a_submodule_that_is_not_here_is_not_found(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_repo *inner = NULL;

    commit(fix, "[submodule \"s\"]\n path = s\n url = x\n", "s");
    assert_int_equal(find(fix, "s"), VCM_OK);
    assert_int_equal(vcm_git_submodule_open(&inner, fix->repo, &fix->found, &fix->err),
                     VCM_NOT_FOUND);
    char *path = test_repo_path(&fix->disk, "s");
    assert_int_equal(symlink("/", path), 0);
    free(path);
    assert_int_equal(vcm_git_submodule_open(&inner, fix->repo, &fix->found, &fix->err),
                     VCM_NOT_FOUND);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(url_and_commit_come_from_the_commits_own_tree),
        TEST(quotes_escapes_and_comments_are_git_configuration),
        TEST(credentials_in_a_url_are_left_out),
        TEST(what_is_missing_is_told),
        TEST(a_file_in_place_of_the_gitlink_is_no_submodule),
        TEST(paths_that_lead_elsewhere_are_refused),
        TEST(names_and_urls_with_tricks_are_refused),
        TEST(includes_are_not_followed),
        TEST(a_gitmodules_that_is_a_link_is_refused),
        TEST(a_gitmodules_that_is_too_large_is_refused),
        TEST(relative_urls_are_resolved_as_git_resolves_them),
        TEST(a_relative_origin_is_resolved_from_the_root),
        TEST(a_url_that_leads_above_its_root_is_refused),
        TEST(a_submodule_that_is_here_is_opened),
        TEST(a_submodule_that_is_not_here_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
