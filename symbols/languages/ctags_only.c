#include "symbols/languages/language.h"

#include "base/banned.h"

/* Languages without a grammar: ctags finds their definitions, we find the comments of these. */

const struct vcm_language_descriptor vcm_ctags_only_ada = {
    .name = "ada",
    .endings = {"adb", "ads", "ada"},
    .ctags_name = "Ada",
    .comments = {.line = "--"},
};

const struct vcm_language_descriptor vcm_ctags_only_assembly = {
    .name = "assembly",
    .endings = {"asm", "s", "S"},
    .ctags_name = "Asm",
    .comments = {.line = ";"},
};

const struct vcm_language_descriptor vcm_ctags_only_awk = {
    .name = "awk",
    .endings = {"awk"},
    .ctags_name = "Awk",
    .comments = {.line = "#"},
    .lines = {.bare_functions = true},
};

const struct vcm_language_descriptor vcm_ctags_only_clojure = {
    .name = "clojure",
    .endings = {"clj", "cljs", "cljc"},
    .ctags_name = "Clojure",
    .comments = {.line = ";"},
};

const struct vcm_language_descriptor vcm_ctags_only_cobol = {
    .name = "cobol",
    .endings = {"cob", "cbl", "COB", "CBL"},
    .ctags_name = "Cobol",
    .comments = {.line = "*"},
};

const struct vcm_language_descriptor vcm_ctags_only_cuda = {
    .name = "cuda",
    .endings = {"cu", "cuh"},
    .ctags_name = "CUDA",
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .lines = {.bare_functions = true, .labels = true},
};

const struct vcm_language_descriptor vcm_ctags_only_d = {
    .name = "d",
    .endings = {"d", "di"},
    .ctags_name = "D",
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .lines = {.bare_functions = true},
};

const struct vcm_language_descriptor vcm_ctags_only_elm = {
    .name = "elm",
    .endings = {"elm"},
    .ctags_name = "Elm",
    .comments = {.line = "--", .open = "{-", .close = "-}"},
};

const struct vcm_language_descriptor vcm_ctags_only_emacs_lisp = {
    .name = "emacs_lisp",
    .endings = {"el"},
    .ctags_name = "EmacsLisp",
    .comments = {.line = ";"},
};

const struct vcm_language_descriptor vcm_ctags_only_erlang = {
    .name = "erlang",
    .endings = {"erl", "hrl"},
    .ctags_name = "Erlang",
    .comments = {.line = "%"},
};

const struct vcm_language_descriptor vcm_ctags_only_fortran = {
    .name = "fortran",
    .endings = {"f", "for", "f77", "f90", "f95", "f03", "f08", "F", "F77", "F90", "F95"},
    .ctags_name = "Fortran",
    .comments = {.line = "!"},
};

const struct vcm_language_descriptor vcm_ctags_only_haxe = {
    .name = "haxe",
    .endings = {"hx"},
    .ctags_name = "Haxe",
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
};

const struct vcm_language_descriptor vcm_ctags_only_lisp = {
    .name = "lisp",
    .endings = {"lisp", "lsp", "cl"},
    .ctags_name = "Lisp",
    .comments = {.line = ";"},
};

const struct vcm_language_descriptor vcm_ctags_only_objective_c = {
    .name = "objective_c",
    .endings = {"m", "mm"},
    .ctags_name = "ObjectiveC",
    .ctags_carries_over = true,
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
    .lines = {.bare_functions = true, .labels = true},
};

const struct vcm_language_descriptor vcm_ctags_only_pascal = {
    .name = "pascal",
    .endings = {"pas", "dpr"},
    .ctags_name = "Pascal",
    .comments = {.line = "//", .open = "{", .close = "}"},
};

const struct vcm_language_descriptor vcm_ctags_only_perl = {
    .name = "perl",
    .endings = {"pl", "pm"},
    .ctags_name = "Perl",
    .comments = {.line = "#"},
};

const struct vcm_language_descriptor vcm_ctags_only_powershell = {
    .name = "powershell",
    .endings = {"ps1", "psm1"},
    .ctags_name = "PowerShell",
    .comments = {.line = "#"},
};

const struct vcm_language_descriptor vcm_ctags_only_protobuf = {
    .name = "protobuf",
    .endings = {"proto"},
    .ctags_name = "Protobuf",
    .ctags_carries_over = true,
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
};

const struct vcm_language_descriptor vcm_ctags_only_puppet = {
    .name = "puppet",
    .endings = {"pp"},
    .ctags_name = "PuppetManifest",
    .comments = {.line = "#"},
};

const struct vcm_language_descriptor vcm_ctags_only_scheme = {
    .name = "scheme",
    .endings = {"scm", "sld"},
    .ctags_name = "Scheme",
    .comments = {.line = ";"},
};

const struct vcm_language_descriptor vcm_ctags_only_sml = {
    .name = "sml",
    .endings = {"sml"},
    .ctags_name = "SML",
    .ctags_carries_over = true,
    .comments = {.open = "(*", .close = "*)"},
};

const struct vcm_language_descriptor vcm_ctags_only_systemverilog = {
    .name = "systemverilog",
    .endings = {"sv", "svh"},
    .ctags_name = "SystemVerilog",
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
};

const struct vcm_language_descriptor vcm_ctags_only_tcl = {
    .name = "tcl",
    .endings = {"tcl"},
    .ctags_name = "Tcl",
    .comments = {.line = "#"},
};

const struct vcm_language_descriptor vcm_ctags_only_verilog = {
    .name = "verilog",
    .endings = {"v", "vh"},
    .ctags_name = "Verilog",
    .comments = {VCM_LANGUAGES_SLASH_COMMENTS},
};

const struct vcm_language_descriptor vcm_ctags_only_vhdl = {
    .name = "vhdl",
    .endings = {"vhd", "vhdl"},
    .ctags_name = "VHDL",
    .comments = {.line = "--"},
};

const struct vcm_language_descriptor vcm_ctags_only_vim = {
    .name = "vim",
    .endings = {"vim"},
    .ctags_name = "Vim",
    .comments = {.line = "\""},
};
