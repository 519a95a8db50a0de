/*
 * mark.h - detects, in debug builds, an object that is released twice.
 *
 * The mark is read from memory that may have been freed and reused, so it is good enough for an
 * assertion and for nothing else.
 */
#ifndef VCM_API_MARK_H
#define VCM_API_MARK_H

#include <assert.h>
#include <stdint.h>

#define VCM_MARK_HELD  0x646c6568u
#define VCM_MARK_GIVEN 0x6e767667u

/* Called immediately before the object is freed. */
static inline void vcm_mark_give_back(uint32_t *mark)
{
    assert(*mark == VCM_MARK_HELD && "given back twice");
    *(volatile uint32_t *)mark =
        VCM_MARK_GIVEN; /* volatile: the compiler must not drop the write before free() */
}

#endif
