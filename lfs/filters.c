#include "lfs/filters.h"

#include <stdio.h>

#include "base/limits.h"

#include "base/banned.h"

#define OUTPUT_MAX (64 * VCM_KIB)

static const struct vcm_slice no_input = {NULL, 0};

int vcm_filters_probe(bool *found, const struct vcm_command *git, struct vcm_error *err)
{
    int status = -1;
    int rc = vcm_command_run(&status, NULL, NULL, git, VCM_COMMAND_ARGS("lfs", "version"), no_input,
                             err);
    *found = rc == VCM_OK && status == 0;
    return rc;
}

/* Hooks under core.hooksPath are shared with other repositories, or tracked in this one. */
static int has_hooks_path(bool *out, const struct vcm_command *git, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(OUTPUT_MAX);
    struct vcm_command plain = *git;
    bool found = false;

    plain.with_hooks_path = true;
    int rc = vcm_command_ask(&found, &path, &plain,
                             VCM_COMMAND_ARGS("config", "--get", "core.hooksPath"), err);
    *out = found && path.len > 0;
    vcm_buf_release(&path);
    return rc;
}

static int install(bool *done, const struct vcm_command *git, bool with_hooks,
                   struct vcm_error *err)
{
    struct vcm_command plain = *git;
    int status = -1;

    plain.with_hooks_path = true;
    int rc = vcm_command_run(
        &status, NULL, NULL, &plain,
        VCM_COMMAND_ARGS("lfs", "install", "--local", with_hooks ? NULL : "--skip-repo"), no_input,
        err);
    *done = rc == VCM_OK && status == 0;
    return rc;
}

/* The repository's own setting takes precedence over the manifest's: the user may have changed
 * it. */
static int set_url(struct vcm_wire *out, const struct vcm_command *git, const char *url,
                   struct vcm_error *err)
{
    struct vcm_buf present = VCM_BUF_INIT(OUTPUT_MAX);
    bool found = false;

    int rc = vcm_command_ask(&found, &present, git,
                             VCM_COMMAND_ARGS("config", "--local", "--get", "lfs.url"), err);
    if (rc == VCM_OK && !found)
        rc = vcm_command_read(NULL, git, VCM_COMMAND_ARGS("config", "--local", "lfs.url", url),
                              no_input, err);
    else if (rc == VCM_OK && strcmp(vcm_buf_text(&present), url) != 0)
        snprintf(out->warning, sizeof out->warning,
                 "lfs.url of this repository is not the manifest's separate_url and was left; "
                 "compare git config lfs.url with " VCM_MANIFEST_PATH);
    vcm_buf_release(&present);
    return rc;
}

int vcm_filters_install(struct vcm_wire *out, const struct vcm_command *git,
                        const struct vcm_manifest_lfs *lfs, struct vcm_error *err)
{
    bool foreign = false, done = false;

    *out = (struct vcm_wire){.is_wired = false};
    if (lfs->mode == VCM_MANIFEST_LFS_DISABLED)
        return VCM_OK;
    int rc = vcm_filters_probe(&out->has_git_lfs, git, err);
    if (rc == VCM_OK && !out->has_git_lfs) {
        snprintf(out->warning, sizeof out->warning,
                 "git-lfs is not installed, so that large files are not kept in LFS "
                 "yet; " VCM_WIRE_GET_GIT_LFS ", then run vcm init again");
        return VCM_OK;
    }
    if (rc == VCM_OK)
        rc = has_hooks_path(&foreign, git, err);
    if (rc == VCM_OK && !foreign)
        rc = install(&done, git, true, err);
    if (rc == VCM_OK && !done) {
        rc = install(&done, git, false, err);
        snprintf(out->warning, sizeof out->warning,
                 "the hooks of this repository are not git-lfs's and were left, so that git push "
                 "does not upload LFS content; see git lfs update --manual");
    }
    if (rc == VCM_OK && !done)
        snprintf(out->warning, sizeof out->warning,
                 "git lfs install --local failed; run it by hand to see why");
    if (rc == VCM_OK && done && lfs->mode == VCM_MANIFEST_LFS_SEPARATE)
        rc = set_url(out, git, lfs->separate_url, err);
    out->is_wired = rc == VCM_OK && done;
    return rc;
}
