#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"
#include "symbols/visibility.h"

#include "base/banned.h"

/* C and C++: headers, and names that both see. */
VCM_EMBED_QUERY(vcm_c_family_c_query, "c.scm");
VCM_EMBED_QUERY(vcm_c_family_cpp_query, "cpp.scm");
extern const struct TSLanguage *tree_sitter_c(void);
extern const struct TSLanguage *tree_sitter_cpp(void);

/* Macros take types too, which is no syntax: "container_of(a, struct b, c)". */
static const char *const keywords[] = {"struct",   "const",    "union", "enum",
                                       "unsigned", "volatile", NULL};

static bool is_static(const struct vcm_symbol *symbol, bool in_type)
{
    return !in_type && vcm_visibility_has_word(symbol, "static");
}

const struct vcm_language_descriptor vcm_c_family_c = {
    .name = "c",
    .endings = {"c", "h"}, /* ".h" may be of C++ (headers.h) */
    .family = VCM_LANGUAGE_C,
    .grammar = tree_sitter_c,
    .queries = {vcm_c_family_c_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .qualifiers = {.dot = VCM_LANGUAGES_DOT_OBJECT, .arrow = true},
    .imports = {.path = VCM_LANGUAGES_PATH_WRITTEN, .family = true},
    .names = {.call = VCM_LANGUAGES_CALL_NEVER,
              .private_to_file = true,
              .headers = true,
              .only_members = true,
              .types_apart = true},
    .definitions = {.tags = true, .keywords = keywords},
    .visibility = {.words = {{"static", VCM_SYMBOL_PRIVATE}}},
    .lines = {.bare_functions = true, .labels = true},
};

const struct vcm_language_descriptor vcm_c_family_cpp = {
    .name = "cpp",
    .endings = {"C", "H", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "ipp", "inl"},
    .family = VCM_LANGUAGE_C,
    .grammar = tree_sitter_cpp,
    .queries = {vcm_c_family_cpp_query, vcm_c_family_c_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .qualifiers = {.dot = VCM_LANGUAGES_DOT_OBJECT,
                   .scope_mark = true,
                   .arrow = true,
                   .arrow_types = true,
                   .self = {"this"}},
    .imports = {.path = VCM_LANGUAGES_PATH_WRITTEN, .family = true},
    .names = {.call = VCM_LANGUAGES_CALL_MAKES,
              .private_to_file = true,
              .spread_types = true,
              .partial_paths = true,
              .headers = true,
              .types_apart = true},
    .definitions = {.tags = true,
                    .classes_hide = true,
                    .base_initialisers = true,
                    .template_containers = true,
                    .named_constructors = true,
                    .keywords = keywords},
    .visibility = {.hides = is_static},
    .lines = {.bare_functions = true, .labels = true},
};
