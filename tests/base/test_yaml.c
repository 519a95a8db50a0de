#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/yaml.h"

#include "base/banned.h"

static struct vcm_arena arena;

static int make_arena(void **state)
{
    (void)state;
    vcm_arena_init(&arena, 64 * VCM_MIB);
    return 0;
}

static int drop_arena(void **state)
{
    (void)state;
    vcm_arena_release(&arena);
    return 0;
}

static struct vcm_yaml *parse(const char *text)
{
    struct vcm_error err = {0};
    struct vcm_yaml_mark mark;
    struct vcm_yaml *yaml;
    if (vcm_yaml_parse(&yaml, &mark, &arena, vcm_slice_of_string(text), &err) != VCM_OK)
        fail_msg("%s: %u:%u %s", text, mark.line, mark.column, err.message);
    return yaml;
}

static void check_refused_slice(struct vcm_slice text, unsigned line, unsigned column,
                                const char *message)
{
    struct vcm_error err = {0};
    struct vcm_yaml_mark mark;
    struct vcm_yaml *yaml = (struct vcm_yaml *)&err;
    int rc = vcm_yaml_parse(&yaml, &mark, &arena, text, &err);
    if (rc != VCM_INVALID_ARGUMENT || yaml || mark.line != line || mark.column != column ||
        (message && strcmp(err.message, message) != 0))
        fail_msg("'%.60s': %d, %u:%u %s", text.data, rc, mark.line, mark.column, err.message);
}

static void check_refused(const char *text, unsigned line, unsigned column, const char *message)
{
    check_refused_slice(vcm_slice_of_string(text), line, column, message);
}

static void check_place(const struct vcm_yaml *node, unsigned line, unsigned column,
                        unsigned end_line, unsigned end_column)
{
    assert_non_null(node);
    assert_int_equal(node->line, line);
    assert_int_equal(node->column, column);
    assert_int_equal(node->end_line, end_line);
    assert_int_equal(node->end_column, end_column);
}

static void mappings_and_sequences_become_a_tree(void **state)
{
    (void)state;
    struct vcm_yaml *map =
        parse("# comment\nname: x\nlist:\n  - a\n  - [b, {c: d}]\nname: again\n");

    assert_int_equal(map->kind, VCM_YAML_MAPPING);
    assert_int_equal(map->count, 3);
    assert_string_equal(vcm_yaml_get(map, "name")->text.data, "x");
    const struct vcm_yaml *list = vcm_yaml_get(map, "list");
    assert_int_equal(list->kind, VCM_YAML_SEQUENCE);
    assert_int_equal(list->count, 2);
    assert_null(list->first->key);
    const struct vcm_yaml *inner = list->first->next->first->next;
    assert_string_equal(vcm_yaml_get(inner, "c")->text.data, "d");
    assert_string_equal(list->next->key->text.data, "name");
    assert_string_equal(list->next->text.data, "again");
    assert_null(list->next->next);
    assert_null(vcm_yaml_get(map, "none"));
    assert_null(vcm_yaml_get(list, "a"));
    assert_null(vcm_yaml_get(NULL, "a"));
}

static void nodes_know_where_they_stood(void **state)
{
    (void)state;
    struct vcm_yaml *map = parse("\xef\xbb\xbf\xc3\xa9\xc3\xa9: \"q\"\nlist:\n"
                                 "  - a b\n  - [1,\n     2]\n\nlast: z\n");

    check_place(map, 1, 1, 7, 8);
    check_place(map->first->key, 1, 1, 1, 3);
    check_place(map->first, 1, 5, 1, 8);
    const struct vcm_yaml *list = vcm_yaml_get(map, "list");
    check_place(list, 3, 3, 5, 8);
    check_place(list->first, 3, 5, 3, 8);
    check_place(list->first->next, 4, 5, 5, 8);
    check_place(list->first->next->first->next, 5, 6, 5, 7);
}

static void check_scalar(const char *text, enum vcm_yaml_kind kind, int64_t value)
{
    struct vcm_buf document = VCM_BUF_INIT(256);
    vcm_buf_append_format(&document, "[%s]", text);
    const struct vcm_yaml *node = parse(vcm_buf_text(&document))->first;
    if (node->kind != kind)
        fail_msg("%s is of kind %d", text, (int)node->kind);
    if (kind == VCM_YAML_INT)
        assert_true(node->integer == value);
    if (kind == VCM_YAML_BOOL)
        assert_int_equal(node->boolean, value);
    vcm_buf_release(&document);
}

static void plain_scalars_resolve_by_the_core_schema(void **state)
{
    (void)state;
    static const char *const nulls[] = {"null", "Null", "NULL", "~"};
    static const char *const floats[] = {"1.5",
                                         "-.5",
                                         "1.",
                                         "1e3",
                                         "+1.E-2",
                                         ".inf",
                                         "-.Inf",
                                         "+.INF",
                                         ".nan",
                                         ".NaN",
                                         ".NAN",
                                         "9223372036854775808",
                                         "0xffffffffffffffff",
                                         "0o7777777777777777777777"};
    static const char *const strings[] = {
        "yes",   "on",    "No", "y",   "nULL",       "tRUE",  "0o8", "0xg", "-0x1",
        "0b1",   "1_000", "1e", ".",   "+",          "12:30", "0x",  "0o",  "1.5.2",
        "-.nan", ".iNF",  "e3", "1e+", "2001-01-01", "<<",    "=",   "0O7", "0X1"};

    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        check_scalar(nulls[i], VCM_YAML_NULL, 0);
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        check_scalar(floats[i], VCM_YAML_FLOAT, 0);
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        check_scalar(strings[i], VCM_YAML_STRING, 0);
    check_scalar("true", VCM_YAML_BOOL, 1);
    check_scalar("True", VCM_YAML_BOOL, 1);
    check_scalar("TRUE", VCM_YAML_BOOL, 1);
    check_scalar("false", VCM_YAML_BOOL, 0);
    check_scalar("False", VCM_YAML_BOOL, 0);
    check_scalar("FALSE", VCM_YAML_BOOL, 0);
    check_scalar("0777", VCM_YAML_INT, 777);
    check_scalar("+12", VCM_YAML_INT, 12);
    check_scalar("-0", VCM_YAML_INT, 0);
    check_scalar("0o17", VCM_YAML_INT, 15);
    check_scalar("0xFf", VCM_YAML_INT, 255);
    check_scalar("9223372036854775807", VCM_YAML_INT, INT64_MAX);
    check_scalar("-9223372036854775808", VCM_YAML_INT, INT64_MIN);
}

static void quoted_and_block_scalars_are_strings(void **state)
{
    (void)state;
    struct vcm_yaml *map =
        parse("a: '1'\nb: \"null\"\nc: |\n  true\nd: >-\n  5\ne: \"\"\nf:\ng: \"\\u00e9\\n\"\n");

    for (const struct vcm_yaml *value = map->first; value; value = value->next)
        if (strcmp(value->key->text.data, "f") != 0)
            assert_int_equal(value->kind, VCM_YAML_STRING);
    assert_string_equal(vcm_yaml_get(map, "c")->text.data, "true\n");
    assert_string_equal(vcm_yaml_get(map, "d")->text.data, "5");
    assert_int_equal(vcm_yaml_get(map, "f")->kind, VCM_YAML_NULL);
    assert_string_equal(vcm_yaml_get(map, "f")->text.data, "");
    assert_string_equal(vcm_yaml_get(map, "g")->text.data, "\xc3\xa9\n");
}

static void a_document_without_content_is_nothing(void **state)
{
    (void)state;
    static const char *const empty[] = {"",      "\xef\xbb\xbf", "\n\n", "# only a comment\n",
                                        "---\n", "---\n...\n"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
        assert_null(parse(empty[i]));
    assert_int_equal(parse("null")->kind, VCM_YAML_NULL);
    assert_int_equal(parse("''")->kind, VCM_YAML_STRING);
}

static void a_version_directive_is_accepted(void **state)
{
    (void)state;
    assert_string_equal(parse("%YAML 1.2\n---\na\n")->text.data, "a");
    assert_string_equal(parse("%YAML 1.1\n---\na\n...\n")->text.data, "a");
}

static void whatever_is_more_than_data_is_refused(void **state)
{
    (void)state;
    check_refused("a: !!str 1\n", 1, 4, "tags are not allowed");
    check_refused("a: ! 1\n", 1, 4, "tags are not allowed");
    check_refused("!local a\n", 1, 1, "tags are not allowed");
    check_refused("a: !x [1]\n", 1, 4, "tags are not allowed");
    check_refused("!<tag:x,2000:y> {a: b}\n", 1, 1, "tags are not allowed");
    check_refused("!!str a: b\n", 1, 1, "tags are not allowed");
    check_refused("a: &x 1\n", 1, 4, "anchors are not allowed");
    check_refused("a: &x [1]\n", 1, 4, "anchors are not allowed");
    check_refused("a: &x\n  b: c\n", 1, 4, "anchors are not allowed");
    check_refused("a: *x\n", 1, 4, "aliases are not allowed");
    check_refused("*x : 1\n", 1, 1, "aliases are not allowed");
    check_refused("b: 1\n<<: {a: 1}\n", 2, 1, "merge keys are not allowed");
    check_refused("a: {<<: 1}\n", 1, 5, "merge keys are not allowed");
    check_refused("%TAG ! tag:x,2000:\n---\na\n", 1, 1, "%TAG directives are not allowed");
    check_refused("a\n---\nb\n", 2, 1, "only one document is allowed");
    check_refused("---\n---\n", 2, 1, "only one document is allowed");
    check_refused("[a]: b\n", 1, 1, "a key must be a scalar");
    check_refused("? {a: b}\n: c\n", 1, 3, "a key must be a scalar");
    check_refused("a: \"x\\0y\"\n", 1, 4, "a NUL is not allowed");
    parse("'<<': 1\n");
}

static void syntax_errors_name_their_place(void **state)
{
    (void)state;
    check_refused("a: [1\nb: 2\n", 2, 2, NULL);
    check_refused("a: b: c\n", 1, 5, "mapping values are not allowed in this context");
    check_refused("a: 1\n\tb: 2\n", 2, 1, NULL);
    check_refused("\xc3\xa9: @x\n", 1, 4, NULL);
    check_refused("%YAML 9.9\n---\na\n", 1, 1, NULL);
    check_refused("a: 'open\n", 2, 1, NULL);
}

static void bytes_that_are_no_text_are_refused_with_their_place(void **state)
{
    (void)state;
    check_refused("a: b\r\n\xc3\xa9: \xff\n", 2, 4, "invalid UTF-8");
    check_refused("a\rb\xed\xa0\x80", 2, 2, "invalid UTF-8");
    check_refused_slice(vcm_slice_of("a: b\n\xc3\xa9\0\xff", 9), 2, 2, "a NUL is not allowed");
    check_refused("a: b\nc: \x01\n", 2, 4, NULL);
}

static void nesting_ends_at_the_limit(void **state)
{
    (void)state;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    for (unsigned i = 0; i < VCM_LIMIT_YAML_DEPTH; i++)
        vcm_buf_append_string(&text, "[");
    for (unsigned i = 0; i < VCM_LIMIT_YAML_DEPTH; i++)
        vcm_buf_append_string(&text, "]");
    parse(vcm_buf_text(&text));
    vcm_buf_clear(&text);
    for (unsigned i = 0; i < VCM_MIB / 4; i++)
        vcm_buf_append_byte(&text, '[');
    check_refused(vcm_buf_text(&text), 1, VCM_LIMIT_YAML_DEPTH + 1, "nested too deeply");
    vcm_buf_clear(&text);
    for (unsigned i = 0; i < 3000; i++)
        vcm_buf_append_string(&text, "- ");
    check_refused(vcm_buf_text(&text), 1, 2 * VCM_LIMIT_YAML_DEPTH + 1, "nested too deeply");
    vcm_buf_release(&text);
}

/* libyaml alone takes seconds for these. */
static void many_tag_directives_are_refused_at_once(void **state)
{
    (void)state;
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    for (unsigned i = 0; i < 50000; i++)
        vcm_buf_append_format(&text, "%%TAG !a%u! x\n", i);
    check_refused(vcm_buf_text(&text), 65, 1, "%TAG directives are not allowed");
    vcm_buf_release(&text);
    assert_string_equal(parse("a: '%TAG %TAG'\n")->first->text.data, "%TAG %TAG");
}

static void a_key_counts_with_its_value(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);

    (void)state;
    for (size_t i = 1; i < VCM_LIMIT_YAML_NODES; i++)
        vcm_buf_append_format(&text, "k%zu: v\n", i);
    assert_int_equal(parse(vcm_buf_text(&text))->count, VCM_LIMIT_YAML_NODES - 1);
    vcm_buf_append_string(&text, "last: v\n");
    check_refused(vcm_buf_text(&text), VCM_LIMIT_YAML_NODES, 7, "the document has too many nodes");
    vcm_buf_release(&text);
}

static void nodes_and_bytes_end_at_the_limit(void **state)
{
    (void)state;
    struct vcm_buf text = VCM_BUF_INIT(2 * VCM_MIB);

    for (size_t i = 1; i < VCM_LIMIT_YAML_NODES; i++)
        vcm_buf_append_string(&text, "- a\n");
    assert_int_equal(parse(vcm_buf_text(&text))->count, VCM_LIMIT_YAML_NODES - 1);
    vcm_buf_append_string(&text, "- a\n");
    check_refused(vcm_buf_text(&text), VCM_LIMIT_YAML_NODES, 3, "the document has too many nodes");

    vcm_buf_clear(&text);
    vcm_buf_append_byte(&text, '#');
    while (text.len < VCM_LIMIT_YAML_BYTES)
        vcm_buf_append_byte(&text, 'x');
    assert_null(parse(vcm_buf_text(&text)));
    vcm_buf_append_byte(&text, 'x');
    check_refused(vcm_buf_text(&text), 0, 0, NULL);
    vcm_buf_release(&text);
}

static void a_full_arena_is_told_from_bad_yaml(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_yaml_mark mark;
    struct vcm_yaml *yaml;
    struct vcm_arena small;

    vcm_arena_init(&small, 300);
    int rc = vcm_yaml_parse(&yaml, &mark, &small, vcm_slice_of_string("[1,2,3,4]"), &err);
    assert_int_equal(rc, VCM_UNSUPPORTED);
    assert_null(yaml);
    vcm_arena_release(&small);
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, make_arena, drop_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(mappings_and_sequences_become_a_tree),
        WITH_ARENA(nodes_know_where_they_stood),
        WITH_ARENA(plain_scalars_resolve_by_the_core_schema),
        WITH_ARENA(quoted_and_block_scalars_are_strings),
        WITH_ARENA(a_document_without_content_is_nothing),
        WITH_ARENA(a_version_directive_is_accepted),
        WITH_ARENA(whatever_is_more_than_data_is_refused),
        WITH_ARENA(syntax_errors_name_their_place),
        WITH_ARENA(bytes_that_are_no_text_are_refused_with_their_place),
        WITH_ARENA(nesting_ends_at_the_limit),
        WITH_ARENA(many_tag_directives_are_refused_at_once),
        WITH_ARENA(a_key_counts_with_its_value),
        WITH_ARENA(nodes_and_bytes_end_at_the_limit),
        WITH_ARENA(a_full_arena_is_told_from_bad_yaml),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
