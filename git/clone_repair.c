#include "git/clone_repair.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "git/internal.h"
#include "git/layout.h"

#include "base/banned.h"

#define SUSPECT   "vcm-suspect"
#define FILE_MODE 0600

static bool is_partial(struct vcm_git_repo *repo)
{
    struct vcm_buf promise = VCM_BUF_INIT(VCM_KIB);

    bool partial =
        vcm_git_layout_setting(&promise, repo, "remote." VCM_GIT_PLACE_REMOTE ".promisor", NULL) ==
            VCM_OK &&
        promise.len > 0;
    vcm_buf_release(&promise);
    return partial;
}

void vcm_git_clone_repair_suspect(struct vcm_git_repo *repo, int git_code)
{
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    if (!vcm_git_clone_place_is_ready(repo->root) ||
        (git_code == GIT_ENOTFOUND && is_partial(repo)))
        return;
    vcm_path_join(&name, repo->root, SUSPECT);
    int fd = open(vcm_buf_text(&name), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (fd >= 0)
        close(fd);
    vcm_buf_release(&name);
}

/* Whether git finds a fault in the clone; not when it had no time to look. */
static bool finds_fault(const struct vcm_git_fetch *fetch, const char *const *args)
{
    const struct vcm_git_runner runner = vcm_git_clone_fetch_runner(fetch);

    int rc = vcm_git_runner_run(NULL, NULL, &runner, args, NULL);
    return rc != VCM_OK && rc != VCM_TIMEOUT && rc != VCM_INTERRUPTED;
}

bool vcm_git_clone_repair_confirm(const struct vcm_git_fetch *fetch)
{
    static const char *const look[] = {"fsck", "--no-dangling", "--no-progress", NULL};
    struct vcm_buf name = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&name, fetch->place.path, SUSPECT);
    bool suspected = access(vcm_buf_text(&name), F_OK) == 0;
    bool damaged = suspected && finds_fault(fetch, look);
    if (suspected && !damaged)
        unlink(vcm_buf_text(&name));
    vcm_buf_release(&name);
    return damaged;
}

bool vcm_git_clone_repair_explains(const struct vcm_git_fetch *fetch, int code)
{
    static const char *const look[] = {"fsck", "--connectivity-only", "--no-dangling",
                                       "--no-progress", NULL};
    static const char *const glance[] = {"rev-parse", "--git-dir", NULL};

    if (fetch->place.is_new || code == VCM_INTERRUPTED)
        return false;
    if (!vcm_git_clone_refs_is_sound(fetch->repo))
        return true;
    if (code != VCM_IO_ERROR && code != VCM_NETWORK_ERROR)
        return false;
    /* A remote that did not even tell its refs is rarely our fault, and a look at everything is
     * slow.
     */
    return finds_fault(fetch, fetch->remote_answered ? look : glance);
}
