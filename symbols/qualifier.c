#include "symbols/qualifier.h"

#include "symbols/snippet.h"

#include "base/banned.h"

#define QUALIFIER_MAX ((size_t)128) /* bytes; a longer one is not known */

/* What a mark between two names joins. */
enum join {
    JOIN_NONE,
    JOIN_OBJECT, /* a member to a value */
    JOIN_NAME,   /* a name to a module, a type or a value */
};

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static enum join dot_before(size_t *start, const struct vcm_language_qualifiers *marks,
                            struct vcm_slice text, size_t at)
{
    bool range = at >= 2 && text.data[at - 2] == '.';

    if (marks->dot == VCM_LANGUAGES_DOT_NONE || range)
        return JOIN_NONE;
    *start = at - 1;
    if (marks->dot == VCM_LANGUAGES_DOT_CAPITAL) { /* else it composes functions */
        size_t word = vcm_snippet_word_start(text, *start, marks->name_mark);
        return word < *start && is_upper(text.data[word]) ? JOIN_NAME : JOIN_NONE;
    }
    bool asks = false;
    for (; *start > 0 && strchr("?!&", text.data[*start - 1]); asks = true)
        --*start;
    return marks->dot == VCM_LANGUAGES_DOT_OBJECT || asks ? JOIN_OBJECT : JOIN_NAME;
}

/* The mark that ends at `at`, and where it begins. */
static enum join mark_before(size_t *start, const struct vcm_language_qualifiers *marks,
                             struct vcm_slice text, size_t at)
{
    if (at == 0)
        return JOIN_NONE;
    const char last = text.data[at - 1];
    if (marks->arrow && vcm_snippet_ends_at(text, at, "->")) {
        *start = at - 2 - vcm_snippet_ends_at(text, at, "?->");
        return JOIN_OBJECT;
    }
    if (marks->scope_mark && vcm_snippet_ends_at(text, at, "::")) {
        *start = at - 2 - vcm_snippet_ends_at(text, at, ":::");
        return JOIN_NAME;
    }
    if (marks->colon && last == ':' && !vcm_snippet_ends_at(text, at, "::")) {
        *start = at - 1;
        return JOIN_NAME;
    }
    if (marks->object_marks && last != '\0' && strchr(marks->object_marks, last)) {
        *start = at - 1;
        return JOIN_OBJECT;
    }
    return last == '.' ? dot_before(start, marks, text, at) : JOIN_NONE;
}

/* Before blanks, and before a comment that ends the line above. */
static size_t skip_blanks(const struct vcm_language_descriptor *language, struct vcm_slice text,
                          size_t at)
{
    const char *mark = language->comments.line ? language->comments.line : "//";
    size_t end = at;
    bool line = false;

    for (; end > 0 && vcm_snippet_is_blank(text.data[end - 1]); end--)
        line = line || text.data[end - 1] == '\n';
    if (!line)
        return end;
    const char *above = memrchr(text.data, '\n', end);
    size_t first = above ? (size_t)(above + 1 - text.data) : 0;
    const char *comment = memmem(text.data + first, end - first, mark, strlen(mark));
    if (comment)
        for (end = (size_t)(comment - text.data);
             end > first && vcm_snippet_is_blank(text.data[end - 1]);)
            end--;
    return end;
}

static bool has_line_end(struct vcm_slice text, size_t start, size_t end)
{
    return memchr(text.data + start, '\n', end - start) != NULL;
}

/* All words up to `end` that are joined without blanks; "" when there is something else too. */
static struct vcm_slice read_words(const struct vcm_language_qualifiers *marks,
                                   struct vcm_slice text, size_t end)
{
    const struct vcm_slice unknown = vcm_slice_of("", 0);
    size_t start = end;

    for (;;) {
        size_t word = vcm_snippet_word_start(text, start, marks->name_mark), mark = 0;
        if (word == start || (text.data[word] >= '0' && text.data[word] <= '9'))
            return unknown;
        start = word;
        enum join join = mark_before(&mark, marks, text, start);
        if (join == JOIN_OBJECT || end - start > QUALIFIER_MAX)
            return unknown;
        bool global = vcm_snippet_ends_at(text, start, "::") &&
                      (mark == 0 || !strchr(">)]}", text.data[mark - 1])) &&
                      vcm_snippet_word_start(text, mark, marks->name_mark) == mark;
        if (join == JOIN_NONE || global)
            break;
        start = mark;
    }
    bool variable =
        start > 0 && marks->variable_mark != '\0' && text.data[start - 1] == marks->variable_mark;
    return variable ? unknown : vcm_slice_of(text.data + start, end - start);
}

/* Whether the words, which may be a name by their form, are known to be one: not a variable, nor a
 * path of modules that begins at the file itself. */
static bool is_known(const struct vcm_language_descriptor *language, struct vcm_slice words,
                     enum join join, bool scope_mark)
{
    static const char *const of_module[] = {"self", "super", "crate"};
    const struct vcm_language_qualifiers *marks = &language->qualifiers;
    struct vcm_slice rest = words, last = vcm_qualifier_pop(&rest), first = last;

    while (rest.len > 0)
        first = vcm_qualifier_pop(&rest);
    bool alone = first.data == last.data;
    for (size_t i = 0; i < 3 && marks->module_words && scope_mark && alone; i++)
        if (vcm_slice_equal(words, vcm_slice_of_string(of_module[i])))
            return false;
    bool self = vcm_qualifier_self(language, first, vcm_slice_of("", 0)) != VCM_QUALIFIER_OTHER;
    if (self && !marks->module_words)
        return alone;
    if (self && alone)
        return true;
    if (marks->dollar_variables && first.data[0] == '$')
        return false; /* a variable */
    return join == JOIN_NAME && (!marks->capitals || is_upper(last.data[0]));
}

/* Whether nothing stands before the mark that a name could be qualified by: "::name", of the
 * outermost scope, and "auto f() -> type". */
static bool begins_with_mark(const struct vcm_language_qualifiers *marks, struct vcm_slice text,
                             size_t at, size_t mark, size_t end)
{
    bool word = end > 0 && vcm_snippet_is_word(text.data[end - 1], marks->name_mark);
    bool opens = end == 0 || !strchr(">)]}\"'", text.data[end - 1]);
    bool begins = marks->argument_scopes && end < mark;

    if (vcm_snippet_ends_at(text, at, "::") && ((!word && opens) || begins))
        return true;
    return !word && end < mark && marks->arrow_types && vcm_snippet_ends_at(text, at, "->");
}

bool vcm_qualifier_find(struct vcm_slice *out, const struct vcm_language_descriptor *language,
                        struct vcm_slice text, size_t name)
{
    const struct vcm_language_qualifiers *marks = &language->qualifiers;
    bool tight = marks->dot == VCM_LANGUAGES_DOT_CAPITAL;
    size_t at = tight ? name : skip_blanks(language, text, name), mark = at;

    if (marks->macro_mark && at > 0 && text.data[at - 1] == '@')
        at--; /* "Base.@kwdef" */
    enum join join = mark_before(&mark, marks, text, at);
    *out = vcm_slice_of("", 0);
    if (marks->dollar_variables && at > 0 && text.data[at - 1] == '$')
        join = mark_before(&mark, marks, text, --at); /* "self::$count" */
    if (join == JOIN_NONE)
        return false;
    size_t end = mark;
    while (end > 0 && vcm_snippet_is_blank(text.data[end - 1]))
        end--;
    if (begins_with_mark(marks, text, at, mark, end))
        return false;
    bool scope_mark = vcm_snippet_ends_at(text, at, "::");
    bool word = end > 0 && vcm_snippet_is_word(text.data[end - 1], marks->name_mark);
    /* "return .open" leaves the type out. */
    bool apart = (scope_mark || marks->implied_types) && end < mark;
    if (!word || has_line_end(text, end, mark) || apart)
        return true;
    struct vcm_slice words = read_words(marks, text, end);
    if (words.len > 0 && is_known(language, words, join, scope_mark))
        *out = words;
    return true;
}

struct vcm_slice vcm_qualifier_pop(struct vcm_slice *path)
{
    size_t end = path->len;

    while (end > 0 && !strchr(".:\\/", path->data[end - 1]))
        end--;
    struct vcm_slice last = vcm_slice_of(path->data + end, path->len - end);
    while (end > 0 && strchr(".:\\/", path->data[end - 1]))
        end--;
    path->len = end;
    return last;
}

/* "func (s *Shop) total": whether "s" is the word. */
static bool is_receiver(struct vcm_slice word, struct vcm_slice function)
{
    static const char begin[] = "func (";
    size_t len = sizeof begin - 1;

    return word.len > 0 && function.len > len + word.len &&
           memcmp(function.data, begin, len) == 0 &&
           memcmp(function.data + len, word.data, word.len) == 0 &&
           function.data[len + word.len] == ' ';
}

enum vcm_qualifier_self vcm_qualifier_self(const struct vcm_language_descriptor *language,
                                           struct vcm_slice qualifier, struct vcm_slice function)
{
    const struct vcm_language_qualifiers *marks = &language->qualifiers;

    for (size_t i = 0; i < sizeof marks->self / sizeof marks->self[0] && marks->self[i]; i++)
        if (vcm_slice_equal(qualifier, vcm_slice_of_string(marks->self[i])))
            return VCM_QUALIFIER_SELF;
    if (marks->super && vcm_slice_equal(qualifier, vcm_slice_of_string(marks->super)))
        return VCM_QUALIFIER_SUPER;
    return marks->receivers && is_receiver(qualifier, function) ? VCM_QUALIFIER_SELF
                                                                : VCM_QUALIFIER_OTHER;
}

bool vcm_qualifier_next_import(struct vcm_slice *import, struct vcm_slice *rest)
{
    size_t len = 0, depth = 0;

    while (rest->len > 0 && (vcm_snippet_is_blank(rest->data[0]) || rest->data[0] == ','))
        *rest = vcm_slice_of(rest->data + 1, rest->len - 1);
    for (; len < rest->len && (depth > 0 || rest->data[len] != ','); len++)
        depth = rest->data[len] == '{' ? 1 : rest->data[len] == '}' ? 0 : depth;
    *import = vcm_slice_of(rest->data, len);
    *rest = vcm_slice_of(rest->data + len, rest->len - len);
    return len > 0;
}

struct vcm_slice vcm_qualifier_target(struct vcm_slice import)
{
    static const char *const marks[] = {".{", "._", ".*", " "};

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *end = memmem(import.data, import.len, marks[i], strlen(marks[i]));
        import.len = end ? (size_t)(end - import.data) : import.len;
    }
    while (import.len > 0 && vcm_snippet_is_blank(import.data[import.len - 1]))
        import.len--;
    return import;
}

bool vcm_qualifier_next_name(struct vcm_slice *name, struct vcm_slice *here, struct vcm_slice *list)
{
    const char *comma = list->len > 0 ? memmem(list->data, list->len, ", ", 2) : NULL;
    size_t len = comma ? (size_t)(comma - list->data) : list->len;
    const char *as = len > 0 ? memmem(list->data, len, " as ", 4) : NULL;
    size_t gone = comma ? len + 2 : len;

    *name = *here = vcm_slice_of(list->data, as ? (size_t)(as - list->data) : len);
    if (as)
        *here = vcm_slice_of(as + 4, len - name->len - 4);
    *list = vcm_slice_of(list->data + gone, list->len - gone);
    return len > 0;
}

bool vcm_qualifier_names(struct vcm_slice alias, struct vcm_slice name)
{
    struct vcm_slice found, here;

    while (vcm_qualifier_next_name(&found, &here, &alias))
        if (vcm_slice_equal(found, name) && vcm_slice_equal(here, name))
            return true;
    return false;
}
