#include "vcm/page/binary.h"

#include <assert.h>

#include "base/base64.h"
#include "base/limits.h"

#include "base/banned.h"

/* No token of any vocabulary is longer. So a file that cannot fit is recognised before it is
 * encoded.
 */
#define TOKEN_BYTES_MAX 256u

/* Makes the value with this text and counts its tokens; the count stops above the budget. */
static int serialise(struct vcm_buf *value, size_t *tokens, struct vcm_slice path,
                     struct vcm_slice text, const struct vcm_split_options *options,
                     struct vcm_error *err)
{
    vcm_buf_clear(value);
    vcm_page_serialise(value, path, text);
    int rc = vcm_buf_check(value, "a record", err);
    if (rc == VCM_OK)
        *tokens = vcm_tokenizer_count_limited(options->tokenizer, vcm_buf_slice(value),
                                              options->token_budget);
    return rc;
}

int vcm_binary_emit(struct vcm_slice path, struct vcm_slice bytes,
                    const struct vcm_split_options *options, vcm_split_part_fn emit, void *context,
                    struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(2 * VCM_LIMIT_FILE_BYTES);
    struct vcm_buf value = VCM_BUF_INIT(VCM_LIMIT_FRAME_BYTES);
    size_t tokens = (size_t)options->token_budget + 1;
    int rc = VCM_OK;

    assert(bytes.len <= UINT32_MAX);
    if (vcm_base64_length(bytes.len) / TOKEN_BYTES_MAX <= options->token_budget &&
        vcm_base64_length(bytes.len) <= VCM_LIMIT_PAGE_BYTES) {
        vcm_base64_put(&text, bytes);
        rc = vcm_buf_check(&text, "a file in base64", err);
        if (rc == VCM_OK)
            rc = serialise(&value, &tokens, path, vcm_buf_slice(&text), options, err);
    }
    if (rc == VCM_OK && tokens > options->token_budget)
        rc = serialise(&value, &tokens, path, vcm_slice_of("", 0), options, err);
    if (rc == VCM_OK && tokens > options->token_budget)
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "the path alone exceeds the budget");
    if (rc == VCM_OK)
        rc = emit(context, vcm_buf_slice(&value),
                  &(struct vcm_page_record){
                      .path = path,
                      .tokens = (uint32_t)tokens,
                      .bytes = (uint32_t)value.len,
                      .part = 1,
                      .binary = true,
                      .size = (uint32_t)bytes.len,
                  },
                  err);
    vcm_buf_release(&text);
    vcm_buf_release(&value);
    return rc;
}
