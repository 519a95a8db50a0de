#include "tests/support/pdf.h"

#include <assert.h>

#include "base/limits.h"

#include "base/banned.h"

#define OBJECTS_MAX (2 * TEST_PDF_PAGES_MAX + 8)

void test_pdf_init(struct test_pdf *pdf)
{
    *pdf = (struct test_pdf){.page_count = 0};
}

void test_pdf_release(struct test_pdf *pdf)
{
    for (unsigned i = 0; i < pdf->page_count; i++)
        vcm_buf_release(&pdf->pages[i]);
}

void test_pdf_add_page(struct test_pdf *pdf)
{
    assert(pdf->page_count < TEST_PDF_PAGES_MAX);
    vcm_buf_init(&pdf->pages[pdf->page_count++], VCM_MIB);
}

void test_pdf_add_text(struct test_pdf *pdf, enum test_pdf_font font, int size, int x, int y,
                       const char *text)
{
    struct vcm_buf *page = &pdf->pages[pdf->page_count - 1];

    vcm_buf_append_format(page, "BT /F%d %d Tf %d %d Td (", (int)font, size, x, y);
    for (; *text != '\0'; text++) {
        if (strchr("()\\", *text))
            vcm_buf_append_byte(page, '\\');
        vcm_buf_append_byte(page, *text);
    }
    vcm_buf_append_string(page, ") Tj ET\n");
}

/* The file as it grows, and where its objects begin. */
struct writer {
    struct vcm_buf *out;
    size_t offsets[OBJECTS_MAX];
    unsigned count;
};

static void begin_object(struct writer *w)
{
    w->offsets[w->count++] = w->out->len;
    vcm_buf_append_format(w->out, "%u 0 obj\n", w->count);
}

static void add_object(struct writer *w, const char *text)
{
    begin_object(w);
    vcm_buf_append_format(w->out, "%s\nendobj\n", text);
}

static void add_page(struct writer *w, const struct vcm_buf *content)
{
    begin_object(w);
    vcm_buf_append_format(w->out,
                          "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %u 0 R "
                          "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>\nendobj\n",
                          w->count + 1);
    begin_object(w);
    vcm_buf_append_format(w->out, "<< /Length %zu >>\nstream\n", content->len);
    vcm_buf_append_slice(w->out, vcm_buf_slice(content));
    vcm_buf_append_string(w->out, "endstream\nendobj\n");
}

void test_pdf_write(struct vcm_buf *out, const struct test_pdf *pdf)
{
    struct writer w = {.out = out};

    vcm_buf_append_string(out, "%PDF-1.4\n");
    add_object(&w, "<< /Type /Catalog /Pages 2 0 R >>");
    begin_object(&w);
    vcm_buf_append_format(out, "<< /Type /Pages /Count %u /Kids [", pdf->page_count);
    for (unsigned i = 0; i < pdf->page_count; i++)
        vcm_buf_append_format(out, " %u 0 R", 6 + 2 * i);
    vcm_buf_append_string(out, " ] >>\nendobj\n");
    add_object(&w, "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding << /Type "
                   "/Encoding /BaseEncoding /WinAnsiEncoding /Differences [1 /fi /ffl] >> >>");
    add_object(&w, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>");
    add_object(&w, "<< /Filter /Standard /V 1 /R 2 /P -4 "
                   "/O <00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff> "
                   "/U <ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100> >>");
    for (unsigned i = 0; i < pdf->page_count; i++)
        add_page(&w, &pdf->pages[i]);
    size_t table = out->len;
    vcm_buf_append_format(out, "xref\n0 %u\n0000000000 65535 f \n", w.count + 1);
    for (unsigned i = 0; i < w.count; i++)
        vcm_buf_append_format(out, "%010zu 00000 n \n", w.offsets[i]);
    vcm_buf_append_format(out, "trailer\n<< /Size %u /Root 1 0 R %s>>\nstartxref\n%zu\n%%%%EOF\n",
                          w.count + 1, pdf->encrypted ? "/Encrypt 5 0 R /ID [<00> <00>] " : "",
                          table);
}
