#include "git/clone_refs.h"

#include <stdio.h>
#include <string.h>

#include "git/internal.h"

#include "base/banned.h"

bool vcm_git_clone_refs_is_copied(const char *name)
{
    return strncmp(name, VCM_GIT_REF_HEADS, sizeof VCM_GIT_REF_HEADS - 1) == 0 ||
           strncmp(name, VCM_GIT_REF_TAGS, sizeof VCM_GIT_REF_TAGS - 1) == 0;
}

/* The ref that keeps a commit: `prefix` and its id. */
static void name_kept(char out[VCM_GIT_REF_BYTES], const char *prefix, const struct vcm_git_id *id)
{
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_repo_id_to_hex(hex, id);
    snprintf(out, VCM_GIT_REF_BYTES, "%s%s", prefix, hex);
}

bool vcm_git_clone_refs_has(const struct vcm_git_repo *repo, const char *prefix,
                            const struct vcm_git_id *id)
{
    git_reference *ref = NULL;
    char name[VCM_GIT_REF_BYTES];

    name_kept(name, prefix, id);
    bool found = vcm_libgit2.reference_lookup(&ref, repo->handle, name) == 0;
    vcm_libgit2.reference_free(ref);
    return found;
}

/* Whether the commit and its tree are here; what is below is taken on trust. */
static bool has_commit(const struct vcm_git_repo *repo, const git_oid *oid)
{
    git_commit *commit = NULL;

    bool found = vcm_libgit2.commit_lookup(&commit, repo->handle, oid) == 0 &&
                 vcm_libgit2.odb_exists(repo->odb, vcm_libgit2.commit_tree_id(commit)) == 1;
    vcm_libgit2.commit_free(commit);
    return found;
}

bool vcm_git_clone_refs_is_kept(const struct vcm_git_repo *repo, const char *prefix,
                                const struct vcm_git_id *id)
{
    git_oid oid;

    vcm_git_internal_to_oid(&oid, id);
    return vcm_git_clone_refs_has(repo, prefix, id) && has_commit(repo, &oid);
}

/* Whether every commit that has a ref of this kind is still here. */
static bool is_sound_in(const struct vcm_git_repo *repo, const char *glob)
{
    git_reference_iterator *refs = NULL;
    git_reference *ref = NULL;
    bool sound = true;

    if (vcm_libgit2.reference_iterator_glob_new(&refs, repo->handle, glob) != 0)
        return false;
    while (sound && vcm_libgit2.reference_next(&ref, refs) == 0) {
        const git_oid *oid = vcm_libgit2.reference_target(ref);
        sound = oid && has_commit(repo, oid);
        vcm_libgit2.reference_free(ref);
    }
    vcm_libgit2.reference_iterator_free(refs);
    return sound;
}

bool vcm_git_clone_refs_is_sound(const struct vcm_git_repo *repo)
{
    return is_sound_in(repo, VCM_GIT_REF_COMMITS "*") && is_sound_in(repo, VCM_GIT_REF_PARTS "*");
}

int vcm_git_clone_refs_set(const struct vcm_git_repo *repo, const char *name,
                           const struct vcm_git_id *id, struct vcm_error *err)
{
    git_repository *handle = repo->handle;
    git_reference *ref = NULL;
    git_strarray names = {0};
    git_oid oid;

    vcm_git_internal_to_oid(&oid, id);
    int git_code = vcm_libgit2.reference_create(&ref, handle, name, &oid, 1, NULL);
    if (git_code != 0 && vcm_libgit2.reference_list(&names, handle) == 0) {
        for (size_t i = 0; i < names.count; i++)
            if (vcm_git_clone_refs_is_copied(names.strings[i]))
                vcm_libgit2.reference_remove(handle, names.strings[i]);
        vcm_libgit2.strarray_dispose(&names);
        git_code = vcm_libgit2.reference_create(&ref, handle, name, &oid, 1, NULL);
    }
    vcm_libgit2.reference_free(ref);
    return git_code == 0 ? VCM_OK : vcm_git_internal_error(err, git_code, "cannot keep '%s'", name);
}

int vcm_git_clone_refs_keep(const struct vcm_git_repo *repo, const struct vcm_git_id *id,
                            bool is_whole, struct vcm_error *err)
{
    char name[VCM_GIT_REF_BYTES];

    name_kept(name, is_whole ? VCM_GIT_REF_COMMITS : VCM_GIT_REF_PARTS, id);
    int rc = vcm_git_clone_refs_set(repo, name, id, err);
    if (rc == VCM_OK && is_whole && vcm_git_clone_refs_has(repo, VCM_GIT_REF_PARTS, id)) {
        name_kept(name, VCM_GIT_REF_PARTS, id);
        vcm_libgit2.reference_remove(repo->handle, name);
    }
    return rc;
}
