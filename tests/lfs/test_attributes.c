#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "lfs/attributes.h"
#include "lfs/template.h"

#include "base/banned.h"

struct joined {
    char include[1024];
    char exclude[1024];
};

static int join(struct joined *out, const char *text)
{
    struct vcm_buf include = VCM_BUF_INIT(sizeof out->include - 1);
    struct vcm_buf exclude = VCM_BUF_INIT(sizeof out->exclude - 1);
    struct vcm_attributes_pattern *patterns = NULL;
    struct vcm_error err = {0};
    struct vcm_arena arena;

    vcm_arena_init(&arena, VCM_MIB);
    assert_int_equal(vcm_attributes_parse(&patterns, &arena, vcm_slice_of_string(text), &err),
                     VCM_OK);
    int rc = vcm_attributes_join(&include, patterns, true, &err);
    if (rc == VCM_OK)
        rc = vcm_attributes_join(&exclude, patterns, false, &err);
    memcpy(out->include, vcm_buf_text(&include), include.len + 1);
    memcpy(out->exclude, vcm_buf_text(&exclude), exclude.len + 1);
    vcm_buf_release(&exclude);
    vcm_buf_release(&include);
    vcm_arena_release(&arena);
    return rc;
}

static void lines_are_read_as_git_reads_them(void **state)
{
    struct joined joined;

    (void)state;
    assert_int_equal(join(&joined, "\xef\xbb\xbf*.pdf filter=lfs -text\r\n"
                                   "# *.zip filter=lfs\n"
                                   "  *.png\ttext filter=lfs\n"
                                   "\"a \\\"b\\101\\n.bin\" filter=lfs\n"
                                   "[attr]big filter=lfs\n"
                                   "!*.x filter=lfs\n"
                                   "dir/ filter=lfs\n"
                                   "*.c text\n"
                                   "\"unended filter=lfs\n"
                                   "*.jpg filter=lfsx\n"
                                   "*.last filter=lfs"),
                     VCM_OK);
    assert_string_equal(joined.include, "*.pdf,*.png,a \"bA\n.bin,*.last");
    assert_string_equal(joined.exclude, "*.jpg");
}

static void the_last_word_on_a_pattern_holds(void **state)
{
    struct joined joined;

    (void)state;
    assert_int_equal(join(&joined, "*.a filter=lfs\n*.b filter=lfs\n*.a -filter\n*.c !filter\n"
                                   "*.c filter=lfs\n*.b diff=lfs\n*.d filter=x filter=lfs\n"),
                     VCM_OK);
    assert_string_equal(joined.include, "*.b,*.c,*.d");
    assert_string_equal(joined.exclude, "*.a");
}

static void a_comma_cannot_be_passed_on(void **state)
{
    struct joined joined;

    (void)state;
    assert_int_equal(join(&joined, "a,b filter=lfs\n"), VCM_UNSUPPORTED);
}

static void the_template_names_each_of_its_patterns(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_ATTRIBUTES_BYTES);
    struct vcm_attributes_pattern *patterns = NULL;
    struct vcm_error err = {0};
    struct vcm_arena arena;
    size_t count = 0;

    (void)state;
    vcm_arena_init(&arena, VCM_MIB);
    vcm_template_attributes(&text);
    assert_int_equal(vcm_attributes_parse(&patterns, &arena, vcm_buf_slice(&text), &err), VCM_OK);
    for (; vcm_template_pattern(count); count++)
        assert_true(vcm_attributes_has(patterns, vcm_template_pattern(count)));
    assert_true(count > 60);
    vcm_buf_release(&text);
    vcm_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_as_git_reads_them),
        cmocka_unit_test(the_last_word_on_a_pattern_holds),
        cmocka_unit_test(a_comma_cannot_be_passed_on),
        cmocka_unit_test(the_template_names_each_of_its_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
