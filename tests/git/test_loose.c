#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/limits.h"
#include "git/blob.h"
#include "git/submodule.h"
#include "git/tree.h"
#include "tests/support/repo.h"

#include "base/banned.h"

/* What is tested here is that calls end: a test that hangs is killed, and fails so. */
#define GUARD_SECONDS 300 /* valgrind takes its time */
#define SEED          20240518u
#define LARGE_BYTES   ((size_t)200000)

struct fixture {
    struct test_repo disk;
    struct test_repo other;
    struct vcm_git_repo *repo;
    struct vcm_error err;
    struct vcm_buf blob;
    struct vcm_buf stream; /* an object's file, to be written by store() */
};

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);

    alarm(GUARD_SECONDS);
    vcm_buf_init(&fix->blob, 16 * VCM_MIB);
    vcm_buf_init(&fix->stream, 16 * VCM_MIB);
    test_repo_init(&fix->disk);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;

    vcm_git_repo_close(fix->repo);
    vcm_buf_release(&fix->blob);
    vcm_buf_release(&fix->stream);
    test_repo_release(&fix->disk);
    test_repo_release(&fix->other);
    free(fix);
    alarm(0);
    return 0;
}

static unsigned char next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return (unsigned char)(*seed >> 16);
}

/* Text that hardly deflates, so that its object has a middle. */
static void write_large(struct fixture *fix, const char *name)
{
    char *text = malloc(LARGE_BYTES);
    unsigned seed = SEED;

    for (size_t i = 0; i < LARGE_BYTES; i++)
        text[i] = (char)(' ' + next_random(&seed) % 90);
    test_repo_write(&fix->disk, name, text, LARGE_BYTES);
    free(text);
}

static void reopen(struct fixture *fix, const struct test_repo *disk)
{
    vcm_git_repo_close(fix->repo);
    vcm_error_reset(&fix->err);
    if (vcm_git_repo_open(&fix->repo, disk->path, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
}

static struct vcm_git_id parse_id(const char *hex)
{
    struct vcm_git_id id;

    assert_true(vcm_hash_from_hex(id.bytes, hex, sizeof id.bytes));
    return id;
}

static struct vcm_git_id id_of(struct fixture *fix, const char *expression)
{
    char *hex = test_repo_git_output(&fix->disk, "rev-parse", expression, NULL);
    struct vcm_git_id id = parse_id(hex);

    free(hex);
    return id;
}

/* The file of the object, writable. The caller frees the name. */
static char *file_of(struct fixture *fix, const struct vcm_git_id *id)
{
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_repo_id_to_hex(hex, id);
    char *path = test_repo_object_path(&fix->disk, hex);
    chmod(path, 0600);
    return path;
}

static void cut(struct fixture *fix, const struct vcm_git_id *id, off_t divisor)
{
    char *path = file_of(fix, id);
    struct stat status;

    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size / divisor), 0);
    free(path);
}

static void cut_to(struct fixture *fix, const struct vcm_git_id *id, off_t len)
{
    char *path = file_of(fix, id);

    assert_int_equal(truncate(path, len), 0);
    free(path);
}

static int read_blob(struct fixture *fix, const struct vcm_git_id *id)
{
    vcm_error_reset(&fix->err);
    vcm_buf_clear(&fix->blob);
    return vcm_git_blob_read(&fix->blob, fix->repo, id, &fix->err);
}

static int size_of_blob(struct fixture *fix, const struct vcm_git_id *id, uint64_t *size)
{
    vcm_error_reset(&fix->err);
    return vcm_git_blob_size(size, fix->repo, id, &fix->err);
}

static int resolve(struct fixture *fix, const char *branch, const char *commit)
{
    struct vcm_git_id id;

    vcm_error_reset(&fix->err);
    return vcm_git_repo_resolve(&id, fix->repo, branch, commit, &fix->err);
}

static int ignore_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    (void)context;
    (void)entry;
    (void)err;
    return VCM_OK;
}

static int walk(struct fixture *fix, const struct vcm_git_id *commit)
{
    vcm_error_reset(&fix->err);
    return vcm_git_tree_walk(fix->repo, commit, "", ignore_entry, NULL, NULL, &fix->err);
}

/* Deflates `len` bytes at `data` to the end of fix->stream. */
static void append_deflated(struct fixture *fix, const void *data, size_t len)
{
    uLongf room = compressBound(len);
    char *to = vcm_buf_reserve(&fix->stream, room);

    assert_non_null(to);
    assert_int_equal(compress((Bytef *)to, &room, data, len), Z_OK);
    vcm_buf_advance(&fix->stream, room);
}

/* Makes fix->stream the file of the blob "first". */
static struct vcm_git_id store(struct fixture *fix)
{
    char *hex = test_repo_object(&fix->disk, "blob", "first", 5);
    struct vcm_git_id id = parse_id(hex);
    char *path = file_of(fix, &id);

    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (fix->stream.len > 0)
        assert_int_equal(fwrite(fix->stream.data, 1, fix->stream.len, file), fix->stream.len);
    assert_int_equal(fclose(file), 0);
    reopen(fix, &fix->disk);
    free(path);
    free(hex);
    return id;
}

/* The content of the object, header included, as a stream of its own, instead of "first". */
static struct vcm_git_id store_content(struct fixture *fix, const char *content, size_t len)
{
    vcm_buf_clear(&fix->stream);
    append_deflated(fix, content, len);
    return store(fix);
}

static void assert_damaged(struct fixture *fix, const struct vcm_git_id *id, const char *reason)
{
    assert_int_equal(read_blob(fix, id), VCM_IO_ERROR);
    assert_int_equal(fix->blob.len, 0);
    assert_non_null(strstr(fix->err.message, "is damaged: "));
    if (!strstr(fix->err.message, reason))
        fail_msg("'%s' is not in '%s'", reason, fix->err.message);
}

static void loose_objects_are_read(void **state)
{
    static const size_t sizes[] = {0, 1, 20, 26, 27, 31, 32, 33, 16384, LARGE_BYTES, 3 * VCM_MIB};
    struct fixture *fix = *state;
    char *text = malloc(3 * VCM_MIB);
    unsigned seed = SEED;

    for (size_t i = 0; i < 3 * VCM_MIB; i++)
        text[i] = (char)next_random(&seed);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t size = 0;
        char *hex = test_repo_object(&fix->disk, "blob", text, sizes[i]);
        struct vcm_git_id id = parse_id(hex);
        reopen(fix, &fix->disk);
        assert_int_equal(size_of_blob(fix, &id, &size), VCM_OK);
        assert_int_equal(size, sizes[i]);
        assert_int_equal(read_blob(fix, &id), VCM_OK);
        assert_int_equal(fix->blob.len, sizes[i]);
        assert_memory_equal(vcm_buf_text(&fix->blob), text, sizes[i]);
        free(hex);
    }
    free(text);
}

static void a_blob_that_is_cut_short_is_damaged(void **state)
{
    struct fixture *fix = *state;

    write_large(fix, "large");
    test_repo_commit(&fix->disk, "first");
    reopen(fix, &fix->disk);
    struct vcm_git_id id = id_of(fix, "HEAD:large");
    cut(fix, &id, 2);
    assert_damaged(fix, &id, "cut short");
    cut_to(fix, &id, 20);
    assert_damaged(fix, &id, "cut short");
    cut_to(fix, &id, 2);
    assert_damaged(fix, &id, "cut short");
    cut_to(fix, &id, 1);
    assert_damaged(fix, &id, "cut short");
    cut_to(fix, &id, 0);
    assert_damaged(fix, &id, "cut short");
}

static void every_cut_of_an_object_is_seen(void **state)
{
    struct fixture *fix = *state;
    uint64_t size = 0;

    struct vcm_git_id id = store_content(fix, "blob 5\0first", 12);
    assert_int_equal(read_blob(fix, &id), VCM_OK);
    for (size_t len = fix->stream.len; len-- > 0;) {
        cut_to(fix, &id, (off_t)len);
        reopen(fix, &fix->disk);
        assert_damaged(fix, &id, "cut short");
        int rc = size_of_blob(fix, &id, &size);
        assert_true(rc == VCM_IO_ERROR || (rc == VCM_OK && size == 5));
    }
}

static void a_tree_that_is_cut_short_fails_the_walk(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_entry entry;

    test_repo_write_text(&fix->disk, "dir/a", "a");
    test_repo_write_text(&fix->disk, "dir/b", "b");
    test_repo_commit(&fix->disk, "first");
    reopen(fix, &fix->disk);
    struct vcm_git_id commit = id_of(fix, "HEAD");
    struct vcm_git_id tree = id_of(fix, "HEAD:dir");
    struct vcm_git_id root = id_of(fix, "HEAD^{tree}");
    cut(fix, &tree, 2);
    assert_int_equal(walk(fix, &commit), VCM_IO_ERROR);
    assert_non_null(strstr(fix->err.message, "directory 'dir'"));
    assert_int_equal(vcm_git_tree_entry(&entry, fix->repo, &commit, "dir/a", NULL), VCM_IO_ERROR);
    cut(fix, &root, 2);
    reopen(fix, &fix->disk);
    assert_int_equal(walk(fix, &commit), VCM_IO_ERROR);
    assert_non_null(strstr(fix->err.message, "root directory"));
}

static void a_commit_that_is_cut_short_is_not_resolved(void **state)
{
    struct fixture *fix = *state;
    char hex[VCM_GIT_ID_HEX + 1];

    test_repo_commit(&fix->disk, "first");
    test_repo_commit(&fix->disk, "second");
    struct vcm_git_id first = id_of(fix, "HEAD~1");
    struct vcm_git_id second = id_of(fix, "HEAD");
    cut(fix, &first, 2);
    reopen(fix, &fix->disk);
    assert_int_equal(resolve(fix, NULL, "HEAD"), VCM_OK);
    assert_int_equal(resolve(fix, NULL, "HEAD~1"), VCM_IO_ERROR);
    assert_int_equal(resolve(fix, NULL, "HEAD^1"), VCM_IO_ERROR);
    cut(fix, &second, 2);
    reopen(fix, &fix->disk);
    vcm_git_repo_id_to_hex(hex, &second);
    assert_int_equal(resolve(fix, NULL, NULL), VCM_IO_ERROR);
    assert_int_equal(resolve(fix, "main", NULL), VCM_IO_ERROR);
    assert_int_equal(resolve(fix, NULL, "main"), VCM_IO_ERROR);
    assert_int_equal(resolve(fix, NULL, hex), VCM_IO_ERROR);
    hex[8] = '\0';
    assert_int_equal(resolve(fix, NULL, hex), VCM_IO_ERROR);
    assert_int_equal(walk(fix, &second), VCM_IO_ERROR);
}

static void a_tag_that_is_cut_short_is_not_peeled(void **state)
{
    struct fixture *fix = *state;

    test_repo_commit(&fix->disk, "first");
    test_repo_git(&fix->disk, "config", "advice.nestedTag", "false", NULL);
    test_repo_git(&fix->disk, "tag", "-a", "-m", "inner", "inner", NULL);
    test_repo_git(&fix->disk, "tag", "-a", "-m", "outer", "outer", "inner", NULL);
    struct vcm_git_id inner = id_of(fix, "inner");
    reopen(fix, &fix->disk);
    assert_int_equal(resolve(fix, NULL, "outer"), VCM_OK);
    cut(fix, &inner, 2);
    reopen(fix, &fix->disk);
    assert_int_equal(resolve(fix, NULL, "outer"), VCM_IO_ERROR);
    assert_int_equal(resolve(fix, NULL, "inner"), VCM_IO_ERROR);
}

static void modules_that_are_cut_short_are_an_error(void **state)
{
    struct fixture *fix = *state;
    struct vcm_git_submodule submodule;

    test_repo_write_text(&fix->disk, ".gitmodules", "[submodule \"a\"]\n\tpath = a\n");
    test_repo_commit(&fix->disk, "first");
    reopen(fix, &fix->disk);
    struct vcm_git_id commit = id_of(fix, "HEAD");
    struct vcm_git_id modules = id_of(fix, "HEAD:.gitmodules");
    cut(fix, &modules, 2);
    assert_int_equal(vcm_git_submodule_find(&submodule, fix->repo, &commit, "a", &fix->err),
                     VCM_IO_ERROR);
    vcm_git_submodule_release(&submodule);
}

static void garbage_behind_the_end_is_damage(void **state)
{
    struct fixture *fix = *state;

    append_deflated(fix, "blob 5\0first", 12);
    vcm_buf_append_byte(&fix->stream, 'x');
    struct vcm_git_id id = store(fix);
    assert_damaged(fix, &id, "garbage");
    /* Also where the file goes on in another piece than the one with the end. */
    vcm_buf_truncate(&fix->stream, fix->stream.len - 1);
    while (fix->stream.len < 40000)
        vcm_buf_append_byte(&fix->stream, 'x');
    id = store(fix);
    assert_damaged(fix, &id, "garbage");
}

static void a_size_that_is_not_that_of_the_content_is_damage(void **state)
{
    struct fixture *fix = *state;
    char large[300] = "blob 200";

    struct vcm_git_id id = store_content(fix, "blob 6\0first", 12);
    assert_damaged(fix, &id, "not as long as it claims");
    id = store_content(fix, "blob 4\0first", 12);
    assert_damaged(fix, &id, "not as long as it claims");
    id = store_content(fix, "blob 0\0first", 12);
    assert_damaged(fix, &id, "not as long as it claims");
    id = store_content(fix, large, 9 + 199);
    assert_damaged(fix, &id, "not as long as it claims");
    id = store_content(fix, large, 9 + 201);
    assert_damaged(fix, &id, "not as long as it claims");
}

static void a_header_that_claims_gigabytes_is_refused_unread(void **state)
{
    static const char *const claims[] = {"4294967296", "68719476736", "18446744073709551615"};
    struct fixture *fix = *state;
    uint64_t size = 0;
    char content[64];

    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        int len = snprintf(content, sizeof content, "blob %s", claims[i]);
        struct vcm_git_id id = store_content(fix, content, (size_t)len + 1);
        assert_damaged(fix, &id, "");
        assert_int_equal(size_of_blob(fix, &id, &size), VCM_IO_ERROR);
    }
}

static void headers_that_git_does_not_write_are_damage(void **state)
{
    static const struct {
        const char *content;
        size_t len;
    } headers[] = {
        {"", 0},
        {"blob", 4},
        {"blob 5first", 11},
        {"blob \0first", 11},
        {"blob 05\0first", 13},
        {"blob -5\0first", 13},
        {"blob 5 \0first", 13},
        {"blob  5\0first", 13},
        {"blob5\0first", 11},
        {"blub 5\0first", 12},
        {"blob 5x\0first", 13},
        {"blob 99999999999999999999\0first", 31},
        {"blob 00000000000000000000000000000000005\0first", 46},
    };
    struct fixture *fix = *state;
    uint64_t size = 0;

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        struct vcm_git_id id = store_content(fix, headers[i].content, headers[i].len);
        assert_damaged(fix, &id, "header");
        assert_int_equal(size_of_blob(fix, &id, &size), VCM_IO_ERROR);
    }
}

/* Deflates `size` zeros behind a header that tells their number. */
static void deflate_zeros(struct fixture *fix, const char *type, size_t size)
{
    static char zeros[64 * 1024];
    z_stream zlib = {0};
    char header[64];
    int len = snprintf(header, sizeof header, "%s %zu", type, size);
    uLong room = 2 * VCM_MIB;

    vcm_buf_clear(&fix->stream);
    assert_int_equal(deflateInit(&zlib, 9), Z_OK);
    zlib.next_out = (Bytef *)vcm_buf_reserve(&fix->stream, room);
    zlib.avail_out = (uInt)room;
    zlib.next_in = (Bytef *)header;
    zlib.avail_in = (uInt)len + 1;
    assert_int_equal(deflate(&zlib, Z_NO_FLUSH), Z_OK);
    for (size_t done = 0; done < size; done += sizeof zeros) {
        zlib.next_in = (Bytef *)zeros;
        zlib.avail_in = sizeof zeros;
        assert_int_equal(deflate(&zlib, Z_NO_FLUSH), Z_OK);
    }
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    vcm_buf_advance(&fix->stream, room - zlib.avail_out);
    deflateEnd(&zlib);
}

static void a_small_file_with_a_large_content_is_not_read(void **state)
{
    struct fixture *fix = *state;
    uint64_t size = 0;

    deflate_zeros(fix, "blob", VCM_LIMIT_OBJECT_BYTES + 64 * VCM_KIB);
    struct vcm_git_id id = store(fix);
    assert_int_equal(size_of_blob(fix, &id, &size), VCM_OK);
    assert_int_equal(size, VCM_LIMIT_OBJECT_BYTES + 64 * VCM_KIB);
    assert_int_equal(read_blob(fix, &id), VCM_UNSUPPORTED);

    deflate_zeros(fix, "commit", VCM_LIMIT_OBJECT_BYTES + 64 * VCM_KIB);
    id = store(fix);
    assert_int_equal(walk(fix, &id), VCM_IO_ERROR);
    assert_non_null(strstr(fix->err.message, "too large"));
}

static void content_of_another_object_is_damage(void **state)
{
    struct fixture *fix = *state;

    struct vcm_git_id id = store_content(fix, "blob 5\0other", 12);
    assert_damaged(fix, &id, "hash");
}

static void what_is_no_file_is_not_waited_for(void **state)
{
    struct fixture *fix = *state;

    struct vcm_git_id id = store_content(fix, "blob 5\0first", 12);
    char *path = file_of(fix, &id);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_damaged(fix, &id, "no regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_damaged(fix, &id, "no regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(read_blob(fix, &id), VCM_NOT_FOUND);
    free(path);
}

static void a_pack_makes_up_for_a_damaged_loose_object(void **state)
{
    struct fixture *fix = *state;

    write_large(fix, "large");
    test_repo_commit(&fix->disk, "first");
    test_repo_git(&fix->disk, "repack", "-a", "-q", NULL);
    struct vcm_git_id id = id_of(fix, "HEAD:large");
    cut(fix, &id, 2);
    reopen(fix, &fix->disk);
    assert_int_equal(read_blob(fix, &id), VCM_OK);
    assert_int_equal(fix->blob.len, LARGE_BYTES);
}

/* A repository without objects of its own, which borrows those of fix->disk. */
static void borrow(struct fixture *fix, const char *alternates)
{
    test_repo_init(&fix->other);
    test_repo_write_text(&fix->other, ".git/objects/info/alternates", alternates);
    reopen(fix, &fix->other);
}

static void borrowed_objects_are_read_with_the_same_care(void **state)
{
    struct fixture *fix = *state;
    char text[2 * VCM_LIMIT_PATH_BYTES];

    write_large(fix, "large");
    test_repo_commit(&fix->disk, "first");
    struct vcm_git_id id = id_of(fix, "HEAD:large");
    for (int cuts = 0; cuts < 2; cuts++) {
        snprintf(text, sizeof text, "# a comment\n/nowhere\n%s/.git/objects\n", fix->disk.path);
        borrow(fix, text);
        assert_int_equal(read_blob(fix, &id), cuts ? VCM_IO_ERROR : VCM_OK);
        test_repo_release(&fix->other);
        snprintf(text, sizeof text, "../../..%s/.git/objects", strrchr(fix->disk.path, '/'));
        borrow(fix, text);
        assert_int_equal(read_blob(fix, &id), cuts ? VCM_IO_ERROR : VCM_OK);
        test_repo_release(&fix->other);
        cut(fix, &id, 2);
    }
}

static void borrowing_goes_on_and_may_go_in_a_circle(void **state)
{
    struct fixture *fix = *state;
    struct test_repo middle;
    char text[2 * VCM_LIMIT_PATH_BYTES];

    struct vcm_git_id id = store_content(fix, "blob 5\0first", 12);
    test_repo_init(&middle);
    snprintf(text, sizeof text, "%s/.git/objects\n", fix->disk.path);
    test_repo_write_text(&middle, ".git/objects/info/alternates", text);
    snprintf(text, sizeof text, "%s/.git/objects\n", middle.path);
    test_repo_write_text(&fix->disk, ".git/objects/info/alternates", text);
    borrow(fix, text);
    assert_int_equal(read_blob(fix, &id), VCM_OK);
    cut_to(fix, &id, 8);
    reopen(fix, &fix->other);
    assert_damaged(fix, &id, "cut short");
    test_repo_release(&middle);
}

static void alternates_are_bounded(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf text = VCM_BUF_INIT(1 * VCM_MIB);
    char name[64];

    for (int i = 0; i <= VCM_LIMIT_ALTERNATES; i++) {
        snprintf(name, sizeof name, "%d/x", i);
        test_repo_write_text(&fix->disk, name, "");
        vcm_buf_append_format(&text, "../../%d\n", i);
        if (i >= VCM_LIMIT_ALTERNATES - 1) {
            test_repo_write(&fix->disk, ".git/objects/info/alternates", text.data, text.len);
            vcm_git_repo_close(fix->repo);
            vcm_error_reset(&fix->err);
            assert_int_equal(vcm_git_repo_open(&fix->repo, fix->disk.path, &fix->err),
                             i < VCM_LIMIT_ALTERNATES ? VCM_OK : VCM_UNSUPPORTED);
        }
    }
    vcm_buf_release(&text);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(loose_objects_are_read),
        TEST(a_blob_that_is_cut_short_is_damaged),
        TEST(every_cut_of_an_object_is_seen),
        TEST(a_tree_that_is_cut_short_fails_the_walk),
        TEST(a_commit_that_is_cut_short_is_not_resolved),
        TEST(a_tag_that_is_cut_short_is_not_peeled),
        TEST(modules_that_are_cut_short_are_an_error),
        TEST(garbage_behind_the_end_is_damage),
        TEST(a_size_that_is_not_that_of_the_content_is_damage),
        TEST(a_header_that_claims_gigabytes_is_refused_unread),
        TEST(headers_that_git_does_not_write_are_damage),
        TEST(a_small_file_with_a_large_content_is_not_read),
        TEST(content_of_another_object_is_damage),
        TEST(what_is_no_file_is_not_waited_for),
        TEST(a_pack_makes_up_for_a_damaged_loose_object),
        TEST(borrowed_objects_are_read_with_the_same_care),
        TEST(borrowing_goes_on_and_may_go_in_a_circle),
        TEST(alternates_are_bounded),
    };
    printf("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
