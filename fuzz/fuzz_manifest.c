/*
 * fuzz_manifest.c - the reader of manifests, and of .gitattributes: a manifest that is accepted is
 * written and read back the same, and enabling LFS in one that disables it leaves one that reads.
 */
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "fuzz/check.h"
#include "lfs/attributes.h"
#include "lfs/manifest.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct vcm_manifest *manifest)
{
    struct vcm_buf once = VCM_BUF_INIT(64 * VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_buf twice = VCM_BUF_INIT(64 * VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_manifest again;
    struct vcm_error err = {0};

    FUZZ_CHECK(vcm_manifest_format(&once, manifest, &err) == VCM_OK);
    FUZZ_CHECK(vcm_manifest_parse(&again, vcm_buf_slice(&once), "m", &err) == VCM_OK);
    FUZZ_CHECK(vcm_manifest_format(&twice, &again, &err) == VCM_OK);
    FUZZ_CHECK(vcm_slice_equal(vcm_buf_slice(&once), vcm_buf_slice(&twice)));
    vcm_manifest_release(&again);
    vcm_buf_release(&twice);
    vcm_buf_release(&once);
}

static void check_enabled(struct vcm_slice text)
{
    struct vcm_buf edited = VCM_BUF_INIT(2 * VCM_LIMIT_MANIFEST_BYTES);
    struct vcm_manifest manifest;
    struct vcm_error err = {0};

    FUZZ_CHECK(vcm_manifest_enable_lfs(&edited, text, &err) == VCM_OK);
    FUZZ_CHECK(vcm_manifest_parse(&manifest, vcm_buf_slice(&edited), "m", &err) == VCM_OK);
    FUZZ_CHECK(manifest.lfs.mode == VCM_MANIFEST_LFS_SAME_REMOTE);
    FUZZ_CHECK(edited.len == text.len + strlen("same_remote") - strlen("disabled") ||
               memchr(text.data, '\\', text.len));
    vcm_manifest_release(&manifest);
    vcm_buf_release(&edited);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_attributes_pattern *patterns = NULL;
    struct vcm_slice text = vcm_slice_of(data, size);
    struct vcm_manifest manifest;
    struct vcm_error err = {0};
    struct vcm_arena arena;

    if (size > VCM_LIMIT_MANIFEST_BYTES)
        return 0;
    int rc = vcm_manifest_parse(&manifest, text, "m", &err);
    FUZZ_CHECK(rc == (int)err.code);
    if (rc == VCM_OK) {
        check_again(&manifest);
        if (manifest.lfs.mode == VCM_MANIFEST_LFS_DISABLED)
            check_enabled(text);
    }
    vcm_manifest_release(&manifest);
    vcm_arena_init(&arena, 64 * VCM_MIB);
    vcm_attributes_parse(&patterns, &arena, text, &err);
    for (; patterns; patterns = patterns->next)
        FUZZ_CHECK(patterns->pattern[0] != '\0' && patterns->pattern[0] != '!');
    vcm_arena_release(&arena);
    return 0;
}
