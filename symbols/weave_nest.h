/*
 * weave_nest.h - the blocks around a place of a file, outermost first: definitions, scopes and
 * regions that begin before it and end behind it. Private to weave.c and its parts.
 *
 * Blocks are entered in the order of the file and left when one begins that is not in them. What a
 * question needs of all blocks around is kept with each level: there may be thousands, and nothing
 * walks all of them.
 */
#ifndef VCM_SYMBOLS_WEAVE_NEST_H
#define VCM_SYMBOLS_WEAVE_NEST_H

#include "symbols/weave.h"

struct vcm_weave_level {
    const struct vcm_find *block;
    const struct vcm_find *last; /* of several definitions in one declaration the one at hand */
    uint32_t index; /* 1 + of the definition; 0 of a scope, or of one that was left out */
    enum vcm_symbol_kind kind;
    size_t path;                           /* length of the container's name up to here */
    enum vcm_symbol_visibility visibility; /* of what follows, once a word said so */
    bool has_visibility;
    /* Of this block and those around it, which may be many: nothing walks all of them. */
    size_t container, definition, function; /* 1 + the innermost's level, the outermost's; or 0 */
    bool is_in_function, has_own_names, has_modules_only;
};

struct vcm_weave_nest {
    struct vcm_weave *weave;
    struct vcm_weave_level *levels;
    size_t depth, capacity;
    struct vcm_buf path; /* the containers' names, "a.b.c" */
};

/* False without memory. */
bool vcm_weave_nest_enter(struct vcm_weave_nest *nest, const struct vcm_find *block, uint32_t index,
                          enum vcm_symbol_kind kind);
void vcm_weave_nest_leave(struct vcm_weave_nest *nest);

/* Leaves what ended before the place. */
void vcm_weave_nest_leave_until(struct vcm_weave_nest *nest, uint32_t start);

/* Leaves what ended before the block, and a typedef whose type the block is: "typedef struct a
 * {...} b" does not hold its struct. */
void vcm_weave_nest_leave_before(struct vcm_weave_nest *nest, const struct vcm_find *block);

/* The innermost container; NULL at the top of the file. */
const struct vcm_weave_level *vcm_weave_nest_container(const struct vcm_weave_nest *nest);

#endif
