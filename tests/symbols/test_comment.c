#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "symbols/comment.h"
#include "symbols/lookup.h"

#include "base/banned.h"

static uint32_t begin_in(const char *path, const char *text, uint32_t line)
{
    return vcm_comment_begin(vcm_language_of_path(vcm_slice_of_string(path)),
                             vcm_slice_of_string(text), line);
}

static void a_comment_directly_above_belongs_to_the_definition(void **state)
{
    (void)state;
    assert_int_equal(begin_in("a.c", "/* a\n * b */\nint f(void);\n", 3), 1);
    assert_int_equal(begin_in("a.c", "// a\n// b\nint f(void);\n", 3), 1);
    assert_int_equal(begin_in("a.c", "/* a */\n\nint f(void);\n", 3), 3);
    assert_int_equal(begin_in("a.c", "#define X\nint f(void);\n", 2), 2);
    assert_int_equal(begin_in("a.c", "int x; /* a\n b */\nint f(void);\n", 3), 3);
    assert_int_equal(begin_in("a.py", "x = 1\n# a\n@wraps\ndef f():\n", 4), 2);
    assert_int_equal(begin_in("a.lua", "--- a\nfunction f()\nend\n", 2), 1);
    assert_int_equal(begin_in("a.rs", "/// a\n#[test]\nfn f() {}\n", 3), 1);
    assert_int_equal(begin_in("a.rs", "//! file\nfn f() {}\n", 2), 2);
    assert_int_equal(begin_in("a.c", "b */\nint f(void);\n", 2), 2);
    assert_int_equal(begin_in("a.c", "int f(void);\n", 1), 1);
    assert_int_equal(begin_in("a.c", "", 9), 9);
}

static bool matches(const char *container, const char *name, const char *text)
{
    const struct vcm_symbol symbol = {.container = vcm_slice_of_string(container),
                                      .name = vcm_slice_of_string(name)};

    return vcm_lookup_matches(&symbol, vcm_slice_of_string(text));
}

static void a_name_may_have_its_container_before_it(void **state)
{
    (void)state;
    assert_true(matches("", "total", "total"));
    assert_true(matches("Shop", "total", "total"));
    assert_true(matches("Shop", "total", "Shop.total"));
    assert_true(matches("a.Shop", "total", "Shop::total"));
    assert_true(matches("a.Shop", "total", "a::Shop::total"));
    assert_true(matches("", "M.total", "M.total"));
    assert_true(matches("a::Shop", "total", "a.Shop.total"));
    assert_false(matches("BigShop", "total", "Shop.total"));
    assert_false(matches("", "total", "Shop.total"));
    assert_false(matches("Shop", "total", "a.Shop.total"));
    assert_false(matches("Shop", "total", "Shop."));
    assert_false(matches("Shop", "total", "tot"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comment_directly_above_belongs_to_the_definition),
        cmocka_unit_test(a_name_may_have_its_container_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
