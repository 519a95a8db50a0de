#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "kb/extract.h"
#include "tests/support/pdf.h"
#include "tests/support/random.h"

#include "base/banned.h"

static const struct vcm_extract_options defaults = {0, NULL};

static int extract(struct vcm_document *document, const struct test_pdf *pdf, struct vcm_error *err)
{
    struct vcm_buf bytes = VCM_BUF_INIT(16 * VCM_MIB);

    test_pdf_write(&bytes, pdf);
    vcm_document_init(document);
    int rc = vcm_extract_run(document, vcm_buf_slice(&bytes), &defaults, err);
    vcm_buf_release(&bytes);
    return rc;
}

/* A page of a paper: running head, lines from the top down, page number. */
static void add_page(struct test_pdf *pdf, unsigned number)
{
    char text[64];

    test_pdf_add_page(pdf);
    test_pdf_add_text(pdf, TEST_PDF_ROMAN, 9, 72, 760, "Proceedings of Nothing 2024");
    snprintf(text, sizeof text, "%u", number);
    test_pdf_add_text(pdf, TEST_PDF_ROMAN, 9, 300, 30, text);
}

static void assert_text(const struct vcm_document *document, const char *expected)
{
    assert_string_equal(vcm_buf_text(&document->text), expected);
}

static void a_paper_loses_its_running_lines_and_keeps_sections_and_pages(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_document document;
    struct test_pdf pdf;

    test_pdf_init(&pdf);
    add_page(&pdf, 1);
    test_pdf_add_text(&pdf, TEST_PDF_BOLD, 18, 72, 700, "On Pages");
    test_pdf_add_text(&pdf, TEST_PDF_BOLD, 12, 72, 660, "1 Introduction");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 640,
                      "Pages hold records that hold text, and the");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 628, "text is what counts. A second one.");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 604, "Another paragraph goes on to the next");
    add_page(&pdf, 2);
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 700, "page without a stop.");
    test_pdf_add_text(&pdf, TEST_PDF_BOLD, 12, 72, 660, "1.1 Details");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 640, "There are no more of them.");
    add_page(&pdf, 3);
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 700, "The end of the matter is here.");
    assert_int_equal(extract(&document, &pdf, &err), VCM_OK);
    assert_text(&document, "On Pages\n\n1 Introduction\n\n"
                           "Pages hold records that hold text, and the\n"
                           "text is what counts. A second one.\n\n"
                           "Another paragraph goes on to the next\npage without a stop.\n\n"
                           "1.1 Details\n\nThere are no more of them.\n\n"
                           "The end of the matter is here.\n");
    assert_int_equal(document.heading_count, 3);
    assert_string_equal(document.headings[0].title.data, "On Pages");
    assert_int_equal(document.headings[0].level, 1);
    assert_string_equal(document.headings[1].title.data, "1 Introduction");
    assert_int_equal(document.headings[1].level, 2);
    assert_string_equal(document.headings[2].title.data, "1.1 Details");
    assert_int_equal(document.headings[2].level, 3);
    const char *text = document.text.data;
    assert_int_equal(vcm_document_page_at(&document, (size_t)(strstr(text, "Another") - text)), 1);
    assert_int_equal(vcm_document_page_at(&document, (size_t)(strstr(text, "page with") - text)),
                     2);
    assert_int_equal(vcm_document_page_at(&document, (size_t)(strstr(text, "The end") - text)), 3);
    vcm_document_release(&document);
    test_pdf_release(&pdf);
}

/* The last row of a table meets the edge of every page, as running lines do. */
static void rows_of_tables_are_no_running_lines(void **state)
{
    (void)state;
    struct vcm_document document;
    struct test_pdf pdf;
    char text[64];

    test_pdf_init(&pdf);
    for (unsigned page = 1; page <= 5; page++) {
        add_page(&pdf, page);
        for (unsigned row = 0; row < 55; row++) {
            int y = 720 - 12 * (int)row;
            snprintf(text, sizeof text, "entry%c%c of a table", 'a' + (char)page,
                     'a' + (char)(row % 26));
            test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, y, text);
            test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 250, y, row % 3 == 0 ? "No" : "Yes");
            snprintf(text, sizeof text, "%u", 100 * page + row);
            test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 350, y, text);
        }
    }
    assert_int_equal(extract(&document, &pdf, NULL), VCM_OK);
    for (unsigned page = 1; page <= 5; page++) {
        for (unsigned row = 0; row < 55; row++) {
            snprintf(text, sizeof text, "%u", 100 * page + row);
            if (!strstr(document.text.data, text))
                fail_msg("row %u of page %u is lost", row, page);
        }
        snprintf(text, sizeof text, "entry%cc of a table", 'a' + (char)page); /* of the last row */
        assert_non_null(strstr(document.text.data, text));
    }
    assert_null(strstr(document.text.data, "Proceedings"));
    vcm_document_release(&document);
    test_pdf_release(&pdf);
}

static void two_columns_are_read_one_after_the_other(void **state)
{
    (void)state;
    struct vcm_document document;
    struct test_pdf pdf;
    char text[64];

    test_pdf_init(&pdf);
    test_pdf_add_page(&pdf);
    /* Row by row, as some programs write them. */
    for (int row = 0; row < 12; row++) {
        snprintf(text, sizeof text, "left column line %c with some more words", 'a' + row);
        test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 700 - 12 * row, text);
        snprintf(text, sizeof text, "right column line %c with some more words", 'a' + row);
        test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 330, 700 - 12 * row, text);
    }
    assert_int_equal(extract(&document, &pdf, NULL), VCM_OK);
    const char *left_last = strstr(document.text.data, "left column line l");
    const char *right_first = strstr(document.text.data, "right column line a");
    assert_non_null(left_last);
    assert_non_null(right_first);
    assert_true(left_last < right_first);
    vcm_document_release(&document);
    test_pdf_release(&pdf);
}

static void divided_words_and_ligatures_are_mended(void **state)
{
    (void)state;
    struct vcm_document document;
    struct test_pdf pdf;

    test_pdf_init(&pdf);
    test_pdf_add_page(&pdf);
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 700, "The ba\002ing \001nal transfor-");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 688,
                      "mation is well-known here. It is a well-");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 676, "known one, of type A-");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 664,
                      "B and others. It calls OpenFile as Open-");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 652, "File does.");
    assert_int_equal(extract(&document, &pdf, NULL), VCM_OK);
    assert_text(
        &document,
        "The baffling final transformation\nis well-known here. It is a "
        "well-known\none, of type A-\nB and others. It calls OpenFile as OpenFile\ndoes.\n");
    vcm_document_release(&document);
    test_pdf_release(&pdf);
}

static void assert_refused(struct vcm_slice bytes, const struct vcm_extract_options *options,
                           const char *reason)
{
    struct vcm_error err = {0};
    struct vcm_document document;

    vcm_document_init(&document);
    assert_int_equal(vcm_extract_run(&document, bytes, options, &err), VCM_UNSUPPORTED);
    if (strncmp(err.message, reason, strlen(reason)) != 0)
        fail_msg("'%s' does not begin with '%s'", err.message, reason);
    assert_int_equal(document.refused,
                     vcm_outcome_reason_of(vcm_slice_of(reason, strcspn(reason, ":"))));
    vcm_document_release(&document);
}

static void what_cannot_be_read_says_why(void **state)
{
    (void)state;
    struct vcm_buf bytes = VCM_BUF_INIT(16 * VCM_MIB);
    struct test_pdf pdf;

    assert_refused(vcm_slice_of("", 0), &defaults, "empty: ");
    assert_refused(vcm_slice_of_string("just text"), &defaults, "corrupt: the file is not a PDF");
    assert_refused(vcm_slice_of_string("%PDF-1.4\nnothing follows"), &defaults, "corrupt: ");
    test_pdf_init(&pdf);
    test_pdf_add_page(&pdf);
    test_pdf_write(&bytes, &pdf);
    assert_refused(vcm_buf_slice(&bytes), &defaults, "no text layer: ");
    pdf.encrypted = true;
    vcm_buf_clear(&bytes);
    test_pdf_write(&bytes, &pdf);
    assert_refused(vcm_buf_slice(&bytes), &defaults, "encrypted: ");
    test_pdf_release(&pdf);
    vcm_buf_release(&bytes);
}

/* Forms that call each other double the work with each level. */
static void write_bomb(struct vcm_buf *out, unsigned levels)
{
    vcm_buf_append_string(out,
                          "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
                          "2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n"
                          "3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
                          "/Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>\n"
                          "endobj\n4 0 obj\n<< /Length 5 >>\nstream\n/X Do\nendstream\nendobj\n");
    for (unsigned i = 0; i < levels; i++)
        vcm_buf_append_format(out,
                              "%u 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] "
                              "/Resources << /XObject << /X %u 0 R >> >> /Length 39 >>\nstream\n"
                              "/X Do /X Do /X Do /X Do /X Do /X Do\n   \nendstream\nendobj\n",
                              5 + i, 6 + i);
    vcm_buf_append_string(out, "trailer\n<< /Root 1 0 R >>\n%%EOF\n");
}

static void a_bomb_is_stopped_within_its_time(void **state)
{
    (void)state;
    struct vcm_buf bytes = VCM_BUF_INIT(16 * VCM_MIB);
    struct vcm_extract_options options = {300, NULL};

    write_bomb(&bytes, 18);
    assert_refused(vcm_buf_slice(&bytes), &options, "over the limits: ");
    vcm_buf_release(&bytes);
}

/* Whatever becomes of its bytes, a document is read or refused. */
static void changed_bytes_are_read_or_refused(void **state)
{
    (void)state;
    struct vcm_buf bytes = VCM_BUF_INIT(16 * VCM_MIB);
    struct test_pdf pdf;
    uint64_t seed = 7;

    print_message("seed 7\n");
    test_pdf_init(&pdf);
    add_page(&pdf, 1);
    test_pdf_add_text(&pdf, TEST_PDF_BOLD, 18, 72, 700, "Title");
    test_pdf_add_text(&pdf, TEST_PDF_ROMAN, 10, 72, 640, "Some words to read.");
    for (int round = 0; round < 40; round++) {
        struct vcm_error err = {0};
        struct vcm_document document;
        vcm_buf_clear(&bytes);
        test_pdf_write(&bytes, &pdf);
        for (unsigned n = 1 + test_random_below(&seed, 20); n > 0; n--)
            bytes.data[9 + test_random_below(&seed, (unsigned)bytes.len - 9)] =
                (char)test_random_below(&seed, 256);
        if (round % 4 == 0)
            vcm_buf_truncate(&bytes, 9 + test_random_below(&seed, (unsigned)bytes.len - 9));
        vcm_document_init(&document);
        int rc = vcm_extract_run(&document, vcm_buf_slice(&bytes), &defaults, &err);
        if (rc != VCM_OK && rc != VCM_UNSUPPORTED)
            fail_msg("round %d: %s", round, err.message);
        vcm_document_release(&document);
    }
    test_pdf_release(&pdf);
    vcm_buf_release(&bytes);
}

static void a_child_that_dies_costs_its_document_alone(void **state)
{
    (void)state;
    struct vcm_error err = {0};
    struct vcm_document document;
    char folder[] = "/tmp/vcm-test-XXXXXX";
    char path[64];
    static const char script[] = "#!/bin/sh\nkill -SEGV $$\n";

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/vcm-extract", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(script, file);
    assert_int_equal(fchmod(fileno(file), 0755), 0);
    fclose(file);
    char *before = strdup(getenv("VCM_LIBEXEC"));
    setenv("VCM_LIBEXEC", folder, 1);
    assert_refused(vcm_slice_of_string("%PDF-1.4\n"), &defaults, "corrupt: its reader ended with");
    unlink(path);
    vcm_document_init(&document);
    assert_int_equal(vcm_extract_run(&document, vcm_slice_of_string("%PDF-1.4\n"), &defaults, &err),
                     VCM_NOT_FOUND);
    vcm_document_release(&document);
    setenv("VCM_LIBEXEC", before, 1);
    free(before);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_paper_loses_its_running_lines_and_keeps_sections_and_pages),
        cmocka_unit_test(rows_of_tables_are_no_running_lines),
        cmocka_unit_test(two_columns_are_read_one_after_the_other),
        cmocka_unit_test(divided_words_and_ligatures_are_mended),
        cmocka_unit_test(what_cannot_be_read_says_why),
        cmocka_unit_test(a_bomb_is_stopped_within_its_time),
        cmocka_unit_test(changed_bytes_are_read_or_refused),
        cmocka_unit_test(a_child_that_dies_costs_its_document_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
