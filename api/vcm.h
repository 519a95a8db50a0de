/*
 * vcm.h - libvcm: pages of context from version-controlled sources.
 *
 * A handle stands for one home: a directory with a page store and its configuration. Opening it
 * touches nothing; the home is made by the first call that writes, and a missing one reads as an
 * empty store. A handle is used by one thread at a time; several handles, also of one home, may be
 * open in one process.
 * Functions return VCM_OK or a code and fill the caller's error, which may be NULL; it is zeroed,
 * or reset with vcm_error_reset(), before every call, for the first cause wins. Strings are UTF-8,
 * but for paths in the file system, which are bytes. A pointer that is NULL and may not be, text
 * that is no UTF-8, and a handle that is closed (as far as can be told) or of the process before a
 * fork() are INVALID_ARGUMENT; what is given back twice fails an assertion in debug builds.
 * Objects that a function hands out are freed with the function named beside it, by any thread;
 * strings inside them live as long as the object. Callbacks return VCM_OK to go on; anything else
 * ends the call, which returns it.
 *
 * The parts may be included one by one, too.
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

#endif
