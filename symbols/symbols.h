/*
 * symbols.h - all that one file defines, uses and imports; and how that is stored.
 *
 * A struct vcm_symbols owns everything it points to through its arena, unless it was decoded: then
 * texts point into the stored bytes. The stored form depends on the file's bytes, its language and
 * VCM_SYMBOL_FORMAT alone.
 */
#ifndef VCM_SYMBOLS_SYMBOLS_H
#define VCM_SYMBOLS_SYMBOLS_H

#include "base/arena.h"
#include "symbols/symbol.h"

/* Increased whenever the same bytes give other symbols, or another stored form. */
#define VCM_SYMBOL_FORMAT 5

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

/* Appends the stored form. */
void vcm_symbols_encode(struct vcm_buf *out, const struct vcm_symbols *symbols);

/* Reads the stored form into a struct that is initialised; it points into `bytes` afterwards.
 * Without references, which are most of it, when they are not wanted. STORE_CORRUPT. */
int vcm_symbols_decode(struct vcm_symbols *out, struct vcm_slice bytes, bool references,
                       struct vcm_error *err);

#endif
