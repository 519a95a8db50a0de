/*
 * They are looked up when the first repository is opened, and not linked: libgit2 depends on a
 * dozen network libraries that vcm does not use, and loading those takes longer than everything
 * else that a program does to read a page. Private to this folder, the only one that includes
 * <git2.h>.
 */
#ifndef VCM_GIT_LIBGIT2_H
#define VCM_GIT_LIBGIT2_H

#include <git2.h>
#include <git2/sys/odb_backend.h>

#include "base/error.h"

/* clang-format off */
#define VCM_LIBGIT2_FUNCTIONS(f) \
    f(buf_dispose) f(commit_free) f(commit_id) f(commit_lookup) f(commit_nth_gen_ancestor) \
    f(commit_parent) f(commit_parent_id) f(commit_parentcount) f(commit_tree) f(commit_tree_id) \
    f(config_entry_free) f(config_free) f(config_get_entry) f(config_get_string) \
    f(config_iterator_free) f(config_iterator_new) f(config_multivar_iterator_new) f(config_next) \
    f(config_open_default) f(config_open_ondisk) f(error_last) f(error_set_oom) f(error_set_str) \
    f(libgit2_init) f(libgit2_opts) f(libgit2_shutdown) f(libgit2_version) f(object_free) \
    f(object_id) f(object_lookup) f(object_peel) f(object_type) f(object_type2string) \
    f(odb_add_backend) f(odb_backend_data_alloc) f(odb_backend_data_free) f(odb_exists) \
    f(odb_exists_ext) f(odb_exists_prefix) f(odb_free) f(odb_init_backend) f(odb_object_data) \
    f(odb_object_free) f(odb_object_size) f(odb_object_type) f(odb_read) f(odb_read_header) f(oid_equal) \
    f(oid_fromstrn) f(oid_pathfmt) f(reference_create) f(reference_dwim) f(reference_free) \
    f(reference_iterator_free) f(reference_iterator_glob_new) f(reference_iterator_new) \
    f(reference_list) f(reference_lookup) f(reference_name_is_valid) f(reference_next) \
    f(reference_next_name) f(reference_peel) f(reference_remove) f(reference_symbolic_create) \
    f(reference_symbolic_target) f(reference_target) f(remote_url) f(repository_commondir) \
    f(repository_config_snapshot) f(repository_discover) f(repository_free) f(repository_head) \
    f(repository_head_unborn) f(repository_item_path) f(repository_odb) f(repository_open_ext) \
    f(repository_path) f(repository_set_head_detached) f(repository_workdir) f(revwalk_free) \
    f(revwalk_new) f(revwalk_next) f(revwalk_push_glob) f(revwalk_sorting) f(strarray_dispose) \
    f(tree_entry_byindex) f(tree_entry_byname) f(tree_entry_filemode) f(tree_entry_filemode_raw) \
    f(tree_entry_id) f(tree_entry_name) f(tree_entry_type) f(tree_entrycount) f(tree_free) \
    f(tree_id) f(tree_lookup)
/* clang-format on */

#define VCM_LIBGIT2_POINTER(name) __typeof__ (&git_##name)(name);

struct vcm_libgit2 {
    VCM_LIBGIT2_FUNCTIONS(VCM_LIBGIT2_POINTER)
};

/* Valid after vcm_libgit2_load() succeeded, and constant from then on. */
extern struct vcm_libgit2 vcm_libgit2;

/* Any thread may call it any number of times. UNSUPPORTED when the library cannot be loaded, or is
 * not the version that vcm was built for. It stays loaded until the process ends. */
int vcm_libgit2_load(struct vcm_error *err);

#endif
