#include "kb/reader_formats.h"

#include "base/limits.h"

#include "base/banned.h"

#define SETEXT_LINES_MAX 4 /* of a title; an underline below more lines is a rule */

struct scan {
    struct vcm_slice text;
    char fence; /* of the code block that is open, or 0 */
    size_t fence_len;
    size_t paragraph;       /* where the paragraph that may become a title begins */
    unsigned paragraph_len; /* its lines; 0 when there is none */
};

static size_t run_length(struct vcm_slice line, size_t at, char mark)
{
    size_t len = 0;

    while (at + len < line.len && line.data[at + len] == mark)
        len++;
    return len;
}

/* Spaces at the beginning; 4 for a tab. */
static size_t indentation(struct vcm_slice line)
{
    size_t at = 0;

    while (at < line.len && line.data[at] == ' ')
        at++;
    return at < line.len && line.data[at] == '\t' ? 4 : at;
}

/* Opens or closes a fenced block; true when the line is inside one or is a fence. */
static bool take_fence(struct scan *scan, struct vcm_slice line, size_t indent)
{
    char mark = indent < line.len ? line.data[indent] : '\0';
    bool is_mark = indent < 4 && (mark == '`' || mark == '~');
    size_t len = is_mark ? run_length(line, indent, mark) : 0;

    if (scan->fence != '\0') {
        if (mark == scan->fence && len >= scan->fence_len && indent + len == line.len)
            scan->fence = '\0';
        return true;
    }
    if (len < 3 || (mark == '`' && memchr(line.data + indent + len, '`', line.len - indent - len)))
        return false;
    scan->fence = mark;
    scan->fence_len = len;
    return true;
}

/* The level of "## Title", 0 for other lines; *title is the text after the marks. */
static unsigned atx_level(struct vcm_slice *title, struct vcm_slice line, size_t indent)
{
    size_t level = indent < 4 ? run_length(line, indent, '#') : 0;
    size_t begin = indent + level;
    size_t end = line.len;

    if (level == 0 || level > 6 ||
        (begin < line.len && line.data[begin] != ' ' && line.data[begin] != '\t'))
        return 0;
    while (end > begin && line.data[end - 1] == '#')
        end--;
    if (end > begin && line.data[end - 1] != ' ' && line.data[end - 1] != '\t')
        end = line.len;
    *title = vcm_slice_of(line.data + begin, end - begin);
    return (unsigned)level;
}

/* The level of an underline, 0 for other lines. */
static unsigned setext_level(struct vcm_slice line, size_t indent)
{
    char mark = indent < line.len ? line.data[indent] : '\0';

    if (indent > 3 || (mark != '=' && mark != '-') ||
        run_length(line, indent, mark) != line.len - indent)
        return 0;
    return mark == '=' ? 1 : 2;
}

/* Whether the line could be the first one of a title: no item, quotation, table row or code. */
static bool begins_paragraph(struct vcm_slice line, size_t indent)
{
    if (indent > 3 || indent == line.len)
        return false;
    char mark = line.data[indent];
    bool space = indent + 1 < line.len && line.data[indent + 1] == ' ';
    return mark != '>' && mark != '|' && mark != '<' &&
           !((mark == '-' || mark == '*' || mark == '+') && (space || indent + 1 == line.len));
}

/* A title as displayed: "[text](link)" becomes its text, marks of emphasis and code are removed. */
static void plain_title(struct vcm_buf *out, struct vcm_slice title)
{
    bool closes = true; /* a bracket may follow; once none did, none is looked for */

    for (size_t i = 0; i < title.len; i++) {
        char byte = title.data[i];
        if (byte == '*' || byte == '`')
            continue;
        if (byte == '\\' && i + 1 < title.len) {
            vcm_buf_append_byte(out, title.data[++i]);
            continue;
        }
        if (byte == ']' && i + 1 < title.len && title.data[i + 1] == '(') {
            const char *close = closes ? memchr(title.data + i, ')', title.len - i) : NULL;
            closes = close != NULL;
            i = close ? (size_t)(close - title.data) : i;
            continue;
        }
        if (byte == '[' || (byte == '!' && i + 1 < title.len && title.data[i + 1] == '['))
            continue;
        if (byte == '{' && i + 1 < title.len && title.data[i + 1] == '#')
            break;
        vcm_buf_append_byte(out, byte);
    }
}

static int add(struct vcm_document *document, unsigned level, size_t begin, size_t end,
               struct vcm_slice title, struct vcm_error *err)
{
    struct vcm_buf plain = VCM_BUF_INIT(VCM_LIMIT_DOCUMENT_TEXT_BYTES);

    plain_title(&plain, title);
    int rc = vcm_buf_check(&plain, "a title", err);
    if (rc == VCM_OK)
        rc = vcm_document_add_heading(document, level, begin, end, vcm_buf_slice(&plain), err);
    vcm_buf_release(&plain);
    return rc;
}

static int take_line(struct vcm_document *document, struct scan *scan, size_t begin, size_t end,
                     struct vcm_error *err)
{
    struct vcm_slice line = vcm_reader_formats_line(scan->text, begin, end);
    size_t indent = indentation(line);
    struct vcm_slice title;

    if (take_fence(scan, line, indent) || line.len == 0) {
        scan->paragraph_len = 0;
        return VCM_OK;
    }
    unsigned level = atx_level(&title, line, indent);
    if (level > 0) {
        scan->paragraph_len = 0;
        return add(document, level, begin, end, title, err);
    }
    level = setext_level(line, indent);
    if (level > 0) {
        unsigned lines = scan->paragraph_len;
        scan->paragraph_len = 0;
        if (lines == 0 || lines > SETEXT_LINES_MAX)
            return VCM_OK;
        return add(document, level, scan->paragraph, end,
                   vcm_slice_of(scan->text.data + scan->paragraph, begin - scan->paragraph), err);
    }
    if (scan->paragraph_len > 0) {
        scan->paragraph_len++;
    } else if (begins_paragraph(line, indent)) {
        scan->paragraph = begin;
        scan->paragraph_len = 1;
    } else {
        /* The lines after it belong to it as well. */
        scan->paragraph_len = SETEXT_LINES_MAX + 1;
    }
    return VCM_OK;
}

/* The position behind the front matter of static site generators, or 0. */
static size_t front_matter_end(struct vcm_slice text)
{
    size_t end = vcm_reader_formats_line_end(text, 0);

    if (!vcm_slice_equal(vcm_reader_formats_line(text, 0, end), vcm_slice_of_string("---")))
        return 0;
    for (size_t at = end; at < text.len; at = end) {
        end = vcm_reader_formats_line_end(text, at);
        struct vcm_slice line = vcm_reader_formats_line(text, at, end);
        if (vcm_slice_equal(line, vcm_slice_of_string("---")) ||
            vcm_slice_equal(line, vcm_slice_of_string("...")))
            return end;
        if (line.len == 0)
            return 0;
    }
    return 0;
}

int vcm_reader_markdown_headings(struct vcm_document *document, struct vcm_error *err)
{
    struct scan scan = {.text = vcm_buf_slice(&document->text)};
    int rc = VCM_OK;

    if (scan.text.len == 0)
        return VCM_OK;
    for (size_t at = front_matter_end(scan.text); rc == VCM_OK && at < scan.text.len;) {
        size_t end = vcm_reader_formats_line_end(scan.text, at);
        rc = take_line(document, &scan, at, end, err);
        at = end;
    }
    return rc;
}
