#include "symbols/visibility.h"

#include <ctype.h>

#include "symbols/snippet.h"

#include "base/banned.h"

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

bool vcm_visibility_has_word(const struct vcm_symbol *symbol, const char *word)
{
    return has_word(head_of(symbol), word);
}

static bool has_leading_hash(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_snippet_begins(symbol->name, "#");
}

/* Of languages that have no words and no habit of their own. */
static const struct vcm_language_visibility common = {.words = {VCM_VISIBILITY_WORD_PROTECTED,
                                                                VCM_VISIBILITY_WORD_PRIVATE,
                                                                VCM_VISIBILITY_WORD_INTERNAL},
                                                      .hides = has_leading_hash};

enum vcm_symbol_visibility vcm_visibility_of(const struct vcm_language_descriptor *language,
                                             const struct vcm_symbol *symbol,
                                             const struct vcm_visibility_place *place)
{
    const struct vcm_language_visibility *rule = &language->visibility;
    const struct vcm_slice head = head_of(symbol);

    if (!rule->words[0].text && !rule->hides)
        rule = &common;
    for (size_t i = 0; i < VCM_LANGUAGES_WORDS_MAX && rule->words[i].text; i++)
        if (has_word(head, rule->words[i].text))
            return rule->words[i].visibility;
    if (symbol->kind == VCM_SYMBOL_NAMESPACE || place->promised)
        return VCM_SYMBOL_PUBLIC;
    if (rule->hides && rule->hides(symbol, place->in_type))
        return VCM_SYMBOL_PRIVATE;
    return place->in_type ? rule->in_type : rule->at_top;
}

bool vcm_visibility_follows(const struct vcm_language_descriptor *language,
                            const struct vcm_symbol *symbol)
{
    bool is_member = symbol->kind == VCM_SYMBOL_METHOD || symbol->kind == VCM_SYMBOL_FIELD;

    return !language->visibility.members_follow ||
           (is_member && !vcm_snippet_begins(symbol->signature, "def self."));
}
