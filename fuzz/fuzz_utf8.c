/*
 * fuzz_utf8.c - what utf8.c repairs is valid, and the JSON writer and reader agree with it.
 */
#include "base/json.h"
#include "base/jsonw.h"
#include "base/utf8.h"
#include "fuzz/check.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_prefix(struct vcm_slice text)
{
    size_t valid = vcm_utf8_valid_prefix(text);
    struct vcm_slice rest = vcm_slice_of(text.data + valid, text.len - valid);

    FUZZ_CHECK(valid <= text.len);
    FUZZ_CHECK(vcm_utf8_valid(vcm_slice_of(text.data, valid)));
    if (rest.len == 0) {
        FUZZ_CHECK(vcm_utf8_columns(text) <= 2 * text.len);
        return;
    }
    size_t bad = vcm_utf8_invalid_prefix(rest);
    FUZZ_CHECK(bad >= 1 && bad <= 3 && bad <= rest.len);
    for (size_t len = 1; len <= bad; len++)
        FUZZ_CHECK(vcm_utf8_valid_prefix(vcm_slice_of(text.data, valid + len)) == valid);
}

static void check_escape(struct vcm_slice text, struct vcm_slice replaced, size_t max)
{
    struct vcm_buf escaped = VCM_BUF_INIT(max);
    struct vcm_arena arena;
    struct vcm_json *json;

    vcm_arena_init(&arena, 2 * max);
    vcm_jsonw_escape(&escaped, text);
    FUZZ_CHECK(vcm_json_parse(&json, &arena, vcm_buf_slice(&escaped), NULL) == VCM_OK);
    FUZZ_CHECK(json->kind == VCM_JSON_STRING && vcm_slice_equal(json->text, replaced));
    vcm_arena_release(&arena);
    vcm_buf_release(&escaped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_slice text = vcm_slice_of(size > 0 ? (const char *)data : "", size);
    size_t max = 6 * size + VCM_KIB;
    struct vcm_buf replaced = VCM_BUF_INIT(max), path = VCM_BUF_INIT(max);
    bool valid = vcm_utf8_valid(text);

    check_prefix(text);
    FUZZ_CHECK(vcm_utf8_replace(&replaced, text) == !valid);
    FUZZ_CHECK(vcm_utf8_valid(vcm_buf_slice(&replaced)));
    FUZZ_CHECK(vcm_utf8_escape_path(&path, text) == !valid);
    FUZZ_CHECK(vcm_utf8_valid(vcm_buf_slice(&path)));
    if (valid) {
        FUZZ_CHECK(vcm_slice_equal(vcm_buf_slice(&replaced), text));
        FUZZ_CHECK(vcm_slice_equal(vcm_buf_slice(&path), text));
    }
    check_escape(text, vcm_buf_slice(&replaced), max);
    vcm_buf_release(&replaced);
    vcm_buf_release(&path);
    return 0;
}
