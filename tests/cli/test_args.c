/* The command line, on a table of commands made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "cli/args.h"
#include "ops/table.h"

#include "base/banned.h"

enum { WORD, IGNORE_CASE, LITERAL, CONTEXT };

static const struct vcm_op_param params[] = {
    [WORD] = {.name = "word",
              .type = VCM_OP_TEXT,
              .positional = true,
              .placeholder = "WORD",
              .summary = "s"},
    [IGNORE_CASE] = {.name = "ignore-case", .letter = 'i', .type = VCM_OP_FLAG, .summary = "s"},
    [LITERAL] = {.name = "literal", .letter = 'F', .type = VCM_OP_FLAG, .summary = "s"},
    [CONTEXT] = {.name = "context",
                 .letter = 'C',
                 .type = VCM_OP_NUMBER,
                 .max = 100,
                 .placeholder = "N",
                 .summary = "s"},
};

#define OPERATION(n)                                                                               \
    {                                                                                              \
        .name = (n), .params = params, .param_count = VCM_OP_COUNT(params)                         \
    }
static const struct vcm_op symbols = OPERATION("symbols"), search = OPERATION("symbols search"),
                           card = OPERATION("symbols card"), get = OPERATION("config get");

/* In place of the table of the program. */
const struct vcm_op *const vcm_ops[] = {&symbols, &search, &card, &get, NULL};

/* Parses the words behind "vcm", which NULL ends. */
static int parse(struct vcm_args *args, struct vcm_error *err, const char *const *words)
{
    const char *all[16] = {"vcm"};
    int count = 1;

    while (words[count - 1]) {
        all[count] = words[count - 1];
        count++;
    }
    vcm_error_reset(err);
    return vcm_args_parse(args, count, all, err);
}
#define PARSE(...) parse(&args, &err, (const char *const[]){__VA_ARGS__, NULL})

#define ASSERT_COMMAND(op_wanted, ...)                                                             \
    do {                                                                                           \
        assert_int_equal(PARSE(__VA_ARGS__), VCM_OK);                                              \
        assert_ptr_equal(args.op, &(op_wanted));                                                   \
        vcm_args_release(&args);                                                                   \
    } while (0)

static void a_family_may_have_a_command_of_its_own_name(void **state)
{
    struct vcm_error err = {0};
    struct vcm_args args;

    (void)state;
    ASSERT_COMMAND(symbols, "symbols");
    ASSERT_COMMAND(symbols, "symbols", "other");
    ASSERT_COMMAND(symbols, "symbols", "-i", "search");
    ASSERT_COMMAND(symbols, "symbols", "--", "search");
    ASSERT_COMMAND(symbols, "symbols", "./search");
    ASSERT_COMMAND(search, "symbols", "search");
    ASSERT_COMMAND(search, "symbols", "search", "card");
    ASSERT_COMMAND(search, "--json", "symbols", "--home", "card", "-q", "search");
    ASSERT_COMMAND(search, "symbols", "--home=card", "search");
    ASSERT_COMMAND(symbols, "symbols", "--home", "search");
    ASSERT_COMMAND(card, "symbols", "--verbose", "card", "search");
}

static void a_family_without_one_needs_its_second_word(void **state)
{
    struct vcm_error err = {0};
    struct vcm_args args;

    (void)state;
    assert_int_equal(PARSE("config"), VCM_OK);
    assert_null(args.op);
    assert_string_equal(args.family, "config");
    vcm_args_release(&args);
    assert_int_equal(PARSE("config", "other"), VCM_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "config other"));
    vcm_args_release(&args);
}

static void options_have_letters(void **state)
{
    struct vcm_error err = {0};
    struct vcm_args args;

    (void)state;
    assert_int_equal(PARSE("symbols", "-iF", "-C", "3", "x"), VCM_OK);
    assert_true(args.values[IGNORE_CASE].is_set && args.values[LITERAL].is_set);
    assert_int_equal(args.values[CONTEXT].number, 3);
    assert_string_equal(args.values[WORD].text, "x");
    vcm_args_release(&args);
    assert_int_equal(PARSE("symbols", "-qiC17"), VCM_OK);
    assert_true(args.quiet && args.values[IGNORE_CASE].is_set && !args.values[LITERAL].is_set);
    assert_int_equal(args.values[CONTEXT].number, 17);
    vcm_args_release(&args);
    assert_int_equal(PARSE("symbols", "--", "-i"), VCM_OK);
    assert_string_equal(args.values[WORD].text, "-i");
    vcm_args_release(&args);
}

static void wrong_letters_are_refused(void **state)
{
    struct vcm_error err = {0};
    struct vcm_args args;

    (void)state;
    assert_int_equal(PARSE("symbols", "-C"), VCM_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "--context needs a value"));
    vcm_args_release(&args);
    assert_int_equal(PARSE("symbols", "-Cx"), VCM_INVALID_ARGUMENT);
    vcm_args_release(&args);
    assert_int_equal(PARSE("symbols", "-C", "101"), VCM_INVALID_ARGUMENT);
    vcm_args_release(&args);
    assert_int_equal(PARSE("symbols", "-iz"), VCM_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "-iz"));
    vcm_args_release(&args);
    assert_int_equal(PARSE("-i", "symbols"), VCM_INVALID_ARGUMENT);
    vcm_args_release(&args);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_may_have_a_command_of_its_own_name),
        cmocka_unit_test(a_family_without_one_needs_its_second_word),
        cmocka_unit_test(options_have_letters),
        cmocka_unit_test(wrong_letters_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
