#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/outcome.h"

#include "base/banned.h"

static const char *const words[] = {
#define OUTCOME_WORD(NAME, name, number, retried, meaning, remedy) #name,
#define REASON_WORD(OUTCOME, NAME, word, name, retried, remedy)    #word,
    VCM_OUTCOME_LIST(OUTCOME_WORD) VCM_REASON_LIST(REASON_WORD)};
#define WORDS (sizeof words / sizeof words[0])

/* docs/FORMAT.md: what stores that are out there have. */
static void outcomes_have_the_numbers_of_the_store(void **state)
{
    static const char *const stored[] = {"submodule", "symlink",     "excluded",
                                         "ignored",   "lfs_missing", "too_large",
                                         "failed",    "binary",      "paged"};

    (void)state;
    for (unsigned i = 0; i < sizeof stored / sizeof stored[0]; i++)
        assert_string_equal(vcm_outcome_name((enum vcm_source_outcome)i), stored[i]);
    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        assert_non_null(vcm_outcome_name((enum vcm_source_outcome)i)); /* no gap */
}

static void every_name_is_one_word_and_stands_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < WORDS; i++) {
        assert_int_equal(strspn(words[i], "abcdefghijklmnopqrstuvwxyz_"), strlen(words[i]));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(words[i], words[j]);
    }
}

static void a_reason_is_found_by_its_name_and_by_its_word(void **state)
{
    (void)state;
#define FOUND(OUTCOME, NAME, word, name, retried, remedy)                                          \
    assert_int_equal(vcm_outcome_reason_of(vcm_slice_of_string(name)), VCM_REASON_##NAME);         \
    assert_int_equal(vcm_outcome_reason_of(vcm_slice_of_string(#word)), VCM_REASON_##NAME);        \
    assert_string_equal(vcm_outcome_reason_name(VCM_REASON_##NAME), name);
    VCM_REASON_LIST(FOUND)
#undef FOUND
    assert_int_equal(vcm_outcome_reason_of(vcm_slice_of(NULL, 0)), VCM_REASON_NONE);
    assert_int_equal(vcm_outcome_reason_of(vcm_slice_of_string("of its own")), VCM_REASON_OTHER);
    assert_null(vcm_outcome_reason_name(VCM_REASON_NONE));
    assert_null(vcm_outcome_reason_name(VCM_REASON_OTHER));
}

static void what_can_become_readable_by_itself_is_retried(void **state)
{
    (void)state;
    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        assert_int_equal(vcm_outcome_is_retried((enum vcm_source_outcome)i),
                         i == VCM_SOURCE_LFS_MISSING || i == VCM_SOURCE_FAILED);
    assert_true(vcm_outcome_reason_is_retried(VCM_REASON_NONE));
    assert_true(vcm_outcome_reason_is_retried(VCM_REASON_OTHER));
    assert_true(vcm_outcome_reason_is_retried(VCM_REASON_OBJECT_MISSING));
    assert_true(vcm_outcome_reason_is_retried(VCM_REASON_NO_EXTRACTOR));
    assert_false(vcm_outcome_reason_is_retried(VCM_REASON_PATH_EXCEEDS_BUDGET));
    assert_false(vcm_outcome_reason_is_retried(VCM_REASON_CORRUPT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_have_the_numbers_of_the_store),
        cmocka_unit_test(every_name_is_one_word_and_stands_once),
        cmocka_unit_test(a_reason_is_found_by_its_name_and_by_its_word),
        cmocka_unit_test(what_can_become_readable_by_itself_is_retried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
