/*
 * language.h - which language a file is in, by its name alone.
 *
 * Names are matched with their case, as compilers and editors do. What a language's files hold is
 * extractor.h's business.
 */
#ifndef VCM_SYMBOLS_LANGUAGE_H
#define VCM_SYMBOLS_LANGUAGE_H

#include "base/buf.h"

/* Numbers are stored: new ones come before the last, with no other moved. */
enum vcm_language {
    VCM_LANGUAGE_NONE = 0, /* nothing that symbols are read from */
    VCM_LANGUAGE_BASH,
    VCM_LANGUAGE_C,
    VCM_LANGUAGE_C_SHARP,
    VCM_LANGUAGE_CPP,
    VCM_LANGUAGE_GO,
    VCM_LANGUAGE_JAVA,
    VCM_LANGUAGE_JAVASCRIPT,
    VCM_LANGUAGE_KOTLIN,
    VCM_LANGUAGE_LUA,
    VCM_LANGUAGE_PHP,
    VCM_LANGUAGE_PYTHON,
    VCM_LANGUAGE_RUBY,
    VCM_LANGUAGE_RUST,
    VCM_LANGUAGE_TSX,
    VCM_LANGUAGE_TYPESCRIPT,
    VCM_LANGUAGE_SCALA,
    VCM_LANGUAGE_SWIFT,
    VCM_LANGUAGE_HASKELL,
    VCM_LANGUAGE_OCAML,
    VCM_LANGUAGE_OCAML_INTERFACE,
    VCM_LANGUAGE_ELIXIR,
    VCM_LANGUAGE_ZIG,
    VCM_LANGUAGE_JULIA,
    VCM_LANGUAGE_R,
    VCM_LANGUAGE_SQL,
    /* Definitions only, by ctags: */
    VCM_LANGUAGE_ADA,
    VCM_LANGUAGE_ASSEMBLY,
    VCM_LANGUAGE_AWK,
    VCM_LANGUAGE_CLOJURE,
    VCM_LANGUAGE_COBOL,
    VCM_LANGUAGE_CUDA,
    VCM_LANGUAGE_D,
    VCM_LANGUAGE_ELM,
    VCM_LANGUAGE_EMACS_LISP,
    VCM_LANGUAGE_ERLANG,
    VCM_LANGUAGE_FORTRAN,
    VCM_LANGUAGE_HAXE,
    VCM_LANGUAGE_LISP,
    VCM_LANGUAGE_OBJECTIVE_C,
    VCM_LANGUAGE_PASCAL,
    VCM_LANGUAGE_PERL,
    VCM_LANGUAGE_POWERSHELL,
    VCM_LANGUAGE_PROTOBUF,
    VCM_LANGUAGE_PUPPET,
    VCM_LANGUAGE_SCHEME,
    VCM_LANGUAGE_SML,
    VCM_LANGUAGE_SYSTEMVERILOG,
    VCM_LANGUAGE_TCL,
    VCM_LANGUAGE_VERILOG,
    VCM_LANGUAGE_VHDL,
    VCM_LANGUAGE_VIM,
    VCM_LANGUAGE_COUNT,
};

/* "c", "c_sharp"; "" of VCM_LANGUAGE_NONE and of numbers that are no language. */
const char *vcm_language_name(enum vcm_language language);

/* How much is read from files of a language. */
enum vcm_language_level {
    VCM_LANGUAGE_ABSENT,
    VCM_LANGUAGE_DEFINITIONS,
    VCM_LANGUAGE_FULL, /* definitions, containers, references, imports, checked by a sample */
};

/* As far as it is built in; what ctags reads is absent where there is no ctags (ctags.h). */
enum vcm_language_level vcm_language_level(enum vcm_language language);

/* What reads it: "tree-sitter", "ctags". */
const char *vcm_language_source(enum vcm_language language);

/* The name by which ctags knows a language that is left to it; NULL for others. */
const char *vcm_language_ctags_name(enum vcm_language language);

/* Languages that one word is said about: JavaScript and what becomes it, C and C++, both kinds of
 * files of OCaml. */
bool vcm_language_is_script(enum vcm_language language);
bool vcm_language_is_c(enum vcm_language language);
bool vcm_language_is_ocaml(enum vcm_language language);

/* Whether a type that is called like a function makes one of its kind. */
bool vcm_language_makes_by_call(enum vcm_language language);

/* By the last part of the path. */
enum vcm_language vcm_language_of_path(struct vcm_slice path);

#endif
