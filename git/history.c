#include "git/history.h"

#include "base/hash.h"
#include "base/limits.h"
#include "git/internal.h"
#include "git/notes.h"
#include "git/tree_count.h"

#include "base/banned.h"

#define SEED_COMMIT 1
#define SEED_TREE   2
#define SEED_BLOB   3
#define SEED_ROOT   4
/* A commit with so many entries that are new is counted, and refused if it has too many. */
#define COUNT_AFTER_ENTRIES 10000

struct survey {
    struct vcm_git_repo *repo;
    const struct vcm_git_history_query *query;
    struct vcm_git_notes notes; /* about commits, directories and files */
    struct vcm_buf path;
    unsigned depth;
    const git_oid *root; /* of the commit that is looked at */
    uint64_t entries;    /* of it that are new */
    struct vcm_error *err;
};

static uint64_t key_of(const git_oid *id, struct vcm_slice path, uint64_t seed)
{
    return vcm_hash_checksum(path, vcm_hash_checksum(vcm_slice_of(id, sizeof *id), seed));
}

static bool recall(bool *yes, const struct survey *s, uint64_t key)
{
    uint64_t value;
    bool known = vcm_git_notes_get(&value, &s->notes, key);

    *yes = value != 0;
    return known;
}

static int note(struct survey *s, uint64_t key, bool yes)
{
    return vcm_git_notes_put(&s->notes, key, yes, s->err);
}

static int look_at_file(bool *wanted, struct survey *s, const git_tree_entry *entry)
{
    git_filemode_t mode = vcm_libgit2.tree_entry_filemode(entry);
    struct vcm_git_entry file = {.path = vcm_buf_slice(&s->path)};

    *wanted = false;
    if ((mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE) ||
        !s->query->matches(s->query->context, file.path))
        return VCM_OK;
    uint64_t key = key_of(vcm_libgit2.tree_entry_id(entry), file.path, SEED_BLOB);
    if (recall(wanted, s, key))
        return VCM_OK;
    file.kind = mode == GIT_FILEMODE_BLOB ? VCM_GIT_FILE : VCM_GIT_EXECUTABLE;
    vcm_git_internal_from_oid(&file.id, vcm_libgit2.tree_entry_id(entry));
    int rc = s->query->is_wanted(wanted, s->query->context, &file, s->err);
    return rc == VCM_OK ? note(s, key, *wanted) : rc;
}

static int look_at_tree(bool *wanted, struct survey *s, const git_oid *id);

static int look_at_entry(bool *wanted, struct survey *s, const git_tree_entry *entry)
{
    size_t len = s->path.len;
    int rc;

    if (++s->entries == COUNT_AFTER_ENTRIES) {
        struct vcm_git_id root;
        vcm_git_internal_from_oid(&root, s->root);
        rc = vcm_git_tree_count_check(s->repo, &root, s->query->cancel, s->err);
        if (rc != VCM_OK)
            return rc;
    }
    vcm_buf_append_format(&s->path, "%s%s", len > 0 ? "/" : "", vcm_libgit2.tree_entry_name(entry));
    rc = vcm_buf_check(&s->path, "a path", s->err);
    if (rc == VCM_OK && vcm_libgit2.tree_entry_type(entry) == GIT_OBJECT_TREE)
        rc = look_at_tree(wanted, s, vcm_libgit2.tree_entry_id(entry));
    else if (rc == VCM_OK)
        rc = look_at_file(wanted, s, entry);
    vcm_buf_truncate(&s->path, len);
    return rc;
}

static int look_at_tree(bool *wanted, struct survey *s, const git_oid *id)
{
    uint64_t key = key_of(id, vcm_buf_slice(&s->path), SEED_TREE);
    git_tree *tree = NULL;

    *wanted = false;
    if (recall(wanted, s, key))
        return VCM_OK;
    int rc = vcm_cancel_check(s->query->cancel, s->err);
    if (rc != VCM_OK)
        return rc;
    if (s->depth >= VCM_LIMIT_TREE_DEPTH)
        return vcm_error_set(s->err, VCM_UNSUPPORTED, "a tree is deeper than %d directories",
                             VCM_LIMIT_TREE_DEPTH);
    int git_code = vcm_libgit2.tree_lookup(&tree, s->repo->handle, id);
    if (git_code != 0)
        return vcm_git_internal_error(s->err, git_code, "cannot read a directory of the history");
    s->depth++;
    for (size_t i = 0; rc == VCM_OK && i < vcm_libgit2.tree_entrycount(tree); i++) {
        bool found = false;
        rc = look_at_entry(&found, s, vcm_libgit2.tree_entry_byindex(tree, i));
        *wanted = *wanted || found;
    }
    s->depth--;
    vcm_libgit2.tree_free(tree);
    return rc == VCM_OK ? note(s, key, *wanted) : rc;
}

static int look_at_root_file(bool *counted, struct survey *s, const git_commit *commit)
{
    static const git_oid nothing = {{0}};
    git_tree *tree = NULL;
    struct vcm_git_id id;

    int git_code = vcm_libgit2.commit_tree(&tree, commit);
    if (git_code != 0)
        return vcm_git_internal_error(s->err, git_code, "cannot read the tree of a commit");
    const git_tree_entry *entry = vcm_libgit2.tree_entry_byname(tree, s->query->root_file);
    const git_oid *oid = entry ? vcm_libgit2.tree_entry_id(entry) : &nothing;
    uint64_t key = key_of(oid, vcm_slice_of(NULL, 0), SEED_ROOT);
    int rc = VCM_OK;
    if (!recall(counted, s, key)) {
        vcm_git_internal_from_oid(&id, oid);
        rc = s->query->counts(counted, s->query->context, entry ? &id : NULL, s->err);
        if (rc == VCM_OK)
            rc = note(s, key, *counted);
    }
    vcm_libgit2.tree_free(tree);
    return rc;
}

/* Parents are visited before their children, so that a commit can use what is known of its
 * parents. */
static int look_at_commit(uint64_t *commits, struct survey *s, const git_oid *id)
{
    struct vcm_slice none = {NULL, 0};
    git_commit *commit = NULL;
    bool counted = false, wanted = false;

    int git_code = vcm_libgit2.commit_lookup(&commit, s->repo->handle, id);
    if (git_code != 0)
        return vcm_git_internal_error(s->err, git_code, "cannot read a commit");
    s->root = vcm_libgit2.commit_tree_id(commit);
    s->entries = 0;
    int rc = look_at_root_file(&counted, s, commit);
    if (rc == VCM_OK)
        rc = look_at_tree(&wanted, s, s->root);
    counted = counted || wanted;
    for (unsigned i = 0; !counted && i < vcm_libgit2.commit_parentcount(commit); i++)
        recall(&counted, s, key_of(vcm_libgit2.commit_parent_id(commit, i), none, SEED_COMMIT));
    *commits += counted;
    if (rc == VCM_OK)
        rc = note(s, key_of(id, none, SEED_COMMIT), counted);
    vcm_libgit2.commit_free(commit);
    return rc;
}

int vcm_git_history_count(uint64_t *commits, struct vcm_git_repo *repo,
                          const struct vcm_git_history_query *query, struct vcm_error *err)
{
    struct survey s = {.repo = repo, .query = query, .err = err};
    git_revwalk *walk = NULL;
    git_oid id;
    int rc = VCM_OK;

    *commits = 0;
    vcm_buf_init(&s.path, VCM_LIMIT_TREE_PATH_BYTES);
    int git_code = vcm_libgit2.revwalk_new(&walk, repo->handle);
    if (git_code == 0)
        git_code = vcm_libgit2.revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE);
    if (git_code == 0)
        git_code = vcm_libgit2.revwalk_push_glob(walk, "refs/heads/*");
    if (git_code == 0)
        git_code = vcm_libgit2.revwalk_push_glob(walk, "refs/tags/*");
    while (git_code == 0 && rc == VCM_OK && (git_code = vcm_libgit2.revwalk_next(&id, walk)) == 0)
        rc = look_at_commit(commits, &s, &id);
    if (rc == VCM_OK && git_code != GIT_ITEROVER)
        rc = vcm_git_internal_error(err, git_code, "cannot read the history of '%s'", repo->root);
    vcm_libgit2.revwalk_free(walk);
    vcm_buf_release(&s.path);
    vcm_git_notes_release(&s.notes);
    return rc;
}
