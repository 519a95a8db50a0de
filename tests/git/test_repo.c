#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "git/repo.h"
#include "tests/support/repo.h"

#include "base/banned.h"

/* libgit2 1.5 leaks a PCRE2 match for each variable that it looks at in a repository of format 1.
 * Named by libgit2's frame, which only the slow unwinder reaches, so as not to hide leaks of ours.
 */
const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:git_config_foreach_match\n";
}

const char *__asan_default_options(void)
{
    return "fast_unwind_on_malloc=0";
}

struct fixture {
    struct test_repo disk;
    struct vcm_git_repo *repo;
    struct vcm_error err;
    char hex[VCM_GIT_ID_HEX + 1];
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init_directory(&fix->disk);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_git_repo_close(fix->repo);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static void make_repository(struct fixture *fix)
{
    test_repo_git(&fix->disk, "init", "-q", NULL);
    test_repo_write_text(&fix->disk, "sub/a.txt", "one\n");
    test_repo_commit(&fix->disk, "first");
}

static void reopen(struct fixture *fix, const char *name)
{
    char *path = test_repo_path(&fix->disk, name);

    vcm_git_repo_close(fix->repo);
    int rc = vcm_git_repo_open(&fix->repo, path, &fix->err);
    if (rc != VCM_OK)
        fail_msg("cannot open '%s': %s", path, fix->err.message);
    free(path);
}

static int open_fails(struct fixture *fix, const char *name)
{
    char *path = test_repo_path(&fix->disk, name);

    vcm_error_reset(&fix->err);
    int rc = vcm_git_repo_open(&fix->repo, path, &fix->err);
    assert_null(fix->repo);
    assert_int_equal(rc, fix->err.code);
    free(path);
    return rc;
}

static void assert_root(struct fixture *fix, const char *name)
{
    char *path = name ? test_repo_path(&fix->disk, name) : strdup(fix->disk.path);

    assert_string_equal(vcm_git_repo_root(fix->repo), path);
    free(path);
}

static int resolve(struct fixture *fix, const char *branch, const char *commit)
{
    struct vcm_git_id id;

    vcm_error_reset(&fix->err);
    int rc = vcm_git_repo_resolve(&id, fix->repo, branch, commit, &fix->err);
    vcm_git_repo_id_to_hex(fix->hex, &id);
    return rc;
}

static void assert_resolves(struct fixture *fix, const char *branch, const char *commit,
                            const char *expected)
{
    char *id = test_repo_git_output(&fix->disk, "rev-parse", expected, NULL);

    int rc = resolve(fix, branch, commit);
    if (rc != VCM_OK)
        fail_msg("%s", fix->err.message);
    assert_string_equal(fix->hex, id);
    free(id);
}

static void assert_branch(struct fixture *fix, const char *expected)
{
    struct vcm_buf name = VCM_BUF_INIT(1024);

    assert_int_equal(vcm_git_repo_head_branch(&name, fix->repo, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&name), expected);
    vcm_buf_release(&name);
}

static void assert_origin(struct fixture *fix, const char *expected)
{
    struct vcm_buf url = VCM_BUF_INIT(1024);

    assert_int_equal(vcm_git_repo_origin(&url, fix->repo, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&url), expected);
    vcm_buf_release(&url);
}

static void a_plain_repository_opens_at_its_root_and_below(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    reopen(fix, "");
    assert_root(fix, NULL);
    assert_false(vcm_git_repo_is_bare(fix->repo));
    assert_branch(fix, "main");
    assert_resolves(fix, NULL, NULL, "HEAD");
    reopen(fix, "sub");
    assert_root(fix, NULL);
    reopen(fix, ".git");
    assert_root(fix, NULL);
}

static void a_bare_repository_has_its_git_directory_as_root(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "clone", "-q", "--bare", ".", "bare.git", NULL);
    reopen(fix, "bare.git");
    assert_root(fix, "bare.git");
    assert_true(vcm_git_repo_is_bare(fix->repo));
    assert_resolves(fix, "main", NULL, "HEAD");
}

static void a_bare_repository_needs_no_configuration(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "clone", "-q", "--bare", ".", "plain", NULL);
    char *config = test_repo_path(&fix->disk, "plain/config");
    assert_int_equal(unlink(config), 0);
    free(config);
    reopen(fix, "plain");
    assert_root(fix, "plain");
    assert_true(vcm_git_repo_is_bare(fix->repo));
}

static void a_worktree_has_its_own_root_and_head(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "worktree", "add", "-q", "-b", "side", "tree", NULL);
    reopen(fix, "tree/sub");
    assert_root(fix, "tree");
    assert_branch(fix, "side");
    assert_false(vcm_git_repo_is_bare(fix->repo));
    assert_resolves(fix, "main", NULL, "main");
}

static void a_worktree_of_a_bare_repository_is_not_bare(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "clone", "-q", "--bare", ".", "bare.git", NULL);
    test_repo_git(&fix->disk, "-C", "bare.git", "worktree", "add", "-q", "-b", "side", "../tree",
                  NULL);
    reopen(fix, "tree");
    assert_root(fix, "tree");
    assert_false(vcm_git_repo_is_bare(fix->repo));
    assert_branch(fix, "side");
    assert_resolves(fix, NULL, NULL, "HEAD");
}

static void a_submodule_checkout_is_a_repository_of_its_own(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "clone", "-q", ".", "upstream", NULL);
    test_repo_git(&fix->disk, "init", "-q", "super", NULL);
    test_repo_git(&fix->disk, "-C", "super", "submodule", "--quiet", "add", "../upstream", "mod",
                  NULL);
    reopen(fix, "super/mod/sub");
    assert_root(fix, "super/mod");
    assert_resolves(fix, NULL, NULL, "HEAD");
}

static void a_symbolic_link_to_a_repository_gives_the_real_root(void **state)
{
    struct fixture *fix = *state;
    char *link = test_repo_path(&fix->disk, "link");
    char *target = test_repo_path(&fix->disk, "real");

    test_repo_git(&fix->disk, "init", "-q", "real", NULL);
    assert_int_equal(symlink(target, link), 0);
    reopen(fix, "link");
    assert_root(fix, "real");
    free(link);
    free(target);
}

static void a_missing_directory_is_named(void **state)
{
    struct fixture *fix = *state;

    assert_int_equal(open_fails(fix, "nowhere"), VCM_NOT_FOUND);
    assert_non_null(strstr(fix->err.message, "/nowhere'"));
    test_repo_write_text(&fix->disk, "file", "x");
    assert_int_equal(open_fails(fix, "file"), VCM_INVALID_ARGUMENT);
    assert_int_equal(open_fails(fix, "file/below"), VCM_NOT_FOUND);
}

static void a_directory_without_repository_says_what_to_do(void **state)
{
    struct fixture *fix = *state;
    char expected[512];

    test_repo_write_text(&fix->disk, "sub/file", "x");
    setenv("GIT_CEILING_DIRECTORIES", fix->disk.path, 1);
    int rc = open_fails(fix, "sub");
    unsetenv("GIT_CEILING_DIRECTORIES");
    assert_int_equal(rc, VCM_NOT_FOUND);
    snprintf(expected, sizeof expected,
             "no git repository at or above '%s/sub'; run 'git init' there or name another "
             "directory",
             fix->disk.path);
    assert_string_equal(fix->err.message, expected);
}

static void the_search_upwards_stops_at_the_ceiling(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    reopen(fix, "sub");
    vcm_git_repo_close(fix->repo);
    fix->repo = NULL;
    setenv("GIT_CEILING_DIRECTORIES", fix->disk.path, 1);
    int rc = open_fails(fix, "sub");
    unsetenv("GIT_CEILING_DIRECTORIES");
    assert_int_equal(rc, VCM_NOT_FOUND);
}

static void names_that_begin_with_a_dash_are_refused(void **state)
{
    struct fixture *fix = *state;

    assert_int_equal(vcm_git_repo_open(&fix->repo, "-x", &fix->err), VCM_INVALID_ARGUMENT);
    assert_null(fix->repo);
    vcm_error_reset(&fix->err);
    assert_int_equal(vcm_git_repo_open(&fix->repo, "", &fix->err), VCM_INVALID_ARGUMENT);
    make_repository(fix);
    reopen(fix, "");
    test_repo_git(&fix->disk, "update-ref", "refs/heads/-x", "HEAD", NULL);
    assert_int_equal(resolve(fix, "-x", NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(resolve(fix, NULL, "-x"), VCM_INVALID_ARGUMENT);
}

static void a_sha256_repository_is_unsupported_and_says_so(void **state)
{
    struct fixture *fix = *state;

    test_repo_git(&fix->disk, "init", "-q", "--object-format=sha256", NULL);
    assert_int_equal(open_fails(fix, ""), VCM_UNSUPPORTED);
    assert_non_null(strstr(fix->err.message, "sha256"));
}

static void an_unknown_extension_is_unsupported_and_named(void **state)
{
    struct fixture *fix = *state;

    test_repo_git(&fix->disk, "init", "-q", NULL);
    test_repo_git(&fix->disk, "config", "core.repositoryFormatVersion", "1", NULL);
    test_repo_git(&fix->disk, "config", "extensions.fancy", "true", NULL);
    assert_int_equal(open_fails(fix, ""), VCM_UNSUPPORTED);
    assert_non_null(strstr(fix->err.message, "extensions.fancy"));
}

static int open_with_safe_directory(struct fixture *fix, const char *value)
{
    char *home = test_repo_path(&fix->disk, "home");
    char text[400];

    vcm_git_repo_close(fix->repo);
    vcm_error_reset(&fix->err);
    snprintf(text, sizeof text, "[safe]\n\tdirectory = %s\n", value);
    test_repo_write_text(&fix->disk, "home/.gitconfig", text);
    setenv("HOME", home, 1);
    int rc = vcm_git_repo_open(&fix->repo, fix->disk.path, &fix->err);
    setenv("HOME", "/nonexistent", 1);
    free(home);
    return rc;
}

static void a_foreign_owner_is_refused_until_the_remedy_is_applied(void **state)
{
    struct fixture *fix = *state;
    char remedy[400];

    if (geteuid() != 0)
        skip();
    make_repository(fix);
    char *chown[] = {"chown", "-R", "65534", fix->disk.path, NULL};
    assert_int_equal(test_repo_run(NULL, chown, NULL), 0);
    assert_int_equal(open_fails(fix, "sub"), VCM_UNSUPPORTED);
    snprintf(remedy, sizeof remedy, "git config --global --add safe.directory '%s'",
             fix->disk.path);
    assert_non_null(strstr(fix->err.message, remedy));
    assert_int_equal(open_with_safe_directory(fix, "/elsewhere"), VCM_UNSUPPORTED);
    assert_int_equal(open_with_safe_directory(fix, "*\n\tdirectory ="), VCM_UNSUPPORTED);
    assert_int_equal(open_with_safe_directory(fix, fix->disk.path), VCM_OK);
    assert_int_equal(open_with_safe_directory(fix, "*"), VCM_OK);
    assert_root(fix, NULL);
    vcm_git_repo_close(fix->repo);
    assert_int_equal(open_fails(fix, "sub"), VCM_UNSUPPORTED);
}

static void extensions_that_do_not_matter_to_a_reader_are_accepted(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "config", "core.repositoryFormatVersion", "1", NULL);
    test_repo_git(&fix->disk, "config", "extensions.worktreeConfig", "true", NULL);
    test_repo_git(&fix->disk, "config", "extensions.partialClone", "origin", NULL);
    reopen(fix, "");
    assert_resolves(fix, "main", NULL, "HEAD");
    reopen(fix, "");
}

static void a_repository_without_commits_says_so(void **state)
{
    struct fixture *fix = *state;
    static const char expected[] = "the repository has no commit yet; commit something first";

    test_repo_git(&fix->disk, "init", "-q", NULL);
    reopen(fix, "");
    assert_branch(fix, "main");
    assert_int_equal(resolve(fix, NULL, NULL), VCM_NOT_FOUND);
    assert_string_equal(fix->err.message, expected);
    assert_int_equal(resolve(fix, NULL, "HEAD"), VCM_NOT_FOUND);
    assert_string_equal(fix->err.message, expected);
    assert_int_equal(resolve(fix, "main", NULL), VCM_NOT_FOUND);
    assert_string_equal(fix->err.message, expected);
}

static void an_orphan_branch_is_not_taken_for_an_empty_repository(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "checkout", "-q", "--orphan", "fresh", NULL);
    reopen(fix, "");
    assert_branch(fix, "fresh");
    assert_int_equal(resolve(fix, NULL, NULL), VCM_NOT_FOUND);
    assert_non_null(strstr(fix->err.message, "name another branch"));
    assert_resolves(fix, "main", NULL, "main");
}

static void a_detached_head_has_no_branch_but_a_commit(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "checkout", "-q", "--detach", NULL);
    reopen(fix, "");
    assert_branch(fix, "");
    assert_resolves(fix, NULL, NULL, "HEAD");
}

static void commits_are_found_by_id_prefix_tag_and_branch(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "tag", "light", NULL);
    test_repo_git(&fix->disk, "tag", "-a", "-m", "x", "heavy", NULL);
    test_repo_git(&fix->disk, "-c", "advice.nestedTag=false", "tag", "-a", "-m", "x", "heavier",
                  "heavy", NULL);
    test_repo_commit(&fix->disk, "second");
    reopen(fix, "");
    char *first = test_repo_git_output(&fix->disk, "rev-parse", "main~1", NULL);
    assert_resolves(fix, NULL, first, "main~1");
    first[7] = '\0';
    assert_resolves(fix, NULL, first, "main~1");
    first[4] = '\0';
    assert_resolves(fix, NULL, first, "main~1");
    first[3] = '\0';
    assert_int_equal(resolve(fix, NULL, first), VCM_NOT_FOUND);
    free(first);
    assert_resolves(fix, NULL, "light", "main~1");
    assert_resolves(fix, NULL, "heavy", "main~1");
    assert_resolves(fix, NULL, "heavier", "main~1");
    assert_resolves(fix, NULL, "refs/heads/main", "main");
    assert_resolves(fix, NULL, "main", "main");
    assert_resolves(fix, "nonsense", "HEAD", "main");
}

static void a_branch_is_sought_at_home_and_then_at_origin(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "branch", "deep/far", NULL);
    test_repo_commit(&fix->disk, "second");
    test_repo_git(&fix->disk, "clone", "-q", ".", "copy", NULL);
    reopen(fix, "copy");
    assert_resolves(fix, "deep/far", NULL, "deep/far");
    assert_resolves(fix, "main", NULL, "main");
    assert_int_equal(resolve(fix, "deep", NULL), VCM_NOT_FOUND);
    assert_int_equal(resolve(fix, "absent", NULL), VCM_NOT_FOUND);
    assert_non_null(strstr(fix->err.message, "'absent'"));
    test_repo_git(&fix->disk, "-C", "copy", "update-ref", "refs/heads/deep/far", "origin/main",
                  NULL);
    assert_resolves(fix, "deep/far", NULL, "main");
}

static void a_tag_is_no_branch(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_git(&fix->disk, "tag", "light", NULL);
    reopen(fix, "");
    assert_int_equal(resolve(fix, "light", NULL), VCM_NOT_FOUND);
}

static void steps_lead_back_to_ancestors(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_commit(&fix->disk, "second");
    test_repo_git(&fix->disk, "checkout", "-q", "-b", "side", "HEAD~1", NULL);
    test_repo_commit(&fix->disk, "beside");
    test_repo_git(&fix->disk, "checkout", "-q", "main", NULL);
    test_repo_git(&fix->disk, "merge", "-q", "--no-ff", "-m", "merged", "side", NULL);
    reopen(fix, "");
    static const char *const names[] = {"HEAD~0", "HEAD^",    "HEAD~1",    "HEAD^2",
                                        "main~2", "HEAD^2~1", "HEAD^0^1^", "side~"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *expected = test_repo_git_output(&fix->disk, "rev-parse", names[i], NULL);
        if (resolve(fix, NULL, names[i]) != VCM_OK)
            fail_msg("'%s': %s", names[i], fix->err.message);
        assert_string_equal(fix->hex, expected);
        free(expected);
    }
    assert_int_equal(resolve(fix, NULL, "HEAD~99"), VCM_NOT_FOUND);
    assert_int_equal(resolve(fix, NULL, "HEAD^3"), VCM_NOT_FOUND);
    assert_int_equal(resolve(fix, NULL, "HEAD~99999999999"), VCM_INVALID_ARGUMENT);
}

static void expressions_are_refused_as_names(void **state)
{
    static const char *const names[] = {
        "",      "HEAD~x",   "~1",        "HEAD^{tree}", "HEAD:sub", ":/first", ":0:sub/a.txt",
        "a..b",  "main@{0}", "@{-1}",     "a b",         "a\nb",     "a\tb",    "a//b",
        "/main", "main/",    "main.lock", "../x",        "a*",       "a[b",     "a\\b",
    };
    struct fixture *fix = *state;

    make_repository(fix);
    test_repo_commit(&fix->disk, "second");
    reopen(fix, "");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (resolve(fix, NULL, names[i]) != VCM_INVALID_ARGUMENT)
            fail_msg("commit '%s' was not refused: %s", names[i], fix->err.message);
        if (resolve(fix, names[i], NULL) != VCM_INVALID_ARGUMENT)
            fail_msg("branch '%s' was not refused: %s", names[i], fix->err.message);
    }
    char *longest = malloc(100001);
    memset(longest, 'a', 100000);
    longest[100000] = '\0';
    assert_int_equal(resolve(fix, longest, NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(resolve(fix, NULL, longest), VCM_INVALID_ARGUMENT);
    free(longest);
}

static void ids_of_other_objects_are_no_commits(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    reopen(fix, "");
    char *tree = test_repo_git_output(&fix->disk, "rev-parse", "HEAD:sub", NULL);
    char *blob = test_repo_git_output(&fix->disk, "rev-parse", "HEAD:sub/a.txt", NULL);
    test_repo_git(&fix->disk, "tag", "-a", "-m", "x", "leaf", blob, NULL);
    assert_int_equal(resolve(fix, NULL, tree), VCM_NOT_FOUND);
    assert_non_null(strstr(fix->err.message, "is a tree, not a commit"));
    assert_int_equal(resolve(fix, NULL, blob), VCM_NOT_FOUND);
    assert_int_equal(resolve(fix, NULL, "leaf"), VCM_NOT_FOUND);
    assert_int_equal(resolve(fix, NULL, "0123456789012345678901234567890123456789"), VCM_NOT_FOUND);
    free(tree);
    free(blob);
}

static void a_prefix_of_several_objects_is_ambiguous(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    reopen(fix, "");
    /* Two blobs whose ids begin with 8324, found by trying. */
    free(test_repo_object(&fix->disk, "blob", "142", 3));
    free(test_repo_object(&fix->disk, "blob", "784", 3));
    assert_int_equal(resolve(fix, NULL, "8324"), VCM_AMBIGUOUS);
    assert_non_null(strstr(fix->err.message, "'8324'"));
}

static void a_missing_or_damaged_commit_is_told_apart(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    char *id = test_repo_git_output(&fix->disk, "rev-parse", "HEAD", NULL);
    char *path = test_repo_object_path(&fix->disk, id);
    assert_int_equal(unlink(path), 0);
    reopen(fix, "");
    assert_int_equal(resolve(fix, NULL, NULL), VCM_NOT_FOUND);
    assert_int_equal(resolve(fix, "main", NULL), VCM_NOT_FOUND);
    test_repo_write_text(&fix->disk, path + strlen(fix->disk.path) + 1, "no object");
    assert_int_equal(resolve(fix, NULL, NULL), VCM_IO_ERROR);
    assert_int_equal(resolve(fix, NULL, id), VCM_IO_ERROR);
    free(path);
    free(id);
}

static void the_origin_loses_its_credentials(void **state)
{
    struct fixture *fix = *state;

    make_repository(fix);
    reopen(fix, "");
    assert_origin(fix, "");
    test_repo_git(&fix->disk, "remote", "add", "origin", "https://me:secret@example.org/a/b.git",
                  NULL);
    assert_origin(fix, "https://example.org/a/b.git");
    test_repo_git(&fix->disk, "remote", "set-url", "--add", "origin", "https://example.org/two",
                  NULL);
    assert_origin(fix, "https://example.org/a/b.git");
    test_repo_git(&fix->disk, "remote", "remove", "origin", NULL);
    test_repo_git(&fix->disk, "remote", "add", "origin", "git@example.org:a/b.git", NULL);
    assert_origin(fix, "git@example.org:a/b.git");
    test_repo_git(&fix->disk, "config", "url.https://other.example/.insteadOf",
                  "git@example.org:", NULL);
    assert_origin(fix, "git@example.org:a/b.git");
}

static void credentials_are_stripped_and_nothing_else(void **state)
{
    static const char *const urls[][2] = {
        {"https://u:p@host/x", "https://host/x"},
        {"https://token@host/x", "https://host/x"},
        {"https://u:p@ss@host:8443/x@y", "https://host:8443/x@y"},
        {"https://@host/x", "https://host/x"},
        {"https://u:p@host", "https://host"},
        {"https://host/a@b/c", "https://host/a@b/c"},
        {"https://host?x=a@b", "https://host"},
        {"HTTP://u:p@host/x", "HTTP://host/x"},
        {"ftp+x://u@host/x", "ftp+x://host/x"},
        {"helper::https://u:p@host/x", "helper::https://host/x"},
        {"ssh://git@host:22/x", "ssh://git@host:22/x"},
        {"ssh://git:p@host/x", "ssh://git@host/x"},
        {"git+ssh://git:p:q@host/x", "git+ssh://git@host/x"},
        {"SSH://git:p@host/x", "SSH://git@host/x"},
        {"git@host:x", "git@host:x"},
        {"host:x//y@z", "host:x//y@z"},
        {"/srv/a://b@c/d", "/srv/a://b@c/d"},
        {"../up@here", "../up@here"},
        {"file:///srv/a@b", "file:///srv/a@b"},
        {"://u:p@host", "://host"},
        {"", ""},
        {"https://", "https://"},
        {"https://u:p@", "https://"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        struct vcm_buf out = VCM_BUF_INIT(256);
        vcm_git_repo_strip_credentials(&out, urls[i][0]);
        assert_string_equal(vcm_buf_text(&out), urls[i][1]);
        vcm_buf_release(&out);
    }
}

static void ids_print_as_forty_digits(void **state)
{
    struct vcm_git_id id = {{0x01, 0xab, 0xff}};
    char hex[VCM_GIT_ID_HEX + 1];

    (void)state;
    vcm_git_repo_id_to_hex(hex, &id);
    assert_string_equal(hex, "01abff0000000000000000000000000000000000");
    assert_int_equal(strncmp(vcm_git_repo_library_version(), "libgit2 1.", 10), 0);
}

static void *open_and_resolve(void *path)
{
    for (int i = 0; i < 20; i++) {
        struct vcm_git_repo *repo = NULL;
        struct vcm_git_id id;
        int rc = vcm_git_repo_open(&repo, path, NULL);
        if (rc == VCM_OK)
            rc = vcm_git_repo_resolve(&id, repo, "main", NULL, NULL);
        vcm_git_repo_close(repo);
        if (rc != VCM_OK)
            return path;
    }
    return NULL;
}

static void threads_open_and_close_handles_of_their_own(void **state)
{
    struct fixture *fix = *state;
    pthread_t threads[4];

    make_repository(fix);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_resolve, fix->disk.path), 0);
    for (size_t i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_plain_repository_opens_at_its_root_and_below),
        TEST(a_bare_repository_has_its_git_directory_as_root),
        TEST(a_bare_repository_needs_no_configuration),
        TEST(a_worktree_has_its_own_root_and_head),
        TEST(a_worktree_of_a_bare_repository_is_not_bare),
        TEST(a_submodule_checkout_is_a_repository_of_its_own),
        TEST(a_symbolic_link_to_a_repository_gives_the_real_root),
        TEST(a_missing_directory_is_named),
        TEST(a_directory_without_repository_says_what_to_do),
        TEST(the_search_upwards_stops_at_the_ceiling),
        TEST(names_that_begin_with_a_dash_are_refused),
        TEST(a_sha256_repository_is_unsupported_and_says_so),
        TEST(an_unknown_extension_is_unsupported_and_named),
        TEST(extensions_that_do_not_matter_to_a_reader_are_accepted),
        TEST(a_foreign_owner_is_refused_until_the_remedy_is_applied),
        TEST(a_repository_without_commits_says_so),
        TEST(an_orphan_branch_is_not_taken_for_an_empty_repository),
        TEST(a_detached_head_has_no_branch_but_a_commit),
        TEST(commits_are_found_by_id_prefix_tag_and_branch),
        TEST(a_branch_is_sought_at_home_and_then_at_origin),
        TEST(a_tag_is_no_branch),
        TEST(steps_lead_back_to_ancestors),
        TEST(expressions_are_refused_as_names),
        TEST(ids_of_other_objects_are_no_commits),
        TEST(a_prefix_of_several_objects_is_ambiguous),
        TEST(a_missing_or_damaged_commit_is_told_apart),
        TEST(the_origin_loses_its_credentials),
        cmocka_unit_test(credentials_are_stripped_and_nothing_else),
        cmocka_unit_test(ids_print_as_forty_digits),
        TEST(threads_open_and_close_handles_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
