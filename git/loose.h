/*
 * loose.h - loose objects, read here and not by libgit2. loose.c is the owner of zlib.
 *
 * The reader of libgit2 1.5 does not end on an object whose stream is cut short. This one stands
 * before it in the object database, behind the packs: it answers for every loose object, whichever
 * way libgit2 comes to want it, and takes one only if its stream is whole and as long as its header
 * says. That the bytes belong to the id is checked by libgit2, as for its own readers.
 * Look-ups by a part of an id go past it: git_odb_exists_prefix() first, then by the whole id.
 */
#ifndef VCM_GIT_LOOSE_H
#define VCM_GIT_LOOSE_H

#include "git/internal.h"

/* For the objects of the repository and of its alternates. What is added belongs to `odb`.
 * The indexes of the packs beside them are checked first (pack_index.h): this is the one place that
 * knows every object directory. UNSUPPORTED when there are more alternates than
 * VCM_LIMIT_ALTERNATES, IO_ERROR for a damaged index. */
int vcm_git_loose_install(git_odb *odb, git_repository *handle, struct vcm_error *err);

#endif
