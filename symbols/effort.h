/*
 * effort.h - what a thread's parsing costs, counted and not timed: equal bytes cost the same on any
 * machine.
 *
 * Steps of the parser do not tell: in text full of errors one step copies all that was read so far.
 * Such copies are asked for memory, so the bytes that tree-sitter asks for are what is counted.
 */
#ifndef VCM_SYMBOLS_EFFORT_H
#define VCM_SYMBOLS_EFFORT_H

#include <stdint.h>

/* Takes the place of tree-sitter's allocator; any number of times, before the first parser. */
void vcm_effort_install(void);

/* Bytes that this thread's parsers asked for since it began. */
uint64_t vcm_effort_bytes(void);

#endif
