#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "repomap/scope_id.h"

#include "base/banned.h"

/* The digits are those of sha256sum over the URL, or the path. */
static void assert_derived(const char *url, const char *root, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(4096);

    vcm_scope_id_derive(&out, url, root);
    assert_string_equal(vcm_buf_text(&out), expected);
    assert_int_equal(vcm_scope_id_check_base(vcm_buf_text(&out), NULL), VCM_OK);
    vcm_buf_release(&out);
}

static void a_base_is_the_last_part_of_the_origin_and_a_hash_of_it(void **state)
{
    (void)state;
    assert_derived("https://example.org/org/tool.git", "/x", "tool-ad2af37f");
    assert_derived("git@example.org:tool.git", "/x", "tool-8e87fef3");
    assert_derived("", "/home/me/my tool", "my-tool-e32f7c34");
    assert_derived("", "/", "repository-8a5edab2");
}

static void a_long_name_is_cut_to_what_a_base_may_have(void **state)
{
    struct vcm_buf out = VCM_BUF_INIT(4096);
    char path[400];

    (void)state;
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    vcm_scope_id_derive(&out, "", path);
    assert_int_equal(out.len, VCM_LIMIT_NAME_BYTES);
    assert_int_equal(vcm_scope_id_check_base(vcm_buf_text(&out), NULL), VCM_OK);
    vcm_buf_release(&out);
}

static void a_base_has_1_to_128_plain_characters(void **state)
{
    static const char *const wrong[] = {"", "a b", "a:b", "a/b", "\xc3\xb6", "a\n"};
    char name[VCM_LIMIT_NAME_BYTES + 2];

    (void)state;
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(vcm_scope_id_check_base(name, NULL), VCM_INVALID_ARGUMENT);
    assert_int_equal(vcm_scope_id_check_base(name + 1, NULL), VCM_OK);
    assert_int_equal(vcm_scope_id_check_base("A.b_c-9", NULL), VCM_OK);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(vcm_scope_id_check_base(wrong[i], NULL), VCM_INVALID_ARGUMENT);
}

static void assert_row(const char *row, bool only, const char *expected)
{
    struct vcm_buf out = VCM_BUF_INIT(4096);

    vcm_scope_id_of_row(&out, "base", row, only);
    assert_string_equal(vcm_buf_text(&out), expected);
    vcm_buf_release(&out);
}

static void only_an_only_default_row_has_the_base_for_its_scope(void **state)
{
    (void)state;
    assert_row("default", true, "base");
    assert_row("default", false, "base:default");
    assert_row("docs", true, "base:docs");
}

static bool belongs(const char *scope, const char *base)
{
    return vcm_scope_id_belongs(vcm_slice_of_string(scope), vcm_slice_of_string(base));
}

static void a_scope_belongs_to_its_base_and_to_no_prefix_of_it(void **state)
{
    (void)state;
    assert_true(belongs("base", "base"));
    assert_true(belongs("base:row", "base"));
    assert_false(belongs("base2", "base"));
    assert_false(belongs("bas", "base"));
    assert_false(belongs("base-x:row", "base"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_base_is_the_last_part_of_the_origin_and_a_hash_of_it),
        cmocka_unit_test(a_long_name_is_cut_to_what_a_base_may_have),
        cmocka_unit_test(a_base_has_1_to_128_plain_characters),
        cmocka_unit_test(only_an_only_default_row_has_the_base_for_its_scope),
        cmocka_unit_test(a_scope_belongs_to_its_base_and_to_no_prefix_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
