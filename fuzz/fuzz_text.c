/*
 * fuzz_text.c - whatever the bytes, the document is sound and its chunks are its text.
 */
#include "fuzz/check_document.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_reader(VCM_READER_TEXT, vcm_slice_of(data, size));
    return 0;
}
