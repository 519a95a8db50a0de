/*
 * group.h - the pages that are loaded with one that had to be rebuilt: those that hold other parts
 * of its files. Private to vcm/.
 */
#ifndef VCM_VCM_RESIDENCY_GROUP_H
#define VCM_VCM_RESIDENCY_GROUP_H

#include "vcm/store/page_store.h"

#define VCM_GROUP_PAGES_MAX 64u

/* Calls `visit` for each evicted page of the group of `id`, without that one: first those behind it
 * in its table, then those before it; at most VCM_GROUP_PAGES_MAX. A page with parts of two files
 * may come twice. VCM_STOP from `visit` means "enough". */
typedef int (*vcm_group_fn)(void *context, const struct vcm_page_info *info, struct vcm_error *err);
int vcm_group_each(struct vcm_kv_txn *txn, const struct vcm_page_id *id, vcm_group_fn visit,
                   void *context, struct vcm_error *err);

#endif
