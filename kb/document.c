#include "kb/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "base/wire.h"

#include "base/banned.h"

#define DOCUMENT_MAGIC "vcm-document 1\n"

void vcm_document_init(struct vcm_document *document)
{
    *document = (struct vcm_document){0};
    vcm_buf_init(&document->text, VCM_LIMIT_DOCUMENT_TEXT_BYTES);
    vcm_arena_init(&document->arena, VCM_LIMIT_DOCUMENT_TEXT_BYTES);
}

void vcm_document_release(struct vcm_document *document)
{
    if (!document)
        return;
    vcm_buf_release(&document->text);
    vcm_arena_release(&document->arena);
    free(document->headings);
    free(document->pages);
    *document = (struct vcm_document){0};
}

int vcm_document_refuse(struct vcm_document *document, enum vcm_reason reason,
                        struct vcm_error *err, const char *format, ...)
{
    char text[sizeof err->message];
    va_list args;

    document->refused = reason;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return vcm_error_set(err, VCM_UNSUPPORTED, "%s: %s", vcm_outcome_reason_name(reason), text);
}

int vcm_document_check(struct vcm_document *document, const struct vcm_buf *buf, const char *what,
                       struct vcm_error *err)
{
    struct vcm_error own = {0};
    int rc = vcm_buf_check(buf, what, &own);

    if (rc == VCM_UNSUPPORTED)
        return vcm_document_refuse(document, VCM_REASON_OVER_THE_LIMITS, err, "%s", own.message);
    return rc == VCM_OK ? rc : vcm_error_set(err, own.code, "%s", own.message);
}

static bool is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The title on one line, single spaces, cut between two characters. */
static void normalise_title(struct vcm_buf *out, struct vcm_slice title)
{
    bool space = false;

    for (size_t i = 0; i < title.len && out->len < VCM_LIMIT_HEADING_BYTES; i++) {
        unsigned char byte = (unsigned char)title.data[i];
        if (is_space((char)byte) || byte < 0x20 || byte == 0x7f) {
            space = out->len > 0;
            continue;
        }
        if (space)
            vcm_buf_append_byte(out, ' ');
        space = false;
        vcm_buf_append_byte(out, (char)byte);
    }
    if (out->len >= VCM_LIMIT_HEADING_BYTES)
        vcm_buf_truncate(out, vcm_utf8_valid_prefix(vcm_buf_slice(out)));
}

/* Room for one more element in an array that doubles. */
static int grow(void **array, size_t count, size_t *capacity, size_t size, struct vcm_error *err)
{
    if (count < *capacity)
        return VCM_OK;
    size_t wanted = *capacity > 0 ? *capacity * 2 : 16;
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return vcm_error_memory(err);
    *array = larger;
    *capacity = wanted;
    return VCM_OK;
}

int vcm_document_add_heading(struct vcm_document *document, uint32_t level, size_t offset,
                             size_t end, struct vcm_slice title, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_HEADING_BYTES + 8);
    size_t count = document->heading_count;
    void *array = document->headings;
    int rc = VCM_OK;

    if (count >= VCM_LIMIT_DOCUMENT_HEADINGS || end <= offset ||
        (count > 0 && offset < document->headings[count - 1].end))
        return VCM_OK;
    normalise_title(&text, title);
    rc = vcm_buf_check(&text, "a title", err);
    if (rc != VCM_OK || text.len == 0)
        goto done;
    rc = grow(&array, count, &document->heading_capacity, sizeof *document->headings, err);
    document->headings = array;
    if (rc != VCM_OK)
        goto done;
    char *copy = vcm_arena_copy(&document->arena, vcm_buf_slice(&text));
    if (!copy) {
        rc = vcm_error_memory(err);
        goto done;
    }
    document->headings[document->heading_count++] =
        (struct vcm_document_heading){offset, end, level > 0 ? level : 1, {copy, text.len}};
done:
    vcm_buf_release(&text);
    return rc;
}

int vcm_document_add_page(struct vcm_document *document, size_t offset, uint32_t number,
                          struct vcm_error *err)
{
    size_t count = document->page_count;
    void *array = document->pages;

    if (count > 0 && document->pages[count - 1].offset >= offset) {
        document->pages[count - 1].number = number;
        return VCM_OK;
    }
    if (count >= VCM_LIMIT_DOCUMENT_PAGES)
        return vcm_error_set(err, VCM_UNSUPPORTED, "more than %zu pages", VCM_LIMIT_DOCUMENT_PAGES);
    int rc = grow(&array, count, &document->page_capacity, sizeof *document->pages, err);
    document->pages = array;
    if (rc == VCM_OK)
        document->pages[document->page_count++] = (struct vcm_document_page){offset, number};
    return rc;
}

uint32_t vcm_document_page_at(const struct vcm_document *document, size_t offset)
{
    size_t low = 0;
    size_t high = document->page_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (document->pages[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (document->page_count == 0)
        return 0;
    return document->pages[low > 0 ? low - 1 : 0].number;
}

bool vcm_document_is_blank(const struct vcm_document *document)
{
    for (size_t i = 0; i < document->text.len; i++) {
        if (!is_space(document->text.data[i]))
            return false;
    }
    return true;
}

void vcm_document_encode(struct vcm_buf *out, const struct vcm_document *document)
{
    vcm_buf_append_string(out, DOCUMENT_MAGIC);
    vcm_wire_put_u8(out, document->lossy ? 1 : 0);
    vcm_wire_put_bytes(out, vcm_buf_slice(&document->text));
    vcm_wire_put_count(out, document->heading_count);
    for (size_t i = 0; i < document->heading_count; i++) {
        const struct vcm_document_heading *heading = &document->headings[i];
        vcm_wire_put_count(out, heading->offset);
        vcm_wire_put_count(out, heading->end);
        vcm_wire_put_count(out, heading->level);
        vcm_wire_put_bytes(out, heading->title);
    }
    vcm_wire_put_count(out, document->page_count);
    for (size_t i = 0; i < document->page_count; i++) {
        vcm_wire_put_count(out, document->pages[i].offset);
        vcm_wire_put_count(out, document->pages[i].number);
    }
}

/* Offsets must be between two characters, or a chunk could begin inside one. */
static bool is_boundary(const struct vcm_buf *text, uint64_t offset)
{
    return offset <= text->len &&
           (offset == text->len || ((unsigned char)text->data[offset] & 0xc0) != 0x80);
}

static int decode_headings(struct vcm_document *document, struct vcm_wire_reader *r,
                           struct vcm_error *err)
{
    uint64_t count = vcm_wire_get_count(r);
    int rc = VCM_OK;

    for (uint64_t i = 0; rc == VCM_OK && i < count && !r->bad; i++) {
        uint64_t offset = vcm_wire_get_count(r);
        uint64_t end = vcm_wire_get_count(r);
        uint64_t level = vcm_wire_get_count(r);
        struct vcm_slice title = vcm_wire_get_bytes(r);
        if (!is_boundary(&document->text, offset) || !is_boundary(&document->text, end) ||
            level > VCM_LIMIT_HEADING_LEVELS || !vcm_utf8_valid(title))
            r->bad = true;
        else
            rc = vcm_document_add_heading(document, (uint32_t)level, (size_t)offset, (size_t)end,
                                          title, err);
    }
    return rc;
}

static int decode_pages(struct vcm_document *document, struct vcm_wire_reader *r,
                        struct vcm_error *err)
{
    uint64_t count = vcm_wire_get_count(r);
    int rc = VCM_OK;

    for (uint64_t i = 0; rc == VCM_OK && i < count && !r->bad; i++) {
        uint64_t offset = vcm_wire_get_count(r);
        uint64_t number = vcm_wire_get_count(r);
        if (!is_boundary(&document->text, offset) || number > UINT32_MAX)
            r->bad = true;
        else
            rc = vcm_document_add_page(document, (size_t)offset, (uint32_t)number, err);
    }
    return rc;
}

int vcm_document_decode(struct vcm_document *document, struct vcm_slice bytes,
                        struct vcm_error *err)
{
    size_t magic = strlen(DOCUMENT_MAGIC);
    struct vcm_wire_reader r;

    vcm_wire_reader_init(&r, bytes);
    if (!vcm_slice_equal(vcm_wire_get_raw(&r, magic), vcm_slice_of_string(DOCUMENT_MAGIC)))
        return vcm_error_set(err, VCM_UNSUPPORTED, "no extracted document");
    document->lossy = vcm_wire_get_u8(&r) != 0;
    struct vcm_slice text = vcm_wire_get_bytes(&r);
    if (!vcm_utf8_valid(text))
        return vcm_error_set(err, VCM_UNSUPPORTED, "the extracted text is not UTF-8");
    vcm_buf_append_slice(&document->text, text);
    int rc = vcm_buf_check(&document->text, "the text", err);
    if (rc == VCM_OK)
        rc = decode_headings(document, &r, err);
    if (rc == VCM_OK)
        rc = decode_pages(document, &r, err);
    if (rc == VCM_OK && !vcm_wire_reader_done(&r))
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "the extracted document is malformed");
    return rc;
}
