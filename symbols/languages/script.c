#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"
#include "symbols/languages/script_import.h"
#include "symbols/qualifier.h"

#include "base/banned.h"

/* JavaScript, and TypeScript and TSX, which become it. */
VCM_EMBED_QUERY(vcm_script_query, "script.scm");
VCM_EMBED_QUERY(vcm_script_javascript_query, "javascript.scm");
VCM_EMBED_QUERY(vcm_script_typescript_query, "typescript.scm");
VCM_EMBED_QUERY(vcm_script_tsx_query, "tsx.scm");
extern const struct TSLanguage *tree_sitter_javascript(void);
extern const struct TSLanguage *tree_sitter_typescript(void);
extern const struct TSLanguage *tree_sitter_tsx(void);

static bool read_names(struct vcm_buf *out, const struct vcm_language_descriptor *language,
                       struct vcm_slice text, size_t start, size_t end)
{
    (void)language;
    return vcm_script_import_names(out, text, start, end);
}

/* Whether a name is the module's own here. What it has by default mostly has the same. */
static bool takes_name(struct vcm_slice list, struct vcm_slice name)
{
    struct vcm_slice there, here;

    while (vcm_qualifier_next_name(&there, &here, &list))
        if (vcm_slice_equal(here, name))
            return vcm_slice_equal(there, name) ||
                   vcm_slice_equal(there, vcm_slice_of("default", 7));
    return false;
}

static bool brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    return vcm_slice_equal(import->alias, vcm_slice_of("-", 1)) ||
           (import->parts && takes_name(import->alias, name));
}

/* Else it is the name of a package. */
static bool means_file(struct vcm_slice target, const struct vcm_language_place *place)
{
    (void)place;
    return target.data[0] == '.' || target.data[0] == '/';
}

#define NAMES                                                                                      \
    .reach = VCM_LANGUAGES_REACH_FILE, .call = VCM_LANGUAGES_CALL_OF_CLASS,                        \
    .members_qualified = true, .closed = true, .private_to_file = true
#define COMMON                                                                                     \
    .family = VCM_LANGUAGE_JAVASCRIPT, .comments = {VCM_LANGUAGES_SLASH_COMMENTS},                 \
    .qualifiers = {.name_mark = '$', .variable_mark = '#', .self = {"this"}, .super = "super"},    \
    .imports = {.read_names = read_names,                                                          \
                .path = VCM_LANGUAGES_PATH_WRITTEN,                                                \
                .family = true,                                                                    \
                .means_file = means_file,                                                          \
                .brings_name = brings_name},                                                       \
    .definitions = {.promoted_parameters = true,                                                   \
                    .nameless_methods = true,                                                      \
                    .function_scopes = true,                                                       \
                    .document_tags = true}

const struct vcm_language_descriptor vcm_script_javascript = {
    .name = "javascript",
    .endings = {"js", "jsx", "mjs", "cjs"},
    .grammar = tree_sitter_javascript,
    .queries = {vcm_script_javascript_query, vcm_script_query},
    .names = {NAMES},
    COMMON,
    .lines = {.strings = {"`"}, .bare_functions = true},
};

const struct vcm_language_descriptor vcm_script_typescript = {
    .name = "typescript",
    .endings = {"ts", "mts", "cts"},
    .grammar = tree_sitter_typescript,
    .queries = {vcm_script_typescript_query, vcm_script_query},
    .names = {NAMES, .open_types = true},
    COMMON,
    .lines = {.strings = {"`"}, .bare_functions = true},
};

const struct vcm_language_descriptor vcm_script_tsx = {
    .name = "tsx",
    .endings = {"tsx"},
    .grammar = tree_sitter_tsx,
    .queries = {vcm_script_tsx_query, vcm_script_typescript_query, vcm_script_query},
    .names = {NAMES, .open_types = true},
    COMMON,
    .lines = {.strings = {"`"}, .bare_functions = true},
};
