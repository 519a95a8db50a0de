#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/cancel.h"
#include "base/defaults.h"

#include "base/banned.h"

static void a_flag_asks_until_it_is_reset(void **state)
{
    struct vcm_cancel cancel = {0};

    (void)state;
    assert_false(vcm_cancel_is_requested(NULL));
    assert_false(vcm_cancel_is_requested(&cancel));
    vcm_cancel_request(&cancel);
    assert_int_equal(vcm_cancel_check(&cancel, NULL), VCM_INTERRUPTED);
    vcm_cancel_reset(&cancel);
    assert_int_equal(vcm_cancel_check(&cancel, NULL), VCM_OK);
}

static void a_relay_heeds_the_flag_that_it_stands_for(void **state)
{
    struct vcm_cancel first = {0}, second = {0};
    struct vcm_cancel_relay relay;

    (void)state;
    vcm_cancel_relay_init(&relay, &first);
    assert_false(vcm_cancel_is_requested(&relay.flag));
    vcm_cancel_request(&first);
    assert_true(vcm_cancel_is_requested(&relay.flag));
    assert_ptr_equal(vcm_cancel_relay_set(&relay, &second), &first);
    assert_false(vcm_cancel_is_requested(&relay.flag));
    vcm_cancel_request(&second);
    assert_true(vcm_cancel_is_requested(&relay.flag));
    assert_ptr_equal(vcm_cancel_relay_set(&relay, NULL), &second);
    assert_false(vcm_cancel_is_requested(&relay.flag));
}

static void a_relay_asks_when_its_time_is_over(void **state)
{
    struct vcm_cancel target = {0};
    struct vcm_cancel_relay relay;

    (void)state;
    vcm_cancel_relay_init(&relay, &target);
    vcm_cancel_relay_set_deadline(&relay, UINT64_MAX);
    assert_false(vcm_cancel_is_requested(&relay.flag));
    vcm_cancel_relay_set_deadline(&relay, 1);
    assert_true(vcm_cancel_is_requested(&relay.flag));
    assert_true(vcm_cancel_relay_is_late(&relay));
    vcm_cancel_request(&target);
    assert_false(vcm_cancel_relay_is_late(&relay));
    vcm_cancel_reset(&target);
    vcm_cancel_relay_set_deadline(&relay, 0);
    assert_false(vcm_cancel_is_requested(&relay.flag));
}

static void a_walk_has_a_bound_with_and_without_a_relay(void **state)
{
    struct vcm_cancel plain = {0};
    struct vcm_cancel_relay relay;

    (void)state;
    vcm_cancel_relay_init(&relay, NULL);
    assert_int_equal(vcm_cancel_entries_max(NULL), VCM_DEFAULT_WALK_ENTRIES);
    assert_int_equal(vcm_cancel_entries_max(&plain), VCM_DEFAULT_WALK_ENTRIES);
    assert_int_equal(vcm_cancel_entries_max(&relay.flag), VCM_DEFAULT_WALK_ENTRIES);
    vcm_cancel_relay_set_entries(&relay, 7);
    assert_int_equal(vcm_cancel_entries_max(&relay.flag), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_asks_until_it_is_reset),
        cmocka_unit_test(a_relay_heeds_the_flag_that_it_stands_for),
        cmocka_unit_test(a_relay_asks_when_its_time_is_over),
        cmocka_unit_test(a_walk_has_a_bound_with_and_without_a_relay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
