/*
 * <vcm/place.h> - what a call looks at: the files of a commit, of a working tree, or of mapped
 * pages.
 */
#ifndef VCM_PUBLIC_PLACE_H
#define VCM_PUBLIC_PLACE_H

#include <stdbool.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All zero means the repository around the current directory at HEAD or, where there is none, the
 * pages of all scopes. A repository's files are read from its git objects. Where these are not
 * here, the call answers from mapped pages of the same repository and commit, and a warning in the
 * log says so.
 *
 * A URL is read from its clone in the home as it was last fetched, and fetched first when there is
 * no clone, or the commit is not in it, and no scope has it.
 *
 * NOT_FOUND: no such repository, commit or scope. INVALID_ARGUMENT: two of `repo`, `scope` and
 * `all_scopes`, or `commit` and `worktree`, together, or a bare repository with `worktree`.
 */
struct vcm_place_query {
    const char *repo;   /* path of a repository, or of a directory in it; or its URL */
    const char *scope;  /* id, base or unique prefix: its mapped pages or, together with `commit` or
                           `worktree`, the repository that it was mapped from */
    const char *commit; /* id, prefix, tag, branch; NULL for HEAD */
    bool worktree;      /* HEAD with what is changed, staged, untracked and not ignored, deleted */
    bool all_scopes;    /* the pages of all scopes */
};

#ifdef __cplusplus
}
#endif

#endif
