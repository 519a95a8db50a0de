#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_ruby_query, "ruby.scm");
extern const struct TSLanguage *tree_sitter_ruby(void);

/* "new" alone calls what makes an object. */
static bool is_constructor(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return symbol->kind == VCM_SYMBOL_CONSTRUCTOR;
}

static const struct vcm_language_implied implied[] = {{"it", false}, {NULL, false}};

const struct vcm_language_descriptor vcm_ruby_language = {
    .name = "ruby",
    .endings = {"rb", "rake", "gemspec"},
    .file_names = {"Rakefile", "Gemfile"},
    .grammar = tree_sitter_ruby,
    .queries = {vcm_ruby_query},
    .comments = {.line = "#"},
    .head = {.end_keyword = true, .hash_comments = true},
    .qualifiers = {.scope_mark = true,
                   .variable_mark = '@',
                   .capitals = true,
                   .argument_scopes = true,
                   .self = {"self"}},
    .imports = {.path = VCM_LANGUAGES_PATH_WRITTEN},
    .names = {.call = VCM_LANGUAGES_CALL_NEVER,
              .spread_types = true,
              .open_types = true,
              .partial_paths = true},
    .definitions = {.mixins = true, .implied = implied},
    .visibility = {.hides = is_constructor, .members_follow = true},
};
