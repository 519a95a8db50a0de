#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "base/jsonw.h"

#include "base/banned.h"

static void commas_and_colons_go_where_json_wants_them(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_buf out = VCM_BUF_INIT(4096);
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &out);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_string(&w, "s", "x");
    vcm_jsonw_member_string(&w, "none", NULL);
    vcm_jsonw_member_slice(&w, "z", vcm_slice_of("a\0b", 3));
    vcm_jsonw_key(&w, "list");
    vcm_jsonw_begin_array(&w);
    vcm_jsonw_int(&w, INT64_MIN);
    vcm_jsonw_uint(&w, UINT64_MAX);
    vcm_jsonw_begin_array(&w);
    vcm_jsonw_end_array(&w);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_end_object(&w);
    vcm_jsonw_raw(&w, vcm_slice_of_string("[1,2]"));
    vcm_jsonw_end_array(&w);
    vcm_jsonw_member_int(&w, "i", -1);
    vcm_jsonw_member_uint(&w, "u", 1);
    vcm_jsonw_member_bool(&w, "t", true);
    vcm_jsonw_member_bool(&w, "f", false);
    vcm_jsonw_member_null(&w, "n");
    vcm_jsonw_end_object(&w);
    assert_int_equal(vcm_jsonw_finish(&w, &err), VCM_OK);
    assert_string_equal(vcm_buf_text(&out),
                        "{\"s\":\"x\",\"none\":null,\"z\":\"a\\u0000b\",\"list\":"
                        "[-9223372036854775808,18446744073709551615,[],{},[1,2]],"
                        "\"i\":-1,\"u\":1,\"t\":true,\"f\":false,\"n\":null}");
    vcm_buf_release(&out);
}

static void check_escape(struct vcm_slice text, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(4096);
    vcm_jsonw_escape(&out, text);
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void strings_are_escaped_as_stringify_does(void **state)
{
    (void)state;
    check_escape(vcm_slice_of(NULL, 0), "\"\"");
    check_escape(vcm_slice_of_string("\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
    check_escape(vcm_slice_of("\0\x01\x0b\x1f", 4), "\"\\u0000\\u0001\\u000b\\u001f\"");
    check_escape(vcm_slice_of_string("\x7f<>&'\xe2\x80\xa8\xf0\x9f\x98\x80"),
                 "\"\x7f<>&'\xe2\x80\xa8\xf0\x9f\x98\x80\"");
}

/* Every byte at every place of a word, so that the fast path is seen to miss none. */
static void escaping_does_not_depend_on_the_place(void **state)
{
    (void)state;
    struct vcm_buf out = VCM_BUF_INIT(4096), expected = VCM_BUF_INIT(4096);

    for (unsigned byte = 0; byte < 0x80; byte++) {
        struct vcm_buf alone = VCM_BUF_INIT(64);
        char one = (char)byte;
        vcm_jsonw_escape(&alone, vcm_slice_of(&one, 1));
        for (size_t place = 0; place < 24; place++) {
            char text[24];
            memset(text, '!', sizeof text);
            text[place] = one;
            vcm_buf_clear(&out);
            vcm_jsonw_escape(&out, vcm_slice_of(text, sizeof text));
            vcm_buf_clear(&expected);
            vcm_buf_append_format(&expected, "\"%.*s%.*s%.*s\"", (int)place, text,
                                  (int)alone.len - 2, alone.data + 1, (int)(23 - place),
                                  text + place + 1);
            assert_string_equal(vcm_buf_text(&out), vcm_buf_text(&expected));
        }
        vcm_buf_release(&alone);
    }
    vcm_buf_release(&out);
    vcm_buf_release(&expected);
}

static void invalid_utf8_is_replaced(void **state)
{
    (void)state;
    check_escape(vcm_slice_of_string("a\xff\xf0\x9f\x98\nb\xc3"),
                 "\"a\xef\xbf\xbd\xef\xbf\xbd\\nb\xef\xbf\xbd\"");
}

static void numbers_are_written_as_ecmascript_does(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "0"},
        {5, "5"},
        {-5.5, "-5.5"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {123456789012345680000.0, "123456789012345680000"},
        {1e21, "1e+21"},
        {-1.5e300, "-1.5e+300"},
        {1e-6, "0.000001"},
        {1.25e-5, "0.0000125"},
        {1e-7, "1e-7"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {0x1p-44, "5.684341886080802e-14"}, /* not the nearest decimal of 16 digits */
        {9007199254740993.0, "9007199254740992"},
        {4.35, "4.35"},
        {100, "100"},
        {123.456, "123.456"},
        {NAN, "null"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vcm_buf out = VCM_BUF_INIT(64);
        struct vcm_jsonw w;
        vcm_jsonw_init(&w, &out);
        vcm_jsonw_number(&w, cases[i].value);
        assert_string_equal(vcm_buf_text(&out), cases[i].text);
        vcm_buf_release(&out);
    }
}

struct drained {
    struct vcm_buf all;
    unsigned calls;
    unsigned fail_at;
};

static int keep_drained(void *context, const char *data, size_t len, struct vcm_error *err)
{
    struct drained *drained = context;
    if (++drained->calls == drained->fail_at)
        return vcm_error_set(err, VCM_IO_ERROR, "the pipe is gone");
    vcm_buf_append(&drained->all, data, len);
    return VCM_OK;
}

static void write_many(struct vcm_jsonw *w)
{
    vcm_jsonw_begin_array(w);
    for (int i = 0; i < 50000; i++)
        vcm_jsonw_int(w, i);
    vcm_jsonw_end_array(w);
}

static void a_drain_sees_the_same_bytes_in_pieces(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_buf whole = VCM_BUF_INIT(1 << 20), small = VCM_BUF_INIT(VCM_JSONW_DRAIN_BYTES + 64);
    struct drained drained = {VCM_BUF_INIT(1 << 20), 0, 0};
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &whole);
    write_many(&w);
    assert_int_equal(vcm_jsonw_finish(&w, &err), VCM_OK);

    vcm_jsonw_init(&w, &small);
    vcm_jsonw_set_drain(&w, keep_drained, &drained);
    write_many(&w);
    assert_int_equal(vcm_jsonw_finish(&w, &err), VCM_OK);
    assert_true(drained.calls > 2);
    assert_true(vcm_slice_equal(vcm_buf_slice(&whole), vcm_buf_slice(&drained.all)));
    vcm_buf_release(&whole);
    vcm_buf_release(&small);
    vcm_buf_release(&drained.all);
}

static void the_first_fault_of_a_drain_is_told_at_the_end(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_buf out = VCM_BUF_INIT(1 << 20);
    struct drained drained = {VCM_BUF_INIT(1 << 20), 0, 2};
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &out);
    vcm_jsonw_set_drain(&w, keep_drained, &drained);
    write_many(&w);
    assert_int_equal(vcm_jsonw_finish(&w, &err), VCM_IO_ERROR);
    assert_string_equal(err.message, "the pipe is gone");
    assert_int_equal(drained.calls, 2);
    vcm_buf_release(&out);
    vcm_buf_release(&drained.all);
}

static void a_full_buffer_is_told_at_the_end(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_buf out = VCM_BUF_INIT(4);
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &out);
    vcm_jsonw_string(&w, "too long");
    assert_int_equal(vcm_jsonw_finish(&w, &err), VCM_UNSUPPORTED);
    vcm_buf_release(&out);
}

static void too_deep_a_document_is_a_fault(void **state)
{
    (void)state;
    for (unsigned depth = VCM_LIMIT_JSON_DEPTH; depth <= VCM_LIMIT_JSON_DEPTH + 2; depth++) {
        struct vcm_error err = {0};
        struct vcm_buf out = VCM_BUF_INIT(4096);
        struct vcm_jsonw w;
        vcm_jsonw_init(&w, &out);
        for (unsigned i = 0; i < depth; i++)
            vcm_jsonw_begin_array(&w);
        vcm_jsonw_int(&w, 1);
        for (unsigned i = 0; i < depth; i++)
            vcm_jsonw_end_array(&w);
        assert_int_equal(vcm_jsonw_finish(&w, &err),
                         depth == VCM_LIMIT_JSON_DEPTH ? VCM_OK : VCM_UNSUPPORTED);
        vcm_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_colons_go_where_json_wants_them),
        cmocka_unit_test(strings_are_escaped_as_stringify_does),
        cmocka_unit_test(escaping_does_not_depend_on_the_place),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test(numbers_are_written_as_ecmascript_does),
        cmocka_unit_test(a_drain_sees_the_same_bytes_in_pieces),
        cmocka_unit_test(the_first_fault_of_a_drain_is_told_at_the_end),
        cmocka_unit_test(a_full_buffer_is_told_at_the_end),
        cmocka_unit_test(too_deep_a_document_is_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
