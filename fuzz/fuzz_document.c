/*
 * fuzz_document.c - what vcm-extract may write, were it taken over: only sound documents are taken.
 */
#include "fuzz/check_document.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_error err = {0};
    struct vcm_document document;

    vcm_document_init(&document);
    int rc = vcm_document_decode(&document, vcm_slice_of(data, size), &err);
    FUZZ_CHECK(rc == VCM_OK || (rc == VCM_UNSUPPORTED && err.message[0] != '\0'));
    if (rc == VCM_OK)
        check_document(&document);
    vcm_document_release(&document);
    return 0;
}
