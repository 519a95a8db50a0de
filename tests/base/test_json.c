#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

#define ARENA_MAX (64 * VCM_MIB)

static struct vcm_arena arena;

static int make_arena(void **state)
{
    (void)state;
    vcm_arena_init(&arena, ARENA_MAX);
    return 0;
}

static int drop_arena(void **state)
{
    (void)state;
    vcm_arena_release(&arena);
    return 0;
}

static struct vcm_json *parse(const char *text)
{
    struct vcm_error err = {0};
    struct vcm_json *json;
    if (vcm_json_parse(&json, &arena, vcm_slice_of_string(text), &err) != VCM_OK)
        fail_msg("%s: %s", text, err.message);
    return json;
}

static void check_refused(struct vcm_slice text, const char *message)
{
    struct vcm_error err = {0};
    struct vcm_json *json = (struct vcm_json *)&err;
    int rc = vcm_json_parse(&json, &arena, text, &err);
    if (rc != VCM_INVALID_ARGUMENT || json || (message && strcmp(err.message, message) != 0))
        fail_msg("'%.60s': %d, %s", text.data, rc, err.message);
}

static void values_of_every_kind_are_read_in_order(void **state)
{
    (void)state;
    struct vcm_json *json = parse(" {\"n\":null,\"t\":true,\"f\":false,\"i\":-7,\"d\":1.5,\n"
                                  "\"s\":\"x\",\"a\":[1,[],{}],\"\":0} \n");
    static const char *const keys[] = {"n", "t", "f", "i", "d", "s", "a", ""};

    assert_int_equal(json->kind, VCM_JSON_OBJECT);
    assert_int_equal(json->count, 8);
    const struct vcm_json *member = json->first;
    for (size_t i = 0; i < 8; i++, member = member->next)
        assert_string_equal(member->key.data, keys[i]);
    assert_null(member);
    assert_int_equal(vcm_json_get(json, "n")->kind, VCM_JSON_NULL);
    assert_true(vcm_json_get(json, "t")->boolean);
    assert_int_equal(vcm_json_get(json, "f")->kind, VCM_JSON_BOOL);
    assert_int_equal(vcm_json_get(json, "i")->integer, -7);
    assert_true(vcm_json_get(json, "i")->number == -7.0);
    assert_int_equal(vcm_json_get(json, "d")->kind, VCM_JSON_NUMBER);
    assert_true(vcm_json_get(json, "d")->number == 1.5);
    const struct vcm_json *list = vcm_json_get(json, "a");
    assert_int_equal(list->count, 3);
    assert_int_equal(list->first->integer, 1);
    assert_int_equal(list->first->next->kind, VCM_JSON_ARRAY);
    assert_int_equal(list->first->next->next->kind, VCM_JSON_OBJECT);
    assert_null(list->first->next->next->next);
}

static void getters_answer_otherwise_when_kinds_differ(void **state)
{
    (void)state;
    struct vcm_json *json = parse("{\"s\":\"x\",\"i\":3,\"b\":true,\"d\":1.5}");

    assert_string_equal(vcm_json_get_text(json, "s", "no"), "x");
    assert_string_equal(vcm_json_get_text(json, "i", "no"), "no");
    assert_null(vcm_json_get_text(json, "none", NULL));
    assert_int_equal(vcm_json_get_int(json, "i", 9), 3);
    assert_int_equal(vcm_json_get_int(json, "d", 9), 9);
    assert_true(vcm_json_get_bool(json, "b", false));
    assert_true(vcm_json_get_bool(json, "none", true));
    assert_null(vcm_json_get(json->first, "s"));
    assert_null(vcm_json_get(NULL, "s"));
}

static void integers_that_fit_are_exact_and_others_are_numbers(void **state)
{
    (void)state;
    assert_true(parse("9223372036854775807")->integer == INT64_MAX);
    assert_true(parse("-9223372036854775808")->integer == INT64_MIN);
    assert_int_equal(parse("-0")->integer, 0);
    struct vcm_json *large = parse("9223372036854775808");
    assert_int_equal(large->kind, VCM_JSON_NUMBER);
    assert_true(large->number == 9223372036854775808.0);
    assert_int_equal(parse("1e2")->kind, VCM_JSON_NUMBER);
    assert_true(parse("1e2")->number == 100.0);
    assert_true(parse("-1.25E-2")->number == -0.0125);
}

static void check_string(const char *text, const char *expected, size_t len)
{
    struct vcm_json *json = parse(text);
    assert_int_equal(json->kind, VCM_JSON_STRING);
    if (!vcm_slice_equal(json->text, vcm_slice_of(expected, len)))
        fail_msg("%s gave '%s'", text, json->text.data);
    assert_int_equal(json->text.data[json->text.len], '\0');
    assert_true(vcm_utf8_valid(json->text));
}

static void strings_are_unescaped(void **state)
{
    (void)state;
    check_string("\"\"", "", 0);
    check_string("\"plain \xc3\xa9\"", "plain \xc3\xa9", 8);
    check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    check_string("\"a\\u0000b\"", "a\0b", 3);
    check_string("\"\\\\\"", "\\", 1);
    check_string("\"\\\\\\\"\"", "\\\"", 2);
    check_string("\"\\u00e9\\u20ac\\u007F\"", "\xc3\xa9\xe2\x82\xac\x7f", 6);
    check_string("\"x\\ud83d\\ude00y\"", "x\xf0\x9f\x98\x80y", 6);
    check_string("\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf", 4);
}

static void lone_surrogates_are_replaced_and_nothing_is_lost(void **state)
{
    (void)state;
#define FFFD "\xef\xbf\xbd"
    check_string("\"\\ud800\"", FFFD, 3);
    check_string("\"\\ud800x\"", FFFD "x", 4);
    check_string("\"\\udc00x\"", FFFD "x", 4);
    check_string("\"\\ud800\\u0041\"", FFFD "A", 4);
    check_string("\"\\ud800\\ud83d\\ude00\"", FFFD "\xf0\x9f\x98\x80", 7);
    check_string("\"\\ude00\\ud83d\"", FFFD FFFD, 6);
    check_string("\"\\udc00\\udc00\"", FFFD FFFD, 6);
    check_string("\"\\ud800\\n\"", FFFD "\n", 4);
    check_string("\"\\ud800\\\\u0041\"", FFFD "\\u0041", 9);
#undef FFFD
}

static void keys_are_unescaped_too(void **state)
{
    (void)state;
    struct vcm_json *json = parse("{\"a\\\"b\":1,\"\\u0063\":2}");
    assert_int_equal(vcm_json_get_int(json, "a\"b", 0), 1);
    assert_int_equal(vcm_json_get_int(json, "c", 0), 2);
}

static void what_is_no_json_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        " ",
                                        "{",
                                        "[",
                                        "[1",
                                        "[1,]",
                                        "{\"a\":1,}",
                                        "{\"a\"}",
                                        "{a:1}",
                                        "[1 2]",
                                        "1 2",
                                        "null x",
                                        "{}{}",
                                        "nul",
                                        "tru",
                                        "'a'",
                                        "\"a",
                                        "\"\\x\"",
                                        "\"\\u12\"",
                                        "\"\n\"",
                                        "01",
                                        "1.",
                                        ".5",
                                        "-",
                                        "+1",
                                        "1e",
                                        "0x1",
                                        "NaN",
                                        "Infinity",
                                        "[1]]",
                                        "// c\n1",
                                        "/* */1",
                                        "\"\t\"",
                                        "]",
                                        ",",
                                        "{1:2}",
                                        "[\"a\":1]",
                                        "1e999",
                                        "-1e999",
                                        "[1e999]",
                                        "\xef\xbb\xbf[]"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        check_refused(vcm_slice_of_string(wrong[i]), NULL);
    check_refused(vcm_slice_of("1\0", 2), NULL);
}

static void a_refusal_names_line_and_column(void **state)
{
    (void)state;
    check_refused(vcm_slice_of_string("{\n  \"a\": \xc3\xa9}"),
                  "invalid JSON at line 2, column 8: invalid char in json text");
    check_refused(vcm_slice_of_string("[1,\n\"\xc3\xa9\xff\"]"),
                  "invalid JSON at line 2, column 3: invalid UTF-8");
    check_refused(vcm_slice_of_string("[1 2]"),
                  "invalid JSON at line 1, column 4: after array element, I expect ',' or ']'");
    check_refused(vcm_slice_of_string("1\n}"),
                  "invalid JSON at line 2, column 1: trailing garbage");
    check_refused(vcm_slice_of_string("[1,"), "invalid JSON at line 1, column 4: premature EOF");
    check_refused(vcm_slice_of_string("[\n\n 1e999]"),
                  "invalid JSON at line 3, column 2: a number is out of range");
    check_refused(vcm_slice_of_string(" 1e999"),
                  "invalid JSON at line 1, column 2: a number is out of range");
}

static void surrogates_and_overlong_forms_are_no_utf8(void **state)
{
    (void)state;
    check_refused(vcm_slice_of_string("\"\xed\xa0\x80\""), NULL);
    check_refused(vcm_slice_of_string("\"\xc0\x80\""), NULL);
}

static void duplicate_keys_are_refused(void **state)
{
    (void)state;
    check_refused(vcm_slice_of_string("{\"a\":1,\n \"\\u0061\":2}"),
                  "invalid JSON at line 2, column 2: the key 'a' stands twice in one object");
    check_refused(vcm_slice_of_string("[{\"b\":{\"a\":1,\"a\":2}}]"), NULL);
    parse("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":1}]}");
}

static void write_object(struct vcm_buf *text, unsigned members, unsigned repeated)
{
    vcm_buf_clear(text);
    vcm_buf_append_byte(text, '{');
    for (unsigned i = 0; i < members; i++)
        vcm_buf_append_format(text, "\"k%u\":%u,", i, i);
    vcm_buf_append_format(text, "\"k%u\":0}", repeated);
}

/* With a search through all members, 200,000 of them would take minutes. */
static void large_objects_find_duplicates_at_once(void **state)
{
    (void)state;
    struct vcm_buf text = VCM_BUF_INIT(16 * VCM_MIB);

    for (unsigned members = 1; members < 70; members++) {
        for (unsigned repeated = 0; repeated < members; repeated += 3) {
            write_object(&text, members, repeated);
            check_refused(vcm_buf_slice(&text), NULL);
        }
        write_object(&text, members, members);
        assert_int_equal(parse(vcm_buf_text(&text))->count, members + 1);
    }
    write_object(&text, 200000, 200000);
    assert_int_equal(parse(vcm_buf_text(&text))->count, 200001);
    write_object(&text, 200000, 77777);
    check_refused(vcm_buf_slice(&text), NULL);
    vcm_buf_release(&text);
}

static void nesting_ends_at_the_limit(void **state)
{
    (void)state;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    for (unsigned i = 0; i < VCM_LIMIT_JSON_DEPTH; i++)
        vcm_buf_append_string(&text, i % 2 ? "{\"a\":" : "[");
    vcm_buf_append_string(&text, "1");
    for (unsigned i = VCM_LIMIT_JSON_DEPTH; i-- > 0;)
        vcm_buf_append_string(&text, i % 2 ? "}" : "]");
    parse(vcm_buf_text(&text));

    vcm_buf_clear(&text);
    for (unsigned i = 0; i < 500000; i++)
        vcm_buf_append_byte(&text, '[');
    check_refused(vcm_buf_slice(&text), "invalid JSON at line 1, column 65: nested too deeply");
    vcm_buf_release(&text);
}

static void a_full_arena_is_told_from_bad_json(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_json *json;
    struct vcm_arena small;

    vcm_arena_init(&small, 1000);
    int rc =
        vcm_json_parse(&json, &small, vcm_slice_of_string("[1,2,3,4,5,6,7,8,9,10,11,12,13]"), &err);
    assert_int_equal(rc, VCM_UNSUPPORTED);
    assert_null(json);
    vcm_arena_release(&small);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, make_arena, drop_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(values_of_every_kind_are_read_in_order),
        WITH_ARENA(getters_answer_otherwise_when_kinds_differ),
        WITH_ARENA(integers_that_fit_are_exact_and_others_are_numbers),
        WITH_ARENA(strings_are_unescaped),
        WITH_ARENA(lone_surrogates_are_replaced_and_nothing_is_lost),
        WITH_ARENA(keys_are_unescaped_too),
        WITH_ARENA(what_is_no_json_is_refused),
        WITH_ARENA(a_refusal_names_line_and_column),
        WITH_ARENA(surrogates_and_overlong_forms_are_no_utf8),
        WITH_ARENA(duplicate_keys_are_refused),
        WITH_ARENA(large_objects_find_duplicates_at_once),
        WITH_ARENA(nesting_ends_at_the_limit),
        WITH_ARENA(a_full_arena_is_told_from_bad_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
