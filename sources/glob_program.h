/*
 * glob_program.h - the wildcard part of a pattern as a small program. Private to glob.c.
 */
#ifndef VCM_SOURCES_GLOB_PROGRAM_H
#define VCM_SOURCES_GLOB_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct vcm_glob_program {
    const uint8_t *code;
    size_t len;
};

/* The code lives in the arena. *well_formed is false when the pattern can never match: a bracket
 * that is not closed, an unknown class, a backslash at the end. */
int vcm_glob_program_compile(struct vcm_glob_program *program, bool *well_formed,
                             struct vcm_arena *arena, struct vcm_slice pattern,
                             struct vcm_error *err);

/* Whether the program matches the whole text. Adds the number of steps to *steps: at most
 * (text + 1) * (code + 1) * (slashes of the text + 2), or one factor of text more for patterns with
 * "**" before an escaped slash. False also as soon as *steps exceeds `steps_max`. */
bool vcm_glob_program_run(const struct vcm_glob_program *program, struct vcm_slice text,
                          uint64_t *steps, uint64_t steps_max);

#endif
