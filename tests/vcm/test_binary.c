#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/limits.h"
#include "vcm/page/binary.h"

#include "base/banned.h"

struct outcome {
    struct vcm_buf value;
    struct vcm_page_record record;
    unsigned parts;
};

static int take_part(void *context, struct vcm_slice value, const struct vcm_page_record *record,
                     struct vcm_error *err)
{
    struct outcome *outcome = context;

    (void)err;
    vcm_buf_append_slice(&outcome->value, value);
    outcome->record = *record;
    outcome->parts++;
    return VCM_OK;
}

static int emit(struct outcome *outcome, const char *path, const void *bytes, size_t len,
                uint32_t budget)
{
    struct vcm_tokenizer *tokenizer;
    struct vcm_error err = {0};

    *outcome = (struct outcome){.value = VCM_BUF_INIT(VCM_MIB)};
    assert_int_equal(vcm_tokenizer_open(&tokenizer, "approx4", &err), VCM_OK);
    int rc =
        vcm_binary_emit(vcm_slice_of_string(path), vcm_slice_of(bytes, len),
                        &(struct vcm_split_options){.tokenizer = tokenizer, .token_budget = budget},
                        take_part, outcome, &err);
    vcm_tokenizer_close(tokenizer);
    return rc;
}

static void bytes_become_one_record_in_base64(void **state)
{
    struct outcome outcome;

    (void)state;
    assert_int_equal(emit(&outcome, "a.bin", "\0\1\2\3", 4, 64), VCM_OK);
    assert_string_equal(vcm_buf_text(&outcome.value), "{\"path\":\"a.bin\",\"text\":\"AAECAw==\"}");
    assert_int_equal(outcome.parts, 1);
    assert_true(outcome.record.binary);
    assert_int_equal(outcome.record.size, 4);
    assert_int_equal(outcome.record.bytes, outcome.value.len);
    assert_int_equal(outcome.record.tokens, (outcome.value.len + 3) / 4);
    assert_int_equal(outcome.record.start_line, 0);
    assert_int_equal(outcome.record.part, 1);
    vcm_buf_release(&outcome.value);
}

static void what_does_not_fit_a_page_is_left_empty_at_the_very_token(void **state)
{
    /* {"path":"a","text":""} has 22 bytes; 64 tokens hold 256, so 234 of base64: 232 at the most.
     */
    unsigned char bytes[175] = {0};
    struct outcome outcome;

    (void)state;
    assert_int_equal(emit(&outcome, "a", bytes, 174, 64), VCM_OK);
    assert_int_equal(outcome.value.len, 22 + 232);
    vcm_buf_release(&outcome.value);
    assert_int_equal(emit(&outcome, "a", bytes, 175, 64), VCM_OK);
    assert_string_equal(vcm_buf_text(&outcome.value), "{\"path\":\"a\",\"text\":\"\"}");
    assert_int_equal(outcome.record.size, 175);
    assert_true(outcome.record.binary);
    vcm_buf_release(&outcome.value);
}

static void a_large_file_is_not_even_encoded(void **state)
{
    size_t len = 8 * VCM_MIB;
    void *bytes = calloc(1, len);
    struct outcome outcome;

    (void)state;
    assert_int_equal(emit(&outcome, "a", bytes, len, 64), VCM_OK);
    assert_int_equal(outcome.record.size, len);
    assert_int_equal(outcome.record.bytes, 22);
    vcm_buf_release(&outcome.value);
    free(bytes);
}

static void a_path_beyond_the_budget_is_refused(void **state)
{
    char path[400];
    struct outcome outcome;

    (void)state;
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(emit(&outcome, path, "\0", 1, 64), VCM_UNSUPPORTED);
    assert_int_equal(outcome.parts, 0);
    vcm_buf_release(&outcome.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_become_one_record_in_base64),
        cmocka_unit_test(what_does_not_fit_a_page_is_left_empty_at_the_very_token),
        cmocka_unit_test(a_large_file_is_not_even_encoded),
        cmocka_unit_test(a_path_beyond_the_budget_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
