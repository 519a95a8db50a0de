/*
 * template.h - the files that `vcm init` starts a repository with.
 */
#ifndef VCM_LFS_TEMPLATE_H
#define VCM_LFS_TEMPLATE_H

#include "base/buf.h"

#define VCM_TEMPLATE_REPO_MAP_PATH ".colony/repo_map.yaml"

/* One row over the whole tree; the rest are examples commented out with a single '#', valid without
 * it. */
extern const char vcm_template_repo_map[];

/* Patterns of formats that neither delta nor diff well, in groups, as .gitattributes lines. */
void vcm_template_attributes(struct vcm_buf *out);

/* "*.pdf" and so on, in the order of the file; ends with NULL. */
const char *vcm_template_pattern(size_t index);

#endif
