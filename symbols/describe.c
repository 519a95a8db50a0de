#include "symbols/describe.h"

#include <ctype.h>
#include <strings.h>

#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

#define COMMENT_LINES_MAX 200
#define COMMENT_BYTES_MAX ((size_t)16 * 1024)

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == '\0';
}

static struct vcm_slice trim(struct vcm_slice text)
{
    while (text.len > 0 && is_space(text.data[0])) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && is_space(text.data[text.len - 1]))
        text.len--;
    return text;
}

static bool begins(struct vcm_slice text, const char *with)
{
    size_t len = strlen(with);

    return text.len >= len && memcmp(text.data, with, len) == 0;
}

static bool ends(struct vcm_slice text, const char *with)
{
    size_t len = strlen(with);

    return text.len >= len && memcmp(text.data + text.len - len, with, len) == 0;
}

/* Appends valid UTF-8 on one line, of at most `max` bytes. */
static void put_line(struct vcm_buf *out, struct vcm_slice text, size_t max)
{
    struct vcm_buf line = VCM_BUF_INIT(8 * COMMENT_BYTES_MAX);
    bool gap = false;

    text = trim(text);
    if (text.len > COMMENT_BYTES_MAX)
        text.len = COMMENT_BYTES_MAX;
    for (size_t i = 0; i < text.len; i++) {
        if (is_space(text.data[i])) {
            gap = true;
            continue;
        }
        if (gap)
            vcm_buf_append_byte(&line, ' ');
        vcm_buf_append_byte(&line, text.data[i]);
        gap = false;
    }
    size_t from = out->len;
    vcm_utf8_replace(out, vcm_buf_slice(&line));
    if (out->len - from > max) {
        size_t len = from + max;
        while (len > from && ((unsigned char)out->data[len] & 0xc0) == 0x80)
            len--;
        vcm_buf_truncate(out, len);
    }
    vcm_buf_release(&line);
}

void vcm_describe_signature(struct vcm_buf *out, const struct vcm_describe_place *place)
{
    size_t end = place->body < place->end ? place->body : place->end;
    struct vcm_slice head = trim(vcm_slice_of(place->text.data + place->start, end - place->start));

    if (place->body >= place->end) {
        const char *line = head.len > 0 ? memchr(head.data, '\n', head.len) : NULL;
        const char *brace = head.len > 0 ? memchr(head.data, '{', head.len) : NULL;
        /* Parameters may go on in the next line, values and bodies are left out. */
        if (brace && (!line || brace < line))
            head.len = (size_t)(brace - head.data);
        else if (line && !(line > head.data && strchr("(,\\", line[-1])))
            head.len = (size_t)(line - head.data);
        head = trim(head);
    }
    while (head.len > 0 && strchr("{:;=,\\", head.data[head.len - 1]))
        head = trim(vcm_slice_of(head.data, head.len - 1));
    put_line(out, head, VCM_LIMIT_SIGNATURE_BYTES);
}

/* The line that ends before `at`, which is the beginning of one; `at` moves to its beginning. */
static struct vcm_slice line_above(struct vcm_slice text, size_t *at)
{
    size_t end = *at - 1, start = end;

    while (start > 0 && text.data[start - 1] != '\n')
        start--;
    *at = start;
    return trim(vcm_slice_of(text.data + start, end - start));
}

static const char *line_mark(enum vcm_language language)
{
    switch (language) {
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_RUBY:
    case VCM_LANGUAGE_BASH:
        return "#";
    case VCM_LANGUAGE_LUA:
        return "--";
    default:
        return "//";
    }
}

/* What stands between a comment and its definition. */
static bool is_decoration(struct vcm_slice line)
{
    return begins(line, "@") || begins(line, "#[") || begins(line, "[") ||
           (begins(line, "template") && ends(line, ">"));
}

static bool has_blocks(enum vcm_language language)
{
    return strcmp(line_mark(language), "//") == 0;
}

/* The comment right above, marks and all; false without one. */
static bool find_above(struct vcm_slice *out, enum vcm_language language, struct vcm_slice text,
                       size_t start)
{
    const char *mark = line_mark(language);
    size_t at = start, top, bottom;

    while (at > 0 && text.data[at - 1] != '\n')
        at--;
    bottom = at;
    top = at;
    for (unsigned lines = 0; at > 0 && lines < COMMENT_LINES_MAX; lines++) {
        struct vcm_slice line = line_above(text, &at);
        if (top == bottom && is_decoration(line) && !begins(line, mark)) {
            top = bottom = at;
            continue;
        }
        if (begins(line, mark) && !begins(line, "#!")) {
            top = at;
            continue;
        }
        if (top != bottom || !has_blocks(language) || !ends(line, "*/"))
            break;
        for (top = at; lines < COMMENT_LINES_MAX; lines++) {
            if (begins(line, "/*") || at == 0)
                break;
            line = line_above(text, &at);
            top = at;
        }
        if (!begins(line, "/*"))
            return false;
        break;
    }
    *out = vcm_slice_of(text.data + top, bottom - top);
    return top < bottom;
}

/* A line of a comment without its marks. */
static struct vcm_slice bare(struct vcm_slice line)
{
    line = trim(line);
    while (line.len > 0 && strchr("/*#!-", line.data[0])) {
        line.data++;
        line.len--;
    }
    while (line.len > 0 && (ends(line, "*/") || ends(line, "*")))
        line.len--;
    return trim(line);
}

static void put_sentence(struct vcm_buf *out, struct vcm_slice words)
{
    size_t end = 0;

    words = trim(words);
    for (; end < words.len; end++)
        if (strchr(".!?", words.data[end]) &&
            (end + 1 == words.len || is_space(words.data[end + 1]))) {
            /* "e.g. this" and "1. that" are no ends. */
            bool abbreviated = end >= 2 && words.data[end - 2] == '.';
            if (!abbreviated) {
                end++;
                break;
            }
        }
    put_line(out, vcm_slice_of(words.data, end), VCM_LIMIT_SIGNATURE_BYTES);
}

/* The docstring: the body begins with a string. */
static bool find_docstring(struct vcm_slice *out, const struct vcm_describe_place *place)
{
    struct vcm_slice body =
        trim(vcm_slice_of(place->text.data + place->body, place->end - place->body));
    static const char *const quotes[] = {"\"\"\"", "'''", "\"", "'"};

    while (body.len > 0 && strchr("rRuUbB", body.data[0])) {
        if (body.len < 2 || !strchr("'\"", body.data[1]))
            return false;
        body = vcm_slice_of(body.data + 1, body.len - 1);
    }
    for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++) {
        size_t len = strlen(quotes[i]);
        if (!begins(body, quotes[i]))
            continue;
        const char *end = memmem(body.data + len, body.len - len, quotes[i], len);
        if (!end)
            return false;
        *out = vcm_slice_of(body.data + len, (size_t)(end - body.data) - len);
        return true;
    }
    return false;
}

void vcm_describe_comment(struct vcm_buf *out, enum vcm_language language,
                          const struct vcm_describe_place *place)
{
    struct vcm_buf words = VCM_BUF_INIT(COMMENT_BYTES_MAX);
    struct vcm_slice comment;

    if (language == VCM_LANGUAGE_PYTHON && place->body < place->end &&
        find_docstring(&comment, place)) {
        put_sentence(out, comment);
        return;
    }
    if (!find_above(&comment, language, place->text, place->start))
        return;
    while (comment.len > 0) {
        const char *end = memchr(comment.data, '\n', comment.len);
        size_t len = end ? (size_t)(end - comment.data) : comment.len;
        struct vcm_slice line = bare(vcm_slice_of(comment.data, len));
        /* A tag of documentation tools ends the prose; an empty line ends the paragraph. */
        if (begins(line, "@") || (line.len == 0 && words.len > 0))
            break;
        if (line.len > 0 && words.len + line.len + 1 < COMMENT_BYTES_MAX) {
            vcm_buf_append_slice(&words, line);
            vcm_buf_append_byte(&words, ' ');
        }
        len += end ? 1 : 0;
        comment = vcm_slice_of(comment.data + len, comment.len - len);
    }
    put_sentence(out, vcm_buf_slice(&words));
    vcm_buf_release(&words);
}

static bool has_word(struct vcm_slice text, const char *word)
{
    size_t len = strlen(word);
    const char *end = text.data + text.len;

    for (const char *at = text.len > 0 ? text.data : NULL; at && at < end;) {
        at = memmem(at, (size_t)(end - at), word, len);
        if (!at)
            return false;
        bool before = at == text.data || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool behind = at + len == end || !(isalnum((unsigned char)at[len]) || at[len] == '_');
        if (before && behind)
            return true;
        at++;
    }
    return false;
}

enum vcm_symbol_visibility vcm_describe_visibility(enum vcm_language language,
                                                   struct vcm_slice name,
                                                   struct vcm_slice signature, bool in_type)
{
    bool says_private = has_word(signature, "private");

    switch (language) {
    case VCM_LANGUAGE_C:
        return has_word(signature, "static") ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
    case VCM_LANGUAGE_CPP:
        return !in_type && has_word(signature, "static") ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
    case VCM_LANGUAGE_PYTHON:
        return begins(name, "_") && !(begins(name, "__") && ends(name, "__")) ? VCM_SYMBOL_PRIVATE
                                                                              : VCM_SYMBOL_PUBLIC;
    case VCM_LANGUAGE_GO: /* lower-case letters of other scripts are rare enough */
        return name.len > 0 && (islower((unsigned char)name.data[0]) || name.data[0] == '_')
                   ? VCM_SYMBOL_PRIVATE
                   : VCM_SYMBOL_PUBLIC;
    case VCM_LANGUAGE_RUST:
        return has_word(signature, "pub") ? VCM_SYMBOL_PUBLIC : VCM_SYMBOL_PRIVATE;
    case VCM_LANGUAGE_LUA:
        return begins(signature, "local") ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
    default:
        if (has_word(signature, "protected"))
            return VCM_SYMBOL_PROTECTED;
        return says_private || begins(name, "#") ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
    }
}
