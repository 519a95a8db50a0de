#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "vcm/mapping/known_tree.h"

#include "base/banned.h"

static void add(struct vcm_known_tree *tree, const char *path)
{
    struct vcm_error err = {0};

    assert_int_equal(vcm_known_tree_add(tree, vcm_slice_of_string(path), &err), VCM_OK);
}

static void assert_range(const struct vcm_known_tree *tree, const char *directory, uint32_t first,
                         uint32_t end)
{
    struct vcm_known_range range;

    assert_true(vcm_known_tree_find(&range, tree, vcm_slice_of_string(directory)));
    assert_int_equal(range.first, first);
    assert_int_equal(range.end, end);
}

static void what_is_below_a_directory_is_found(void **state)
{
    static const char *const paths[] = {"a", "b/a", "b/b", "b/c/d", "b/c/d", "bc/x", "c/d/e/f"};
    struct vcm_known_tree tree;

    (void)state;
    vcm_known_tree_init(&tree);
    assert_range(&tree, "b", 0, 0);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        add(&tree, paths[i]);
    assert_range(&tree, "b", 1, 5);
    assert_range(&tree, "b/c", 3, 5);
    assert_range(&tree, "bc", 5, 6);
    assert_range(&tree, "c", 6, 7);
    assert_range(&tree, "c/d", 6, 7);
    assert_range(&tree, "c/d/e", 6, 7);
    assert_range(&tree, "b/a", 0, 0);
    assert_range(&tree, "nothing", 0, 0);
    vcm_known_tree_release(&tree);
}

static void a_directory_with_others_among_its_own_is_not_known(void **state)
{
    static const char *const paths[] = {"a/x/1", "a/y/2", "a/x/3", "b/4", "a/z/5"};
    struct vcm_known_range range;
    struct vcm_known_tree tree;

    (void)state;
    vcm_known_tree_init(&tree);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        add(&tree, paths[i]);
    assert_false(vcm_known_tree_find(&range, &tree, vcm_slice_of_string("a")));
    assert_false(vcm_known_tree_find(&range, &tree, vcm_slice_of_string("a/x")));
    assert_range(&tree, "a/y", 1, 2);
    assert_range(&tree, "b", 3, 4);
    assert_range(&tree, "a/z", 4, 5);
    vcm_known_tree_release(&tree);
}

static void many_directories_are_found(void **state)
{
    enum { DIRECTORIES = 3000 };
    static char paths[2 * DIRECTORIES][24];
    struct vcm_known_tree tree;

    (void)state;
    vcm_known_tree_init(&tree);
    for (unsigned i = 0; i < 2 * DIRECTORIES; i++) {
        snprintf(paths[i], sizeof paths[i], "top/%u/%c", i / 2, "xy"[i % 2]);
        add(&tree, paths[i]);
    }
    for (unsigned i = 0; i < DIRECTORIES; i++) {
        char name[24];
        snprintf(name, sizeof name, "top/%u", i);
        assert_range(&tree, name, 2 * i, 2 * i + 2);
    }
    assert_range(&tree, "top", 0, 2 * DIRECTORIES);
    vcm_known_tree_release(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_below_a_directory_is_found),
        cmocka_unit_test(a_directory_with_others_among_its_own_is_not_known),
        cmocka_unit_test(many_directories_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
