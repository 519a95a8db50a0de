/*
 * plain_files.h - looks for named pipes and devices among the files of a repository, because
 * libgit2 and git open these files without a look at their type, and opening a named pipe waits for
 * a writer. Private to this folder.
 */
#ifndef VCM_GIT_PLAIN_FILES_H
#define VCM_GIT_PLAIN_FILES_H

#include "git/internal.h"

/* Looks at the git directory of the repository at or above `path`, before it is opened: its own
 * files, refs, logs, and the files that its configuration includes. VCM_OK when there is no
 * repository; UNSUPPORTED names the file that has to be removed. */
int vcm_git_plain_files_check(const char *path, struct vcm_error *err);

/* Looks at the object directories of the repository and of its alternates, before libgit2 reads
 * them. */
int vcm_git_plain_files_check_objects(git_repository *handle, struct vcm_error *err);

#endif
