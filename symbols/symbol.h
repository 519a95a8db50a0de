/*
 * symbol.h - one definition, one reference, one import of a file, and the words for their kinds.
 *
 * Lines count from 1. Texts point into memory of a struct vcm_symbols (symbols.h), which has all
 * of one file.
 */
#ifndef VCM_SYMBOLS_SYMBOL_H
#define VCM_SYMBOLS_SYMBOL_H

#include <stdint.h>

#include "base/buf.h"

enum vcm_symbol_kind {
    VCM_SYMBOL_FUNCTION,
    VCM_SYMBOL_METHOD,
    VCM_SYMBOL_CONSTRUCTOR,
    VCM_SYMBOL_PROTOTYPE,
    VCM_SYMBOL_MACRO,
    VCM_SYMBOL_CLASS,
    VCM_SYMBOL_STRUCT,
    VCM_SYMBOL_UNION,
    VCM_SYMBOL_ENUM,
    VCM_SYMBOL_INTERFACE,
    VCM_SYMBOL_TRAIT,
    VCM_SYMBOL_TYPE,
    VCM_SYMBOL_MODULE,
    VCM_SYMBOL_NAMESPACE,
    VCM_SYMBOL_CONSTANT,
    VCM_SYMBOL_VARIABLE,
    VCM_SYMBOL_FIELD,
    VCM_SYMBOL_ENUMERATOR,
    VCM_SYMBOL_KIND_COUNT,
};

enum vcm_symbol_visibility {
    VCM_SYMBOL_PUBLIC,
    VCM_SYMBOL_PROTECTED,
    VCM_SYMBOL_PRIVATE,
    VCM_SYMBOL_INTERNAL, /* to its package, module, crate or assembly */
    VCM_SYMBOL_VISIBILITY_COUNT,
};

struct vcm_symbol {
    struct vcm_slice name;
    struct vcm_slice container;     /* "Outer.Inner", "" at the top */
    struct vcm_slice signature;     /* one line, without the body */
    struct vcm_slice documentation; /* first sentence of the comment, or "" */
    struct vcm_slice type; /* of its value, or of what it returns; its bases (receiver.h); or "" */
    uint32_t line;         /* of the name */
    uint32_t start_line, end_line;
    enum vcm_symbol_kind kind;
    enum vcm_symbol_visibility visibility;
};

enum vcm_symbol_use {
    VCM_SYMBOL_CALL,
    VCM_SYMBOL_READ,
    VCM_SYMBOL_WRITE,
    VCM_SYMBOL_INSTANTIATE,
    VCM_SYMBOL_IMPLEMENTATION,
    VCM_SYMBOL_OVERRIDE,
    VCM_SYMBOL_USE_COUNT,
};

struct vcm_symbol_reference {
    struct vcm_slice name;
    uint32_t line;
    uint32_t from; /* 1 + the index of the definition that it is in; 0 outside of any */
    enum vcm_symbol_use use;
    bool qualified;
    bool is_type;               /* nothing but a type is meant */
    struct vcm_slice qualifier; /* "shop" of "shop.total"; "" when it is no name (qualifier.h) */
    struct vcm_slice receiver;  /* what stands before it, with its type (receiver.h); or "" */
};

struct vcm_symbol_import {
    struct vcm_slice target; /* as written, without quotes and brackets; "": the file itself */
    struct vcm_slice alias;  /* the name that stands for it, or names (qualifier.h) */
    uint32_t line;
    bool parts;   /* the alias lists names that are in the target */
    bool exports; /* others can import these names from this file */
    bool hidden;  /* they are no names in this file */
};

/* In lists of names that a file exports: what the module itself stands for ("module.exports = f"),
 * and what is meant by no name. */
#define VCM_SYMBOL_WHOLE   "="
#define VCM_SYMBOL_DEFAULT "default"

/* What was omitted of a file, if anything. */
enum vcm_symbol_state {
    VCM_SYMBOL_COMPLETE,
    VCM_SYMBOL_BINARY,
    VCM_SYMBOL_TOO_LARGE,
    VCM_SYMBOL_TOO_COSTLY, /* to parse */
    VCM_SYMBOL_TOO_MANY,   /* symbols: the first ones are there */
    VCM_SYMBOL_MISSING,    /* the blob is not in the repository; never stored */
    VCM_SYMBOL_NO_CTAGS,   /* no ctags, or it did not answer; never stored */
    VCM_SYMBOL_DAMAGED,    /* the blob is damaged, or no blob; never stored */
    VCM_SYMBOL_STATE_COUNT,
};

/* "function", "call", "private", "complete"; "" for numbers that are none. */
const char *vcm_symbol_kind_name(enum vcm_symbol_kind kind);
const char *vcm_symbol_use_name(enum vcm_symbol_use use);
const char *vcm_symbol_visibility_name(enum vcm_symbol_visibility visibility);
const char *vcm_symbol_state_name(enum vcm_symbol_state state);

/* Whether another attempt would give the same result, so that the symbols may be stored. */
bool vcm_symbol_state_lasts(enum vcm_symbol_state state);

/* False when there is no such kind. */
bool vcm_symbol_kind_of(enum vcm_symbol_kind *out, const char *name);

/* Whether it can hold calls, and has local names. */
bool vcm_symbol_is_function(enum vcm_symbol_kind kind);
/* Whether it is a variable or a constant. */
bool vcm_symbol_is_value(enum vcm_symbol_kind kind);
/* Whether a function in it is a method. */
bool vcm_symbol_is_type(enum vcm_symbol_kind kind);

#endif
