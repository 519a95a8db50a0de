#include "symbols/language.h"

#include "base/path.h"

#include "base/banned.h"

static const char *const names[VCM_LANGUAGE_COUNT] = {
    [VCM_LANGUAGE_NONE] = "",
    [VCM_LANGUAGE_BASH] = "bash",
    [VCM_LANGUAGE_C] = "c",
    [VCM_LANGUAGE_C_SHARP] = "c_sharp",
    [VCM_LANGUAGE_CPP] = "cpp",
    [VCM_LANGUAGE_GO] = "go",
    [VCM_LANGUAGE_JAVA] = "java",
    [VCM_LANGUAGE_JAVASCRIPT] = "javascript",
    [VCM_LANGUAGE_KOTLIN] = "kotlin",
    [VCM_LANGUAGE_LUA] = "lua",
    [VCM_LANGUAGE_PHP] = "php",
    [VCM_LANGUAGE_PYTHON] = "python",
    [VCM_LANGUAGE_RUBY] = "ruby",
    [VCM_LANGUAGE_RUST] = "rust",
    [VCM_LANGUAGE_TSX] = "tsx",
    [VCM_LANGUAGE_TYPESCRIPT] = "typescript",
    [VCM_LANGUAGE_SCALA] = "scala",
    [VCM_LANGUAGE_SWIFT] = "swift",
    [VCM_LANGUAGE_HASKELL] = "haskell",
    [VCM_LANGUAGE_OCAML] = "ocaml",
    [VCM_LANGUAGE_OCAML_INTERFACE] = "ocaml_interface",
    [VCM_LANGUAGE_ELIXIR] = "elixir",
    [VCM_LANGUAGE_ZIG] = "zig",
    [VCM_LANGUAGE_JULIA] = "julia",
    [VCM_LANGUAGE_R] = "r",
    [VCM_LANGUAGE_SQL] = "sql",
};

static const struct {
    const char *ending; /* behind the last dot */
    enum vcm_language language;
} endings[] = {
    {"bash", VCM_LANGUAGE_BASH},
    {"sh", VCM_LANGUAGE_BASH},
    {"c", VCM_LANGUAGE_C},
    {"h", VCM_LANGUAGE_C},
    {"cs", VCM_LANGUAGE_C_SHARP},
    {"C", VCM_LANGUAGE_CPP},
    {"H", VCM_LANGUAGE_CPP},
    {"cc", VCM_LANGUAGE_CPP},
    {"cpp", VCM_LANGUAGE_CPP},
    {"cxx", VCM_LANGUAGE_CPP},
    {"c++", VCM_LANGUAGE_CPP},
    {"hh", VCM_LANGUAGE_CPP},
    {"hpp", VCM_LANGUAGE_CPP},
    {"hxx", VCM_LANGUAGE_CPP},
    {"ipp", VCM_LANGUAGE_CPP},
    {"inl", VCM_LANGUAGE_CPP},
    {"go", VCM_LANGUAGE_GO},
    {"java", VCM_LANGUAGE_JAVA},
    {"js", VCM_LANGUAGE_JAVASCRIPT},
    {"jsx", VCM_LANGUAGE_JAVASCRIPT},
    {"mjs", VCM_LANGUAGE_JAVASCRIPT},
    {"cjs", VCM_LANGUAGE_JAVASCRIPT},
    {"kt", VCM_LANGUAGE_KOTLIN},
    {"kts", VCM_LANGUAGE_KOTLIN},
    {"lua", VCM_LANGUAGE_LUA},
    {"php", VCM_LANGUAGE_PHP},
    {"py", VCM_LANGUAGE_PYTHON},
    {"pyi", VCM_LANGUAGE_PYTHON},
    {"rb", VCM_LANGUAGE_RUBY},
    {"rake", VCM_LANGUAGE_RUBY},
    {"gemspec", VCM_LANGUAGE_RUBY},
    {"rs", VCM_LANGUAGE_RUST},
    {"tsx", VCM_LANGUAGE_TSX},
    {"ts", VCM_LANGUAGE_TYPESCRIPT},
    {"mts", VCM_LANGUAGE_TYPESCRIPT},
    {"cts", VCM_LANGUAGE_TYPESCRIPT},
    {"scala", VCM_LANGUAGE_SCALA},
    {"sc", VCM_LANGUAGE_SCALA},
    {"sbt", VCM_LANGUAGE_SCALA},
    {"swift", VCM_LANGUAGE_SWIFT},
    {"hs", VCM_LANGUAGE_HASKELL},
    {"ml", VCM_LANGUAGE_OCAML},
    {"mli", VCM_LANGUAGE_OCAML_INTERFACE},
    {"ex", VCM_LANGUAGE_ELIXIR},
    {"exs", VCM_LANGUAGE_ELIXIR},
    {"zig", VCM_LANGUAGE_ZIG},
    {"jl", VCM_LANGUAGE_JULIA},
    {"r", VCM_LANGUAGE_R},
    {"R", VCM_LANGUAGE_R},
    {"sql", VCM_LANGUAGE_SQL},
};

static const struct {
    const char *name;
    enum vcm_language language;
} whole_names[] = {
    {"Rakefile", VCM_LANGUAGE_RUBY},
    {"Gemfile", VCM_LANGUAGE_RUBY},
    {".bashrc", VCM_LANGUAGE_BASH},
};

const char *vcm_language_name(enum vcm_language language)
{
    return (unsigned)language < VCM_LANGUAGE_COUNT ? names[language] : "";
}

enum vcm_language_level vcm_language_level(enum vcm_language language)
{
    return language > VCM_LANGUAGE_NONE && language < VCM_LANGUAGE_COUNT ? VCM_LANGUAGE_FULL
                                                                         : VCM_LANGUAGE_ABSENT;
}

enum vcm_language vcm_language_of_path(struct vcm_slice path)
{
    struct vcm_slice name = vcm_path_base_name(path);

    for (size_t i = 0; i < sizeof whole_names / sizeof whole_names[0]; i++)
        if (vcm_slice_equal(name, vcm_slice_of_string(whole_names[i].name)))
            return whole_names[i].language;
    const char *dot = name.len > 0 ? memrchr(name.data, '.', name.len) : NULL;
    if (!dot || dot == name.data)
        return VCM_LANGUAGE_NONE;
    struct vcm_slice ending = vcm_slice_of(dot + 1, name.len - (size_t)(dot + 1 - name.data));
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (vcm_slice_equal(ending, vcm_slice_of_string(endings[i].ending)))
            return endings[i].language;
    return VCM_LANGUAGE_NONE;
}
