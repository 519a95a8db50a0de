#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/buf.h"

#include "base/banned.h"

static void appended_bytes_come_back_in_order(void **state)
{
    (void)state;
    struct vcm_buf buf = VCM_BUF_INIT(1024);

    vcm_buf_append(&buf, "ab", 2);
    vcm_buf_append_byte(&buf, 'c');
    vcm_buf_append_string(&buf, "de");
    vcm_buf_append_slice(&buf, vcm_slice_of_string("f"));
    vcm_buf_append_format(&buf, "%d-%s", 7, "x");
    assert_string_equal(vcm_buf_text(&buf), "abcdef7-x");
    assert_int_equal(buf.len, 9);
    vcm_buf_truncate(&buf, 3);
    assert_string_equal(vcm_buf_text(&buf), "abc");
    vcm_buf_release(&buf);
    assert_string_equal(vcm_buf_text(&buf), "");
}

static void a_buffer_stops_at_its_maximum_and_says_so(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_buf buf = VCM_BUF_INIT(4);

    vcm_buf_append(&buf, "abcd", 4);
    assert_int_equal(vcm_buf_check(&buf, "the thing", &err), VCM_OK);
    vcm_buf_append_byte(&buf, 'e');
    vcm_buf_truncate(&buf, 0);
    vcm_buf_append_byte(&buf, 'f');
    assert_int_equal(buf.len, 0);
    assert_int_equal(vcm_buf_check(&buf, "the thing", &err), VCM_UNSUPPORTED);
    assert_string_equal(err.message, "the thing is larger than 4 bytes");
    vcm_buf_clear(&buf);
    vcm_buf_append_byte(&buf, 'g');
    assert_string_equal(vcm_buf_text(&buf), "g");
    vcm_buf_release(&buf);
}

static void detached_bytes_belong_to_the_caller(void **state)
{
    (void)state;
    struct vcm_buf buf = VCM_BUF_INIT(16);

    vcm_buf_append_string(&buf, "mine");
    char *text = vcm_buf_detach(&buf);
    assert_string_equal(text, "mine");
    assert_null(buf.data);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_bytes_come_back_in_order),
        cmocka_unit_test(a_buffer_stops_at_its_maximum_and_says_so),
        cmocka_unit_test(detached_bytes_belong_to_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
