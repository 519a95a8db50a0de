/*
 * symbol.h - what one file defines, uses and imports; and how that is stored.
 *
 * A struct vcm_symbols owns everything it points to through its arena. Lines count from 1. The
 * stored form depends on the file's bytes, its language and VCM_SYMBOL_FORMAT alone.
 */
#ifndef VCM_SYMBOLS_SYMBOL_H
#define VCM_SYMBOLS_SYMBOL_H

#include <stdint.h>

#include "base/arena.h"
#include "symbols/language.h"

/* Goes up whenever the same bytes give other symbols, or another stored form. */
#define VCM_SYMBOL_FORMAT 4

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
    uint32_t line, end_line;
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
    struct vcm_slice qualifier; /* "shop" of "shop.total"; "" when it is no name (qualifier.h) */
};

struct vcm_symbol_import {
    struct vcm_slice target; /* as written, without quotes and brackets */
    struct vcm_slice alias;  /* the name that stands for it, or names (qualifier.h) */
    uint32_t line;
    bool parts; /* the alias lists names that are in the target */
};

/* What was left out of a file, if anything. */
enum vcm_symbol_state {
    VCM_SYMBOL_COMPLETE,
    VCM_SYMBOL_BINARY,
    VCM_SYMBOL_TOO_LARGE,
    VCM_SYMBOL_TOO_COSTLY, /* to parse */
    VCM_SYMBOL_TOO_MANY,   /* symbols: the first ones are there */
    VCM_SYMBOL_MISSING,    /* the blob is not in the repository; never stored */
    VCM_SYMBOL_NO_CTAGS,   /* there is none, or it did not answer; never stored */
    VCM_SYMBOL_STATE_COUNT,
};

struct vcm_symbols {
    struct vcm_arena arena;
    enum vcm_symbol_state state;
    struct vcm_symbol *definitions; /* in the order of the file */
    uint32_t definition_count;
    struct vcm_symbol_reference *references; /* in the order of the file */
    uint32_t reference_count;
    struct vcm_symbol_import *imports;
    uint32_t import_count;
};

void vcm_symbols_init(struct vcm_symbols *symbols);
void vcm_symbols_release(struct vcm_symbols *symbols);

/* "function", "call", "private", "complete"; "" for numbers that are none. */
const char *vcm_symbol_kind_name(enum vcm_symbol_kind kind);
const char *vcm_symbol_use_name(enum vcm_symbol_use use);
const char *vcm_symbol_visibility_name(enum vcm_symbol_visibility visibility);
const char *vcm_symbol_state_name(enum vcm_symbol_state state);

/* Whether another try would end the same, so that the symbols may be stored. */
bool vcm_symbol_state_lasts(enum vcm_symbol_state state);

/* False when there is no such kind. */
bool vcm_symbol_kind_of(enum vcm_symbol_kind *out, const char *name);

/* Whether it can hold calls, and has local names. */
bool vcm_symbol_is_function(enum vcm_symbol_kind kind);
/* Whether a function in it is a method. */
bool vcm_symbol_is_type(enum vcm_symbol_kind kind);

/* Appends the stored form. */
void vcm_symbols_encode(struct vcm_buf *out, const struct vcm_symbols *symbols);

/* Reads the stored form into a struct that is initialised; it points into `bytes` afterwards.
 * Without references, which are most of it, when they are not wanted. STORE_CORRUPT. */
int vcm_symbols_decode(struct vcm_symbols *out, struct vcm_slice bytes, bool references,
                       struct vcm_error *err);

#endif
