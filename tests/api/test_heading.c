#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/heading.h"
#include "base/limits.h"

#include "base/banned.h"

/* Looks through parts, the last first, for what stands above line `before`. */
struct part {
    const char *text;
    uint32_t start_line, end_line;
};

static void assert_heading(uint32_t before, const struct part *parts, uint32_t count,
                           const char *expected)
{
    struct vcm_heading_search search = {.before = before};
    bool over = false;

    vcm_buf_init(&search.pending, VCM_MIB);
    vcm_buf_init(&search.found, VCM_MIB);
    for (uint32_t part = count; part > 0 && !over; part--)
        over = vcm_heading_step(&search, vcm_slice_of_string(parts[part - 1].text),
                                parts[part - 1].start_line, parts[part - 1].end_line, part);
    assert_true(over);
    assert_string_equal(vcm_buf_text(&search.found), expected);
    vcm_buf_release(&search.pending);
    vcm_buf_release(&search.found);
}

static void the_nearest_line_at_column_0_is_taken(void **state)
{
    const struct part one = {"int f(void)\n{\n  x;\n}\n\nstatic g()\n{\n", 1, 7};
    const struct part under = {"_start:\n\tmov\n# c\n9\n", 1, 4};

    (void)state;
    assert_heading(8, &one, 1, "static g()");
    assert_heading(6, &one, 1, "int f(void)");
    assert_heading(5, &under, 1, "_start:");
}

static void earlier_parts_are_looked_at_until_one_has_a_line(void **state)
{
    const struct part parts[] = {{"void f()\n{\n", 1, 2}, {"  a\n", 3, 3}, {"  b\n", 4, 4}};
    const struct part none[] = {{"  f()\n", 1, 1}, {"  a\n", 2, 2}};

    (void)state;
    assert_heading(5, parts, 3, "void f()");
    assert_heading(3, none, 2, "");
}

static void the_first_line_of_a_part_counts_when_it_begins_there(void **state)
{
    const struct part whole[] = {{"f()\n", 1, 1}, {"g()\n {\n", 2, 3}};
    const struct part inside[] = {{"f()\nlong ", 1, 2}, {"line\n {\n", 2, 3}};
    const struct part deep[] = {{"a\nlong ", 1, 2}, {"and ", 2, 2}, {"longer\n {\n", 2, 3}};

    (void)state;
    assert_heading(4, whole, 2, "g()");
    assert_heading(4, inside, 2, "long");
    assert_heading(4, deep, 3, "long");
    /* The line that the record itself goes on with is not above it. */
    assert_heading(2, deep, 2, "a");
}

static void a_long_line_is_cut_between_characters(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_MIB);

    (void)state;
    vcm_buf_append_byte(&text, 'x');
    while (text.len < 2 * VCM_LIMIT_CONTEXT_LINE_BYTES)
        vcm_buf_append_string(&text, "\xc3\xa9");
    vcm_buf_append_byte(&text, '\n');
    struct part part = {vcm_buf_text(&text), 1, 1};
    struct vcm_buf expected = VCM_BUF_INIT(VCM_MIB);
    vcm_buf_append(&expected, text.data, VCM_LIMIT_CONTEXT_LINE_BYTES - 1);
    assert_heading(2, &part, 1, vcm_buf_text(&expected));
    vcm_buf_release(&text);
    vcm_buf_release(&expected);
    part = (struct part){"f() \t\r\n", 1, 1};
    assert_heading(2, &part, 1, "f()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_line_at_column_0_is_taken),
        cmocka_unit_test(earlier_parts_are_looked_at_until_one_has_a_line),
        cmocka_unit_test(the_first_line_of_a_part_counts_when_it_begins_there),
        cmocka_unit_test(a_long_line_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
