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
    [VCM_LANGUAGE_ADA] = "ada",
    [VCM_LANGUAGE_ASSEMBLY] = "assembly",
    [VCM_LANGUAGE_AWK] = "awk",
    [VCM_LANGUAGE_CLOJURE] = "clojure",
    [VCM_LANGUAGE_COBOL] = "cobol",
    [VCM_LANGUAGE_CUDA] = "cuda",
    [VCM_LANGUAGE_D] = "d",
    [VCM_LANGUAGE_ELM] = "elm",
    [VCM_LANGUAGE_EMACS_LISP] = "emacs_lisp",
    [VCM_LANGUAGE_ERLANG] = "erlang",
    [VCM_LANGUAGE_FORTRAN] = "fortran",
    [VCM_LANGUAGE_HAXE] = "haxe",
    [VCM_LANGUAGE_LISP] = "lisp",
    [VCM_LANGUAGE_OBJECTIVE_C] = "objective_c",
    [VCM_LANGUAGE_PASCAL] = "pascal",
    [VCM_LANGUAGE_PERL] = "perl",
    [VCM_LANGUAGE_POWERSHELL] = "powershell",
    [VCM_LANGUAGE_PROTOBUF] = "protobuf",
    [VCM_LANGUAGE_PUPPET] = "puppet",
    [VCM_LANGUAGE_SCHEME] = "scheme",
    [VCM_LANGUAGE_SML] = "sml",
    [VCM_LANGUAGE_SYSTEMVERILOG] = "systemverilog",
    [VCM_LANGUAGE_TCL] = "tcl",
    [VCM_LANGUAGE_VERILOG] = "verilog",
    [VCM_LANGUAGE_VHDL] = "vhdl",
    [VCM_LANGUAGE_VIM] = "vim",
};

static const char *const ctags_names[VCM_LANGUAGE_COUNT] = {
    [VCM_LANGUAGE_ADA] = "Ada",
    [VCM_LANGUAGE_ASSEMBLY] = "Asm",
    [VCM_LANGUAGE_AWK] = "Awk",
    [VCM_LANGUAGE_CLOJURE] = "Clojure",
    [VCM_LANGUAGE_COBOL] = "Cobol",
    [VCM_LANGUAGE_CUDA] = "CUDA",
    [VCM_LANGUAGE_D] = "D",
    [VCM_LANGUAGE_ELM] = "Elm",
    [VCM_LANGUAGE_EMACS_LISP] = "EmacsLisp",
    [VCM_LANGUAGE_ERLANG] = "Erlang",
    [VCM_LANGUAGE_FORTRAN] = "Fortran",
    [VCM_LANGUAGE_HAXE] = "Haxe",
    [VCM_LANGUAGE_LISP] = "Lisp",
    [VCM_LANGUAGE_OBJECTIVE_C] = "ObjectiveC",
    [VCM_LANGUAGE_PASCAL] = "Pascal",
    [VCM_LANGUAGE_PERL] = "Perl",
    [VCM_LANGUAGE_POWERSHELL] = "PowerShell",
    [VCM_LANGUAGE_PROTOBUF] = "Protobuf",
    [VCM_LANGUAGE_PUPPET] = "PuppetManifest",
    [VCM_LANGUAGE_SCHEME] = "Scheme",
    [VCM_LANGUAGE_SML] = "SML",
    [VCM_LANGUAGE_SYSTEMVERILOG] = "SystemVerilog",
    [VCM_LANGUAGE_TCL] = "Tcl",
    [VCM_LANGUAGE_VERILOG] = "Verilog",
    [VCM_LANGUAGE_VHDL] = "VHDL",
    [VCM_LANGUAGE_VIM] = "Vim",
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
    {"adb", VCM_LANGUAGE_ADA},
    {"ads", VCM_LANGUAGE_ADA},
    {"ada", VCM_LANGUAGE_ADA},
    {"asm", VCM_LANGUAGE_ASSEMBLY},
    {"s", VCM_LANGUAGE_ASSEMBLY},
    {"S", VCM_LANGUAGE_ASSEMBLY},
    {"awk", VCM_LANGUAGE_AWK},
    {"clj", VCM_LANGUAGE_CLOJURE},
    {"cljs", VCM_LANGUAGE_CLOJURE},
    {"cljc", VCM_LANGUAGE_CLOJURE},
    {"cob", VCM_LANGUAGE_COBOL},
    {"cbl", VCM_LANGUAGE_COBOL},
    {"COB", VCM_LANGUAGE_COBOL},
    {"CBL", VCM_LANGUAGE_COBOL},
    {"cu", VCM_LANGUAGE_CUDA},
    {"cuh", VCM_LANGUAGE_CUDA},
    {"d", VCM_LANGUAGE_D},
    {"di", VCM_LANGUAGE_D},
    {"elm", VCM_LANGUAGE_ELM},
    {"el", VCM_LANGUAGE_EMACS_LISP},
    {"erl", VCM_LANGUAGE_ERLANG},
    {"hrl", VCM_LANGUAGE_ERLANG},
    {"f", VCM_LANGUAGE_FORTRAN},
    {"for", VCM_LANGUAGE_FORTRAN},
    {"f77", VCM_LANGUAGE_FORTRAN},
    {"f90", VCM_LANGUAGE_FORTRAN},
    {"f95", VCM_LANGUAGE_FORTRAN},
    {"f03", VCM_LANGUAGE_FORTRAN},
    {"f08", VCM_LANGUAGE_FORTRAN},
    {"F", VCM_LANGUAGE_FORTRAN},
    {"F77", VCM_LANGUAGE_FORTRAN},
    {"F90", VCM_LANGUAGE_FORTRAN},
    {"F95", VCM_LANGUAGE_FORTRAN},
    {"hx", VCM_LANGUAGE_HAXE},
    {"lisp", VCM_LANGUAGE_LISP},
    {"lsp", VCM_LANGUAGE_LISP},
    {"cl", VCM_LANGUAGE_LISP},
    {"m", VCM_LANGUAGE_OBJECTIVE_C},
    {"mm", VCM_LANGUAGE_OBJECTIVE_C},
    {"pas", VCM_LANGUAGE_PASCAL},
    {"dpr", VCM_LANGUAGE_PASCAL},
    {"pl", VCM_LANGUAGE_PERL},
    {"pm", VCM_LANGUAGE_PERL},
    {"ps1", VCM_LANGUAGE_POWERSHELL},
    {"psm1", VCM_LANGUAGE_POWERSHELL},
    {"proto", VCM_LANGUAGE_PROTOBUF},
    {"pp", VCM_LANGUAGE_PUPPET},
    {"scm", VCM_LANGUAGE_SCHEME},
    {"sld", VCM_LANGUAGE_SCHEME},
    {"sml", VCM_LANGUAGE_SML},
    {"sv", VCM_LANGUAGE_SYSTEMVERILOG},
    {"svh", VCM_LANGUAGE_SYSTEMVERILOG},
    {"tcl", VCM_LANGUAGE_TCL},
    {"v", VCM_LANGUAGE_VERILOG},
    {"vh", VCM_LANGUAGE_VERILOG},
    {"vhd", VCM_LANGUAGE_VHDL},
    {"vhdl", VCM_LANGUAGE_VHDL},
    {"vim", VCM_LANGUAGE_VIM},
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

const char *vcm_language_ctags_name(enum vcm_language language)
{
    return (unsigned)language < VCM_LANGUAGE_COUNT ? ctags_names[language] : NULL;
}

enum vcm_language_level vcm_language_level(enum vcm_language language)
{
    if (language <= VCM_LANGUAGE_NONE || language >= VCM_LANGUAGE_COUNT)
        return VCM_LANGUAGE_ABSENT;
    return ctags_names[language] ? VCM_LANGUAGE_DEFINITIONS : VCM_LANGUAGE_FULL;
}

const char *vcm_language_source(enum vcm_language language)
{
    return vcm_language_ctags_name(language) ? "ctags" : "tree-sitter";
}

bool vcm_language_is_script(enum vcm_language language)
{
    return language == VCM_LANGUAGE_JAVASCRIPT || language == VCM_LANGUAGE_TYPESCRIPT ||
           language == VCM_LANGUAGE_TSX;
}

bool vcm_language_is_c(enum vcm_language language)
{
    return language == VCM_LANGUAGE_C || language == VCM_LANGUAGE_CPP;
}

bool vcm_language_is_ocaml(enum vcm_language language)
{
    return language == VCM_LANGUAGE_OCAML || language == VCM_LANGUAGE_OCAML_INTERFACE;
}

bool vcm_language_makes_by_call(enum vcm_language language)
{
    switch (language) {
    case VCM_LANGUAGE_CPP:
    case VCM_LANGUAGE_JULIA:
    case VCM_LANGUAGE_KOTLIN:
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_RUST:
    case VCM_LANGUAGE_SCALA:
    case VCM_LANGUAGE_SWIFT:
        return true;
    default:
        return false;
    }
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
