/*
 * tree_object.h - the entries of one tree of git, checked and in order. Private to this folder.
 *
 * git itself writes a tree sorted, with every name once, and with no name that leads out of its
 * directory. A tree that was made by hand may hold anything, and libgit2 hands it on as it is. Here
 * the bytes are compared with the id, the entries are sorted, and those that git would refuse are
 * marked. Who walks a tree therefore never sees two entries of one path.
 */
#ifndef VCM_GIT_TREE_OBJECT_H
#define VCM_GIT_TREE_OBJECT_H

#include "git/internal.h"
#include "git/tree.h"

struct vcm_git_tree_item {
    const char *name; /* never empty; ends with NUL */
    size_t name_len;
    unsigned mode; /* as in the tree: not only those that git writes */
    struct vcm_git_id id;
    enum vcm_git_refusal refusal;
};

struct vcm_git_tree_object {
    git_odb_object *object; /* the names point into it */
    struct vcm_git_id id;
    struct vcm_git_tree_item *items; /* in git's order, those that are refused too */
    size_t count;
};

/* NOT_FOUND when the object is missing; IO_ERROR when it is damaged, malformed, or no tree. `path`
 * names the directory in errors, "" for the root. */
int vcm_git_tree_object_open(struct vcm_git_tree_object **out, struct vcm_git_repo *repo,
                             const struct vcm_git_id *id, const char *path, struct vcm_error *err);
void vcm_git_tree_object_close(struct vcm_git_tree_object *tree);

/* The tree of a commit's root. NOT_FOUND when there is no such commit. */
int vcm_git_tree_object_open_root(struct vcm_git_tree_object **out, struct vcm_git_repo *repo,
                                  const struct vcm_git_id *commit, struct vcm_error *err);

bool vcm_git_tree_object_is_directory(const struct vcm_git_tree_item *item);

/* git's order: a directory is compared as if its name ended with a slash. */
int vcm_git_tree_object_compare(const struct vcm_git_tree_item *a,
                                const struct vcm_git_tree_item *b);

/* The leaf as visitors see it, under this path. */
void vcm_git_tree_object_to_entry(struct vcm_git_entry *out, struct vcm_slice path,
                                  const struct vcm_git_tree_item *item);

/* The file, link, submodule or directory of this name; NULL when there is none, or it is refused.
 */
const struct vcm_git_tree_item *vcm_git_tree_object_find(const struct vcm_git_tree_object *tree,
                                                         const char *name);

#endif
