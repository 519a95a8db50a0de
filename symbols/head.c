#include "symbols/head.h"

#include "symbols/snippet.h"

#include "base/banned.h"

#define HEAD_BYTES 512u /* that are read of a head */
#define WORDS_MAX  12u  /* before the one that decides */
#define WORD_BYTES 16u

/* Words that may stand before the keyword of a definition. Each list begins and ends with a blank.
 */
static const char modifiers[] =
    " abstract accessor async case companion const constexpr convenience create declare default "
    "elemental explicit export extern external fileprivate final friend get global implicit impure "
    "indirect infix inline inner internal lazy let local mutating native nonisolated nonmutating "
    "open or override partial private protected pub public pure readonly rec recursive register "
    "replace required sealed set shadow static strictfp suspend synchronized tailrec temp template "
    "temporary typedef unsafe val var virtual volatile ";
static const char containers[] =
    " actor architecture class concept contract data defimpl defmodule defprotocol entity enum "
    "extension impl instance interface library message mixin module namespace newtype object "
    "package program protocol record service signature struct table trait trigger type union unit "
    "view ";
static const char functions[] = " constructor def defmacro defmacrop defmethod defn defp defun "
                                "deinit fn fun func function init macro method operator proc "
                                "procedure sub subroutine task ";
/* Those that are the name, too. */
static const char named[] = " constructor deinit init operator ";
/* Of languages whose functions have no keyword: there the other words may be names. */
static const char bare_containers[] =
    " class concept enum interface module namespace record struct type union ";
static const char bare_functions[] = " function ";
static const char bare_statements[] =
    " await break catch continue delete do else finally fixed for foreach goto if import lock new "
    "return switch throw try typeof using while yield ";
static const char statements[] =
    " and assert await begin break catch continue defer delete do echo elif else elseif elsif end "
    "ensure except finally for foreach from go goto guard if import in include lock loop match new "
    "not print raise repeat require rescue return select switch then throw try typeof unless until "
    "use using when while with yield ";

/* What one look at the head finds. Places are in the text. */
struct look {
    struct vcm_slice text;
    const struct vcm_language_descriptor *language;
    size_t end;     /* of the head, without a comment behind it */
    size_t line;    /* end of its first line */
    size_t bracket; /* the first "(" outside of other brackets, or `end` */
    size_t equals;  /* where a value begins, or `end` */
    bool has_arrow; /* "=>" */
    bool opens;     /* ends before the brace of a body */
    bool is_whole;  /* a statement of one line, which encloses nothing */
};

static bool has(const char *list, struct vcm_slice word)
{
    char key[WORD_BYTES + 3];
    bool upper = true;

    if (word.len == 0 || word.len > WORD_BYTES)
        return false;
    for (size_t i = 0; i < word.len; i++)
        upper = upper && word.data[i] >= 'A' && word.data[i] <= 'Z';
    key[0] = ' ';
    for (size_t i = 0; i < word.len; i++) /* "CREATE FUNCTION" */
        key[i + 1] = upper ? (char)(word.data[i] - 'A' + 'a') : word.data[i];
    key[word.len + 1] = ' ';
    key[word.len + 2] = '\0';
    return strstr(list, key) != NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_word(const struct look *look, size_t at)
{
    return at < look->text.len &&
           vcm_snippet_is_word(look->text.data[at], look->language->qualifiers.name_mark);
}

static size_t skip_blanks(const struct look *look, size_t at, const char *blanks)
{
    while (at < look->text.len && look->text.data[at] && strchr(blanks, look->text.data[at]))
        at++;
    return at;
}

static struct vcm_slice word_at(const struct look *look, size_t at)
{
    size_t end = at;

    while (is_word(look, end))
        end++;
    return vcm_slice_of(look->text.data + at, end - at);
}

static bool is_at(const struct look *look, size_t at, const char *mark)
{
    return mark && at < look->text.len &&
           vcm_snippet_begins(vcm_slice_of(look->text.data + at, look->text.len - at), mark);
}

/* Where a comment that begins here ends; `at` when none does. */
static size_t skip_comment(const struct look *look, size_t at)
{
    const struct vcm_language_comments *marks = &look->language->comments;
    const char *text = look->text.data;
    const size_t len = look->text.len;
    const char *end = NULL;

    if (marks->close && is_at(look, at, marks->open)) {
        end = memmem(text + at, len - at, marks->close, strlen(marks->close));
        return end ? (size_t)(end - text) + strlen(marks->close) : len;
    }
    if (is_at(look, at, marks->line)) {
        end = memchr(text + at, '\n', len - at);
        return end ? (size_t)(end - text) : len;
    }
    return at;
}

/* The same of a string. */
static size_t skip_string(const struct look *look, size_t at)
{
    const char *text = look->text.data;
    const size_t len = look->text.len;

    if (text[at] == '"' || text[at] == '`') {
        for (size_t i = at + 1; i < len && text[i] != '\n'; i++) {
            if (text[i] == text[at])
                return i + 1;
            i += text[i] == '\\';
        }
    }
    /* A character: what is longer may be a lifetime, or a string whose brackets match. */
    for (size_t i = at + 2; text[at] == '\'' && i < len && i < at + 5; i++)
        if (text[i] == '\'')
            return i + 1;
    return at;
}

/* Whether the head goes on in the line behind `at`, which is a line end outside of all brackets. */
static bool goes_on(struct look *look, size_t at)
{
    bool braces = look->language->lines.bare_functions ||
                  (look->language->comments.open && look->language->comments.open[0] == '/');
    size_t next = skip_blanks(look, at, " \t\r\n");

    if (at > 0 && (look->text.data[at - 1] == '\\' || look->text.data[at - 1] == ','))
        return true;
    if (braces && next < look->text.len && look->text.data[next] == '{') {
        look->opens = true;
        return false;
    }
    /* ": public Base", "where T: Clone" */
    return braces && next < look->text.len && next > at + 1 &&
           is_blank(look->text.data[next - 1]) &&
           (look->text.data[next] == ':' || is_at(look, next, "where") ||
            is_at(look, next, "throws") || is_at(look, next, "extends") ||
            is_at(look, next, "implements"));
}

static void note_sign(struct look *look, size_t at)
{
    const char *text = look->text.data;
    const char before = at > 0 ? text[at - 1] : ' ';
    const char after = at + 1 < look->text.len ? text[at + 1] : ' ';

    if (text[at] == '=' && after == '>')
        look->has_arrow = true;
    else if (look->equals == look->text.len && text[at] == '=' && after != '=' &&
             !strchr("=<>!+-*/%&|^~", before))
        look->equals = before == ':' ? at - 1 : at;
    else if (look->equals == look->text.len && text[at] == '<' && after == '-' && before == ' ')
        look->equals = at;
}

/* Whether the head ends before this character, which is outside of all brackets. */
static bool ends_at(struct look *look, size_t at)
{
    char c = look->text.data[at];

    if (c == '\n')
        return !goes_on(look, at);
    look->opens = c == '{';
    bool ends = c == ';' || c == '}' || c == ')' || c == ']';
    look->is_whole = ends && at <= look->line;
    return look->opens || ends;
}

/* Goes through the head, to where it ends. */
static void scan(struct look *look)
{
    const char *text = look->text.data, *line = memchr(text, '\n', look->text.len);
    unsigned depth = 0;
    size_t at = 0;

    look->bracket = look->equals = look->text.len;
    look->line = line ? (size_t)(line - text) : look->text.len;
    while (at < look->text.len) {
        size_t behind = skip_comment(look, at);
        if (behind > at) {
            at = behind;
            continue;
        }
        char c = text[at];
        if (depth == 0 && ends_at(look, at))
            break;
        behind = skip_string(look, at);
        if (depth == 0 && c == '(' && look->bracket == look->text.len)
            look->bracket = at;
        if (depth == 0)
            note_sign(look, at);
        depth += c == '(' || c == '[' || c == '{';
        depth -= depth > 0 && (c == ')' || c == ']' || c == '}');
        at = behind > at ? behind : at + 1;
        if (!is_blank(c) && c != '\n')
            look->end = at;
    }
    if ((depth > 0 || text[0] == '(') &&
        look->line < look->end) /* the rest is no part of the head: a table's rows */
        look->end = look->line;
}

/* Whether a name follows the keyword, or what may stand before one. */
static bool is_named(const struct look *look, struct vcm_slice keyword, size_t behind)
{
    size_t next = skip_blanks(look, behind, " \t");
    bool apart = next > behind;
    char c = next < look->end ? look->text.data[next] : '\0';

    if (has(named, keyword))
        return look->opens && (c == '(' || c == '\0' || c == '?' || c == '!' || apart);
    if (c == '<') /* "impl<T> Shop", "fun <T> total()" */
        return true;
    if (c == '(' && apart) /* "func (s *Shop) total()" */
        return look->language->qualifiers.receivers;
    return (apart || c == '!') && c != '\0' && (is_word(look, next) || strchr("\"`'$&*!:[~%", c));
}

/* Whether "struct page *find(int x)" is a function, in spite of its first word. */
static bool returns_it(const struct look *look, size_t keyword)
{
    unsigned words = 0;

    for (size_t at = keyword; at < look->bracket && at < look->end;) {
        struct vcm_slice word = word_at(look, at);
        words += word.len > 0;
        at += word.len > 0 ? word.len : 1;
    }
    return look->bracket < look->end && words > 2 && look->equals > look->bracket;
}

/* Whether the head gives a value to a name. */
static bool is_value(const struct look *look)
{
    return look->equals < look->end && is_word(look, 0) &&
           (!look->language->lines.bare_functions || look->equals < look->bracket);
}

/* A definition without a keyword, which begins with the word at `at`. */
static enum vcm_head_kind shape_of(const struct look *look, size_t at)
{
    const char *text = look->text.data;
    size_t colon = at + word_at(look, at).len;

    if (is_value(look)) {
        size_t value = skip_blanks(look, look->equals, ":=<- \t\n");
        return look->has_arrow || has(" async fn function func lambda ", word_at(look, value))
                   ? VCM_HEAD_FUNCTION
                   : VCM_HEAD_VALUE;
    }
    if (!look->language->lines.bare_functions || look->is_whole)
        return VCM_HEAD_NONE;
    if (look->opens && (text[0] == '-' || text[0] == '+') && at > 0)
        return VCM_HEAD_SHAPE; /* "- (void)show:(int)x {" */
    if (colon > at && colon < look->end && text[colon] == ':' &&
        (look->has_arrow ||
         has(" async function ", word_at(look, skip_blanks(look, colon + 1, " \t")))))
        return VCM_HEAD_FUNCTION; /* "total: function (x) {" */
    bool called = look->opens && look->bracket < look->end && look->bracket > 0;
    size_t name = called ? look->bracket : 0;
    while (name > 0 && is_blank(text[name - 1]))
        name--;
    bool begins =
        is_word(look, 0) || (text[0] && strchr("~@<[:*", text[0]) && !is_at(look, 0, "*/"));
    return called && begins && name > 0 &&
                   (is_word(look, name - 1) || strchr("=+-*/<>]!&|^%~", text[name - 1]))
               ? VCM_HEAD_SHAPE
               : VCM_HEAD_NONE;
}

/* Behind a modifier, with what belongs to it: "pub(crate)", "private[shop]", "extern "C"". */
static size_t skip_modifier(const struct look *look, struct vcm_slice word, size_t behind)
{
    bool round = is_at(look, behind, "(") && has(" internal open private pub public set ", word);
    bool square = is_at(look, behind, "[") && has(" private protected ", word);
    const char *close = NULL;

    if ((round || square) && behind < look->end)
        close = memchr(look->text.data + behind, round ? ')' : ']', look->end - behind);
    behind = close ? (size_t)(close - look->text.data) + 1 : behind;
    size_t next = skip_blanks(look, behind, " \t");
    return is_at(look, next, "\"C\"") ? skip_blanks(look, next + 3, " \t") : next;
}

/* Of a word that begins types and the like. */
static enum vcm_head_kind judge_container(const struct look *look, size_t at)
{
    bool bare = look->language->lines.bare_functions;

    if (bare && returns_it(look, at))
        return shape_of(look, at);
    if (bare && is_value(look))
        return VCM_HEAD_VALUE;
    return look->is_whole ? VCM_HEAD_NONE : VCM_HEAD_CONTAINER;
}

static enum vcm_head_kind judge(const struct look *look)
{
    const bool bare = look->language->lines.bare_functions;
    size_t at = 0;

    if (is_at(look, 0, "(def")) /* Lisp */
        return VCM_HEAD_FUNCTION;
    for (unsigned i = 0; i < WORDS_MAX && at < look->end; i++) {
        struct vcm_slice word = word_at(look, at);
        size_t behind = at + word.len;
        if (has(bare ? bare_statements : statements, word))
            return VCM_HEAD_NONE;
        if (has(bare ? bare_functions : functions, word) && is_named(look, word, behind))
            return VCM_HEAD_FUNCTION;
        if (has(bare ? bare_containers : containers, word) && is_named(look, word, behind))
            return judge_container(look, at);
        size_t next = has(modifiers, word) ? skip_modifier(look, word, behind) : behind;
        if (next == behind)
            break;
        at = next;
    }
    return shape_of(look, at);
}

/* Without the marks and words with which a body begins. */
static struct vcm_slice without_ends(struct vcm_slice head)
{
    static const char *const words[] = {" do", " where", " then", " is", " begin", " as"};

    head = vcm_snippet_trim(head);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (vcm_snippet_ends(head, words[i]))
            head = vcm_snippet_trim(vcm_slice_of(head.data, head.len - strlen(words[i])));
    if (vcm_snippet_ends(head, "=>"))
        head.len -= 2;
    while (head.len > 0 && (strchr("{:;=,\\(", head.data[head.len - 1]) ||
                            vcm_snippet_is_blank(head.data[head.len - 1])))
        head.len--;
    return head;
}

void vcm_head_read(struct vcm_head *out, struct vcm_slice text,
                   const struct vcm_language_descriptor *language)
{
    struct look look = {.text = vcm_snippet_first(text, HEAD_BYTES), .language = language};

    *out = (struct vcm_head){.kind = VCM_HEAD_NONE};
    if (text.len == 0)
        return;
    scan(&look);
    out->kind = judge(&look);
    size_t end = out->kind == VCM_HEAD_VALUE ? look.equals : look.end;
    out->text = without_ends(vcm_slice_of(look.text.data, end));
    if (out->text.len == 0)
        out->kind = VCM_HEAD_NONE;
}
