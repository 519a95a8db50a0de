#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/utf8.h"

#include "base/banned.h"

#define SEED 20260101u

static uint32_t random_state = SEED;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static void append_point(struct vcm_buf *out, uint32_t point)
{
    if (point < 0x80) {
        vcm_buf_append_byte(out, (char)point);
        return;
    }
    if (point < 0x800) {
        vcm_buf_append_byte(out, (char)(0xc0 | point >> 6));
    } else {
        if (point < 0x10000) {
            vcm_buf_append_byte(out, (char)(0xe0 | point >> 12));
        } else {
            vcm_buf_append_byte(out, (char)(0xf0 | point >> 18));
            vcm_buf_append_byte(out, (char)(0x80 | (point >> 12 & 0x3f)));
        }
        vcm_buf_append_byte(out, (char)(0x80 | (point >> 6 & 0x3f)));
    }
    vcm_buf_append_byte(out, (char)(0x80 | (point & 0x3f)));
}

/* The decoder of the WHATWG Encoding Standard, state by state as its text has it, byte by byte.
 * Returns how many bytes lie before the first error. */
static size_t decode_slowly(struct vcm_buf *out, struct vcm_slice text)
{
    uint32_t point = 0;
    unsigned seen = 0, needed = 0, lower = 0x80, upper = 0xbf;
    size_t sequence_start = 0, first_error = text.len;

    for (size_t i = 0; i <= text.len; i++) {
        if (i == text.len) {
            if (needed != 0) {
                append_point(out, 0xfffd);
                if (first_error == text.len)
                    first_error = sequence_start;
            }
            break;
        }
        unsigned byte = (unsigned char)text.data[i];
        if (needed == 0) {
            sequence_start = i;
            if (byte <= 0x7f) {
                append_point(out, byte);
            } else if (byte >= 0xc2 && byte <= 0xdf) {
                needed = 1;
                point = byte & 0x1f;
            } else if (byte >= 0xe0 && byte <= 0xef) {
                if (byte == 0xe0)
                    lower = 0xa0;
                if (byte == 0xed)
                    upper = 0x9f;
                needed = 2;
                point = byte & 0xf;
            } else if (byte >= 0xf0 && byte <= 0xf4) {
                if (byte == 0xf0)
                    lower = 0x90;
                if (byte == 0xf4)
                    upper = 0x8f;
                needed = 3;
                point = byte & 0x7;
            } else {
                append_point(out, 0xfffd);
                if (first_error == text.len)
                    first_error = i;
            }
            continue;
        }
        bool fits = byte >= lower && byte <= upper;
        lower = 0x80;
        upper = 0xbf;
        if (!fits) {
            needed = seen = 0;
            append_point(out, 0xfffd);
            if (first_error == text.len)
                first_error = sequence_start;
            i--;
            continue;
        }
        point = point << 6 | (byte & 0x3f);
        if (++seen == needed) {
            append_point(out, point);
            needed = seen = 0;
        }
    }
    return first_error;
}

static void check_text(struct vcm_buf *fast, struct vcm_buf *slow, struct vcm_slice text)
{
    vcm_buf_clear(fast);
    vcm_buf_clear(slow);
    size_t valid = decode_slowly(slow, text);
    assert_int_equal(vcm_utf8_valid_prefix(text), valid);
    assert_int_equal(vcm_utf8_replace(fast, text), valid < text.len);
    assert_true(vcm_slice_equal(vcm_buf_slice(fast), vcm_buf_slice(slow)));
}

/* Bytes at which some state of the decoder changes its mind, and their neighbours. */
static const unsigned char edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                      0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                      0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff};
enum { EDGES = sizeof edges };

static void short_strings_decode_as_the_standard_says(void **state)
{
    (void)state;
    struct vcm_buf fast = VCM_BUF_INIT(1024), slow = VCM_BUF_INIT(1024);
    unsigned char text[4];

    for (unsigned a = 0; a < 256; a++) {
        text[0] = (unsigned char)a;
        check_text(&fast, &slow, vcm_slice_of(text, 1));
        for (unsigned b = 0; b < 256; b++) {
            text[1] = (unsigned char)b;
            check_text(&fast, &slow, vcm_slice_of(text, 2));
            for (unsigned c = 0; c < EDGES; c++) {
                text[2] = edges[c];
                check_text(&fast, &slow, vcm_slice_of(text, 3));
            }
        }
    }
    vcm_buf_release(&fast);
    vcm_buf_release(&slow);
}

static void four_byte_strings_decode_as_the_standard_says(void **state)
{
    (void)state;
    struct vcm_buf fast = VCM_BUF_INIT(1024), slow = VCM_BUF_INIT(1024);

    for (size_t i = 0; i < (size_t)EDGES * EDGES * EDGES * EDGES; i++) {
        unsigned char text[4] = {edges[i % EDGES], edges[i / EDGES % EDGES],
                                 edges[i / EDGES / EDGES % EDGES],
                                 edges[i / EDGES / EDGES / EDGES]};
        check_text(&fast, &slow, vcm_slice_of(text, 4));
    }
    vcm_buf_release(&fast);
    vcm_buf_release(&slow);
}

static void random_strings_decode_as_the_standard_says(void **state)
{
    (void)state;
    struct vcm_buf fast = VCM_BUF_INIT(4096), slow = VCM_BUF_INIT(4096);
    unsigned char text[80];

    print_message("seed %u\n", SEED);
    for (unsigned round = 0; round < 20000; round++) {
        size_t len = next_random() % sizeof text;
        /* Mostly ASCII, so that the words of the fast path end at every place. */
        unsigned rarity = 1 + next_random() % 40;
        for (size_t i = 0; i < len; i++)
            text[i] = next_random() % rarity == 0 ? edges[next_random() % EDGES]
                                                  : (unsigned char)(next_random() % 0x80);
        check_text(&fast, &slow, vcm_slice_of(text, len));
    }
    vcm_buf_release(&fast);
    vcm_buf_release(&slow);
}

static void every_code_point_is_valid_and_has_its_length(void **state)
{
    (void)state;
    struct vcm_buf text = VCM_BUF_INIT(16);

    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        vcm_buf_clear(&text);
        append_point(&text, point);
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        if (vcm_utf8_valid(vcm_buf_slice(&text)) == surrogate)
            fail_msg("U+%04X", point);
        if (vcm_utf8_sequence_length((unsigned char)text.data[0]) != text.len)
            fail_msg("length of U+%04X", point);
    }
    vcm_buf_release(&text);
}

static void the_invalid_prefix_is_the_maximal_subpart(void **state)
{
    (void)state;
    assert_int_equal(vcm_utf8_invalid_prefix(vcm_slice_of(NULL, 0)), 0);
    assert_int_equal(vcm_utf8_invalid_prefix(vcm_slice_of_string("a")), 0);
    assert_int_equal(vcm_utf8_invalid_prefix(vcm_slice_of_string("\x80\x80")), 1);
    assert_int_equal(vcm_utf8_invalid_prefix(vcm_slice_of_string("\xf0\x9f\x98z")), 3);
    assert_int_equal(vcm_utf8_invalid_prefix(vcm_slice_of_string("\xed\xa0\x80")), 1);
}

static void a_path_shows_invalid_bytes_in_hex(void **state)
{
    (void)state;
    struct vcm_buf out = VCM_BUF_INIT(64);

    assert_false(vcm_utf8_escape_path(&out, vcm_slice_of_string("a\\x41/\xc3\xa9")));
    assert_string_equal(vcm_buf_text(&out), "a\\x41/\xc3\xa9");
    vcm_buf_clear(&out);
    assert_true(vcm_utf8_escape_path(&out, vcm_slice_of_string("\xe2\x82/\xff.c\xc3")));
    assert_string_equal(vcm_buf_text(&out), "\\xe2\\x82/\\xff.c\\xc3");
    vcm_buf_release(&out);
}

static void every_path_can_be_told_from_its_escaped_form(void **state)
{
    (void)state;
    static const char letters[] = "\\\\\\xxx25cef80a/\xff\xc3\xa9";
    struct vcm_buf shown = VCM_BUF_INIT(256);
    struct vcm_buf back = VCM_BUF_INIT(256);
    char path[16];

    for (unsigned round = 0; round < 200000; round++) {
        size_t len = next_random() % sizeof path;
        for (size_t i = 0; i < len; i++)
            path[i] = letters[next_random() % (sizeof letters - 1)];
        vcm_buf_clear(&shown);
        vcm_buf_clear(&back);
        bool changed = vcm_utf8_escape_path(&shown, vcm_slice_of(path, len));
        assert_true(vcm_utf8_valid(vcm_buf_slice(&shown)));
        assert_int_equal(changed, !vcm_slice_equal(vcm_buf_slice(&shown), vcm_slice_of(path, len)));
        vcm_utf8_unescape_path(&back, vcm_buf_slice(&shown));
        assert_true(vcm_slice_equal(vcm_buf_slice(&back), vcm_slice_of(path, len)));
    }
    vcm_buf_release(&shown);
    vcm_buf_release(&back);
}

static void columns_count_what_a_terminal_shows(void **state)
{
    (void)state;
    assert_int_equal(vcm_utf8_columns(vcm_slice_of(NULL, 0)), 0);
    assert_int_equal(vcm_utf8_columns(vcm_slice_of_string("plain")), 5);
    assert_int_equal(vcm_utf8_columns(vcm_slice_of_string("\xc3\xa9t\xc3\xa9")), 3);
    assert_int_equal(vcm_utf8_columns(vcm_slice_of_string("e\xcc\x81")), 1);
    assert_int_equal(vcm_utf8_columns(vcm_slice_of_string("\xe6\xbc\xa2\xe5\xad\x97")), 4);
    assert_int_equal(vcm_utf8_columns(vcm_slice_of_string("\xf0\x9f\x98\x80")), 2);
    assert_int_equal(vcm_utf8_columns(vcm_slice_of_string("a\xe2\x80\x8b"
                                                          "b")),
                     2);
}

static void assert_line(const char *text, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(64);

    vcm_utf8_append_line(&out, vcm_slice_of_string(text));
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void a_line_has_no_control_characters(void **state)
{
    (void)state;
    assert_line("", "");
    assert_line(" \r\n", "");
    assert_line("\tint  f(\n    void)\r", "int f( void)");
    assert_line("a\x1b[2Kb\x7f"
                "c",
                "a [2Kb c");
    assert_line("a\xc2\x85\xc2\x9b"
                "b\xc2\xa0"
                "c",
                "a b\xc2\xa0"
                "c");
    assert_line("a\xe2\x80\xa8"
                "b\xe2\x80\xa9"
                "c\xe2\x80\xaa",
                "a b c\xe2\x80\xaa");
}

static void assert_visible(const char *text, bool lines, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(1024);

    vcm_utf8_append_visible(&out, vcm_slice_of_string(text), lines);
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void what_a_terminal_gets_neither_controls_it_nor_turns_around(void **state)
{
    (void)state;
    assert_visible("plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", true,
                   "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
    assert_visible("a\tb\nc\r\x1b[31m\x7f", true, "a\tb\nc??[31m?");
    assert_visible("a\tb\nc", false, "a?b?c");
    assert_visible("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", true, "???\xc2\xa0");
    assert_visible("\xe2\x80\xae"
                   "abc"
                   "\xe2\x81\xa9\xd8\x9c",
                   true, "<U+202E>abc<U+2069><U+061C>");
    assert_visible("\xe2\x80\xa8\xe2\x80\xa9", true, "??");
    assert_visible("cut \xe2\x80", true, "cut \xe2?");
}

static void assert_quoted(const char *name, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(1024);

    vcm_utf8_append_quoted(&out, vcm_slice_of_string(name));
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void a_name_with_control_characters_is_quoted(void **state)
{
    (void)state;
    assert_quoted("", "");
    assert_quoted("src/a \"b\" \\x.c", "src/a \"b\" \\x.c");
    assert_quoted("a\nb", "\"a\\nb\"");
    assert_quoted("a\"\\\r\t\x1b\x7f", "\"a\\\"\\\\\\r\\t\\u001b\\u007f\"");
    assert_quoted("\xc2\x9b\xe2\x80\xa8", "\"\\u009b\\u2028\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_strings_decode_as_the_standard_says),
        cmocka_unit_test(four_byte_strings_decode_as_the_standard_says),
        cmocka_unit_test(random_strings_decode_as_the_standard_says),
        cmocka_unit_test(every_code_point_is_valid_and_has_its_length),
        cmocka_unit_test(the_invalid_prefix_is_the_maximal_subpart),
        cmocka_unit_test(a_path_shows_invalid_bytes_in_hex),
        cmocka_unit_test(every_path_can_be_told_from_its_escaped_form),
        cmocka_unit_test(columns_count_what_a_terminal_shows),
        cmocka_unit_test(a_line_has_no_control_characters),
        cmocka_unit_test(what_a_terminal_gets_neither_controls_it_nor_turns_around),
        cmocka_unit_test(a_name_with_control_characters_is_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
