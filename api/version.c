#include "api/vcm.h"

#include "base/banned.h"

const char *vcm_version(void)
{
    return VCM_VERSION;
}
