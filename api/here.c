#include "api/here.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "git/repo.h"

#include "base/banned.h"

static bool is_from(const struct vcm_here *here, const struct vcm_scope *scope)
{
    return vcm_slice_equal(scope->repo_root, vcm_slice_of_string(here->root)) ||
           (here->origin.len > 0 && vcm_slice_equal(scope->origin, vcm_buf_slice(&here->origin)));
}

static int see_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct vcm_here *here = context;

    (void)err;
    here->is_bound = here->is_bound || is_from(here, scope);
    return here->is_bound ? VCM_STOP : VCM_OK;
}

int vcm_here_find(struct vcm_here *here, struct vcm_kv_txn *txn, const char *path,
                  struct vcm_error *err)
{
    struct vcm_git_repo *repo = NULL;
    struct vcm_error ignored = {0};

    *here = (struct vcm_here){.is_bound = false};
    vcm_buf_init(&here->origin, VCM_LIMIT_URL_BYTES);
    if (!path || vcm_git_repo_open(&repo, path, &ignored) != VCM_OK)
        return VCM_OK;
    int rc = vcm_git_repo_origin(&here->origin, repo, err);
    here->root = strdup(vcm_git_repo_root(repo));
    if (rc == VCM_OK && !here->root)
        rc = vcm_error_memory(err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(txn, vcm_slice_of("", 0), see_scope, here, err);
    vcm_git_repo_close(repo);
    return rc == VCM_STOP ? VCM_OK : rc;
}

void vcm_here_release(struct vcm_here *here)
{
    free(here->root);
    vcm_buf_release(&here->origin);
    *here = (struct vcm_here){.is_bound = false};
}

bool vcm_here_takes(const struct vcm_here *here, const struct vcm_scope *scope)
{
    return !here->is_bound || is_from(here, scope);
}
