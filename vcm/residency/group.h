/*
 * group.h - the group of a page: the pages that hold other parts of its files. The loader gathers
 * them together with a page that it had to rebuild. Private to vcm/.
 */
#ifndef VCM_VCM_RESIDENCY_GROUP_H
#define VCM_VCM_RESIDENCY_GROUP_H

#include "vcm/store/page_store.h"

#define VCM_GROUP_PAGES_MAX 64u

/* Calls `visit` for each evicted page of the group of `id`, except `id`: first those after it in
 * its table, then those before it; at most VCM_GROUP_PAGES_MAX. A page with parts of two files may
 * be visited twice. VCM_STOP from `visit` ends the walk with success. */
typedef int (*vcm_group_fn)(void *context, const struct vcm_page_info *info, struct vcm_error *err);
int vcm_group_each(struct vcm_kv_txn *txn, const struct vcm_page_id *id, vcm_group_fn visit,
                   void *context, struct vcm_error *err);

#endif
