/*
 * fuzz_layout.c - lines of any text in any place make a sound document, which survives its way to
 * the parent.
 *
 * Each line of the input is a line on a page: two bytes of place, one of size, one of style, then
 * its text. A style of 0 begins the next page.
 */
#include <math.h>

#include "fuzz/check_document.h"
#include "kb/layout.h"

#include "base/banned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Odd numbers come from odd files. */
static float number_of(uint8_t byte)
{
    static const float odd[] = {INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 0};

    return byte >= 250 ? odd[byte - 250] : (float)byte * 4;
}

static int add_line(struct vcm_layout *layout, const uint8_t *line, size_t len,
                    struct vcm_error *err)
{
    struct vcm_layout_box box = {
        .x0 = number_of(line[0]), .y0 = number_of(line[1]), .size = (float)(line[2] % 40 + 1)};

    box.x1 = box.x0 + (float)(len * 5);
    box.y1 = box.y0 + box.size;
    box.bold = (line[3] & 1) != 0;
    return line[3] == 0 ? vcm_layout_add_page(layout, number_of(line[1]), err)
                        : vcm_layout_add_line(layout, vcm_slice_of((const char *)line + 4, len - 4),
                                              &box, err);
}

static void check_way(const struct vcm_document *document)
{
    struct vcm_buf encoded = VCM_BUF_INIT(VCM_LIMIT_EXTRACT_OUTPUT_BYTES);
    struct vcm_document again;

    vcm_document_init(&again);
    vcm_document_encode(&encoded, document);
    FUZZ_CHECK(vcm_document_decode(&again, vcm_buf_slice(&encoded), NULL) == VCM_OK);
    FUZZ_CHECK(vcm_slice_equal(vcm_buf_slice(&again.text), vcm_buf_slice(&document->text)));
    FUZZ_CHECK(again.heading_count == document->heading_count);
    FUZZ_CHECK(again.page_count == document->page_count);
    check_document(&again);
    vcm_document_release(&again);
    vcm_buf_release(&encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_layout layout;
    struct vcm_document document;
    struct vcm_error err = {0};

    vcm_layout_init(&layout);
    vcm_document_init(&document);
    int rc = vcm_layout_add_page(&layout, 792, &err);
    for (size_t at = 0; rc == VCM_OK && at < size;) {
        size_t len = 0;
        while (at + len < size && data[at + len] != '\n')
            len++;
        if (len >= 4)
            rc = add_line(&layout, data + at, len, &err);
        at += len + 1;
    }
    FUZZ_CHECK(rc == VCM_OK || rc == VCM_UNSUPPORTED);
    if (rc == VCM_OK)
        rc = vcm_layout_finish(&document, &layout, &err);
    FUZZ_CHECK(rc == VCM_OK || rc == VCM_UNSUPPORTED);
    if (rc == VCM_OK)
        check_way(&document);
    vcm_document_release(&document);
    vcm_layout_release(&layout);
    return 0;
}
