#include "vcm/source.h"

#include <assert.h>

#include "base/banned.h"

static const char *const outcome_names[VCM_SOURCE_OUTCOMES] = {
    [VCM_SOURCE_SUBMODULE] = "submodule",
    [VCM_SOURCE_SYMLINK] = "symlink",
    [VCM_SOURCE_EXCLUDED] = "excluded",
    [VCM_SOURCE_IGNORED] = "ignored",
    [VCM_SOURCE_LFS_MISSING] = "lfs_missing",
    [VCM_SOURCE_TOO_LARGE] = "too_large",
    [VCM_SOURCE_FAILED] = "failed",
    [VCM_SOURCE_BINARY] = "binary",
    [VCM_SOURCE_PAGED] = "paged",
};

const char *vcm_source_outcome_name(enum vcm_source_outcome outcome)
{
    assert(outcome < VCM_SOURCE_OUTCOMES);
    return outcome_names[outcome];
}
