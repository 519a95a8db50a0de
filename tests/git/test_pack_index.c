#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "git/blob.h"
#include "git/pack_index.h"
#include "git/tree.h"
#include "tests/support/random.h"
#include "tests/support/repo.h"

#include "base/banned.h"

#define HEADER        8
#define FAN_OUT_BYTES 1024
#define FILES         30
#define FLIPS         250

struct fixture {
    struct test_repo disk;
    char *index_path;
    unsigned char *bytes; /* of the sound index */
    size_t len;
    uint64_t pack_bytes;
};

static void read_index(struct fixture *fix)
{
    struct stat status;

    FILE *file = fopen(fix->index_path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    fix->len = (size_t)status.st_size;
    fix->bytes = malloc(fix->len);
    assert_int_equal(fread(fix->bytes, 1, fix->len, file), fix->len);
    fclose(file);
}

/* A repository with all its objects in one pack; `version` of the index. */
static void pack(struct fixture *fix, const char *version)
{
    char name[32], text[64];
    char *output = NULL;
    struct stat status;

    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "d%u/f%u", i % 3, i);
        snprintf(text, sizeof text, "file %u of the pack\n", i);
        test_repo_write_text(&fix->disk, name, text);
    }
    test_repo_commit(&fix->disk, "files");
    test_repo_git(&fix->disk, "-c", version, "repack", "-a", "-d", "-q", NULL);
    char *argv[] = {"sh", "-c", "chmod u+w .git/objects/pack/*; echo .git/objects/pack/*.idx",
                    NULL};
    assert_int_equal(test_repo_run(fix->disk.path, argv, &output), 0);
    output[strcspn(output, "\n")] = '\0';
    fix->index_path = test_repo_path(&fix->disk, output);
    free(output);
    read_index(fix);
    size_t len = strlen(fix->index_path);
    char *pack_path = calloc(len + 2, 1);
    snprintf(pack_path, len + 2, "%.*s.pack", (int)(len - 4), fix->index_path);
    assert_int_equal(stat(pack_path, &status), 0);
    fix->pack_bytes = (uint64_t)status.st_size;
    free(pack_path);
}

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
    free(fix->index_path);
    free(fix->bytes);
    free(fix);
    return 0;
}

static const char *fault_of(const unsigned char *bytes, size_t len, uint64_t pack_bytes)
{
    int fd = memfd_create("index", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    const char *fault = vcm_git_pack_index_fault(fd, pack_bytes);
    close(fd);
    return fault;
}

/* The fault of the index with four bytes at `at` replaced. */
static const char *fault_with(const struct fixture *fix, size_t at, uint32_t word)
{
    unsigned char *bytes = malloc(fix->len);

    memcpy(bytes, fix->bytes, fix->len);
    for (unsigned i = 0; i < 4; i++)
        bytes[at + i] = (unsigned char)(word >> (24 - 8 * i));
    const char *fault = fault_of(bytes, fix->len, fix->pack_bytes);
    free(bytes);
    return fault;
}

static void assert_fault(const char *fault, const char *words)
{
    assert_non_null(fault);
    if (!strstr(fault, words))
        fail_msg("'%s' does not say '%s'", fault, words);
}

static uint32_t count_of(const struct fixture *fix, size_t fan_out)
{
    const unsigned char *last = fix->bytes + fan_out + FAN_OUT_BYTES - 4;
    return (uint32_t)last[0] << 24 | (uint32_t)last[1] << 16 | (uint32_t)last[2] << 8 | last[3];
}

static void a_sound_index_has_no_fault(void **state)
{
    struct fixture *fix = *state;

    pack(fix, "pack.indexVersion=2");
    assert_null(fault_of(fix->bytes, fix->len, fix->pack_bytes));
}

static void an_index_of_the_first_version_is_known(void **state)
{
    struct fixture *fix = *state;
    struct vcm_error err = {0};

    pack(fix, "pack.indexVersion=1");
    assert_memory_not_equal(fix->bytes, "\377tOc", 4);
    assert_null(fault_of(fix->bytes, fix->len, fix->pack_bytes));
    assert_fault(fault_with(fix, FAN_OUT_BYTES, 0x7fffffff), "outside its pack");
    assert_fault(fault_of(fix->bytes, fix->len - 1, fix->pack_bytes), "size");
    char *objects = test_repo_path(&fix->disk, ".git/objects");
    assert_int_equal(vcm_git_pack_index_check(objects, &err), VCM_OK);
    free(objects);
}

static void tables_that_lead_outside_are_faults(void **state)
{
    struct fixture *fix = *state;

    pack(fix, "pack.indexVersion=2");
    size_t offsets = HEADER + FAN_OUT_BYTES + (size_t)count_of(fix, HEADER) * 24;
    assert_fault(fault_with(fix, 4, 3), "version");
    assert_fault(fault_with(fix, HEADER, 0xffffff), "goes back");
    assert_fault(fault_with(fix, HEADER + FAN_OUT_BYTES - 4, 0xffffffff), "size");
    assert_fault(fault_with(fix, offsets, 0xffffffff), "large offsets");
    assert_fault(fault_with(fix, offsets, 0x80000000), "large offsets");
    assert_fault(fault_with(fix, offsets, 0x7fffffff), "outside its pack");
    assert_fault(fault_with(fix, offsets, 0), "outside its pack");
    assert_fault(fault_with(fix, offsets, (uint32_t)fix->pack_bytes - 20), "outside its pack");
    assert_null(fault_with(fix, offsets, (uint32_t)fix->pack_bytes - 21));
    assert_fault(fault_of(fix->bytes, fix->len, 31), "cut short");
}

static void every_length_but_its_own_is_a_fault(void **state)
{
    struct fixture *fix = *state;

    pack(fix, "pack.indexVersion=2");
    for (size_t len = 0; len < fix->len; len++)
        assert_non_null(fault_of(fix->bytes, len, fix->pack_bytes));
}

static void large_offsets_are_followed(void **state)
{
    struct fixture *fix = *state;

    pack(fix, "pack.indexVersion=2");
    free(fix->bytes);
    char *argv[] = {"sh", "-c",
                    "rm -f .git/objects/pack/*.idx .git/objects/pack/*.rev && "
                    "git index-pack --index-version=2,0x10 .git/objects/pack/*.pack",
                    NULL};
    assert_int_equal(test_repo_run(fix->disk.path, argv, NULL), 0);
    read_index(fix);
    size_t offsets = HEADER + FAN_OUT_BYTES + (size_t)count_of(fix, HEADER) * 24;
    size_t large = offsets + (size_t)count_of(fix, HEADER) * 4;
    assert_true(fix->len > large + 40);
    assert_null(fault_of(fix->bytes, fix->len, fix->pack_bytes));
    assert_fault(fault_with(fix, large, 1), "outside its pack");
    assert_fault(fault_with(fix, large + 4, 0), "outside its pack");
}

static void put_index(const struct fixture *fix, const unsigned char *bytes)
{
    FILE *file = fopen(fix->index_path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, fix->len, file), fix->len);
    assert_int_equal(fclose(file), 0);
}

static int note_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(1024);

    (void)err;
    vcm_git_blob_read(&text, context, &entry->id, NULL);
    vcm_buf_release(&text);
    return VCM_OK;
}

/* Reads everything: whatever the index says, the answer is a code. */
static int read_all(const struct fixture *fix)
{
    struct vcm_git_repo *repo = NULL;
    struct vcm_error err = {0};
    struct vcm_git_id commit;

    int rc = vcm_git_repo_open(&repo, fix->disk.path, &err);
    if (rc == VCM_OK)
        rc = vcm_git_repo_resolve(&commit, repo, NULL, NULL, &err);
    if (rc == VCM_OK)
        rc = vcm_git_tree_walk(repo, &commit, "", note_entry, repo, NULL, &err);
    vcm_git_repo_close(repo);
    return rc;
}

static void a_repository_with_a_damaged_index_is_never_a_crash(void **state)
{
    struct fixture *fix = *state;
    uint64_t seed = 20240117;
    unsigned failures = 0;

    print_message("seed %llu\n", (unsigned long long)seed);
    pack(fix, "pack.indexVersion=2");
    unsigned char *bytes = malloc(fix->len);
    for (unsigned i = 0; i < FLIPS; i++) {
        memcpy(bytes, fix->bytes, fix->len);
        for (unsigned flips = 1 + i % 3; flips > 0; flips--)
            bytes[test_random(&seed) % fix->len] ^= (unsigned char)(1 + test_random(&seed) % 255);
        put_index(fix, bytes);
        failures += read_all(fix) != VCM_OK;
    }
    put_index(fix, fix->bytes);
    free(bytes);
    assert_true(failures > 0);
    assert_int_equal(read_all(fix), VCM_OK);
}

static void the_damaged_index_is_named(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_repo *repo = NULL;
    struct vcm_error err = {0};

    pack(fix, "pack.indexVersion=2");
    memset(fix->bytes + HEADER, 0xff, 4);
    put_index(fix, fix->bytes);
    assert_int_equal(vcm_git_repo_open(&repo, fix->disk.path, &err), VCM_IO_ERROR);
    assert_non_null(strstr(err.message, strrchr(fix->index_path, '/')));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sound_index_has_no_fault),
        TEST(an_index_of_the_first_version_is_known),
        TEST(tables_that_lead_outside_are_faults),
        TEST(every_length_but_its_own_is_a_fault),
        TEST(large_offsets_are_followed),
        TEST(a_repository_with_a_damaged_index_is_never_a_crash),
        TEST(the_damaged_index_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
