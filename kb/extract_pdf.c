#include "kb/extract_pdf.h"

#include <math.h>
#include <poppler.h>
#include <string.h>

#include "base/limits.h"

#include "base/banned.h"

#define PIECE_GAP 1.1 /* of a character's height: a larger gap than between two words of a line */

/* A page's text with the place and the font of every character. */
struct page {
    char *text;
    PopplerRectangle *places;
    guint place_count;
    GList *fonts;
    GList *font;   /* of the character that was asked for last */
    GList *judged; /* the last font that was tested for bold */
    bool bold;
};

static bool is_bold(const char *name)
{
    static const char *const marks[] = {"Bold", "bold", "BOLD", "Black", "Heavy",
                                        "CMBX", "CMB1", "Demi", "SFBX",  "LMRomanDemi"};

    for (size_t i = 0; name && i < sizeof marks / sizeof marks[0]; i++) {
        if (strstr(name, marks[i]))
            return true;
    }
    return false;
}

static const PopplerTextAttributes *font_at(struct page *page, guint index)
{
    while (page->font && page->font->next &&
           ((PopplerTextAttributes *)page->font->data)->end_index < (int)index)
        page->font = page->font->next;
    return page->font ? page->font->data : NULL;
}

/* The box around `count` characters from `first` on, and the font that most of them have. */
static void measure(struct vcm_layout_box *box, struct page *page, guint first, guint count)
{
    double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
    double best = 0;
    guint best_count = 0, bold = 0, run = 0;
    double size = 0;

    for (guint i = first; i < first + count; i++) {
        const PopplerTextAttributes *font = font_at(page, i);
        if (i < page->place_count && page->places[i].x2 > page->places[i].x1) {
            x0 = fmin(x0, page->places[i].x1);
            x1 = fmax(x1, page->places[i].x2);
            y0 = fmin(y0, page->places[i].y1);
            y1 = fmax(y1, page->places[i].y2);
        }
        if (!font)
            continue;
        run = fabs(font->font_size - size) < 0.01 ? run + 1 : 1;
        size = font->font_size;
        if (run > best_count) {
            best_count = run;
            best = size;
        }
        if (page->judged != page->font) {
            page->judged = page->font;
            page->bold = is_bold(font->font_name);
        }
        bold += page->bold ? 1 : 0;
    }
    *box = (struct vcm_layout_box){(float)x0, (float)y0,   (float)x1,
                                   (float)y1, (float)best, bold * 5 >= count * 4};
    if (!(x1 >= x0) || !(y1 >= y0) || !isfinite(x0 + x1 + y0 + y1))
        *box = (struct vcm_layout_box){.size = (float)best};
    if (!isfinite(box->size) || box->size <= 0)
        box->size = fmaxf(box->y1 - box->y0, 1.0f);
}

/* Appends a line of `count` characters. Where poppler joins two pieces of a line without a space,
 * the gap between them shows where one belongs. */
static void space_words(struct vcm_buf *out, const struct page *page, const char *text, guint first,
                        guint count, float size)
{
    for (guint i = first; i < first + count; i++) {
        const char *next = g_utf8_next_char(text);
        bool spaces = *text == ' ' || out->len == 0 || out->data[out->len - 1] == ' ';
        if (i > first && i < page->place_count && !spaces &&
            page->places[i].x1 - page->places[i - 1].x2 > 0.3 * (double)size)
            vcm_buf_append_byte(out, ' ');
        vcm_buf_append(out, text, (size_t)(next - text));
        text = next;
    }
}

/* How many of the characters come before a gap that may separate two columns: poppler makes one
 * line of everything at one height. */
static guint piece_length(const struct page *page, const char *text, guint first, guint count)
{
    guint last = first;

    for (guint i = first; i < first + count && i < page->place_count;
         i++, text = g_utf8_next_char(text)) {
        if (*text == ' ')
            continue;
        const PopplerRectangle *before = &page->places[last], *here = &page->places[i];
        double height = fmin(before->y2 - before->y1, here->y2 - here->y1);
        if (i > first && here->x1 - before->x2 > PIECE_GAP * height)
            return i - first;
        last = i;
    }
    return count;
}

static int take_pieces(struct vcm_layout *layout, struct page *page, struct vcm_buf *line,
                       const char *text, guint index, guint count, struct vcm_error *err)
{
    int rc = VCM_OK;

    while (rc == VCM_OK && count > 0) {
        guint taken = piece_length(page, text, index, count);
        struct vcm_layout_box box;
        measure(&box, page, index, taken);
        vcm_buf_clear(line);
        space_words(line, page, text, index, taken, box.size);
        rc = vcm_buf_check(line, "a line", err);
        if (rc == VCM_OK)
            rc = vcm_layout_add_line(layout, vcm_buf_slice(line), &box, err);
        text = g_utf8_offset_to_pointer(text, (glong)taken);
        index += taken;
        count -= taken;
    }
    return rc;
}

static int take_lines(struct vcm_layout *layout, struct page *page, struct vcm_error *err)
{
    struct vcm_buf line = VCM_BUF_INIT(VCM_LIMIT_EXTRACT_TEXT_BYTES);
    const char *at = page->text;
    guint index = 0;
    int rc = VCM_OK;

    page->font = page->fonts;
    while (rc == VCM_OK && *at != '\0') {
        size_t len = strcspn(at, "\n");
        glong characters = g_utf8_strlen(at, (gssize)len);
        rc = take_pieces(layout, page, &line, at, index, (guint)characters, err);
        at += len + (at[len] == '\n' ? 1 : 0);
        index += (guint)characters + 1;
    }
    vcm_buf_release(&line);
    return rc;
}

static int read_page(struct vcm_layout *layout, PopplerPage *source, struct vcm_error *err)
{
    struct page page = {.text = NULL};
    double width = 0;
    double height = 0;

    poppler_page_get_size(source, &width, &height);
    int rc = vcm_layout_add_page(layout, (float)height, err);
    page.text = poppler_page_get_text(source);
    if (rc == VCM_OK && page.text && page.text[0] != '\0') {
        /* On an empty page the call does not set its results. */
        if (!poppler_page_get_text_layout(source, &page.places, &page.place_count))
            page.place_count = 0;
        page.fonts = poppler_page_get_text_attributes(source);
        rc = take_lines(layout, &page, err);
    }
    poppler_page_free_text_attributes(page.fonts);
    g_free(page.places);
    g_free(page.text);
    return rc;
}

static enum vcm_extract_status read_pages(struct vcm_layout *layout, PopplerDocument *document,
                                          struct vcm_error *err)
{
    int count = poppler_document_get_n_pages(document);

    if (count <= 0) {
        vcm_error_set(err, VCM_UNSUPPORTED, "the document has no pages");
        return VCM_EXTRACT_CORRUPT;
    }
    if ((size_t)count > VCM_LIMIT_DOCUMENT_PAGES) {
        vcm_error_set(err, VCM_UNSUPPORTED, "%d pages, at most %zu", count,
                      VCM_LIMIT_DOCUMENT_PAGES);
        return VCM_EXTRACT_OVER_LIMITS;
    }
    for (int i = 0; i < count; i++) {
        PopplerPage *page = poppler_document_get_page(document, i);
        /* A missing page keeps its number. */
        int rc = page ? read_page(layout, page, err) : vcm_layout_add_page(layout, 1, err);
        if (page)
            g_object_unref(page);
        if (rc != VCM_OK)
            return rc == VCM_UNSUPPORTED ? VCM_EXTRACT_OVER_LIMITS : VCM_EXTRACT_FAILED;
    }
    if (layout->line_count == 0) {
        vcm_error_set(err, VCM_UNSUPPORTED, "there is no text on its %d pages", count);
        return VCM_EXTRACT_NO_TEXT;
    }
    return VCM_EXTRACT_DONE;
}

enum vcm_extract_status vcm_extract_pdf_read(struct vcm_layout *layout, struct vcm_slice bytes,
                                             struct vcm_error *err)
{
    enum vcm_extract_status status;
    GError *error = NULL;
    GBytes *content = g_bytes_new_static(bytes.data, bytes.len);
    PopplerDocument *document = poppler_document_new_from_bytes(content, NULL, &error);

    if (document) {
        status = read_pages(layout, document, err);
        g_object_unref(document);
    } else {
        status = g_error_matches(error, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED)
                     ? VCM_EXTRACT_ENCRYPTED
                     : VCM_EXTRACT_CORRUPT;
        vcm_error_set(err, VCM_UNSUPPORTED, "%s", error ? error->message : "not a PDF");
        g_clear_error(&error);
    }
    g_bytes_unref(content);
    return status;
}
