/*
 * vcm.h - libvcm: pages of context from version-controlled sources.
 *
 * Caveats first. A handle is used by one thread at a time (vcm_fault() of a handle with fault
 * workers is the exception) and never by a child after fork(). The error that a call gets must be
 * zeroed, or reset with vcm_error_reset(), because the first cause is kept. Strings are UTF-8;
 * paths in the file system are bytes. What a callback is given lives until the callback returns,
 * unless the type says otherwise.
 *
 * A handle stands for one home: a directory with a page store and its configuration. Opening a
 * handle touches nothing. The first call that writes creates the home; a missing home reads as an
 * empty store. A process may have several handles, also of one home.
 *
 * Functions return VCM_OK or a code and fill in the caller's error, which may be NULL.
 * INVALID_ARGUMENT: a pointer that must not be NULL is, a text is not UTF-8, or the handle is
 * closed (as far as that can be detected) or belongs to the process before a fork(). Releasing an
 * object twice fails an assertion in debug builds.
 *
 * An object that a function returns is freed by the function named beside it, from any thread;
 * strings inside it live as long as the object. A callback returns VCM_OK to continue; anything
 * else ends the call, which returns it.
 *
 * A program may include the parts one by one.
 */
#ifndef VCM_VCM_H
#define VCM_VCM_H

#include "api/public/handle.h"
#include "api/public/source.h"
#include "api/public/map.h"
#include "api/public/repo_map.h"
#include "api/public/init.h"
#include "api/public/lfs.h"
#include "api/public/scopes.h"
#include "api/public/pages.h"
#include "api/public/residency.h"
#include "api/public/tokens.h"
#include "api/public/kb.h"
#include "api/public/store.h"
#include "api/public/config.h"
#include "api/public/repo.h"
#include "api/public/grep.h"
#include "api/public/place.h"
#include "api/public/read.h"
#include "api/public/outline.h"
#include "api/public/diff.h"

#endif
