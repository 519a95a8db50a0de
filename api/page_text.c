#include <ctype.h>
#include <inttypes.h>

#include "api/arguments.h"
#include "api/vcm.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

#define PLAIN_FENCE_MIN    8u
#define MARKDOWN_FENCE_MIN 3u
#define EXTENSION_MAX      12u
#define REPLACEMENT        "\xef\xbf\xbd"

/* A format: what surrounds records, and how lines are numbered. */
struct style {
    const char *name;
    bool xml;
    bool lines;
    void (*put)(struct vcm_buf *out, const struct vcm_record *record, const struct style *style);
};

static void put_run(struct vcm_buf *out, char c, size_t count)
{
    while (count-- > 0)
        vcm_buf_append_byte(out, c);
}

/* The longest run of `c` in the text or, with `at_line_start`, of runs that begin a line. */
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

/* Releases a part that was built in a buffer of its own. If that buffer failed, the text has
 * failed. */
static void take_fault(struct vcm_buf *out, struct vcm_buf *part)
{
    if (part->fault != VCM_BUF_FINE)
        out->fault = part->fault;
    vcm_buf_release(part);
}

/* The length of the character that the text begins with if it is one that JSON does not escape and
 * a line must not have: DEL, C1 (U+0085 ends lines for some), a separator of lines. Else 0. */
static size_t late_control(struct vcm_slice text)
{
    const unsigned char *p = (const unsigned char *)text.data;

    if (p[0] == 0x7f)
        return 1;
    if (text.len >= 2 && p[0] == 0xc2 && p[1] < 0xa0)
        return 2;
    return text.len >= 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9) ? 3 : 0;
}

/* Whether the path can be written on a line unchanged. */
static bool is_plain_path(struct vcm_slice path)
{
    if (path.len == 0 || path.data[0] == '"' || path.data[0] == ' ' ||
        path.data[path.len - 1] == ' ')
        return false;
    for (size_t i = 0; i < path.len; i++)
        if ((unsigned char)path.data[i] < 0x20 ||
            late_control(vcm_slice_of(path.data + i, path.len - i)) > 0)
            return false;
    return true;
}

/* In quotes where it is not plain, and with escapes as in JSON, also for characters that JSON
 * leaves as they are. */
static void put_path(struct vcm_buf *out, struct vcm_slice path)
{
    struct vcm_buf quoted = VCM_BUF_INIT(out->max);

    if (is_plain_path(path))
        vcm_buf_append_slice(out, path);
    else
        vcm_jsonw_escape(&quoted, path);
    struct vcm_slice rest = vcm_buf_slice(&quoted);
    while (rest.len > 0) {
        size_t len = late_control(rest);
        if (len == 1)
            vcm_buf_append_string(out, "\\u007f");
        else if (len == 2)
            vcm_buf_append_format(out, "\\u00%02x", (unsigned)(unsigned char)rest.data[1]);
        else if (len == 3)
            vcm_buf_append_string(out, (unsigned char)rest.data[2] == 0xa8 ? "\\u2028" : "\\u2029");
        else
            vcm_buf_append_byte(out, rest.data[0]);
        rest = vcm_slice_of(rest.data + (len > 0 ? len : 1), rest.len - (len > 0 ? len : 1));
    }
    take_fault(out, &quoted);
}

static bool ends_line(struct vcm_slice text)
{
    return text.len == 0 || text.data[text.len - 1] == '\n';
}

/* Appends the heading of a record: a chunk's section, or the definition around a later part. One
 * line, whatever it has: a line end would be outside of all fences. */
static void put_heading(struct vcm_buf *out, const struct vcm_record *record)
{
    vcm_utf8_append_line(out, vcm_slice_of_string(record->section && record->section[0]
                                                      ? record->section
                                                      : record->heading));
}

static struct vcm_slice text_of(const struct vcm_record *record)
{
    return vcm_slice_of(record->text, record->text_len);
}

/* " (lines 3-9, part 2 of 4)" */
static void put_place(struct vcm_buf *out, const struct vcm_record *record)
{
    if (record->media_type)
        vcm_buf_append_format(out, " (%s, %" PRIu64 " bytes, %s", record->media_type, record->size,
                              record->text_len > 0 ? "base64" : "left out");
    else if (record->text_len == 0)
        vcm_buf_append_string(out, " (empty");
    else if (record->page > 0)
        vcm_buf_append_format(out, " (page %" PRIu32, record->page);
    else if (record->start_line > 0)
        vcm_buf_append_format(out, " (lines %" PRIu32 "-%" PRIu32, record->start_line,
                              record->end_line);
    else
        vcm_buf_append_string(out, " (text");
    if (record->parts > 1)
        vcm_buf_append_format(out, ", part %" PRIu32 " of %" PRIu32, record->part, record->parts);
    if (record->lossy)
        vcm_buf_append_string(out, ", invalid UTF-8 replaced");
    if (!ends_line(text_of(record)))
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

/* A parser would read CR as a line end, and white space in an attribute as a space. */
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

/* Appends the content, numbered if the options ask for it. */
static void put_content(struct vcm_buf *out, const struct vcm_record *record,
                        const struct style *style)
{
    struct vcm_slice rest = text_of(record);
    int width = (int)digits_of(record->end_line);

    if (!style->lines || record->media_type || record->start_line == 0) {
        put_piece(out, rest, style->xml);
        return;
    }
    for (uint64_t number = record->start_line; rest.len > 0; number++) {
        const char *end = memchr(rest.data, '\n', rest.len);
        size_t len = end ? (size_t)(end - rest.data) + 1 : rest.len;
        vcm_buf_append_format(out, "%*" PRIu64 "\t", width, number);
        put_piece(out, vcm_slice_of(rest.data, len), style->xml);
        rest = vcm_slice_of(rest.data + len, rest.len - len);
    }
}

static void put_plain(struct vcm_buf *out, const struct vcm_record *record,
                      const struct style *style)
{
    size_t fence = fence_for(text_of(record), '=', true, PLAIN_FENCE_MIN);

    put_run(out, '=', fence);
    vcm_buf_append_byte(out, ' ');
    put_path(out, vcm_slice_of_string(record->path));
    put_place(out, record);
    vcm_buf_append_byte(out, '\n');
    struct vcm_buf heading = VCM_BUF_INIT(out->max);
    put_heading(&heading, record);
    if (heading.len > 0) {
        put_run(out, '=', fence);
        vcm_buf_append_string(out, " in ");
        vcm_buf_append_slice(out, vcm_buf_slice(&heading));
        vcm_buf_append_byte(out, '\n');
    }
    take_fault(out, &heading);
    put_content(out, record, style);
    if (!ends_line(text_of(record)))
        vcm_buf_append_byte(out, '\n');
    put_run(out, '=', fence);
    vcm_buf_append_byte(out, '\n');
}

/* Appends `code` between enough backticks for any content. */
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

/* The extension of a plain file name, which names the language of a code block: "c", "py". */
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

static void put_markdown(struct vcm_buf *out, const struct vcm_record *record,
                         const struct style *style)
{
    size_t fence = fence_for(text_of(record), '`', false, MARKDOWN_FENCE_MIN);
    struct vcm_buf path = VCM_BUF_INIT(out->max);

    put_path(&path, vcm_slice_of_string(record->path));
    vcm_buf_append_string(out, "## ");
    put_code_span(out, vcm_buf_slice(&path));
    put_place(out, record);
    vcm_buf_append_string(out, "\n\n");
    struct vcm_buf heading = VCM_BUF_INIT(out->max);
    put_heading(&heading, record);
    if (heading.len > 0) {
        vcm_buf_append_string(out, "in ");
        put_code_span(out, vcm_buf_slice(&heading));
        vcm_buf_append_string(out, "\n\n");
    }
    take_fault(out, &heading);
    put_run(out, '`', fence);
    vcm_buf_append_slice(out, extension_of(vcm_slice_of_string(record->path)));
    vcm_buf_append_byte(out, '\n');
    put_content(out, record, style);
    if (!ends_line(text_of(record)))
        vcm_buf_append_byte(out, '\n');
    put_run(out, '`', fence);
    vcm_buf_append_string(out, "\n\n");
    take_fault(out, &path);
}

static void put_attribute(struct vcm_buf *out, const char *name, const char *value)
{
    vcm_buf_append_format(out, " %s=\"", name);
    put_xml(out, vcm_slice_of_string(value), true);
    vcm_buf_append_byte(out, '"');
}

static void put_number(struct vcm_buf *out, const char *name, uint64_t value)
{
    vcm_buf_append_format(out, " %s=\"%" PRIu64 "\"", name, value);
}

static void put_element(struct vcm_buf *out, const struct vcm_record *record,
                        const struct style *style)
{
    vcm_buf_append_string(out, "<record");
    put_attribute(out, "path", record->path);
    put_number(out, "start_line", record->start_line);
    put_number(out, "end_line", record->end_line);
    put_number(out, "part", record->part);
    put_number(out, "parts", record->parts);
    put_attribute(out, "lossy", record->lossy ? "true" : "false");
    if (record->media_type) {
        put_attribute(out, "media_type", record->media_type);
        put_number(out, "size", record->size);
        put_attribute(out, "encoding", "base64");
    }
    if (record->page > 0)
        put_number(out, "page", record->page);
    if (record->section && record->section[0])
        put_attribute(out, "section", record->section);
    vcm_buf_append_string(out, ">\n");
    if (record->heading && record->heading[0]) {
        vcm_buf_append_string(out, "<heading>");
        put_xml(out, vcm_slice_of_string(record->heading), false);
        vcm_buf_append_string(out, "</heading>\n");
    }
    vcm_buf_append_string(out, "<text>");
    put_content(out, record, style);
    vcm_buf_append_string(out, "</text>\n</record>\n");
}

static const struct style styles[] = {
    {.name = "text", .put = put_plain},
    {.name = "markdown", .put = put_markdown},
    {.name = "xml", .xml = true, .put = put_element},
};

static int find_style(struct style *out, const struct vcm_render_options *options,
                      struct vcm_error *err)
{
    const char *name = options->format ? options->format : styles[0].name;

    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        if (strcmp(styles[i].name, name) == 0) {
            *out = styles[i];
            out->lines = options->lines;
            return VCM_OK;
        }
    }
    return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the format is text, markdown or xml, not '%s'",
                         name);
}

/* The page may be one that the caller built, not one of vcm_page_open(). */
static int check_record(const struct vcm_record *record, struct vcm_error *err)
{
    int rc = vcm_arguments_given(
        (const struct vcm_argument[]){{"path", record->path != NULL},
                                      {"text", record->text || !record->text_len},
                                      {NULL, false}},
        err);
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"path", record->path}, {"section", record->section},
                       {"heading", record->heading}, {"media_type", record->media_type});
    if (rc == VCM_OK && !vcm_utf8_valid(text_of(record)))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "text is not valid UTF-8");
    return rc;
}

static int check_page(const struct vcm_page *page, struct vcm_error *err)
{
    int rc = VCM_TEXTS(err, {"page_id", page->page_id}, {"scope_id", page->scope_id});

    if (rc == VCM_OK)
        rc = vcm_arguments_list("scopes", page->scopes, page->scope_count, VCM_ARGUMENT_TEXTS, err);
    if (rc == VCM_OK && !page->records && page->record_count > 0)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "records is NULL");
    for (size_t i = 0; rc == VCM_OK && i < page->record_count; i++) {
        rc = check_record(&page->records[i], err);
        if (rc != VCM_OK)
            rc = vcm_error_wrap(err, rc, "records[%zu]", i);
    }
    return rc;
}

static void put_page(struct vcm_buf *out, const struct vcm_page *page, const struct style *style)
{
    if (style->xml && !page->page_id) {
        vcm_buf_append_string(out, "<records>\n");
    } else if (style->xml) {
        vcm_buf_append_string(out, "<page");
        put_attribute(out, "id", page->page_id);
        put_attribute(out, "scope", page->scope_id);
        put_number(out, "seq", page->seq);
        vcm_buf_append_string(out, ">\n");
    }
    for (size_t i = 0; i < page->record_count; i++)
        style->put(out, &page->records[i], style);
    if (style->xml)
        vcm_buf_append_string(out, page->page_id ? "</page>\n" : "</records>\n");
}

int vcm_page_render(char **text, size_t *bytes, const struct vcm_page *page,
                    const struct vcm_render_options *options, struct vcm_error *err)
{
    struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct style style = {0};

    if (text)
        *text = NULL;
    if (bytes)
        *bytes = 0;
    int rc = vcm_arguments_given((const struct vcm_argument[]){VCM_ARGUMENT(text),
                                                               VCM_ARGUMENT(bytes),
                                                               VCM_ARGUMENT(page),
                                                               VCM_ARGUMENT(options),
                                                               {NULL, false}},
                                 err);
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"format", options->format});
    if (rc == VCM_OK)
        rc = find_style(&style, options, err);
    if (rc == VCM_OK)
        rc = check_page(page, err);
    if (rc != VCM_OK)
        return rc;
    put_page(&out, page, &style);
    if (vcm_buf_reserve(&out, 1)) /* the text of a page without records is empty, not NULL */
        vcm_buf_advance(&out, 0);
    rc = vcm_buf_check(&out, "the page's text", err);
    if (rc == VCM_OK) {
        *bytes = out.len;
        *text = vcm_buf_detach(&out);
    }
    vcm_buf_release(&out);
    return rc;
}
