/*
 * watcher.h - notices when a scope is mapped anew, by whomever, and tells subscribers of resources.
 *
 * A thread compares the list of scopes with the one before, twice a second, and only while somebody
 * is subscribed. The store itself says nothing to other processes when it changes.
 */
#ifndef VCM_SERVE_WATCHER_H
#define VCM_SERVE_WATCHER_H

#include "serve/mcp.h"

struct vcm_watcher;

/* `home` may be NULL for the default. */
int vcm_watcher_open(struct vcm_watcher **out, struct vcm_mcp *mcp, const char *home,
                     struct vcm_error *err);

/* Begins or stops watching. */
void vcm_watcher_set(struct vcm_watcher *watcher, bool is_watched);
void vcm_watcher_close(struct vcm_watcher *watcher);

#endif
