#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "ops/schema.h"

#include "base/banned.h"

struct inner {
    const char *name;
    uint32_t count;
};

struct outer {
    const char *text, *nothing, *piece;
    size_t piece_len;
    char chars[8];
    uint64_t large, zero;
    int64_t known, unknown;
    bool yes;
    double ratio;
    const char *const *words;
    size_t word_count;
    struct inner here;
    const struct inner *there, *nowhere;
    const struct inner *list;
    size_t list_count;
};

static void put_sum(struct vcm_jsonw *w, const void *from)
{
    const struct outer *outer = from;

    vcm_jsonw_uint(w, outer->large + (uint64_t)outer->known);
}

static const char *const names[] = {"a", "b", NULL};

static const struct vcm_result_member inner_members[] = {
    {.name = "name",
     VCM_RESULT_FIELD(struct inner, name),
     .choices = names,
     .summary = "one of two"},
    {.name = "count", VCM_RESULT_FIELD_OR_NULL(struct inner, count), .summary = "or null"},
    {0},
};

static const struct vcm_result_member group_members[] = {
    {.name = "yes", VCM_RESULT_FIELD(struct outer, yes), .summary = "a flag"},
    {0},
};

static const struct vcm_result_member members[] = {
    {.name = "text", VCM_RESULT_FIELD(struct outer, text), .summary = "s"},
    {.name = "nothing", VCM_RESULT_FIELD_OR_NULL(struct outer, nothing), .summary = "s"},
    {.name = "piece", VCM_RESULT_TEXT_FIELD(struct outer, piece, piece_len), .summary = "s"},
    {.name = "chars", VCM_RESULT_FIELD(struct outer, chars), .summary = "s"},
    {.name = "large", VCM_RESULT_FIELD(struct outer, large), .summary = "s"},
    {.name = "zero", VCM_RESULT_FIELD(struct outer, zero), .summary = "s"},
    {.name = "zero_or_null", VCM_RESULT_FIELD_OR_NULL(struct outer, zero), .summary = "s"},
    {.name = "known", VCM_RESULT_FIELD_OR_NULL(struct outer, known), .summary = "s"},
    {.name = "unknown", VCM_RESULT_FIELD_OR_NULL(struct outer, unknown), .summary = "s"},
    {.name = "ratio", VCM_RESULT_FIELD(struct outer, ratio), .summary = "s"},
    {.name = "sum", .type = VCM_RESULT_INTEGER, .put = put_sum, .summary = "s"},
    {.name = "words", VCM_RESULT_STRINGS(struct outer, words, word_count), .summary = "s"},
    {.name = "here", VCM_RESULT_INNER(struct outer, here, inner_members), .summary = "s"},
    {.name = "there", VCM_RESULT_INNER_OR_NULL(struct outer, there, inner_members), .summary = "s"},
    {.name = "nowhere",
     VCM_RESULT_INNER_OR_NULL(struct outer, nowhere, inner_members),
     .summary = "s"},
    {.name = "list",
     VCM_RESULT_STRUCTS(struct outer, list, list_count, inner_members),
     .summary = "s"},
    {.name = "group", VCM_RESULT_GROUP(group_members), .summary = "s"},
    {VCM_RESULT_SPLICE(struct outer, here, inner_members)},
    {VCM_RESULT_SPLICE_GROUP(group_members)},
    {0},
};

static void every_kind_of_field_is_written_in_the_order_of_the_table(void **state)
{
    static const char *const words[] = {"x", "y"};
    static const struct inner list[] = {{"a", 1}, {"b", 0}};
    const struct outer outer = {
        .text = "t",
        .piece = "12345",
        .piece_len = 2,
        .chars = "abc",
        .large = UINT64_MAX - 3,
        .known = 3,
        .unknown = -1,
        .yes = true,
        .ratio = 0.25,
        .words = words,
        .word_count = 2,
        .here = {"a", 7},
        .there = &list[1],
        .list = list,
        .list_count = 2,
    };
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    struct vcm_jsonw w;

    (void)state;
    vcm_jsonw_init(&w, &out);
    vcm_result_put(&w, members, &outer);
    assert_string_equal(
        vcm_buf_text(&out),
        "{\"text\":\"t\",\"nothing\":null,\"piece\":\"12\",\"chars\":\"abc\","
        "\"large\":18446744073709551612,\"zero\":0,\"zero_or_null\":null,\"known\":3,"
        "\"unknown\":null,\"ratio\":0.25,\"sum\":18446744073709551615,\"words\":[\"x\",\"y\"],"
        "\"here\":{\"name\":\"a\",\"count\":7},\"there\":{\"name\":\"b\",\"count\":null},"
        "\"nowhere\":null,\"list\":[{\"name\":\"a\",\"count\":1},{\"name\":\"b\",\"count\":null}],"
        "\"group\":{\"yes\":true},\"name\":\"a\",\"count\":7,\"yes\":true}");
    vcm_buf_release(&out);
}

static void members_that_are_written_by_hand_are_left_to_the_caller(void **state)
{
    static const struct vcm_result_member some[] = {
        {.name = "text", VCM_RESULT_FIELD(struct outer, text), .summary = "s"},
        {.name = "hand", .type = VCM_RESULT_BOOL, .summary = "s"},
        {.name = "zero", VCM_RESULT_FIELD(struct outer, zero), .summary = "s"},
        {0},
    };
    const struct outer outer = {.text = "t"};
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    struct vcm_jsonw w;

    (void)state;
    vcm_jsonw_init(&w, &out);
    vcm_jsonw_begin_object(&w);
    const struct vcm_result_member *hand = vcm_result_put_members(&w, some, &outer);
    assert_string_equal(hand->name, "hand");
    vcm_jsonw_member_bool(&w, hand->name, true);
    assert_null(vcm_result_put_members(&w, hand + 1, &outer)->name);
    vcm_jsonw_end_object(&w);
    assert_string_equal(vcm_buf_text(&out), "{\"text\":\"t\",\"hand\":true,\"zero\":0}");
    vcm_buf_release(&out);
}

static void a_schema_says_what_may_come(void **state)
{
    static const struct vcm_result_member node[2] = {
        {.name = "inner",
         .type = VCM_RESULT_OBJECT,
         .nullable = true,
         .members = node,
         .defined = "node",
         .summary = "s"},
        {0},
    };
    static const struct vcm_result_member some[] = {
        {.name = "words",
         .type = VCM_RESULT_TEXT,
         .is_list = true,
         .nullable = true,
         .summary = "w"},
        {.name = "value", .type = VCM_RESULT_SCALAR, .optional = true, .summary = "v"},
        {VCM_RESULT_SPLICE(struct outer, here, inner_members)},
        {.name = "node",
         .type = VCM_RESULT_OBJECT,
         .members = node,
         .defined = "node",
         .summary = "n"},
        {0},
    };
    static const struct vcm_op op = {.name = "some", .summary = "thing", .result = some};
    struct vcm_buf out = VCM_BUF_INIT(VCM_MIB);
    struct vcm_jsonw w;

    (void)state;
    vcm_jsonw_init(&w, &out);
    vcm_schema_put(&w, &op);
    assert_string_equal(
        vcm_buf_text(&out),
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"vcm some\","
        "\"description\":\"thing\",\"type\":\"object\",\"$defs\":{\"node\":{\"type\":\"object\","
        "\"properties\":{\"inner\":{\"description\":\"s\",\"anyOf\":[{\"$ref\":\"#/$defs/node\"},"
        "{\"type\":\"null\"}]}},\"required\":[\"inner\"],\"additionalProperties\":false}},"
        "\"properties\":{\"words\":{\"description\":\"w\",\"type\":[\"array\",\"null\"],"
        "\"items\":{\"type\":\"string\"}},\"value\":{\"description\":\"v\","
        "\"type\":[\"string\",\"integer\",\"boolean\"]},\"name\":{\"description\":\"one of two\","
        "\"type\":\"string\",\"enum\":[\"a\",\"b\"]},\"count\":{\"description\":\"or null\","
        "\"type\":[\"integer\",\"null\"],\"minimum\":0},\"node\":{\"description\":\"n\","
        "\"$ref\":\"#/$defs/node\"}},\"required\":[\"words\",\"name\",\"count\",\"node\"],"
        "\"additionalProperties\":false}");
    vcm_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_field_is_written_in_the_order_of_the_table),
        cmocka_unit_test(members_that_are_written_by_hand_are_left_to_the_caller),
        cmocka_unit_test(a_schema_says_what_may_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
