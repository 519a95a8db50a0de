/*
 * repo_map_read.h - reads the text of a repository's map from a commit or from the working tree.
 *
 * A map is a regular file at VCM_REPO_MAP_PATH. INVALID_REPO_MAP for a directory, a symbolic link
 * anywhere in the path, and a file larger than VCM_LIMIT_YAML_BYTES.
 */
#ifndef VCM_REPOMAP_REPO_MAP_READ_H
#define VCM_REPOMAP_REPO_MAP_READ_H

#include "git/repo.h"

/* Appends the text; *found is false, and nothing is appended, when there is no such file. */
int vcm_repo_map_read_commit(struct vcm_buf *out, bool *found, struct vcm_git_repo *repo,
                             const struct vcm_git_id *commit, struct vcm_error *err);

/* The same from a directory on disk. */
int vcm_repo_map_read_directory(struct vcm_buf *out, bool *found, const char *root,
                                struct vcm_error *err);

#endif
