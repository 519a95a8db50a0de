#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repomap/repo_map_load.h"
#include "repomap/route.h"

#include "base/banned.h"

static const char yaml[] = "schema_version: 1\n"
                           "sources: []\n"
                           "knowledge_routing:\n"
                           "- {paths: ['docs/', '!*.c'], profile: manual}\n"
                           "- {paths: ['*.md'], profile: notes}\n"
                           "- {paths: ['docs/api/**'], ingest_to: vcm}\n"
                           "- {paths: ['*.pdf'], ingest_to: vcm}\n"
                           "- {paths: ['docs/api/'], ingest_to: knowledge_base}\n";

static struct vcm_repo_map map;

static int set_up(void **state)
{
    struct vcm_problem_list problems;

    (void)state;
    vcm_problem_list_init(&problems);
    int rc = vcm_repo_map_load(&map, &problems, vcm_slice_of_string(yaml), NULL, NULL);
    vcm_problem_list_release(&problems);
    return rc;
}

static int tear_down(void **state)
{
    (void)state;
    vcm_repo_map_release(&map);
    return 0;
}

static void check(const char *path, enum vcm_route_outcome outcome, unsigned route)
{
    struct vcm_route_decision decision;

    assert_int_equal(vcm_route_find(&decision, &map, vcm_slice_of_string(path), NULL), VCM_OK);
    assert_int_equal(decision.outcome, outcome);
    if (outcome != VCM_ROUTE_NONE)
        assert_int_equal(decision.route, route);
}

static void the_first_route_that_matches_gives_the_profile(void **state)
{
    (void)state;
    check("docs/a.md", VCM_ROUTE_INGESTED, 0);
    check("README.md", VCM_ROUTE_INGESTED, 1);
    check("src/main.c", VCM_ROUTE_NONE, 0);
}

static void promotion_wins_wherever_it_stands(void **state)
{
    (void)state;
    check("docs/api/a.md", VCM_ROUTE_PROMOTED, 2);
    check("docs/a.pdf", VCM_ROUTE_PROMOTED, 3);
    check("docs/api/a.pdf", VCM_ROUTE_PROMOTED, 2);
}

static void what_is_below_a_matched_directory_cannot_be_taken_back(void **state)
{
    (void)state;
    check("docs/x.c", VCM_ROUTE_INGESTED, 0);
}

static void verdicts_of_a_walk_decide_alike(void **state)
{
    const struct vcm_path_filter_verdict verdicts[] = {
        {6, VCM_PATH_TAKEN},    /* a row */
        {7, VCM_PATH_EXCLUDED}, /* route 0 */
        {8, VCM_PATH_TAKEN},    /* route 1 */
        {11, VCM_PATH_TAKEN},   /* route 4 */
        {12, VCM_PATH_TAKEN},   /* something else */
    };
    struct vcm_route_decision decision = vcm_route_decide(&map, 7, verdicts, 5);

    (void)state;
    assert_int_equal(decision.outcome, VCM_ROUTE_INGESTED);
    assert_int_equal(decision.route, 1);
    decision = vcm_route_decide(&map, 7, verdicts, 2);
    assert_int_equal(decision.outcome, VCM_ROUTE_NONE);
    decision = vcm_route_decide(&map, 6, verdicts, 5);
    assert_int_equal(decision.outcome, VCM_ROUTE_PROMOTED);
    assert_int_equal(decision.route, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_route_that_matches_gives_the_profile),
        cmocka_unit_test(promotion_wins_wherever_it_stands),
        cmocka_unit_test(what_is_below_a_matched_directory_cannot_be_taken_back),
        cmocka_unit_test(verdicts_of_a_walk_decide_alike),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
