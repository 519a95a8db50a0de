#include "symbols/languages/embed.h"
#include "symbols/languages/import_text.h"
#include "symbols/qualifier.h"
#include "symbols/snippet.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_elixir_query, "elixir.scm");
extern const struct TSLanguage *tree_sitter_elixir(void);

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    static const struct vcm_import_text_list list = {.keys = true};
    struct vcm_slice target = vcm_slice_of(text.data + start, end - start);

    if (vcm_import_text_put_bracket(out, &list, text, end, ".{") ||
        vcm_import_text_put_bracket(out, &list, text, end, ", only: ["))
        return true;
    struct vcm_slice word = vcm_import_text_word_behind(language, text, end, ", as:");
    bool names =
        vcm_snippet_ends_at(text, start, "alias ") || vcm_snippet_ends_at(text, start, "require ");
    vcm_buf_append_slice(out, word.len == 0 && names ? vcm_qualifier_pop(&target) : word);
    return false;
}

static bool brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    return import->parts ? vcm_qualifier_names(import->alias, name) : import->alias.len == 0;
}

/* A string in one line behind "@doc". */
static bool is_string(struct vcm_slice line)
{
    return (vcm_snippet_begins(line, "@doc \"") && !vcm_snippet_begins(line, "@doc \"\"\"")) ||
           (vcm_snippet_begins(line, "@typedoc \"") &&
            !vcm_snippet_begins(line, "@typedoc \"\"\""));
}

/* Attributes are the module's own, but for types and callbacks. */
static bool is_private(const struct vcm_symbol *symbol, bool in_type)
{
    static const char *const shown[] = {"@type ", "@opaque ", "@callback ", "@macrocallback "};
    static const char *const hidden[] = {"defp ", "defmacrop ", "defguardp "};

    (void)in_type;
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (vcm_snippet_begins(symbol->signature, shown[i]))
            return false;
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (vcm_snippet_begins(symbol->signature, hidden[i]))
            return true;
    return vcm_snippet_begins(symbol->signature, "@");
}

const struct vcm_language_descriptor vcm_elixir_language = {
    .name = "elixir",
    .endings = {"ex", "exs"},
    .grammar = tree_sitter_elixir,
    .queries = {vcm_elixir_query},
    .comments = {.line = "#",
                 .open = "@doc \"\"\"",
                 .close = "\"\"\"",
                 .begin_bodies = true,
                 .keyword = "@moduledoc",
                 .is_string = is_string},
    .qualifiers = {.variable_mark = '@', .capitals = true, .self = {"__MODULE__"}},
    .imports = {.read_names = read_names,
                .file_case = VCM_LANGUAGES_CASE_SNAKE,
                .submodules = true,
                .keep_own_name = true,
                .brings_name = brings_name},
    .names = {.reach = VCM_LANGUAGES_REACH_FILE, .closed = true, .global_modules = true},
    .definitions = {.clauses = true},
    .visibility = {.hides = is_private},
    .tree = {.key_names = true},
    .lines = {.strings = {"\"\"\""}},
};
