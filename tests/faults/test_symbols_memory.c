/*
 * The n-th allocation of indexing and mapping a repository's symbols, or of resolving references,
 * fails, tree-sitter's and LMDB's too. Linked with --wrap and a static LMDB; shared libraries
 * allocate undisturbed.
 */
#include "tests/symbols/index_fixture.h"

#include <limits.h>

#include "symbols/resolve.h"
#include "tests/faults/allocation.h"

#include "base/banned.h"

#define FILES 6u
#define STEPS 10u /* failures that are tried of each kind, spread over the run */

struct scene {
    struct test_repo repo;
    char *expected;
    int (*make)(char **text, const struct scene *scene, const char *directory);
};

static int show_reference(void *context, const struct vcm_resolved *found, struct vcm_error *err)
{
    vcm_buf_append_format(context, "%zu:%u %s %u\n", found->file, found->reference->line,
                          vcm_symbol_use_name(found->use), found->target ? found->target->line : 0);
    return vcm_buf_check(context, "the references", err);
}

static int list_references(char **text, const struct scene *scene, const char *directory)
{
    struct vcm_buf found = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_git_repo *git = NULL;
    struct vcm_index *index = NULL;
    struct vcm_error err = {0};

    *text = NULL;
    int rc = vcm_git_repo_open(&git, scene->repo.path, &err);
    if (rc == VCM_OK)
        rc = vcm_index_open(
            &index,
            &(struct vcm_index_request){
                .directory = directory, .repo = git, .subpath = "", .filter = "", .workers = 2},
            &err);
    if (rc == VCM_OK)
        rc = vcm_resolve_visit(index, &(struct vcm_resolve_query){.name = vcm_slice_of_string("A")},
                               show_reference, &found, &err);
    if (rc == VCM_OK && !(*text = strdup(vcm_buf_text(&found))))
        rc = vcm_error_memory(&err);
    vcm_index_close(index);
    vcm_git_repo_close(git);
    vcm_buf_release(&found);
    return rc;
}

static int make_map(char **text, const struct scene *scene, const char *directory)
{
    static const char *const mentions[] = {"cookie"};
    struct fixture_map map;
    struct vcm_error err = {0};

    int rc = fixture_make_map(&map, scene->repo.path,
                              &(struct fixture_request){.directory = directory,
                                                        .filter = "",
                                                        .mentions = mentions,
                                                        .mention_count = 1,
                                                        .budget = 400},
                              &err);
    *text = map.text;
    return rc;
}

/* Fails the n-th allocation; the answer is whole or a clean code, and the store is as good as new.
 */
static void fail_once(const struct scene *scene, unsigned long n, unsigned variant)
{
    struct test_repo store;
    char *text = NULL;

    test_repo_init_directory(&store);
    allocation_arm(n, variant);
    int rc = scene->make(&text, scene, store.path);
    allocation_disarm();
    if (rc == VCM_OK)
        assert_string_equal(text, scene->expected);
    else if (rc != VCM_INTERNAL)
        fail_msg("allocation %lu: code %d", n, rc);
    free(text);
    rc = scene->make(&text, scene, store.path);
    if (rc != VCM_OK)
        fail_msg("after allocation %lu: code %d", n, rc);
    assert_string_equal(text, scene->expected);
    free(text);
    test_repo_release(&store);
}

static void fail_all(struct scene *scene)
{
    struct test_repo store;
    struct vcm_git_repo *held = NULL;
    uint64_t seed = 4;

    test_repo_init(&scene->repo);
    for (unsigned i = 0; i < FILES; i++)
        fixture_write(&scene->repo, i, FILES, &seed);
    /* Of the grammars with scanners those whose queries are made quickly, which each run does. */
    test_repo_write_text(&scene->repo, "a.sh", "b() {\n  c <<E\nA\nE\n}\n");
    test_repo_write_text(&scene->repo, "a.lua", "local function b()\n  return c()\nend\n");
    test_repo_write_text(&scene->repo, "a.cpp", "class A : B { void c() override; };\nA d(A());\n");
    test_repo_write_text(&scene->repo, "d.py", "from e import A\nA()\ne.A()\n");
    test_repo_write_text(&scene->repo, "e.py", "class A:\n    pass\n");
    test_repo_commit(&scene->repo, "files");
    assert_int_equal(vcm_git_repo_open(&held, scene->repo.path, NULL), VCM_OK);
    test_repo_init_directory(&store);
    allocation_arm(ULONG_MAX, 0);
    int rc = scene->make(&scene->expected, scene, store.path);
    allocation_disarm();
    assert_int_equal(rc, VCM_OK);
    assert_true(strlen(scene->expected) > 0);
    unsigned long total = allocation_calls();
    unsigned long stride = getenv("VCM_TEST_LONG") ? 1 : 1 + total / STEPS;
    print_message("%lu allocations, every %luth fails\n", total, stride);
    for (unsigned long n = 1; n <= total; n += stride) {
        fail_once(scene, n, 0);
        fail_once(scene, n + stride / 2, 1);
    }
    free(scene->expected);
    vcm_git_repo_close(held);
    test_repo_release(&store);
    test_repo_release(&scene->repo);
}

static void symbols_survive_any_failed_allocation(void **state)
{
    struct scene scene = {.make = make_map};

    (void)state;
    fail_all(&scene);
}

static void references_survive_any_failed_allocation(void **state)
{
    struct scene scene = {.make = list_references};

    (void)state;
    fail_all(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_survive_any_failed_allocation),
        cmocka_unit_test(references_survive_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
