/*
 * scenario.h - what the tests of fault injection share: a whole use of the library through
 * api/vcm.h in which the n-th call of some kind fails, for n = 1, 2, 3 and so on until none does.
 *
 * After each run the store must verify, hold the old or the new pages, and the next map must give
 * what an undisturbed one gives. Without VCM_TEST_LONG=1 only every so many-th n is tried, from one
 * on that depends on VCM_TEST_SEED.
 */
#ifndef VCM_TESTS_FAULTS_SCENARIO_H
#define VCM_TESTS_FAULTS_SCENARIO_H

#include <stdbool.h>

/* What fails, and how it is told. */
struct scenario_fault {
    void (*arm)(unsigned long n, unsigned variant); /* the n-th call from now on fails */
    bool (*disarm)(void);                           /* whether it came to that */
    unsigned variants;
    unsigned stride; /* in a normal run */
    bool (*is_expected)(int code);
};

/* Maps into an empty home; over an earlier revision. */
void scenario_first_map(const struct scenario_fault *fault);
void scenario_second_map(const struct scenario_fault *fault);

/* Faults, evictions, locks, pins, settings, gc, and a pinned map for which others go, one by one:
 * the store holds what it held before or after, and the next try succeeds. */
void scenario_operations(const struct scenario_fault *fault);

#endif
