/*
 * The n-th allocation by our own code fails, once or from then on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "tests/faults/allocation.h"
#include "tests/faults/scenario.h"

#include "base/banned.h"

/* STORE_BUSY: without the file in which views are seen nobody can be sent away. */
static bool is_expected(int code)
{
    return code == VCM_INTERNAL || code == VCM_STORE_BUSY;
}

static const struct scenario_fault fault = {
    .arm = allocation_arm,
    .disarm = allocation_disarm,
    .variants = ALLOCATION_VARIANTS,
    .stride = 31,
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
