/*
 * locals.h - names that are local to a part of a file: parameters, variables and type parameters,
 * each in the innermost block around it. Private to weave.c and its parts.
 */
#ifndef VCM_SYMBOLS_LOCALS_H
#define VCM_SYMBOLS_LOCALS_H

#include "symbols/weave.h"

struct vcm_local;

struct vcm_locals {
    struct vcm_local *items; /* by text, then block */
    size_t count;
};

/* Reads uses and blocks, which are both in the order of the file; of blocks those that are `open`
 * to names. False without memory. */
bool vcm_locals_fill(struct vcm_locals *locals, const struct vcm_weave *weave, const bool *open);
void vcm_locals_release(struct vcm_locals *locals);

enum vcm_locals_answer {
    VCM_LOCALS_NO,
    VCM_LOCALS_YES,
    VCM_LOCALS_OUTER, /* the block says that this name is one of the file */
};

/* Those by one name. */
struct vcm_locals_range {
    const struct vcm_local *items;
    size_t count;
};

struct vcm_locals_range vcm_locals_find(const struct vcm_locals *locals, struct vcm_slice name);

/* The chain of what the block declares by the name (receiver.h); "" when it has several. */
struct vcm_slice vcm_locals_chain(const struct vcm_locals_range *range, size_t block);

/* Whether the block with this number declares the name. A name in the place of a type can only be a
 * type parameter. */
enum vcm_locals_answer vcm_locals_ask(const struct vcm_locals_range *range, size_t block,
                                      bool type);

#endif
