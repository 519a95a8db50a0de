#include "kb/reader_formats.h"

#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

/* The adornments of titles in the order of their first use, which determines their levels. */
struct style {
    char mark;
    bool overline;
};

struct styles {
    struct style known[VCM_LIMIT_HEADING_LEVELS];
    unsigned count;
};

/* The character that the whole line consists of, or 0. */
static char adornment(struct vcm_slice line)
{
    if (line.len < 2 || !strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", line.data[0]))
        return '\0';
    for (size_t i = 1; i < line.len; i++) {
        if (line.data[i] != line.data[0])
            return '\0';
    }
    return line.data[0];
}

static unsigned level_of(struct styles *styles, struct style style)
{
    for (unsigned i = 0; i < styles->count; i++) {
        if (styles->known[i].mark == style.mark && styles->known[i].overline == style.overline)
            return i + 1;
    }
    if (styles->count < VCM_LIMIT_HEADING_LEVELS)
        styles->known[styles->count++] = style;
    return styles->count;
}

/* Whether the adornment is long enough for the title; shorter ones are accepted from four on. */
static bool underlines(struct vcm_slice line, struct vcm_slice title)
{
    return line.len >= 4 || line.len >= vcm_utf8_columns(title);
}

static bool is_title(struct vcm_slice line)
{
    return line.len > 0 && adornment(line) == '\0';
}

int vcm_reader_rst_headings(struct vcm_document *document, struct vcm_error *err)
{
    struct vcm_slice text = vcm_buf_slice(&document->text);
    struct styles styles = {.count = 0};
    bool after_blank = true;
    int rc = VCM_OK;

    for (size_t at = 0; rc == VCM_OK && at < text.len;) {
        size_t second = vcm_reader_formats_line_end(text, at);
        size_t third = second < text.len ? vcm_reader_formats_line_end(text, second) : second;
        struct vcm_slice a = vcm_reader_formats_line(text, at, second);
        struct vcm_slice b = vcm_reader_formats_line(text, second, third);
        size_t fourth = third < text.len ? vcm_reader_formats_line_end(text, third) : third;
        struct vcm_slice c = vcm_reader_formats_line(text, third, fourth);
        char over = adornment(a);
        char under = adornment(b);

        if (after_blank && over != '\0' && is_title(b) && adornment(c) == over &&
            underlines(c, b)) {
            unsigned level = level_of(&styles, (struct style){over, true});
            rc = vcm_document_add_heading(document, level, at, fourth, b, err);
            at = fourth;
            after_blank = true;
        } else if (after_blank && is_title(a) && a.data[0] != ' ' && a.data[0] != '\t' &&
                   under != '\0' && underlines(b, a)) {
            unsigned level = level_of(&styles, (struct style){under, false});
            rc = vcm_document_add_heading(document, level, at, third, a, err);
            at = third;
            after_blank = true;
        } else {
            after_blank = a.len == 0;
            at = second;
        }
    }
    return rc;
}
