/*
 * The reader of libgit2 1.5 loops for ever on an object whose stream is cut short. This backend is
 * asked before it, and after the packs: it reads every loose object, for every caller inside
 * libgit2, and accepts one only if its stream is complete and as long as its header says. libgit2
 * checks the bytes against the id, as for its own backends. Look-ups by a part of an id bypass it:
 * callers use git_odb_exists_prefix() first, then the whole id.
 */
#ifndef VCM_GIT_LOOSE_H
#define VCM_GIT_LOOSE_H

#include "git/internal.h"

/* For the objects of the repository and of its alternates. The backends belong to `odb`. The pack
 * indexes beside them are checked first (pack_index.h), because this is the one place that knows
 * every object directory. UNSUPPORTED when there are more alternates than VCM_LIMIT_ALTERNATES,
 * IO_ERROR for a damaged index. */
int vcm_git_loose_install(git_odb *odb, git_repository *handle, struct vcm_error *err);

#endif
