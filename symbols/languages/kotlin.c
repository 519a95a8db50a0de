#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_kotlin_query, "kotlin.scm");
extern const struct TSLanguage *tree_sitter_kotlin(void);

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)start;
    if (vcm_import_text_put_group(out, language, text, end, '.', NULL))
        return true;
    vcm_buf_append_slice(out, vcm_import_text_word_behind(language, text, end, "as "));
    return false;
}

static const struct vcm_language_implied implied[] = {
    {"it", false}, {"_", false}, {"field", true}, {NULL, false}};

const struct vcm_language_descriptor vcm_kotlin_language = {
    .name = "kotlin",
    .endings = {"kt", "kts"},
    .family = VCM_LANGUAGE_JAVA,
    .grammar = tree_sitter_kotlin,
    .queries = {vcm_kotlin_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .head = {.annotations = true},
    .qualifiers = {.scope_mark = true, .self = {"this"}, .super = "super"},
    .imports = {.read_names = read_names, .file_per_name = true},
    .names = {.reach = VCM_LANGUAGES_REACH_DIRECTORY, .call = VCM_LANGUAGES_CALL_MAKES},
    .definitions = {.implied = implied},
    .tree = {.body = VCM_LANGUAGES_BODY_LAST},
    .lines = {.strings = {"\"\"\""}},
};
