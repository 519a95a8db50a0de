#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "vcm/residency/frame_memo.h"

#include "base/banned.h"

#define PAGES 3000u

/* What places are in; nobody looks at the bytes. */
static char map[(size_t)4096 * PAGES];

static struct vcm_page_id page(unsigned number)
{
    struct vcm_page_id id = {{0}};

    for (unsigned i = 0; i < 4; i++)
        id.bytes[i] = (unsigned char)(number * 2654435761u >> 8 * i);
    memcpy(id.bytes + 8, &number, sizeof number);
    return id;
}

static struct vcm_slice frame(unsigned number)
{
    return vcm_slice_of(map + (size_t)4096 * number + 24, number + 1);
}

static bool knows(const struct vcm_frame_memo *memo, unsigned number)
{
    struct vcm_page_id id = page(number);
    struct vcm_slice found;

    if (!vcm_frame_memo_find(&found, memo, &id))
        return false;
    assert_ptr_equal(found.data, frame(number).data);
    assert_int_equal(found.len, frame(number).len);
    return true;
}

static void note(struct vcm_frame_memo *memo, uint64_t departures, uint64_t map_number,
                 unsigned number)
{
    struct vcm_page_id id = page(number);

    vcm_frame_memo_note(memo, departures, map_number, &id, frame(number));
}

static void places_are_kept_whichever_came_first(void **state)
{
    struct vcm_frame_memo memo = {0};

    (void)state;
    assert_false(knows(&memo, 0));
    for (unsigned i = 0; i < PAGES; i++) /* from the middle on: some lie before the first */
        note(&memo, 2, 1, (i + PAGES / 2) % PAGES);
    for (unsigned i = 0; i < PAGES; i++)
        assert_true(knows(&memo, i));
    vcm_frame_memo_release(&memo);
    assert_false(knows(&memo, 0));
    vcm_frame_memo_release(&memo);
}

static bool is_whole(const struct vcm_frame_memo *memo, uint64_t map_number, unsigned number)
{
    struct vcm_page_id id = page(number);

    return vcm_frame_memo_is_whole(memo, map_number, &id, frame(number));
}

static void places_are_relied_upon_until_a_departure(void **state)
{
    struct vcm_frame_memo memo = {0};

    (void)state;
    note(&memo, 2, 1, 5);
    note(&memo, 4, 1, 6);
    assert_false(knows(&memo, 5));
    assert_true(knows(&memo, 6));
    note(&memo, 2, 1, 8); /* and not again when the number comes back */
    assert_false(knows(&memo, 5));
    assert_false(knows(&memo, 6));
    assert_true(knows(&memo, 8));
    note(&memo, 2, 1, 5);
    assert_true(knows(&memo, 5));
    note(&memo, VCM_FRAME_MEMO_UNRELIABLE, 1, 9);
    note(&memo, 3, 1, 8); /* while frames are being freed */
    assert_false(knows(&memo, 9));
    assert_false(knows(&memo, 8));
    assert_true(knows(&memo, 5));
    vcm_frame_memo_release(&memo);
}

static void what_was_whole_at_a_place_stays_known(void **state)
{
    struct vcm_page_id id = page(5);
    struct vcm_frame_memo memo = {0};

    (void)state;
    assert_false(is_whole(&memo, 1, 5));
    note(&memo, VCM_FRAME_MEMO_UNRELIABLE, 1, 5);
    assert_false(knows(&memo, 5));
    assert_true(is_whole(&memo, 1, 5));
    note(&memo, 2, 1, 6);
    note(&memo, 4, 1, 7);
    for (unsigned i = 5; i < 8; i++)
        assert_true(is_whole(&memo, 1, i));
    assert_false(vcm_frame_memo_is_whole(&memo, 1, &id, frame(6)));
    assert_false(
        vcm_frame_memo_is_whole(&memo, 1, &id, vcm_slice_of(frame(5).data, frame(5).len + 1)));
    vcm_frame_memo_release(&memo);
}

static void everything_is_forgotten_with_another_map(void **state)
{
    struct vcm_frame_memo memo = {0};

    (void)state;
    note(&memo, 2, 1, 5);
    assert_false(is_whole(&memo, 2, 5));
    note(&memo, 2, 2, 6);
    assert_false(knows(&memo, 5));
    assert_true(knows(&memo, 6));
    assert_false(is_whole(&memo, 2, 5));
    note(&memo, VCM_FRAME_MEMO_UNRELIABLE, 3, 7);
    assert_false(knows(&memo, 6));
    assert_false(knows(&memo, 7));
    assert_true(is_whole(&memo, 3, 7));
    vcm_frame_memo_release(&memo);
}

static void epochs_that_are_used_up_begin_anew(void **state)
{
    struct vcm_frame_memo memo = {0};

    (void)state;
    note(&memo, 2, 1, 1);
    assert_int_equal(memo.epoch, 1);
    memo.epoch = UINT32_MAX;
    note(&memo, 2, 1, 2);
    assert_true(knows(&memo, 2));
    note(&memo, 4, 1, 3);
    assert_int_equal(memo.epoch, 1);
    assert_false(knows(&memo, 1));
    assert_false(knows(&memo, 2));
    assert_true(knows(&memo, 3));
    vcm_frame_memo_release(&memo);
}

static void ids_that_begin_alike_are_not_taken_for_each_other(void **state)
{
    struct vcm_page_id one = page(1), other = one;
    struct vcm_frame_memo memo = {0};
    struct vcm_slice found;

    (void)state;
    other.bytes[VCM_PAGE_ID_BYTES - 1] ^= 1;
    vcm_frame_memo_note(&memo, 2, 1, &one, frame(1));
    assert_false(vcm_frame_memo_find(&found, &memo, &other));
    for (unsigned i = 0; i < 20; i++) { /* more than there is room for under one beginning */
        other.bytes[VCM_PAGE_ID_BYTES - 1] = (unsigned char)i;
        vcm_frame_memo_note(&memo, 2, 1, &other, frame(100 + i));
        assert_true(vcm_frame_memo_find(&found, &memo, &other));
        assert_ptr_equal(found.data, frame(100 + i).data);
    }
    vcm_frame_memo_release(&memo);
}

static void what_does_not_fit_is_not_kept(void **state)
{
    struct vcm_page_id id = page(1);
    struct vcm_frame_memo memo = {0};
    struct vcm_slice found;

    (void)state;
    note(&memo, 2, 1, 2);
    vcm_frame_memo_note(&memo, 2, 1, &id, vcm_slice_of(frame(1).data, 2 * VCM_LIMIT_FRAME_BYTES));
    assert_false(vcm_frame_memo_find(&found, &memo, &id));
    vcm_frame_memo_note(&memo, 2, 1, &id, vcm_slice_of(frame(1).data + 8, 10));
    assert_false(vcm_frame_memo_find(&found, &memo, &id));
    assert_false(is_whole(&memo, 1, 1));
    vcm_frame_memo_note(&memo, 2, 1, &id, vcm_slice_of(frame(1).data, VCM_LIMIT_FRAME_BYTES));
    assert_true(vcm_frame_memo_find(&found, &memo, &id));
    assert_ptr_equal(found.data, frame(1).data);
    assert_int_equal(found.len, VCM_LIMIT_FRAME_BYTES);
    vcm_frame_memo_release(&memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_kept_whichever_came_first),
        cmocka_unit_test(places_are_relied_upon_until_a_departure),
        cmocka_unit_test(what_was_whole_at_a_place_stays_known),
        cmocka_unit_test(everything_is_forgotten_with_another_map),
        cmocka_unit_test(epochs_that_are_used_up_begin_anew),
        cmocka_unit_test(ids_that_begin_alike_are_not_taken_for_each_other),
        cmocka_unit_test(what_does_not_fit_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
