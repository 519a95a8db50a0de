/*
 * <vcm/diff.h> - what changed between two commits: by file, by definition, by mapped page.
 */
#ifndef VCM_PUBLIC_DIFF_H
#define VCM_PUBLIC_DIFF_H

#include "api/public/repo.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_diff_query {
    const char *repo; /* path of a repository, or of a directory in it; or its URL; NULL: around the
                         current directory */
    const char *range; /* "A..B"; HEAD stands for an end that is left out, and "A" is "A..HEAD" */
    const char *by;    /* "files", "symbols" or "pages"; NULL: "symbols" */
};

/*
 * Passes on the changes as a JSON document, by path and line. By file: those that were added,
 * removed, changed, or renamed with the same content. By symbol: the definitions of these files,
 * and the file itself where no definition changed; a definition that is found elsewhere with the
 * same body is moved, or renamed when its name differs. By page: the pages of mapped scopes of the
 * repository whose text of a file is not that of B any more. NOT_FOUND: no such commit, or one that
 * is not here; INVALID_ARGUMENT.
 */
int vcm_diff(struct vcm *vcm, const struct vcm_diff_query *query, vcm_document_fn visit,
             void *context, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
