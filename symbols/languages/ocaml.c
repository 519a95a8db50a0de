#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"
#include "symbols/snippet.h"
#include "symbols/visibility.h"

#include "base/banned.h"

/* OCaml: sources, and interfaces, which have a grammar and comments of their own. */
VCM_EMBED_QUERY(vcm_ocaml_query, "ocaml.scm");
VCM_EMBED_QUERY(vcm_ocaml_interface_query, "ocaml_interface.scm");
extern const struct TSLanguage *tree_sitter_ocaml(void);
extern const struct TSLanguage *tree_sitter_ocaml_interface(void);

static const char *const nested[] = {"sequence_expression", "tuple_expression", "tuple_type",
                                     "tuple_pattern",       "or_pattern",       NULL};

/* A module is the file beside; one elsewhere belongs to another library. */
static bool means_file(struct vcm_slice target, const struct vcm_language_place *place)
{
    (void)target;
    return place->beside && !place->itself;
}

/* Methods have a word for it. */
static bool is_variable_of_object(const struct vcm_symbol *symbol, bool in_type)
{
    return in_type && symbol->kind == VCM_SYMBOL_FIELD &&
           vcm_snippet_begins(symbol->signature, "val ");
}

/* What both kinds of files have in common. */
#define COMMENTS   .open = "(*", .close = "*)", .remark_open = "(**", .remark_close = "*)"
#define QUALIFIERS .object_marks = "#", .capitals = true
#define COMMON                                                                                     \
    .family = VCM_LANGUAGE_OCAML,                                                                  \
    .imports = {.file_case = VCM_LANGUAGES_CASE_LOWER_FIRST,                                       \
                .family = true,                                                                    \
                .opens_hide = true,                                                                \
                .means_file = means_file,                                                          \
                .modules = VCM_LANGUAGES_MODULES_ALL},                                             \
    .names = {.reach = VCM_LANGUAGES_REACH_FILE, .call = VCM_LANGUAGES_CALL_NEVER},                \
    .visibility = {.words = {VCM_VISIBILITY_WORD_PRIVATE}, .hides = is_variable_of_object},        \
    .tree = {.words_before = true, .blank_types = true, .nested = nested}

const struct vcm_language_descriptor vcm_ocaml_language = {
    .name = "ocaml",
    .endings = {"ml"},
    .grammar = tree_sitter_ocaml,
    .queries = {vcm_ocaml_query},
    .comments = {COMMENTS},
    .qualifiers = {QUALIFIERS, .self = {"self"}, .super = "super"},
    .definitions = {.signatures = true},
    COMMON,
};

const struct vcm_language_descriptor vcm_ocaml_interface = {
    .name = "ocaml_interface",
    .endings = {"mli"},
    .grammar = tree_sitter_ocaml_interface,
    .queries = {vcm_ocaml_interface_query},
    .comments = {COMMENTS, .follow = true},
    .qualifiers = {QUALIFIERS},
    COMMON,
};
