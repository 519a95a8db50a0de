/*
 * parse_work.h - counts the work of tree-sitter's core while it is done (grammars/core.c). In a
 * header of its own, because the core is compiled with other names for malloc() and its
 * relatives.
 */
#ifndef VCM_SYMBOLS_PARSE_WORK_H
#define VCM_SYMBOLS_PARSE_WORK_H

#include <stdint.h>

/* The steps until the next check, which may end the work (vcm_parse_memory_bound()). */
extern _Thread_local int64_t vcm_parse_work_left;
void vcm_parse_memory_check_work(void);

static inline void vcm_parse_work_count(uint32_t steps)
{
    vcm_parse_work_left -= steps;
    if (vcm_parse_work_left < 0)
        vcm_parse_memory_check_work();
}

#endif
