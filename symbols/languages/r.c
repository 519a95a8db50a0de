#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"
#include "symbols/snippet.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_r_query, "r.scm");
extern const struct TSLanguage *tree_sitter_r(void);

static bool has_dot(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_snippet_begins(symbol->name, ".");
}

const struct vcm_language_descriptor vcm_r_language = {
    .name = "r",
    .endings = {"r", "R"},
    .grammar = tree_sitter_r,
    .queries = {vcm_r_query},
    .comments = {.line = "#", .strip = "#'"},
    .qualifiers = {.dot = VCM_LANGUAGES_DOT_NONE,
                   .scope_mark = true,
                   .object_marks = "$@",
                   .name_mark = '.',
                   .self = {"self", "private"},
                   .super = "super"},
    .imports = {.path = VCM_LANGUAGES_PATH_WRITTEN},
    .visibility = {.hides = has_dot},
};
