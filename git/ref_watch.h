/*
 * ref_watch.h - wakes up when a repository's HEAD or refs may have moved.
 *
 * Watches the git directory, the one that working trees share, and everything below its refs. It
 * tells that something may have changed, never what: whoever is woken looks at the repository
 * again. A watch that the machine has no room for is missing silently; callers look again from
 * time to time anyway. One thread at a time.
 */
#ifndef VCM_GIT_REF_WATCH_H
#define VCM_GIT_REF_WATCH_H

#include "git/repo.h"

struct vcm_git_ref_watch;

int vcm_git_ref_watch_open(struct vcm_git_ref_watch **out, struct vcm_error *err);
void vcm_git_ref_watch_close(struct vcm_git_ref_watch *watch);

/* From now on watches this repository and nothing else; NULL for none. What happened before is
 * forgotten, so that the caller looks at the repository after this call. */
int vcm_git_ref_watch_set(struct vcm_git_ref_watch *watch, struct vcm_git_repo *repo,
                          struct vcm_error *err);

/* Waits until something changed and *changed is true, or for `timeout_ms`. A signal ends the wait
 * early with *changed false. */
int vcm_git_ref_watch_wait(bool *changed, struct vcm_git_ref_watch *watch, unsigned timeout_ms,
                           struct vcm_error *err);

#endif
