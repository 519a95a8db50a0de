#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/random.h"
#include "vcm/page/cluster.h"

#include "base/banned.h"

#define ITEMS_MAX 3000

struct item {
    struct vcm_cluster_weight weight;
    uint64_t strength;
};

struct sequence {
    struct vcm_cluster_weight bounds;
    struct item items[ITEMS_MAX];
    unsigned count;
    bool begins[ITEMS_MAX]; /* a group */
};

static bool fit(const struct vcm_cluster_weight *a, const struct vcm_cluster_weight *b,
                const struct vcm_cluster_weight *bounds)
{
    return a->tokens + b->tokens <= bounds->tokens && a->bytes + b->bytes <= bounds->bytes &&
           a->items + b->items <= bounds->items;
}

static void add(struct vcm_cluster_weight *sum, const struct vcm_cluster_weight *weight)
{
    sum->tokens += weight->tokens;
    sum->bytes += weight->bytes;
    sum->items += weight->items;
}

static void make_sequence(struct sequence *s, unsigned kinds, uint64_t *seed)
{
    unsigned tokens = 1 + test_random_below(seed, 1000);

    s->bounds = (struct vcm_cluster_weight){1000, 5000, 2 + test_random_below(seed, 60)};
    s->count = test_random_below(seed, ITEMS_MAX);
    for (unsigned i = 0; i < s->count; i++) {
        s->items[i].weight.tokens = 1 + test_random_below(seed, tokens);
        s->items[i].weight.bytes = test_random_below(seed, 400);
        s->items[i].weight.items = 1;
        s->items[i].strength = test_random_below(seed, kinds);
    }
}

static void cluster(struct sequence *s)
{
    struct vcm_cluster *cluster;
    unsigned taken = 0;
    uint64_t count;

    memset(s->begins, 0, sizeof s->begins);
    assert_int_equal(vcm_cluster_open(&cluster, &s->bounds, NULL), VCM_OK);
    for (unsigned i = 0; i <= s->count; i++) {
        if (i < s->count)
            assert_int_equal(
                vcm_cluster_add(cluster, &s->items[i].weight, s->items[i].strength, NULL), VCM_OK);
        else
            vcm_cluster_finish(cluster);
        for (; (count = vcm_cluster_take(cluster)) > 0; taken += (unsigned)count)
            s->begins[taken] = true;
        assert_true(taken <= i);
    }
    assert_int_equal(taken, s->count);
    vcm_cluster_close(cluster);
}

/* The rule as the header tells it: from the weakest gap to the strongest. */
static void cluster_plainly(struct sequence *s)
{
    static unsigned group[ITEMS_MAX], order[ITEMS_MAX];
    static struct vcm_cluster_weight weights[ITEMS_MAX];

    for (unsigned i = 0; i < s->count; i++) {
        group[i] = order[i] = i;
        weights[i] = s->items[i].weight;
        for (unsigned k = i; k > 0 && s->items[order[k - 1]].strength > s->items[i].strength; k--) {
            order[k] = order[k - 1];
            order[k - 1] = i;
        }
    }
    for (unsigned i = 0; i < s->count; i++) {
        unsigned gap = order[i];
        if (gap == 0 || !fit(&weights[group[gap - 1]], &weights[group[gap]], &s->bounds))
            continue;
        unsigned left = group[gap - 1], right = group[gap];
        add(&weights[left], &weights[right]);
        for (unsigned k = gap; k < s->count && group[k] == right; k++)
            group[k] = left;
    }
    for (unsigned i = 0; i < s->count; i++)
        s->begins[i] = group[i] == i;
}

static void groups_are_those_of_the_plain_rule(void **state)
{
    struct sequence *s = *state, *plain = calloc(1, sizeof *plain);
    uint64_t seed = 1611;

    assert_non_null(plain);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned trial = 0; trial < 300; trial++) {
        make_sequence(s, 1u << test_random_below(&seed, 30), &seed);
        if (trial % 3 > 0 && s->count > 200)
            s->count = 200;
        *plain = *s;
        cluster(s);
        cluster_plainly(plain);
        assert_memory_equal(s->begins, plain->begins, s->count * sizeof s->begins[0]);
    }
    free(plain);
}

static void groups_keep_the_bounds_and_no_two_neighbours_fit_together(void **state)
{
    struct sequence *s = *state;
    uint64_t seed = 7;

    for (unsigned trial = 0; trial < 50; trial++) {
        struct vcm_cluster_weight last = {UINT64_MAX / 2, 0, 0}, sum = {0};
        make_sequence(s, 1u << 30, &seed);
        cluster(s);
        for (unsigned i = 0; i < s->count; i++) {
            if (s->begins[i] && i > 0) {
                assert_false(fit(&last, &sum, &s->bounds));
                last = sum;
                memset(&sum, 0, sizeof sum);
            }
            add(&sum, &s->items[i].weight);
            assert_true(sum.items == 1 || fit(&sum, &(struct vcm_cluster_weight){0}, &s->bounds));
        }
    }
}

/* Strengths that fall for ever leave everything open, were it not for the bound on that. */
static void what_is_undecided_is_bounded(void **state)
{
    const struct vcm_cluster_weight bounds = {1000, 1000000, 1000000}, weight = {1, 1, 1};
    struct vcm_cluster *cluster;
    uint64_t count, taken = 0, most = 0;

    (void)state;
    assert_int_equal(vcm_cluster_open(&cluster, &bounds, NULL), VCM_OK);
    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(vcm_cluster_add(cluster, &weight, 1000000 - i, NULL), VCM_OK);
        while ((count = vcm_cluster_take(cluster)) > 0)
            taken += count;
        most = i - taken > most ? i - taken : most;
    }
    assert_true(most < 70000);
    vcm_cluster_close(cluster);
}

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct sequence));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

#define CLUSTER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(groups_are_those_of_the_plain_rule),
        CLUSTER_TEST(groups_keep_the_bounds_and_no_two_neighbours_fit_together),
        CLUSTER_TEST(what_is_undecided_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
