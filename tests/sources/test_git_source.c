#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/limits.h"
#include "sources/git_source.h"
#include "tests/support/repo.h"

#include "base/banned.h"

struct fixture {
    struct test_repo disk;
    struct vcm_source *source;
    void *reader;
    struct vcm_source_content content;
    struct vcm_buf seen; /* a line for each item: outcome of the walk, path, outcome of the read */
    struct vcm_error err;
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    vcm_buf_init(&fix->seen, VCM_MIB);
    vcm_buf_init(&fix->content.text, 3 * VCM_LIMIT_FILE_BYTES);
    test_repo_init(&fix->disk);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    if (fix->reader)
        fix->source->functions->reader_close(fix->reader);
    vcm_source_close(fix->source);
    vcm_buf_release(&fix->seen);
    vcm_buf_release(&fix->content.text);
    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static void open_source(struct fixture *fix, const char *start_dir)
{
    char *commit = test_repo_git_output(&fix->disk, "rev-parse", "HEAD", NULL);

    if (vcm_git_source_type.open(&fix->source,
                                 &(struct vcm_source_request){.repository = fix->disk.path,
                                                              .commit = commit,
                                                              .start_dir = start_dir},
                                 &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    free(commit);
    assert_int_equal(fix->source->functions->reader_open(&fix->reader, fix->source, &fix->err),
                     VCM_OK);
}

static int read_item(struct fixture *fix, const struct vcm_source_item *item)
{
    vcm_buf_clear(&fix->content.text);
    fix->content.outcome = VCM_SOURCE_PAGED;
    fix->content.reason = VCM_REASON_NONE;
    fix->content.lossy = false;
    return fix->source->functions->read(&fix->content, fix->reader, item, &fix->err);
}

static int note(void *context, const struct vcm_source_item *item, struct vcm_error *err)
{
    struct fixture *fix = context;

    vcm_buf_append_format(&fix->seen, "%s %.*s", vcm_outcome_name(item->outcome),
                          (int)item->path.len, item->path.data);
    if (item->outcome == VCM_SOURCE_PAGED) {
        int rc = read_item(fix, item);
        if (rc != VCM_OK) {
            *err = fix->err;
            return rc;
        }
        vcm_buf_append_format(&fix->seen, " %s%s%s %zu", vcm_outcome_name(fix->content.outcome),
                              fix->content.reason ? " " : "",
                              fix->content.reason ? vcm_outcome_reason_name(fix->content.reason)
                                                  : "",
                              fix->content.text.len);
        if (fix->content.lossy)
            vcm_buf_append_string(&fix->seen, " lossy");
    }
    vcm_buf_append_byte(&fix->seen, '\n');
    return VCM_OK;
}

static void assert_walk(struct fixture *fix, const char *expected)
{
    vcm_buf_clear(&fix->seen);
    assert_int_equal(fix->source->functions->walk(fix->source, note, fix, NULL, &fix->err), VCM_OK);
    assert_string_equal(vcm_buf_text(&fix->seen), expected);
}

static void every_kind_of_entry_has_its_outcome(void **state)
{
    struct fixture *fix = *state;
    char *link = test_repo_path(&fix->disk, "link"), late[9001];

    memset(late, 'x', sizeof late);
    late[8000] = '\0';
    test_repo_write(&fix->disk, "late-nul", late, sizeof late);
    late[7999] = '\0';
    test_repo_write(&fix->disk, "nul", late, sizeof late);
    test_repo_write_text(&fix->disk, "empty", "");
    test_repo_write_text(&fix->disk, "dir/text", "one\r\ntwo");
    test_repo_write(&fix->disk, "lossy", "a\xff\xe2\x82z", 5);
    assert_int_equal(symlink("empty", link), 0);
    free(link);
    test_repo_commit(&fix->disk, "x");
    open_source(fix, "");
    assert_walk(fix, "paged empty paged 0\n"
                     "paged late-nul paged 9001\n"
                     "symlink link\n"
                     "paged lossy paged 8 lossy\n"
                     "paged nul binary 9001\n"
                     "paged dir/text paged 8\n");
}

static void invalid_utf8_is_replaced_subpart_by_subpart(void **state)
{
    struct fixture *fix = *state;

    test_repo_write(&fix->disk, "lossy", "a\xff\xe2\x82z", 5);
    test_repo_commit(&fix->disk, "x");
    open_source(fix, "");
    assert_walk(fix, "paged lossy paged 8 lossy\n");
    assert_string_equal(vcm_buf_text(&fix->content.text), "a\xef\xbf\xbd\xef\xbf\xbdz");
    assert_walk(fix, "paged lossy paged 8 lossy\n");
}

static void a_submodule_is_not_followed(void **state)
{
    struct fixture *fix = *state;

    test_repo_git(&fix->disk, "update-index", "--add", "--cacheinfo",
                  "160000,0123456789012345678901234567890123456789,module", NULL);
    test_repo_git(&fix->disk, "commit", "-q", "-m", "x", NULL);
    open_source(fix, "");
    assert_walk(fix, "submodule module\n");
}

static void only_what_is_below_start_dir_is_walked(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "a/b/c", "x");
    test_repo_write_text(&fix->disk, "a/bc", "x");
    test_repo_write_text(&fix->disk, "d", "x");
    test_repo_commit(&fix->disk, "x");
    open_source(fix, "a/b");
    assert_walk(fix, "paged a/b/c paged 1\n");
}

static void an_object_that_is_missing_or_damaged_costs_that_file_alone(void **state)
{
    struct fixture *fix = *state;

    test_repo_write_text(&fix->disk, "damaged", "to be damaged");
    test_repo_write_text(&fix->disk, "fine", "x");
    test_repo_write_text(&fix->disk, "missing", "to be lost");
    test_repo_commit(&fix->disk, "x");
    char *lost = test_repo_git_output(&fix->disk, "rev-parse", "HEAD:missing", NULL);
    char *path = test_repo_object_path(&fix->disk, lost);
    assert_int_equal(unlink(path), 0);
    free(lost);
    free(path);
    lost = test_repo_git_output(&fix->disk, "rev-parse", "HEAD:damaged", NULL);
    path = test_repo_object_path(&fix->disk, lost);
    assert_int_equal(chmod(path, 0600), 0);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 8, SEEK_SET), 0);
    assert_int_equal(fwrite("\xff\xff\xff\xff", 4, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    free(lost);
    free(path);
    open_source(fix, "");
    assert_walk(fix, "paged damaged failed object_damaged 0\n"
                     "paged fine paged 1\n"
                     "paged missing failed object_missing 0\n");
}

static void a_file_over_the_limit_is_not_read(void **state)
{
    struct fixture *fix = *state;
    char *large = calloc(1, VCM_LIMIT_FILE_BYTES + 1);

    assert_non_null(large);
    memset(large, 'x', VCM_LIMIT_FILE_BYTES + 1);
    test_repo_write(&fix->disk, "over", large, VCM_LIMIT_FILE_BYTES + 1);
    test_repo_write(&fix->disk, "upto", large, VCM_LIMIT_FILE_BYTES);
    free(large);
    test_repo_commit(&fix->disk, "x");
    open_source(fix, "");
    assert_walk(fix, "paged over too_large 0\npaged upto paged 33554432\n");
}

static int keep_id(void *context, const struct vcm_source_item *item, struct vcm_error *err)
{
    (void)err;
    assert_int_equal(item->content_id_len, 20);
    vcm_hash_to_hex(context, item->content_id, 20);
    return VCM_OK;
}

static void content_ids_are_blob_ids(void **state)
{
    struct fixture *fix = *state;
    char hex[41];

    test_repo_write_text(&fix->disk, "hello", "hello\n");
    test_repo_commit(&fix->disk, "x");
    open_source(fix, "");
    assert_int_equal(fix->source->functions->walk(fix->source, keep_id, hex, NULL, &fix->err),
                     VCM_OK);
    assert_string_equal(hex, "ce013625030ba8dba906f756967f9e9ca394464a");
}

static void a_walk_can_be_stopped(void **state)
{
    struct fixture *fix = *state;
    struct vcm_cancel cancel = {true};

    test_repo_write_text(&fix->disk, "a", "x");
    test_repo_commit(&fix->disk, "x");
    open_source(fix, "");
    assert_int_equal(fix->source->functions->walk(fix->source, note, fix, &cancel, &fix->err),
                     VCM_INTERRUPTED);
}

static void a_commit_must_be_named_in_full(void **state)
{
    struct fixture *fix = *state;
    static const char *const wrong[] = {"", "HEAD", "0123456789",
                                        "012345678901234567890123456789012345678x"};

    for (unsigned i = 0; i < 4; i++) {
        vcm_error_reset(&fix->err);
        assert_int_equal(vcm_git_source_type.open(
                             &fix->source,
                             &(struct vcm_source_request){
                                 .repository = fix->disk.path, .commit = wrong[i], .start_dir = ""},
                             &fix->err),
                         VCM_INVALID_ARGUMENT);
        assert_null(fix->source);
    }
}

static void a_directory_without_a_repository_is_not_found(void **state)
{
    struct fixture *fix = *state;
    struct test_repo empty;

    test_repo_init_directory(&empty);
    assert_int_equal(
        vcm_git_source_type.open(
            &fix->source,
            &(struct vcm_source_request){.repository = empty.path,
                                         .commit = "0123456789012345678901234567890123456789",
                                         .start_dir = ""},
            &fix->err),
        VCM_NOT_FOUND);
    assert_null(fix->source);
    test_repo_release(&empty);
}

#define SOURCE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SOURCE_TEST(every_kind_of_entry_has_its_outcome),
        SOURCE_TEST(invalid_utf8_is_replaced_subpart_by_subpart),
        SOURCE_TEST(a_submodule_is_not_followed),
        SOURCE_TEST(only_what_is_below_start_dir_is_walked),
        SOURCE_TEST(an_object_that_is_missing_or_damaged_costs_that_file_alone),
        SOURCE_TEST(a_file_over_the_limit_is_not_read),
        SOURCE_TEST(content_ids_are_blob_ids),
        SOURCE_TEST(a_walk_can_be_stopped),
        SOURCE_TEST(a_commit_must_be_named_in_full),
        SOURCE_TEST(a_directory_without_a_repository_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
