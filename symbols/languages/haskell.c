#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/qualifier.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_haskell_query, "haskell.scm");
extern const struct TSLanguage *tree_sitter_haskell(void);

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    static const struct vcm_import_text_list list = {.comment = "--"};

    (void)start;
    if (vcm_import_text_put_bracket(out, &list, text, vcm_import_text_skip(text, end, " \t\r\n"),
                                    "("))
        return true;
    vcm_buf_append_slice(out, vcm_import_text_word_behind(language, text, end, "as "));
    return false;
}

/* "T (..)" brings what T holds, whatever that is. */
static bool brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    return !import->parts || vcm_qualifier_names(import->alias, name) ||
           memmem(import->alias.data, import->alias.len, "(", 1) != NULL;
}

const struct vcm_language_descriptor vcm_haskell_language = {
    .name = "haskell",
    .endings = {"hs"},
    .grammar = tree_sitter_haskell,
    .queries = {vcm_haskell_query},
    .comments = {.line = "--", .open = "{-", .close = "-}", .leads = "|^", .remark_open = "-- ^"},
    .qualifiers = {.dot = VCM_LANGUAGES_DOT_CAPITAL, .capitals = true},
    .imports = {.read_names = read_names, .keep_own_name = true, .brings_name = brings_name},
    .names = {.reach = VCM_LANGUAGES_REACH_FILE, .call = VCM_LANGUAGES_CALL_NEVER},
    .definitions = {.clauses = true, .exported_parts = true, .nameless_methods = true},
    .tree = {.colon_names = true},
};
