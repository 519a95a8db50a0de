#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/random.h"
#include "vcm/page/page.h"

#include "base/banned.h"

static void assert_serialised(const char *path, const char *text, size_t len, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(4096);

    vcm_page_serialise(&out, vcm_slice_of_string(path), vcm_slice_of(text, len));
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void a_record_is_compact_json_escaped_as_json_stringify_does(void **state)
{
    (void)state;
    assert_serialised("a.txt", "hi\n", 3, "{\"path\":\"a.txt\",\"text\":\"hi\\n\"}");
    assert_serialised("", "", 0, "{\"path\":\"\",\"text\":\"\"}");
    assert_serialised(
        "d\\e/\"f\"", "\b\f\r\t\x01\x1f\x7f", 7,
        "{\"path\":\"d\\\\e/\\\"f\\\"\",\"text\":\"\\b\\f\\r\\t\\u0001\\u001f\x7f\"}");
    assert_serialised("z", "/\0<", 3, "{\"path\":\"z\",\"text\":\"/\\u0000<\"}");
    assert_serialised("ö", "\xf0\x9f\x98\x80\xe2\x80\xa8", 7,
                      "{\"path\":\"ö\",\"text\":\"\xf0\x9f\x98\x80\xe2\x80\xa8\"}");
}

/* The worked example of docs/FORMAT.md; the digests come from sha256sum. */
static void ids_are_the_first_20_bytes_of_a_sha256(void **state)
{
    static const char value[] = "{\"path\":\"a.txt\",\"text\":\"hi\\n\"}";
    static const char frame[] = "{\"path\":\"a.txt\",\"text\":\"hi\\n\"}\n";
    char hex[VCM_PAGE_ID_HEX + 1];
    struct vcm_page_id id;

    (void)state;
    vcm_page_id_of(&id, vcm_slice_of_string(frame));
    vcm_page_id_to_hex(hex, &id);
    assert_string_equal(hex, "f267b1102fb96b4ed2739a10aa9ed9d197992c49");
    vcm_page_record_id_of(&id, vcm_slice_of_string(value));
    vcm_page_id_to_hex(hex, &id);
    assert_string_equal(hex, "a01b539b1121d8ee2ebc388007c63f48d61e819b");
}

static const struct vcm_page_record records[] = {
    {.path = {"a.txt", 5},
     .content_id = {"\xce\x01\x36", 3},
     .tokens = 8,
     .bytes = 30,
     .start_line = 1,
     .end_line = 1,
     .part = 1,
     .parts = 1},
    {.path = {"src/\\xff.c", 10},
     .content_id = {"", 0},
     .tokens = 4294967295u,
     .bytes = 300,
     .start_line = 0,
     .end_line = 129,
     .part = 2,
     .parts = 16384,
     .lossy = true,
     .path_lossy = true},
    {.path = {"x", 1},
     .content_id = {"\1", 1},
     .tokens = 3,
     .bytes = 4,
     .part = 1,
     .parts = 1,
     .binary = true,
     .size = 300},
    {.path = {"y", 1},
     .content_id = {"\2", 1},
     .tokens = 5,
     .bytes = 6,
     .part = 2,
     .parts = 7,
     .prose = true,
     .section = {"A > B", 5},
     .page = 129},
    {.path = {"z", 1},
     .content_id = {"\3", 1},
     .tokens = 7,
     .bytes = 8,
     .start_line = 9,
     .end_line = 10,
     .part = 2,
     .parts = 2,
     .heading = {"f()", 3}},
};

/* The bytes of `records` as docs/FORMAT.md lays them out. */
static const unsigned char encoded[] = {
    5,    0,    5,    'a',  '.',  't',  'x', 't',  3,    0xce, 0x01, 0x36, 8,    30,  1,    1,
    1,    1,    3,    10,   's',  'r',  'c', '/',  '\\', 'x',  'f',  'f',  '.',  'c', 0,    0xff,
    0xff, 0xff, 0xff, 0x0f, 0xac, 0x02, 0,   0x81, 0x01, 2,    0x80, 0x80, 0x01, 4,   0xac, 0x02,
    1,    'x',  1,    1,    3,    4,    0,   0,    1,    1,    8,    5,    'A',  ' ', '>',  ' ',
    'B',  0x81, 0x01, 1,    'y',  1,    2,   5,    6,    0,    0,    2,    7,    16,  3,    'f',
    '(',  ')',  1,    'z',  1,    3,    7,   8,    9,    10,   2,    2,
};

static void assert_same_record(const struct vcm_page_record *a, const struct vcm_page_record *b)
{
    assert_true(vcm_slice_equal(a->path, b->path));
    assert_true(vcm_slice_equal(a->content_id, b->content_id));
    assert_int_equal(a->tokens, b->tokens);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->start_line, b->start_line);
    assert_int_equal(a->end_line, b->end_line);
    assert_int_equal(a->part, b->part);
    assert_int_equal(a->parts, b->parts);
    assert_int_equal(a->lossy, b->lossy);
    assert_int_equal(a->path_lossy, b->path_lossy);
    assert_int_equal(a->binary, b->binary);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->prose, b->prose);
    assert_true(vcm_slice_equal(a->section, b->section));
    assert_int_equal(a->page, b->page);
    assert_true(vcm_slice_equal(a->heading, b->heading));
}

static void a_record_list_has_the_documented_bytes_and_comes_back(void **state)
{
    struct vcm_buf out = VCM_BUF_INIT(4096);
    struct vcm_page_record *read;
    struct vcm_error err = {0};
    uint32_t count;

    (void)state;
    vcm_page_put_records(&out, records, 5);
    assert_int_equal(out.len, sizeof encoded);
    assert_memory_equal(out.data, encoded, sizeof encoded);
    assert_int_equal(vcm_page_get_records(&read, &count, vcm_buf_slice(&out), &err), VCM_OK);
    assert_int_equal(count, 5);
    assert_same_record(&read[0], &records[0]);
    assert_same_record(&read[1], &records[1]);
    assert_same_record(&read[2], &records[2]);
    assert_same_record(&read[3], &records[3]);
    assert_same_record(&read[4], &records[4]);
    free(read);
    vcm_buf_release(&out);
}

static void an_empty_record_list_comes_back(void **state)
{
    struct vcm_page_record *read;
    struct vcm_error err = {0};
    uint32_t count = 7;

    (void)state;
    assert_int_equal(vcm_page_get_records(&read, &count, vcm_slice_of("\0", 1), &err), VCM_OK);
    assert_int_equal(count, 0);
    free(read);
}

/* Copies the bytes so that AddressSanitizer sees a read beyond them. */
static int parse(struct vcm_page_record **read, uint32_t *count, const unsigned char *bytes,
                 size_t len, char **copy)
{
    struct vcm_error err = {0};

    *copy = malloc(len > 0 ? len : 1);
    assert_non_null(*copy);
    if (len > 0)
        memcpy(*copy, bytes, len);
    int rc = vcm_page_get_records(read, count, vcm_slice_of(*copy, len), &err);
    assert_int_equal(rc, err.code);
    if (rc != VCM_OK) {
        assert_null(*read);
        assert_int_equal(*count, 0);
    }
    return rc;
}

static void every_truncation_of_a_record_list_is_corrupt(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof encoded; len++) {
        struct vcm_page_record *read;
        uint32_t count;
        char *copy;
        assert_int_equal(parse(&read, &count, encoded, len, &copy), VCM_STORE_CORRUPT);
        free(copy);
    }
}

static void anything_behind_a_record_list_is_corrupt(void **state)
{
    unsigned char longer[sizeof encoded + 1] = {0};
    struct vcm_page_record *read;
    uint32_t count;
    char *copy;

    (void)state;
    memcpy(longer, encoded, sizeof encoded);
    assert_int_equal(parse(&read, &count, longer, sizeof longer, &copy), VCM_STORE_CORRUPT);
    free(copy);
}

static void counts_and_flags_that_cannot_be_are_corrupt(void **state)
{
    static const unsigned char too_many[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0};
    unsigned char bad[sizeof encoded];
    struct vcm_page_record *read;
    uint32_t count;
    char *copy;

    (void)state;
    assert_int_equal(parse(&read, &count, too_many, sizeof too_many, &copy), VCM_STORE_CORRUPT);
    free(copy);
    memcpy(bad, encoded, sizeof bad);
    bad[1] = 4; /* a flag that nobody sets */
    assert_int_equal(parse(&read, &count, bad, sizeof bad, &copy), VCM_STORE_CORRUPT);
    free(copy);
    memcpy(bad, encoded, sizeof bad);
    bad[35] = 0x1f; /* tokens of 33 bits */
    assert_int_equal(parse(&read, &count, bad, sizeof bad, &copy), VCM_STORE_CORRUPT);
    free(copy);
}

/* Every list has one encoding, so what is accepted must come out as it went in. */
static void a_damaged_record_list_is_corrupt_or_means_exactly_its_bytes(void **state)
{
    uint64_t seed = 4711, rejected = 0;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned char bytes[sizeof encoded];
        struct vcm_page_record *read;
        struct vcm_buf out = VCM_BUF_INIT(4096);
        uint32_t count;
        char *copy;
        memcpy(bytes, encoded, sizeof bytes);
        for (unsigned flips = 1 + test_random_below(&seed, 3); flips > 0; flips--)
            bytes[test_random_below(&seed, sizeof bytes)] ^=
                (unsigned char)(1u << test_random_below(&seed, 8));
        int rc = parse(&read, &count, bytes, sizeof bytes, &copy);
        if (rc == VCM_OK) {
            vcm_page_put_records(&out, read, count);
            assert_int_equal(out.len, sizeof bytes);
            assert_memory_equal(out.data, bytes, sizeof bytes);
        } else {
            assert_int_equal(rc, VCM_STORE_CORRUPT);
            rejected++;
        }
        free(read);
        free(copy);
        vcm_buf_release(&out);
    }
    assert_true(rejected > 1000);
}

static void a_frame_gives_its_values_line_by_line(void **state)
{
    struct vcm_slice frame = vcm_slice_of_string("{1}\n\n{3}"), value;

    (void)state;
    assert_true(vcm_page_next_value(&value, &frame));
    assert_true(vcm_slice_equal(value, vcm_slice_of_string("{1}")));
    assert_true(vcm_page_next_value(&value, &frame));
    assert_int_equal(value.len, 0);
    assert_true(vcm_page_next_value(&value, &frame));
    assert_true(vcm_slice_equal(value, vcm_slice_of_string("{3}")));
    assert_false(vcm_page_next_value(&value, &frame));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_compact_json_escaped_as_json_stringify_does),
        cmocka_unit_test(ids_are_the_first_20_bytes_of_a_sha256),
        cmocka_unit_test(a_record_list_has_the_documented_bytes_and_comes_back),
        cmocka_unit_test(an_empty_record_list_comes_back),
        cmocka_unit_test(every_truncation_of_a_record_list_is_corrupt),
        cmocka_unit_test(anything_behind_a_record_list_is_corrupt),
        cmocka_unit_test(counts_and_flags_that_cannot_be_are_corrupt),
        cmocka_unit_test(a_damaged_record_list_is_corrupt_or_means_exactly_its_bytes),
        cmocka_unit_test(a_frame_gives_its_values_line_by_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
