#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/limits.h"
#include "git/delta.h"
#include "git/pack_reader.h"
#include "git/tree.h"
#include "tests/support/random.h"
#include "tests/support/repo.h"

#include "base/banned.h"

#define FILES       12u
#define VERSIONS    4u
#define LINES       60u
#define BLOBS_MAX   512u
#define FLIPS       400u
#define PACK_HEADER 12u
#define BLOB        3u
#define TREE        2u
#define BY_OFFSET   6u
#define BY_ID       7u

struct bytes {
    unsigned char *data;
    size_t len;
};

struct fixture {
    struct test_repo disk;
    struct bytes index;
    struct bytes pack;
    struct vcm_git_id blobs[BLOBS_MAX];
    unsigned blob_count;
    struct vcm_git_id tree;
};

/* A pack of a test's own making. The id of its n-th object is n and nineteen zeros. */
struct made {
    struct vcm_buf objects;
    uint32_t offsets[8];
    unsigned count;
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
    free(fix->index.data);
    free(fix->pack.data);
    free(fix);
    return 0;
}

static void read_pack_file(struct bytes *out, const struct fixture *fix, const char *pattern)
{
    struct vcm_buf command = VCM_BUF_INIT(256);
    char *output = NULL;

    vcm_buf_append_format(&command, "echo .git/objects/pack/%s", pattern);
    char *argv[] = {"sh", "-c", command.data, NULL};
    assert_int_equal(test_repo_run(fix->disk.path, argv, &output), 0);
    output[strcspn(output, "\n")] = '\0';
    char *path = test_repo_path(&fix->disk, output);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    out->len = (size_t)ftell(file);
    rewind(file);
    out->data = malloc(out->len);
    assert_int_equal(fread(out->data, 1, out->len, file), out->len);
    fclose(file);
    free(path);
    free(output);
    vcm_buf_release(&command);
}

static void add_blobs(struct fixture *fix)
{
    char *list = test_repo_git_output(&fix->disk, "cat-file", "--batch-check", "--unordered",
                                      "--batch-all-objects", NULL);

    for (const char *line = list; *line != '\0';) {
        struct vcm_git_id id;
        assert_true(vcm_hash_from_hex(id.bytes, line, sizeof id.bytes));
        if (strncmp(line + 41, "blob", 4) == 0 && fix->blob_count < BLOBS_MAX)
            fix->blobs[fix->blob_count++] = id;
        if (strncmp(line + 41, "tree", 4) == 0)
            fix->tree = id;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    free(list);
}

/* Files that change a little from commit to commit, so that their blobs become deltas. */
static void pack(struct fixture *fix, const char *setting)
{
    uint64_t seed = 7;

    for (unsigned version = 0; version < VERSIONS; version++) {
        for (unsigned i = 0; i < FILES; i++) {
            struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);
            char name[32];
            for (unsigned line = 0; line < LINES * (i + 1); line++)
                vcm_buf_append_format(&text, "%s %u of file %u\n",
                                      line % 9 == version ? "changed" : "line", line * line, i);
            vcm_buf_append_format(&text, "%u\n", test_random_below(&seed, 1000000));
            snprintf(name, sizeof name, "d%u/f%u", i % 3, i);
            test_repo_write_text(&fix->disk, name, vcm_buf_text(&text));
            vcm_buf_release(&text);
        }
        test_repo_write_text(&fix->disk, "empty", "");
        test_repo_commit(&fix->disk, "version");
    }
    test_repo_git(&fix->disk, "-c", setting, "repack", "-a", "-d", "-f", "-q", "--depth=50", NULL);
    read_pack_file(&fix->index, fix, "*.idx");
    read_pack_file(&fix->pack, fix, "*.pack");
    add_blobs(fix);
    assert_true(fix->blob_count > FILES * VERSIONS);
}

static int file_of(const void *data, size_t len)
{
    int fd = memfd_create("pack", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, len), len);
    return fd;
}

static struct vcm_git_pack_reader *open_bytes(const struct bytes *index, const struct bytes *pack)
{
    return vcm_git_pack_reader_open_files(file_of(index->data, index->len),
                                          file_of(pack->data, pack->len));
}

static bool is_blob(const struct vcm_git_id *id, struct vcm_slice data)
{
    unsigned char digest[VCM_HASH_SHA1_BYTES];
    char head[32];

    int len = snprintf(head, sizeof head, "blob %zu", data.len);
    vcm_hash_sha1_of(digest, vcm_slice_of(head, (size_t)len + 1), data);
    return memcmp(digest, id->bytes, sizeof digest) == 0;
}

/* How many blobs are read as they are; those that come out otherwise count as `*wrong`. */
static unsigned read_blobs(unsigned *wrong, const struct fixture *fix,
                           struct vcm_git_pack_reader *reader)
{
    struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_FILE_BYTES);
    unsigned right = 0;

    *wrong = 0;
    for (unsigned i = 0; i < fix->blob_count; i++) {
        uint64_t size = 0;
        vcm_buf_clear(&out);
        if (!vcm_git_pack_reader_read(&out, &size, reader, &fix->blobs[i], UINT64_MAX)) {
            assert_int_equal(out.len, 0);
            continue;
        }
        assert_int_equal(out.len, size);
        if (is_blob(&fix->blobs[i], vcm_buf_slice(&out)))
            right++;
        else
            ++*wrong;
    }
    vcm_buf_release(&out);
    return right;
}

static void assert_reads_all(const struct fixture *fix, struct vcm_git_pack_reader *reader)
{
    unsigned wrong = 0;

    assert_non_null(reader);
    /* Twice: the second time with what the cache kept. */
    assert_int_equal(read_blobs(&wrong, fix, reader), fix->blob_count);
    assert_int_equal(read_blobs(&wrong, fix, reader), fix->blob_count);
    vcm_git_pack_reader_close(reader);
}

static void every_blob_is_read_from_deltas_by_offset(void **state)
{
    struct fixture *fix = *state;

    pack(fix, "repack.useDeltaBaseOffset=true");
    char *objects = test_repo_path(&fix->disk, ".git/objects");
    assert_reads_all(fix, vcm_git_pack_reader_open(objects));
    assert_reads_all(fix, open_bytes(&fix->index, &fix->pack));
    free(objects);
}

static void every_blob_is_read_from_deltas_by_id(void **state)
{
    struct fixture *fix = *state;

    pack(fix, "repack.useDeltaBaseOffset=false");
    assert_reads_all(fix, open_bytes(&fix->index, &fix->pack));
}

static void large_offsets_are_followed(void **state)
{
    struct fixture *fix = *state;

    pack(fix, "repack.useDeltaBaseOffset=true");
    free(fix->index.data);
    char *argv[] = {"sh", "-c",
                    "rm -f .git/objects/pack/*.idx .git/objects/pack/*.rev && "
                    "git index-pack --index-version=2,0x10 .git/objects/pack/*.pack",
                    NULL};
    assert_int_equal(test_repo_run(fix->disk.path, argv, NULL), 0);
    read_pack_file(&fix->index, fix, "*.idx");
    assert_reads_all(fix, open_bytes(&fix->index, &fix->pack));
}

static void an_index_of_the_first_version_is_read_too(void **state)
{
    struct fixture *fix = *state;

    pack(fix, "pack.indexVersion=1");
    assert_reads_all(fix, open_bytes(&fix->index, &fix->pack));
}

static void what_is_no_blob_of_the_pack_is_not_answered(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    uint64_t size = 0;

    pack(fix, "repack.useDeltaBaseOffset=true");
    struct vcm_git_id other = fix->blobs[0];
    other.bytes[19] ^= 1;
    struct vcm_git_pack_reader *reader = open_bytes(&fix->index, &fix->pack);
    assert_false(vcm_git_pack_reader_read(&out, &size, reader, &fix->tree, UINT64_MAX));
    assert_false(vcm_git_pack_reader_read(&out, &size, reader, &other, UINT64_MAX));
    assert_int_equal(out.len, 0);
    vcm_git_pack_reader_close(reader);
    vcm_buf_release(&out);
}

static void a_longer_blob_tells_its_size_alone(void **state)
{
    struct fixture *fix = *state;
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);

    pack(fix, "repack.useDeltaBaseOffset=true");
    struct vcm_git_pack_reader *reader = open_bytes(&fix->index, &fix->pack);
    for (unsigned i = 0; i < fix->blob_count; i++) {
        uint64_t size = 0, again = 0;
        vcm_buf_clear(&out);
        assert_true(vcm_git_pack_reader_read(&out, &size, reader, &fix->blobs[i], 0));
        assert_int_equal(out.len, 0);
        assert_true(vcm_git_pack_reader_read(&out, &again, reader, &fix->blobs[i], size));
        assert_int_equal(size, again);
        assert_int_equal(size, out.len);
    }
    vcm_git_pack_reader_close(reader);
    vcm_buf_release(&out);
}

/* The adler32 of a stream and the hash that callers look at stand between a flip and a page. */
static void flipped_bytes_never_do_more_than_lose_objects(void **state)
{
    struct fixture *fix = *state;
    uint64_t seed = 20261116;
    unsigned lost = 0;

    print_message("seed %llu\n", (unsigned long long)seed);
    pack(fix, "repack.useDeltaBaseOffset=true");
    for (unsigned i = 0; i < FLIPS; i++) {
        struct bytes *bytes = i % 4 == 0 ? &fix->index : &fix->pack;
        size_t at = test_random_below(&seed, (unsigned)bytes->len);
        unsigned char bit = (unsigned char)(1u << test_random_below(&seed, 8));
        unsigned wrong = 0;
        bytes->data[at] ^= bit;
        struct vcm_git_pack_reader *reader = open_bytes(&fix->index, &fix->pack);
        if (reader)
            lost += read_blobs(&wrong, fix, reader) < fix->blob_count;
        vcm_git_pack_reader_close(reader);
        bytes->data[at] ^= bit;
    }
    assert_true(lost > FLIPS / 4);
}

static void a_pack_that_is_cut_short_loses_objects_alone(void **state)
{
    struct fixture *fix = *state;
    size_t whole;

    pack(fix, "repack.useDeltaBaseOffset=true");
    whole = fix->pack.len;
    for (size_t len = 0; len < whole; len += 97) {
        unsigned wrong = 0;
        fix->pack.len = len;
        struct vcm_git_pack_reader *reader = open_bytes(&fix->index, &fix->pack);
        if (reader) {
            assert_true(read_blobs(&wrong, fix, reader) < fix->blob_count);
            assert_int_equal(wrong, 0);
        }
        vcm_git_pack_reader_close(reader);
    }
}

static void add_word(struct vcm_buf *out, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        vcm_buf_append_byte(out, (char)(word >> (24 - 8 * i)));
}

/* Adds an object; `base` is the number of the one that a delta leads to. */
static void add_object(struct made *made, unsigned type, unsigned base, const void *data,
                       size_t len, uint64_t claimed)
{
    unsigned char stream[512];
    uLongf stream_len = sizeof stream;
    unsigned char id[VCM_GIT_ID_BYTES] = {(unsigned char)base};

    made->offsets[made->count++] = (uint32_t)(PACK_HEADER + made->objects.len);
    unsigned char byte = (unsigned char)(type << 4 | (claimed & 15));
    for (uint64_t rest = claimed >> 4; rest > 0; rest >>= 7) {
        vcm_buf_append_byte(&made->objects, (char)(byte | 0x80));
        byte = rest & 0x7f;
    }
    vcm_buf_append_byte(&made->objects, (char)byte);
    if (type == BY_ID)
        vcm_buf_append(&made->objects, id, sizeof id);
    assert_int_equal(compress(stream, &stream_len, data, (uLong)len), Z_OK);
    vcm_buf_append(&made->objects, stream, stream_len);
}

static struct vcm_git_pack_reader *open_made(const struct made *made)
{
    struct vcm_buf index = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    const unsigned char zeros[2 * VCM_GIT_ID_BYTES] = {0};

    vcm_buf_append(&index, "\377tOc\0\0\0\2", 8);
    for (unsigned i = 0; i < 256; i++)
        add_word(&index, i < made->count ? i + 1 : made->count);
    for (unsigned i = 0; i < made->count; i++) {
        vcm_buf_append_byte(&index, (char)i);
        vcm_buf_append(&index, zeros, VCM_GIT_ID_BYTES - 1);
    }
    for (unsigned i = 0; i < made->count; i++)
        add_word(&index, 0);
    for (unsigned i = 0; i < made->count; i++)
        add_word(&index, made->offsets[i]);
    vcm_buf_append(&index, zeros, sizeof zeros);
    vcm_buf_append(&packed, "PACK\0\0\0\2", 8);
    add_word(&packed, made->count);
    vcm_buf_append_slice(&packed, vcm_buf_slice(&made->objects));
    vcm_buf_append(&packed, zeros, VCM_GIT_ID_BYTES);
    struct vcm_git_pack_reader *reader = vcm_git_pack_reader_open_files(
        file_of(index.data, index.len), file_of(packed.data, packed.len));
    assert_non_null(reader);
    vcm_buf_release(&index);
    vcm_buf_release(&packed);
    return reader;
}

/* Reads an object of a pack, and releases the pack. */
static bool read_made(struct vcm_buf *out, struct made *made, unsigned number)
{
    struct vcm_git_pack_reader *reader = open_made(made);
    const struct vcm_git_id id = {{(unsigned char)number}};
    uint64_t size = 0;

    vcm_buf_clear(out);
    bool read = vcm_git_pack_reader_read(out, &size, reader, &id, UINT64_MAX);
    vcm_git_pack_reader_close(reader);
    vcm_buf_release(&made->objects);
    vcm_buf_init(&made->objects, VCM_MIB);
    made->count = 0;
    return read;
}

static void objects_that_lie_are_not_answered(void **state)
{
    static const char delta[] = "\5\7\x90\5\2, ";          /* all five bytes of the base and two */
    static const char huge[] = "\5\xff\xff\xff\xff\x0f\1"; /* claims 4 GiB */
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    struct made made = {.objects = VCM_BUF_INIT(VCM_MIB)};

    (void)state;
    add_object(&made, BLOB, 0, "hello", 5, 5);
    add_object(&made, BY_ID, 0, delta, 7, 7);
    assert_true(read_made(&out, &made, 1));
    assert_string_equal(vcm_buf_text(&out), "hello, ");
    for (uint64_t claimed = 0; claimed < 9; claimed++) {
        add_object(&made, BLOB, 0, "hello", 5, claimed);
        assert_int_equal(read_made(&out, &made, 0), claimed == 5);
    }
    add_object(&made, BLOB, 0, "hello", 5, UINT64_MAX);
    assert_false(read_made(&out, &made, 0));
    add_object(&made, BLOB, 0, "hello", 5, 5);
    add_object(&made, BY_ID, 0, huge, 7, 7);
    assert_false(read_made(&out, &made, 1));
    /* A delta that leads to itself, two that lead to each other, one to nothing, one to a tree. */
    add_object(&made, BY_ID, 0, delta, 7, 7);
    assert_false(read_made(&out, &made, 0));
    add_object(&made, BY_ID, 1, delta, 7, 7);
    add_object(&made, BY_ID, 0, delta, 7, 7);
    assert_false(read_made(&out, &made, 0));
    add_object(&made, BY_ID, 9, delta, 7, 7);
    assert_false(read_made(&out, &made, 0));
    add_object(&made, TREE, 0, "hello", 5, 5);
    add_object(&made, BY_ID, 0, delta, 7, 7);
    assert_false(read_made(&out, &made, 1));
    vcm_buf_release(&out);
    vcm_buf_release(&made.objects);
}

static bool applies(const char *text, size_t len)
{
    struct vcm_git_delta delta;
    char out[16];

    if (!vcm_git_delta_parse(&delta, vcm_slice_of(text, len)) || delta.result_bytes > sizeof out)
        return false;
    return vcm_git_delta_apply(out, &delta, vcm_slice_of_string("hello"));
}

#define APPLIES(text) applies(text, sizeof(text) - 1)

static void a_delta_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    assert_true(APPLIES("\5\5\x90\5"));
    assert_true(APPLIES("\5\3\x91\2\3"));
    assert_true(APPLIES("\5\2\2ab"));
    assert_true(APPLIES("\5\0"));
    assert_false(APPLIES("\4\5\x90\5"));     /* another base */
    assert_false(APPLIES("\5\6\x90\5"));     /* makes less */
    assert_false(APPLIES("\5\4\x90\5"));     /* makes more */
    assert_false(APPLIES("\5\6\x90\6"));     /* longer than the base */
    assert_false(APPLIES("\5\3\x91\3\3"));   /* behind its end */
    assert_false(APPLIES("\5\3\x98\xff\3")); /* far behind its end */
    assert_false(APPLIES("\5\5\x80"));       /* 64 KiB */
    assert_false(APPLIES("\5\2\3ab"));       /* insertion cut short */
    assert_false(APPLIES("\5\2\2ab\0"));     /* the reserved command */
    assert_false(APPLIES("\5\3\x91\2"));     /* copy cut short */
    assert_false(APPLIES("\5"));             /* no sizes */
    assert_false(APPLIES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1\1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define WITH_REPO(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
        WITH_REPO(every_blob_is_read_from_deltas_by_offset),
        WITH_REPO(every_blob_is_read_from_deltas_by_id),
        WITH_REPO(large_offsets_are_followed),
        WITH_REPO(an_index_of_the_first_version_is_read_too),
        WITH_REPO(what_is_no_blob_of_the_pack_is_not_answered),
        WITH_REPO(a_longer_blob_tells_its_size_alone),
        WITH_REPO(flipped_bytes_never_do_more_than_lose_objects),
        WITH_REPO(a_pack_that_is_cut_short_loses_objects_alone),
        cmocka_unit_test(objects_that_lie_are_not_answered),
        cmocka_unit_test(a_delta_that_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
