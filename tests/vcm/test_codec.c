#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "tests/support/random.h"
#include "vcm/page/codec.h"
#include "vcm/page/page.h"

#include "base/banned.h"

#define FRAMES      120
#define FRAME_BYTES ((size_t)14 * 1024)

/* Frames that look like pages of source code, and a dictionary trained on half of them. */
struct fixture {
    struct vcm_codec *codec;
    struct vcm_buf frames[FRAMES];
    struct vcm_buf dictionary_bytes;
    struct vcm_codec_dictionary *dictionary;
};

static void add_statement(struct vcm_buf *text, uint64_t *seed)
{
    static const char *const shapes[] = {
        "    if (vcm_%s_check(%s, err) != VCM_OK)\n        goto out_%u;\n",
        "    struct vcm_%s *%s = &table[%u];\n",
        "    return vcm_error_set(err, VCM_NOT_FOUND, \"no %s in '%s' (%u)\");\n",
        "static int open_%s(struct vcm_buf *%s, unsigned limit_%u)\n{\n",
        "    for (unsigned i = 0; i < count_%s; i++)\n        %s[i] = %uu;\n}\n\n",
    };
    static const char *const words[] = {"page",  "mapping", "scope", "record", "frame", "source",
                                        "token", "store",   "cache", "reader", "slot",  "mark"};
    const char *shape = shapes[test_random_below(seed, 5)];
    const char *first = words[test_random_below(seed, 12)];
    const char *second = words[test_random_below(seed, 12)];
    char line[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int len = snprintf(line, sizeof line, shape, first, second, test_random_below(seed, 100000));
#pragma GCC diagnostic pop
    vcm_buf_append(text, line, (size_t)len);
}

static void make_frame(struct vcm_buf *frame, uint64_t *seed)
{
    struct vcm_buf text = VCM_BUF_INIT(FRAME_BYTES);

    vcm_buf_init(frame, 4 * FRAME_BYTES);
    while (frame->len < FRAME_BYTES) {
        vcm_buf_clear(&text);
        for (unsigned i = test_random_below(seed, 60); i > 0; i--)
            add_statement(&text, seed);
        vcm_page_serialise(frame, vcm_slice_of_string("vcm/page/page.c"), vcm_buf_slice(&text));
        vcm_buf_append_byte(frame, '\n');
    }
    assert_int_equal(frame->fault, VCM_BUF_FINE);
    vcm_buf_release(&text);
}

static int train(struct vcm_buf *out, const struct vcm_buf *frames, unsigned count, size_t max)
{
    struct vcm_buf samples = VCM_BUF_INIT(16 * VCM_MIB);
    struct vcm_error err = {0};
    size_t sizes[FRAMES];

    for (unsigned i = 0; i < count; i++) {
        vcm_buf_append_slice(&samples, vcm_buf_slice(&frames[i]));
        sizes[i] = frames[i].len;
    }
    int rc = vcm_codec_train(out, vcm_buf_slice(&samples), sizes, count, max, &err);
    assert_int_equal(rc, err.code);
    vcm_buf_release(&samples);
    return rc;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct vcm_error err = {0};
    uint64_t seed = 20261116;

    assert_non_null(f);
    print_message("seed %llu\n", (unsigned long long)seed);
    assert_int_equal(vcm_codec_open(&f->codec, &err), VCM_OK);
    for (unsigned i = 0; i < FRAMES; i++)
        make_frame(&f->frames[i], &seed);
    vcm_buf_init(&f->dictionary_bytes, VCM_MIB);
    assert_int_equal(train(&f->dictionary_bytes, f->frames, FRAMES / 2, 16 * VCM_KIB), VCM_OK);
    assert_int_equal(vcm_codec_dictionary_open(&f->dictionary, vcm_buf_slice(&f->dictionary_bytes),
                                               VCM_CODEC_WRITE, &err),
                     VCM_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    vcm_codec_dictionary_close(f->dictionary);
    vcm_buf_release(&f->dictionary_bytes);
    for (unsigned i = 0; i < FRAMES; i++)
        vcm_buf_release(&f->frames[i]);
    vcm_codec_close(f->codec);
    free(f);
    return 0;
}

static void compress(struct vcm_buf *out, struct vcm_codec *codec, struct vcm_slice frame,
                     const struct vcm_codec_dictionary *dictionary)
{
    struct vcm_error err = {0};

    vcm_buf_clear(out);
    assert_int_equal(vcm_codec_compress(out, codec, frame, dictionary, &err), VCM_OK);
}

/* Decompresses into memory of exactly that size, so that the sanitizer sees a byte too many. */
static int decompress(struct vcm_codec *codec, struct vcm_slice packed, size_t bytes,
                      const struct vcm_codec_dictionary *dictionary, struct vcm_slice expected)
{
    struct vcm_error err = {0};
    char *frame = malloc(bytes > 0 ? bytes : 1);

    assert_non_null(frame);
    int rc = vcm_codec_decompress(frame, bytes, codec, packed, dictionary, &err);
    assert_int_equal(rc, err.code);
    if (rc == VCM_OK && expected.data)
        assert_true(vcm_slice_equal(vcm_slice_of(frame, bytes), expected));
    free(frame);
    return rc;
}

static void what_is_compressed_comes_back(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);

    for (unsigned i = 0; i < FRAMES; i++) {
        struct vcm_slice frame = vcm_buf_slice(&f->frames[i]);
        const struct vcm_codec_dictionary *dictionary = i % 2 == 0 ? f->dictionary : NULL;
        compress(&packed, f->codec, frame, dictionary);
        assert_true(packed.len * 3 < frame.len);
        assert_int_equal(decompress(f->codec, vcm_buf_slice(&packed), frame.len, dictionary, frame),
                         VCM_OK);
    }
    vcm_buf_release(&packed);
}

static void the_ends_of_the_range_come_back_too(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf packed = VCM_BUF_INIT(4 * VCM_MIB);
    uint64_t seed = 7;
    size_t len = 2 * VCM_MIB;
    char *noise = malloc(len);

    assert_non_null(noise);
    for (size_t i = 0; i < len; i++)
        noise[i] = (char)test_random(&seed);
    for (unsigned with = 0; with < 2; with++) {
        const struct vcm_codec_dictionary *dictionary = with ? f->dictionary : NULL;
        for (size_t n = 0; n <= len; n = 3 * n + 1) {
            struct vcm_slice frame = vcm_slice_of(noise, n);
            compress(&packed, f->codec, frame, dictionary);
            assert_true(packed.len <= n + n / 128 + 64);
            assert_int_equal(decompress(f->codec, vcm_buf_slice(&packed), n, dictionary, frame),
                             VCM_OK);
        }
    }
    free(noise);
    vcm_buf_release(&packed);
}

static void a_dictionary_makes_unseen_frames_smaller(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    size_t with = 0;
    size_t without = 0;

    for (unsigned i = FRAMES / 2; i < FRAMES; i++) {
        compress(&packed, f->codec, vcm_buf_slice(&f->frames[i]), f->dictionary);
        with += packed.len;
        compress(&packed, f->codec, vcm_buf_slice(&f->frames[i]), NULL);
        without += packed.len;
    }
    print_message("%zu bytes with, %zu without\n", with, without);
    assert_true(with * 20 < without * 19);
    vcm_buf_release(&packed);
}

static void training_gives_the_same_dictionary_again(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf again = VCM_BUF_INIT(VCM_MIB);

    assert_int_equal(train(&again, f->frames, FRAMES / 2, 16 * VCM_KIB), VCM_OK);
    assert_true(again.len <= 16 * VCM_KIB);
    assert_true(vcm_slice_equal(vcm_buf_slice(&again), vcm_buf_slice(&f->dictionary_bytes)));
    vcm_buf_release(&again);
}

static void too_few_samples_make_no_dictionary(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);

    assert_int_equal(train(&out, f->frames, 0, 16 * VCM_KIB), VCM_UNSUPPORTED);
    assert_int_equal(train(&out, f->frames, 1, 16 * VCM_KIB), VCM_UNSUPPORTED);
    assert_int_equal(train(&out, f->frames, FRAMES, 100), VCM_INVALID_ARGUMENT);
    assert_int_equal(out.len, 0);
    vcm_buf_release(&out);
}

static void sizes_beyond_the_samples_are_not_read(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    struct vcm_error err = {0};
    size_t sizes[4] = {f->frames[0].len, SIZE_MAX, 5, SIZE_MAX - 3};

    assert_int_equal(
        vcm_codec_train(&out, vcm_buf_slice(&f->frames[0]), sizes, 4, 16 * VCM_KIB, &err),
        VCM_UNSUPPORTED);
    vcm_buf_release(&out);
}

static void a_dictionary_is_sized_by_what_it_is_for(void **state)
{
    (void)state;
    assert_int_equal(vcm_codec_dictionary_size(0), 0);
    assert_int_equal(vcm_codec_dictionary_size(100 * VCM_KIB), 0);
    assert_int_equal(vcm_codec_dictionary_size(VCM_MIB), 16 * VCM_KIB);
    assert_int_equal(vcm_codec_dictionary_size(UINT64_MAX), VCM_LIMIT_DICTIONARY_BYTES);
}

static void a_frame_that_is_cut_short_is_corrupt(void **state)
{
    struct fixture *f = *state;
    struct vcm_slice frame = vcm_buf_slice(&f->frames[0]);
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    struct vcm_slice none = {0};

    compress(&packed, f->codec, frame, f->dictionary);
    for (size_t len = 0; len < packed.len; len += len < 64 ? 1 : 97) {
        /* A copy of its own, so that reading past it is seen. */
        char *cut = malloc(len > 0 ? len : 1);
        assert_non_null(cut);
        memcpy(cut, packed.data, len);
        assert_int_equal(
            decompress(f->codec, vcm_slice_of(cut, len), frame.len, f->dictionary, none),
            VCM_STORE_CORRUPT);
        free(cut);
    }
    vcm_buf_release(&packed);
}

static void a_frame_of_another_length_is_corrupt(void **state)
{
    struct fixture *f = *state;
    struct vcm_slice frame = vcm_buf_slice(&f->frames[1]);
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    struct vcm_slice none = {0};

    compress(&packed, f->codec, frame, NULL);
    struct vcm_slice whole = vcm_buf_slice(&packed);
    assert_int_equal(decompress(f->codec, whole, frame.len - 1, NULL, none), VCM_STORE_CORRUPT);
    assert_int_equal(decompress(f->codec, whole, frame.len + 1, NULL, none), VCM_STORE_CORRUPT);
    assert_int_equal(decompress(f->codec, whole, 0, NULL, none), VCM_STORE_CORRUPT);
    vcm_buf_append_slice(&packed, whole);
    assert_int_equal(decompress(f->codec, vcm_buf_slice(&packed), frame.len, NULL, none),
                     VCM_STORE_CORRUPT);
    vcm_buf_release(&packed);
}

static void damaged_bytes_give_corrupt_or_a_frame_of_the_length(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    struct vcm_slice none = {0};
    uint64_t seed = 99;
    unsigned refused = 0;

    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 3000; round++) {
        struct vcm_slice frame = vcm_buf_slice(&f->frames[round % FRAMES]);
        const struct vcm_codec_dictionary *dictionary = round % 2 ? f->dictionary : NULL;
        if (round % 50 < 2)
            compress(&packed, f->codec, frame, dictionary);
        for (unsigned i = 1 + test_random_below(&seed, 4); i > 0; i--)
            packed.data[test_random_below(&seed, round % 3 ? (unsigned)packed.len : 16)] =
                (char)test_random(&seed);
        int rc = decompress(f->codec, vcm_buf_slice(&packed), frame.len, dictionary, none);
        assert_true(rc == VCM_OK || rc == VCM_STORE_CORRUPT);
        refused += rc != VCM_OK;
    }
    assert_true(refused > 1000);
    vcm_buf_release(&packed);
}

/* A frame header that promises 2^60 bytes and a window of a gigabyte. */
static void a_frame_that_promises_much_takes_no_memory(void **state)
{
    struct fixture *f = *state;
    static const unsigned char huge[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0,    0,    0,    0,
                                         0,    0,    0,    0x10, 0x02, 0xff, 0xff, 0xff, 0x61};
    static const unsigned char window[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00,
                                           0xa0, 0x03, 0xff, 0xff, 0x61};
    struct vcm_slice none = {0};

    assert_int_equal(decompress(f->codec, vcm_slice_of(huge, sizeof huge), 100, NULL, none),
                     VCM_STORE_CORRUPT);
    assert_int_equal(decompress(f->codec, vcm_slice_of(window, sizeof window), 100, NULL, none),
                     VCM_STORE_CORRUPT);
}

static void another_dictionary_is_refused(void **state)
{
    struct fixture *f = *state;
    struct vcm_slice frame = vcm_buf_slice(&f->frames[3]);
    struct vcm_buf bytes = VCM_BUF_INIT(VCM_MIB);
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    struct vcm_codec_dictionary *other;
    struct vcm_error err = {0};
    struct vcm_slice none = {0};

    assert_int_equal(train(&bytes, f->frames + FRAMES / 2, FRAMES / 2, 16 * VCM_KIB), VCM_OK);
    assert_int_equal(vcm_codec_dictionary_open(&other, vcm_buf_slice(&bytes), VCM_CODEC_READ, &err),
                     VCM_OK);
    compress(&packed, f->codec, frame, f->dictionary);
    assert_int_equal(decompress(f->codec, vcm_buf_slice(&packed), frame.len, other, none),
                     VCM_STORE_CORRUPT);
    assert_int_equal(decompress(f->codec, vcm_buf_slice(&packed), frame.len, NULL, none),
                     VCM_STORE_CORRUPT);
    assert_int_equal(decompress(f->codec, vcm_buf_slice(&packed), frame.len, f->dictionary, frame),
                     VCM_OK);
    vcm_codec_dictionary_close(other);
    vcm_buf_release(&packed);
    vcm_buf_release(&bytes);
}

static void bytes_that_are_no_dictionary_are_refused(void **state)
{
    struct fixture *f = *state;
    struct vcm_codec_dictionary *dictionary;
    struct vcm_slice whole = vcm_buf_slice(&f->dictionary_bytes);
    size_t bad[] = {0, 7, 8, 20};

    for (unsigned i = 0; i < 4; i++) {
        struct vcm_error err = {0};
        assert_int_equal(vcm_codec_dictionary_open(&dictionary, vcm_slice_of(whole.data, bad[i]),
                                                   VCM_CODEC_READ, &err),
                         VCM_STORE_CORRUPT);
        assert_null(dictionary);
    }
    struct vcm_error err = {0};
    assert_int_equal(
        vcm_codec_dictionary_open(&dictionary, vcm_buf_slice(&f->frames[0]), VCM_CODEC_READ, &err),
        VCM_STORE_CORRUPT);
    assert_null(dictionary);
}

static void a_damaged_dictionary_never_crashes(void **state)
{
    struct fixture *f = *state;
    struct vcm_slice whole = vcm_buf_slice(&f->dictionary_bytes);
    struct vcm_slice frame = vcm_buf_slice(&f->frames[0]);
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    struct vcm_slice none = {0};
    uint64_t seed = 5;

    compress(&packed, f->codec, frame, f->dictionary);
    for (unsigned round = 0; round < 300; round++) {
        struct vcm_codec_dictionary *dictionary;
        struct vcm_error err = {0};
        char *bytes = malloc(whole.len);
        assert_non_null(bytes);
        memcpy(bytes, whole.data, whole.len);
        bytes[4 + test_random_below(&seed, round % 2 ? 400 : 100)] = (char)test_random(&seed);
        int rc = vcm_codec_dictionary_open(&dictionary, vcm_slice_of(bytes, whole.len),
                                           VCM_CODEC_READ, &err);
        free(bytes);
        if (rc == VCM_OK)
            (void)decompress(f->codec, vcm_buf_slice(&packed), frame.len, dictionary, none);
        vcm_codec_dictionary_close(dictionary);
    }
    vcm_buf_release(&packed);
}

static void *round_trips(void *context)
{
    struct fixture *f = context;
    struct vcm_buf packed = VCM_BUF_INIT(VCM_MIB);
    struct vcm_error err = {0};
    char *frame = malloc(4 * FRAME_BYTES);
    bool fine = frame != NULL;

    for (unsigned i = 0; fine && i < FRAMES; i++) {
        struct vcm_slice wanted = vcm_buf_slice(&f->frames[i]);
        vcm_buf_clear(&packed);
        fine = vcm_codec_compress(&packed, f->codec, wanted, f->dictionary, &err) == VCM_OK &&
               vcm_codec_decompress(frame, wanted.len, f->codec, vcm_buf_slice(&packed),
                                    f->dictionary, &err) == VCM_OK &&
               memcmp(frame, wanted.data, wanted.len) == 0;
    }
    free(frame);
    vcm_buf_release(&packed);
    return fine ? context : NULL;
}

/* More threads than contexts are kept. */
static void threads_share_a_codec_and_a_dictionary(void **state)
{
    pthread_t threads[12];
    void *result;

    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, round_trips, *state), 0);
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, *state);
    }
}

static void an_output_that_is_too_small_is_unsupported(void **state)
{
    struct fixture *f = *state;
    struct vcm_buf small = VCM_BUF_INIT(100);
    struct vcm_error err = {0};

    assert_int_equal(vcm_codec_compress(&small, f->codec, vcm_buf_slice(&f->frames[0]), NULL, &err),
                     VCM_UNSUPPORTED);
    vcm_buf_release(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_compressed_comes_back),
        cmocka_unit_test(the_ends_of_the_range_come_back_too),
        cmocka_unit_test(a_dictionary_makes_unseen_frames_smaller),
        cmocka_unit_test(training_gives_the_same_dictionary_again),
        cmocka_unit_test(too_few_samples_make_no_dictionary),
        cmocka_unit_test(sizes_beyond_the_samples_are_not_read),
        cmocka_unit_test(a_dictionary_is_sized_by_what_it_is_for),
        cmocka_unit_test(a_frame_that_is_cut_short_is_corrupt),
        cmocka_unit_test(a_frame_of_another_length_is_corrupt),
        cmocka_unit_test(damaged_bytes_give_corrupt_or_a_frame_of_the_length),
        cmocka_unit_test(a_frame_that_promises_much_takes_no_memory),
        cmocka_unit_test(another_dictionary_is_refused),
        cmocka_unit_test(bytes_that_are_no_dictionary_are_refused),
        cmocka_unit_test(a_damaged_dictionary_never_crashes),
        cmocka_unit_test(threads_share_a_codec_and_a_dictionary),
        cmocka_unit_test(an_output_that_is_too_small_is_unsupported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
