#include "base/outcome.h"

#include <assert.h>

#include "base/banned.h"

static const struct {
    const char *name;
    bool retried;
} outcomes[VCM_SOURCE_OUTCOMES] = {
#define ROW(NAME, name, number, retried, meaning, remedy) [number] = {#name, retried},
    VCM_OUTCOME_LIST(ROW)
#undef ROW
};

static const struct {
    const char *name;
    const char *word;
    bool retried;
} reasons[] = {[VCM_REASON_NONE] = {NULL, NULL, true},
               [VCM_REASON_OTHER] = {NULL, NULL, true},
#define ROW(OUTCOME, NAME, word, name, retried, remedy)                                            \
    [VCM_REASON_##NAME] = {name, #word, retried},
               VCM_REASON_LIST(ROW)
#undef ROW
};

#define REASONS (sizeof reasons / sizeof reasons[0])

const char *vcm_outcome_name(enum vcm_source_outcome outcome)
{
    assert((unsigned)outcome < VCM_SOURCE_OUTCOMES);
    return outcomes[outcome].name;
}

bool vcm_outcome_is_retried(enum vcm_source_outcome outcome)
{
    assert((unsigned)outcome < VCM_SOURCE_OUTCOMES);
    return outcomes[outcome].retried;
}

const char *vcm_outcome_reason_name(enum vcm_reason reason)
{
    assert((unsigned)reason < REASONS);
    return reasons[reason].name;
}

enum vcm_reason vcm_outcome_reason_of(struct vcm_slice text)
{
    if (text.len == 0)
        return VCM_REASON_NONE;
    for (unsigned i = VCM_REASON_OTHER + 1; i < REASONS; i++)
        if (vcm_slice_equal(text, vcm_slice_of_string(reasons[i].name)) ||
            vcm_slice_equal(text, vcm_slice_of_string(reasons[i].word)))
            return (enum vcm_reason)i;
    return VCM_REASON_OTHER;
}

bool vcm_outcome_reason_is_retried(enum vcm_reason reason)
{
    assert((unsigned)reason < REASONS);
    return reasons[reason].retried;
}
