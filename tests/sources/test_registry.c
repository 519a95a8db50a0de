#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sources/git_source.h"
#include "sources/registry.h"

#include "base/banned.h"

static void our_own_types_are_known(void **state)
{
    const struct vcm_source_type *type;
    struct vcm_registry registry;

    (void)state;
    vcm_registry_init(&registry);
    assert_int_equal(vcm_registry_find(&type, &registry, "git_repo", NULL), VCM_OK);
    assert_ptr_equal(type, &vcm_git_source_type);
}

static void an_unknown_type_is_refused_with_those_that_are_known(void **state)
{
    static const struct vcm_source_type mine = {.name = "mine"};
    const struct vcm_source_type *type;
    struct vcm_registry registry;
    struct vcm_error err = {0};

    (void)state;
    vcm_registry_init(&registry);
    assert_int_equal(vcm_registry_find(&type, &registry, "mine", &err), VCM_INVALID_ARGUMENT);
    assert_null(type);
    assert_non_null(strstr(err.message, "'mine'"));
    assert_non_null(strstr(err.message, "git_repo"));
    assert_int_equal(vcm_registry_add(&registry, &mine, NULL), VCM_OK);
    assert_int_equal(vcm_registry_find(&type, &registry, "mine", NULL), VCM_OK);
    assert_ptr_equal(type, &mine);
    assert_int_equal(vcm_registry_add(&registry, &mine, NULL), VCM_INVALID_ARGUMENT);
}

static void there_is_room_for_so_many_types_only(void **state)
{
    char names[VCM_REGISTRY_TYPES_MAX][8];
    struct vcm_source_type types[VCM_REGISTRY_TYPES_MAX];
    struct vcm_registry registry;
    int rc = VCM_OK;
    unsigned added = 0;

    (void)state;
    vcm_registry_init(&registry);
    unsigned ours = registry.count;
    for (; added < VCM_REGISTRY_TYPES_MAX && rc == VCM_OK; added++) {
        snprintf(names[added], sizeof names[added], "t%u", added);
        types[added] = (struct vcm_source_type){.name = names[added]};
        rc = vcm_registry_add(&registry, &types[added], NULL);
    }
    assert_int_equal(rc, VCM_UNSUPPORTED);
    assert_int_equal(added - 1 + ours, VCM_REGISTRY_TYPES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_types_are_known),
        cmocka_unit_test(an_unknown_type_is_refused_with_those_that_are_known),
        cmocka_unit_test(there_is_room_for_so_many_types_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
