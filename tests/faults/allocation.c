#include "tests/faults/allocation.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/banned.h"

enum { ONCE, FROM_THEN_ON };

/* Shared with children: what is checked in a process of its own fails there. */
static struct {
    atomic_bool armed, came;
    atomic_ulong calls;
    unsigned long failing;
    bool goes_on;
} * shared;

__attribute__((constructor)) static void make_shared(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
}

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
    if (!shared || !atomic_load(&shared->armed))
        return false;
    unsigned long call = atomic_fetch_add(&shared->calls, 1) + 1;
    bool now = shared->goes_on ? call >= shared->failing : call == shared->failing;
    if (now) {
        atomic_store(&shared->came, true);
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
    atomic_store(&shared->calls, 0);
    atomic_store(&shared->came, false);
    shared->failing = n;
    shared->goes_on = variant == FROM_THEN_ON;
    atomic_store(&shared->armed, true);
}

bool allocation_disarm(void)
{
    atomic_store(&shared->armed, false);
    return atomic_load(&shared->came);
}

unsigned long allocation_calls(void)
{
    return atomic_load(&shared->calls);
}
