#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/visibility.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_java_query, "java.scm");
extern const struct TSLanguage *tree_sitter_java(void);

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)start;
    return vcm_import_text_put_group(out, language, text, end, '.', NULL);
}

const struct vcm_language_descriptor vcm_java_language = {
    .name = "java",
    .endings = {"java"},
    .family = VCM_LANGUAGE_JAVA,
    .grammar = tree_sitter_java,
    .queries = {vcm_java_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .head = {.annotations = true},
    .qualifiers = {.scope_mark = true, .self = {"this"}, .super = "super"},
    .imports = {.read_names = read_names, .file_per_name = true},
    .names = {.reach = VCM_LANGUAGES_REACH_DIRECTORY, .call = VCM_LANGUAGES_CALL_NEVER},
    .definitions = {.record_heads = true, .private_enum_makers = true},
    .visibility = {.words = {VCM_VISIBILITY_WORD_PROTECTED, VCM_VISIBILITY_WORD_PRIVATE,
                             VCM_VISIBILITY_WORD_PUBLIC},
                   .at_top = VCM_SYMBOL_INTERNAL,
                   .in_type = VCM_SYMBOL_INTERNAL},
    .lines = {.strings = {"\"\"\""}, .bare_functions = true},
};
