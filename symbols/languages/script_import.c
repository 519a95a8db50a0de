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

/* All between "export" and "from": "*", "* as a", "{a, b as c}". */
static void put_passed(struct vcm_buf *out, struct list clause)
{
    struct vcm_slice all = vcm_slice_of("*", 1);
    struct list type = clause;

    if (take_keyword(&type, "type") && type.rest.len > 0)
        clause = type;
    if (take_mark(&clause, '*'))
        vcm_snippet_put_name(
            out, all, take_keyword(&clause, "as") ? take_word(&clause) : vcm_slice_of("", 0));
    else if (take_mark(&clause, '{'))
        put_names(out, &clause);
}

/* Where the statement that ends with "from" at `at` begins; *passed when it exports. */
static bool find_clause(struct list *clause, bool *passed, struct vcm_slice text, size_t at)
{
    size_t first = at > CLAUSE_MAX ? at - CLAUSE_MAX : 0;

    for (size_t i = at; i > first && !strchr(";\"'`", text.data[i - 1]); i--) {
        *passed = word_ends(text, i, "export");
        if ((*passed || word_ends(text, i, "import")) && !is_word(text.data[i])) {
            clause->rest = vcm_slice_of(text.data + i, at - i);
            return true;
        }
    }
    return false;
}

/* The word behind the dot of `require("shop").Cart`, when nothing but the statement's end follows.
 */
static struct vcm_slice part_behind(struct vcm_slice text, size_t end)
{
    size_t len = 0;

    if (end >= text.len || text.data[end] != '.')
        return vcm_slice_of("", 0);
    while (end + 1 + len < text.len && is_word(text.data[end + 1 + len]))
        len++;
    size_t next = end + 1 + len;
    while (next < text.len && (text.data[next] == ' ' || text.data[next] == '\t'))
        next++;
    bool ends = next >= text.len || strchr(";,\r\n)}", text.data[next]);
    return vcm_slice_of(text.data + end + 1, ends ? len : 0);
}

/* What is assigned to at `at`, where all of a module or a part of it is assigned: a word, or the
 * pattern that ends there; "exports.a" and "module.exports" pass it on. */
static bool put_assigned(struct vcm_buf *out, bool *passed, struct vcm_slice text, size_t at,
                         struct vcm_slice part)
{
    size_t start = at, first = at > CLAUSE_MAX ? at - CLAUSE_MAX : 0, depth = 0;

    if (at == 0 || text.data[at - 1] != '}') {
        while (start > 0 && is_word(text.data[start - 1]))
            start--;
        struct vcm_slice word = vcm_slice_of(text.data + start, at - start);
        bool member = start > 0 && text.data[start - 1] == '.';
        bool whole = member && vcm_snippet_ends_at(text, start, "module.") &&
                     vcm_slice_equal(word, vcm_slice_of("exports", 7));
        *passed = whole || (member && vcm_snippet_ends_at(text, start, "exports."));
        if (member && !*passed)
            return false;
        if (!*passed && part.len == 0) {
            vcm_buf_append_slice(out, word);
            return false;
        }
        /* What stands for a module is, as a whole, what another stands for, and all that it has. */
        vcm_snippet_put_name(out, part.len > 0 ? part : vcm_slice_of(whole ? "=" : "*", 1),
                             whole ? vcm_slice_of("=", 1) : word);
        if (whole && part.len == 0)
            vcm_snippet_put_name(out, vcm_slice_of("*", 1), vcm_slice_of("", 0));
        return true;
    }
    for (; start > first; start--) {
        depth += text.data[start - 1] == '}';
        depth -= text.data[start - 1] == '{';
        if (depth == 0)
            break;
    }
    struct list names = {vcm_slice_of(text.data + start, at - start)};
    if (start > first && part.len == 0)
        put_names(out, &names);
    return out->len > 0;
}

/* "a = require(" or "a = await import(", whose string begins behind `at`. */
static bool put_called(struct vcm_buf *out, bool *passed, struct vcm_slice text, size_t at,
                       struct vcm_slice part)
{
    bool call = word_ends(text, at, "require") || word_ends(text, at, "import");

    if (!call)
        return false;
    at = back_over_blanks(text, at - (word_ends(text, at, "require") ? 7 : 6));
    if (word_ends(text, at, "await"))
        at = back_over_blanks(text, at - 5);
    if (at == 0 || text.data[at - 1] != '=')
        return false;
    return put_assigned(out, passed, text, back_over_blanks(text, at - 1), part);
}

bool vcm_script_import_names(struct vcm_buf *out, bool *passed, struct vcm_slice text, size_t start,
                             size_t end)
{
    size_t at = start;
    struct list clause = {vcm_slice_of(NULL, 0)};
    bool parts = false;

    *passed = false;
    while (at > 0 &&
           (strchr("\"'`(", text.data[at - 1]) || vcm_snippet_is_blank(text.data[at - 1])))
        at--;
    while (end < text.len &&
           (strchr("\"'`)", text.data[end]) || vcm_snippet_is_blank(text.data[end])))
        end++;
    struct vcm_slice part = part_behind(text, end);
    bool whole = end >= text.len || text.data[end] != '.' || part.len > 0;
    if (!word_ends(text, at, "from"))
        parts = whole && put_called(out, passed, text, at, part);
    else if (find_clause(&clause, passed, text, at - 4) && *passed) {
        put_passed(out, clause);
        parts = out->len > 0;
    } else if (!*passed && clause.rest.data)
        parts = put_clause(out, clause);
    if (out->len == 0)
        vcm_buf_append_byte(out, '-');
    *passed = *passed && parts;
    return parts;
}
