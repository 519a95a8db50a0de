/*
 * pack_guard.h - keeps libgit2 from deltas that it would follow for ever. Private to this folder.
 *
 * A backend that is asked before libgit2's packs and never has an object itself: it follows the
 * headers of the object (pack_entry.h) in every pack that has it, and refuses one whose deltas lead
 * nowhere. libgit2 asks it for every object that it reads, for whichever caller. Blobs that our own
 * reader reads from packs do not come here.
 */
#ifndef VCM_GIT_PACK_GUARD_H
#define VCM_GIT_PACK_GUARD_H

#include "git/internal.h"
#include "git/object_dirs.h"

/* The backend belongs to `odb`; `directories` must outlive it. */
int vcm_git_pack_guard_install(git_odb *odb, const struct vcm_git_object_dirs *directories,
                               struct vcm_error *err);

#endif
