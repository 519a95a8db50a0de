/*
 * cluster.h - cuts a sequence of items into groups of bounded weight, by the strength of its gaps.
 *
 * From the weakest gap to the strongest, the groups on both sides of a gap become one if together
 * they keep the bounds. So two neighbouring groups never fit together, which keeps them full, and
 * what becomes of a gap depends on the items between the stronger gaps around it: the effect of an
 * edit ends at the first strong gap that decides as before. A rule that goes from left to right and
 * cuts within a window was tried: it moved half as many groups again, up to twenty in a row.
 *
 * Items come one by one and are decided as early as the rule allows; a few groups' worth of them
 * are undecided at a time. Of gaps of equal strength the left one is weaker.
 */
#ifndef VCM_VCM_PAGE_CLUSTER_H
#define VCM_VCM_PAGE_CLUSTER_H

#include <stdint.h>

#include "base/error.h"

/* Of an item or a group, and the bounds. */
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

/* `strength` is that of the gap before the item; it means nothing for the first one. */
int vcm_cluster_add(struct vcm_cluster *cluster, const struct vcm_cluster_weight *weight,
                    uint64_t strength, struct vcm_error *err);

/* No more items come. */
void vcm_cluster_finish(struct vcm_cluster *cluster);

/* How many items the next group has, if that is known, and takes it off; else 0. */
uint64_t vcm_cluster_take(struct vcm_cluster *cluster);

#endif
