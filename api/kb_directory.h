/*
 * kb_directory.h - the files beneath a directory on disk, for the knowledge base.
 *
 * Lists names only, in byte order; who reads the files decides what is a document. Symbolic links
 * are not followed, names that begin with a dot are passed over. Private to api/.
 */
#ifndef VCM_API_KB_DIRECTORY_H
#define VCM_API_KB_DIRECTORY_H

#include "api/public/kb.h"
#include "base/cancel.h"
#include "base/error.h"

/* A regular file, or a directory that cannot be opened. `place` is the directory from which its
 * repository is looked for: the nearest one with a `.git`, else the root. Both live until the
 * callback returns. */
typedef int (*vcm_kb_directory_fn)(void *context, const char *path, const char *place,
                                   struct vcm_error *err);

/* Visits the files beneath `root`, which is an absolute path without links, and adds what it passes
 * over to *passed. `entries` counts the entries of several walks together. VCM_UNSUPPORTED beyond
 * VCM_LIMIT_INGEST_ENTRIES or VCM_LIMIT_INGEST_DEPTH. */
int vcm_kb_directory_walk(struct vcm_kb_passed_over *passed, size_t *entries, const char *root,
                          const struct vcm_cancel *cancel, vcm_kb_directory_fn visit, void *context,
                          struct vcm_error *err);

#endif
