/*
 * The ways of counting tokens agree: at once, in pieces cut anywhere, with a limit, and the prefix
 * that fits. The first byte decides where the pieces are cut.
 */
#include <stdint.h>

#include "fuzz/check.h"
#include "tokens/tokenizer.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const struct vcm_tokenizer *tokenizer, struct vcm_slice text, size_t step)
{
    struct vcm_tokenizer_counter counter;
    size_t whole = vcm_tokenizer_count(tokenizer, text);
    size_t fitting = 0;

    vcm_tokenizer_counter_init(&counter, tokenizer);
    for (size_t at = 0; at < text.len; at += step) {
        size_t len = text.len - at < step ? text.len - at : step;
        vcm_tokenizer_counter_feed(&counter, vcm_slice_of(text.data + at, len));
        FUZZ_CHECK(vcm_tokenizer_counter_floor(&counter) <= whole);
    }
    FUZZ_CHECK(vcm_tokenizer_counter_finish(&counter) == whole);
    FUZZ_CHECK(vcm_tokenizer_count_limited(tokenizer, text, whole) == whole);
    if (whole > 0)
        FUZZ_CHECK(vcm_tokenizer_count_limited(tokenizer, text, whole - 1) > whole - 1);
    size_t prefix = vcm_tokenizer_fit(tokenizer, text, whole / 2, &fitting);
    FUZZ_CHECK(prefix <= text.len && fitting <= whole / 2);
    FUZZ_CHECK(vcm_tokenizer_count(tokenizer, vcm_slice_of(text.data, prefix)) == fitting);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    for (const char *const *name = vcm_tokenizer_names(); *name; name++) {
        struct vcm_tokenizer *tokenizer = NULL;
        struct vcm_error err = {0};
        FUZZ_CHECK(vcm_tokenizer_open(&tokenizer, *name, &err) == VCM_OK);
        compare(tokenizer, vcm_slice_of(data + 1, size - 1), (size_t)data[0] + 1);
        vcm_tokenizer_close(tokenizer);
    }
    return 0;
}
