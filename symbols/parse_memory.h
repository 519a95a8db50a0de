/*
 * parse_memory.h - the memory that tree-sitter and its grammars allocate, given back all at once.
 *
 * They are compiled to call the functions below in the place of malloc() and its kin, because they
 * end the process when there is no memory. Here a failure leaves the whole call instead, and the
 * bytes that one file may take are bounded. A memory is used by one thread at a time; different
 * ones by any number of threads. Private to this folder.
 */
#ifndef VCM_SYMBOLS_PARSE_MEMORY_H
#define VCM_SYMBOLS_PARSE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vcm_parse_memory;

/* NULL without memory. */
struct vcm_parse_memory *vcm_parse_memory_open(size_t bytes_max);
void vcm_parse_memory_close(struct vcm_parse_memory *memory);

enum vcm_parse_memory_outcome {
    VCM_PARSE_DONE,
    VCM_PARSE_TOO_LARGE, /* more than bytes_max */
    VCM_PARSE_NO_MEMORY,
};

/* Calls `work`. Unless it is done it ended where an allocation failed: it must not hold anything
 * else that has to be released. */
enum vcm_parse_memory_outcome vcm_parse_memory_run(struct vcm_parse_memory *memory,
                                                   void (*work)(void *context), void *context);

/* All bytes that the work in hand asked for, whether it gave them back or not: what its copies
 * cost, and the same on any machine. */
uint64_t vcm_parse_memory_asked(void);

/* Leaves the work in hand as too large. */
_Noreturn void vcm_parse_memory_refuse(void);

/* Where a scanner's state passes through (scanner_guard.h). The longest that one writes is a few
 * bytes over what the parser holds. One that takes the wrong bytes for lengths reads on for at most
 * 255 times as far as a byte reaches, over zeros. */
struct vcm_parse_memory_room {
    char saved[4096];
    char restored[128 * 1024];
    unsigned restored_length; /* bytes that may not be zero */
};

/* Of the work in hand; NULL when there is none. */
struct vcm_parse_memory_room *vcm_parse_memory_rooms(void);

/* Forgets all that was allocated, and keeps some room for the next time. */
void vcm_parse_memory_reset(struct vcm_parse_memory *memory);

/* Work in hand gets its memory from the one that it runs in, anything else from malloc(). */
void *vcm_parse_memory_malloc(size_t size);
void *vcm_parse_memory_calloc(size_t count, size_t size);
void *vcm_parse_memory_realloc(void *old, size_t size);
void vcm_parse_memory_free(void *old);

#endif
