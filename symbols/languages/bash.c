#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_bash_query, "bash.scm");
extern const struct TSLanguage *tree_sitter_bash(void);

const struct vcm_language_descriptor vcm_bash_language = {
    .name = "bash",
    .endings = {"bash", "sh"},
    .file_names = {".bashrc"},
    .grammar = tree_sitter_bash,
    .queries = {vcm_bash_query},
    .comments = {.line = "#"},
    .qualifiers = {.dot = VCM_LANGUAGES_DOT_NONE},
    .imports = {.path = VCM_LANGUAGES_PATH_WRITTEN, .targets_expand = true},
    .definitions = {.first_setting = true},
    .lines = {.bare_functions = true},
};
