#include "tests/faults/allocation.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/banned.h"

enum { ONCE, FROM_THEN_ON };

static atomic_bool armed, came;
static atomic_ulong calls;
static unsigned long failing;
static bool goes_on;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

static bool fails(void)
{
    if (!atomic_load(&armed))
        return false;
    unsigned long call = atomic_fetch_add(&calls, 1) + 1;
    bool now = goes_on ? call >= failing : call == failing;
    if (now) {
        atomic_store(&came, true);
        errno = ENOMEM;
    }
    return now;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
    return fails() ? NULL : __real_strndup(text, len);
}

void allocation_arm(unsigned long n, unsigned variant)
{
    atomic_store(&calls, 0);
    atomic_store(&came, false);
    failing = n;
    goes_on = variant == FROM_THEN_ON;
    atomic_store(&armed, true);
}

bool allocation_disarm(void)
{
    atomic_store(&armed, false);
    return atomic_load(&came);
}

unsigned long allocation_calls(void)
{
    return atomic_load(&calls);
}
