#include "symbols/qualifier.h"

#include "symbols/script_import.h"
#include "symbols/snippet.h"

#include "base/banned.h"

#define QUALIFIER_MAX ((size_t)128) /* bytes; a longer one is not known */
#define NAMES_MAX     ((size_t)4096)

/* What a mark between two names joins. */
enum join {
    JOIN_NONE,
    JOIN_OBJECT, /* a member to a value */
    JOIN_NAME,   /* a name to a module, a type or a value */
};

/* Where "::" is no type, cast, cons or label. */
static bool has_scope_mark(enum vcm_language language)
{
    return language == VCM_LANGUAGE_CPP || language == VCM_LANGUAGE_RUST ||
           language == VCM_LANGUAGE_PHP || language == VCM_LANGUAGE_RUBY ||
           language == VCM_LANGUAGE_R || language == VCM_LANGUAGE_JAVA ||
           language == VCM_LANGUAGE_KOTLIN || language == VCM_LANGUAGE_C_SHARP;
}

/* Whether modules and types begin with a capital, and nothing else does. */
static bool has_capitals(enum vcm_language language)
{
    return language == VCM_LANGUAGE_RUBY || language == VCM_LANGUAGE_ELIXIR ||
           language == VCM_LANGUAGE_HASKELL || vcm_language_is_ocaml(language);
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_word(enum vcm_language language, char c)
{
    bool money = c == '$' && (language == VCM_LANGUAGE_PHP || vcm_language_is_script(language));

    return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80 || money || (c == '.' && language == VCM_LANGUAGE_R);
}

static bool ends_with(struct vcm_slice text, size_t at, const char *mark)
{
    size_t len = strlen(mark);

    return at >= len && memcmp(text.data + at - len, mark, len) == 0;
}

static size_t word_start(enum vcm_language language, struct vcm_slice text, size_t end)
{
    while (end > 0 && is_word(language, text.data[end - 1]))
        end--;
    return end;
}

static enum join dot_before(size_t *start, enum vcm_language language, struct vcm_slice text,
                            size_t at)
{
    bool range = at >= 2 && text.data[at - 2] == '.';

    if (language == VCM_LANGUAGE_R || language == VCM_LANGUAGE_PHP ||
        language == VCM_LANGUAGE_BASH || range)
        return JOIN_NONE;
    *start = at - 1;
    if (language == VCM_LANGUAGE_HASKELL) { /* else it composes functions */
        size_t word = word_start(language, text, *start);
        return word < *start && is_upper(text.data[word]) ? JOIN_NAME : JOIN_NONE;
    }
    bool asks = false;
    for (; *start > 0 && strchr("?!&", text.data[*start - 1]); asks = true)
        --*start;
    bool values = vcm_language_is_c(language) || language == VCM_LANGUAGE_RUST;
    return values || asks ? JOIN_OBJECT : JOIN_NAME;
}

/* The mark that ends at `at`, and where it begins. */
static enum join mark_before(size_t *start, enum vcm_language language, struct vcm_slice text,
                             size_t at)
{
    bool arrows = vcm_language_is_c(language) || language == VCM_LANGUAGE_PHP;

    if (at == 0)
        return JOIN_NONE;
    if (arrows && ends_with(text, at, "->")) {
        *start = at - 2 - ends_with(text, at, "?->");
        return JOIN_OBJECT;
    }
    if (has_scope_mark(language) && ends_with(text, at, "::")) {
        *start = at - 2 - ends_with(text, at, ":::");
        return JOIN_NAME;
    }
    if (language == VCM_LANGUAGE_LUA && text.data[at - 1] == ':' && !ends_with(text, at, "::")) {
        *start = at - 1;
        return JOIN_NAME;
    }
    if ((vcm_language_is_ocaml(language) && text.data[at - 1] == '#') ||
        (language == VCM_LANGUAGE_R && strchr("$@", text.data[at - 1]))) {
        *start = at - 1;
        return JOIN_OBJECT;
    }
    return text.data[at - 1] == '.' ? dot_before(start, language, text, at) : JOIN_NONE;
}

static const char *comment_mark(enum vcm_language language)
{
    switch (language) {
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_RUBY:
    case VCM_LANGUAGE_ELIXIR:
    case VCM_LANGUAGE_JULIA:
    case VCM_LANGUAGE_R:
        return "#";
    case VCM_LANGUAGE_LUA:
    case VCM_LANGUAGE_SQL:
        return "--";
    default:
        return "//";
    }
}

/* Before blanks, and before a comment that ends the line above. */
static size_t skip_blanks(enum vcm_language language, struct vcm_slice text, size_t at)
{
    const char *mark = comment_mark(language);
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
static struct vcm_slice read_words(enum vcm_language language, struct vcm_slice text, size_t end)
{
    const struct vcm_slice unknown = vcm_slice_of("", 0);
    size_t start = end;

    for (;;) {
        size_t word = word_start(language, text, start), mark = 0;
        if (word == start || (text.data[word] >= '0' && text.data[word] <= '9'))
            return unknown;
        start = word;
        enum join join = mark_before(&mark, language, text, start);
        if (join == JOIN_OBJECT || end - start > QUALIFIER_MAX)
            return unknown;
        bool global = ends_with(text, start, "::") &&
                      (mark == 0 || !strchr(">)]}", text.data[mark - 1])) &&
                      word_start(language, text, mark) == mark;
        if (join == JOIN_NONE || global)
            break;
        start = mark;
    }
    bool variable =
        start > 0 && ((text.data[start - 1] == '@' &&
                       (language == VCM_LANGUAGE_RUBY || language == VCM_LANGUAGE_ELIXIR)) ||
                      (text.data[start - 1] == '#' && vcm_language_is_script(language)));
    return variable ? unknown : vcm_slice_of(text.data + start, end - start);
}

static bool is_known(enum vcm_language language, struct vcm_slice words, enum join join,
                     bool scope_mark)
{
    static const char *const of_module[] = {"self", "super", "crate"};
    struct vcm_slice rest = words, last = vcm_qualifier_pop(&rest), first = last;

    while (rest.len > 0)
        first = vcm_qualifier_pop(&rest);
    bool alone = first.data == last.data;
    for (size_t i = 0; i < 3 && language == VCM_LANGUAGE_RUST && scope_mark && alone; i++)
        if (vcm_slice_equal(words, vcm_slice_of_string(of_module[i])))
            return false;
    bool self = vcm_qualifier_self(language, first, vcm_slice_of("", 0)) != VCM_QUALIFIER_OTHER;
    if (self && language != VCM_LANGUAGE_RUST)
        return alone;
    if (self && alone)
        return true;
    if (language == VCM_LANGUAGE_PHP && first.data[0] == '$')
        return false; /* a variable */
    return join == JOIN_NAME && (!has_capitals(language) || is_upper(last.data[0]));
}

bool vcm_qualifier_find(struct vcm_slice *out, enum vcm_language language, struct vcm_slice text,
                        size_t name)
{
    size_t at = language == VCM_LANGUAGE_HASKELL ? name : skip_blanks(language, text, name),
           mark = at;
    if (language == VCM_LANGUAGE_JULIA && at > 0 && text.data[at - 1] == '@')
        at--; /* "Base.@kwdef" */
    enum join join = mark_before(&mark, language, text, at);

    *out = vcm_slice_of("", 0);
    if (language == VCM_LANGUAGE_PHP && at > 0 && text.data[at - 1] == '$')
        join = mark_before(&mark, language, text, --at); /* "self::$count" */
    if (join == JOIN_NONE)
        return false;
    size_t end = mark;
    while (end > 0 && vcm_snippet_is_blank(text.data[end - 1]))
        end--;
    bool scope_mark = ends_with(text, at, "::");
    bool word = end > 0 && is_word(language, text.data[end - 1]);
    bool opens = end == 0 || !strchr(">)]}\"'", text.data[end - 1]);
    bool begins = language == VCM_LANGUAGE_RUBY && end < mark;
    if (scope_mark && ((!word && opens) || begins))
        return false; /* "::name", of the outermost scope */
    if (!word && end < mark && ends_with(text, at, "->") && language == VCM_LANGUAGE_CPP)
        return false; /* "auto f() -> type" */
    /* "return .open" leaves the type out. */
    bool implied = language == VCM_LANGUAGE_SWIFT || language == VCM_LANGUAGE_ZIG;
    if (!word || has_line_end(text, end, mark) || ((scope_mark || implied) && end < mark))
        return true;
    struct vcm_slice words = read_words(language, text, end);
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

enum vcm_qualifier_self vcm_qualifier_self(enum vcm_language language, struct vcm_slice qualifier,
                                           struct vcm_slice function)
{
    static const struct {
        const char *word;
        bool super;
        unsigned char languages[9]; /* ends with none */
    } words[] = {
        {"self",
         false,
         {VCM_LANGUAGE_PYTHON, VCM_LANGUAGE_RUST, VCM_LANGUAGE_RUBY, VCM_LANGUAGE_SWIFT,
          VCM_LANGUAGE_PHP, VCM_LANGUAGE_LUA, VCM_LANGUAGE_OCAML}},
        {"cls", false, {VCM_LANGUAGE_PYTHON}},
        {"Self", false, {VCM_LANGUAGE_RUST, VCM_LANGUAGE_SWIFT, VCM_LANGUAGE_ZIG}},
        {"this",
         false,
         {VCM_LANGUAGE_JAVASCRIPT, VCM_LANGUAGE_TYPESCRIPT, VCM_LANGUAGE_TSX, VCM_LANGUAGE_JAVA,
          VCM_LANGUAGE_C_SHARP, VCM_LANGUAGE_CPP, VCM_LANGUAGE_KOTLIN, VCM_LANGUAGE_SCALA}},
        {"$this", false, {VCM_LANGUAGE_PHP}},
        {"static", false, {VCM_LANGUAGE_PHP}},
        {"__MODULE__", false, {VCM_LANGUAGE_ELIXIR}},
        {"super",
         true,
         {VCM_LANGUAGE_JAVASCRIPT, VCM_LANGUAGE_TYPESCRIPT, VCM_LANGUAGE_TSX, VCM_LANGUAGE_JAVA,
          VCM_LANGUAGE_KOTLIN, VCM_LANGUAGE_SCALA, VCM_LANGUAGE_SWIFT}},
        {"super", true, {VCM_LANGUAGE_OCAML, VCM_LANGUAGE_R}},
        {"self", false, {VCM_LANGUAGE_R}},
        {"private", false, {VCM_LANGUAGE_R}},
        {"base", true, {VCM_LANGUAGE_C_SHARP}},
        {"parent", true, {VCM_LANGUAGE_PHP}},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (vcm_slice_equal(qualifier, vcm_slice_of_string(words[i].word)) &&
            memchr(words[i].languages, (int)language, sizeof words[i].languages))
            return words[i].super ? VCM_QUALIFIER_SUPER : VCM_QUALIFIER_SELF;
    return language == VCM_LANGUAGE_GO && is_receiver(qualifier, function) ? VCM_QUALIFIER_SELF
                                                                           : VCM_QUALIFIER_OTHER;
}

static size_t skip_forward(struct vcm_slice text, size_t at, const char *marks)
{
    while (at < text.len && strchr(marks, text.data[at]) && text.data[at] != '\0')
        at++;
    return at;
}

static struct vcm_slice word_at(enum vcm_language language, struct vcm_slice text, size_t at)
{
    size_t end = at;

    while (end < text.len && is_word(language, text.data[end]))
        end++;
    return vcm_slice_of(text.data + at, end - at);
}

/* The word behind `mark`, if that is what comes next. */
static struct vcm_slice word_behind(enum vcm_language language, struct vcm_slice text, size_t at,
                                    const char *mark)
{
    size_t len = strlen(mark);

    at = skip_forward(text, at, " \t");
    if (text.len - at < len || memcmp(text.data + at, mark, len) != 0)
        return vcm_slice_of("", 0);
    return word_at(language, text, skip_forward(text, at + len, " \t"));
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

/* "a, b as c" of [at, end), as far as it is such a list; marks for "as" differ. */
static void put_names(struct vcm_buf *out, enum vcm_language language, struct vcm_slice text,
                      size_t at, size_t end)
{
    for (at = skip_gap(text, at, end); at < end; at = skip_gap(text, at + 1, end)) {
        bool all =
            text.data[at] == '*' || (language == VCM_LANGUAGE_SCALA && text.data[at] == '_' &&
                                     (at + 1 == end || !is_word(language, text.data[at + 1])));
        struct vcm_slice name = all ? vcm_slice_of("*", 1) : word_at(language, text, at), here;
        at = skip_gap(text, at + (name.len > 0 ? name.len : 1), end);
        here = word_behind(language, text, at, "as ");
        if (here.len == 0 && language == VCM_LANGUAGE_SCALA)
            here = word_behind(language, text, at, "=>");
        if (here.len > 0)
            at = skip_gap(text, (size_t)(here.data + here.len - text.data), end);
        if (name.len > 0 && !vcm_slice_equal(here, vcm_slice_of("_", 1)))
            vcm_snippet_put_name(out, name, here);
        if (at >= end || text.data[at] != ',')
            return;
    }
}

/* The names of "from m import a, b", up to the end of the line or the bracket. What holds another
 * import is broken, and would be kept once for each. */
static bool put_names_behind(struct vcm_buf *out, struct vcm_slice text, size_t at)
{
    static const char word[] = "import";
    const size_t len = sizeof word - 1;

    at = skip_forward(text, at, " \t");
    if (text.len - at <= len || memcmp(text.data + at, word, len) != 0 ||
        is_word(VCM_LANGUAGE_PYTHON, text.data[at + len]))
        return false;
    size_t names = skip_forward(text, at + len, " \t");
    size_t left = text.len - names < NAMES_MAX ? text.len - names : NAMES_MAX;
    bool bracket = left > 0 && text.data[names] == '(';
    const char *end = memchr(text.data + names, bracket ? ')' : '\n', left);
    while (end && !bracket && end > text.data + names && end[-1] == '\\')
        end = memchr(end + 1, '\n', left - (size_t)(end + 1 - (text.data + names)));
    size_t stop = end ? (size_t)(end - text.data) : names + left;
    if ((end || stop == text.len) && !memmem(text.data + names, stop - names, "import ", len + 1))
        put_names(out, VCM_LANGUAGE_PYTHON, text, names, stop);
    else
        vcm_buf_append_byte(out, '-');
    return true;
}

/* Behind a package: "import java.util.*", "import a.{b, c => d}". */
static bool put_group_behind(struct vcm_buf *out, enum vcm_language language, struct vcm_slice text,
                             size_t at)
{
    size_t left = text.len - at < NAMES_MAX ? text.len - at : NAMES_MAX;
    const char *end = left > 2 ? memchr(text.data + at, '}', left) : NULL;

    if (left < 2 || text.data[at] != (language == VCM_LANGUAGE_PHP ? '\\' : '.') ||
        !strchr("*_{", text.data[at + 1]))
        return false;
    if (text.data[at + 1] != '{')
        vcm_buf_append_byte(out, '*');
    else if (end)
        put_names(out, language, text, at + 2, (size_t)(end - text.data));
    else
        vcm_buf_append_byte(out, '-');
    return true;
}

/* The word before the "=" of "shop = require("shop")", whose string begins at `start`. */
static struct vcm_slice word_assigned(enum vcm_language language, struct vcm_slice text,
                                      size_t start, const char *call)
{
    while (start > 0 && strchr("\"'`([ ", text.data[start - 1]))
        start--;
    if (!ends_with(text, start, call))
        return vcm_slice_of("", 0);
    for (start -= strlen(call); start > 0 && text.data[start - 1] == ' ';)
        start--;
    if (start == 0 || text.data[start - 1] != '=')
        return vcm_slice_of("", 0);
    for (start--; start > 0 && text.data[start - 1] == ' ';)
        start--;
    size_t word = word_start(language, text, start);
    return vcm_slice_of(text.data + word, start - word);
}

/* Unless only a part of the module is taken: `require("shop").Cart`. */
static bool is_whole(struct vcm_slice text, size_t end)
{
    end = skip_forward(text, end, "\"'`])");
    return end >= text.len || text.data[end] != '.';
}

/* Lua: the word of "a, b = require("a"), require("b")" that stands where the call does. */
static struct vcm_slice word_of_list(struct vcm_slice text, size_t start)
{
    size_t line = start, commas = 0;

    while (line > 0 && start - line < NAMES_MAX && text.data[line - 1] != '\n')
        line--;
    const char *equals = memchr(text.data + line, '=', start - line);
    if (!equals)
        return vcm_slice_of("", 0);
    for (const char *at = equals; at < text.data + start; at++)
        commas += *at == ',';
    struct vcm_slice words = vcm_slice_of(text.data + line, (size_t)(equals - text.data) - line);
    bool call = word_assigned(VCM_LANGUAGE_LUA, text, start, "require").len > 0;
    for (; commas > 0 && words.len > 0; commas--, call = true) {
        const char *comma = memchr(words.data, ',', words.len);
        size_t gone = comma ? (size_t)(comma + 1 - words.data) : words.len;
        words = vcm_slice_of(words.data + gone, words.len - gone);
    }
    const char *comma = words.len > 0 ? memchr(words.data, ',', words.len) : NULL;
    size_t end = comma ? (size_t)(comma - words.data) : words.len;
    while (end > 0 && words.data[end - 1] == ' ')
        end--;
    size_t word = word_start(VCM_LANGUAGE_LUA, words, end);
    return vcm_slice_of(words.data + word, call ? end - word : 0);
}

/* One name of a list as it is written, blanks in one; of Elixir's "from: 2" without the number. */
static void put_written(struct vcm_buf *out, enum vcm_language language, struct vcm_slice name)
{
    const char *colon =
        language == VCM_LANGUAGE_ELIXIR && name.len > 0 ? memchr(name.data, ':', name.len) : NULL;
    bool gap = false, first = true;

    name.len = colon ? (size_t)(colon - name.data) : name.len;
    for (size_t i = 0; i < name.len; i++) {
        const bool comment = language == VCM_LANGUAGE_HASKELL && i + 1 < name.len &&
                             memcmp(name.data + i, "--", 2) == 0;
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

/* What is between commas of [at, end), but for those in brackets. */
static void put_list(struct vcm_buf *out, enum vcm_language language, struct vcm_slice text,
                     size_t at, size_t end)
{
    size_t depth = 0;

    for (size_t i = at; i <= end; i++) {
        if (i < end && text.data[i] == '(')
            depth++;
        if (i < end && text.data[i] == ')' && depth > 0)
            depth--;
        if (i < end && (text.data[i] != ',' || depth > 0))
            continue;
        put_written(out, language, vcm_slice_of(text.data + at, i - at));
        at = i + 1;
    }
}

/* "(a, T (..))" behind `mark`: up to the bracket that closes it. */
static bool put_bracket(struct vcm_buf *out, enum vcm_language language, struct vcm_slice text,
                        size_t at, const char *mark)
{
    const size_t len = strlen(mark);
    const char open = mark[len - 1], close = open == '(' ? ')' : open == '[' ? ']' : '}';
    size_t depth = 1, i = at + len;

    if (text.len - at < len || memcmp(text.data + at, mark, len) != 0)
        return false;
    for (; i < text.len && i - at < NAMES_MAX && depth > 0; i++)
        depth = depth + (text.data[i] == open) - (text.data[i] == close);
    if (depth > 0)
        vcm_buf_append_byte(out, '-');
    else
        put_list(out, language, text, at + len, i - 1);
    return true;
}

/* "using A: b, c as d": up to a line that does not go on. */
static bool put_line_of_names(struct vcm_buf *out, struct vcm_slice text, size_t at)
{
    size_t end = at = skip_forward(text, at, " \t");

    if (at == text.len || text.data[at] != ':')
        return false;
    for (bool more = true; more && end < text.len && end - at < NAMES_MAX; end++)
        more = text.data[end] != '\n' || (end > at && text.data[end - 1] == ',');
    put_list(out, VCM_LANGUAGE_JULIA, text, at + 1, end);
    return true;
}

/* As put_names_behind(), of languages that import functions. */
static bool put_functions(struct vcm_buf *out, enum vcm_language language, struct vcm_slice text,
                          size_t at)
{
    switch (language) {
    case VCM_LANGUAGE_HASKELL:
        return put_bracket(out, language, text, skip_forward(text, at, " \t\r\n"), "(");
    case VCM_LANGUAGE_ELIXIR:
        return put_bracket(out, language, text, at, ".{") ||
               put_bracket(out, language, text, at, ", only: [");
    case VCM_LANGUAGE_JULIA:
        return put_line_of_names(out, text, at);
    default:
        return false;
    }
}

static struct vcm_slice word_for(enum vcm_language language, struct vcm_slice text, size_t start,
                                 size_t end)
{
    const struct vcm_slice none = vcm_slice_of("-", 1);
    struct vcm_slice word = vcm_slice_of("", 0);

    if (language == VCM_LANGUAGE_PYTHON || language == VCM_LANGUAGE_HASKELL ||
        language == VCM_LANGUAGE_KOTLIN || language == VCM_LANGUAGE_SCALA ||
        language == VCM_LANGUAGE_JULIA)
        return word_behind(language, text, end, "as ");
    if (language == VCM_LANGUAGE_C_SHARP)
        return word_assigned(language, text, start, "");
    if (language == VCM_LANGUAGE_ELIXIR) {
        word = word_behind(language, text, end, ", as:");
        bool names = ends_with(text, start, "alias ") || ends_with(text, start, "require ");
        struct vcm_slice target = vcm_slice_of(text.data + start, end - start);
        return word.len == 0 && names ? vcm_qualifier_pop(&target) : word;
    }
    if (language == VCM_LANGUAGE_GO) {
        for (; start > 0 && strchr("\"` ", text.data[start - 1]);)
            start--;
        if (start > 0 && text.data[start - 1] == '.')
            return vcm_slice_of(".", 1);
        size_t first = word_start(language, text, start);
        word = vcm_slice_of(text.data + first, start - first);
        return vcm_slice_equal(word, vcm_slice_of_string("import")) ? vcm_slice_of("", 0) : word;
    }
    if (language == VCM_LANGUAGE_PHP)
        return word_behind(language, text, end, "as ");
    if (language == VCM_LANGUAGE_LUA || language == VCM_LANGUAGE_ZIG) {
        word = language == VCM_LANGUAGE_ZIG ? word_assigned(language, text, start, "@import")
                                            : word_of_list(text, start);
        return word.len > 0 && is_whole(text, end) ? word : none;
    }
    return word;
}

bool vcm_qualifier_alias(struct vcm_buf *out, enum vcm_language language, struct vcm_slice text,
                         size_t start, size_t end)
{
    bool packages = language == VCM_LANGUAGE_JAVA || language == VCM_LANGUAGE_KOTLIN ||
                    language == VCM_LANGUAGE_SCALA || language == VCM_LANGUAGE_PHP;

    if (vcm_language_is_script(language))
        return vcm_script_import_names(out, text, start, end);
    if ((language == VCM_LANGUAGE_PYTHON && put_names_behind(out, text, end)) ||
        (packages && put_group_behind(out, language, text, end)) ||
        put_functions(out, language, text, end))
        return true;
    vcm_buf_append_slice(out, word_for(language, text, start, end));
    return false;
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
