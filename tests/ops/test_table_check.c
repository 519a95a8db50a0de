/* The rules for descriptors of operations: every operation keeps them, and breaking one is noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "ops/table.h"
#include "ops/table_check.h"

#include "base/banned.h"

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    (void)call;
    (void)err;
    return VCM_OK;
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    (void)out;
    (void)document;
    (void)call;
}

static const char *const examples[] = {"vcm try this", NULL};
static const char *const words[] = {"a", "b", NULL};
static const char *const no_words[] = {NULL};

#define PARAM(n)                                                                                   \
    {                                                                                              \
        .name = (n), .type = VCM_OP_TEXT, .placeholder = "X", .summary = "s"                       \
    }
#define MEMBER(n)                                                                                  \
    {                                                                                              \
        .name = (n), .type = VCM_RESULT_TEXT, .summary = "s"                                       \
    }

struct broken {
    struct vcm_op op;
    struct vcm_op_param params[2];
    struct vcm_result_member result[3];
    struct vcm_op_document also[2];
};

/* A sound descriptor, to break. */
static void make(struct broken *b)
{
    *b = (struct broken){
        .op = {.name = "try",
               .summary = "s",
               .description = "d",
               .examples = examples,
               .param_count = 2,
               .run = run,
               .print = print},
        .params = {PARAM("one"), PARAM("two")},
        .result = {MEMBER("first"), MEMBER("second"), {0}},
        .also = {{.when = "with --one", .members = b->result}, {0}},
    };
    b->op.params = b->params;
    b->op.result = b->result;
    b->op.also = b->also;
    b->params[0].positional = b->params[1].positional = true;
    assert_null(vcm_table_check_flaw(&b->op));
}

/* Breaks one field of a sound descriptor. */
#define ASSERT_FLAW(field, value)                                                                  \
    do {                                                                                           \
        struct broken b;                                                                           \
        make(&b);                                                                                  \
        b.field = (value);                                                                         \
        assert_non_null(vcm_table_check_flaw(&b.op));                                              \
    } while (0)

static void every_operation_keeps_the_rules(void **state)
{
    (void)state;
    assert_null(vcm_table_check_list_flaw(vcm_ops));
    for (size_t i = 0; vcm_ops[i]; i++) {
        const char *flaw = vcm_table_check_flaw(vcm_ops[i]);
        if (flaw)
            fail_msg("%s: %s", vcm_ops[i]->name, flaw);
    }
}

static void a_broken_operation_is_noticed(void **state)
{
    (void)state;
    ASSERT_FLAW(op.name, "Try");
    ASSERT_FLAW(op.name, "try it now");
    ASSERT_FLAW(op.name, "other");
    ASSERT_FLAW(op.summary, NULL);
    ASSERT_FLAW(op.run, NULL);
    ASSERT_FLAW(op.print, NULL);
    ASSERT_FLAW(op.params, NULL);
    ASSERT_FLAW(op.result, NULL);
    ASSERT_FLAW(op.examples, no_words);
    ASSERT_FLAW(also[0].when, NULL);
}

static void a_broken_listing_is_noticed(void **state)
{
    static const struct vcm_result_member row[] = {MEMBER("id"), {0}};
    static const struct vcm_result_member whole[] = {
        {.name = "rows",
         .type = VCM_RESULT_OBJECT,
         .is_list = true,
         .members = row,
         .summary = "s"},
        MEMBER("other"),
        VCM_ANSWER_MEMBERS,
        {0},
    };
    static const struct vcm_op_list lists[] = {
        {"rows", {NULL}}, {"rows", {"name"}}, {"other", {"id"}}, {"none", {"id"}}, {NULL, {"id"}},
    };
    struct broken b;

    (void)state;
    make(&b);
    b.op.result = whole;
    b.op.list = (struct vcm_op_list){"rows", {"id"}};
    assert_null(vcm_table_check_flaw(&b.op));
    for (size_t i = 0; i < VCM_OP_COUNT(lists); i++) {
        b.op.list = lists[i];
        assert_non_null(vcm_table_check_flaw(&b.op));
    }
    b.op.list = (struct vcm_op_list){"rows", {"id"}};
    b.params[0].name = "limit";
    assert_non_null(vcm_table_check_flaw(&b.op));
    make(&b);
    b.op.list = (struct vcm_op_list){"first", {"id"}};
    assert_non_null(vcm_table_check_flaw(&b.op));
}

static void a_broken_parameter_is_noticed(void **state)
{
    (void)state;
    ASSERT_FLAW(params[1].name, "one");
    ASSERT_FLAW(params[0].letter, 'o'); /* it is positional */
    ASSERT_FLAW(params[1].required, true);
    ASSERT_FLAW(params[0].repeated, true);
    ASSERT_FLAW(params[0].summary, NULL);
    ASSERT_FLAW(params[0].placeholder, NULL);
    ASSERT_FLAW(params[0].type, VCM_OP_FLAG);
    ASSERT_FLAW(params[0].type, VCM_OP_CHOICE);
    ASSERT_FLAW(params[0].choices, words);

    struct broken b;
    make(&b);
    b.params[0].type = VCM_OP_NUMBER;
    b.params[0].min = 2;
    b.params[0].max = 1;
    assert_non_null(vcm_table_check_flaw(&b.op));
    b.params[0].max = 2;
    assert_null(vcm_table_check_flaw(&b.op));
    b.params[0].required = true;
    b.params[0].default_text = "2";
    assert_non_null(vcm_table_check_flaw(&b.op));
}

static void a_broken_result_is_noticed(void **state)
{
    (void)state;
    ASSERT_FLAW(result[0].name, NULL); /* the table ends before it begins */
    ASSERT_FLAW(result[1].name, "first");
    ASSERT_FLAW(result[1].summary, NULL);
    ASSERT_FLAW(result[1].type, VCM_RESULT_OBJECT);
    ASSERT_FLAW(result[1].choices, no_words);
    ASSERT_FLAW(result[1].is_spliced, true);
    ASSERT_FLAW(result[1].unset_is_null, true);
    ASSERT_FLAW(result[1].field, VCM_RESULT_STRUCT);

    struct broken b;
    make(&b);
    b.result[1].type = VCM_RESULT_OBJECT;
    b.result[1].members = b.result; /* in a circle, and not defined */
    assert_non_null(vcm_table_check_flaw(&b.op));
    b.result[1].defined = "itself";
    assert_null(vcm_table_check_flaw(&b.op));
}

static void a_broken_tool_is_noticed(void **state)
{
    static char long_summary[VCM_OP_TOOL_SUMMARY_BYTES + 2];
    struct broken b;

    (void)state;
    for (size_t i = 0; i <= VCM_OP_TOOL_SUMMARY_BYTES; i++)
        long_summary[i] = '.';
#define TOOL(...)                                                                                  \
    (make(&b),                                                                                     \
     b.op.tool =                                                                                   \
         (struct vcm_op_tool){                                                                     \
             .sets = VCM_OP_SET_KB, .title = "T", .summary = "Tries.", .effects = VCM_OP_WRITES},  \
     __VA_ARGS__, vcm_table_check_flaw(&b.op))
    assert_null(TOOL(b.op.tool.title = "U"));
    assert_non_null(TOOL(b.op.tool.sets = 0));
    assert_non_null(TOOL(b.op.tool.title = NULL));
    assert_non_null(TOOL(b.op.tool.summary = NULL));
    assert_non_null(TOOL(b.op.tool.summary = "no sentence"));
    assert_non_null(TOOL(b.op.tool.summary = long_summary));
    assert_non_null(TOOL(b.op.is_stream = true));
    assert_non_null(TOOL(b.op.tool.effects = VCM_OP_DESTROYS));
    assert_non_null(TOOL(b.op.tool.effects = VCM_OP_IDEMPOTENT));
    assert_non_null(TOOL(b.params[0].hint = VCM_OP_HINT_DIRECTORY));
    assert_non_null(TOOL(b.params[0].required = true, b.params[0].reach = VCM_OP_REACH_HERE));
#undef TOOL
}

/* What changes a repository, settings or other programs is for a person. */
static void some_operations_are_never_tools(void **state)
{
    static const char *const never[] = {"init",     "promote",    "config set", "kb clear",
                                        "lfs pull", "lfs status", "watch",      NULL};
    unsigned seen = 0;

    (void)state;
    for (size_t i = 0; vcm_ops[i]; i++)
        for (size_t j = 0; never[j]; j++)
            if (strcmp(vcm_ops[i]->name, never[j]) == 0) {
                assert_int_equal(vcm_ops[i]->tool.sets, 0);
                seen++;
            }
    assert_int_equal(seen, sizeof never / sizeof never[0] - 1);
}

static void a_table_without_an_end_is_noticed(void **state)
{
    static struct vcm_result_member members[100];
    static char names[100][4];
    struct broken b;

    (void)state;
    make(&b);
    for (unsigned i = 0; i < 99; i++) {
        names[i][0] = (char)('a' + i / 26);
        names[i][1] = (char)('a' + i % 26);
        members[i] = (struct vcm_result_member)MEMBER(names[i]);
    }
    b.op.result = members;
    assert_non_null(vcm_table_check_flaw(&b.op));
}

static void a_broken_list_is_noticed(void **state)
{
    static const struct vcm_op a = {.name = "a"}, a_again = {.name = "a"}, b = {.name = "b"},
                               f_one = {.name = "f one"}, f_two = {.name = "f two"},
                               f = {.name = "f"};
    static const struct vcm_op *const sound[] = {&a, &f_one, &f_two, &b, NULL};
    static const struct vcm_op *const twice[] = {&a, &b, &a_again, NULL};
    static const struct vcm_op *const apart[] = {&f_one, &a, &f_two, NULL};
    static const struct vcm_op *const both[] = {&f, &f_one, &f_two, NULL};
    static const struct vcm_op *const both_apart[] = {&f, &a, &f_one, NULL};

    (void)state;
    assert_null(vcm_table_check_list_flaw(sound));
    assert_non_null(vcm_table_check_list_flaw(twice));
    assert_non_null(vcm_table_check_list_flaw(apart));
    assert_null(vcm_table_check_list_flaw(both));
    assert_non_null(vcm_table_check_list_flaw(both_apart));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_keeps_the_rules),
        cmocka_unit_test(a_broken_operation_is_noticed),
        cmocka_unit_test(a_broken_listing_is_noticed),
        cmocka_unit_test(a_broken_parameter_is_noticed),
        cmocka_unit_test(a_broken_result_is_noticed),
        cmocka_unit_test(a_broken_tool_is_noticed),
        cmocka_unit_test(some_operations_are_never_tools),
        cmocka_unit_test(a_table_without_an_end_is_noticed),
        cmocka_unit_test(a_broken_list_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
