#include "symbols/languages/embed.h"
#include "symbols/languages/language.h"

#include "base/banned.h"

VCM_EMBED_QUERY(vcm_sql_query, "sql.scm");
extern const struct TSLanguage *tree_sitter_sql(void);

const struct vcm_language_descriptor vcm_sql_language = {
    .name = "sql",
    .endings = {"sql"},
    .grammar = tree_sitter_sql,
    .queries = {vcm_sql_query},
    .comments = {.line = "--", .open = "/*", .close = "*/"},
    .definitions = {.schemas = true},
    .tree = {.quoted_names = true},
};
