/*
 * ref_watch.h - wakes the caller when a repository's HEAD or refs may have moved.
 *
 * Watches the git directory, the one that working trees share, and everything below its refs. It
 * reports that something may have changed, never what: the caller then reads the repository again.
 * A watch beyond the system's limit is silently missing; callers check the repository periodically
 * anyway. One thread at a time.
 */
#ifndef VCM_GIT_REF_WATCH_H
#define VCM_GIT_REF_WATCH_H

#include "git/repo.h"

struct vcm_git_ref_watch;

int vcm_git_ref_watch_open(struct vcm_git_ref_watch **out, struct vcm_error *err);
void vcm_git_ref_watch_close(struct vcm_git_ref_watch *watch);

/* Watches this repository instead of the previous one from now on; NULL for none. Earlier events
 * are discarded, so the caller reads the repository after this call. */
int vcm_git_ref_watch_set(struct vcm_git_ref_watch *watch, struct vcm_git_repo *repo,
                          struct vcm_error *err);

/* Waits until something changed and *changed is true, or for `timeout_ms`. A signal ends the wait
 * early with *changed false. */
int vcm_git_ref_watch_wait(bool *changed, struct vcm_git_ref_watch *watch, unsigned timeout_ms,
                           struct vcm_error *err);

#endif
