/*
 * clock_shift.c - preloaded by tests: the clock that the program reads is VCM_TEST_CLOCK_SHIFT
 * seconds ahead of the machine's, or behind it. Durations (CLOCK_MONOTONIC) are as they are.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/banned.h"

static long shift_seconds(void)
{
    const char *text = getenv("VCM_TEST_CLOCK_SHIFT");

    return text ? strtol(text, NULL, 10) : 0;
}

/* Under names of their own, because the system's header has other names for the parameters. */
int shifted_gettime(clockid_t clock, struct timespec *out) __asm__("clock_gettime");
time_t shifted_time(time_t *out) __asm__("time");

int shifted_gettime(clockid_t clock, struct timespec *out)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, out);

    if (rc == 0 && clock == CLOCK_REALTIME)
        out->tv_sec += shift_seconds();
    return rc;
}

time_t shifted_time(time_t *out)
{
    struct timespec now = {0};

    shifted_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
