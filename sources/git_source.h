/*
 * git_source.h - the files of a commit as a source: `type: git_repo`.
 */
#ifndef VCM_SOURCES_GIT_SOURCE_H
#define VCM_SOURCES_GIT_SOURCE_H

#include "sources/registry.h"

extern const struct vcm_source_type vcm_git_source_type;

#endif
