#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_php_query, "php.scm");
extern const struct TSLanguage *tree_sitter_php(void);

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)start;
    if (vcm_import_text_put_group(out, language, text, end, '\\', NULL))
        return true;
    vcm_buf_append_slice(out, vcm_import_text_word_behind(language, text, end, "as "));
    return false;
}

const struct vcm_language_descriptor vcm_php_language = {
    .name = "php",
    .endings = {"php"},
    .grammar = tree_sitter_php,
    .queries = {vcm_php_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .qualifiers = {.dot = VCM_LANGUAGES_DOT_NONE,
                   .scope_mark = true,
                   .arrow = true,
                   .name_mark = '$',
                   .dollar_variables = true,
                   .self = {"self", "$this", "static"},
                   .super = "parent"},
    .imports = {.read_names = read_names, .path = VCM_LANGUAGES_PATH_EITHER},
    .names = {.call = VCM_LANGUAGES_CALL_NEVER, .members_qualified = true, .partial_paths = true},
    .definitions = {.promoted_parameters = true, .trait_words = true},
};
