/*
 * self_check.h - in debug builds, whoever wrote to a small store checks the law of vcm/README.md
 * before leaving it, and stops the program when an invariant does not hold.
 */
#ifndef VCM_API_SELF_CHECK_H
#define VCM_API_SELF_CHECK_H

struct vcm;

#ifdef NDEBUG
static inline void vcm_self_check(struct vcm *vcm)
{
    (void)vcm;
}
#else
void vcm_self_check(struct vcm *vcm);
#endif

#endif
