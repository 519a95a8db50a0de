#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"

#include "base/banned.h"

static void numbers_are_digits_and_nothing_else(void **state)
{
    static const char *const wrong[] = {
        "", "-1", "+1", " 1", "1 ", "0x1", "1.0", "1k", "18446744073709551616"};
    uint64_t value;

    (void)state;
    assert_true(vcm_text_parse_uint(&value, "18446744073709551615"));
    assert_true(value == UINT64_MAX);
    assert_true(vcm_text_parse_uint(&value, "007"));
    assert_int_equal(value, 7);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(vcm_text_parse_uint(&value, wrong[i]));
}

static void sizes_take_binary_units(void **state)
{
    uint64_t value;

    (void)state;
    assert_true(vcm_text_parse_size(&value, "12"));
    assert_int_equal(value, 12);
    assert_true(vcm_text_parse_size(&value, "3KiB"));
    assert_int_equal(value, 3072);
    assert_true(vcm_text_parse_size(&value, "2GiB"));
    assert_true(value == UINT64_C(2147483648));
    assert_false(vcm_text_parse_size(&value, "2GB"));
    assert_false(vcm_text_parse_size(&value, "2 GiB"));
    assert_false(vcm_text_parse_size(&value, "GiB"));
    assert_false(vcm_text_parse_size(&value, "18446744073709551615KiB"));
}

static void durations_need_a_unit(void **state)
{
    uint64_t value;

    (void)state;
    assert_true(vcm_text_parse_duration(&value, "250ms"));
    assert_int_equal(value, 250);
    assert_true(vcm_text_parse_duration(&value, "10m"));
    assert_int_equal(value, 600000);
    assert_true(vcm_text_parse_duration(&value, "2h"));
    assert_int_equal(value, 7200000);
    assert_false(vcm_text_parse_duration(&value, "10"));
    assert_false(vcm_text_parse_duration(&value, "10d"));
}

static const char *nearest(const char *word)
{
    static const char *const words[] = {"map", "pages", "page", "config list", "cache.capacity"};
    return vcm_text_nearest(vcm_slice_of_string(word), words, sizeof words / sizeof words[0]);
}

static void a_slip_is_recognised_and_a_stranger_is_not(void **state)
{
    (void)state;
    assert_string_equal(nearest("mpa"), "map");
    assert_string_equal(nearest("pagess"), "pages");
    assert_string_equal(nearest("config lsit"), "config list");
    assert_string_equal(nearest("cache.capcity"), "cache.capacity");
    assert_string_equal(nearest("Cache.Capacity"), "cache.capacity");
    assert_null(nearest("zebra"));
    assert_null(nearest(""));
}

static bool tells(const char *signature, const char *kind, const char *name)
{
    return vcm_text_tells_kind(vcm_slice_of_string(signature), kind, vcm_slice_of_string(name));
}

static void a_signature_tells_its_kind_or_does_not(void **state)
{
    (void)state;
    assert_true(tells("class Cart", "class", "Cart"));
    assert_true(tells("export default class Cart extends Base", "class", "Cart"));
    assert_true(tells("constructor(size)", "constructor", "constructor"));
    assert_true(tells("#define SIZE 3", "macro", "SIZE"));
    assert_false(tells("def report(class_)", "function", "report"));
    assert_false(tells("int find(struct list *list)", "function", "find"));
    assert_false(tells("Cart(class Base)", "class", "Cart"));
    assert_false(tells("subclass Cart", "class", "Cart"));
    assert_false(tells("", "class", "Cart"));
    assert_false(tells("", "class", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_digits_and_nothing_else),
        cmocka_unit_test(sizes_take_binary_units),
        cmocka_unit_test(durations_need_a_unit),
        cmocka_unit_test(a_slip_is_recognised_and_a_stranger_is_not),
        cmocka_unit_test(a_signature_tells_its_kind_or_does_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
