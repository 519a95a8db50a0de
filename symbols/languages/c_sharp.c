#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/visibility.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_c_sharp_query, "c_sharp.scm");
extern const struct TSLanguage *tree_sitter_c_sharp(void);

/* "using Cart = Shop.Cart;" */
static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)end;
    vcm_buf_append_slice(out, vcm_import_text_word_assigned(language, text, start, ""));
    return false;
}

static const struct vcm_language_implied implied[] = {{"value", true}, {"_", false}, {NULL, false}};

const struct vcm_language_descriptor vcm_c_sharp_language = {
    .name = "c_sharp",
    .endings = {"cs"},
    .grammar = tree_sitter_c_sharp,
    .queries = {vcm_c_sharp_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS, .have_elements = true},
    .head = {.annotations = true},
    .qualifiers = {.scope_mark = true, .self = {"this"}, .super = "base"},
    .imports = {.read_names = read_names},
    .names = {.call = VCM_LANGUAGES_CALL_NEVER, .spread_types = true, .open_types = true},
    .definitions = {.record_heads = true, .implied = implied},
    .visibility = {.words = {VCM_VISIBILITY_WORD_PROTECTED, VCM_VISIBILITY_WORD_PRIVATE,
                             VCM_VISIBILITY_WORD_INTERNAL, VCM_VISIBILITY_WORD_PUBLIC},
                   .at_top = VCM_SYMBOL_INTERNAL,
                   .in_type = VCM_SYMBOL_PRIVATE},
    .lines = {.strings = {"\"\"\""}, .bare_functions = true, .labels = true},
};
