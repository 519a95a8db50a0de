#include "symbols/describe.h"

#include <ctype.h>
#include <strings.h>

#include "base/limits.h"
#include "base/utf8.h"

#include "symbols/snippet.h"

#include "base/banned.h"

#define COMMENT_LINES_MAX 200
#define COMMENT_BYTES_MAX ((size_t)16 * 1024)
#define WINDOW_BYTES      ((size_t)64 * 1024) /* searched before and behind a definition */
#define SENTENCE_BYTES    ((size_t)2048)      /* of which at most one line is shown */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == '\0';
}

/* Appends valid UTF-8 on one line, of at most `max` bytes. */
static void put_line(struct vcm_buf *out, struct vcm_slice text, size_t max)
{
    struct vcm_buf line = VCM_BUF_INIT(8 * COMMENT_BYTES_MAX);
    bool gap = false;

    text = vcm_snippet_trim(text);
    if (text.len > COMMENT_BYTES_MAX)
        text.len = COMMENT_BYTES_MAX;
    /* Some bytes more, so that a character at the end is whole. */
    for (size_t i = 0; i < text.len && line.len < max + 8; i++) {
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
    out->fault = line.fault == VCM_BUF_NO_MEMORY ? VCM_BUF_NO_MEMORY : out->fault;
    vcm_buf_release(&line);
}

/* "typedef struct {...} a" is "typedef struct a". False for all else. */
static bool put_typedef(struct vcm_buf *out, struct vcm_slice head)
{
    struct vcm_buf line = VCM_BUF_INIT(2 * COMMENT_BYTES_MAX);
    const char *open =
        vcm_snippet_begins(head, "typedef") ? memchr(head.data, '{', head.len) : NULL;
    const char *close = open ? memrchr(head.data, '}', head.len) : NULL;

    if (!close || close < open)
        return false;
    struct vcm_slice tail = vcm_slice_of(close + 1, head.len - (size_t)(close + 1 - head.data));
    while (tail.len > 0 && (tail.data[tail.len - 1] == ';' || is_space(tail.data[tail.len - 1])))
        tail.len--;
    vcm_buf_append_slice(&line, vcm_slice_of(head.data, (size_t)(open - head.data)));
    vcm_buf_append_byte(&line, ' ');
    vcm_buf_append_slice(&line, tail);
    put_line(out, vcm_buf_slice(&line), VCM_LIMIT_SIGNATURE_BYTES);
    out->fault = line.fault == VCM_BUF_NO_MEMORY ? VCM_BUF_NO_MEMORY : out->fault;
    vcm_buf_release(&line);
    return true;
}

/* Where the head may end at the earliest: annotations, which have lines and braces of their own,
 * come before. */
static struct vcm_slice from_name(struct vcm_slice head,
                                  const struct vcm_language_descriptor *language,
                                  const struct vcm_describe_place *place)
{
    size_t before = (size_t)(head.data - place->text.data);
    size_t gone = language->head.annotations && place->name > before ? place->name - before : 0;

    gone = gone < head.len ? gone : head.len;
    return vcm_slice_of(head.data + gone, head.len - gone);
}

/* Without comments, up to the end of the line outside all brackets. */
static void put_bare_head(struct vcm_buf *out, struct vcm_slice head)
{
    size_t depth = 0;
    char quote = '\0';

    head = vcm_snippet_first(head, WINDOW_BYTES);
    for (size_t i = 0; i < head.len; i++) {
        char c = head.data[i];
        bool comment = !quote && c == '#' && (i == 0 || is_space(head.data[i - 1]));
        const char *line = comment ? memchr(head.data + i, '\n', head.len - i) : NULL;
        if (comment && !line)
            return;
        if (comment)
            i = (size_t)(line - head.data);
        c = head.data[i];
        if (c == '\n' && depth == 0)
            return;
        quote = quote && c == quote ? '\0' : !quote && (c == '"' || c == '\'') ? c : quote;
        depth += !quote && strchr("([{", c) != NULL && c != '\0';
        depth -= !quote && depth > 0 && strchr(")]}", c) != NULL && c != '\0';
        vcm_buf_append_byte(out, c);
    }
}

/* The position behind a bracket or a string that ends in the same line; its beginning when it does
 * not. */
static size_t skip_enclosed(struct vcm_slice line, size_t at)
{
    const char open = line.data[at];
    const char close = open == '{' ? '}' : open;
    size_t depth = 1;

    for (size_t i = at + 1; i < line.len; i++) {
        if (line.data[i] == '\\')
            i++; /* what follows is part of a string */
        else if (line.data[i] == close && --depth == 0)
            return i + 1;
        else
            depth += line.data[i] == open;
    }
    return at;
}

/* The brace with which a value or body begins: not one in an argument, an expansion ("${name}"), a
 * string, or behind another part of a type ("string & {"). */
static const char *find_body(struct vcm_slice line)
{
    size_t depth = 0, next;
    char before = ' ';

    if (line.len > 2 * VCM_LIMIT_SIGNATURE_BYTES) /* more is not shown */
        line.len = 2 * VCM_LIMIT_SIGNATURE_BYTES;
    for (size_t i = 0; i < line.len; i = next) {
        char c = line.data[i];
        bool quote = c == '"' || c == '`' ||
                     (c == '\'' && (i == 0 || !isalnum((unsigned char)line.data[i - 1])));
        bool part = depth > 0 || before == '$' || before == '&' || before == '|';
        next = quote || (c == '{' && part) ? skip_enclosed(line, i) : i;
        if (c == '{' && next == i)
            return line.data + i;
        depth += c == '(' || c == '[';
        depth -= depth > 0 && (c == ')' || c == ']');
        before = is_space(c) ? before : c;
        next += next == i;
    }
    return NULL;
}

/* The word with which a body begins in some languages, and the mark before it. */
static struct vcm_slice without_ends(struct vcm_slice head)
{
    if (vcm_snippet_ends(head, " where"))
        head = vcm_snippet_trim(vcm_slice_of(head.data, head.len - 6));
    while (head.len > 0 && (strchr("{:;=,\\", head.data[head.len - 1]) ||
                            vcm_snippet_ends(head, " &") || vcm_snippet_ends(head, " |")))
        head = vcm_snippet_trim(vcm_slice_of(head.data, head.len - 1));
    return head;
}

/* The head of a definition whose body the tree does not show: parameters may continue in the next
 * line, values and bodies are omitted. */
static struct vcm_slice cut_head(struct vcm_slice head,
                                 const struct vcm_language_descriptor *language,
                                 const struct vcm_describe_place *place)
{
    struct vcm_slice tail = vcm_snippet_first(from_name(head, language, place), WINDOW_BYTES);
    const char *line = tail.len > 0 ? memchr(tail.data, '\n', tail.len) : NULL;
    struct vcm_slice first = vcm_slice_of(tail.data, line ? (size_t)(line - tail.data) : tail.len);
    const char *brace = language->head.type_parameters ? NULL : find_body(first);

    if (brace)
        head.len = (size_t)(brace - head.data);
    else if (line && !(line > head.data && strchr("(,\\", line[-1])))
        head.len = (size_t)(line - head.data);
    head = vcm_snippet_trim(head);
    if (language->head.end_keyword &&
        (vcm_snippet_ends(head, "; end") || vcm_snippet_ends(head, ") end")))
        head = vcm_snippet_trim(vcm_slice_of(head.data, head.len - 4));
    return head;
}

void vcm_describe_signature(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                            const struct vcm_describe_place *place)
{
    size_t end = place->body < place->end ? place->body : place->end;
    struct vcm_slice head =
        vcm_snippet_trim(vcm_slice_of(place->text.data + place->start, end - place->start));
    struct vcm_buf bare_head = VCM_BUF_INIT(4 * COMMENT_BYTES_MAX);

    if (place->body >= place->end && put_typedef(out, head))
        return;
    if (place->body >= place->end)
        head = cut_head(head, language, place);
    if (language->head.hash_comments) {
        put_bare_head(&bare_head, head);
        head = vcm_snippet_trim(vcm_buf_slice(&bare_head));
    }
    put_line(out, without_ends(head), VCM_LIMIT_SIGNATURE_BYTES);
    out->fault = bare_head.fault == VCM_BUF_NO_MEMORY ? VCM_BUF_NO_MEMORY : out->fault;
    vcm_buf_release(&bare_head);
}

static size_t line_start(struct vcm_slice text, size_t at)
{
    const char *end = at > 0 ? memrchr(text.data, '\n', at) : NULL;

    return end ? (size_t)(end + 1 - text.data) : 0;
}

/* The line that ends before `at`, which is the beginning of one; `at` moves to its beginning. */
static struct vcm_slice line_above(struct vcm_slice text, size_t *at)
{
    size_t end = *at - 1;

    *at = line_start(text, end);
    return vcm_snippet_trim(vcm_slice_of(text.data + *at, end - *at));
}

/* Whether the line may be between a comment and its definition. */
static bool is_decoration(struct vcm_slice line)
{
    static const char *const others[] = {"@type ", "@typep ", "@opaque ", "@callback "};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (vcm_snippet_begins(line, others[i])) /* which Elixir defines */
            return false;
    return vcm_snippet_begins(line, "@") || vcm_snippet_begins(line, "#[") ||
           vcm_snippet_begins(line, "[") ||
           (vcm_snippet_begins(line, "template") && vcm_snippet_ends(line, ">"));
}

/* The length of the mark with which a line opens a comment; 0 when it does not. */
static size_t opens(struct vcm_slice line, const struct vcm_language_comments *marks)
{
    static const char of_type[] = "@typedoc \"\"\"";

    if (marks->open && vcm_snippet_begins(line, marks->open))
        return strlen(marks->open);
    return marks->open && marks->open[0] == '@' && vcm_snippet_begins(line, of_type)
               ? sizeof of_type - 1
               : 0;
}

/* The beginning of the block comment whose last line begins at `at`. */
static bool find_opening(size_t *top, struct vcm_slice text, size_t at, struct vcm_slice line,
                         const struct vcm_language_comments *marks)
{
    bool whole = line.len >= strlen(marks->open) + strlen(marks->close);

    for (unsigned lines = 0; lines < COMMENT_LINES_MAX; lines++) {
        if (opens(line, marks) > 0 && (whole || lines > 0)) {
            *top = at;
            return !vcm_snippet_begins(line, "{-#"); /* a pragma of Haskell */
        }
        /* A comment behind code describes that code. */
        bool behind = !vcm_snippet_begins(line, "*") && strcmp(marks->open, marks->close) != 0 &&
                      line.len > 0 && memmem(line.data, line.len, marks->open, strlen(marks->open));
        if (at == 0 || behind)
            return false;
        line = line_above(text, &at);
    }
    return false;
}

/* The comment right above, marks and all; false without one. */
static bool find_above(struct vcm_slice *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start)
{
    const struct vcm_language_comments *marks = &language->comments;
    size_t before = start > WINDOW_BYTES ? start - WINDOW_BYTES : 0;

    text = vcm_slice_of(text.data + before, start - before);
    size_t at = line_start(text, text.len), top = at, bottom = at;
    for (unsigned lines = 0; at > 0 && lines < COMMENT_LINES_MAX; lines++) {
        struct vcm_slice line = line_above(text, &at);
        bool about_file = marks->about_file && vcm_snippet_begins(line, marks->about_file);
        bool marked = marks->line && vcm_snippet_begins(line, marks->line) && !about_file;
        if (top == bottom && marks->is_string && marks->is_string(line)) {
            top = at;
            break;
        }
        bool closes = marks->close && vcm_snippet_ends(line, marks->close);
        if (top == bottom && is_decoration(line) && !marked && !closes) {
            top = bottom = at;
            continue;
        }
        if (marked && !vcm_snippet_begins(line, "#!")) {
            top = at;
            continue;
        }
        if (top == bottom && closes && !find_opening(&top, text, at, line, marks))
            return false;
        break;
    }
    *out = vcm_slice_of(text.data + top, bottom - top);
    return top < bottom;
}

/* The comment in the lines below the definition. */
static bool find_below(struct vcm_slice *out, struct vcm_slice text, size_t end)
{
    text = vcm_snippet_first(text, end + WINDOW_BYTES);
    const char *line = end < text.len ? memchr(text.data + end, '\n', text.len - end) : NULL;
    if (!line)
        return false;
    struct vcm_slice rest =
        vcm_snippet_trim(vcm_slice_of(line + 1, text.len - (size_t)(line + 1 - text.data)));
    const char *close =
        vcm_snippet_begins(rest, "(**") ? memmem(rest.data, rest.len, "*)", 2) : NULL;
    const char *gap = memchr(line + 1, '\n', text.len - (size_t)(line + 1 - text.data));
    if (!close || (gap && gap < rest.data))
        return false;
    *out = vcm_slice_of(rest.data, (size_t)(close + 2 - rest.data));
    return true;
}

/* The comment behind the definition, in its line. */
static bool find_behind(struct vcm_slice *out, const struct vcm_language_descriptor *language,
                        struct vcm_slice text, size_t end)
{
    const struct vcm_language_comments *marks = &language->comments;

    text = vcm_snippet_first(text, end + WINDOW_BYTES);
    const char *stop = end < text.len ? memchr(text.data + end, '\n', text.len - end) : NULL;
    size_t len = (stop ? (size_t)(stop - text.data) : text.len) - end;
    struct vcm_slice rest = vcm_snippet_trim(vcm_slice_of(text.data + end, len));

    if (vcm_snippet_begins(rest, ",") || vcm_snippet_begins(rest, ";"))
        rest = vcm_snippet_trim(vcm_slice_of(rest.data + 1, rest.len - 1));
    if (!vcm_snippet_begins(rest, marks->remark_open) ||
        (marks->remark_close && !vcm_snippet_ends(rest, marks->remark_close)))
        return false;
    *out = rest;
    return true;
}

/* The comment without the marks around it. */
static struct vcm_slice unwrap(struct vcm_slice comment,
                               const struct vcm_language_descriptor *language)
{
    const struct vcm_language_comments *marks = &language->comments;

    comment = vcm_snippet_trim(comment);
    if (marks->is_string && marks->is_string(comment)) {
        const char *quote = memchr(comment.data, '"', comment.len);
        comment.len -= (size_t)(quote + 1 - comment.data);
        comment.data = quote + 1;
        comment.len -= vcm_snippet_ends(comment, "\"");
        return comment;
    }
    size_t len = opens(comment, marks);
    if (len > 0) {
        comment = vcm_slice_of(comment.data + len, comment.len - len);
        comment.len -= vcm_snippet_ends(comment, marks->close) ? strlen(marks->close) : 0;
    }
    return comment;
}

/* A line of a comment without its marks. */
static struct vcm_slice bare(struct vcm_slice line, const struct vcm_language_descriptor *language)
{
    const struct vcm_language_comments *comments = &language->comments;
    const char *marks = comments->strip ? comments->strip : "/*#!-%;\"";

    line = vcm_snippet_trim(line);
    while (line.len > 0 && strchr(marks, line.data[0])) {
        line.data++;
        line.len--;
    }
    while (line.len > 0 && vcm_snippet_ends(line, "*"))
        line.len--;
    line = vcm_snippet_trim(line);
    if (comments->leads && line.len > 0 && line.data[0] != '\0' &&
        strchr(comments->leads, line.data[0]))
        line = vcm_snippet_trim(vcm_slice_of(line.data + 1, line.len - 1));
    return line;
}

/* Without the tag of documentation tools that says that this is the first sentence. */
static struct vcm_slice without_brief(struct vcm_slice line)
{
    bool brief = line.len > 7 && (line.data[0] == '@' || line.data[0] == '\\') &&
                 memcmp(line.data + 1, "brief ", 6) == 0;

    return brief ? vcm_snippet_trim(vcm_slice_of(line.data + 7, line.len - 7)) : line;
}

/* What an element of C#'s comments stands for: "Item" of <see cref="Item"/>. */
static struct vcm_slice named_by(struct vcm_slice element)
{
    const char *quote =
        vcm_snippet_ends(element, "/") ? memchr(element.data, '"', element.len) : NULL;
    const char *end = element.data + element.len;
    const char *close = quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;

    return close ? vcm_slice_of(quote + 1, (size_t)(close - quote - 1)) : vcm_slice_of("", 0);
}

/* A line without elements, "<summary>An item.</summary>". */
static void put_plain(struct vcm_buf *out, struct vcm_slice line)
{
    while (line.len > 0) {
        const char *open = memchr(line.data, '<', line.len);
        size_t len = open ? (size_t)(open - line.data) : line.len;
        const char *close = open ? memchr(open, '>', line.len - len) : NULL;
        vcm_buf_append_slice(out, vcm_slice_of(line.data, close ? len : line.len));
        if (!close)
            return;
        vcm_buf_append_slice(out, named_by(vcm_slice_of(open + 1, (size_t)(close - open - 1))));
        len = (size_t)(close + 1 - line.data);
        line = vcm_slice_of(line.data + len, line.len - len);
    }
}

static void put_sentence(struct vcm_buf *out, struct vcm_slice words)
{
    size_t end = 0;

    words = vcm_snippet_first(vcm_snippet_trim(words), COMMENT_BYTES_MAX);
    for (; end < words.len; end++)
        if (strchr(".!?", words.data[end]) &&
            (end + 1 == words.len || is_space(words.data[end + 1]))) {
            /* "e.g. this" and "1. that" do not end a sentence. */
            bool abbreviated = end >= 2 && words.data[end - 2] == '.';
            if (!abbreviated) {
                end++;
                break;
            }
        }
    put_line(out, vcm_slice_of(words.data, end), VCM_LIMIT_SIGNATURE_BYTES);
}

static struct vcm_slice behind(struct vcm_slice text, const char *word)
{
    size_t len = vcm_snippet_begins(text, word) ? strlen(word) : 0;

    return vcm_snippet_trim(vcm_slice_of(text.data + len, text.len - len));
}

/* The docstring: the body begins with a string, or with a keyword before it. */
static bool find_docstring(struct vcm_slice *out, const char *keyword,
                           const struct vcm_describe_place *place)
{
    static const char *const quotes[] = {"\"\"\"", "'''", "\"", "'"};
    const bool cut = place->end - place->body > WINDOW_BYTES;
    struct vcm_slice body = vcm_snippet_trim(vcm_snippet_first(
        vcm_slice_of(place->text.data + place->body, place->end - place->body), WINDOW_BYTES));

    if (keyword) {
        body = behind(body, "do");
        if (!vcm_snippet_begins(body, keyword))
            return false;
        body = behind(body, keyword);
    }
    while (body.len > 0 && strchr("rRuUbB", body.data[0])) {
        if (body.len < 2 || !strchr("'\"", body.data[1]))
            return false;
        body = vcm_slice_of(body.data + 1, body.len - 1);
    }
    for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++) {
        size_t len = strlen(quotes[i]);
        if (!vcm_snippet_begins(body, quotes[i]))
            continue;
        const char *end = memmem(body.data + len, body.len - len, quotes[i], len);
        if (!end && !cut)
            return false;
        *out = vcm_slice_of(body.data + len, (end ? (size_t)(end - body.data) : body.len) - len);
        return true;
    }
    return false;
}

/* The first sentence of a comment with its marks. */
static void put_comment(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                        struct vcm_slice comment)
{
    struct vcm_buf words = VCM_BUF_INIT(COMMENT_BYTES_MAX);

    comment = unwrap(comment, language);
    while (comment.len > 0 && words.len < SENTENCE_BYTES) {
        const char *end = memchr(comment.data, '\n', comment.len);
        size_t len = end ? (size_t)(end - comment.data) : comment.len;
        struct vcm_slice line = without_brief(bare(vcm_slice_of(comment.data, len), language));
        bool is_call = language->comments.begin_with_call && words.len == 0 &&
                       vcm_snippet_begins(vcm_slice_of(comment.data, len), "    ");
        if (is_call)
            line.len = 0;
        /* A tag of documentation tools ends the prose; an empty line ends the paragraph. */
        bool elements = language->comments.have_elements && memchr(line.data, '<', line.len);
        bool summary = vcm_snippet_begins(line, "<summary") || !vcm_snippet_begins(line, "<") ||
                       vcm_snippet_begins(line, "<see");
        if (vcm_snippet_begins(line, "@") || (line.len == 0 && words.len > 0) ||
            (elements && !summary))
            break;
        if (line.len > 0 && words.len + line.len + 1 < COMMENT_BYTES_MAX) {
            if (elements)
                put_plain(&words, line);
            else
                vcm_buf_append_slice(&words, line);
            if (words.len > 0)
                vcm_buf_append_byte(&words, ' ');
        }
        len += end ? 1 : 0;
        comment = vcm_slice_of(comment.data + len, comment.len - len);
    }
    put_sentence(out, vcm_buf_slice(&words));
    out->fault = words.fault == VCM_BUF_NO_MEMORY ? VCM_BUF_NO_MEMORY : out->fault;
    vcm_buf_release(&words);
}

void vcm_describe_comment(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                          const struct vcm_describe_place *place)
{
    const struct vcm_language_comments *marks = &language->comments;
    struct vcm_slice comment;

    if (marks->begin_bodies && place->body < place->end &&
        find_docstring(&comment, marks->keyword, place)) {
        put_sentence(out, comment);
        return;
    }
    bool below = marks->follow && find_below(&comment, place->text, place->end);
    if (!below && !find_above(&comment, language, place->text, place->start))
        return;
    put_comment(out, language, comment);
}

void vcm_describe_remark(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                         const struct vcm_describe_place *place)
{
    struct vcm_slice comment;

    if (language->comments.remark_open && find_behind(&comment, language, place->text, place->end))
        put_comment(out, language, comment);
}
