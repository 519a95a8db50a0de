/*
 * tree.h - the entries of a commit's tree, and the bytes of its blobs.
 */
#ifndef VCM_GIT_TREE_H
#define VCM_GIT_TREE_H

#include "base/cancel.h"
#include "git/repo.h"

enum vcm_git_kind {
    VCM_GIT_FILE,
    VCM_GIT_EXECUTABLE,
    VCM_GIT_SYMLINK,
    VCM_GIT_SUBMODULE,
};

/* Why an entry of a tree is not visited. git refuses to check such entries out. */
enum vcm_git_refusal {
    VCM_GIT_ACCEPTED,
    VCM_GIT_REFUSED_NAME, /* ".", "..", ".git", or with a slash in it */
    VCM_GIT_REFUSED_TWIN, /* an entry of this name comes before it in the tree */
};

struct vcm_git_entry {
    struct vcm_slice path; /* from the root of the tree, bytes as in git */
    enum vcm_git_kind kind;
    struct vcm_git_id id; /* blob, or the commit of a submodule */
};

/* Anything but VCM_OK ends the walk, which returns it. */
typedef int (*vcm_git_entry_fn)(void *context, const struct vcm_git_entry *entry,
                                struct vcm_error *err);

/*
 * Calls `visit` for every leaf under `start_dir` ("" for the whole tree) depth first: the leaves
 * of a directory, then its directories, both in git's own order, whatever the order in the tree. No
 * path is visited twice, and none leads out of the tree: entries that git refuses are left out (see
 * `refused` below). NOT_FOUND when start_dir is no directory of the tree. A subtree that is missing
 * or damaged is an error that names its path; bytes that do not match the id are damage. Depth is
 * bounded by VCM_LIMIT_TREE_DEPTH, the entries by vcm_cancel_entries_max(): UNSUPPORTED for a tree
 * with more, soon after the walk has begun when directories are shared.
 */
int vcm_git_tree_walk(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                      const char *start_dir, vcm_git_entry_fn visit, void *context,
                      const struct vcm_cancel *cancel, struct vcm_error *err);

/* A directory of the tree, while a visitor is in it. */
struct vcm_git_directory;

/* From the root, without a slash at the end; "" for the root. */
struct vcm_slice vcm_git_tree_directory_path(const struct vcm_git_directory *directory);

/* Finds a leaf of the directory by its name; false when there is none. out->path is the name. */
bool vcm_git_tree_directory_entry(struct vcm_git_entry *out,
                                  const struct vcm_git_directory *directory, const char *name);

/* Whether the leaf of this name is the same in the base's directory, or missing in both. False
 * without a base, or when it has no such directory. */
bool vcm_git_tree_directory_same_entry(const struct vcm_git_directory *directory, const char *name);

struct vcm_git_visitor {
    vcm_git_entry_fn entry;
    /* Called before anything in the directory is visited, and after everything. The directories
     * above start_dir are entered too, because their rules apply below. Every directory that was
     * entered without an error is left, also after a failure. */
    int (*enter)(void *context, const struct vcm_git_directory *directory, struct vcm_error *err);
    void (*leave)(void *context);
    /* A commit to compare with, or NULL; a missing one is ignored. */
    const struct vcm_git_id *base;
    /* May be NULL. Called for a directory that is the same in `base`: sets *skip when nothing in it
     * has to be visited. It is then not even read. */
    int (*unchanged)(void *context, struct vcm_slice path, bool *skip, struct vcm_error *err);
    /* May be NULL: then a subtree whose object is missing ends the walk with an error. */
    int (*missing)(void *context, struct vcm_slice path, const struct vcm_git_id *id,
                   struct vcm_error *err);
    /* May be NULL. Called for every entry that is not visited. The last part of its path is escaped
     * already, as vcm_utf8_escape_name() does. */
    int (*refused)(void *context, const struct vcm_git_entry *entry, bool is_directory,
                   enum vcm_git_refusal refusal, struct vcm_error *err);
};

/* vcm_git_tree_walk() with visits of directories. */
int vcm_git_tree_visit(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                       const char *start_dir, const struct vcm_git_visitor *visitor, void *context,
                       const struct vcm_cancel *cancel, struct vcm_error *err);

/* One entry by its path, to which out->path then points. NOT_FOUND when there is none or it is a
 * directory. */
int vcm_git_tree_entry(struct vcm_git_entry *out, struct vcm_git_repo *repo,
                       const struct vcm_git_id *commit, const char *path, struct vcm_error *err);

/* UNSUPPORTED when the commit's tree names more entries than a walk may visit: for callers that
 * hand the commit to git. */
int vcm_git_tree_check_size(struct vcm_git_repo *repo, const struct vcm_git_id *commit,
                            const struct vcm_cancel *cancel, struct vcm_error *err);

/* The id of a directory ("" for the whole tree): equal ids hold equal entries. NOT_FOUND when it is
 * no directory of the tree. */
int vcm_git_tree_id(struct vcm_git_id *out, struct vcm_git_repo *repo,
                    const struct vcm_git_id *commit, const char *directory, struct vcm_error *err);

/* Whether the path is a directory of the tree. */
int vcm_git_tree_has_directory(bool *found, struct vcm_git_repo *repo,
                               const struct vcm_git_id *commit, const char *path,
                               struct vcm_error *err);

#endif
