#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "lfs/objects.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo disk;
    struct vcm_git_repo *repo;
    struct vcm_lfs_objects *objects;
    struct vcm_buf content;
    struct vcm_error err;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    test_repo_init(&fix->disk);
    test_repo_write_text(&fix->disk, "a", "a\n");
    test_repo_commit(&fix->disk, "first");
    vcm_buf_init(&fix->content, VCM_MIB);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_lfs_objects_close(fix->objects);
    vcm_git_repo_close(fix->repo);
    vcm_buf_release(&fix->content);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static void open_objects(struct fixture *fix, const char *below)
{
    char *path = test_repo_path(&fix->disk, below);

    if (vcm_git_repo_open(&fix->repo, path, &fix->err) != VCM_OK ||
        vcm_lfs_objects_open(&fix->objects, fix->repo, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    free(path);
}

static struct vcm_lfs_pointer pointer_to(const char *content)
{
    struct vcm_lfs_pointer pointer = {.size = strlen(content)};

    vcm_hash_sha256_of(pointer.oid, vcm_slice_of_string(content));
    return pointer;
}

/* Puts what may not be the content where the content belongs. */
static void put_object(const struct fixture *fix, const char *storage, const char *content,
                       const char *really)
{
    struct vcm_lfs_pointer pointer = pointer_to(content);
    char hex[65], name[256];

    vcm_hash_to_hex(hex, pointer.oid, sizeof pointer.oid);
    snprintf(name, sizeof name, "%s/objects/%.2s/%.2s/%s", storage, hex, hex + 2, hex);
    test_repo_write_text(&fix->disk, name, really);
}

static int read_object(struct fixture *fix, const char *content)
{
    struct vcm_lfs_pointer pointer = pointer_to(content);

    vcm_buf_clear(&fix->content);
    vcm_error_reset(&fix->err);
    return vcm_lfs_objects_read(&fix->content, fix->objects, &pointer, &fix->err);
}

static bool exists(struct fixture *fix, const char *content)
{
    struct vcm_lfs_pointer pointer = pointer_to(content);
    bool there = false;

    assert_int_equal(vcm_lfs_objects_has(&there, fix->objects, &pointer, &fix->err), VCM_OK);
    return there;
}

static void a_content_is_read_and_checked(void **state)
{
    struct fixture *fix = *state;

    put_object(fix, ".git/lfs", "hello\n", "hello\n");
    open_objects(fix, ".");
    assert_true(exists(fix, "hello\n"));
    assert_int_equal(read_object(fix, "hello\n"), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->content), "hello\n");
    assert_false(exists(fix, "missing"));
    assert_int_equal(read_object(fix, "missing"), VCM_NOT_FOUND);
}

static void a_content_that_is_not_its_pointers_is_corrupt(void **state)
{
    struct fixture *fix = *state;

    put_object(fix, ".git/lfs", "one", "two");
    put_object(fix, ".git/lfs", "long", "longer");
    put_object(fix, ".git/lfs", "whole", "who");
    open_objects(fix, ".");
    assert_int_equal(read_object(fix, "one"), VCM_STORE_CORRUPT);
    assert_int_equal(read_object(fix, "long"), VCM_STORE_CORRUPT);
    assert_int_equal(read_object(fix, "whole"), VCM_STORE_CORRUPT);
    assert_int_equal(fix->content.len, 0);
}

static void an_empty_content_needs_no_file(void **state)
{
    struct fixture *fix = *state;

    open_objects(fix, ".");
    assert_true(exists(fix, ""));
    assert_int_equal(read_object(fix, ""), VCM_OK);
    assert_int_equal(fix->content.len, 0);
}

static void a_size_beyond_the_buffer_is_refused_before_reading(void **state)
{
    struct fixture *fix = *state;
    struct vcm_lfs_pointer pointer = pointer_to("x");

    put_object(fix, ".git/lfs", "x", "x");
    open_objects(fix, ".");
    pointer.size = INT64_MAX;
    assert_int_equal(vcm_lfs_objects_read(&fix->content, fix->objects, &pointer, &fix->err),
                     VCM_UNSUPPORTED);
}

static void working_trees_share_the_contents(void **state)
{
    struct fixture *fix = *state;

    put_object(fix, ".git/lfs", "hello\n", "hello\n");
    test_repo_git(&fix->disk, "worktree", "add", "--quiet", "other", NULL);
    open_objects(fix, "other");
    assert_int_equal(read_object(fix, "hello\n"), VCM_OK);
}

static void the_configuration_may_move_the_storage(void **state)
{
    struct fixture *fix = *state;

    put_object(fix, ".git/elsewhere", "hello\n", "hello\n");
    test_repo_git(&fix->disk, "config", "lfs.storage", "elsewhere", NULL);
    open_objects(fix, ".");
    assert_int_equal(read_object(fix, "hello\n"), VCM_OK);
    vcm_lfs_objects_close(fix->objects);
    vcm_git_repo_close(fix->repo);

    char *far = test_repo_path(&fix->disk, "far");
    put_object(fix, "far", "away\n", "away\n");
    test_repo_git(&fix->disk, "config", "lfs.storage", far, NULL);
    open_objects(fix, ".");
    assert_int_equal(read_object(fix, "away\n"), VCM_OK);
    assert_int_equal(read_object(fix, "hello\n"), VCM_NOT_FOUND);
    free(far);
}

static void contents_of_alternates_are_found(void **state)
{
    struct fixture *fix = *state;

    put_object(fix, ".git/lfs", "hello\n", "hello\n");
    put_object(fix, ".git/lfs", "sound\n", "sound\n");
    test_repo_git(&fix->disk, "clone", "--quiet", "--shared", ".", "near", NULL);
    test_repo_git(&fix->disk, "clone", "--quiet", "--shared", "near", "far", NULL);
    put_object(fix, "near/.git/lfs", "near\n", "near\n");
    put_object(fix, "far/.git/lfs", "sound\n", "damaged");
    put_object(fix, "far/.git/lfs", "lost\n", "damaged");
    open_objects(fix, "far");
    assert_true(exists(fix, "hello\n"));
    assert_int_equal(read_object(fix, "hello\n"), VCM_OK);
    assert_int_equal(read_object(fix, "near\n"), VCM_OK);
    assert_int_equal(read_object(fix, "sound\n"), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->content), "sound\n");
    assert_int_equal(read_object(fix, "lost\n"), VCM_STORE_CORRUPT);
    assert_int_equal(read_object(fix, "missing"), VCM_NOT_FOUND);
    assert_false(exists(fix, "missing"));
}

static void a_relative_alternate_leads_from_the_objects(void **state)
{
    struct fixture *fix = *state;

    put_object(fix, ".git/lfs", "hello\n", "hello\n");
    test_repo_git(&fix->disk, "init", "--quiet", "near", NULL);
    test_repo_write_text(&fix->disk, "near/.git/objects/info/alternates",
                         "# ours\n../../../.git/objects/\n../gone\n");
    open_objects(fix, "near");
    assert_int_equal(read_object(fix, "hello\n"), VCM_OK);
}

static void a_submodule_has_contents_of_its_own(void **state)
{
    struct fixture *fix = *state;

    test_repo_git(&fix->disk, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                  "./.", "sub", NULL);
    put_object(fix, ".git/lfs", "above\n", "above\n");
    put_object(fix, ".git/modules/sub/lfs", "hello\n", "hello\n");
    open_objects(fix, "sub");
    assert_int_equal(read_object(fix, "hello\n"), VCM_OK);
    assert_int_equal(read_object(fix, "above\n"), VCM_NOT_FOUND);
}

#define OBJECT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OBJECT_TEST(a_content_is_read_and_checked),
        OBJECT_TEST(a_content_that_is_not_its_pointers_is_corrupt),
        OBJECT_TEST(an_empty_content_needs_no_file),
        OBJECT_TEST(a_size_beyond_the_buffer_is_refused_before_reading),
        OBJECT_TEST(working_trees_share_the_contents),
        OBJECT_TEST(the_configuration_may_move_the_storage),
        OBJECT_TEST(contents_of_alternates_are_found),
        OBJECT_TEST(a_relative_alternate_leads_from_the_objects),
        OBJECT_TEST(a_submodule_has_contents_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
