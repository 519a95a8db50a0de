#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "git/libgit2.h"

#include "base/banned.h"

/* Compiled with the name of a library that is nowhere. */
static void a_library_that_is_not_there_is_named_each_time(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct vcm_error err = {0};
        assert_int_equal(vcm_libgit2_load(&err), VCM_UNSUPPORTED);
        assert_non_null(strstr(err.message, "libgit2-of-nowhere.so.1"));
        assert_non_null(strstr(err.message, "install"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_that_is_not_there_is_named_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
