#include "lfs/attributes.h"

#include "base/limits.h"

#include "base/banned.h"

#define BLANKS " \t\r"

/* Takes the next word off the front of a line. */
static struct vcm_slice next_word(struct vcm_slice *line)
{
    while (line->len > 0 && strchr(BLANKS, line->data[0]))
        *line = vcm_slice_of(line->data + 1, line->len - 1);
    size_t len = 0;
    while (len < line->len && !strchr(BLANKS, line->data[len]))
        len++;
    struct vcm_slice word = vcm_slice_of(line->data, len);
    *line = vcm_slice_of(line->data + len, line->len - len);
    return word;
}

static char unescape(char letter)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    const char *at = letter ? strchr(from, letter) : NULL;
    return at ? to[at - from] : letter;
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* A pattern in double quotes, with git's C-style escapes; false when the quote is not closed. */
static bool take_quoted(struct vcm_buf *out, struct vcm_slice *line)
{
    size_t i = 1;

    for (; i < line->len && line->data[i] != '"'; i++) {
        const char *at = line->data + i;
        if (*at != '\\') {
            vcm_buf_append_byte(out, *at);
        } else if (line->len - i > 3 && is_octal(at[1]) && is_octal(at[2]) && is_octal(at[3])) {
            vcm_buf_append_byte(out,
                                (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0')));
            i += 3;
        } else if (line->len - i > 1) {
            vcm_buf_append_byte(out, unescape(at[1]));
            i++;
        }
    }
    if (i >= line->len)
        return false;
    *line = vcm_slice_of(line->data + i + 1, line->len - i - 1);
    return true;
}

static bool word_is(struct vcm_slice word, const char *text)
{
    return vcm_slice_equal(word, vcm_slice_of_string(text));
}

/* What the attributes of a line say about the filter; false when they do not mention it. */
static bool take_filter(bool *is_lfs, struct vcm_slice rest)
{
    static const char prefix[] = "filter=";
    bool said = false;

    for (struct vcm_slice word; (word = next_word(&rest)).len > 0;) {
        bool names =
            word.len >= sizeof prefix - 1 && memcmp(word.data, prefix, sizeof prefix - 1) == 0;
        if (!names && !word_is(word, "-filter") && !word_is(word, "!filter") &&
            !word_is(word, "filter"))
            continue;
        said = true;
        *is_lfs = word_is(word, "filter=lfs");
    }
    return said;
}

/* git ignores patterns that begin with '!' or end with '/', and macros are not followed. */
static bool take_line(struct vcm_buf *pattern, bool *is_lfs, struct vcm_slice line)
{
    while (line.len > 0 && strchr(BLANKS, line.data[0]))
        line = vcm_slice_of(line.data + 1, line.len - 1);
    if (line.len == 0 || line.data[0] == '#')
        return false;
    if (line.data[0] != '"')
        vcm_buf_append_slice(pattern, next_word(&line));
    else if (!take_quoted(pattern, &line))
        return false;
    const char *text = vcm_buf_text(pattern);
    if (pattern->len == 0 || text[0] == '!' || strncmp(text, "[attr]", 6) == 0 ||
        text[pattern->len - 1] == '/' || memchr(text, '\0', pattern->len))
        return false;
    return take_filter(is_lfs, line);
}

int vcm_attributes_parse(struct vcm_attributes_pattern **out, struct vcm_arena *arena,
                         struct vcm_slice text, struct vcm_error *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    struct vcm_buf pattern = VCM_BUF_INIT(VCM_LIMIT_GLOB_BYTES);
    int rc = VCM_OK;

    *out = NULL;
    if (text.len >= 3 && memcmp(text.data, bom, 3) == 0)
        text = vcm_slice_of(text.data + 3, text.len - 3);
    while (rc == VCM_OK && text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t)(end - text.data) : text.len;
        bool is_lfs = false;
        vcm_buf_clear(&pattern);
        if (take_line(&pattern, &is_lfs, vcm_slice_of(text.data, len)) &&
            pattern.fault == VCM_BUF_FINE) {
            struct vcm_attributes_pattern *item = vcm_arena_alloc(arena, sizeof *item);
            if (item)
                item->pattern = vcm_arena_copy(arena, vcm_buf_slice(&pattern));
            if (!item || !item->pattern) {
                rc = vcm_error_memory(err);
                break;
            }
            item->is_lfs = is_lfs;
            *out = item;
            out = &item->next;
        }
        len += end != NULL;
        text = vcm_slice_of(text.data + len, text.len - len);
    }
    vcm_buf_release(&pattern);
    return rc;
}

bool vcm_attributes_has(const struct vcm_attributes_pattern *patterns, const char *pattern)
{
    bool found = false;

    for (; patterns; patterns = patterns->next)
        if (strcmp(patterns->pattern, pattern) == 0)
            found = patterns->is_lfs;
    return found;
}

static bool occurs_before(const struct vcm_attributes_pattern *patterns,
                          const struct vcm_attributes_pattern *item)
{
    for (; patterns != item; patterns = patterns->next)
        if (strcmp(patterns->pattern, item->pattern) == 0)
            return true;
    return false;
}

int vcm_attributes_join(struct vcm_buf *out, const struct vcm_attributes_pattern *patterns,
                        bool is_lfs, struct vcm_error *err)
{
    size_t before = out->len;

    for (const struct vcm_attributes_pattern *p = patterns; p; p = p->next) {
        if (vcm_attributes_has(patterns, p->pattern) != is_lfs || occurs_before(patterns, p))
            continue;
        if (strchr(p->pattern, ','))
            return vcm_error_set(err, VCM_UNSUPPORTED,
                                 "the pattern '%s' of %s holds a comma, which git-lfs cannot take; "
                                 "write it with '?'",
                                 p->pattern, VCM_ATTRIBUTES_PATH);
        if (out->len > before)
            vcm_buf_append_byte(out, ',');
        vcm_buf_append_string(out, p->pattern);
    }
    return vcm_buf_check(out, "the patterns of LFS", err);
}
