#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/qualifier.h"
#include "symbols/visibility.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_scala_query, "scala.scm");
extern const struct TSLanguage *tree_sitter_scala(void);

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)start;
    if (vcm_import_text_put_group(out, language, text, end, '.', "=>"))
        return true;
    vcm_buf_append_slice(out, vcm_import_text_word_behind(language, text, end, "as "));
    return false;
}

static bool brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    return !import->parts || vcm_qualifier_names(import->alias, name) ||
           vcm_qualifier_names(import->alias, vcm_slice_of("*", 1));
}

static const struct vcm_language_implied implied[] = {{"_", false}, {NULL, false}};

const struct vcm_language_descriptor vcm_scala_language = {
    .name = "scala",
    .endings = {"scala", "sc", "sbt"},
    .family = VCM_LANGUAGE_JAVA,
    .grammar = tree_sitter_scala,
    .queries = {vcm_scala_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .head = {.annotations = true},
    .qualifiers = {.self = {"this"}, .super = "super"},
    .imports = {.read_names = read_names,
                .lists = true,
                .file_per_name = true,
                .brings_name = brings_name},
    .names = {.reach = VCM_LANGUAGES_REACH_DIRECTORY, .call = VCM_LANGUAGES_CALL_MAKES},
    .definitions = {.implied = implied},
    .visibility = {.words = {VCM_VISIBILITY_WORD_PROTECTED,
                             {"private[this", VCM_SYMBOL_PRIVATE},
                             {"private[", VCM_SYMBOL_INTERNAL},
                             VCM_VISIBILITY_WORD_PRIVATE}},
    .tree = {.trailing_comments = true},
    .lines = {.strings = {"\"\"\""}},
};
