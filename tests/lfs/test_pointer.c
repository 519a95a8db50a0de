#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lfs/pointer.h"

#include "base/banned.h"

#define VERSION                "version https://git-lfs.github.com/spec/v1\n"
#define OID                    "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
#define OID_LINE               "oid sha256:" OID "\n"
#define EXTENSION(digit, name) "ext-" digit "-" name " sha256:" OID "\n"

static bool parse(struct vcm_lfs_pointer *pointer, const char *text)
{
    return vcm_lfs_pointer_parse(pointer, vcm_slice_of_string(text));
}

static void a_pointer_comes_back_as_it_was(void **state)
{
    const char *text = VERSION OID_LINE "size 12345\n";
    struct vcm_buf again = VCM_BUF_INIT(1024);
    struct vcm_lfs_pointer pointer;
    char hex[65];

    (void)state;
    assert_true(parse(&pointer, text));
    vcm_hash_to_hex(hex, pointer.oid, sizeof pointer.oid);
    assert_string_equal(hex, OID);
    assert_int_equal(pointer.size, 12345);
    assert_int_equal(pointer.extensions, 0);
    vcm_lfs_pointer_put(&again, &pointer);
    assert_string_equal(vcm_buf_text(&again), text);
    vcm_buf_release(&again);
    assert_true(parse(&pointer, VERSION OID_LINE "size 0\n"));
    assert_true(parse(&pointer, VERSION OID_LINE "size 9223372036854775807\n"));
}

static void extensions_stand_before_the_size_and_share_no_digit(void **state)
{
    struct vcm_lfs_pointer pointer;

    (void)state;
    assert_true(
        parse(&pointer, VERSION EXTENSION("3", "foo") EXTENSION("0", "b.a-r") OID_LINE "size 1\n"));
    assert_int_equal(pointer.extensions, 2);
    assert_true(parse(&pointer, EXTENSION("1", "_X") VERSION OID_LINE "size 1\n"));
    assert_true(parse(&pointer, VERSION OID_LINE EXTENSION("1", "a") "size 1\n"));
    assert_int_equal(pointer.extensions, 1);
    assert_false(
        parse(&pointer, VERSION EXTENSION("1", "a") EXTENSION("1", "b") OID_LINE "size 1\n"));
    assert_false(parse(&pointer, VERSION EXTENSION("1", "") OID_LINE "size 1\n"));
    assert_false(parse(&pointer, VERSION EXTENSION("x", "a") OID_LINE "size 1\n"));
    assert_false(parse(&pointer, VERSION OID_LINE "size 1\n" EXTENSION("1", "a")));
    assert_false(parse(&pointer, VERSION "ext-1-a sha256:12\n" OID_LINE "size 1\n"));
}

static void what_git_lfs_takes_is_a_pointer(void **state)
{
    static const char *const right[] = {
        VERSION OID_LINE "size 1",
        VERSION OID_LINE "size 1\n\n",
        VERSION OID_LINE "size 01\n",
        VERSION OID_LINE "size +1\n",
        VERSION OID_LINE "size 1\r\n",
        VERSION OID_LINE "\r\n\nsize 1 \v\n",
        "version https://hawser.github.com/spec/v1\n" OID_LINE "size 1\n",
        "version http://git-media.io/v/2\r\noid sha256:" OID "\r\nsize 1",
        " \n" VERSION OID_LINE "size 1\n\xc2\xa0",
    };
    struct vcm_lfs_pointer pointer;

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        if (!parse(&pointer, right[i]) || pointer.size != 1 || pointer.extensions != 0)
            fail_msg("not accepted: %s", right[i]);
}

static void what_git_lfs_does_not_take_is_none(void **state)
{
    static const char *const wrong[] = {
        "",
        VERSION,
        VERSION OID_LINE,
        VERSION "size 1\n" OID_LINE,
        OID_LINE "size 1\n",
        VERSION OID_LINE "size 1\nmore x\n",
        VERSION OID_LINE "size 1\nsize 1\n",
        VERSION OID_LINE "size -1\n",
        VERSION OID_LINE "size \n",
        VERSION OID_LINE "size  1\n",
        VERSION OID_LINE "size 0x1\n",
        VERSION OID_LINE "size 9223372036854775808\n",
        VERSION "oid sha256:" OID "0\nsize 1\n",
        VERSION "oid sha256:" OID " \nsize 1\n",
        VERSION "oid\tsha256:" OID "\nsize 1\n",
        VERSION "oid sha256:4D7A214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
                "size 1\n",
        VERSION "oid sha512:" OID "\nsize 1\n",
        "version https://git-lfs.github.com/spec/v2\n" OID_LINE "size 1\n",
        "version https://git-lfs.github.com/spec/v1 \n" OID_LINE "size 1\n",
        "\xef\xbb\xbf" VERSION OID_LINE "size 1\n",
    };
    struct vcm_lfs_pointer pointer;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (parse(&pointer, wrong[i]))
            fail_msg("accepted: %s", wrong[i]);
}

static void the_longest_pointer_has_1023_bytes(void **state)
{
    char text[1025] = VERSION OID_LINE "size 1";
    struct vcm_lfs_pointer pointer;

    (void)state;
    memset(text + strlen(text), '\n', sizeof text - 1 - strlen(text));
    assert_true(vcm_lfs_pointer_parse(&pointer, vcm_slice_of(text, 1023)));
    assert_false(vcm_lfs_pointer_parse(&pointer, vcm_slice_of(text, 1024)));
}

static void a_pointer_that_is_cut_before_its_size_is_none(void **state)
{
    const char text[] = VERSION OID_LINE "size 12345\n";
    struct vcm_lfs_pointer pointer;

    (void)state;
    for (size_t len = 0; len < sizeof VERSION OID_LINE "size " - 1; len++)
        assert_false(vcm_lfs_pointer_parse(&pointer, vcm_slice_of(text, len)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pointer_comes_back_as_it_was),
        cmocka_unit_test(extensions_stand_before_the_size_and_share_no_digit),
        cmocka_unit_test(what_git_lfs_takes_is_a_pointer),
        cmocka_unit_test(what_git_lfs_does_not_take_is_none),
        cmocka_unit_test(the_longest_pointer_has_1023_bytes),
        cmocka_unit_test(a_pointer_that_is_cut_before_its_size_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
