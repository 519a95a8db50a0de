/*
 * allocation.h - lets the n-th allocation by our own code fail. Linked with --wrap, which reaches
 * our objects; shared libraries allocate undisturbed.
 */
#ifndef VCM_TESTS_FAULTS_ALLOCATION_H
#define VCM_TESTS_FAULTS_ALLOCATION_H

#include <stdbool.h>

#define ALLOCATION_VARIANTS 2 /* once, or from then on */

/* The n-th allocation from now on fails. */
void allocation_arm(unsigned long n, unsigned variant);

/* Whether it came to that. */
bool allocation_disarm(void);

/* How many there were between the two. */
unsigned long allocation_calls(void);

#endif
