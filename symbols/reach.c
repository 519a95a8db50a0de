#include "symbols/reach.h"

#include <stdio.h>

#include "symbols/qualifier.h"

#include "base/banned.h"

enum vcm_reach_reach vcm_reach_reach(enum vcm_language language)
{
    switch (language) {
    case VCM_LANGUAGE_GO:
    case VCM_LANGUAGE_JAVA:
    case VCM_LANGUAGE_KOTLIN:
    case VCM_LANGUAGE_SCALA:
        return VCM_REACH_DIRECTORY;
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_JAVASCRIPT:
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
    case VCM_LANGUAGE_RUST:
    case VCM_LANGUAGE_HASKELL:
    case VCM_LANGUAGE_OCAML:
    case VCM_LANGUAGE_OCAML_INTERFACE:
    case VCM_LANGUAGE_ELIXIR:
    case VCM_LANGUAGE_ZIG:
        return VCM_REACH_FILE;
    default:
        return VCM_REACH_REPOSITORY;
    }
}

/* Languages that call each other's functions by name, as one of them. */
static enum vcm_language family_of(enum vcm_language language)
{
    switch (language) {
    case VCM_LANGUAGE_CPP:
        return VCM_LANGUAGE_C;
    case VCM_LANGUAGE_KOTLIN:
    case VCM_LANGUAGE_SCALA:
        return VCM_LANGUAGE_JAVA;
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
        return VCM_LANGUAGE_JAVASCRIPT;
    case VCM_LANGUAGE_OCAML_INTERFACE:
        return VCM_LANGUAGE_OCAML;
    default:
        return language;
    }
}

bool vcm_reach_are_kin(enum vcm_language a, enum vcm_language b)
{
    return family_of(a) == family_of(b);
}

bool vcm_reach_names_objects(enum vcm_language language)
{
    switch (language) {
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_JAVASCRIPT:
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
    case VCM_LANGUAGE_RUST:
    case VCM_LANGUAGE_GO:
    case VCM_LANGUAGE_PHP:
    case VCM_LANGUAGE_LUA:
        return true;
    default:
        return false;
    }
}

bool vcm_reach_is_closed(enum vcm_language language)
{
    return language == VCM_LANGUAGE_PYTHON || vcm_language_is_script(language) ||
           language == VCM_LANGUAGE_GO || language == VCM_LANGUAGE_LUA ||
           language == VCM_LANGUAGE_ZIG || language == VCM_LANGUAGE_ELIXIR;
}

bool vcm_reach_spreads_types(enum vcm_language language)
{
    return language == VCM_LANGUAGE_CPP || language == VCM_LANGUAGE_RUST ||
           language == VCM_LANGUAGE_GO || language == VCM_LANGUAGE_RUBY ||
           language == VCM_LANGUAGE_SWIFT || language == VCM_LANGUAGE_C_SHARP;
}

enum vcm_reach_call vcm_reach_call_of_type(enum vcm_language language, enum vcm_symbol_kind kind)
{
    if (vcm_language_makes_by_call(language))
        return VCM_REACH_MAKE;
    switch (language) {
    case VCM_LANGUAGE_C:
    case VCM_LANGUAGE_C_SHARP:
    case VCM_LANGUAGE_HASKELL:
    case VCM_LANGUAGE_JAVA:
    case VCM_LANGUAGE_OCAML:
    case VCM_LANGUAGE_OCAML_INTERFACE:
    case VCM_LANGUAGE_PHP:
    case VCM_LANGUAGE_RUBY:
        return VCM_REACH_OTHER;
    case VCM_LANGUAGE_JAVASCRIPT:
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
        return kind == VCM_SYMBOL_CLASS ? VCM_REACH_CONVERT : VCM_REACH_OTHER;
    default:
        return VCM_REACH_CONVERT;
    }
}

bool vcm_reach_compare_paths(bool *whole_a, bool *whole_b, struct vcm_slice a, struct vcm_slice b)
{
    bool same = true;

    while (a.len > 0 && b.len > 0 && same)
        same = vcm_slice_equal(vcm_qualifier_pop(&a), vcm_qualifier_pop(&b));
    *whole_a = same && a.len == 0;
    *whole_b = same && b.len == 0;
    return same;
}

static struct vcm_slice last_word(struct vcm_slice path)
{
    return vcm_qualifier_pop(&path);
}

/* "use a::b::{c, d::e}" brings c and e, "use a::b::c" brings c, "use a::b::*" may bring any. */
static bool rust_brings_name(const struct vcm_symbol_import *import, struct vcm_slice name)
{
    const struct vcm_slice all = vcm_slice_of("*", 1);
    struct vcm_slice list = import->alias, there, here;

    if (!import->parts)
        return import->alias.len == 0 && (vcm_slice_equal(last_word(import->target), name) ||
                                          vcm_slice_equal(last_word(import->target), all));
    while (vcm_qualifier_next_name(&there, &here, &list))
        if (vcm_slice_equal(here, there) &&
            (vcm_slice_equal(last_word(here), name) || vcm_slice_equal(last_word(here), all)))
            return true;
    return false;
}

/* "use a::{self, b}" gives a and a::b their names. */
static bool rust_gives_name(bool *joined, const struct vcm_symbol_import *import,
                            struct vcm_slice name)
{
    if (!import->parts)
        return vcm_slice_equal(import->alias.len > 0 ? import->alias : last_word(import->target),
                               name);
    *joined = vcm_qualifier_names(import->alias, name);
    return *joined || (vcm_qualifier_names(import->alias, vcm_slice_of("self", 4)) &&
                       vcm_slice_equal(last_word(import->target), name));
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

bool vcm_reach_brings_name(enum vcm_language language, const struct vcm_symbol_import *import,
                           struct vcm_slice name)
{
    switch (language) {
    case VCM_LANGUAGE_GO:
        return vcm_slice_equal(import->alias, vcm_slice_of(".", 1));
    case VCM_LANGUAGE_ZIG:
        return false;
    case VCM_LANGUAGE_RUST:
        return rust_brings_name(import, name);
    case VCM_LANGUAGE_PYTHON:
    case VCM_LANGUAGE_SCALA:
        if (!import->parts)
            return language != VCM_LANGUAGE_PYTHON;
        return vcm_qualifier_names(import->alias, name) ||
               vcm_qualifier_names(import->alias, vcm_slice_of("*", 1));
    case VCM_LANGUAGE_JAVASCRIPT:
    case VCM_LANGUAGE_TYPESCRIPT:
    case VCM_LANGUAGE_TSX:
        return vcm_slice_equal(import->alias, vcm_slice_of("-", 1)) ||
               (import->parts && takes_name(import->alias, name));
    case VCM_LANGUAGE_ELIXIR:
        return import->parts ? vcm_qualifier_names(import->alias, name) : import->alias.len == 0;
    case VCM_LANGUAGE_JULIA:
        return !import->parts || vcm_qualifier_names(import->alias, name);
    case VCM_LANGUAGE_HASKELL: /* "T (..)" brings what T holds, whatever that is */
        return !import->parts || vcm_qualifier_names(import->alias, name) ||
               memmem(import->alias.data, import->alias.len, "(", 1) != NULL;
    default:
        return true;
    }
}

bool vcm_reach_gives_name(bool *joined, enum vcm_language language,
                          const struct vcm_symbol_import *import, struct vcm_slice name)
{
    struct vcm_slice rest = import->target;
    bool all = false, known = false;

    *joined = false;
    if (language == VCM_LANGUAGE_RUST)
        return rust_gives_name(joined, import, name);
    bool modules = language == VCM_LANGUAGE_PYTHON || language == VCM_LANGUAGE_ELIXIR;
    /* Where functions of a module are imported, its own name is one too. */
    bool both =
        import->parts && (language == VCM_LANGUAGE_HASKELL || language == VCM_LANGUAGE_JULIA ||
                          language == VCM_LANGUAGE_ELIXIR);

    *joined = modules && import->parts && vcm_qualifier_names(import->alias, name);
    if (import->alias.len > 0 && (!both || *joined))
        return *joined || (!import->parts && vcm_slice_equal(import->alias, name));
    if (language == VCM_LANGUAGE_GO)
        return vcm_slice_equal(vcm_qualifier_pop(&rest), name);
    return vcm_reach_compare_paths(&all, &known, import->target, name) && all && known;
}

bool vcm_reach_is_of_go(struct vcm_slice target)
{
    static const char words[] =
        " archive bufio bytes cmp compress container context crypto database debug embed encoding "
        "errors expvar flag fmt go hash html image index io iter log maps math mime net os path "
        "plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing "
        "text time unicode unique unsafe ";
    const char *slash = memchr(target.data, '/', target.len);
    char word[16];
    size_t len = slash ? (size_t)(slash - target.data) : target.len;

    if (len + 3 > sizeof word)
        return false;
    snprintf(word, sizeof word, " %.*s ", (int)len, target.data);
    return strstr(words, word) != NULL;
}
