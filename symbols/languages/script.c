#include "base/limits.h"
#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"
#include "symbols/languages/script_import.h"

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
    struct vcm_buf names = VCM_BUF_INIT(64 * VCM_KIB);
    bool passed = false;

    (void)language;
    bool parts = vcm_script_import_names(&names, &passed, text, start, end);
    if (passed)
        vcm_buf_append_byte(out, '>');
    vcm_buf_append_slice(out, vcm_buf_slice(&names));
    vcm_buf_release(&names);
    return parts;
}

#define NAMES                                                                                      \
    .reach = VCM_LANGUAGES_REACH_FILE, .call = VCM_LANGUAGES_CALL_OF_CLASS,                        \
    .members_qualified = true, .closed = true, .private_to_file = true, .overloads = true,         \
    .merges = true
#define COMMON                                                                                     \
    .family = VCM_LANGUAGE_JAVASCRIPT, .comments = {VCM_LANGUAGES_SLASH_COMMENTS},                 \
    .qualifiers = {.name_mark = '$', .variable_mark = '#', .self = {"this"}, .super = "super"},    \
    .definitions = {.promoted_parameters = true,                                                   \
                    .nameless_methods = true,                                                      \
                    .function_scopes = true,                                                       \
                    .document_tags = true}

#define IMPORTS                                                                                    \
    .read_names = read_names, .path = VCM_LANGUAGES_PATH_WRITTEN,                                  \
    .finder = VCM_LANGUAGES_FIND_NODE, .exports = VCM_LANGUAGES_EXPORTS_GIVEN, .family = true

const struct vcm_language_descriptor vcm_script_javascript = {
    .name = "javascript",
    .endings = {"js", "jsx", "mjs", "cjs"},
    .grammar = tree_sitter_javascript,
    .queries = {vcm_script_javascript_query, vcm_script_query},
    .imports = {IMPORTS},
    .names = {NAMES},
    COMMON,
    .lines = {.strings = {"`"}, .bare_functions = true},
};

const struct vcm_language_descriptor vcm_script_typescript = {
    .name = "typescript",
    .endings = {"ts", "mts", "cts"},
    .grammar = tree_sitter_typescript,
    .queries = {vcm_script_typescript_query, vcm_script_query},
    .imports = {IMPORTS, .typed_first = true},
    .names = {NAMES, .open_types = true},
    COMMON,
    .lines = {.strings = {"`"}, .bare_functions = true},
};

const struct vcm_language_descriptor vcm_script_tsx = {
    .name = "tsx",
    .endings = {"tsx"},
    .grammar = tree_sitter_tsx,
    .queries = {vcm_script_tsx_query, vcm_script_typescript_query, vcm_script_query},
    .imports = {IMPORTS, .typed_first = true},
    .names = {NAMES, .open_types = true},
    COMMON,
    .lines = {.strings = {"`"}, .bare_functions = true},
};
