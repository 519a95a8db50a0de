/*
 * The n-th allocation by our own code or LMDB fails, once or from then on. Linked with --wrap and a
 * static LMDB; shared libraries allocate undisturbed.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "tests/faults/scenario.h"

#include "base/banned.h"

enum { ONCE, FROM_THEN_ON, VARIANTS };

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

static void arm(unsigned long n, unsigned variant)
{
    atomic_store(&calls, 0);
    atomic_store(&came, false);
    failing = n;
    goes_on = variant == FROM_THEN_ON;
    atomic_store(&armed, true);
}

static bool disarm(void)
{
    atomic_store(&armed, false);
    return atomic_load(&came);
}

static bool is_expected(int code)
{
    return code == VCM_INTERNAL;
}

static const struct scenario_fault fault = {
    .arm = arm,
    .disarm = disarm,
    .variants = VARIANTS,
    .stride = 19,
    .is_expected = is_expected,
};

static void a_first_map_survives_any_failed_allocation(void **state)
{
    (void)state;
    scenario_first_map(&fault);
}

static void a_second_map_survives_any_failed_allocation(void **state)
{
    (void)state;
    scenario_second_map(&fault);
}

static void every_operation_survives_any_failed_allocation(void **state)
{
    (void)state;
    scenario_operations(&fault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_map_survives_any_failed_allocation),
        cmocka_unit_test(a_second_map_survives_any_failed_allocation),
        cmocka_unit_test(every_operation_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
