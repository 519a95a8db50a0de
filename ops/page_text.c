#include "ops/page_text.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/jsonw.h"
#include "base/utf8.h"

#include "base/banned.h"

#define PLAIN_FENCE_MIN    8u
#define MARKDOWN_FENCE_MIN 3u
#define EXTENSION_MAX      12u
#define REPLACEMENT        "\xef\xbf\xbd"

static void put_run(struct vcm_buf *out, char c, size_t count)
{
    while (count-- > 0)
        vcm_buf_append_byte(out, c);
}

/* The longest run of `c` in the text, or of those that begin a line. */
static size_t longest_run(struct vcm_slice text, char c, bool at_line_start)
{
    size_t longest = 0, run = 0;
    bool counting = true;

    for (size_t i = 0; i < text.len; i++) {
        if (counting && text.data[i] == c) {
            if (++run > longest)
                longest = run;
            continue;
        }
        run = 0;
        counting = !at_line_start || text.data[i] == '\n' || text.data[i] == '\r';
    }
    return longest;
}

static size_t fence_for(struct vcm_slice text, char c, bool at_line_start, size_t least)
{
    size_t run = longest_run(text, c, at_line_start);

    return run < least ? least : run + 1;
}

/* Whether the path can stand in a line as it is. */
static bool is_plain_path(struct vcm_slice path)
{
    if (path.len == 0 || path.data[0] == '"' || path.data[0] == ' ' ||
        path.data[path.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < path.len; i++)
        if ((unsigned char)path.data[i] < 0x20 || path.data[i] == 0x7f)
            return false;
    return true;
}

static void put_path(struct vcm_buf *out, struct vcm_slice path)
{
    if (is_plain_path(path))
        vcm_buf_append_slice(out, path);
    else
        vcm_jsonw_escape(out, path);
}

static bool ends_line(struct vcm_slice text)
{
    return text.len == 0 || text.data[text.len - 1] == '\n';
}

/* What the record stands under: a chunk's section, or the line above a later part. */
static struct vcm_slice heading_of(const struct vcm_page_text_record *record)
{
    return record->section.len > 0 ? record->section : record->heading;
}

/* " (lines 3-9, part 2 of 4)" */
static void put_place(struct vcm_buf *out, const struct vcm_page_text_record *record)
{
    if (record->media_type)
        vcm_buf_append_format(out, " (%s, %" PRIu64 " bytes, %s", record->media_type, record->size,
                              record->text.len > 0 ? "base64" : "left out");
    else if (record->text.len == 0)
        vcm_buf_append_string(out, " (empty");
    else if (record->page > 0)
        vcm_buf_append_format(out, " (page %" PRIu64, record->page);
    else if (record->start_line > 0)
        vcm_buf_append_format(out, " (lines %" PRIu64 "-%" PRIu64, record->start_line,
                              record->end_line);
    else
        vcm_buf_append_string(out, " (text");
    if (record->parts > 1)
        vcm_buf_append_format(out, ", part %" PRIu64 " of %" PRIu64, record->part, record->parts);
    if (record->lossy)
        vcm_buf_append_string(out, ", invalid UTF-8 replaced");
    if (!ends_line(record->text))
        vcm_buf_append_string(out, ", no newline at end");
    vcm_buf_append_byte(out, ')');
}

static bool is_xml_character(struct vcm_slice c)
{
    if (c.len == 1)
        return (unsigned char)c.data[0] >= 0x20 || c.data[0] == '\t' || c.data[0] == '\n' ||
               c.data[0] == '\r';
    /* U+FFFE and U+FFFF */
    return !(c.len == 3 && memcmp(c.data, "\xef\xbf", 2) == 0 && (unsigned char)c.data[2] >= 0xbe);
}

/* CR would be taken for a line end by a parser, and white space in an attribute for a space. */
static void put_xml(struct vcm_buf *out, struct vcm_slice text, bool attribute)
{
    for (size_t i = 0; i < text.len;) {
        struct vcm_slice c =
            vcm_slice_of(text.data + i, vcm_utf8_sequence_length((unsigned char)text.data[i]));
        if (*c.data == '&')
            vcm_buf_append_string(out, "&amp;");
        else if (*c.data == '<')
            vcm_buf_append_string(out, "&lt;");
        else if (*c.data == '>')
            vcm_buf_append_string(out, "&gt;");
        else if (*c.data == '"' && attribute)
            vcm_buf_append_string(out, "&quot;");
        else if (*c.data == '\r' || (attribute && (*c.data == '\n' || *c.data == '\t')))
            vcm_buf_append_format(out, "&#%d;", *c.data);
        else if (is_xml_character(c))
            vcm_buf_append_slice(out, c);
        else
            vcm_buf_append_string(out, REPLACEMENT);
        i += c.len;
    }
}

static void put_piece(struct vcm_buf *out, struct vcm_slice piece, bool xml)
{
    if (xml)
        put_xml(out, piece, false);
    else
        vcm_buf_append_slice(out, piece);
}

static unsigned digits_of(uint64_t number)
{
    unsigned digits = 1;

    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

/* The content, with its line numbers where they are wanted. */
static void put_content(struct vcm_buf *out, const struct vcm_page_text_record *record,
                        const struct vcm_page_text_options *options)
{
    bool xml = options->format == VCM_PAGE_TEXT_XML;
    struct vcm_slice rest = record->text;
    int width = (int)digits_of(record->end_line);

    if (!options->lines || record->media_type || record->start_line == 0) {
        put_piece(out, rest, xml);
        return;
    }
    for (uint64_t number = record->start_line; rest.len > 0; number++) {
        const char *end = memchr(rest.data, '\n', rest.len);
        size_t len = end ? (size_t)(end - rest.data) + 1 : rest.len;
        vcm_buf_append_format(out, "%*" PRIu64 "\t", width, number);
        put_piece(out, vcm_slice_of(rest.data, len), xml);
        rest = vcm_slice_of(rest.data + len, rest.len - len);
    }
}

static void put_plain(struct vcm_buf *out, const struct vcm_page_text_record *record,
                      const struct vcm_page_text_options *options)
{
    size_t fence = fence_for(record->text, '=', true, PLAIN_FENCE_MIN);

    put_run(out, '=', fence);
    vcm_buf_append_byte(out, ' ');
    put_path(out, record->path);
    put_place(out, record);
    vcm_buf_append_byte(out, '\n');
    struct vcm_slice heading = heading_of(record);
    if (heading.len > 0) {
        put_run(out, '=', fence);
        vcm_buf_append_string(out, " in ");
        vcm_buf_append_slice(out, heading);
        vcm_buf_append_byte(out, '\n');
    }
    put_content(out, record, options);
    if (!ends_line(record->text))
        vcm_buf_append_byte(out, '\n');
    put_run(out, '=', fence);
    vcm_buf_append_byte(out, '\n');
}

/* `code`, whatever it holds. */
static void put_code_span(struct vcm_buf *out, struct vcm_slice code)
{
    size_t fence = longest_run(code, '`', false) + 1;
    bool pad = code.len > 0 && (code.data[0] == '`' || code.data[code.len - 1] == '`');

    put_run(out, '`', fence);
    vcm_buf_append_string(out, pad ? " " : "");
    vcm_buf_append_slice(out, code);
    vcm_buf_append_string(out, pad ? " " : "");
    put_run(out, '`', fence);
}

/* What follows the last dot of a plain file name says how to read it: "c", "py". */
static struct vcm_slice extension_of(struct vcm_slice path)
{
    size_t at = path.len;

    while (at > 0 && isalnum((unsigned char)path.data[at - 1]))
        at--;
    if (at < 2 || path.data[at - 1] != '.' || path.data[at - 2] == '/' ||
        path.len - at > EXTENSION_MAX)
        return vcm_slice_of("", 0);
    return vcm_slice_of(path.data + at, path.len - at);
}

static void put_markdown(struct vcm_buf *out, const struct vcm_page_text_record *record,
                         const struct vcm_page_text_options *options)
{
    size_t fence = fence_for(record->text, '`', false, MARKDOWN_FENCE_MIN);
    struct vcm_buf path = VCM_BUF_INIT(out->max);

    put_path(&path, record->path);
    vcm_buf_append_string(out, "## ");
    put_code_span(out, vcm_buf_slice(&path));
    put_place(out, record);
    vcm_buf_append_string(out, "\n\n");
    struct vcm_slice heading = heading_of(record);
    if (heading.len > 0) {
        vcm_buf_append_string(out, "in ");
        put_code_span(out, heading);
        vcm_buf_append_string(out, "\n\n");
    }
    put_run(out, '`', fence);
    vcm_buf_append_slice(out, extension_of(record->path));
    vcm_buf_append_byte(out, '\n');
    put_content(out, record, options);
    if (!ends_line(record->text))
        vcm_buf_append_byte(out, '\n');
    put_run(out, '`', fence);
    vcm_buf_append_string(out, "\n\n");
    vcm_buf_release(&path);
}

static void put_element(struct vcm_buf *out, const struct vcm_page_text_record *record,
                        const struct vcm_page_text_options *options)
{
    vcm_buf_append_string(out, "<record path=\"");
    put_xml(out, record->path, true);
    vcm_buf_append_format(out,
                          "\" start_line=\"%" PRIu64 "\" end_line=\"%" PRIu64 "\" part=\"%" PRIu64
                          "\" parts=\"%" PRIu64 "\" lossy=\"%s\"",
                          record->start_line, record->end_line, record->part, record->parts,
                          record->lossy ? "true" : "false");
    if (record->media_type)
        vcm_buf_append_format(out, " media_type=\"%s\" size=\"%" PRIu64 "\" encoding=\"base64\"",
                              record->media_type, record->size);
    if (record->page > 0)
        vcm_buf_append_format(out, " page=\"%" PRIu64 "\"", record->page);
    if (record->section.len > 0) {
        vcm_buf_append_string(out, " section=\"");
        put_xml(out, record->section, true);
        vcm_buf_append_byte(out, '"');
    }
    vcm_buf_append_string(out, ">\n");
    if (record->heading.len > 0) {
        vcm_buf_append_string(out, "<heading>");
        put_xml(out, record->heading, false);
        vcm_buf_append_string(out, "</heading>\n");
    }
    vcm_buf_append_string(out, "<text>");
    put_content(out, record, options);
    vcm_buf_append_string(out, "</text>\n</record>\n");
}

void vcm_page_text_begin(struct vcm_buf *out, const struct vcm_page_text_options *options)
{
    if (options->format != VCM_PAGE_TEXT_XML)
        return;
    vcm_buf_append_format(out, "<page id=\"%s\" scope=\"", options->page_id);
    put_xml(out, vcm_slice_of_string(options->scope_id), true);
    vcm_buf_append_format(out, "\" seq=\"%" PRIu64 "\">\n", options->seq);
}

void vcm_page_text_put(struct vcm_buf *out, const struct vcm_page_text_record *record,
                       const struct vcm_page_text_options *options)
{
    switch (options->format) {
    case VCM_PAGE_TEXT_PLAIN:
        put_plain(out, record, options);
        break;
    case VCM_PAGE_TEXT_MARKDOWN:
        put_markdown(out, record, options);
        break;
    case VCM_PAGE_TEXT_XML:
        put_element(out, record, options);
        break;
    }
}

void vcm_page_text_end(struct vcm_buf *out, const struct vcm_page_text_options *options)
{
    if (options->format == VCM_PAGE_TEXT_XML)
        vcm_buf_append_string(out, "</page>\n");
}
