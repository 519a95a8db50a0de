/*
 * self_check.h - in debug builds, a process that wrote to a small store checks the invariants of
 * vcm/README.md before it closes the store, and aborts if one does not hold.
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
