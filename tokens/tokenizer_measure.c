#include <assert.h>

#include "tokens/pieces.h"
#include "tokens/tokenizer.h"

#include "base/banned.h"

bool vcm_tokenizer_measure_is_exact(const struct vcm_tokenizer *tokenizer)
{
    return tokenizer->exact;
}

size_t vcm_tokenizer_measure_more(struct vcm_tokenizer_measure *measure,
                                  const struct vcm_tokenizer *tokenizer, struct vcm_slice text,
                                  bool final, struct vcm_tokenizer_mark *marks, size_t count)
{
    const unsigned char *bytes = (const unsigned char *)text.data;
    struct pieces_job job = {
        .at = bytes + measure->at,
        .end = bytes + text.len,
        .final = final,
        .tokens = measure->tokens,
        .text = bytes,
        .marks = marks,
        .marks_len = count,
    };

    assert(tokenizer->exact && text.len <= VCM_TOKENIZER_MARK_BYTES_MAX);
    if (text.len == 0)
        return 0;
    tokenizer->pieces(tokenizer, &job);
    measure->at = (size_t)(job.at - bytes);
    measure->tokens = job.tokens;
    return job.marks_done;
}
