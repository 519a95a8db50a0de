#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "api/target_parse.h"

#include "base/banned.h"

static const char *lines_of(char out[128], const char *text)
{
    struct vcm_target_lines lines;
    struct vcm_error err = {0};
    bool has_lines = false;

    int rc = vcm_target_parse_lines(&has_lines, &lines, text, &err);
    if (rc != VCM_OK)
        snprintf(out, 128, "error");
    else if (!has_lines)
        snprintf(out, 128, "none");
    else
        snprintf(out, 128, "%.*s %u %u", (int)lines.path.len, lines.path.data, lines.first,
                 lines.last);
    return out;
}

static void ranges_of_lines_are_read(void **state)
{
    const char *const cases[][2] = {
        {"a.c:12", "a.c 12 12"},
        {"a.c:12-20", "a.c 12 20"},
        {"a.c:12-", "a.c 12 4294967295"},
        {"a:b:3", "a:b 3 3"},
        {"a.c:99999999999", "a.c 4294967295 4294967295"},
        {"a.c", "none"},
        {"a.c:", "none"},
        {"a.c:-5", "none"},
        {"a.c:1-2-3", "none"},
        {"a.c:x", "none"},
        {":12", "none"},
        {"a.c:0", "error"},
        {"a.c:0-4", "error"},
        {"a.c:9-8", "error"},
    };
    char out[128];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(lines_of(out, cases[i][0]), cases[i][1]);
}

static void definitions_in_files_are_read(void **state)
{
    const char *const cases[][2] = {
        {"a.py:12#Shop.total", "a.py 12 Shop.total"},
        {"a.py#total", "a.py 0 total"},
        {"a.py:total", "a.py 0 total"},
        {"a.cc:Shop::total", "a.cc 0 Shop::total"},
        {"dir:x/a.c:3#f", "dir:x/a.c 3 f"},
        {"Shop::total", "none"},
        {"total", "none"},
        {"a.py#", "none"},
        {"#total", "none"},
    };
    struct vcm_target_name name;
    char out[128];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(out, sizeof out, "none");
        if (vcm_target_parse_name(&name, cases[i][0]))
            snprintf(out, sizeof out, "%.*s %u %.*s", (int)name.path.len, name.path.data, name.line,
                     (int)name.name.len, name.name.data);
        assert_string_equal(out, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_lines_are_read),
        cmocka_unit_test(definitions_in_files_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
