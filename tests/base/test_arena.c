#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/arena.h"

#include "base/banned.h"

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct vcm_arena arena;

    vcm_arena_init(&arena, 1 << 20);
    for (size_t size = 1; size < 200; size++) {
        unsigned char *memory = vcm_arena_alloc(&arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
    }
    vcm_arena_release(&arena);
}

static void pieces_of_any_size_do_not_overlap(void **state)
{
    (void)state;
    enum { PIECES = 300 };
    struct vcm_arena arena;
    unsigned char *pieces[PIECES];
    size_t sizes[PIECES];

    vcm_arena_init(&arena, 16 << 20);
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = i % 7 == 0 ? 5000 + 61 * i : 1 + i % 90;
        pieces[i] = vcm_arena_alloc(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        memset(pieces[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            if (pieces[i][k] != i % 251)
                fail_msg("piece %zu was overwritten", i);
    vcm_arena_release(&arena);
}

static void nothing_comes_beyond_the_maximum(void **state)
{
    (void)state;
    struct vcm_arena arena;

    vcm_arena_init(&arena, 1024);
    assert_null(vcm_arena_alloc(&arena, 1025));
    assert_null(vcm_arena_alloc(&arena, SIZE_MAX));
    assert_null(vcm_arena_alloc(&arena, SIZE_MAX - 40));
    assert_non_null(vcm_arena_alloc(&arena, 1000));
    assert_null(vcm_arena_alloc(&arena, 100));
    assert_non_null(vcm_arena_alloc(&arena, 16));
    assert_int_equal(arena.used, 1024);
    assert_null(vcm_arena_alloc(&arena, 1));
    vcm_arena_release(&arena);
}

static void a_released_arena_can_be_used_again(void **state)
{
    (void)state;
    struct vcm_arena arena;

    vcm_arena_init(&arena, 64);
    assert_non_null(vcm_arena_alloc(&arena, 64));
    vcm_arena_release(&arena);
    assert_int_equal(arena.used, 0);
    assert_non_null(vcm_arena_alloc(&arena, 64));
    vcm_arena_release(&arena);
    vcm_arena_release(&arena);
    vcm_arena_release(NULL);
}

static void a_copy_ends_with_a_nul(void **state)
{
    (void)state;
    struct vcm_arena arena;

    vcm_arena_init(&arena, 1024);
    assert_string_equal(vcm_arena_copy(&arena, vcm_slice_of("abcdef", 3)), "abc");
    assert_string_equal(vcm_arena_copy(&arena, vcm_slice_of(NULL, 0)), "");
    assert_memory_equal(vcm_arena_copy(&arena, vcm_slice_of("a\0b", 3)), "a\0b", 4);
    vcm_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(pieces_of_any_size_do_not_overlap),
        cmocka_unit_test(nothing_comes_beyond_the_maximum),
        cmocka_unit_test(a_released_arena_can_be_used_again),
        cmocka_unit_test(a_copy_ends_with_a_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
