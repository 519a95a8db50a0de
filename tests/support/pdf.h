/*
 * pdf.h - makes small PDFs for tests: pages with text where the test wants it.
 */
#ifndef VCM_TESTS_SUPPORT_PDF_H
#define VCM_TESTS_SUPPORT_PDF_H

#include <stdbool.h>

#include "base/buf.h"

#define TEST_PDF_PAGES_MAX 64

enum test_pdf_font {
    TEST_PDF_ROMAN = 1, /* the bytes 1 and 2 are the ligatures fi and ffl */
    TEST_PDF_BOLD,
};

struct test_pdf {
    struct vcm_buf pages[TEST_PDF_PAGES_MAX]; /* content streams */
    unsigned page_count;
    bool encrypted; /* with a password that nobody knows */
};

void test_pdf_init(struct test_pdf *pdf);
void test_pdf_release(struct test_pdf *pdf);

/* What follows is on the next page, of 612 by 792 points. */
void test_pdf_add_page(struct test_pdf *pdf);

/* Puts a line of text; y is counted from the bottom. */
void test_pdf_add_text(struct test_pdf *pdf, enum test_pdf_font font, int size, int x, int y,
                       const char *text);

/* Appends the whole file. */
void test_pdf_write(struct vcm_buf *out, const struct test_pdf *pdf);

#endif
