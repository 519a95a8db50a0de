/*
 * scaffold.h - checks which of the three files exist, and prepares the content of the missing ones.
 * Writes nothing.
 */
#ifndef VCM_LFS_SCAFFOLD_H
#define VCM_LFS_SCAFFOLD_H

#include "lfs/attributes.h"
#include "lfs/bootstrap.h"
#include "lfs/manifest.h"

struct vcm_scaffold {
    struct vcm_manifest manifest; /* as it will be */
    struct vcm_buf manifest_text, manifest_before, attributes_text;
    struct vcm_commit_file files[VCM_BOOTSTRAP_FILES_MAX]; /* to write, sorted by bytes */
    size_t file_count;
    struct vcm_attributes_pattern *patterns; /* of .gitattributes after the run */
};

/* What is known of the repository when its manifest is created. */
struct vcm_scaffold_facts {
    const char *origin_url; /* without credentials; "" for none */
    const char *branch;     /* "" when HEAD is detached */
};

void vcm_scaffold_init(struct vcm_scaffold *scaffold);
void vcm_scaffold_release(struct vcm_scaffold *scaffold);

/* INVALID_ARGUMENT for a .colony that is no directory, a file of ours that is a link or a folder, a
 * manifest that is invalid, or one that must be edited and has changes. Warnings go to `bootstrap`,
 * whose root is set. */
int vcm_scaffold_plan(struct vcm_scaffold *scaffold, struct vcm_bootstrap *bootstrap,
                      const struct vcm_command *git, const struct vcm_scaffold_facts *facts,
                      const struct vcm_bootstrap_options *options, struct vcm_error *err);

#endif
