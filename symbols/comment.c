#include "symbols/comment.h"

#include "base/banned.h"

/* The lines above a place, the nearest first. */
struct lines_above {
    struct vcm_slice text; /* up to the end of the line that is next */
};

static struct vcm_slice trim(struct vcm_slice line)
{
    while (line.len > 0 && (line.data[0] == ' ' || line.data[0] == '\t'))
        line = vcm_slice_of(line.data + 1, line.len - 1);
    while (line.len > 0 && (line.data[line.len - 1] == ' ' || line.data[line.len - 1] == '\t' ||
                            line.data[line.len - 1] == '\r'))
        line.len--;
    return line;
}

/* Takes the nearest line off, without white space around it; false above the first. */
static bool take_line(struct vcm_slice *line, struct lines_above *lines)
{
    if (lines->text.len == 0)
        return false;
    size_t end = lines->text.len - 1; /* its line end */
    const char *before = end > 0 ? memrchr(lines->text.data, '\n', end) : NULL;
    size_t begin = before ? (size_t)(before - lines->text.data) + 1 : 0;

    *line = trim(vcm_slice_of(lines->text.data + begin, end - begin));
    lines->text.len = begin;
    return true;
}

static bool begins_with(struct vcm_slice text, const char *mark)
{
    size_t len = mark ? strlen(mark) : 0;

    return len > 0 && text.len >= len && memcmp(text.data, mark, len) == 0;
}

static bool ends_with(struct vcm_slice text, const char *mark)
{
    size_t len = mark ? strlen(mark) : 0;

    return len > 0 && text.len >= len && memcmp(text.data + text.len - len, mark, len) == 0;
}

static bool has(struct vcm_slice text, const char *mark)
{
    return memmem(text.data, text.len, mark, strlen(mark)) != NULL;
}

static bool is_annotation(struct vcm_slice line)
{
    return begins_with(line, "@") || begins_with(line, "#[") || begins_with(line, "[[");
}

/* The number of lines of the block comment whose last line is `line`; 0 when it has no beginning,
 * or stands behind something else. */
static uint32_t block_lines(struct vcm_slice line, struct lines_above *lines, const char *open)
{
    for (uint32_t count = 1; count <= VCM_COMMENT_LINES_MAX; count++) {
        if (has(line, open))
            return begins_with(line, open) ? count : 0;
        if (!take_line(&line, lines))
            return 0;
    }
    return 0;
}

static size_t offset_of(struct vcm_slice text, uint32_t line)
{
    size_t at = 0;

    for (uint32_t i = 1; i < line; i++) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        if (!end)
            return 0;
        at = (size_t)(end - text.data) + 1;
    }
    return at;
}

uint32_t vcm_comment_begin(enum vcm_language language, struct vcm_slice text, uint32_t line)
{
    const struct vcm_language_comments *marks = &vcm_language_get(language)->comments;
    struct lines_above lines = {.text = vcm_slice_of(text.data, offset_of(text, line))};
    struct vcm_slice above;
    uint32_t begin = line, at = line;

    while (line - at < VCM_COMMENT_LINES_MAX && take_line(&above, &lines)) {
        bool is_line = begins_with(above, marks->line) && !begins_with(above, marks->about_file);
        uint32_t block = ends_with(above, marks->close) && marks->open
                             ? block_lines(above, &lines, marks->open)
                             : 0;
        if (!is_line && block == 0 && !is_annotation(above))
            break;
        at -= block > 0 ? block : 1;
        begin = at;
    }
    return begin;
}
