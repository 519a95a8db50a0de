#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/snippet.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_lua_query, "lua.scm");
extern const struct TSLanguage *tree_sitter_lua(void);

/* The word of "a, b = require("a"), require("b")" that stands where the call does. */
static struct vcm_slice word_of_list(const struct vcm_language_descriptor *language,
                                     struct vcm_slice text, size_t start)
{
    size_t line = start, commas = 0;

    while (line > 0 && start - line < VCM_IMPORT_TEXT_MAX && text.data[line - 1] != '\n')
        line--;
    const char *equals = memchr(text.data + line, '=', start - line);
    if (!equals)
        return vcm_slice_of("", 0);
    for (const char *at = equals; at < text.data + start; at++)
        commas += *at == ',';
    struct vcm_slice words = vcm_slice_of(text.data + line, (size_t)(equals - text.data) - line);
    bool call = vcm_import_text_word_assigned(language, text, start, "require").len > 0;
    for (; commas > 0 && words.len > 0; commas--, call = true) {
        const char *comma = memchr(words.data, ',', words.len);
        size_t gone = comma ? (size_t)(comma + 1 - words.data) : words.len;
        words = vcm_slice_of(words.data + gone, words.len - gone);
    }
    const char *comma = words.len > 0 ? memchr(words.data, ',', words.len) : NULL;
    size_t end = comma ? (size_t)(comma - words.data) : words.len;
    while (end > 0 && words.data[end - 1] == ' ')
        end--;
    size_t word = vcm_snippet_word_start(words, end, language->qualifiers.name_mark);
    return vcm_slice_of(words.data + word, call ? end - word : 0);
}

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    struct vcm_slice word = word_of_list(language, text, start);

    if (word.len > 0 && vcm_import_text_is_whole(text, end))
        vcm_buf_append_slice(out, word);
    else
        vcm_buf_append_byte(out, '-');
    return false;
}

/* A module of one word lies beside the file or near the top. */
static bool means_file(struct vcm_slice target, const struct vcm_language_place *place)
{
    return place->beside || place->depth < 2 || memchr(target.data, '.', target.len) != NULL;
}

static bool is_local(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_snippet_begins(symbol->signature, "local");
}

const struct vcm_language_descriptor vcm_lua_language = {
    .name = "lua",
    .endings = {"lua"},
    .grammar = tree_sitter_lua,
    .queries = {vcm_lua_query},
    .comments = {.line = "--", .open = "--[[", .close = "]]"},
    .head = {.dash_comment = true},
    .qualifiers = {.colon = true, .self = {"self"}},
    .imports = {.read_names = read_names, .means_file = means_file},
    .names = {.members_qualified = true, .closed = true},
    .definitions = {.first_setting = true, .self_object = true},
    .visibility = {.hides = is_local},
};
