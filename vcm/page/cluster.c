#include "vcm/page/cluster.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#include "base/banned.h"

/* The number of items between two attempts to decide gaps. */
#define SETTLE_ITEMS 16
/* When items with the weight of this many groups are undecided, the open gaps are decided as if no
 * more items followed. Few sequences reach this, by chance or by intent. */
#define UNDECIDED_GROUPS 16
#define UNDECIDED_ITEMS  (1u << 16)

/* The groups between two gaps. Only the first and the last may still grow, so only they are kept.
 */
struct run {
    struct vcm_cluster_weight first;
    struct vcm_cluster_weight last;
    uint64_t last_begin; /* the number of the last group's first item */
    bool single;         /* there is one group: the first is the last */
};

/* An open gap: all weaker gaps to its left are decided, and `left` has the groups between it and
 * the stronger gap before it. The strengths of the levels on the stack decrease. */
struct level {
    uint64_t strength;
    uint64_t gap; /* the number of the item after it */
    struct run left;
    bool cut; /* decided not to be joined: the groups beside it will not shrink */
};

struct vcm_cluster {
    struct vcm_cluster_weight bounds;
    struct level *levels;
    size_t depth;
    size_t level_capacity;
    struct run current; /* after the last level */
    bool *joined;       /* for the gap before each item from number `begin` on */
    size_t joined_capacity;
    uint64_t begin; /* number of the first item that was not taken */
    uint64_t end;   /* number of the next item */
    uint64_t ready; /* all gaps before this item are decided, and it begins a group */
    struct vcm_cluster_weight undecided; /* of the items since the last decision */
    unsigned since_settled;
};

int vcm_cluster_open(struct vcm_cluster **out, const struct vcm_cluster_weight *bounds,
                     struct vcm_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return vcm_error_memory(err);
    vcm_cluster_restart(*out, bounds);
    return VCM_OK;
}

void vcm_cluster_close(struct vcm_cluster *cluster)
{
    if (!cluster)
        return;
    free(cluster->levels);
    free(cluster->joined);
    free(cluster);
}

void vcm_cluster_restart(struct vcm_cluster *cluster, const struct vcm_cluster_weight *bounds)
{
    cluster->bounds = *bounds;
    cluster->depth = 0;
    cluster->begin = cluster->end = cluster->ready = 0;
    memset(&cluster->undecided, 0, sizeof cluster->undecided);
    cluster->since_settled = 0;
}

static struct vcm_cluster_weight sum(const struct vcm_cluster_weight *a,
                                     const struct vcm_cluster_weight *b)
{
    return (struct vcm_cluster_weight){a->tokens + b->tokens, a->bytes + b->bytes,
                                       a->items + b->items};
}

static bool fit(const struct vcm_cluster *cluster, const struct run *left, const struct run *right)
{
    struct vcm_cluster_weight both = sum(&left->last, &right->first);
    const struct vcm_cluster_weight *bounds = &cluster->bounds;

    return both.tokens <= bounds->tokens && both.bytes <= bounds->bytes &&
           both.items <= bounds->items;
}

/* Adds the groups of `left` before those of `right`, and joins the two groups at the gap if they
 * fit.
 */
static void join(struct vcm_cluster *cluster, const struct level *level, struct run *right)
{
    const struct run *left = &level->left;

    assert(level->gap > cluster->begin && level->gap < cluster->end);
    if (!fit(cluster, left, right)) {
        right->first = left->first;
        right->single = false;
        return;
    }
    struct vcm_cluster_weight both = sum(&left->last, &right->first);
    cluster->joined[level->gap - cluster->begin] = true;
    right->last = right->single ? both : right->last;
    right->last_begin = right->single ? left->last_begin : right->last_begin;
    right->first = left->single ? both : left->first;
    right->single = right->single && left->single;
}

static struct run *behind(struct vcm_cluster *cluster, size_t level)
{
    return level + 1 < cluster->depth ? &cluster->levels[level + 1].left : &cluster->current;
}

static void remove_level(struct vcm_cluster *cluster, size_t level)
{
    cluster->depth--;
    memmove(&cluster->levels[level], &cluster->levels[level + 1],
            (cluster->depth - level) * sizeof *cluster->levels);
}

/* All groups of the lowest run but the last are final, since no gap before them is open. */
static void advance(struct vcm_cluster *cluster)
{
    struct run *lowest = cluster->depth > 0 ? &cluster->levels[0].left : &cluster->current;

    while (cluster->depth > 0 && cluster->levels[0].cut) {
        cluster->ready = cluster->levels[0].gap;
        remove_level(cluster, 0);
        lowest = cluster->depth > 0 ? &cluster->levels[0].left : &cluster->current;
        memset(&cluster->undecided, 0, sizeof cluster->undecided);
    }
    if (!lowest->single) {
        cluster->ready = lowest->last_begin;
        lowest->first = lowest->last;
        lowest->single = true;
        memset(&cluster->undecided, 0, sizeof cluster->undecided);
    }
}

/* Decides what later items cannot change: groups only grow, so those that do not fit together never
 * will, and a group that cannot grow any more is as it is. */
static void settle(struct vcm_cluster *cluster)
{
    cluster->since_settled = 0;
    for (size_t k = cluster->depth; k-- > 0;) {
        struct level *level = &cluster->levels[k];
        struct run *right = behind(cluster, k);
        if (!fit(cluster, &level->left, right)) {
            level->cut = true;
        } else if (!right->single || (k + 1 < cluster->depth && cluster->levels[k + 1].cut)) {
            join(cluster, level, right);
            remove_level(cluster, k);
        }
    }
    advance(cluster);
}

static int make_room(struct vcm_cluster *cluster, struct vcm_error *err)
{
    uint64_t items = cluster->end - cluster->begin;

    int rc = vcm_array_reserve(&cluster->joined, &cluster->joined_capacity, items + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        rc = vcm_array_reserve(&cluster->levels, &cluster->level_capacity, cluster->depth + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    return rc;
}

static void collapse(struct vcm_cluster *cluster)
{
    join(cluster, &cluster->levels[cluster->depth - 1], &cluster->current);
    cluster->depth--;
}

static bool is_too_much(const struct vcm_cluster *cluster)
{
    const struct vcm_cluster_weight *held = &cluster->undecided, *bounds = &cluster->bounds;

    return held->items > UNDECIDED_ITEMS || held->tokens / UNDECIDED_GROUPS > bounds->tokens ||
           held->bytes / UNDECIDED_GROUPS > bounds->bytes;
}

int vcm_cluster_add(struct vcm_cluster *cluster, const struct vcm_cluster_weight *weight,
                    uint64_t strength, struct vcm_error *err)
{
    int rc = make_room(cluster, err);
    if (rc != VCM_OK)
        return rc;
    cluster->joined[cluster->end - cluster->begin] = false;
    if (cluster->end > 0) {
        while (cluster->depth > 0 && cluster->levels[cluster->depth - 1].strength <= strength)
            collapse(cluster);
        assert(cluster->depth == 0 || cluster->levels[cluster->depth - 1].strength > strength);
        cluster->levels[cluster->depth++] =
            (struct level){.strength = strength, .gap = cluster->end, .left = cluster->current};
    }
    cluster->current =
        (struct run){.first = *weight, .last = *weight, .last_begin = cluster->end, .single = true};
    cluster->end++;
    cluster->undecided = sum(&cluster->undecided, weight);
    if (++cluster->since_settled >= SETTLE_ITEMS || is_too_much(cluster))
        settle(cluster);
    if (is_too_much(cluster)) {
        while (cluster->depth > 0)
            collapse(cluster);
        advance(cluster);
    }
    return VCM_OK;
}

void vcm_cluster_finish(struct vcm_cluster *cluster)
{
    while (cluster->depth > 0)
        collapse(cluster);
    assert(cluster->ready <= cluster->end);
    cluster->ready = cluster->end;
}

uint64_t vcm_cluster_take(struct vcm_cluster *cluster)
{
    uint64_t count = 1, held = cluster->end - cluster->begin;

    if (cluster->begin == cluster->ready)
        return 0;
    assert(cluster->begin < cluster->ready && cluster->ready <= cluster->end);
    while (cluster->begin + count < cluster->ready && cluster->joined[count])
        count++;
    memmove(cluster->joined, cluster->joined + count, (held - count) * sizeof *cluster->joined);
    cluster->begin += count;
    return count;
}
