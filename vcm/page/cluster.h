/*
 * cluster.h - cuts a sequence of items into groups of bounded weight, by the strength of its gaps.
 *
 * From the weakest gap to the strongest, the groups on both sides of a gap are joined if together
 * they are within the bounds. So two neighbouring groups never fit into one, which keeps groups
 * full, and the decision about a gap depends only on the items between the stronger gaps around it:
 * the effect of an edit ends at the first strong gap with the same decision as before. A rule that
 * goes from left to right and cuts within a window was tried and dropped: it moved half as many
 * groups again, up to twenty in a row.
 *
 * Items are added one by one, and gaps are decided as early as the rule allows; the items of a few
 * groups are undecided at a time. Of gaps of equal strength the left one is weaker.
 */
#ifndef VCM_VCM_PAGE_CLUSTER_H
#define VCM_VCM_PAGE_CLUSTER_H

#include <stdint.h>

#include "base/error.h"

/* The weight of an item or a group, or the bounds of a group. */
struct vcm_cluster_weight {
    uint64_t tokens;
    uint64_t bytes;
    uint64_t items;
};

struct vcm_cluster;

/* A group of one item may exceed the bounds. */
int vcm_cluster_open(struct vcm_cluster **out, const struct vcm_cluster_weight *bounds,
                     struct vcm_error *err);
void vcm_cluster_close(struct vcm_cluster *cluster);

/* Forgets everything, for a new sequence with other bounds. */
void vcm_cluster_restart(struct vcm_cluster *cluster, const struct vcm_cluster_weight *bounds);

/* `strength` is that of the gap before the item; it is ignored for the first item. */
int vcm_cluster_add(struct vcm_cluster *cluster, const struct vcm_cluster_weight *weight,
                    uint64_t strength, struct vcm_error *err);

/* Decides all gaps: no more items follow. */
void vcm_cluster_finish(struct vcm_cluster *cluster);

/* Removes the next group and returns its number of items; 0 if the group is not decided yet. */
uint64_t vcm_cluster_take(struct vcm_cluster *cluster);

#endif
