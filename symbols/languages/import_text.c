#include "symbols/languages/import_text.h"

#include "symbols/snippet.h"

#include "base/banned.h"

size_t vcm_import_text_skip(struct vcm_slice text, size_t at, const char *marks)
{
    while (at < text.len && strchr(marks, text.data[at]) && text.data[at] != '\0')
        at++;
    return at;
}

static struct vcm_slice word_at(const struct vcm_language_descriptor *language,
                                struct vcm_slice text, size_t at)
{
    const char mark = language->qualifiers.name_mark;
    size_t end = at;

    while (end < text.len && vcm_snippet_is_word(text.data[end], mark))
        end++;
    return vcm_slice_of(text.data + at, end - at);
}

struct vcm_slice vcm_import_text_word_behind(const struct vcm_language_descriptor *language,
                                             struct vcm_slice text, size_t at, const char *mark)
{
    size_t len = strlen(mark);

    at = vcm_import_text_skip(text, at, " \t");
    if (text.len - at < len || memcmp(text.data + at, mark, len) != 0)
        return vcm_slice_of("", 0);
    return word_at(language, text, vcm_import_text_skip(text, at + len, " \t"));
}

struct vcm_slice vcm_import_text_word_assigned(const struct vcm_language_descriptor *language,
                                               struct vcm_slice text, size_t start,
                                               const char *call)
{
    while (start > 0 && strchr("\"'`([ ", text.data[start - 1]))
        start--;
    if (!vcm_snippet_ends_at(text, start, call))
        return vcm_slice_of("", 0);
    for (start -= strlen(call); start > 0 && text.data[start - 1] == ' ';)
        start--;
    if (start == 0 || text.data[start - 1] != '=')
        return vcm_slice_of("", 0);
    for (start--; start > 0 && text.data[start - 1] == ' ';)
        start--;
    size_t word = vcm_snippet_word_start(text, start, language->qualifiers.name_mark);
    return vcm_slice_of(text.data + word, start - word);
}

bool vcm_import_text_is_whole(struct vcm_slice text, size_t end)
{
    end = vcm_import_text_skip(text, end, "\"'`])");
    return end >= text.len || text.data[end] != '.';
}

/* Behind blanks, line ends, and comments up to these. */
static size_t skip_gap(struct vcm_slice text, size_t at, size_t end)
{
    while (at < end && (vcm_snippet_is_blank(text.data[at]) || strchr("\\#(", text.data[at]))) {
        const char *line = text.data[at] == '#' ? memchr(text.data + at, '\n', end - at) : NULL;
        if (text.data[at] == '#' && !line)
            return end;
        at = line ? (size_t)(line - text.data) : at + 1;
    }
    return at;
}

/* Whether all names are taken: "*", and "_" where that stands for it. */
static bool is_wildcard(struct vcm_slice text, size_t at, size_t end, char name_mark,
                        bool underscore)
{
    return text.data[at] == '*' ||
           (underscore && text.data[at] == '_' &&
            (at + 1 == end || !vcm_snippet_is_word(text.data[at + 1], name_mark)));
}

void vcm_import_text_put_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                               struct vcm_slice text, size_t at, size_t end, const char *arrow)
{
    const char mark = language->qualifiers.name_mark;

    for (at = skip_gap(text, at, end); at < end; at = skip_gap(text, at + 1, end)) {
        bool all = is_wildcard(text, at, end, mark, arrow != NULL);
        struct vcm_slice name = all ? vcm_slice_of("*", 1) : word_at(language, text, at), here;
        at = skip_gap(text, at + (name.len > 0 ? name.len : 1), end);
        here = vcm_import_text_word_behind(language, text, at, "as ");
        if (here.len == 0 && arrow)
            here = vcm_import_text_word_behind(language, text, at, arrow);
        if (here.len > 0)
            at = skip_gap(text, (size_t)(here.data + here.len - text.data), end);
        if (name.len > 0 && !vcm_slice_equal(here, vcm_slice_of("_", 1)))
            vcm_snippet_put_name(out, name, here);
        if (at >= end || text.data[at] != ',')
            return;
    }
}

bool vcm_import_text_put_group(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                               struct vcm_slice text, size_t at, char separator, const char *arrow)
{
    size_t left = text.len - at < VCM_IMPORT_TEXT_MAX ? text.len - at : VCM_IMPORT_TEXT_MAX;
    const char *end = left > 2 ? memchr(text.data + at, '}', left) : NULL;

    if (left < 2 || text.data[at] != separator || !strchr("*_{", text.data[at + 1]))
        return false;
    if (text.data[at + 1] != '{')
        vcm_buf_append_byte(out, '*');
    else if (end)
        vcm_import_text_put_names(out, language, text, at + 2, (size_t)(end - text.data), arrow);
    else
        vcm_buf_append_byte(out, '-');
    return true;
}

/* One entry of a list. */
static void put_entry(struct vcm_buf *out, const struct vcm_import_text_list *list,
                      struct vcm_slice name)
{
    const char *colon = list->keys && name.len > 0 ? memchr(name.data, ':', name.len) : NULL;
    bool gap = false, first = true;

    name.len = colon ? (size_t)(colon - name.data) : name.len;
    for (size_t i = 0; i < name.len; i++) {
        const bool comment =
            list->comment &&
            vcm_snippet_begins(vcm_slice_of(name.data + i, name.len - i), list->comment);
        const char *line = comment ? memchr(name.data + i, '\n', name.len - i) : NULL;
        if (comment && !line)
            return;
        i = line ? (size_t)(line - name.data) : i;
        gap = gap || vcm_snippet_is_blank(name.data[i]);
        if (vcm_snippet_is_blank(name.data[i]))
            continue;
        if (first)
            vcm_buf_append_string(out, out->len > 0 ? ", " : "");
        else if (gap)
            vcm_buf_append_byte(out, ' ');
        vcm_buf_append_byte(out, name.data[i]);
        gap = first = false;
    }
}

void vcm_import_text_put_list(struct vcm_buf *out, const struct vcm_import_text_list *list,
                              struct vcm_slice text, size_t at, size_t end)
{
    size_t depth = 0;

    for (size_t i = at; i <= end; i++) {
        if (i < end && text.data[i] == '(')
            depth++;
        if (i < end && text.data[i] == ')' && depth > 0)
            depth--;
        if (i < end && (text.data[i] != ',' || depth > 0))
            continue;
        put_entry(out, list, vcm_slice_of(text.data + at, i - at));
        at = i + 1;
    }
}

bool vcm_import_text_put_bracket(struct vcm_buf *out, const struct vcm_import_text_list *list,
                                 struct vcm_slice text, size_t at, const char *mark)
{
    const size_t len = strlen(mark);
    const char open = mark[len - 1], close = open == '(' ? ')' : open == '[' ? ']' : '}';
    size_t depth = 1, i = at + len;

    if (text.len - at < len || memcmp(text.data + at, mark, len) != 0)
        return false;
    for (; i < text.len && i - at < VCM_IMPORT_TEXT_MAX && depth > 0; i++)
        depth = depth + (text.data[i] == open) - (text.data[i] == close);
    if (depth > 0)
        vcm_buf_append_byte(out, '-');
    else
        vcm_import_text_put_list(out, list, text, at + len, i - 1);
    return true;
}
