#include "symbols/languages/script_import.h"

#include "symbols/snippet.h"

#include "base/banned.h"

#define CLAUSE_MAX ((size_t)8192) /* bytes between "import" and "from" */

static bool is_word(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

static size_t back_over_blanks(struct vcm_slice text, size_t at)
{
    while (at > 0 && vcm_snippet_is_blank(text.data[at - 1]))
        at--;
    return at;
}

/* Whether a word ends at `at`. */
static bool word_ends(struct vcm_slice text, size_t at, const char *word)
{
    size_t len = strlen(word);

    return at >= len && memcmp(text.data + at - len, word, len) == 0 &&
           (at == len || !is_word(text.data[at - len - 1]));
}

/* What is left of a list of names. */
struct list {
    struct vcm_slice rest;
};

static void skip(struct list *list, size_t len)
{
    len = len < list->rest.len ? len : list->rest.len;
    list->rest = vcm_slice_of(list->rest.data + len, list->rest.len - len);
}

static void skip_gap(struct list *list)
{
    while (list->rest.len > 0) {
        const char *at = list->rest.data;
        size_t left = list->rest.len;
        bool line = left > 1 && memcmp(at, "//", 2) == 0;
        bool block = left > 1 && memcmp(at, "/*", 2) == 0;
        const char *end = line    ? memchr(at, '\n', left)
                          : block ? memmem(at + 2, left - 2, "*/", 2)
                                  : NULL;
        if (line || block)
            skip(list, end ? (size_t)(end - at) + (block ? 2 : 1) : left);
        else if (vcm_snippet_is_blank(*at))
            skip(list, 1);
        else
            return;
    }
}

static struct vcm_slice take_word(struct list *list)
{
    size_t len = 0;

    skip_gap(list);
    while (len < list->rest.len && is_word(list->rest.data[len]))
        len++;
    struct vcm_slice word = vcm_slice_of(list->rest.data, len);
    skip(list, len);
    skip_gap(list);
    return word;
}

static bool take_mark(struct list *list, char mark)
{
    skip_gap(list);
    if (list->rest.len == 0 || list->rest.data[0] != mark)
        return false;
    skip(list, 1);
    return true;
}

static bool take_keyword(struct list *list, const char *keyword)
{
    struct list after = *list;

    if (!vcm_slice_equal(take_word(&after), vcm_slice_of_string(keyword)))
        return false;
    *list = after;
    return true;
}

/* Up to the next comma of this level: a default value, or a pattern in the pattern. */
static void skip_entry(struct list *list)
{
    size_t depth = 0;

    for (; list->rest.len > 0; skip(list, 1)) {
        char c = list->rest.data[0];
        if (depth == 0 && (c == ',' || c == '}'))
            return;
        depth += strchr("{[(", c) && c != '\0';
        depth -= depth > 0 && strchr("}])", c) && c != '\0';
    }
}

/* "type a, b as c" of an import, "a, b: c = 1" of a declaration, behind the bracket. */
static void put_names(struct vcm_buf *out, struct list *list)
{
    do {
        struct list type = *list;
        if (take_keyword(&type, "type") && type.rest.len > 0 && is_word(type.rest.data[0]))
            *list = type; /* unless "type" is the name */
        struct vcm_slice name = take_word(list), here = vcm_slice_of("", 0);
        if (take_keyword(list, "as") || take_mark(list, ':'))
            here = take_word(list);
        vcm_snippet_put_name(out, name, here);
        skip_entry(list);
    } while (take_mark(list, ','));
    take_mark(list, '}');
}

/* All between "import" and "from". */
static bool put_clause(struct vcm_buf *out, struct list clause)
{
    struct vcm_slice all = vcm_slice_of("", 0);
    struct list type = clause;

    if (take_keyword(&type, "type") && type.rest.len > 0 && type.rest.data[0] != ',')
        clause = type;
    struct vcm_slice whole = take_word(&clause);
    if (whole.len > 0)
        vcm_snippet_put_name(out, vcm_slice_of("default", 7), whole);
    take_mark(&clause, ',');
    if (take_mark(&clause, '*') && take_keyword(&clause, "as"))
        all = take_word(&clause);
    if (all.len > 0 && out->len == 0) {
        vcm_buf_append_slice(out, all);
        return false;
    }
    vcm_snippet_put_name(out, vcm_slice_of(all.len > 0 ? "*" : "", all.len > 0), all);
    if (take_mark(&clause, '{'))
        put_names(out, &clause);
    return out->len > 0;
}

/* Where the statement that ends with "from" at `at` begins; what is exported makes no names. */
static bool find_clause(struct list *clause, struct vcm_slice text, size_t at)
{
    size_t first = at > CLAUSE_MAX ? at - CLAUSE_MAX : 0;

    for (size_t i = at; i > first && !strchr(";\"'`", text.data[i - 1]); i--)
        if (word_ends(text, i, "import") && !is_word(text.data[i])) {
            clause->rest = vcm_slice_of(text.data + i, at - i);
            return true;
        }
    return false;
}

/* What is assigned to at `at`: a word, or the pattern that ends there. */
static bool put_assigned(struct vcm_buf *out, struct vcm_slice text, size_t at)
{
    size_t start = at, first = at > CLAUSE_MAX ? at - CLAUSE_MAX : 0, depth = 0;

    if (at == 0 || text.data[at - 1] != '}') {
        while (start > 0 && is_word(text.data[start - 1]))
            start--;
        vcm_buf_append_slice(out, vcm_slice_of(text.data + start, at - start));
        return false;
    }
    for (; start > first; start--) {
        depth += text.data[start - 1] == '}';
        depth -= text.data[start - 1] == '{';
        if (depth == 0)
            break;
    }
    struct list names = {vcm_slice_of(text.data + start, at - start)};
    if (start > first)
        put_names(out, &names);
    return out->len > 0;
}

/* "a = require(" or "a = await import(", whose string begins behind `at`. */
static bool put_called(struct vcm_buf *out, struct vcm_slice text, size_t at)
{
    bool call = word_ends(text, at, "require") || word_ends(text, at, "import");

    if (!call)
        return false;
    at = back_over_blanks(text, at - (word_ends(text, at, "require") ? 7 : 6));
    if (word_ends(text, at, "await"))
        at = back_over_blanks(text, at - 5);
    if (at == 0 || text.data[at - 1] != '=')
        return false;
    return put_assigned(out, text, back_over_blanks(text, at - 1));
}

bool vcm_script_import_names(struct vcm_buf *out, struct vcm_slice text, size_t start, size_t end)
{
    size_t at = start;
    struct list clause;
    bool parts = false;

    while (at > 0 &&
           (strchr("\"'`(", text.data[at - 1]) || vcm_snippet_is_blank(text.data[at - 1])))
        at--;
    while (end < text.len &&
           (strchr("\"'`)", text.data[end]) || vcm_snippet_is_blank(text.data[end])))
        end++;
    bool whole = end >= text.len || text.data[end] != '.'; /* not `require("shop").Cart` */
    if (!word_ends(text, at, "from"))
        parts = whole && put_called(out, text, at);
    else if (find_clause(&clause, text, at - 4))
        parts = put_clause(out, clause);
    if (out->len == 0)
        vcm_buf_append_byte(out, '-');
    return parts;
}
