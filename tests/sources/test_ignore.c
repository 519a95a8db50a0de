#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/path.h"
#include "sources/ignore.h"
#include "tests/support/repo.h"

#include "base/banned.h"

#define ROUNDS       120
#define ROUNDS_LONG  4000
#define PATHS        160
#define IGNORE_FILES 4
#define SEED         20240102u

static uint64_t random_state;

static unsigned pick(unsigned count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 16) % count);
}

static void seed_random(void)
{
    const char *given = getenv("VCM_TEST_SEED");

    random_state = given ? strtoull(given, NULL, 10) : SEED;
    print_message("seed %" PRIu64 "\n", random_state);
}

static struct vcm_slice text(const char *string)
{
    return vcm_slice_of_string(string);
}

/* The walk of one path: through its directories, then the file. */
struct tree {
    struct {
        char directory[256];
        struct vcm_buf content;
    } files[IGNORE_FILES];
    unsigned file_count;
};

static void enter(struct vcm_ignore *ignore, const struct tree *tree, struct vcm_slice directory)
{
    bool ignored = false;

    assert_int_equal(vcm_ignore_enter(ignore, &ignored, directory, NULL), VCM_OK);
    for (unsigned i = 0; i < tree->file_count; i++)
        if (vcm_slice_equal(text(tree->files[i].directory), directory))
            assert_int_equal(vcm_ignore_add(ignore, vcm_buf_slice(&tree->files[i].content), NULL),
                             VCM_OK);
}

static bool is_ignored(const struct tree *tree, const char *path, bool is_directory)
{
    struct vcm_ignore *ignore = NULL;
    bool ignored = false;

    assert_int_equal(vcm_ignore_open(&ignore, NULL, NULL), VCM_OK);
    enter(ignore, tree, text(""));
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
        enter(ignore, tree, vcm_slice_of(path, (size_t)(slash - path)));
    if (is_directory)
        assert_int_equal(vcm_ignore_enter(ignore, &ignored, text(path), NULL), VCM_OK);
    else
        ignored = vcm_ignore_has(ignore, text(path));
    vcm_ignore_close(ignore);
    return ignored;
}

static void add_file(struct tree *tree, const char *directory, const char *content)
{
    snprintf(tree->files[tree->file_count].directory, sizeof tree->files[0].directory, "%s",
             directory);
    vcm_buf_init(&tree->files[tree->file_count].content, VCM_MIB);
    vcm_buf_append_string(&tree->files[tree->file_count].content, content);
    tree->file_count++;
}

static void release_tree(struct tree *tree)
{
    for (unsigned i = 0; i < tree->file_count; i++)
        vcm_buf_release(&tree->files[i].content);
    tree->file_count = 0;
}

static void deeper_files_override_those_above(void **state)
{
    struct tree tree = {0};

    (void)state;
    add_file(&tree, "", "*.log\n/x/*.c\n");
    add_file(&tree, "x", "!keep.log\n/top.h\n");
    assert_true(is_ignored(&tree, "a.log", false));
    assert_true(is_ignored(&tree, "x/a.log", false));
    assert_false(is_ignored(&tree, "x/keep.log", false));
    assert_false(is_ignored(&tree, "x/y/keep.log", false));
    assert_true(is_ignored(&tree, "keep.log", false));
    assert_true(is_ignored(&tree, "x/a.c", false));
    assert_false(is_ignored(&tree, "x/y/a.c", false));
    assert_true(is_ignored(&tree, "x/top.h", false));
    assert_false(is_ignored(&tree, "x/y/top.h", false));
    release_tree(&tree);
}

static void what_is_below_an_ignored_directory_stays_ignored(void **state)
{
    struct tree tree = {0};

    (void)state;
    add_file(&tree, "", "build/\n!build/keep\n");
    add_file(&tree, "build", "!*\n");
    assert_true(is_ignored(&tree, "build", true));
    assert_false(is_ignored(&tree, "build", false));
    assert_true(is_ignored(&tree, "build/keep", false));
    assert_true(is_ignored(&tree, "build/x/y", false));
    release_tree(&tree);
}

static void the_colony_file_of_a_directory_has_the_last_word(void **state)
{
    struct tree tree = {0};

    (void)state;
    assert_string_equal(vcm_ignore_file_names[0], ".gitignore");
    assert_string_equal(vcm_ignore_file_names[1], ".colonyignore");
    add_file(&tree, "", "*.gen.c\n");
    add_file(&tree, "", "!api.gen.c\nsecret.c");
    assert_true(is_ignored(&tree, "a.gen.c", false));
    assert_false(is_ignored(&tree, "api.gen.c", false));
    assert_true(is_ignored(&tree, "secret.c", false));
    release_tree(&tree);
}

static void leaving_a_directory_forgets_its_files(void **state)
{
    struct vcm_ignore *ignore = NULL;
    bool ignored = true;

    (void)state;
    assert_int_equal(vcm_ignore_open(&ignore, NULL, NULL), VCM_OK);
    vcm_ignore_enter(ignore, &ignored, text(""), NULL);
    vcm_ignore_enter(ignore, &ignored, text("x"), NULL);
    assert_false(ignored);
    vcm_ignore_add(ignore, text("*"), NULL);
    assert_true(vcm_ignore_has(ignore, text("x/a")));
    vcm_ignore_leave(ignore);
    assert_false(vcm_ignore_has(ignore, text("a")));
    vcm_ignore_enter(ignore, &ignored, text("y"), NULL);
    assert_false(vcm_ignore_has(ignore, text("y/a")));
    vcm_ignore_close(ignore);
}

static void what_holds_at_one_place_is_bounded(void **state)
{
    struct vcm_buf content = VCM_BUF_INIT(VCM_LIMIT_IGNORE_FILE_BYTES);
    struct vcm_ignore *ignore = NULL;
    bool ignored = false;
    unsigned files = (unsigned)(VCM_LIMIT_IGNORE_BYTES / VCM_LIMIT_IGNORE_FILE_BYTES);

    (void)state;
    for (size_t i = 0; i < VCM_LIMIT_IGNORE_FILE_BYTES; i++)
        vcm_buf_append_byte(&content, i % 1024 == 1023 ? '\n' : '?');
    assert_int_equal(vcm_ignore_open(&ignore, NULL, NULL), VCM_OK);
    for (unsigned i = 0; i <= files; i++) {
        char path[64] = "";
        for (unsigned j = 0; j < i; j++)
            snprintf(path + strlen(path), sizeof path - strlen(path), "%sx", j > 0 ? "/" : "");
        assert_int_equal(vcm_ignore_enter(ignore, &ignored, text(path), NULL), VCM_OK);
        assert_int_equal(vcm_ignore_add(ignore, vcm_buf_slice(&content), NULL),
                         i < files ? VCM_OK : VCM_UNSUPPORTED);
    }
    vcm_ignore_close(ignore);
    vcm_buf_release(&content);
}

/* A tree on disk, and random patterns in its ignore files. */
struct fixture {
    struct test_repo repo;
    char paths[PATHS][256];
    bool is_directory[PATHS];
    unsigned count;
};

static const char *const names[] = {
    "a",  "b",  "ab", "ba", "aab", "abb", "a.c", "b.c", "c.h",  "a b",      "a ",   "[a]", "a*",
    "#a", "!b", "a-", "B",  "1",   "a]",  "-",   "^",   "a\tb", "\xc3\xa9", "a\\b", ".a",  "bab"};

static const char *const pieces[] = {
    "a",
    "b",
    "c",
    "ab",
    "ba",
    ".",
    "a.c",
    "*",
    "*",
    "*",
    "?",
    "**",
    "**/",
    "/**",
    "/**/",
    "/",
    "/",
    "/",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[]a]",
    "[a-]",
    "[",
    "]",
    "\\a",
    "\\*",
    "\\",
    "\\ ",
    " ",
    "[[:alpha:]]",
    "[[:digit:]x]",
    "[[:foo:]]",
    "[[:a]",
    "[!]]",
    "#",
    "!",
    "-",
    "B",
    "\t",
    "\xc3",
    "[\\]a]",
    "[a\\-c]",
    "[--b]",
    "[[:upper:]-z]",
    "[[:space:]]",
    "[.-0]",
    "[/]",
    "***",
    "\\/",
    "**\\/",
    "[[:lower:]",
    "[^[:punct:]]",
    "[a-\\c]",
    "1",
    "^",
    "?",
};

static void make_paths(struct fixture *fix)
{
    fix->count = 0;
    while (fix->count < PATHS) {
        char *path = fix->paths[fix->count];
        unsigned parent = pick(fix->count + 1);
        bool below =
            parent < fix->count && fix->is_directory[parent] && strlen(fix->paths[parent]) < 24;
        snprintf(path, sizeof fix->paths[0], "%.*s%s%s", (int)sizeof fix->paths[0] - 40,
                 below ? fix->paths[parent] : "", below ? "/" : "",
                 names[pick(sizeof names / sizeof names[0])]);
        unsigned same = 0;
        while (strcmp(fix->paths[same], path) != 0)
            same++;
        if (same < fix->count)
            continue;
        fix->is_directory[fix->count] = pick(2) == 0;
        struct vcm_buf file = VCM_BUF_INIT(512);
        vcm_buf_append_format(&file, "%s%s", path, fix->is_directory[fix->count] ? "/.keep" : "");
        test_repo_write_text(&fix->repo, vcm_buf_text(&file), "");
        vcm_buf_release(&file);
        fix->count++;
    }
}

static void write_paths(const struct fixture *fix)
{
    struct vcm_buf list = VCM_BUF_INIT(VCM_MIB);

    for (unsigned i = 0; i < fix->count; i++)
        vcm_buf_append(&list, fix->paths[i], strlen(fix->paths[i]) + 1);
    test_repo_write(&fix->repo, ".git/paths", list.data, list.len);
    vcm_buf_release(&list);
}

/* Half of them made from a path that exists, so that many patterns match something. */
static void put_pattern(struct vcm_buf *out, const struct fixture *fix)
{
    if (pick(4) == 0)
        vcm_buf_append_byte(out, '!');
    if (pick(2) == 0) {
        for (unsigned i = 1 + pick(6); i > 0; i--)
            vcm_buf_append_string(out, pieces[pick(sizeof pieces / sizeof pieces[0])]);
    } else {
        const char *path = fix->paths[pick(fix->count)];
        for (const char *c = path; *c != '\0'; c++) {
            if (pick(4) == 0)
                vcm_buf_append_string(out, pieces[pick(sizeof pieces / sizeof pieces[0])]);
            else if (pick(8) != 0)
                vcm_buf_append_byte(out, *c);
        }
    }
    if (pick(4) == 0)
        vcm_buf_append_byte(out, '/');
    vcm_buf_append_string(out, pick(10) == 0 ? "\r\n" : "\n");
}

static void make_ignore_files(struct tree *tree, const struct fixture *fix)
{
    while (tree->file_count < IGNORE_FILES) {
        const char *directory = "";
        for (unsigned i = pick(fix->count); tree->file_count > 0 && directory[0] == '\0';
             i = pick(fix->count))
            if (fix->is_directory[i])
                directory = fix->paths[i];
        for (unsigned i = 0; i < tree->file_count; i++)
            if (directory && strcmp(tree->files[i].directory, directory) == 0)
                directory = NULL;
        if (!directory)
            continue;
        add_file(tree, directory, pick(8) == 0 ? "\xef\xbb\xbf" : "");
        struct vcm_buf *content = &tree->files[tree->file_count - 1].content;
        for (unsigned i = 1 + pick(4); i > 0; i--)
            put_pattern(content, fix);
        if (pick(8) == 0)
            content->len--;
    }
}

static void write_ignore_file(const struct fixture *fix, const char *directory,
                              const struct vcm_buf *content)
{
    char name[300];

    snprintf(name, sizeof name, "%s%s.gitignore", directory, directory[0] != '\0' ? "/" : "");
    if (content) {
        test_repo_write(&fix->repo, name, content->data, content->len);
    } else {
        char *path = test_repo_path(&fix->repo, name);
        unlink(path);
        free(path);
    }
}

/* Asks git, whose answer is four strings for each path: file, line, pattern, path. */
static void ask_git(struct vcm_buf *answer, const struct fixture *fix)
{
    char *const argv[] = {
        "sh", "-c", "exec git check-ignore --no-index --stdin -z -v -n < .git/paths > .git/answer",
        NULL};
    char *path = test_repo_path(&fix->repo, ".git/answer");

    assert_true(test_repo_run(fix->repo.path, argv, NULL) <= 1);
    vcm_buf_clear(answer);
    assert_int_equal(vcm_path_read_file(answer, path, answer->max, NULL), VCM_OK);
    free(path);
}

static void compare(const struct fixture *fix, const struct tree *tree,
                    const struct vcm_buf *answer, unsigned round)
{
    const char *at = answer->data;

    for (unsigned i = 0; i < fix->count; i++) {
        const char *source = at;
        const char *line = source + strlen(source) + 1;
        const char *pattern = line + strlen(line) + 1;
        const char *path = pattern + strlen(pattern) + 1;
        at = path + strlen(path) + 1;
        assert_string_equal(path, fix->paths[i]);
        bool expected = source[0] != '\0' && pattern[0] != '!';
        if (is_ignored(tree, path, fix->is_directory[i]) != expected)
            fail_msg("round %u: git says '%s' is %s by '%s' in %s:%s", round, path,
                     expected ? "ignored" : "not ignored", pattern, source, line);
    }
    assert_ptr_equal(at, answer->data + answer->len);
}

static void random_ignore_files_say_the_same_as_in_git(void **state)
{
    unsigned rounds = getenv("VCM_TEST_LONG") ? ROUNDS_LONG : ROUNDS;
    struct fixture *fix = calloc(1, sizeof *fix);
    struct vcm_buf answer = VCM_BUF_INIT(4 * VCM_MIB);

    (void)state;
    seed_random();
    test_repo_init(&fix->repo);
    make_paths(fix);
    write_paths(fix);
    for (unsigned round = 0; round < rounds; round++) {
        struct tree tree = {0};
        make_ignore_files(&tree, fix);
        for (unsigned i = 0; i < tree.file_count; i++)
            write_ignore_file(fix, tree.files[i].directory, &tree.files[i].content);
        ask_git(&answer, fix);
        compare(fix, &tree, &answer, round);
        for (unsigned i = 0; i < tree.file_count; i++)
            write_ignore_file(fix, tree.files[i].directory, NULL);
        release_tree(&tree);
    }
    print_message("%u cases\n", rounds * PATHS);
    vcm_buf_release(&answer);
    test_repo_release(&fix->repo);
    free(fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deeper_files_override_those_above),
        cmocka_unit_test(what_is_below_an_ignored_directory_stays_ignored),
        cmocka_unit_test(the_colony_file_of_a_directory_has_the_last_word),
        cmocka_unit_test(leaving_a_directory_forgets_its_files),
        cmocka_unit_test(what_holds_at_one_place_is_bounded),
        cmocka_unit_test(random_ignore_files_say_the_same_as_in_git),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
