#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/base64.h"
#include "tests/support/random.h"

#include "base/banned.h"

static void the_vectors_of_the_standard_hold(void **state)
{
    static const char *const vectors[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    struct vcm_buf out = VCM_BUF_INIT(64);

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        vcm_buf_clear(&out);
        vcm_base64_put(&out, vcm_slice_of_string(vectors[i][0]));
        assert_string_equal(vcm_buf_text(&out), vectors[i][1]);
        vcm_buf_clear(&out);
        assert_true(vcm_base64_get(&out, vcm_slice_of_string(vectors[i][1])));
        assert_string_equal(vcm_buf_text(&out), vectors[i][0]);
    }
    vcm_buf_release(&out);
}

static void any_bytes_come_back(void **state)
{
    struct vcm_buf text = VCM_BUF_INIT(4096), back = VCM_BUF_INIT(4096);
    unsigned char bytes[300];
    uint64_t seed = 5;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (size_t len = 0; len < sizeof bytes; len++) {
        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)test_random(&seed);
        vcm_buf_clear(&text);
        vcm_buf_clear(&back);
        vcm_base64_put(&text, vcm_slice_of(bytes, len));
        assert_int_equal(text.len, vcm_base64_length(len));
        assert_true(vcm_base64_get(&back, vcm_buf_slice(&text)));
        assert_true(vcm_slice_equal(vcm_buf_slice(&back), vcm_slice_of(bytes, len)));
    }
    vcm_buf_release(&text);
    vcm_buf_release(&back);
}

static void what_is_not_exact_is_refused(void **state)
{
    static const char *const wrong[] = {"Z",        "Zg",     "Zg=",  "Zg=a", "Z===",
                                        "====",     "Zh==",   "Zm9=", "Zm 9", "Zm-_",
                                        "Zg==Zg==", "Zm9v\n", "=Zm9"};
    struct vcm_buf out = VCM_BUF_INIT(64);

    (void)state;
    vcm_buf_append_string(&out, "x");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(vcm_base64_get(&out, vcm_slice_of_string(wrong[i])));
        assert_string_equal(vcm_buf_text(&out), "x");
    }
    vcm_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_standard_hold),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(what_is_not_exact_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
