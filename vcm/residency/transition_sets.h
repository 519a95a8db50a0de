/*
 * transition_sets.h - the eviction sets as a write transaction uses them: found in the shared file,
 * rebuilt from the tables when they do not agree with them, grown when they are full. Private to
 * vcm/.
 */
#ifndef VCM_VCM_RESIDENCY_TRANSITION_SETS_H
#define VCM_VCM_RESIDENCY_TRANSITION_SETS_H

#include "vcm/residency/transition.h"

enum vcm_transition_set { VCM_SET_RESIDENT, VCM_SET_COMPRESSED };

/* Sets t->sets and t->sets_usable. `rebuild`: the sets in the file must not be used. */
int vcm_transition_sets_open(struct vcm_transition *t, bool rebuild, struct vcm_error *err);

void vcm_transition_sets_insert(struct vcm_transition *t, enum vcm_transition_set which,
                                const struct vcm_page_info *info, enum vcm_evict_place place);
void vcm_transition_sets_remove(struct vcm_transition *t, enum vcm_transition_set which,
                                const struct vcm_page_info *info);

/* The first 8 bytes of the id, which name the page in a set. */
uint64_t vcm_transition_sets_tag(const struct vcm_page_id *id);

#endif
