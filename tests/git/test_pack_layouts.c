/* The layouts of packs that our own reader leaves to libgit2: they are read, and damage in them is
 * answered. */
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

#include "base/path.h"
#include "git/blob.h"
#include "git/tree.h"
#include "tests/support/random.h"
#include "tests/support/repo.h"

#include "base/banned.h"

#define COMMITS  4
#define FILES    12 /* of each commit */
#define FLIPS    150
#define MIDX     ".git/objects/pack/multi-pack-index"
#define MIDX_MAX ((size_t)1 << 20)

struct fixture {
    struct test_repo disk;
    unsigned readable; /* blobs of the last walk */
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

    test_repo_release(&fix->disk);
    free(fix);
    return 0;
}

static void shell(const struct fixture *fix, char *script)
{
    char *argv[] = {"sh", "-c", script, NULL};
    char *output = NULL;

    assert_int_equal(test_repo_run(fix->disk.path, argv, &output), 0);
    free(output);
}

/* A pack for every commit, made with a setting of git. */
static void fill(struct fixture *fix, const char *setting)
{
    char name[32], text[64];

    for (unsigned commit = 0; commit < COMMITS; commit++) {
        for (unsigned i = 0; i < FILES; i++) {
            snprintf(name, sizeof name, "d%u/f%u", commit, i);
            snprintf(text, sizeof text, "file %u of commit %u\n", i, commit);
            test_repo_write_text(&fix->disk, name, text);
        }
        test_repo_commit(&fix->disk, "files");
        test_repo_git(&fix->disk, "-c", setting, "repack", "-d", "-q", NULL);
    }
    shell(fix, "chmod u+w .git/objects/pack/* && test $(ls .git/objects/pack/*.pack | wc -l) = 4 "
               "&& test -z \"$(ls -d .git/objects/?? 2>/dev/null)\"");
}

struct reading {
    struct vcm_git_repo *repo;
    struct fixture *fix;
};

static int read_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(1024);
    struct reading *reading = context;

    (void)err;
    reading->fix->readable +=
        vcm_git_blob_read(&text, reading->repo, &entry->id, NULL) == VCM_OK && text.len > 0;
    vcm_buf_release(&text);
    return VCM_OK;
}

static int read_all(struct fixture *fix, const char *below, struct vcm_error *err)
{
    char *path = test_repo_path(&fix->disk, below);
    struct reading reading = {.fix = fix};
    struct vcm_git_id commit;

    fix->readable = 0;
    int rc = vcm_git_repo_open(&reading.repo, path, err);
    if (rc == VCM_OK)
        rc = vcm_git_repo_resolve(&commit, reading.repo, NULL, NULL, err);
    if (rc == VCM_OK)
        rc = vcm_git_tree_walk(reading.repo, &commit, "", read_entry, &reading, NULL, err);
    vcm_git_repo_close(reading.repo);
    free(path);
    return rc;
}

static void assert_all_there(struct fixture *fix, const char *below)
{
    struct vcm_error err = {0};

    if (read_all(fix, below, &err) != VCM_OK)
        fail_msg("%s", err.message);
    assert_int_equal(fix->readable, COMMITS * FILES);
}

static void indexes_of_the_first_version_are_read(void **state)
{
    struct fixture *fix = *state;

    fill(fix, "pack.indexVersion=1");
    assert_all_there(fix, ".");
}

static void a_multi_pack_index_is_read(void **state)
{
    struct fixture *fix = *state;

    fill(fix, "pack.indexVersion=2");
    test_repo_git(&fix->disk, "multi-pack-index", "write", NULL);
    assert_all_there(fix, ".");
    test_repo_git(&fix->disk, "multi-pack-index", "repack", NULL);
    test_repo_git(&fix->disk, "multi-pack-index", "expire", NULL);
    assert_all_there(fix, ".");
}

static void alternates_with_any_layout_are_read(void **state)
{
    struct fixture *fix = *state;

    fill(fix, "pack.indexVersion=1");
    test_repo_git(&fix->disk, "clone", "--quiet", "--shared", "--bare", ".", "absolute", NULL);
    test_repo_git(&fix->disk, "clone", "--quiet", "--shared", "--bare", ".", "relative", NULL);
    test_repo_write_text(&fix->disk, "relative/objects/info/alternates", "../../.git/objects\n");
    assert_all_there(fix, "absolute");
    assert_all_there(fix, "relative");
    test_repo_git(&fix->disk, "multi-pack-index", "write", NULL);
    assert_all_there(fix, "absolute");
    assert_all_there(fix, "relative");
}

static void put_midx(const struct fixture *fix, const char *bytes, size_t len)
{
    test_repo_write(&fix->disk, MIDX, bytes, len);
}

static void a_damaged_multi_pack_index_is_never_a_crash(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf sound = VCM_BUF_INIT(MIDX_MAX);
    unsigned troubles = 0;
    uint64_t seed = 20240117;

    print_message("seed %llu\n", (unsigned long long)seed);
    fill(fix, "pack.indexVersion=2");
    test_repo_git(&fix->disk, "multi-pack-index", "write", NULL);
    shell(fix, "chmod u+w " MIDX);
    char *path = test_repo_path(&fix->disk, MIDX), *bytes = malloc(MIDX_MAX);
    assert_int_equal(vcm_path_read_file(&sound, path, MIDX_MAX, NULL), VCM_OK);
    for (unsigned i = 0; i < FLIPS; i++) {
        struct vcm_error err = {0};
        size_t len = i % 10 == 9 ? test_random(&seed) % sound.len : sound.len;
        memcpy(bytes, sound.data, sound.len);
        for (unsigned flips = 1 + i % 3; flips > 0; flips--)
            bytes[test_random(&seed) % sound.len] ^= (char)(1 + test_random(&seed) % 255);
        put_midx(fix, bytes, len);
        troubles += read_all(fix, ".", &err) != VCM_OK || fix->readable != COMMITS * FILES;
    }
    print_message("%u of %u were noticed\n", troubles, FLIPS);
    put_midx(fix, sound.data, sound.len);
    assert_all_there(fix, ".");
    free(bytes);
    free(path);
    vcm_buf_release(&sound);
}

/* Where the chunk of this name begins. */
static size_t find_chunk(const struct vcm_buf *midx, const char *name)
{
    for (size_t at = 12; at + 12 <= midx->len && midx->data[at] != '\0'; at += 12) {
        const unsigned char *entry = (const unsigned char *)midx->data + at;
        if (memcmp(entry, name, 4) == 0)
            return (size_t)entry[10] << 8 | entry[11];
    }
    fail_msg("no chunk %s", name);
    return 0;
}

static void an_offset_outside_of_a_pack_is_told_and_not_followed(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf midx = VCM_BUF_INIT(MIDX_MAX);
    static const char *const faults[][2] = {{"\0\0\0\0\177\377\377\377", "outside a pack"},
                                            {"\0\0\0\0\0\0\0\0", "outside a pack"},
                                            {"\0\0\0\4\0\0\0\20", "does not name"}};

    fill(fix, "pack.indexVersion=2");
    test_repo_git(&fix->disk, "multi-pack-index", "write", NULL);
    shell(fix, "chmod u+w " MIDX);
    char *path = test_repo_path(&fix->disk, MIDX);
    assert_int_equal(vcm_path_read_file(&midx, path, MIDX_MAX, NULL), VCM_OK);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct vcm_error err = {0};
        memcpy(midx.data + find_chunk(&midx, "OOFF"), faults[i][0], 8);
        put_midx(fix, midx.data, midx.len);
        assert_int_equal(read_all(fix, ".", &err), VCM_IO_ERROR);
        assert_non_null(strstr(err.message, faults[i][1]));
        assert_non_null(strstr(err.message, "git multi-pack-index write"));
    }
    free(path);
    vcm_buf_release(&midx);
}

static void a_multi_pack_index_that_names_what_is_gone_is_answered(void **state)
{
    struct fixture *fix = *state;
    struct vcm_error err = {0};

    fill(fix, "pack.indexVersion=2");
    test_repo_git(&fix->disk, "multi-pack-index", "write", NULL);
    shell(fix, "rm -f $(ls .git/objects/pack/*.pack | head -n 1)");
    int rc = read_all(fix, ".", &err);
    assert_true(rc != VCM_OK || fix->readable < COMMITS * FILES);
    assert_true(rc == VCM_OK || rc == VCM_NOT_FOUND || rc == VCM_IO_ERROR);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(indexes_of_the_first_version_are_read),
        TEST(a_multi_pack_index_is_read),
        TEST(alternates_with_any_layout_are_read),
        TEST(a_damaged_multi_pack_index_is_never_a_crash),
        TEST(an_offset_outside_of_a_pack_is_told_and_not_followed),
        TEST(a_multi_pack_index_that_names_what_is_gone_is_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
