/*
 * tree_name.h - which names git refuses in a tree.
 */
#ifndef VCM_GIT_TREE_NAME_H
#define VCM_GIT_TREE_NAME_H

#include <stdbool.h>

#include "base/buf.h"

/* Whether git would check the name out: it is not empty, ".", ".." or ".git" (in any case, nor what
 * HFS+ or NTFS take for it), and has no slash. */
bool vcm_git_tree_name_is_safe(struct vcm_slice name);

#endif
