#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "tests/faults/allocation.h"

#include "base/banned.h"

enum { MANY = 100000, MAX = 1000000 };

struct item {
    uint64_t number;
    char name[9];
};

static void items_stay_as_an_array_grows(void **state)
{
    (void)state;
    struct item *items = NULL;
    size_t capacity = 0, grown = 0;
    struct vcm_error err = {0};

    for (size_t i = 0; i < MANY; i++) {
        size_t before = capacity;
        assert_int_equal(vcm_array_reserve(&items, &capacity, i + 1, MAX, &err), VCM_OK);
        assert_true(capacity > i);
        grown += capacity != before;
        items[i] = (struct item){.number = i};
    }
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(items[i].number, i);
    assert_true(grown <= 16); /* it doubles */
    free(items);
}

static void arrays_of_an_arena_grow_alike(void **state)
{
    (void)state;
    struct vcm_arena arena;
    const char **words = NULL;
    struct item *items = NULL;
    size_t word_capacity = 0, item_capacity = 0, heap_capacity = 0;
    unsigned char *heap = NULL;
    struct vcm_error err = {0};

    vcm_arena_init(&arena, 64 * VCM_MIB);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(vcm_array_reserve_in(&arena, &words, &word_capacity, i + 1, MAX, &err), 0);
        assert_int_equal(vcm_array_reserve_in(&arena, &items, &item_capacity, i + 1, MAX, &err), 0);
        assert_int_equal(vcm_array_reserve(&heap, &heap_capacity, i + 1, MAX, &err), VCM_OK);
        assert_int_equal(word_capacity, item_capacity);
        assert_int_equal(word_capacity, heap_capacity);
        words[i] = i % 2 ? "odd" : "even";
        items[i].number = i;
    }
    for (size_t i = 0; i < MANY; i++) {
        assert_string_equal(words[i], i % 2 ? "odd" : "even");
        assert_int_equal(items[i].number, i);
    }
    free(heap);
    vcm_arena_release(&arena);
}

static void what_is_needed_is_there_at_once(void **state)
{
    (void)state;
    struct item *items = NULL;
    size_t capacity = 0;
    struct vcm_error err = {0};

    assert_int_equal(vcm_array_reserve(&items, &capacity, 0, MAX, &err), VCM_OK);
    assert_null(items);
    assert_int_equal(vcm_array_reserve(&items, &capacity, 5000, MAX, &err), VCM_OK);
    assert_int_equal(capacity, 5000);
    memset(items, 1, 5000 * sizeof *items);
    assert_int_equal(vcm_array_reserve(&items, &capacity, 5001, MAX, &err), VCM_OK);
    assert_int_equal(capacity, 10000);
    free(items);
}

static void no_array_grows_beyond_its_maximum(void **state)
{
    (void)state;
    struct item *items = NULL;
    size_t capacity = 0;
    struct vcm_error err = {0};

    for (size_t i = 0; i < 100; i++)
        assert_int_equal(vcm_array_reserve(&items, &capacity, i + 1, 100, &err), VCM_OK);
    assert_int_equal(capacity, 100);
    struct item *before = items;
    assert_int_equal(vcm_array_reserve(&items, &capacity, 101, 100, &err), VCM_UNSUPPORTED);
    assert_non_null(strstr(err.message, "more than 100 entries"));
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, 100);
    free(items);

    items = NULL;
    capacity = 0;
    vcm_error_reset(&err);
    assert_int_equal(vcm_array_reserve(&items, &capacity, 1, 3, &err), VCM_OK);
    assert_int_equal(capacity, 3); /* less than an array begins with */
    free(items);
}

static void sizes_do_not_wrap(void **state)
{
    (void)state;
    struct item *items = NULL;
    size_t capacity = 0;
    struct vcm_arena arena;
    struct vcm_error err = {0};
    const size_t wraps = SIZE_MAX / sizeof *items + 2; /* times the size: a small number */

    vcm_arena_init(&arena, VCM_MIB);
    assert_int_equal(vcm_array_reserve(&items, &capacity, wraps, SIZE_MAX, &err), VCM_INTERNAL);
    vcm_error_reset(&err);
    assert_int_equal(vcm_array_reserve_in(&arena, &items, &capacity, wraps, SIZE_MAX, &err),
                     VCM_INTERNAL);
    assert_null(items);
    assert_int_equal(capacity, 0);
    /* Doubling does not wrap either: the capacity of a list that cannot be is enough for that. */
    capacity = SIZE_MAX - 1;
    vcm_error_reset(&err);
    assert_int_equal(vcm_array_reserve(&items, &capacity, SIZE_MAX, SIZE_MAX, &err), VCM_INTERNAL);
    assert_int_equal(capacity, SIZE_MAX - 1);
    vcm_arena_release(&arena);
}

static void without_memory_the_array_stays(void **state)
{
    (void)state;
    struct item *items = NULL;
    size_t capacity = 0;
    struct vcm_arena arena;
    struct vcm_error err = {0};

    vcm_arena_init(&arena, VCM_MIB);
    allocation_arm(1, 0);
    assert_int_equal(vcm_array_reserve(&items, &capacity, 1, MAX, &err), VCM_INTERNAL);
    assert_true(allocation_disarm());
    assert_null(items);
    assert_int_equal(capacity, 0);
    vcm_error_reset(&err);

    assert_int_equal(vcm_array_reserve(&items, &capacity, 1, MAX, &err), VCM_OK);
    items[0].number = 7;
    size_t before = capacity;
    allocation_arm(1, 0);
    assert_int_equal(vcm_array_reserve(&items, &capacity, before + 1, MAX, &err), VCM_INTERNAL);
    assert_true(allocation_disarm());
    assert_int_equal(capacity, before);
    assert_int_equal(items[0].number, 7);
    free(items);

    items = NULL;
    capacity = 0;
    vcm_error_reset(&err);
    assert_int_equal(vcm_array_reserve_in(&arena, &items, &capacity, 1, MAX, &err), VCM_OK);
    items[0].number = 8;
    assert_int_equal(vcm_array_reserve_in(&arena, &items, &capacity, MAX, MAX, &err), VCM_INTERNAL);
    assert_int_equal(items[0].number, 8); /* the arena has a maximum of its own */
    vcm_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_as_an_array_grows),
        cmocka_unit_test(arrays_of_an_arena_grow_alike),
        cmocka_unit_test(what_is_needed_is_there_at_once),
        cmocka_unit_test(no_array_grows_beyond_its_maximum),
        cmocka_unit_test(sizes_do_not_wrap),
        cmocka_unit_test(without_memory_the_array_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
