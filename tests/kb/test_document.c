#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "kb/document.h"

#include "base/banned.h"

static void fill(struct vcm_document *document)
{
    vcm_document_init(document);
    vcm_buf_append_string(&document->text, "One\ntext é\nTwo\nmore\n");
    assert_int_equal(
        vcm_document_add_heading(document, 1, 0, 4, vcm_slice_of_string(" One\n"), NULL), VCM_OK);
    assert_int_equal(
        vcm_document_add_heading(document, 2, 12, 16, vcm_slice_of_string("Two \t x"), NULL),
        VCM_OK);
    assert_int_equal(vcm_document_add_page(document, 0, 1, NULL), VCM_OK);
    assert_int_equal(vcm_document_add_page(document, 12, 3, NULL), VCM_OK);
}

static void an_encoded_document_comes_back(void **state)
{
    (void)state;
    struct vcm_document before, after;
    struct vcm_buf bytes = VCM_BUF_INIT(VCM_MIB);

    fill(&before);
    before.lossy = true;
    vcm_document_encode(&bytes, &before);
    vcm_document_init(&after);
    assert_int_equal(vcm_document_decode(&after, vcm_buf_slice(&bytes), NULL), VCM_OK);
    assert_string_equal(vcm_buf_text(&after.text), vcm_buf_text(&before.text));
    assert_true(after.lossy);
    assert_int_equal(after.heading_count, 2);
    assert_string_equal(after.headings[0].title.data, "One");
    assert_string_equal(after.headings[1].title.data, "Two x");
    assert_int_equal(after.headings[1].offset, 12);
    assert_int_equal(after.headings[1].end, 16);
    assert_int_equal(after.headings[1].level, 2);
    assert_int_equal(vcm_document_page_at(&after, 11), 1);
    assert_int_equal(vcm_document_page_at(&after, 12), 3);
    vcm_document_release(&after);
    vcm_document_release(&before);
    vcm_buf_release(&bytes);
}

static void bytes_that_were_cut_or_changed_are_refused(void **state)
{
    (void)state;
    struct vcm_document before;
    struct vcm_buf bytes = VCM_BUF_INIT(VCM_MIB);

    fill(&before);
    vcm_document_encode(&bytes, &before);
    for (size_t len = 0; len < bytes.len; len++) {
        struct vcm_document after;
        vcm_document_init(&after);
        assert_int_equal(vcm_document_decode(&after, vcm_slice_of(bytes.data, len), NULL),
                         VCM_UNSUPPORTED);
        vcm_document_release(&after);
    }
    /* A heading inside the two bytes of "é". */
    vcm_document_release(&before);
    fill(&before);
    before.headings[0].end = 10;
    vcm_buf_clear(&bytes);
    vcm_document_encode(&bytes, &before);
    struct vcm_document after;
    vcm_document_init(&after);
    assert_int_equal(vcm_document_decode(&after, vcm_buf_slice(&bytes), NULL), VCM_UNSUPPORTED);
    vcm_document_release(&after);
    vcm_document_release(&before);
    vcm_buf_release(&bytes);
}

static void headings_that_overlap_or_say_nothing_are_left_out(void **state)
{
    (void)state;
    struct vcm_document document;
    char longest[VCM_LIMIT_HEADING_BYTES * 2];

    fill(&document);
    assert_int_equal(
        vcm_document_add_heading(&document, 1, 14, 18, vcm_slice_of_string("again"), NULL), VCM_OK);
    assert_int_equal(
        vcm_document_add_heading(&document, 1, 17, 18, vcm_slice_of_string(" \n"), NULL), VCM_OK);
    assert_int_equal(document.heading_count, 2);
    for (size_t i = 0; i + 1 < sizeof longest; i += 2) {
        longest[i] = '\xc3'; /* é */
        longest[i + 1] = '\xa9';
    }
    assert_int_equal(
        vcm_document_add_heading(&document, 1, 17, 18, vcm_slice_of(longest, sizeof longest), NULL),
        VCM_OK);
    assert_int_equal(document.headings[2].title.len, VCM_LIMIT_HEADING_BYTES);
    vcm_document_release(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_encoded_document_comes_back),
        cmocka_unit_test(bytes_that_were_cut_or_changed_are_refused),
        cmocka_unit_test(headings_that_overlap_or_say_nothing_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
