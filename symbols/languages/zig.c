#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/visibility.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_zig_query, "zig.scm");
extern const struct TSLanguage *tree_sitter_zig(void);

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    struct vcm_slice word = vcm_import_text_word_assigned(language, text, start, "@import");

    if (word.len > 0 && vcm_import_text_is_whole(text, end))
        vcm_buf_append_slice(out, word);
    else
        vcm_buf_append_byte(out, '-');
    return false;
}

static bool brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    (void)import;
    (void)name;
    return false;
}

static bool means_file(struct vcm_slice target, const struct vcm_language_place *place)
{
    (void)place;
    return memmem(target.data, target.len, ".zig", 4) != NULL;
}

/* Fields have no word for it. */
static bool is_declared(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_visibility_has_word(symbol, "const") || vcm_visibility_has_word(symbol, "var") ||
           vcm_visibility_has_word(symbol, "fn");
}

const struct vcm_language_descriptor vcm_zig_language = {
    .name = "zig",
    .endings = {"zig"},
    .grammar = tree_sitter_zig,
    .queries = {vcm_zig_query},
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS, .about_file = "//!"},
    .qualifiers = {.implied_types = true, .self = {"Self"}},
    .imports = {.read_names = read_names,
                .path = VCM_LANGUAGES_PATH_WRITTEN,
                .means_file = means_file,
                .brings_name = brings_name},
    .names = {.reach = VCM_LANGUAGES_REACH_FILE, .closed = true},
    .definitions = {.blank = true},
    .visibility = {.words = {{"pub", VCM_SYMBOL_PUBLIC}, {"export", VCM_SYMBOL_PUBLIC}},
                   .hides = is_declared},
};
