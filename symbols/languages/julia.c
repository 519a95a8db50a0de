#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/qualifier.h"
#include "symbols/snippet.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_julia_query, "julia.scm");
extern const struct TSLanguage *tree_sitter_julia(void);

/* "using A: b, c as d": up to a line that does not go on. */
static bool put_line_of_names(struct vcm_buf *out, struct vcm_slice text, size_t at)
{
    static const struct vcm_import_text_list list = {.comment = NULL};
    size_t end = at = vcm_import_text_skip(text, at, " \t");

    if (at == text.len || text.data[at] != ':')
        return false;
    for (bool more = true; more && end < text.len && end - at < VCM_IMPORT_TEXT_MAX; end++)
        more = text.data[end] != '\n' || (end > at && text.data[end - 1] == ',');
    vcm_import_text_put_list(out, &list, text, at + 1, end);
    return true;
}

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)start;
    if (put_line_of_names(out, text, end))
        return true;
    vcm_buf_append_slice(out, vcm_import_text_word_behind(language, text, end, "as "));
    return false;
}

static bool brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    return !import->parts || vcm_qualifier_names(import->alias, name);
}

static bool is_string(struct vcm_slice line)
{
    return line.len > 2 && vcm_snippet_begins(line, "\"") && !vcm_snippet_begins(line, "\"\"\"") &&
           vcm_snippet_ends(line, "\"");
}

static bool has_underscore(const struct vcm_symbol *symbol, bool in_type)
{
    (void)in_type;
    return vcm_snippet_begins(symbol->name, "_");
}

const struct vcm_language_descriptor vcm_julia_language = {
    .name = "julia",
    .endings = {"jl"},
    .grammar = tree_sitter_julia,
    .queries = {vcm_julia_query},
    .comments = {.line = "#",
                 .open = "\"\"\"",
                 .close = "\"\"\"",
                 .begin_with_call = true,
                 .is_string = is_string},
    .head = {.type_parameters = true},
    .qualifiers = {.macro_mark = true},
    .imports = {.read_names = read_names,
                .path = VCM_LANGUAGES_PATH_WRITTEN,
                .keep_own_name = true,
                .brings_name = brings_name},
    .names = {.call = VCM_LANGUAGES_CALL_MAKES, .outer_constructors = true},
    .definitions = {.maker_functions = true},
    .visibility = {.hides = has_underscore},
    .tree = {.body = VCM_LANGUAGES_BODY_BEHIND_HEAD},
    .lines = {.strings = {"\"\"\""}},
};
