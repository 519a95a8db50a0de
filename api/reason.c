#include "api/vcm.h"
#include "base/outcome.h"

#include "base/banned.h"

#define TEXT(NAME, name, number, retried, meaning, remedy) static const char text_##NAME[] = #name;
VCM_OUTCOME_LIST(TEXT)
#undef TEXT

static const struct vcm_reason_info infos[] = {
#define ROW(NAME, its_reason, its_word, is_retried, what_to_do)                                    \
    {.outcome = text_##NAME,                                                                       \
     .reason = (its_reason),                                                                       \
     .word = (its_word),                                                                           \
     .left_out = VCM_SOURCE_##NAME != VCM_SOURCE_PAGED,                                            \
     .retried = (is_retried),                                                                      \
     .remedy = (what_to_do)},
#define OUTCOME_ROW(NAME, name, number, retried, meaning, remedy)                                  \
    ROW(NAME, NULL, #name, retried, remedy)
#define REASON_ROW(OUTCOME, NAME, word, name, retried, remedy)                                     \
    ROW(OUTCOME, name, #word, retried, remedy)
    VCM_OUTCOME_LIST(OUTCOME_ROW) VCM_REASON_LIST(REASON_ROW)
#undef REASON_ROW
#undef OUTCOME_ROW
#undef ROW
};

const struct vcm_reason_info *vcm_reason_list(size_t *count)
{
    if (count)
        *count = sizeof infos / sizeof infos[0];
    return infos;
}
