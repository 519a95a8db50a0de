/*
 * fuzz_extract.c - a PDF of any bytes, read by vcm-extract in its sandbox: a sound document comes
 * back, or a reason.
 */
#include "fuzz/check_document.h"
#include "kb/extract.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct vcm_extract_options options = {.timeout_ms = 10000};
    struct vcm_error err = {0};
    struct vcm_document document;

    vcm_document_init(&document);
    int rc = vcm_extract_run(&document, vcm_slice_of(data, size), &options, &err);
    FUZZ_CHECK(rc == VCM_OK || (rc == VCM_UNSUPPORTED && err.message[0] != '\0'));
    if (rc == VCM_OK)
        check_document(&document);
    vcm_document_release(&document);
    return 0;
}
