#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "git/base_cache.h"

#include "base/banned.h"

#define PIECE (VCM_LIMIT_BASE_CACHE_BYTES / 8)

static void put(struct vcm_git_base_cache *cache, unsigned pack, uint64_t offset, size_t len)
{
    char *data = malloc(len);

    assert_non_null(data);
    memset(data, (int)offset, len);
    vcm_git_base_cache_put(cache, pack, offset, data, len);
}

static bool holds(struct vcm_git_base_cache *cache, unsigned pack, uint64_t offset)
{
    struct vcm_slice found = vcm_git_base_cache_get(cache, pack, offset);

    assert_true(!found.data || (found.len > 0 && found.data[0] == (char)offset));
    return found.data != NULL;
}

static void objects_are_told_apart_by_pack_and_offset(void **state)
{
    struct vcm_git_base_cache *cache = vcm_git_base_cache_open();

    (void)state;
    for (uint64_t i = 0; i < 5000; i++)
        put(cache, i % 2, 100 + i, 10);
    for (uint64_t i = 0; i < 5000; i++) {
        assert_true(holds(cache, i % 2, 100 + i));
        assert_false(holds(cache, (i + 1) % 2, 100 + i));
    }
    vcm_git_base_cache_close(cache);
}

static void what_was_not_used_for_longest_goes(void **state)
{
    struct vcm_git_base_cache *cache = vcm_git_base_cache_open();

    (void)state;
    for (uint64_t i = 1; i <= 7; i++)
        put(cache, 0, i, PIECE);
    assert_true(holds(cache, 0, 1));
    put(cache, 0, 8, PIECE);
    assert_false(holds(cache, 0, 2));
    assert_true(holds(cache, 0, 1));
    assert_true(holds(cache, 0, 3));
    assert_true(holds(cache, 0, 8));
    vcm_git_base_cache_close(cache);
}

static void what_is_longer_than_half_is_not_kept(void **state)
{
    struct vcm_git_base_cache *cache = vcm_git_base_cache_open();

    (void)state;
    put(cache, 0, 1, PIECE);
    put(cache, 0, 2, 4 * PIECE);
    assert_true(holds(cache, 0, 1));
    assert_false(holds(cache, 0, 2));
    vcm_git_base_cache_close(cache);
}

static void caches_share_one_bound(void **state)
{
    struct vcm_git_base_cache *one = vcm_git_base_cache_open();
    struct vcm_git_base_cache *two = vcm_git_base_cache_open();
    unsigned kept = 0;

    (void)state;
    for (uint64_t i = 1; i <= 8; i++) {
        put(one, 0, i, PIECE);
        put(two, 0, i, PIECE);
    }
    for (uint64_t i = 1; i <= 8; i++)
        kept += (unsigned)holds(one, 0, i) + (unsigned)holds(two, 0, i);
    assert_in_range(kept, 4, 8);
    vcm_git_base_cache_close(one);
    vcm_git_base_cache_close(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_told_apart_by_pack_and_offset),
        cmocka_unit_test(what_was_not_used_for_longest_goes),
        cmocka_unit_test(what_is_longer_than_half_is_not_kept),
        cmocka_unit_test(caches_share_one_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
