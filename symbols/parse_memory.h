/*
 * parse_memory.h - the memory that tree-sitter and its grammars allocate, freed all at once.
 *
 * They are compiled to call the functions below instead of malloc() and its relatives, because they
 * abort the process when there is no memory. Here a failed allocation ends the whole call instead,
 * and the bytes for one file are bounded. A memory is used by one thread at a time; different ones
 * by any number of threads. Private to this folder.
 */
#ifndef VCM_SYMBOLS_PARSE_MEMORY_H
#define VCM_SYMBOLS_PARSE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"

struct vcm_parse_memory;

/* NULL without memory. */
struct vcm_parse_memory *vcm_parse_memory_open(size_t bytes_max);
void vcm_parse_memory_close(struct vcm_parse_memory *memory);

enum vcm_parse_memory_outcome {
    VCM_PARSE_DONE,
    VCM_PARSE_TOO_LARGE, /* more than bytes_max, or more work than allowed */
    VCM_PARSE_CANCELLED,
    VCM_PARSE_NO_MEMORY,
};

/* Calls `work`. Unless it returns DONE, it ended at a failed allocation: so it must not own
 * anything else that has to be released. */
enum vcm_parse_memory_outcome vcm_parse_memory_run(struct vcm_parse_memory *memory,
                                                   void (*work)(void *context), void *context);

/* Bounds the work of every later call of vcm_parse_memory_run(): `steps` as grammars/core.c counts
 * them, the same on any machine. `cancel` may be NULL, and is asked now and then. */
void vcm_parse_memory_bound(struct vcm_parse_memory *memory, uint64_t steps,
                            const struct vcm_cancel *cancel);

/* The steps of the last call. */
uint64_t vcm_parse_memory_steps(const struct vcm_parse_memory *memory);

/* All bytes that the current work has allocated, freed or not: the cost of its copies, and the same
 * on any machine. */
uint64_t vcm_parse_memory_asked(void);

/* Ends the current work as too large. */
_Noreturn void vcm_parse_memory_refuse(void);

/* Where a scanner's state passes through (scanner_guard.h). The longest that a scanner
 * writes is a few bytes more than the parser has room for. A scanner that reads wrong bytes as
 * lengths reads at most 255 times as far as a byte can count, over zeros. */
struct vcm_parse_memory_room {
    char saved[4096];
    char restored[128 * 1024];
    unsigned restored_length; /* bytes that may not be zero */
};

/* Of the current work; NULL when there is none. */
struct vcm_parse_memory_room *vcm_parse_memory_rooms(void);

/* Frees everything that was allocated, and keeps some memory for the next file. */
void vcm_parse_memory_reset(struct vcm_parse_memory *memory);

/* The current work gets its memory from here, everything else from malloc(). */
void *vcm_parse_memory_malloc(size_t size);
void *vcm_parse_memory_calloc(size_t count, size_t size);
void *vcm_parse_memory_realloc(void *old, size_t size);
void vcm_parse_memory_free(void *old);

#endif
