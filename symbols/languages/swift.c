#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"
#include "symbols/visibility.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_swift_query, "swift.scm");
extern const struct TSLanguage *tree_sitter_swift(void);

static const struct vcm_language_implied implied[] = {
    {"newValue", false}, {"oldValue", false}, {NULL, false}};

const struct vcm_language_descriptor vcm_swift_language = {
    .name = "swift",
    .endings = {"swift"},
    .grammar = tree_sitter_swift,
    .queries = {vcm_swift_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .qualifiers = {.implied_types = true, .self = {"self", "Self"}, .super = "super"},
    .names = {.call = VCM_LANGUAGES_CALL_MAKES, .spread_types = true},
    .definitions = {.self_type = true,
                    .blank = true,
                    .numbered_arguments = true,
                    .implied = implied},
    .visibility = {.words = {VCM_VISIBILITY_WORD_PUBLIC,
                             {"open", VCM_SYMBOL_PUBLIC},
                             /* Who may set it. */
                             {"private(set)", VCM_SYMBOL_INTERNAL},
                             {"fileprivate(set)", VCM_SYMBOL_INTERNAL},
                             {"fileprivate", VCM_SYMBOL_PRIVATE},
                             VCM_VISIBILITY_WORD_PRIVATE},
                   .at_top = VCM_SYMBOL_INTERNAL,
                   .in_type = VCM_SYMBOL_INTERNAL},
    .tree = {.dot_cases = true},
    .lines = {.strings = {"\"\"\""}},
};
