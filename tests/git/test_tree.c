#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "base/limits.h"
#include "git/blob.h"
#include "git/tree.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo disk;
    struct vcm_git_repo *repo;
    struct vcm_git_id commit;
    struct vcm_error err;
    struct vcm_cancel cancel;
    struct vcm_buf seen; /* a line for each entry: kind letter, path */
    struct vcm_buf blob;
    unsigned stop_after;
    unsigned visits;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    vcm_buf_init(&fix->seen, 16 * VCM_MIB);
    vcm_buf_init(&fix->blob, 1 * VCM_MIB);
    test_repo_init(&fix->disk);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_git_repo_close(fix->repo);
    vcm_buf_release(&fix->seen);
    vcm_buf_release(&fix->blob);
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

static void commit_and_open(struct fixture *fix)
{
    test_repo_commit(&fix->disk, "first");
    reopen(fix);
}

/* Commits a tree that the git program itself would refuse to make. */
static void commit_raw_tree(struct fixture *fix, const void *data, size_t len)
{
    char *tree = test_repo_object(&fix->disk, "tree", data, len);
    char *commit = test_repo_git_output(&fix->disk, "commit-tree", "-m", "x", tree, NULL);

    test_repo_git(&fix->disk, "update-ref", "refs/heads/main", commit, NULL);
    free(tree);
    free(commit);
    reopen(fix);
}

static int note(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    vcm_buf_append_byte(&fix->seen, "fxls"[entry->kind]);
    vcm_buf_append_byte(&fix->seen, ' ');
    vcm_buf_append_slice(&fix->seen, entry->path);
    vcm_buf_append_byte(&fix->seen, '\n');
    return ++fix->visits == fix->stop_after ? VCM_STORE_FULL : VCM_OK;
}

static int walk(struct fixture *fix, const char *start_dir)
{
    vcm_error_reset(&fix->err);
    vcm_buf_clear(&fix->seen);
    fix->visits = 0;
    return vcm_git_tree_walk(fix->repo, &fix->commit, start_dir, note, fix, &fix->cancel,
                             &fix->err);
}

static void assert_walk(struct fixture *fix, const char *start_dir, const char *expected)
{
    if (walk(fix, start_dir) != VCM_OK)
        fail_msg("%s", fix->err.message);
    assert_string_equal(vcm_buf_text(&fix->seen), expected);
}

static struct vcm_git_id parse_id(const char *hex)
{
    struct vcm_git_id id;

    for (size_t i = 0; i < VCM_GIT_ID_BYTES; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        id.bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    return id;
}

static struct vcm_git_id id_of(struct fixture *fix, const char *expression)
{
    char *hex = test_repo_git_output(&fix->disk, "rev-parse", expression, NULL);
    struct vcm_git_id id = parse_id(hex);

    free(hex);
    return id;
}

static int read_blob(struct fixture *fix, struct vcm_git_id id)
{
    vcm_error_reset(&fix->err);
    vcm_buf_clear(&fix->blob);
    return vcm_git_blob_read(&fix->blob, fix->repo, &id, &fix->err);
}

static int size_of_blob(struct fixture *fix, struct vcm_git_id id, uint64_t *size)
{
    vcm_error_reset(&fix->err);
    return vcm_git_blob_size(size, fix->repo, &id, &fix->err);
}

static void remove_object(struct fixture *fix, const char *expression)
{
    char *hex = test_repo_git_output(&fix->disk, "rev-parse", expression, NULL);
    char *path = test_repo_object_path(&fix->disk, hex);

    assert_int_equal(unlink(path), 0);
    free(path);
    free(hex);
}

/* Puts `data` where the loose object was. */
static void damage_object(struct fixture *fix, const char *expression, const char *data)
{
    char *hex = test_repo_git_output(&fix->disk, "rev-parse", expression, NULL);
    char *path = test_repo_object_path(&fix->disk, hex);

    assert_int_equal(unlink(path), 0);
    test_repo_write_text(&fix->disk, path + strlen(fix->disk.path) + 1, data);
    free(path);
    free(hex);
}

/* Puts the sound object `other` where the loose object was. */
static void replace_object(struct fixture *fix, const char *expression, const char *other)
{
    char *hex = test_repo_git_output(&fix->disk, "rev-parse", expression, NULL);
    char *other_hex = test_repo_git_output(&fix->disk, "rev-parse", other, NULL);
    char *path = test_repo_object_path(&fix->disk, hex);
    char *other_path = test_repo_object_path(&fix->disk, other_hex);

    assert_int_equal(unlink(path), 0);
    assert_int_equal(link(other_path, path), 0);
    free(other_path);
    free(path);
    free(other_hex);
    free(hex);
}

static void make_small_tree(struct fixture *fix)
{
    test_repo_write_text(&fix->disk, "a.txt", "alpha\n");
    test_repo_write_text(&fix->disk, "dir/b.txt", "beta\n");
    test_repo_write_text(&fix->disk, "dir/in/c.txt", "");
    test_repo_write_text(&fix->disk, "dir.txt", "delta");
    commit_and_open(fix);
}

static void leaves_come_depth_first_in_gits_order(void **state)
{
    struct fixture *fix = *state;

    make_small_tree(fix);
    assert_walk(fix, "", "f a.txt\nf dir.txt\nf dir/b.txt\nf dir/in/c.txt\n");
    char *listing = test_repo_git_output(&fix->disk, "ls-tree", "-r", "--name-only", "HEAD", NULL);
    assert_string_equal(listing, "a.txt\ndir.txt\ndir/b.txt\ndir/in/c.txt");
    free(listing);
}

static void a_walk_starts_in_the_middle(void **state)
{
    struct fixture *fix = *state;

    make_small_tree(fix);
    assert_walk(fix, "dir", "f dir/b.txt\nf dir/in/c.txt\n");
    assert_walk(fix, "dir/", "f dir/b.txt\nf dir/in/c.txt\n");
    assert_walk(fix, "dir/in", "f dir/in/c.txt\n");
    assert_walk(fix, "dir/in/", "f dir/in/c.txt\n");
}

static void a_start_that_is_no_directory_is_not_found(void **state)
{
    static const char *const starts[] = {"a.txt", "a.txt/x", "absent",     "dir/absent", "dir//in",
                                         "..",    ".",       "dir/../dir", "/dir",       "-x"};
    struct fixture *fix = *state;
    char *longest = malloc(VCM_LIMIT_TREE_PATH_BYTES + 2);

    make_small_tree(fix);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (walk(fix, starts[i]) != VCM_NOT_FOUND)
            fail_msg("'%s': %s", starts[i], fix->err.message);
    assert_int_equal(fix->visits, 0);
    assert_int_equal(walk(fix, "dir/b.txt/deeper"), VCM_NOT_FOUND);
    assert_string_equal(fix->err.message, "'dir/b.txt' is no directory of the tree");
    memset(longest, 'x', VCM_LIMIT_TREE_PATH_BYTES + 1);
    longest[VCM_LIMIT_TREE_PATH_BYTES + 1] = '\0';
    assert_int_equal(walk(fix, longest), VCM_UNSUPPORTED);
    free(longest);
}

static void an_empty_tree_has_no_leaves(void **state)
{
    struct fixture *fix = *state;

    commit_and_open(fix);
    assert_walk(fix, "", "");
    /* Everyone knows the empty tree by heart, so that a repository may lack it. */
    char *path = test_repo_object_path(&fix->disk, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    unlink(path);
    free(path);
    reopen(fix);
    assert_walk(fix, "", "");
}

static void links_executables_and_submodules_are_told_apart(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_entry entry;

    test_repo_write_text(&fix->disk, "plain", "x");
    test_repo_write_text(&fix->disk, "run", "x");
    char *run = test_repo_path(&fix->disk, "run");
    char *link = test_repo_path(&fix->disk, "link");
    assert_int_equal(chmod(run, 0755), 0);
    assert_int_equal(symlink("../../etc/passwd", link), 0);
    free(run);
    free(link);
    test_repo_git(&fix->disk, "add", "-A", NULL);
    test_repo_git(&fix->disk, "update-index", "--add", "--cacheinfo",
                  "160000,0123456789012345678901234567890123456789,mod", NULL);
    test_repo_git(&fix->disk, "commit", "-q", "-m", "x", NULL);
    reopen(fix);
    assert_walk(fix, "", "l link\ns mod\nf plain\nx run\n");
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->commit, "mod", &fix->err), VCM_OK);
    struct vcm_git_id gitlink = parse_id("0123456789012345678901234567890123456789");
    assert_memory_equal(&entry.id, &gitlink, sizeof gitlink);
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->commit, "link", &fix->err),
                     VCM_OK);
    assert_int_equal(read_blob(fix, entry.id), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->blob), "../../etc/passwd");
}

static void names_are_bytes(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "new\nline", "x");
    test_repo_write_text(&fix->disk, "quote\"'\\", "x");
    test_repo_write_text(&fix->disk, "\xff\xfe", "x");
    test_repo_write_text(&fix->disk, "-dash", "x");
    commit_and_open(fix);
    assert_walk(fix, "", "f -dash\nf new\nline\nf quote\"'\\\nf \xff\xfe\n");
}

static void one_entry_is_found_by_its_path(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_entry entry;

    make_small_tree(fix);
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->commit, "dir/in/c.txt", &fix->err),
                     VCM_OK);
    assert_true(vcm_slice_equal(entry.path, vcm_slice_of_string("dir/in/c.txt")));
    assert_int_equal(entry.kind, VCM_GIT_FILE);
    struct vcm_git_id expected = id_of(fix, "HEAD:dir/in/c.txt");
    assert_memory_equal(&entry.id, &expected, sizeof expected);

    static const char *const absent[] = {"dir", "dir/", "dir/x", "x/y", "", "/a.txt", "a.txt/"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        vcm_error_reset(&fix->err);
        assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->commit, absent[i], &fix->err),
                         VCM_NOT_FOUND);
    }
}

static void blobs_are_read_as_they_are_stored(void **state)
{
    struct fixture *fix = *state;
    uint64_t size = 99;

    test_repo_write_text(&fix->disk, ".gitattributes", "*.txt ident\n");
    make_small_tree(fix);
    test_repo_write(&fix->disk, "zero.txt", "$Id$\0\r\n", 7);
    commit_and_open(fix);
    assert_int_equal(read_blob(fix, id_of(fix, "HEAD:zero.txt")), VCM_OK);
    assert_int_equal(fix->blob.len, 7);
    assert_memory_equal(fix->blob.data, "$Id$\0\r\n", 7);
    assert_int_equal(size_of_blob(fix, id_of(fix, "HEAD:dir/in/c.txt"), &size), VCM_OK);
    assert_int_equal(size, 0);
    assert_int_equal(read_blob(fix, id_of(fix, "HEAD:dir/in/c.txt")), VCM_OK);
    assert_int_equal(fix->blob.len, 0);

    vcm_buf_append_string(&fix->blob, "before ");
    struct vcm_git_id id = id_of(fix, "HEAD:dir.txt");
    assert_int_equal(vcm_git_blob_read(&fix->blob, fix->repo, &id, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->blob), "before delta");
}

static void a_blob_larger_than_the_buffer_is_the_buffers_fault(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf small = VCM_BUF_INIT(4);
    uint64_t size = 0;

    make_small_tree(fix);
    struct vcm_git_id id = id_of(fix, "HEAD:dir.txt");
    assert_int_equal(size_of_blob(fix, id, &size), VCM_OK);
    assert_int_equal(size, 5);
    assert_int_equal(vcm_git_blob_read(&small, fix->repo, &id, &fix->err), VCM_UNSUPPORTED);
    assert_int_equal(small.fault, VCM_BUF_TOO_LARGE);
    vcm_buf_release(&small);
}

static void other_objects_are_no_blobs(void **state)
{
    struct fixture *fix = *state;
    uint64_t size = 0;

    make_small_tree(fix);
    assert_int_equal(read_blob(fix, id_of(fix, "HEAD:dir")), VCM_UNSUPPORTED);
    assert_non_null(strstr(fix->err.message, "is a tree, not a blob"));
    assert_int_equal(size_of_blob(fix, id_of(fix, "HEAD"), &size), VCM_UNSUPPORTED);
}

static void a_missing_blob_is_not_found_and_the_walk_goes_on(void **state)
{
    struct fixture *fix = *state;
    uint64_t size = 0;

    make_small_tree(fix);
    struct vcm_git_id id = id_of(fix, "HEAD:dir/b.txt");
    remove_object(fix, "HEAD:dir/b.txt");
    assert_int_equal(read_blob(fix, id), VCM_NOT_FOUND);
    assert_int_equal(size_of_blob(fix, id, &size), VCM_NOT_FOUND);
    assert_walk(fix, "dir", "f dir/b.txt\nf dir/in/c.txt\n");
}

static void a_damaged_blob_is_an_io_error(void **state)
{
    struct fixture *fix = *state;
    uint64_t size = 0;

    make_small_tree(fix);
    struct vcm_git_id first = id_of(fix, "HEAD:a.txt");
    damage_object(fix, "HEAD:a.txt", "no zlib stream at all");
    assert_int_equal(read_blob(fix, first), VCM_IO_ERROR);
    assert_int_equal(size_of_blob(fix, first, &size), VCM_IO_ERROR);
    damage_object(fix, "HEAD:a.txt", "");
    assert_int_equal(read_blob(fix, first), VCM_IO_ERROR);
    struct vcm_git_id second = id_of(fix, "HEAD:dir/b.txt");
    replace_object(fix, "HEAD:dir/b.txt", "HEAD:dir.txt");
    assert_int_equal(read_blob(fix, second), VCM_IO_ERROR);
    assert_int_equal(fix->blob.len, 0);
}

static void a_missing_or_damaged_directory_is_named(void **state)
{
    struct fixture *fix = *state;

    make_small_tree(fix);
    remove_object(fix, "HEAD:dir/in");
    assert_int_equal(walk(fix, ""), VCM_NOT_FOUND);
    assert_non_null(strstr(fix->err.message, "'dir/in'"));
    assert_int_equal(walk(fix, "dir/in"), VCM_NOT_FOUND);
    assert_non_null(strstr(fix->err.message, "cannot read the directory 'dir/in'"));
    replace_object(fix, "HEAD:dir", "HEAD^{tree}");
    reopen(fix);
    assert_int_equal(walk(fix, ""), VCM_IO_ERROR);
    assert_non_null(strstr(fix->err.message, "the directory 'dir': its object is damaged"));
    damage_object(fix, "HEAD:dir", "garbage");
    reopen(fix);
    assert_int_equal(walk(fix, ""), VCM_IO_ERROR);
    assert_non_null(strstr(fix->err.message, "'dir'"));
    replace_object(fix, "HEAD^{tree}", "HEAD:a.txt");
    reopen(fix);
    assert_int_not_equal(walk(fix, ""), VCM_OK);
    assert_non_null(strstr(fix->err.message, "root directory"));
}

static void a_commit_that_is_none_is_not_found(void **state)
{
    struct fixture *fix = *state;

    make_small_tree(fix);
    fix->commit = id_of(fix, "HEAD:a.txt");
    assert_int_equal(walk(fix, ""), VCM_NOT_FOUND);
    memset(&fix->commit, 0, sizeof fix->commit);
    assert_int_equal(walk(fix, ""), VCM_NOT_FOUND);
}

static void a_packed_repository_reads_the_same(void **state)
{
    struct fixture *fix = *state;
    uint64_t size = 0;
    struct vcm_buf text = VCM_BUF_INIT(1 * VCM_MIB);

    for (int i = 0; i < 4000; i++)
        vcm_buf_append_format(&text, "line %d\n", i);
    test_repo_write(&fix->disk, "long", text.data, text.len);
    test_repo_commit(&fix->disk, "first");
    struct vcm_git_id older = id_of(fix, "HEAD:long");
    size_t older_len = text.len;
    vcm_buf_append_string(&text, "one more\n");
    test_repo_write(&fix->disk, "long", text.data, text.len);
    make_small_tree(fix);
    test_repo_git(&fix->disk, "gc", "-q", NULL);
    assert_walk(fix, "", "f a.txt\nf dir.txt\nf long\nf dir/b.txt\nf dir/in/c.txt\n");
    assert_int_equal(read_blob(fix, older), VCM_OK);
    assert_int_equal(fix->blob.len, older_len);
    assert_memory_equal(fix->blob.data, text.data, older_len);
    assert_int_equal(size_of_blob(fix, id_of(fix, "HEAD:long"), &size), VCM_OK);
    assert_int_equal(size, text.len);
    vcm_buf_release(&text);
}

static void nest(struct fixture *fix, size_t levels)
{
    struct vcm_buf item = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    char *blob = test_repo_object(&fix->disk, "blob", "x", 1);

    vcm_buf_append_format(&item, "100644,%s,", blob);
    for (size_t i = 0; i < levels; i++)
        vcm_buf_append_string(&item, "d/");
    vcm_buf_append_string(&item, "leaf");
    test_repo_git(&fix->disk, "update-index", "--add", "--cacheinfo", vcm_buf_text(&item), NULL);
    test_repo_git(&fix->disk, "commit", "-q", "-m", "deep", NULL);
    free(blob);
    vcm_buf_release(&item);
    reopen(fix);
}

static void three_hundred_levels_are_walked(void **state)
{
    struct fixture *fix = *state;

    nest(fix, 300);
    assert_int_equal(walk(fix, ""), VCM_OK);
    assert_int_equal(fix->visits, 1);
    assert_int_equal(fix->seen.len, strlen("f ") + 600 + strlen("leaf\n"));
}

static void depth_is_bounded(void **state)
{
    struct fixture *fix = *state;

    nest(fix, VCM_LIMIT_TREE_DEPTH - 1);
    assert_int_equal(walk(fix, ""), VCM_OK);
    nest(fix, VCM_LIMIT_TREE_DEPTH);
    assert_int_equal(walk(fix, ""), VCM_UNSUPPORTED);
    assert_non_null(strstr(fix->err.message, "nested deeper than 1024"));
}

static void append_raw_entry(struct vcm_buf *tree, const char *mode, const char *name,
                             struct vcm_git_id id)
{
    vcm_buf_append_format(tree, "%s %s", mode, name);
    vcm_buf_append_byte(tree, '\0');
    vcm_buf_append(tree, id.bytes, sizeof id.bytes);
}

static int note_refused(void *context, const struct vcm_git_entry *entry, bool is_directory,
                        enum vcm_git_refusal refusal, struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    vcm_buf_append_format(&fix->seen, "%s%s %.*s\n", refusal == VCM_GIT_REFUSED_TWIN ? "2" : "!",
                          is_directory ? "d" : "", (int)entry->path.len, entry->path.data);
    return VCM_OK;
}

/* The same walk, with the entries that are refused. */
static void assert_refusals(struct fixture *fix, const char *expected)
{
    const struct vcm_git_visitor visitor = {.entry = note, .refused = note_refused};

    vcm_buf_clear(&fix->seen);
    assert_int_equal(
        vcm_git_tree_visit(fix->repo, &fix->commit, "", &visitor, fix, NULL, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->seen), expected);
}

static void modes_that_git_does_not_write_are_files(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf tree = VCM_BUF_INIT(4096);
    char *hex = test_repo_object(&fix->disk, "blob", "x", 1);
    struct vcm_git_id id = parse_id(hex);

    append_raw_entry(&tree, "100700", "b", id);
    append_raw_entry(&tree, "0", "c", id);
    append_raw_entry(&tree, "120755", "d", id);
    append_raw_entry(&tree, "60644", "e", id);
    commit_raw_tree(fix, tree.data, tree.len);
    assert_walk(fix, "", "x b\nf c\nl d\nf e\n");
    free(hex);
    vcm_buf_release(&tree);
}

static void names_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const names[] = {".",          "..",  ".GIT",  ".git. :x",  "../../a",
                                        ".g\u200cit", "a/b", "git~1", "\\x2e\xff/"};
    static const char *const safe[] = {"...", ".gitignore", "git~10", "a\\x2e"};
    struct fixture *fix = *state;
    struct vcm_buf tree = VCM_BUF_INIT(4096);
    char *hex = test_repo_object(&fix->disk, "blob", "x", 1);
    struct vcm_git_id id = parse_id(hex);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        append_raw_entry(&tree, "100644", names[i], id);
    for (size_t i = 0; i < sizeof safe / sizeof safe[0]; i++)
        append_raw_entry(&tree, "100644", safe[i], id);
    commit_raw_tree(fix, tree.data, tree.len);
    assert_walk(fix, "", "f ...\nf .gitignore\nf a\\x2e\nf git~10\n");
    assert_refusals(fix, "! \\x2e\n! \\x2e.\nf ...\n! \\x2e.\\x2f..\\x2fa\n! \\x2eGIT\n"
                         "! \\x2egit. :x\nf .gitignore\n! \\x2eg\u200cit\n! \\x5cx2e\\xff\\x2f\n"
                         "! a\\x2fb\nf a\\x2e\n! git~1\nf git~10\n");
    free(hex);
    vcm_buf_release(&tree);
}

static void of_two_entries_of_one_name_the_first_counts_in_any_order(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf tree = VCM_BUF_INIT(4096);
    char *hex = test_repo_object(&fix->disk, "blob", "x", 1);
    struct vcm_git_id id = parse_id(hex);
    struct vcm_git_entry entry;

    append_raw_entry(&tree, "100644", "f", id);
    char *inner_hex = test_repo_object(&fix->disk, "tree", tree.data, tree.len);
    struct vcm_git_id inner = parse_id(inner_hex);
    vcm_buf_clear(&tree);
    append_raw_entry(&tree, "120000", "z", id); /* a link: it is found by its kind below */
    append_raw_entry(&tree, "100644", "b", id);
    append_raw_entry(&tree, "40000", "both", inner);
    append_raw_entry(&tree, "100644", "both.c", id);
    append_raw_entry(&tree, "100644", "a", id);
    append_raw_entry(&tree, "100644", "both", id);
    append_raw_entry(&tree, "100755", "b", id);
    append_raw_entry(&tree, "100644", "two", id);
    append_raw_entry(&tree, "40000", "two", inner);
    append_raw_entry(&tree, "100644", "z", id);
    append_raw_entry(&tree, "40000", "both", inner);
    append_raw_entry(&tree, "100644", "b", id);
    commit_raw_tree(fix, tree.data, tree.len);
    assert_walk(fix, "", "f a\nf b\nf both.c\nf two\nl z\nf both/f\n");
    assert_refusals(fix, "f a\nf b\n2 b\n2 b\n2 both\nf both.c\nf two\nl z\n2 z\nf both/f\n"
                         "2d both\n2d two\n");
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->commit, "z", &fix->err), VCM_OK);
    assert_int_equal(entry.kind, VCM_GIT_SYMLINK);
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->commit, "both/f", &fix->err),
                     VCM_OK);
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &fix->commit, "both", NULL),
                     VCM_NOT_FOUND);
    free(hex);
    free(inner_hex);
    vcm_buf_release(&tree);
}

static void malformed_trees_are_errors(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } trees[] = {
        {"100644 a", 8}, {"100644 a\0short", 14}, {"x", 1}, {"99 a\0", 5}, {" \0", 2},
    };
    struct fixture *fix = *state;
    struct vcm_buf tree = VCM_BUF_INIT(4096);

    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        commit_raw_tree(fix, trees[i].bytes, trees[i].len);
        assert_int_equal(walk(fix, ""), VCM_IO_ERROR);
    }
    append_raw_entry(&tree, "100644", "", fix->commit);
    commit_raw_tree(fix, tree.data, tree.len);
    assert_int_equal(walk(fix, ""), VCM_IO_ERROR);
    vcm_buf_clear(&tree);
    append_raw_entry(&tree, "40000", "loop", fix->commit);
    commit_raw_tree(fix, tree.data, tree.len);
    assert_int_not_equal(walk(fix, ""), VCM_OK);
    assert_non_null(strstr(fix->err.message, "'loop'"));
    vcm_buf_release(&tree);
}

/* Directories inside each other, each with a name of this many bytes, and a file in the last. */
static void commit_long_names(struct fixture *fix, size_t name_bytes, unsigned levels)
{
    struct vcm_buf tree = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_buf name = VCM_BUF_INIT(1 * VCM_MIB);
    char *hex = test_repo_object(&fix->disk, "blob", "x", 1);

    for (size_t i = 0; i < name_bytes; i++)
        vcm_buf_append_byte(&name, 'n');
    append_raw_entry(&tree, "100644", "f", parse_id(hex));
    for (unsigned level = 0; level < levels; level++) {
        free(hex);
        hex = test_repo_object(&fix->disk, "tree", tree.data, tree.len);
        vcm_buf_clear(&tree);
        append_raw_entry(&tree, "40000", vcm_buf_text(&name), parse_id(hex));
    }
    commit_raw_tree(fix, tree.data, tree.len);
    free(hex);
    vcm_buf_release(&tree);
    vcm_buf_release(&name);
}

static void a_path_longer_than_the_limit_ends_the_walk(void **state)
{
    struct fixture *fix = *state;
    const size_t name_bytes = 60000;
    const unsigned fitting = (unsigned)(VCM_LIMIT_TREE_PATH_BYTES / (name_bytes + 1));

    test_repo_commit(&fix->disk, "x");
    commit_long_names(fix, name_bytes, fitting);
    assert_int_equal(walk(fix, ""), VCM_OK);
    assert_int_equal(fix->visits, 1);
    commit_long_names(fix, name_bytes, fitting + 1);
    assert_int_equal(walk(fix, ""), VCM_UNSUPPORTED);
}

static int cancel_at_first(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct fixture *fix = context;

    vcm_cancel_request(&fix->cancel);
    return note(context, entry, err);
}

static void a_request_to_stop_is_heard_within_a_few_hundred_entries(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf tree = VCM_BUF_INIT(1 * VCM_MIB);
    char *hex = test_repo_object(&fix->disk, "blob", "x", 1);
    char name[16];

    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "%04d", i);
        append_raw_entry(&tree, "100644", name, parse_id(hex));
    }
    commit_raw_tree(fix, tree.data, tree.len);
    assert_int_equal(walk(fix, ""), VCM_OK);
    assert_int_equal(fix->visits, 2000);
    fix->visits = 0;
    assert_int_equal(vcm_git_tree_walk(fix->repo, &fix->commit, "", cancel_at_first, fix,
                                       &fix->cancel, &fix->err),
                     VCM_INTERRUPTED);
    assert_in_range(fix->visits, 1, 512);
    assert_int_equal(walk(fix, ""), VCM_INTERRUPTED);
    assert_int_equal(fix->visits, 0);
    free(hex);
    vcm_buf_release(&tree);
}

static void the_visitors_refusal_ends_the_walk(void **state)
{
    struct fixture *fix = *state;

    make_small_tree(fix);
    fix->stop_after = 3;
    assert_int_equal(walk(fix, ""), VCM_STORE_FULL);
    assert_int_equal(fix->visits, 3);
}

static int note_enter(void *context, const struct vcm_git_directory *directory,
                      struct vcm_error *err)
{
    struct fixture *fix = context;
    struct vcm_slice path = vcm_git_tree_directory_path(directory);
    struct vcm_git_entry entry;

    vcm_buf_append_format(&fix->seen, "> %.*s%s\n", (int)path.len, path.data,
                          vcm_git_tree_directory_entry(&entry, directory, ".gitignore") ? " has"
                                                                                        : "");
    if (fix->stop_after > 0 && ++fix->visits == fix->stop_after)
        return vcm_error_set(err, VCM_STORE_FULL, "enough");
    return VCM_OK;
}

static void note_leave(void *context)
{
    struct fixture *fix = context;

    vcm_buf_append_string(&fix->seen, "<\n");
}

static int note_leaf(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct fixture *fix = context;

    (void)err;
    vcm_buf_append_format(&fix->seen, "- %.*s\n", (int)entry->path.len, entry->path.data);
    return VCM_OK;
}

static const struct vcm_git_visitor noting = {
    .entry = note_leaf, .enter = note_enter, .leave = note_leave};

static void directories_are_entered_and_left_those_above_the_start_too(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, ".gitignore", "");
    test_repo_write_text(&fix->disk, "a/b/c/d", "");
    test_repo_write_text(&fix->disk, "a/b/e", "");
    test_repo_write_text(&fix->disk, "a/f/.gitignore/g", "");
    commit_and_open(fix);
    assert_int_equal(vcm_git_tree_visit(fix->repo, &fix->commit, "", &noting, fix, NULL, &fix->err),
                     VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->seen), ">  has\n- .gitignore\n> a\n> a/b\n- a/b/e\n"
                                                  "> a/b/c\n- a/b/c/d\n<\n<\n> a/f\n"
                                                  "> a/f/.gitignore\n- a/f/.gitignore/g\n"
                                                  "<\n<\n<\n<\n");
    vcm_buf_clear(&fix->seen);
    assert_int_equal(
        vcm_git_tree_visit(fix->repo, &fix->commit, "a/b/", &noting, fix, NULL, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->seen), ">  has\n> a\n> a/b\n- a/b/e\n> a/b/c\n"
                                                  "- a/b/c/d\n<\n<\n<\n<\n");
}

static void what_was_entered_is_left_after_a_failure(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "a/b/c", "");
    commit_and_open(fix);
    fix->stop_after = 3;
    assert_int_equal(vcm_git_tree_visit(fix->repo, &fix->commit, "", &noting, fix, NULL, &fix->err),
                     VCM_STORE_FULL);
    assert_string_equal(vcm_buf_text(&fix->seen), "> \n> a\n> a/b\n<\n<\n");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(leaves_come_depth_first_in_gits_order),
        TEST(a_walk_starts_in_the_middle),
        TEST(a_start_that_is_no_directory_is_not_found),
        TEST(an_empty_tree_has_no_leaves),
        TEST(links_executables_and_submodules_are_told_apart),
        TEST(names_are_bytes),
        TEST(one_entry_is_found_by_its_path),
        TEST(blobs_are_read_as_they_are_stored),
        TEST(a_blob_larger_than_the_buffer_is_the_buffers_fault),
        TEST(other_objects_are_no_blobs),
        TEST(a_missing_blob_is_not_found_and_the_walk_goes_on),
        TEST(a_damaged_blob_is_an_io_error),
        TEST(a_missing_or_damaged_directory_is_named),
        TEST(a_commit_that_is_none_is_not_found),
        TEST(a_packed_repository_reads_the_same),
        TEST(three_hundred_levels_are_walked),
        TEST(depth_is_bounded),
        TEST(modes_that_git_does_not_write_are_files),
        TEST(names_that_lead_elsewhere_are_refused),
        TEST(of_two_entries_of_one_name_the_first_counts_in_any_order),
        TEST(malformed_trees_are_errors),
        TEST(a_path_longer_than_the_limit_ends_the_walk),
        TEST(a_request_to_stop_is_heard_within_a_few_hundred_entries),
        TEST(the_visitors_refusal_ends_the_walk),
        TEST(directories_are_entered_and_left_those_above_the_start_too),
        TEST(what_was_entered_is_left_after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
