/* Grammars are functions of object libraries, queries constant data; the build names the folder. */
#include "symbols/grammar.h"

#include "base/banned.h"

#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata, \"a\"\n"                                                        \
            ".globl vcm_tree_query_" #name "\n"                                                    \
            ".hidden vcm_tree_query_" #name "\n"                                                   \
            ".type vcm_tree_query_" #name ", %object\n"                                            \
            "vcm_tree_query_" #name ":\n"                                                          \
            ".incbin \"" file "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".size vcm_tree_query_" #name ", . - vcm_tree_query_" #name "\n"                       \
            ".popsection\n");                                                                      \
    extern const char vcm_tree_query_##name[]

#define QUERY(name) VCM_QUERIES "/" #name ".scm"
#define GRAMMARS(grammar)                                                                          \
    grammar(BASH, bash) grammar(C, c) grammar(C_SHARP, c_sharp) grammar(CPP, cpp) grammar(GO, go)  \
        grammar(JAVA, java) grammar(JAVASCRIPT, javascript) grammar(KOTLIN, kotlin)                \
            grammar(LUA, lua) grammar(PHP, php) grammar(PYTHON, python) grammar(RUBY, ruby)        \
                grammar(RUST, rust) grammar(TSX, tsx) grammar(TYPESCRIPT, typescript)              \
                    grammar(SCALA, scala) grammar(SWIFT, swift) grammar(HASKELL, haskell)          \
                        grammar(OCAML, ocaml) grammar(OCAML_INTERFACE, ocaml_interface)            \
                            grammar(ELIXIR, elixir) grammar(ZIG, zig) grammar(JULIA, julia)        \
                                grammar(R, r) grammar(SQL, sql)

#define DECLARE(upper, name)                                                                       \
    EMBED(name, QUERY(name));                                                                      \
    extern const TSLanguage *tree_sitter_##name(void);
GRAMMARS(DECLARE)
EMBED(script, QUERY(script));

#define CASE(upper, name)                                                                          \
    case VCM_LANGUAGE_##upper:                                                                     \
        return tree_sitter_##name();

const TSLanguage *vcm_grammar_of(enum vcm_language language)
{
    switch (language) {
        GRAMMARS(CASE)
    default:
        return NULL;
    }
}

#define TEXT(upper, name) [VCM_LANGUAGE_##upper] = vcm_tree_query_##name,
static const char *const queries[VCM_LANGUAGE_COUNT] = {GRAMMARS(TEXT)};

/* What a language has in common with others stands in texts of its own, or in theirs. */
static const char *const shared[VCM_LANGUAGE_COUNT][VCM_GRAMMAR_TEXTS - 1] = {
    [VCM_LANGUAGE_CPP] = {vcm_tree_query_c},
    [VCM_LANGUAGE_JAVASCRIPT] = {vcm_tree_query_script},
    [VCM_LANGUAGE_TYPESCRIPT] = {vcm_tree_query_script},
    [VCM_LANGUAGE_TSX] = {vcm_tree_query_typescript, vcm_tree_query_script},
};

void vcm_grammar_query(struct vcm_slice texts[VCM_GRAMMAR_TEXTS], enum vcm_language language)
{
    texts[0] = vcm_slice_of_string(queries[language]);
    for (size_t i = 1; i < VCM_GRAMMAR_TEXTS; i++)
        texts[i] = vcm_slice_of_string(shared[language][i - 1] ? shared[language][i - 1] : "");
}
