/*
 * mark.h - telling what was handed out from what was given back, in debug builds.
 *
 * C cannot detect that an object is given back twice. A mark in it can be looked at, though its
 * memory may be somebody else's by then: good enough for an assertion, and for nothing else.
 */
#ifndef VCM_API_MARK_H
#define VCM_API_MARK_H

#include <assert.h>
#include <stdint.h>

#define VCM_MARK_HELD  0x646c6568u
#define VCM_MARK_GIVEN 0x6e767667u

/* Right before the object is freed. */
static inline void vcm_mark_give_back(uint32_t *mark)
{
    assert(*mark == VCM_MARK_HELD && "given back twice");
    *(volatile uint32_t *)mark = VCM_MARK_GIVEN; /* though nobody may read it any more */
}

#endif
