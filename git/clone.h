/*
 * clone.h - clones that we manage: bare repositories under the home, one for each URL, fetched by
 * git with a time limit and read by libgit2 as any other.
 *
 * A clone is "<directory>/<name>-<hash>.git" with a configuration that we write and that holds no
 * secret. It is as shallow as possible: a commit is fetched, not a history. Every commit that was
 * fetched whole has a ref "refs/vcm/commits/<id>", so that it stays readable when the remote drops
 * it; the remote's branches, tags and HEAD are kept as they were last seen. A commit of which only
 * the files below some directories were wanted has a ref "refs/vcm/parts/<id>": all its trees are
 * in the clone, and git treats the missing blobs as promised by the remote.
 * One process fetches at a time into a clone (a lock file beside it); readers need no lock, since
 * objects are only added. An unfinished clone that a killed process left is created again, and so
 * is one that turns out to be damaged (clone_repair.h).
 */
#ifndef VCM_GIT_CLONE_H
#define VCM_GIT_CLONE_H

#include "base/cancel.h"
#include "base/defaults.h"
#include "base/log.h"
#include "git/repo.h"

#define VCM_CLONE_TIMEOUT_MS (VCM_DEFAULT_FETCH_MINUTES * 60u * 1000u)

/* Where the secret of some hosts is: config key credentials.<pattern>. */
struct vcm_git_credential {
    const char *pattern; /* of hosts, with '*' and '?'; a port counts only if the pattern has one */
    const char *name;    /* a variable, or a file's path (it begins with '/' or '~') */
};

struct vcm_git_clones {
    const char *directory; /* created when needed */
    const struct vcm_git_credential *credentials;
    unsigned credential_count;
    unsigned timeout_ms; /* of one call; 0 means VCM_CLONE_TIMEOUT_MS */
    size_t memory_max;   /* of each process of git; 0 means VCM_LIMIT_GIT_MEMORY */
    uint64_t bytes_max;  /* of a pack that is fetched; 0 means VCM_LIMIT_GIT_FETCH */
    const struct vcm_cancel *cancel;
    const struct vcm_log *log;
};

struct vcm_git_clone_request {
    const char *url;        /* https, ssh or file; credentials in it are used and not stored */
    const char *branch;     /* NULL: the branch of the remote's HEAD */
    bool branch_is_a_guess; /* use the remote's HEAD when there is no such branch */
    const char *commit;     /* id, prefix, tag, also with ~N and ^N; NULL or "HEAD": the tip */
    const char *subpath;    /* only the files below it are needed, no slash at the end; NULL: all */
    unsigned depth;         /* commits of history to fetch; 0 means 1 */
};

struct vcm_git_clone {
    char *path;   /* of the bare repository */
    char *url;    /* without credentials */
    char *branch; /* whose tip the commit is; "" when a commit was named or HEAD is detached */
    struct vcm_git_id commit;
    uint64_t files_missing; /* of the commit; their content was not fetched, their paths were */
};

/*
 * Makes sure that the commit is in the clone, and fills a clone that the caller releases also after
 * a failure. Asks the remote for its state, unless the commit is named by its whole id and already
 * fetched. INVALID_ARGUMENT: a URL or name that is refused, or a path; NOT_FOUND: no repository,
 * branch or commit, or an empty repository; AUTH_FAILED, NETWORK_ERROR, TIMEOUT; UNSUPPORTED: a
 * repository with sha256 ids; STORE_BUSY: another process was fetching it for the whole time limit.
 */
int vcm_git_clone_fetch(struct vcm_git_clone *out, const struct vcm_git_clones *clones,
                        const struct vcm_git_clone_request *request, struct vcm_error *err);
void vcm_git_clone_release(struct vcm_git_clone *clone);

/* Whether the repository is a clone of ours that has only a part of the commit, which
 * vcm_git_clone_fetch() of its origin completes. */
bool vcm_git_clone_is_partial(struct vcm_git_repo *repo, const struct vcm_git_clones *clones,
                              const struct vcm_git_id *commit);

/* Records that the repository at `path` is being read; does nothing unless it is a clone of
 * ours. */
void vcm_git_clone_drop_postpone(const struct vcm_git_clones *clones, const char *path);

struct vcm_git_clone_drops {
    uint64_t dropped, kept;
    uint64_t bytes; /* of the files of those that were dropped */
};

/*
 * Removes every clone for whose real path `is_used` returns false and that was not fetched into or
 * read for `unused_s` seconds, and every unfinished clone. A clone that a process is fetching into
 * is kept. Readers hold no lock: `unused_s` must be longer than any read.
 */
int vcm_git_clone_drop_unused(struct vcm_git_clone_drops *out, const struct vcm_git_clones *clones,
                              uint64_t unused_s, bool (*is_used)(void *context, const char *path),
                              void *context, struct vcm_error *err);

/* Runs git in a clone of ours, with the credentials for the host of `url`, to fetch what
 * vcm_git_clone_fetch() does not: LFS content. Errors as above. */
int vcm_git_clone_run(const char *path, const struct vcm_git_clones *clones, const char *url,
                      const char *const *args, struct vcm_error *err);

/* Appends the path of the clone of a URL, without using the network. NOT_FOUND when it was never
 * fetched. */
int vcm_git_clone_find(struct vcm_buf *path, const struct vcm_git_clones *clones, const char *url,
                       struct vcm_error *err);

#endif
