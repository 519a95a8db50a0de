#include "symbols/enclosing.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "symbols/head.h"
#include "symbols/snippet.h"

#include "base/banned.h"

#define DEPTH_MAX      256u /* lines that enclose a place */
#define NAMED_MAX      8u   /* of which so many are named */
#define TAB            8u
#define OPENING_LINES  64u /* comments and annotations that may be above a definition */
#define OPENING_BYTES  ((size_t)2048)
#define MARKDOWN_LEVEL 6u

/* One line of the text, without its end. */
struct line {
    size_t start, end, next;
    size_t first; /* character that is no blank, or `end` */
    size_t indent;
};

/* A line that encloses those behind it. */
struct level {
    size_t start; /* of its first character that is no blank */
    size_t indent;
    struct vcm_head head;
    bool is_read; /* the head */
};

struct vcm_enclosing {
    const struct vcm_language_descriptor *language; /* NULL: nothing is found */
    bool markdown;
    struct vcm_slice text;
    struct line line;   /* the next one, from where on nothing has been passed */
    const char *inside; /* what closes the text or comment that the line is in, or NULL */
    bool has_marks;     /* the language has texts or comments of several lines */
    bool special[256];  /* bytes with which these begin, and what may hide them */
    struct level levels[DEPTH_MAX];
    size_t depth;
};

int vcm_enclosing_open(struct vcm_enclosing **out, struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? VCM_OK : vcm_error_memory(err);
}

void vcm_enclosing_close(struct vcm_enclosing *enclosing)
{
    free(enclosing);
}

static struct line line_at(const struct vcm_enclosing *e, size_t start)
{
    const char *end = memchr(e->text.data + start, '\n', e->text.len - start);
    struct line line = {
        .start = start, .end = end ? (size_t)(end - e->text.data) : e->text.len, .first = start};

    line.next = end ? line.end + 1 : e->text.len;
    for (; line.first < line.end; line.first++) {
        char c = e->text.data[line.first];
        if (c == '\t')
            line.indent += TAB - line.indent % TAB;
        else if (c == ' ')
            line.indent++;
        else if (c != '\r' && c != '\f')
            break;
    }
    return line;
}

static void mark_special(struct vcm_enclosing *e, const char *mark)
{
    if (mark)
        e->special[(unsigned char)mark[0]] = true;
}

void vcm_enclosing_begin(struct vcm_enclosing *e, struct vcm_slice path, struct vcm_slice text)
{
    enum vcm_language language = vcm_language_of_path(path);

    e->language = vcm_language_is_known(language) ? vcm_language_get(language) : NULL;
    e->markdown = vcm_snippet_ends(path, ".md") || vcm_snippet_ends(path, ".markdown");
    e->text = text;
    e->line = line_at(e, 0);
    e->inside = NULL;
    e->depth = 0;
    memset(e->special, 0, sizeof e->special);
    if (!e->language)
        return;
    e->has_marks = e->language->comments.close || e->language->lines.strings[0];
    mark_special(e, e->language->comments.close ? e->language->comments.open : NULL);
    for (unsigned i = 0; i < VCM_LANGUAGES_STRINGS_MAX; i++)
        mark_special(e, e->language->lines.strings[i]);
    mark_special(e, e->language->comments.line);
    mark_special(e, "\"");
    mark_special(e, "'");
}

static struct vcm_slice rest_of(const struct vcm_enclosing *e, size_t at, size_t end)
{
    return vcm_slice_of(e->text.data + at, end - at);
}

static size_t find_behind(const struct vcm_enclosing *e, size_t at, size_t end, const char *mark)
{
    const char *found = at < end ? memmem(e->text.data + at, end - at, mark, strlen(mark)) : NULL;

    return found ? (size_t)(found - e->text.data) + strlen(mark) : SIZE_MAX;
}

/* What closes the text or comment of several lines that begins here; NULL when none does. */
static const char *opened_at(const struct vcm_enclosing *e, size_t at, size_t end, size_t *len)
{
    const struct vcm_language_comments *comments = &e->language->comments;

    if (comments->close && vcm_snippet_begins(rest_of(e, at, end), comments->open)) {
        *len = strlen(comments->open);
        return comments->close;
    }
    for (unsigned i = 0; i < VCM_LANGUAGES_STRINGS_MAX && e->language->lines.strings[i]; i++)
        if (vcm_snippet_begins(rest_of(e, at, end), e->language->lines.strings[i])) {
            *len = strlen(e->language->lines.strings[i]);
            return e->language->lines.strings[i];
        }
    return NULL;
}

/* The end of a string in one line that begins here, or `at`. */
static size_t end_of_string(const struct vcm_enclosing *e, size_t at, size_t end)
{
    const char quote = e->text.data[at];

    for (size_t i = at + 1; i < end; i++) {
        if (e->text.data[i] == quote)
            return i + 1;
        i += e->text.data[i] == '\\';
    }
    return at;
}

/* Sets whether the line behind this one is in a text or comment of several lines. */
static void pass_marks(struct vcm_enclosing *e, size_t at, size_t end)
{
    char missing = '\0'; /* a quote that does not come again */

    while (e->has_marks && at < end) {
        size_t len = 0;
        char c = e->text.data[at];
        if (!e->special[(unsigned char)c]) {
            at++;
            continue;
        }
        const char *close = opened_at(e, at, end, &len);
        if (close) {
            size_t behind = find_behind(e, at + len, end, close);
            e->inside = behind == SIZE_MAX ? close : NULL;
            if (e->inside)
                return;
            at = behind;
            continue;
        }
        if (e->language->comments.line &&
            vcm_snippet_begins(rest_of(e, at, end), e->language->comments.line))
            return;
        bool quote = (c == '"' || c == '\'') && c != missing;
        size_t behind = quote ? end_of_string(e, at, end) : at;
        if (quote && behind == at)
            missing = c;
        at = behind > at ? behind : at + 1;
    }
}

/* The last character of the line that is no blank; NUL of an empty one. */
static char last_of(const struct vcm_enclosing *e, const struct line *line)
{
    struct vcm_slice text = vcm_snippet_trim(rest_of(e, line->first, line->end));

    return text.len > 0 ? text.data[text.len - 1] : '\0';
}

/* "out:" and "public:", which stand further left than what they are in. */
static bool is_label(const struct vcm_enclosing *e, const struct line *line)
{
    if (!e->language->lines.labels || last_of(e, line) != ':')
        return false;
    for (size_t i = line->first; i < line->end; i++)
        if (!vcm_snippet_is_word(e->text.data[i], '\0') && !strchr(" \t\r:", e->text.data[i]))
            return false;
    return find_behind(e, line->first, line->end, "::") == SIZE_MAX;
}

/* Whether the line says nothing about the structure: blank, a comment, a label, a directive. */
static bool is_aside(const struct vcm_enclosing *e, const struct line *line)
{
    const struct vcm_language_comments *comments = &e->language->comments;
    struct vcm_slice text = rest_of(e, line->first, line->end);

    return text.len == 0 || (comments->line && vcm_snippet_begins(text, comments->line)) ||
           (comments->close && vcm_snippet_begins(text, comments->open)) ||
           (e->language->lines.labels && text.data[0] == '#') || is_label(e, line);
}

/* Whether the line ends what the one at the same indentation began, or goes on with its head. */
static bool closes(const struct vcm_enclosing *e, const struct line *line)
{
    struct vcm_slice text = rest_of(e, line->first, line->end);

    return text.len > 0 && (strchr("})]", text.data[0]) != NULL ||
                            (vcm_snippet_begins(text, "end") &&
                             (text.len == 3 || !vcm_snippet_is_word(text.data[3], '\0'))));
}

static bool goes_on(const struct vcm_enclosing *e, const struct line *line)
{
    static const char *const words[] = {"begin", "BEGIN", "as", "AS", "is", "IS", "where"};
    struct vcm_slice text = vcm_snippet_trim(rest_of(e, line->first, line->end));

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i]);
        if (vcm_snippet_begins(text, words[i]) &&
            (text.len == len || !vcm_snippet_is_word(text.data[len], '\0')))
            return true;
    }
    return text.len > 0 && (text.data[0] == '{' || (strchr("})]", text.data[0]) &&
                                                    strchr("{([:=>", text.data[text.len - 1])));
}

static void enter(struct vcm_enclosing *e, size_t start, size_t indent)
{
    while (e->depth > 0 && e->levels[e->depth - 1].indent >= indent)
        e->depth--;
    if (e->depth < DEPTH_MAX)
        e->levels[e->depth++] = (struct level){.start = start, .indent = indent};
}

/* The level of a Markdown heading, or 0. */
static unsigned level_of(const struct vcm_enclosing *e, const struct line *line)
{
    size_t at = line->first;

    while (at < line->end && e->text.data[at] == '#')
        at++;
    size_t level = at - line->first;
    bool ended = at == line->end || vcm_snippet_is_blank(e->text.data[at]);
    return line->indent < 4 && level <= MARKDOWN_LEVEL && ended ? (unsigned)level : 0;
}

static void pass_markdown(struct vcm_enclosing *e, const struct line *line)
{
    struct vcm_slice text = rest_of(e, line->first, line->end);
    unsigned level = e->inside ? 0 : level_of(e, line);

    if (e->inside && vcm_snippet_begins(text, e->inside))
        e->inside = NULL;
    else if (!e->inside)
        e->inside = vcm_snippet_begins(text, "```")   ? "```"
                    : vcm_snippet_begins(text, "~~~") ? "~~~"
                                                      : NULL;
    if (level > 0)
        enter(e, line->first, level);
}

static void pass_line(struct vcm_enclosing *e, const struct line *line)
{
    if (e->markdown) {
        pass_markdown(e, line);
        return;
    }
    if (e->inside) {
        size_t behind = find_behind(e, line->start, line->end, e->inside);
        if (behind == SIZE_MAX)
            return;
        e->inside = NULL;
        pass_marks(e, behind, line->end);
        return;
    }
    pass_marks(e, line->first, line->end);
    if (is_aside(e, line))
        return;
    if (!goes_on(e, line)) {
        enter(e, line->first, line->indent);
        return;
    }
    while (e->depth > 0 && e->levels[e->depth - 1].indent > line->indent)
        e->depth--;
}

static const struct vcm_head *head_of(const struct vcm_enclosing *e, struct level *level)
{
    if (!level->is_read && e->markdown) {
        struct line line = line_at(e, level->start);
        level->head.kind = VCM_HEAD_CONTAINER;
        while (line.first < line.end && e->text.data[line.first] == '#')
            line.first++;
        level->head.text = vcm_snippet_trim(rest_of(e, line.first, line.end));
    } else if (!level->is_read) {
        vcm_head_read(&level->head, rest_of(e, level->start, e->text.len), e->language);
    }
    level->is_read = true;
    return &level->head;
}

/* Which of the levels are named, from the outermost in. */
struct chain {
    const struct vcm_head *heads[NAMED_MAX]; /* the last ones */
    size_t count;
    bool in_function;
};

/* Whether the head is that of a definition where it stands. */
static bool counts(const struct chain *chain, const struct vcm_head *head)
{
    bool keyword = head->kind == VCM_HEAD_CONTAINER || head->kind == VCM_HEAD_FUNCTION;

    return keyword || (head->kind != VCM_HEAD_NONE && !chain->in_function);
}

static void add(struct chain *chain, const struct vcm_head *head)
{
    bool value = chain->count > 0 && chain->heads[chain->count - 1]->kind == VCM_HEAD_VALUE;

    if (!counts(chain, head) || (value && head->kind == VCM_HEAD_VALUE))
        return;
    if (chain->count == NAMED_MAX) {
        for (size_t i = 1; i < NAMED_MAX; i++)
            chain->heads[i - 1] = chain->heads[i];
        chain->count--;
    }
    chain->heads[chain->count++] = head;
    chain->in_function =
        chain->in_function || head->kind == VCM_HEAD_FUNCTION || head->kind == VCM_HEAD_SHAPE;
}

/* Appends the names, the outer ones only where all fit. */
static void put_chain(struct vcm_buf *out, const struct chain *chain)
{
    struct vcm_buf names[NAMED_MAX];
    size_t total = 0, first = chain->count;

    for (size_t i = 0; i < chain->count; i++) {
        struct vcm_slice text = vcm_snippet_first(chain->heads[i]->text, VCM_LIMIT_SIGNATURE_BYTES);
        text.len = vcm_utf8_valid_prefix(text);
        vcm_buf_init(&names[i], 2 * VCM_LIMIT_SIGNATURE_BYTES);
        vcm_utf8_append_line(&names[i], text);
    }
    while (first > 0 && total + names[first - 1].len + 3 <= VCM_LIMIT_CONTEXT_LINE_BYTES)
        total += names[--first].len + 3;
    for (size_t i = first; i < chain->count; i++) {
        vcm_buf_append_string(out, i > first ? " > " : "");
        vcm_buf_append_slice(out, vcm_buf_slice(&names[i]));
    }
    for (size_t i = 0; i < chain->count; i++) {
        if (names[i].fault != VCM_BUF_FINE)
            out->fault = names[i].fault;
        vcm_buf_release(&names[i]);
    }
}

/* "@Override", "#[derive(Clone)]", "[Test]", "template <class T>": part of what follows. */
static bool is_annotation(const struct vcm_enclosing *e, const struct line *line)
{
    struct vcm_slice text = vcm_snippet_trim(rest_of(e, line->first, line->end));

    return vcm_snippet_begins(text, "@") || vcm_snippet_begins(text, "#[") ||
           (vcm_snippet_begins(text, "[") && vcm_snippet_ends(text, "]")) ||
           (vcm_snippet_begins(text, "template") && vcm_snippet_ends(text, ">"));
}

/* The first line of the part that is no comment and no annotation. When that is too far away, its
 * first one that is not blank. */
static struct line find_first(const struct vcm_enclosing *e)
{
    struct line line = e->line, shown = e->line;
    const char *inside = NULL;

    for (unsigned i = 0; i < OPENING_LINES && line.start - e->line.start < OPENING_BYTES; i++) {
        const char *close = e->language->comments.close;
        if (shown.first == shown.end)
            shown = line;
        if (!inside && !is_aside(e, &line) && !is_annotation(e, &line))
            return line;
        if (!inside && close &&
            vcm_snippet_begins(rest_of(e, line.first, line.end), e->language->comments.open))
            inside = close;
        if (inside && find_behind(e, line.first, line.end, inside) != SIZE_MAX)
            inside = NULL;
        if (line.next == e->text.len)
            break;
        line = line_at(e, line.next);
    }
    return shown;
}

/* What encloses a part that begins with the next line. */
static void find_at_line(struct chain *chain, struct vcm_enclosing *e)
{
    struct line line = find_first(e);
    bool within = e->inside || closes(e, &line) || goes_on(e, &line);
    struct level first = {.start = line.first, .indent = line.indent};

    for (size_t i = 0; i < e->depth; i++) {
        const struct level *level = &e->levels[i];
        if (e->inside || level->indent < line.indent || (within && level->indent == line.indent))
            add(chain, head_of(e, &e->levels[i]));
    }
    if (!within && counts(chain, head_of(e, &first)) && first.head.kind != VCM_HEAD_VALUE)
        chain->count = 0; /* the part begins with a definition */
}

/* What encloses a part that begins inside of the next line, which may be the definition. */
static void find_in_line(struct chain *chain, struct vcm_enclosing *e, struct level *itself)
{
    for (size_t i = 0; i < e->depth && (e->inside || e->levels[i].indent < itself->indent); i++)
        add(chain, head_of(e, &e->levels[i]));
    if (!e->inside)
        add(chain, head_of(e, itself));
}

static void find_section(struct chain *chain, struct vcm_enclosing *e)
{
    struct line line = e->line;

    for (unsigned i = 0; i < OPENING_LINES && line.first == line.end && line.next < e->text.len;
         i++)
        line = line_at(e, line.next);
    if (!e->inside && level_of(e, &line) > 0)
        return;
    for (size_t i = 0; i < e->depth; i++)
        add(chain, head_of(e, &e->levels[i]));
}

void vcm_enclosing_find(struct vcm_buf *out, struct vcm_enclosing *e, size_t offset)
{
    struct chain chain = {0};
    struct level itself;

    assert(offset <= e->text.len);
    if (!e->language && !e->markdown)
        return;
    while (e->line.start < offset && e->line.next <= offset) {
        pass_line(e, &e->line);
        e->line = line_at(e, e->line.next);
    }
    itself = (struct level){.start = e->line.first, .indent = e->line.indent};
    if (e->markdown)
        find_section(&chain, e);
    else if (e->line.start < offset)
        find_in_line(&chain, e, &itself);
    else
        find_at_line(&chain, e);
    put_chain(out, &chain);
}
