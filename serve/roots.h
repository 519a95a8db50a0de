/*
 * roots.h - what of this machine, and of others, the clients of a server may name.
 *
 * A path is resolved for every call: it has to lie beneath a root when its links are followed, and
 * so has the repository that is found at or above it. URLs are https to public addresses, and those
 * that match a pattern. Constant after it was opened; any thread may ask.
 */
#ifndef VCM_SERVE_ROOTS_H
#define VCM_SERVE_ROOTS_H

#include "base/arena.h"

struct vcm_roots;

struct vcm_roots_options {
    const char *const *directories; /* --root */
    size_t directory_count;
    const char *const *url_patterns; /* --allow-url, as for fnmatch(3); must outlive the roots */
    size_t url_pattern_count;
    bool current_directory; /* is a root too, the first, unless it is "/" or a home directory */
};

/* INVALID_ARGUMENT for "/", a home directory, and what is no directory. */
int vcm_roots_open(struct vcm_roots **out, const struct vcm_roots_options *options,
                   struct vcm_error *err);
void vcm_roots_close(struct vcm_roots *roots);

/* The path of the only root, or of the current directory; NULL if there is no such choice. */
const char *vcm_roots_default(const struct vcm_roots *roots);

/* The real path of a file or directory beneath a root; a relative one is resolved from the default
 * root. INVALID_ARGUMENT when it is elsewhere, NOT_FOUND when there is nothing. */
int vcm_roots_resolve(const char **out, const struct vcm_roots *roots, const char *path,
                      struct vcm_arena *arena, struct vcm_error *err);

/* The same for the repository at or above a path, or a URL, which is returned as it is. */
int vcm_roots_resolve_repo(const char **out, const struct vcm_roots *roots, const char *repository,
                           struct vcm_arena *arena, struct vcm_error *err);

/* INVALID_ARGUMENT unless the URL may be fetched. */
int vcm_roots_check_url(const struct vcm_roots *roots, const char *url, struct vcm_error *err);

/* Whether a real path lies beneath a root. */
bool vcm_roots_contain(const struct vcm_roots *roots, const char *real_path);

#endif
