/*
 * clock.h - measures durations, tells the time that locks end by, and sleeps.
 */
#ifndef VCM_BASE_CLOCK_H
#define VCM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds on a clock that only goes forward. */
static inline uint64_t vcm_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Milliseconds since 1970, on the clock that people set. */
static inline uint64_t vcm_clock_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A signal ends it early. */
static inline void vcm_clock_sleep_ms(uint64_t ms)
{
    const struct timespec span = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&span, NULL);
}

#endif
