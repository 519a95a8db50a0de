/*
 * here.h - the scopes of one repository: what a call looks at when it names none.
 *
 * A scope belongs to a repository that it was mapped from, or to a clone of it. If none is mapped
 * from the repository, or there is no repository, all scopes are looked at.
 */
#ifndef VCM_API_HERE_H
#define VCM_API_HERE_H

#include "api/handle.h"
#include "vcm/store/page_store.h"

struct vcm_here {
    bool is_bound; /* to one repository */
    char *root;
    struct vcm_buf origin;
};

/* `path` is at or below the repository; NULL for none. Release it after a failure, too. */
int vcm_here_find(struct vcm_here *here, struct vcm_kv_txn *txn, const char *path,
                  struct vcm_error *err);
void vcm_here_release(struct vcm_here *here);

bool vcm_here_takes(const struct vcm_here *here, const struct vcm_scope *scope);

#endif
