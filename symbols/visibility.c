#include "symbols/visibility.h"

#include <ctype.h>

#include "symbols/snippet.h"

#include "base/banned.h"

#define WORDS_MAX 8

struct word {
    const char *text;
    enum vcm_symbol_visibility visibility;
};

/* The first word that is there decides; then what the name looks like; then where it is. */
struct rule {
    struct word words[WORDS_MAX]; /* up to one without a text */
    bool (*hides)(const struct vcm_symbol *symbol, bool in_type);
    enum vcm_symbol_visibility at_top, in_type;
};

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a place in a text is in a string, as an annotation may have. */
static bool is_quoted(struct vcm_slice text, const char *at)
{
    bool quoted = false;

    for (const char *c = text.data; c < at; c++)
        quoted = quoted != (*c == '"');
    return quoted;
}

/* Where a word stands in a text by itself; NULL when it does not. */
static const char *find_word(struct vcm_slice text, struct vcm_slice word)
{
    const char *end = text.data + text.len;

    for (const char *at = text.data; word.len > 0 && (size_t)(end - at) >= word.len; at++) {
        at = memmem(at, (size_t)(end - at), word.data, word.len);
        if (!at)
            return NULL;
        bool before = at == text.data || !is_part(at[-1]) || !is_part(word.data[0]);
        bool behind =
            at + word.len == end || !is_part(at[word.len]) || !is_part(word.data[word.len - 1]);
        if (before && behind && !is_quoted(text, at))
            return at;
    }
    return NULL;
}

static bool has_word(struct vcm_slice text, const char *word)
{
    return find_word(text, vcm_slice_of_string(word)) != NULL;
}

/* What is written before the name, where all words of visibility are. */
static struct vcm_slice head_of(const struct vcm_symbol *symbol)
{
    const char *name = find_word(symbol->signature, symbol->name);

    return name ? vcm_slice_of(symbol->signature.data, (size_t)(name - symbol->signature.data))
                : symbol->signature;
}

static bool has_leading_underscore(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_snippet_begins(symbol->name, "_");
}

static bool hides_in_python(const struct vcm_symbol *symbol, bool in_type)
{
    const struct vcm_slice name = symbol->name;
    bool is_special =
        name.len > 4 && vcm_snippet_begins(name, "__") && vcm_snippet_ends(name, "__");

    return has_leading_underscore(symbol, in_type) && !is_special;
}

static bool hides_in_cpp(const struct vcm_symbol *symbol, bool in_type)
{
    return !in_type && has_word(head_of(symbol), "static");
}

/* Lower-case letters of other scripts are rare enough. */
static bool hides_in_go(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return symbol->name.len > 0 &&
           (islower((unsigned char)symbol->name.data[0]) || symbol->name.data[0] == '_');
}

/* Fields have no word for it. */
static bool hides_in_zig(const struct vcm_symbol *symbol, bool in_type)
{
    const struct vcm_slice head = head_of(symbol);

    (void)in_type;
    return has_word(head, "const") || has_word(head, "var") || has_word(head, "fn");
}

/* Attributes are the module's own, but for types and callbacks. */
static bool hides_in_elixir(const struct vcm_symbol *symbol, bool in_type)
{
    static const char *const shown[] = {"@type ", "@opaque ", "@callback ", "@macrocallback "};
    static const char *const hidden[] = {"defp ", "defmacrop ", "defguardp "};

    (void)in_type;
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (vcm_snippet_begins(symbol->signature, shown[i]))
            return false;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (vcm_snippet_begins(symbol->signature, hidden[i]))
            return true;
    return vcm_snippet_begins(symbol->signature, "@");
}

static bool has_leading_dot(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_snippet_begins(symbol->name, ".");
}

static bool hides_in_lua(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_snippet_begins(symbol->signature, "local");
}

/* Variables of objects; methods have a word. */
static bool hides_in_ocaml(const struct vcm_symbol *symbol, bool in_type)
{
    return in_type && symbol->kind == VCM_SYMBOL_FIELD &&
           vcm_snippet_begins(symbol->signature, "val ");
}

static bool has_leading_hash(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_snippet_begins(symbol->name, "#");
}

/* What makes an object is called by "new" alone. */
static bool hides_in_ruby(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return symbol->kind == VCM_SYMBOL_CONSTRUCTOR;
}

#define PROTECTED                                                                                  \
    {                                                                                              \
        "protected", VCM_SYMBOL_PROTECTED                                                          \
    }
#define PRIVATE                                                                                    \
    {                                                                                              \
        "private", VCM_SYMBOL_PRIVATE                                                              \
    }
#define INTERNAL                                                                                   \
    {                                                                                              \
        "internal", VCM_SYMBOL_INTERNAL                                                            \
    }
#define PUBLIC                                                                                     \
    {                                                                                              \
        "public", VCM_SYMBOL_PUBLIC                                                                \
    }

/* Those that are missing have the words that most languages have. */
static const struct rule rules[VCM_LANGUAGE_COUNT] = {
    [VCM_LANGUAGE_C] = {.words = {{"static", VCM_SYMBOL_PRIVATE}}},
    [VCM_LANGUAGE_CPP] = {.hides = hides_in_cpp},
    [VCM_LANGUAGE_PYTHON] = {.hides = hides_in_python},
    [VCM_LANGUAGE_RUBY] = {.hides = hides_in_ruby},
    [VCM_LANGUAGE_GO] = {.hides = hides_in_go},
    [VCM_LANGUAGE_RUST] = {.words = {{"pub(", VCM_SYMBOL_INTERNAL}, {"pub", VCM_SYMBOL_PUBLIC}},
                           .at_top = VCM_SYMBOL_PRIVATE,
                           .in_type = VCM_SYMBOL_PRIVATE},
    [VCM_LANGUAGE_ZIG] = {.words = {{"pub", VCM_SYMBOL_PUBLIC}, {"export", VCM_SYMBOL_PUBLIC}},
                          .hides = hides_in_zig},
    [VCM_LANGUAGE_ELIXIR] = {.hides = hides_in_elixir},
    [VCM_LANGUAGE_JULIA] = {.hides = has_leading_underscore},
    [VCM_LANGUAGE_R] = {.hides = has_leading_dot},
    [VCM_LANGUAGE_OCAML] = {.words = {PRIVATE}, .hides = hides_in_ocaml},
    [VCM_LANGUAGE_OCAML_INTERFACE] = {.words = {PRIVATE}, .hides = hides_in_ocaml},
    [VCM_LANGUAGE_LUA] = {.hides = hides_in_lua},
    [VCM_LANGUAGE_JAVA] = {.words = {PROTECTED, PRIVATE, PUBLIC},
                           .at_top = VCM_SYMBOL_INTERNAL,
                           .in_type = VCM_SYMBOL_INTERNAL},
    [VCM_LANGUAGE_C_SHARP] = {.words = {PROTECTED, PRIVATE, INTERNAL, PUBLIC},
                              .at_top = VCM_SYMBOL_INTERNAL,
                              .in_type = VCM_SYMBOL_PRIVATE},
    [VCM_LANGUAGE_SWIFT] = {.words = {PUBLIC,
                                      {"open", VCM_SYMBOL_PUBLIC},
                                      /* Who may set it. */
                                      {"private(set)", VCM_SYMBOL_INTERNAL},
                                      {"fileprivate(set)", VCM_SYMBOL_INTERNAL},
                                      {"fileprivate", VCM_SYMBOL_PRIVATE},
                                      PRIVATE},
                            .at_top = VCM_SYMBOL_INTERNAL,
                            .in_type = VCM_SYMBOL_INTERNAL},
    [VCM_LANGUAGE_SCALA] = {.words = {PROTECTED,
                                      {"private[this", VCM_SYMBOL_PRIVATE},
                                      {"private[", VCM_SYMBOL_INTERNAL},
                                      PRIVATE}},
};

static const struct rule common = {.words = {PROTECTED, PRIVATE, INTERNAL},
                                   .hides = has_leading_hash};

enum vcm_symbol_visibility vcm_visibility_of(enum vcm_language language,
                                             const struct vcm_symbol *symbol,
                                             const struct vcm_visibility_place *place)
{
    const struct rule *rule = &rules[language];
    const struct vcm_slice head = head_of(symbol);

    if (!rule->words[0].text && !rule->hides)
        rule = &common;
    for (size_t i = 0; i < WORDS_MAX && rule->words[i].text; i++)
        if (has_word(head, rule->words[i].text))
            return rule->words[i].visibility;
    if (symbol->kind == VCM_SYMBOL_NAMESPACE || place->promised)
        return VCM_SYMBOL_PUBLIC;
    if (rule->hides && rule->hides(symbol, place->in_type))
        return VCM_SYMBOL_PRIVATE;
    return place->in_type ? rule->in_type : rule->at_top;
}

bool vcm_visibility_follows(enum vcm_language language, const struct vcm_symbol *symbol)
{
    bool is_member = symbol->kind == VCM_SYMBOL_METHOD || symbol->kind == VCM_SYMBOL_FIELD;

    return language != VCM_LANGUAGE_RUBY ||
           (is_member && !vcm_snippet_begins(symbol->signature, "def self."));
}
