/*
 * The git program is the authority: 'git add --all' on a copy of the index, with objects in a
 * directory of their own, and 'git write-tree' give the id of the tree that the working tree makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>
#include <cmocka.h>

#include "base/limits.h"
#include "git/blob.h"
#include "git/overlay.h"
#include "git/tree.h"
#include "sources/worktree.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo disk;
    struct vcm_git_repo *repo;
    struct vcm_worktree tree;
    struct vcm_error err;
    uint64_t seed;
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

    vcm_git_repo_close(fix->repo);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static int take(struct fixture *fix)
{
    vcm_error_reset(&fix->err);
    vcm_git_repo_close(fix->repo);
    fix->repo = NULL;
    if (vcm_git_repo_open(&fix->repo, fix->disk.path, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    return vcm_worktree_take(&fix->tree, fix->repo, NULL, &fix->err);
}

static char *in_repo(struct fixture *fix, const char *name)
{
    return test_repo_path(&fix->disk, name);
}

static size_t count_lines(const char *text)
{
    size_t lines = text[0] != '\0';

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* The tree that git makes of the working tree. Its objects go to another directory, so that vcm
 * cannot find them in the repository. */
static char *expected_tree(struct fixture *fix)
{
    char *index = in_repo(fix, ".git/index"), *copy = in_repo(fix, ".git/copy");
    char *objects = in_repo(fix, ".git/elsewhere"), *own = in_repo(fix, ".git/objects");
    char *const cp[] = {"cp", "-p", index, copy, NULL};

    mkdir(objects, 0700);
    unlink(copy);
    if (access(index, F_OK) == 0)
        assert_int_equal(test_repo_run(NULL, cp, NULL), 0);
    setenv("GIT_INDEX_FILE", copy, 1);
    setenv("GIT_OBJECT_DIRECTORY", objects, 1);
    setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", own, 1);
    test_repo_git(&fix->disk, "-c", "advice.addEmbeddedRepo=false", "add", "--all", NULL);
    char *tree = test_repo_git_output(&fix->disk, "write-tree", NULL);
    unsetenv("GIT_INDEX_FILE");
    unsetenv("GIT_OBJECT_DIRECTORY");
    unsetenv("GIT_ALTERNATE_OBJECT_DIRECTORIES");
    free(index);
    free(copy);
    free(objects);
    free(own);
    return tree;
}

static size_t expected_changes(struct fixture *fix, const char *tree)
{
    char *objects = in_repo(fix, ".git/elsewhere");
    char *head = test_repo_git_output(&fix->disk, "for-each-ref", "refs/heads/main", NULL);

    setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects, 1);
    char *names =
        head[0] != '\0'
            ? test_repo_git_output(&fix->disk, "diff-tree", "-r", "--no-renames", "--name-only",
                                   "HEAD", tree, NULL)
            : test_repo_git_output(&fix->disk, "ls-tree", "-r", "--name-only", tree, NULL);
    unsetenv("GIT_ALTERNATE_OBJECT_DIRECTORIES");
    size_t lines = count_lines(names);
    free(names);
    free(head);
    free(objects);
    return lines;
}

/* What differs from HEAD is also what 'git status' names; it may name more: a file whose staged
 * change was taken back on disk. */
static void assert_status_agrees(struct fixture *fix)
{
    char *status = test_repo_git_output(&fix->disk, "status", "--porcelain=v2", "-uall",
                                        "--no-renames", "--ignore-submodules=dirty", NULL);
    size_t lines = count_lines(status);

    if (fix->tree.changes > lines ||
        (fix->tree.changes == 0) > (lines == 0 || strstr(status, "1 ")))
        fail_msg("seed %llu: %llu changes, but git says:\n%s", (unsigned long long)fix->seed,
                 (unsigned long long)fix->tree.changes, status);
    free(status);
}

static int print_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    char hex[VCM_GIT_ID_HEX + 1];

    (void)context;
    (void)err;
    vcm_git_repo_id_to_hex(hex, &entry->id);
    print_message("%d %s %.*s\n", entry->kind, hex, (int)entry->path.len, entry->path.data);
    return VCM_OK;
}

static void fail_with_listings(struct fixture *fix, const char *expected)
{
    char *objects = in_repo(fix, ".git/elsewhere");

    vcm_git_tree_walk(fix->repo, &fix->tree.commit, "", print_entry, NULL, NULL, NULL);
    setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects, 1);
    char *listing = test_repo_git_output(&fix->disk, "ls-tree", "-r", expected, NULL);
    unsetenv("GIT_ALTERNATE_OBJECT_DIRECTORIES");
    fail_msg("seed %llu, but git makes of it:\n%s", (unsigned long long)fix->seed, listing);
}

static void assert_as_git(struct fixture *fix)
{
    char hex[VCM_GIT_ID_HEX + 1];
    struct vcm_worktree counted;

    if (take(fix) != VCM_OK)
        fail_msg("%s (%s)", fix->err.message, fix->err.context);
    vcm_git_repo_id_to_hex(hex, &fix->tree.tree);
    char *expected = expected_tree(fix);
    if (strcmp(hex, expected) != 0)
        fail_with_listings(fix, expected);
    assert_int_equal(fix->tree.changes, expected_changes(fix, expected));
    assert_status_agrees(fix);
    assert_int_equal(vcm_worktree_count(&counted, fix->repo, NULL, NULL, &fix->err), VCM_OK);
    assert_memory_equal(&counted.tree, &fix->tree.tree, sizeof counted.tree);
    assert_int_equal(counted.changes, fix->tree.changes);
    free(expected);
}

static char *text_of(struct fixture *fix, const char *path)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_git_entry entry;

    if (vcm_git_tree_entry(&entry, fix->repo, &fix->tree.commit, path, &fix->err) != VCM_OK ||
        vcm_git_blob_read(&text, fix->repo, &entry.id, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    vcm_buf_append_byte(&text, '\0');
    return vcm_buf_detach(&text);
}

static bool has(struct fixture *fix, const char *path)
{
    struct vcm_git_entry entry;

    return vcm_git_tree_entry(&entry, fix->repo, &fix->tree.commit, path, NULL) == VCM_OK;
}

static unsigned next(struct fixture *fix, unsigned bound)
{
    fix->seed = fix->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(fix->seed >> 33) % bound;
}

static const char *const names[] = {
    "a",          "a.c",     "a-b",     "b/x.c",     "b/y",       "b/c/deep",  "b-/z",
    "with blank", "-dash",   "d/e/f/g", "ignored.o", "d/kept.o",  "tmp/one",   "tmp/two.o",
    "b/\xc3\xa9", "zz/last", "exe",     "link",      "b/.hidden", "d/e/tmp/x",
};
#define NAMES (sizeof names / sizeof *names)

static void remove_path(struct fixture *fix, const char *name)
{
    char *path = in_repo(fix, name);
    char *const rm[] = {"rm", "-rf", "--", path, NULL};

    assert_int_equal(test_repo_run(NULL, rm, NULL), 0);
    free(path);
}

/* Makes room for a file: no parent of it may be one. */
static void clear_way(struct fixture *fix, const char *name)
{
    char parent[64];
    struct stat status;

    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - name), name);
        char *path = in_repo(fix, parent);
        if (lstat(path, &status) == 0 && !S_ISDIR(status.st_mode))
            remove_path(fix, parent);
        free(path);
    }
    remove_path(fix, name);
}

static void write_some(struct fixture *fix, const char *name)
{
    static const char *const texts[] = {"", "one\n", "two\n", "three\nlines\n", "one\r\n"};

    clear_way(fix, name);
    test_repo_write_text(&fix->disk, name, texts[next(fix, 5)]);
}

static void write_rules(struct fixture *fix)
{
    static const char *const places[] = {".gitignore", "b/.gitignore", "d/.gitignore",
                                         ".git/info/exclude", "d/e/.gitignore"};
    static const char *const rules[] = {
        "*.o\n", "tmp/\n", "!kept.o\n*.o\n", "*.o\n!kept.o\n", "/a\n",
        "b/*\n", "",       "**/deep\n",      "d/**/g\n",       ".*\n!.gitignore\n"};
    unsigned place = next(fix, 5);

    if (place != 3)
        clear_way(fix, places[place]);
    test_repo_write_text(&fix->disk, places[place], rules[next(fix, 10)]);
}

static int run_quietly(struct fixture *fix, char *const argv[])
{
    char *output = NULL;

    int status = test_repo_run(fix->disk.path, argv, &output);
    free(output);
    return status;
}

static void git_on(struct fixture *fix, const char *verb, const char *option, const char *name)
{
    char *const argv[] = {"git", (char *)verb, (char *)option, "--", (char *)name, NULL};

    /* Whether git refuses depends on the state, which is what the test wants. */
    run_quietly(fix, argv);
}

static void make_link(struct fixture *fix, const char *name)
{
    static const char *const targets[] = {"a", "/etc/hosts", "b", "nowhere", ".."};
    char *path = in_repo(fix, name);

    clear_way(fix, name);
    test_repo_write_text(&fix->disk, name, "x");
    remove_path(fix, name);
    assert_int_equal(symlink(targets[next(fix, 5)], path), 0);
    free(path);
}

static void touch(struct fixture *fix, const char *name)
{
    char *path = in_repo(fix, name);
    struct stat status;

    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode))
        utime(path, &(struct utimbuf){1000000000 + next(fix, 1000), 1000000000});
    free(path);
}

static void change_mode(struct fixture *fix, const char *name)
{
    char *path = in_repo(fix, name);
    struct stat status;

    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode))
        assert_int_equal(chmod(path, status.st_mode & 0100 ? 0644 : 0755), 0);
    free(path);
}

static void step(struct fixture *fix)
{
    const char *name = names[next(fix, NAMES)];

    switch (next(fix, 16)) {
    case 0:
        git_on(fix, "add", "-f", name);
        break;
    case 1:
        git_on(fix, "rm", "--cached", name);
        break;
    case 2:
        git_on(fix, "add", "-N", name);
        break;
    case 3:
        remove_path(fix, name);
        break;
    case 4:
        make_link(fix, name);
        break;
    case 5:
        change_mode(fix, name);
        break;
    case 6:
        touch(fix, name);
        break;
    case 7:
        write_rules(fix);
        break;
    case 8:
        if (next(fix, 3) == 0)
            test_repo_git(&fix->disk, "commit", "-q", "--allow-empty", "-m", "x", NULL);
        break;
    case 9:
        if (next(fix, 3) == 0)
            git_on(fix, "update-index", next(fix, 2) ? "--skip-worktree" : "--no-skip-worktree",
                   name);
        break;
    case 10:
        if (next(fix, 3) == 0)
            git_on(fix, "update-index",
                   next(fix, 2) ? "--assume-unchanged" : "--no-assume-unchanged", name);
        break;
    case 11:
        test_repo_git(&fix->disk, "update-index", "--index-version", next(fix, 2) ? "4" : "2",
                      NULL);
        break;
    default:
        write_some(fix, name);
    }
}

static void random_states_are_what_git_makes_of_them(void **state)
{
    struct fixture *fix = *state;

    for (uint64_t seed = 1; seed <= 6; seed++) {
        fix->seed = seed;
        for (unsigned i = 0; i < 40; i++) {
            for (unsigned j = 0; j < 4; j++)
                step(fix);
            if (i % 4 == 3)
                assert_as_git(fix);
        }
    }
}

static void a_repository_without_commits_has_its_untracked_files(void **state)
{
    struct fixture *fix = *state;

    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 0);
    test_repo_write_text(&fix->disk, "dir/file", "text\n");
    test_repo_write_text(&fix->disk, "staged", "text\n");
    test_repo_git(&fix->disk, "add", "staged", NULL);
    assert_as_git(fix);
    assert_false(fix->tree.has_head);
    assert_int_equal(fix->tree.changes, 2);
}

static void a_bare_repository_is_refused(void **state)
{
    struct fixture *fix = *state;
    struct vcm_worktree counted;

    test_repo_git(&fix->disk, "config", "core.bare", "true", NULL);
    assert_int_equal(take(fix), VCM_UNSUPPORTED);
    assert_non_null(strstr(fix->err.message, "bare"));
    assert_int_equal(vcm_worktree_count(&counted, fix->repo, NULL, NULL, &fix->err), VCM_OK);
    assert_int_equal(counted.changes, 0);
}

static void texts_are_read_through_every_handle_of_the_snapshot(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_repo *again = NULL;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
    struct vcm_git_entry entry;

    test_repo_write_text(&fix->disk, "kept", "kept\n");
    test_repo_write_text(&fix->disk, "changed", "before\n");
    test_repo_commit(&fix->disk, "first");
    test_repo_write_text(&fix->disk, "changed", "after\n");
    assert_int_equal(take(fix), VCM_OK);
    test_repo_write_text(&fix->disk, "changed", "later, and longer\n");

    char *now = text_of(fix, "changed");
    assert_string_equal(now, "after\n");
    free(now);
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->tree.commit, "kept", &fix->err),
                     VCM_OK);
    assert_false(vcm_git_overlay_has(fix->repo, &entry.id));
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->tree.commit, "changed", &fix->err),
                     VCM_OK);
    assert_true(vcm_git_overlay_has(fix->repo, &entry.id));
    assert_int_equal(vcm_git_repo_open_again(&again, fix->repo, &fix->err), VCM_OK);
    vcm_git_repo_close(fix->repo);
    fix->repo = NULL;
    assert_int_equal(vcm_git_blob_read(&text, again, &entry.id, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&text), "after\n");
    vcm_buf_release(&text);
    vcm_git_repo_close(again);
    char *objects = test_repo_git_output(&fix->disk, "count-objects", NULL);
    assert_memory_equal(objects, "4 objects", 9);
    free(objects);
}

/* The times say nothing: same second, same size. */
static void a_change_within_the_clocks_step_is_seen(void **state)
{
    struct fixture *fix = *state;

    for (const char *letter = "abcdef"; *letter; letter++) {
        test_repo_write(&fix->disk, "file", letter, 1);
        test_repo_git(&fix->disk, "add", "file", NULL);
        test_repo_write(&fix->disk, "file", "!", 1);
        assert_as_git(fix);
        char *text = text_of(fix, "file");
        assert_string_equal(text, "!");
        free(text);
    }
}

static void links_pipes_and_sockets_are_not_opened(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "dir/file", "text\n");
    test_repo_write_text(&fix->disk, "plain", "text\n");
    test_repo_commit(&fix->disk, "first");
    char *pipe = in_repo(fix, "pipe"), *plain = in_repo(fix, "plain"), *dir = in_repo(fix, "dir");
    char *rules = in_repo(fix, "sub/.gitignore");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    test_repo_write_text(&fix->disk, "sub/x", "x\n");
    assert_int_equal(mkfifo(rules, 0600), 0);
    remove_path(fix, "plain");
    assert_int_equal(mkfifo(plain, 0600), 0);
    remove_path(fix, "dir");
    assert_int_equal(symlink("/etc", dir), 0);
    assert_int_equal(take(fix), VCM_OK);
    assert_false(has(fix, "pipe"));
    assert_false(has(fix, "plain"));
    assert_false(has(fix, "dir/file"));
    assert_false(has(fix, "dir/hosts"));
    char *target = text_of(fix, "dir");
    assert_string_equal(target, "/etc");
    free(target);
    assert_true(has(fix, "sub/x"));
    assert_int_equal(fix->tree.changes, 4);
    free(pipe);
    free(plain);
    free(dir);
    free(rules);
}

static void both_sides_of_a_conflict_are_the_file_on_disk(void **state)
{
    struct fixture *fix = *state;
    char *const merge[] = {"git", "merge", "-q", "other", NULL};

    test_repo_write_text(&fix->disk, "both", "one\n");
    test_repo_write_text(&fix->disk, "gone", "one\n");
    test_repo_commit(&fix->disk, "first");
    test_repo_git(&fix->disk, "checkout", "-q", "-b", "other", NULL);
    test_repo_write_text(&fix->disk, "both", "two\n");
    test_repo_write_text(&fix->disk, "gone", "two\n");
    test_repo_commit(&fix->disk, "second");
    test_repo_git(&fix->disk, "checkout", "-q", "main", NULL);
    test_repo_write_text(&fix->disk, "both", "three\n");
    test_repo_git(&fix->disk, "rm", "-q", "gone", NULL);
    test_repo_commit(&fix->disk, "third");
    assert_int_not_equal(run_quietly(fix, merge), 0);
    assert_as_git(fix);
    char *text = text_of(fix, "both");
    assert_non_null(strstr(text, "<<<<<<<"));
    free(text);
    remove_path(fix, "gone");
    assert_as_git(fix);
}

static void a_sparse_checkout_keeps_what_it_leaves_out(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "in/a", "a\n");
    test_repo_write_text(&fix->disk, "out/b", "b\n");
    test_repo_write_text(&fix->disk, "out/deep/c", "c\n");
    test_repo_write_text(&fix->disk, "outer", "d\n");
    test_repo_commit(&fix->disk, "first");
    test_repo_git(&fix->disk, "sparse-checkout", "init", "--cone", "--sparse-index", NULL);
    test_repo_git(&fix->disk, "sparse-checkout", "set", "in", NULL);
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 0);
    assert_true(has(fix, "out/deep/c"));
    test_repo_write_text(&fix->disk, "in/a", "changed\n");
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 1);
    test_repo_write_text(&fix->disk, "out/b", "there again\n");
    assert_int_equal(take(fix), VCM_OK);
    assert_int_equal(fix->tree.changes, 2);
}

static void an_index_without_a_checksum_is_read(void **state)
{
    struct fixture *fix = *state;

    test_repo_git(&fix->disk, "config", "index.skipHash", "true", NULL);
    test_repo_write_text(&fix->disk, "a", "a\n");
    test_repo_commit(&fix->disk, "first");
    test_repo_write_text(&fix->disk, "b", "b\n");
    assert_as_git(fix);
}

static void an_index_that_cannot_be_read_is_refused(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "a", "a\n");
    test_repo_commit(&fix->disk, "first");
    test_repo_git(&fix->disk, "update-index", "--split-index", NULL);
    assert_int_equal(take(fix), VCM_UNSUPPORTED);
    assert_non_null(strstr(fix->err.message, "--no-split-index"));
    test_repo_git(&fix->disk, "update-index", "--no-split-index", NULL);
    assert_as_git(fix);
    test_repo_write_text(&fix->disk, ".git/index", "DIRC nonsense that is long enough to be one");
    assert_int_equal(take(fix), VCM_UNSUPPORTED);
    test_repo_write(&fix->disk, ".git/index", "DIRC\0\0\0\2\0\0\0\1abcdefghijabcdefghij", 32);
    assert_int_equal(take(fix), VCM_IO_ERROR);
    assert_non_null(strstr(fix->err.message, "damaged"));
    remove_path(fix, ".git/index");
    assert_as_git(fix);
}

static void submodules_are_entries_at_the_commit_they_are_at(void **state)
{
    struct fixture *fix = *state;
    struct test_repo other, nested;
    struct vcm_git_entry entry;

    test_repo_init(&other);
    test_repo_write_text(&other, "inner", "x\n");
    test_repo_commit(&other, "first");
    test_repo_git(&fix->disk, "submodule", "--quiet", "add", other.path, "sub", NULL);
    test_repo_commit(&fix->disk, "first");
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 0);
    snprintf(nested.path, sizeof nested.path, "%.200s/sub", fix->disk.path);
    test_repo_write_text(&nested, "inner", "y\n");
    test_repo_commit(&nested, "second");
    test_repo_write_text(&nested, "untracked", "z\n");
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 1);
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->tree.commit, "sub", &fix->err),
                     VCM_OK);
    assert_int_equal(entry.kind, VCM_GIT_SUBMODULE);
    test_repo_git(&fix->disk, "clone", "-q", other.path, "embedded", NULL);
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 2);
    remove_path(fix, "sub");
    assert_as_git(fix);
    test_repo_release(&other);
}

static void modes_count_only_where_git_trusts_them(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "a", "a\n");
    test_repo_commit(&fix->disk, "first");
    change_mode(fix, "a");
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 1);
    test_repo_git(&fix->disk, "config", "core.fileMode", "false", NULL);
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 0);
}

static void the_users_own_ignore_file_counts(void **state)
{
    struct fixture *fix = *state;
    char *rules = in_repo(fix, ".git/mine");

    test_repo_write_text(&fix->disk, ".git/mine", "*.log\n");
    test_repo_git(&fix->disk, "config", "core.excludesFile", rules, NULL);
    test_repo_write_text(&fix->disk, "a.log", "a\n");
    test_repo_write_text(&fix->disk, "a.c", "a\n");
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 1);
    test_repo_write_text(&fix->disk, ".git/info/exclude", "!a.log\n");
    assert_as_git(fix);
    assert_int_equal(fix->tree.changes, 2);
    free(rules);
}

static void a_linked_working_tree_has_an_index_of_its_own(void **state)
{
    struct fixture *fix = *state;
    struct test_repo other;
    char hex[VCM_GIT_ID_HEX + 1];

    test_repo_write_text(&fix->disk, "a", "a\n");
    test_repo_commit(&fix->disk, "first");
    test_repo_init_directory(&other);
    char *place = test_repo_path(&other, "linked");
    test_repo_git(&fix->disk, "worktree", "add", "-q", "-b", "second", place, NULL);
    snprintf(other.path + strlen(other.path), 8, "/linked");
    test_repo_write_text(&other, "b", "b\n");
    test_repo_git(&other, "add", "b", NULL);
    vcm_git_repo_close(fix->repo);
    assert_int_equal(vcm_git_repo_open(&fix->repo, other.path, &fix->err), VCM_OK);
    assert_int_equal(vcm_worktree_take(&fix->tree, fix->repo, NULL, &fix->err), VCM_OK);
    char *tree = test_repo_git_output(&other, "write-tree", NULL);
    vcm_git_repo_id_to_hex(hex, &fix->tree.tree);
    assert_string_equal(hex, tree);
    assert_int_equal(fix->tree.changes, 1);
    free(tree);
    free(place);
    other.path[strlen(other.path) - 7] = '\0';
    test_repo_release(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_states_are_what_git_makes_of_them),
        TEST(a_repository_without_commits_has_its_untracked_files),
        TEST(a_bare_repository_is_refused),
        TEST(texts_are_read_through_every_handle_of_the_snapshot),
        TEST(a_change_within_the_clocks_step_is_seen),
        TEST(links_pipes_and_sockets_are_not_opened),
        TEST(both_sides_of_a_conflict_are_the_file_on_disk),
        TEST(a_sparse_checkout_keeps_what_it_leaves_out),
        TEST(an_index_without_a_checksum_is_read),
        TEST(an_index_that_cannot_be_read_is_refused),
        TEST(submodules_are_entries_at_the_commit_they_are_at),
        TEST(modes_count_only_where_git_trusts_them),
        TEST(the_users_own_ignore_file_counts),
        TEST(a_linked_working_tree_has_an_index_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
