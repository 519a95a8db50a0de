#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/cancel.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_asks_until_it_is_reset),
        cmocka_unit_test(a_relay_heeds_the_flag_that_it_stands_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
