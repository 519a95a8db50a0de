/*
 * damage.h - a damaged store. The process that detects damage marks the store; the next map sets it
 * aside and maps its scopes again (contract 5.5).
 *
 * The marker is a file beside the store that holds the reason. A store is set aside under the
 * writers' lock; all open handles go on with the new one. The data file that was set aside is kept,
 * for inspection, until the next one is.
 */
#ifndef VCM_API_DAMAGE_H
#define VCM_API_DAMAGE_H

#include <stdbool.h>

#include <sys/types.h>
#include <time.h>

#include "api/handle.h"

/* Marks the store when `rc` says that it is damaged. Returns `rc`, which goes to a user of the
 * library: asserts that it is not a private code. */
int vcm_damage_note(struct vcm *vcm, int rc, const struct vcm_error *err);

/* Marks the store unconditionally. */
int vcm_damage_mark(const char *home, const char *reason, struct vcm_error *err);

bool vcm_damage_is_marked(const char *home);

/* Identifies a mark, so that a later one is not taken for it. */
struct vcm_damage_seen {
    bool is_marked;
    ino_t number;
    struct timespec changed;
};

void vcm_damage_look(struct vcm_damage_seen *out, const char *home);

/* Removes the mark that was seen, after all of the store was found sound. A mark that was made
 * since stays. */
void vcm_damage_lift(struct vcm *vcm, const struct vcm_damage_seen *seen);

/*
 * For calls that write, before they open the store: checks it in a child process if a process
 * died while it had the store open, because a damaged file may crash the process that reads it.
 * STORE_CORRUPT, with the remedy, when it is damaged; then it is marked.
 */
int vcm_verify_after_death(struct vcm *vcm, struct vcm_error *err);

/* The same for the stored symbols, which are removed when they are damaged. */
int vcm_verify_symbols(struct vcm *vcm, struct vcm_error *err);

/* The same, whether a process died or not. */
int vcm_verify_first(struct vcm *vcm, struct vcm_error *err);

/* Sets a marked store aside and removes the mark; *done is false when there was no mark. The caller
 * has closed the store of its handle. */
int vcm_damage_set_aside(bool *done, struct vcm *vcm, struct vcm_error *err);

#endif
