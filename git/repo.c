#include "git/repo.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/secret.h"
#include "git/internal.h"
#include "git/loose.h"
#include "git/overlay.h"
#include "git/pack_reader.h"
#include "git/plain_files.h"
#include "git/url.h"

#include "base/banned.h"

/* How much of a pack libgit2 may keep in memory. Its defaults reach gigabytes, and all workers
 * share them; these are low because vcm caches pages, not objects. */
#define WINDOW_BYTES        (4 * VCM_MIB)
#define WINDOWS_BYTES_MAX   (32 * VCM_MIB)
#define OBJECT_CACHE_BYTES  (8 * VCM_MIB)
#define REF_NAME_BYTES      1024 /* libgit2's own bound on a ref's full name */
#define STEPS_MAX           1000000u
#define ID_PREFIX_DIGITS    4
#define ORIGIN_URL_VARIABLE "remote.origin.url"

static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;
/* One user more than there are repositories: when its last user ends, libgit2 1.5 forgets what it
 * keeps for each thread, and a thread that lives on, as those of a server do, loses that memory. */
static bool library_kept;
static unsigned library_users;

/* The extensions are those that change nothing for a reader of objects; sparse checkouts use the
 * first. */
static void configure(void)
{
    const char *extensions[] = {"worktreeconfig", "partialclone", "preciousobjects"};

    vcm_libgit2.libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions,
                             sizeof extensions / sizeof *extensions);
    vcm_libgit2.libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, WINDOW_BYTES);
    vcm_libgit2.libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, WINDOWS_BYTES_MAX);
    vcm_libgit2.libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, (ssize_t)OBJECT_CACHE_BYTES);
    /* A tree is read once, so it is not cached. libgit2's limit also counts only its bytes, not the
     * memory of its entries. */
    vcm_libgit2.libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_TREE, (size_t)0);
    /* git/blob.c checks the blobs, git/tree_object.c the trees that it reads. */
    vcm_libgit2.libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
}

/* Where the user's configuration is may change while there is no repository, as it may between two
 * runs of a program. */
static void find_configuration(void)
{
    vcm_libgit2.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, NULL);
    vcm_libgit2.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_XDG, NULL);
}

static int enter_library(struct vcm_error *err)
{
    int rc = vcm_libgit2_load(err);
    if (rc != VCM_OK)
        return rc;
    pthread_mutex_lock(&library_lock);
    if (!library_kept && vcm_libgit2.libgit2_init() >= 0) {
        library_kept = true;
        configure();
    }
    if (library_kept && library_users == 0)
        find_configuration();
    int count = vcm_libgit2.libgit2_init();
    library_users += count >= 0;
    pthread_mutex_unlock(&library_lock);
    return count >= 0 ? VCM_OK : vcm_error_set(err, VCM_INTERNAL, "cannot start libgit2");
}

static void leave_library(void)
{
    pthread_mutex_lock(&library_lock);
    library_users--;
    vcm_libgit2.libgit2_shutdown();
    pthread_mutex_unlock(&library_lock);
}

static char version_text[48];

static void print_version(void)
{
    int major = 0;
    int minor = 0;
    int revision = 0;

    if (vcm_libgit2_load(NULL) == VCM_OK)
        vcm_libgit2.libgit2_version(&major, &minor, &revision);
    snprintf(version_text, sizeof version_text, "libgit2 %d.%d.%d", major, minor, revision);
}

const char *vcm_git_repo_library_version(void)
{
    static pthread_once_t printed = PTHREAD_ONCE_INIT;

    pthread_once(&printed, print_version);
    return version_text;
}

/* Not a word of a URL that is refused: where its password is cannot be told. */
static int refuse_url(const char *text, struct vcm_error *err)
{
    struct vcm_git_url url;

    int rc = vcm_git_url_parse(&url, text, err);
    if (rc == VCM_OK)
        rc = vcm_error_set(err, VCM_NOT_FOUND,
                           "no directory '%s'; a URL is fetched with 'vcm repo fetch', and the "
                           "directory that it prints can be named here",
                           url.address);
    vcm_git_url_release(&url);
    return rc;
}

static int check_directory(const char *path, struct vcm_error *err)
{
    struct stat status;

    if (!path || path[0] == '\0')
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the repository's directory has no name");
    if (path[0] == '-')
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' begins with '-'; write './%s' if it is a directory", path, path);
    if (stat(path, &status) != 0) {
        int cause = errno;
        if (vcm_git_url_is_remote(path))
            return refuse_url(path, err);
        if (cause == ENOENT || cause == ENOTDIR)
            return vcm_error_set(err, VCM_NOT_FOUND, "no directory '%s'", path);
        return vcm_error_sys(err, VCM_IO_ERROR, cause, "cannot look at '%s'", path);
    }
    if (!S_ISDIR(status.st_mode))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no directory", path);
    return VCM_OK;
}

/* The directory that safe.directory has to name: the nearest one with a ".git" in it, else, in a
 * bare repository, the git directory. The caller frees it; NULL when it cannot be determined. */
static char *find_owned_directory(const char *path)
{
    char *directory = realpath(path, NULL);
    git_buf found = {0};
    struct stat status;

    while (directory && directory[0] != '\0') {
        struct vcm_buf marker = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
        vcm_buf_append_format(&marker, "%s/.git", directory);
        bool here = lstat(vcm_buf_text(&marker), &status) == 0;
        vcm_buf_release(&marker);
        if (here)
            return directory;
        *strrchr(directory, '/') = '\0';
    }
    free(directory);
    if (vcm_libgit2.repository_discover(&found, path, 0, NULL) != 0)
        return NULL;
    directory = realpath(found.ptr, NULL);
    vcm_libgit2.buf_dispose(&found);
    return directory;
}

static int refuse_owner(const char *path, struct vcm_error *err)
{
    char *owned = find_owned_directory(path);
    const char *name = owned ? owned : path;
    int rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "the repository '%s' belongs to another user; to trust it, run "
                           "git config --global --add safe.directory '%s'",
                           name, name);
    free(owned);
    return rc;
}

/* When no safe.directory is set, libgit2 1.5 reports that the variable was not found. */
static bool is_owner_refusal(int git_code)
{
    return git_code == GIT_EOWNER ||
           (git_code == GIT_ENOTFOUND && strstr(vcm_git_internal_message(), "safe.directory"));
}

/* Whether the user trusts every owner: a safe.directory of "*", which git knows and libgit2 1.5
 * does not. An empty value discards those before it. */
static bool trusts_every_owner(void)
{
    git_config *config = NULL;
    git_config_iterator *values = NULL;
    git_config_entry *value = NULL;
    bool trusted = false;

    if (vcm_libgit2.config_open_default(&config) == 0 &&
        vcm_libgit2.config_multivar_iterator_new(&values, config, "safe.directory", NULL) == 0) {
        while (vcm_libgit2.config_next(&value, values) == 0) {
            if (!value->value || value->value[0] == '\0')
                trusted = false;
            else if (strcmp(value->value, "*") == 0)
                trusted = true;
        }
    }
    vcm_libgit2.config_iterator_free(values);
    vcm_libgit2.config_free(config);
    return trusted;
}

bool vcm_git_repo_user_sets(const char *name)
{
    git_config *config = NULL;
    git_config_entry *entry = NULL;

    if (enter_library(NULL) != VCM_OK)
        return false;
    bool sets = vcm_libgit2.config_open_default(&config) == 0 &&
                vcm_libgit2.config_get_entry(&entry, config, name) == 0;
    vcm_libgit2.config_entry_free(entry);
    vcm_libgit2.config_free(config);
    leave_library();
    return sets;
}

/* Returns GIT_EOWNER for every refusal because of the owner. The check of owners is a global
 * setting of libgit2; it is off only while the lock is held, and only for users for whom it would
 * refuse nothing. */
static int open_checked(git_repository **out, const char *path)
{
    const char *ceiling = getenv("GIT_CEILING_DIRECTORIES");

    int git_code = vcm_libgit2.repository_open_ext(out, path, 0, ceiling);
    if (git_code == 0 || !is_owner_refusal(git_code))
        return git_code;
    if (!trusts_every_owner())
        return GIT_EOWNER;
    pthread_mutex_lock(&library_lock);
    vcm_libgit2.libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    git_code = vcm_libgit2.repository_open_ext(out, path, 0, ceiling);
    vcm_libgit2.libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
    pthread_mutex_unlock(&library_lock);
    return git_code;
}

static int explain_open_failure(int git_code, const char *path, struct vcm_error *err)
{
    const char *reason = vcm_git_internal_message();

    if (git_code == GIT_EOWNER)
        return refuse_owner(path, err);
    if (git_code == GIT_ENOTFOUND)
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "no git repository at or above '%s'; run 'git init' there or name "
                             "another directory",
                             path);
    if (strstr(reason, "extensions.objectformat"))
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "the repository '%s' uses sha256 object ids, which cannot be read; "
                             "use a clone with sha1 ids",
                             path);
    if (strstr(reason, "unsupported"))
        return vcm_error_set(err, VCM_UNSUPPORTED, "cannot read the repository '%s': %s", path,
                             reason);
    return vcm_git_internal_error(err, git_code, "cannot open the repository '%s'", path);
}

/* The working tree that core.worktree names may be deleted; then its name is used unresolved. */
static char *tidy_directory(const char *path)
{
    char *tidy = realpath(path, NULL);

    if (tidy)
        return tidy;
    tidy = strdup(path);
    for (size_t len = tidy ? strlen(tidy) : 0; len > 1 && tidy[len - 1] == '/'; len--)
        tidy[len - 1] = '\0';
    return tidy;
}

/* The working tree, or NULL without one. Without a configuration libgit2 takes the parent directory
 * for it; like git, we do so only for a directory called .git. Both paths end with a slash. */
static const char *work_tree(git_repository *handle)
{
    const char *directory = vcm_libgit2.repository_workdir(handle),
               *own = vcm_libgit2.repository_path(handle);
    struct vcm_slice name = vcm_path_base_name(vcm_slice_of_string(own));

    if (!directory || vcm_slice_equal(name, vcm_slice_of_string(".git")))
        return directory;
    size_t above = (size_t)(name.data - own);
    bool guessed = strlen(directory) == above && memcmp(directory, own, above) == 0;
    return guessed ? NULL : directory;
}

static int open_handle(struct vcm_git_repo *repo, const char *path, struct vcm_error *err)
{
    int rc = vcm_git_plain_files_check(path, err);
    if (rc != VCM_OK)
        return rc;
    int git_code = open_checked(&repo->handle, path);
    if (git_code != 0)
        return explain_open_failure(git_code, path, err);

    rc = vcm_git_plain_files_check_objects(repo->handle, err);
    if (rc != VCM_OK)
        return vcm_error_wrap(err, rc, "%s", path);
    git_code = vcm_libgit2.repository_odb(&repo->odb, repo->handle);
    if (git_code != 0)
        return vcm_git_internal_error(err, git_code, "cannot open the objects of '%s'", path);
    rc = vcm_git_loose_install(repo->odb, repo->handle, err);
    if (rc != VCM_OK)
        return vcm_error_wrap(err, rc, "%s", path);

    const char *directory = work_tree(repo->handle);
    repo->root = tidy_directory(directory ? directory : vcm_libgit2.repository_path(repo->handle));
    return repo->root ? VCM_OK : vcm_error_memory(err);
}

int vcm_git_repo_open(struct vcm_git_repo **out, const char *path, struct vcm_error *err)
{
    *out = NULL;
    int rc = check_directory(path, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_git_repo *repo = calloc(1, sizeof *repo);
    if (!repo)
        return vcm_error_memory(err);
    rc = enter_library(err);
    if (rc != VCM_OK) {
        free(repo);
        return rc;
    }
    rc = open_handle(repo, path, err);
    if (rc == VCM_OK)
        *out = repo;
    else
        vcm_git_repo_close(repo);
    return rc;
}

int vcm_git_repo_open_again(struct vcm_git_repo **out, const struct vcm_git_repo *repo,
                            struct vcm_error *err)
{
    int rc = vcm_git_repo_open(out, repo->root, err);
    if (rc != VCM_OK || !repo->overlay)
        return rc;
    rc = vcm_git_overlay_attach(repo->overlay, *out, err);
    if (rc != VCM_OK) {
        vcm_git_repo_close(*out);
        *out = NULL;
    }
    return rc;
}

void vcm_git_repo_close(struct vcm_git_repo *repo)
{
    if (!repo)
        return;
    vcm_git_pack_reader_close(repo->packs);
    vcm_libgit2.odb_free(repo->odb);
    vcm_libgit2.repository_free(repo->handle);
    leave_library();
    free(repo->root);
    free(repo);
}

const char *vcm_git_repo_root(const struct vcm_git_repo *repo)
{
    return repo->root;
}

bool vcm_git_repo_is_bare(const struct vcm_git_repo *repo)
{
    return work_tree(repo->handle) == NULL;
}

void vcm_git_repo_strip_credentials(struct vcm_buf *out, const char *url)
{
    size_t before = out->len;

    vcm_buf_append_string(out, url);
    if (out->fault != VCM_BUF_FINE)
        return;
    if (out->len > before)
        vcm_secret_strip_url(out->data + before);
    vcm_buf_truncate(out, before + strlen(vcm_buf_text(out) + before));
}

/* Read from the configuration directly, because vcm_libgit2.remote_url() applies the user's
 * url.*.insteadOf, and two users of one repository would then get different addresses. */
int vcm_git_repo_origin(struct vcm_buf *out, struct vcm_git_repo *repo, struct vcm_error *err)
{
    git_config *config = NULL;
    git_config_iterator *values = NULL;
    git_config_entry *value = NULL;

    int git_code = vcm_libgit2.repository_config_snapshot(&config, repo->handle);
    if (git_code == 0)
        git_code =
            vcm_libgit2.config_multivar_iterator_new(&values, config, ORIGIN_URL_VARIABLE, NULL);
    if (git_code == 0)
        git_code = vcm_libgit2.config_next(&value, values);
    int rc = VCM_OK;
    if (git_code == 0 && value->value)
        vcm_git_repo_strip_credentials(out, value->value);
    else if (git_code != 0 && git_code != GIT_ITEROVER && git_code != GIT_ENOTFOUND)
        rc = vcm_git_internal_error(err, git_code, "cannot read the configuration of '%s'",
                                    repo->root);
    vcm_libgit2.config_iterator_free(values);
    vcm_libgit2.config_free(config);
    return rc == VCM_OK ? vcm_buf_check(out, "the URL of origin", err) : rc;
}

int vcm_git_repo_head_branch(struct vcm_buf *out, struct vcm_git_repo *repo, struct vcm_error *err)
{
    static const char heads[] = "refs/heads/";
    git_reference *head = NULL;

    int git_code = vcm_libgit2.reference_lookup(&head, repo->handle, "HEAD");
    if (git_code != 0)
        return vcm_git_internal_error(err, git_code, "cannot read HEAD of '%s'", repo->root);
    const char *target = vcm_libgit2.reference_symbolic_target(head);
    if (target && strncmp(target, heads, sizeof heads - 1) == 0)
        vcm_buf_append_string(out, target + sizeof heads - 1);
    vcm_libgit2.reference_free(head);
    return vcm_buf_check(out, "the name of the branch", err);
}

/* Refuses everything that is no plain ref name, and so the operators of git's expressions, such as
 * "HEAD:secret" or ":/text". Writes the ref's full name to `full`. */
static int check_name(char full[REF_NAME_BYTES], const char *place, const char *what,
                      const char *name, struct vcm_error *err)
{
    int valid = 0;
    int len = snprintf(full, REF_NAME_BYTES, "%s%s", place, name);

    if (name[0] == '\0' || name[0] == '-' || len >= REF_NAME_BYTES ||
        vcm_libgit2.reference_name_is_valid(&valid, full) != 0 || !valid)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no valid name of a %s", name,
                             what);
    return VCM_OK;
}

int vcm_git_repo_check_name(const char *what, const char *name, struct vcm_error *err)
{
    char full[REF_NAME_BYTES];

    int rc = enter_library(err);
    if (rc != VCM_OK)
        return rc;
    rc = check_name(full, "refs/heads/", what, name, err);
    leave_library();
    return rc;
}

static bool has_refs(struct vcm_git_repo *repo)
{
    git_reference_iterator *refs = NULL;
    const char *name = NULL;

    bool any = vcm_libgit2.reference_iterator_new(&refs, repo->handle) == 0 &&
               vcm_libgit2.reference_next_name(&name, refs) == 0;
    vcm_libgit2.reference_iterator_free(refs);
    return any;
}

static int refuse_unborn(struct vcm_git_repo *repo, struct vcm_error *err)
{
    if (has_refs(repo))
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "the branch that HEAD is on has no commit yet; name another branch");
    return vcm_error_set(err, VCM_NOT_FOUND,
                         "the repository has no commit yet; commit something first");
}

static int find_head(git_object **out, struct vcm_git_repo *repo, struct vcm_error *err)
{
    git_reference *head = NULL;

    int git_code = vcm_libgit2.repository_head(&head, repo->handle);
    if (git_code == GIT_EUNBORNBRANCH)
        return refuse_unborn(repo, err);
    if (git_code == 0)
        git_code = vcm_libgit2.reference_peel(out, head, GIT_OBJECT_ANY);
    vcm_libgit2.reference_free(head);
    if (git_code != 0)
        return vcm_git_internal_error(err, git_code, "cannot follow HEAD");
    return VCM_OK;
}

static bool head_is_unborn_branch(struct vcm_git_repo *repo, const char *branch)
{
    struct vcm_buf name = VCM_BUF_INIT(REF_NAME_BYTES);

    bool same = vcm_git_repo_head_branch(&name, repo, NULL) == VCM_OK &&
                strcmp(vcm_buf_text(&name), branch) == 0;
    vcm_buf_release(&name);
    return same && vcm_libgit2.repository_head_unborn(repo->handle) == 1;
}

static int find_branch(git_object **out, struct vcm_git_repo *repo, const char *branch,
                       struct vcm_error *err)
{
    static const char *const places[] = {"refs/heads/", "refs/remotes/origin/"};
    char name[REF_NAME_BYTES];

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        git_reference *ref = NULL;
        int rc = check_name(name, places[i], "branch", branch, err);
        if (rc != VCM_OK)
            return rc;
        int git_code = vcm_libgit2.reference_lookup(&ref, repo->handle, name);
        if (git_code == GIT_ENOTFOUND)
            continue;
        if (git_code == 0)
            git_code = vcm_libgit2.reference_peel(out, ref, GIT_OBJECT_ANY);
        vcm_libgit2.reference_free(ref);
        if (git_code != 0)
            return vcm_git_internal_error(err, git_code, "cannot follow the branch '%s'", branch);
        return VCM_OK;
    }
    if (head_is_unborn_branch(repo, branch))
        return refuse_unborn(repo, err);
    return vcm_error_set(err, VCM_NOT_FOUND, "no branch '%s' in '%s', nor at its origin", branch,
                         repo->root);
}

static bool is_id_prefix(const char *name)
{
    size_t len = strspn(name, "0123456789abcdefABCDEF");

    return name[len] == '\0' && len >= ID_PREFIX_DIGITS && len <= VCM_GIT_ID_HEX;
}

/* In two steps: see loose.h. */
static int look_up_prefix(git_object **out, struct vcm_git_repo *repo, const git_oid *prefix,
                          size_t len)
{
    git_oid oid;

    int git_code = vcm_libgit2.odb_exists_prefix(&oid, repo->odb, prefix, len);
    return git_code == 0 ? vcm_libgit2.object_lookup(out, repo->handle, &oid, GIT_OBJECT_ANY)
                         : git_code;
}

/* A full id before a ref of that name, a ref before an abbreviated id, as git does. Of git's
 * expressions only ~N and ^N are supported: see step_back(). */
static int look_up(git_object **out, struct vcm_git_repo *repo, const char *name)
{
    git_reference *ref = NULL;
    git_oid oid;
    size_t len = strlen(name);
    bool digits = is_id_prefix(name);
    int git_code = GIT_ENOTFOUND;

    if (digits && vcm_libgit2.oid_fromstrn(&oid, name, len) != 0)
        return GIT_ENOTFOUND;
    if (digits && len == VCM_GIT_ID_HEX)
        git_code = vcm_libgit2.object_lookup(out, repo->handle, &oid, GIT_OBJECT_ANY);
    if (git_code != GIT_ENOTFOUND)
        return git_code;
    git_code = vcm_libgit2.reference_dwim(&ref, repo->handle, name);
    if (git_code == 0)
        git_code = vcm_libgit2.reference_peel(out, ref, GIT_OBJECT_ANY);
    else if (git_code == GIT_ENOTFOUND && digits && len < VCM_GIT_ID_HEX)
        git_code = look_up_prefix(out, repo, &oid, len);
    vcm_libgit2.reference_free(ref);
    return git_code;
}

static int find_commit(git_object **out, struct vcm_git_repo *repo, const char *commit,
                       struct vcm_error *err)
{
    char full[REF_NAME_BYTES];

    if (strcmp(commit, "HEAD") == 0)
        return find_head(out, repo, err);
    int rc = check_name(full, "refs/tags/", "commit", commit, err);
    if (rc != VCM_OK)
        return rc;

    int git_code = look_up(out, repo, commit);
    if (git_code == GIT_EAMBIGUOUS)
        return vcm_error_set(err, VCM_AMBIGUOUS,
                             "several objects begin with '%s'; give more digits", commit);
    if (git_code == GIT_ENOTFOUND)
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "no commit '%s' in '%s'; name a branch, a tag, or at least %d digits "
                             "of an id",
                             commit, repo->root, ID_PREFIX_DIGITS);
    if (git_code != 0)
        return vcm_git_internal_error(err, git_code, "cannot find the commit '%s'", commit);
    return VCM_OK;
}

static int peel_to_commit(struct vcm_git_id *out, git_object *object, const char *name,
                          struct vcm_error *err)
{
    git_object *commit = NULL;

    int git_code = vcm_libgit2.object_peel(&commit, object, GIT_OBJECT_COMMIT);
    if (git_code == GIT_EPEEL || git_code == GIT_EINVALIDSPEC)
        return vcm_error_set(err, VCM_NOT_FOUND, "'%s' is a %s, not a commit", name,
                             vcm_libgit2.object_type2string(vcm_libgit2.object_type(object)));
    if (git_code != 0)
        return vcm_git_internal_error(err, git_code, "cannot find the commit of '%s'", name);
    vcm_git_internal_from_oid(out, vcm_libgit2.object_id(commit));
    vcm_libgit2.object_free(commit);
    return VCM_OK;
}

static bool is_step(char c)
{
    return c == '~' || c == '^';
}

/* Reads "~", "~3", "^" or "^2" at the front of *steps. */
static bool next_step(char *kind, unsigned *count, const char **steps)
{
    const char *p = *steps;
    unsigned value = 0;

    if (!is_step(*p))
        return false;
    *kind = *p++;
    bool digits = *p >= '0' && *p <= '9';
    for (; *p >= '0' && *p <= '9' && value <= STEPS_MAX; p++)
        value = 10 * value + (unsigned)(*p - '0');
    *count = digits ? value : 1;
    *steps = p;
    return value <= STEPS_MAX;
}

/* Moves from a commit to an ancestor: ~N is the N-th along first parents, ^N the N-th parent. */
static int step_back(struct vcm_git_id *id, struct vcm_git_repo *repo, const char *steps,
                     const char *name, struct vcm_error *err)
{
    char kind = 0;
    unsigned count = 0;

    while (*steps != '\0') {
        git_commit *commit = NULL, *ancestor = NULL;
        git_oid oid;
        if (!next_step(&kind, &count, &steps))
            return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no valid name of a commit",
                                 name);
        if (kind == '^' && count == 0)
            continue;
        vcm_git_internal_to_oid(&oid, id);
        int git_code = vcm_libgit2.commit_lookup(&commit, repo->handle, &oid);
        if (git_code == 0)
            git_code = kind == '~' ? vcm_libgit2.commit_nth_gen_ancestor(&ancestor, commit, count)
                                   : vcm_libgit2.commit_parent(&ancestor, commit, count - 1);
        if (git_code == 0)
            vcm_git_internal_from_oid(id, vcm_libgit2.commit_id(ancestor));
        vcm_libgit2.commit_free(ancestor);
        vcm_libgit2.commit_free(commit);
        if (git_code == GIT_ENOTFOUND)
            return vcm_error_set(err, VCM_NOT_FOUND,
                                 "there is no commit '%s': '%s' has too few "
                                 "ancestors here",
                                 name, repo->root);
        if (git_code != 0)
            return vcm_git_internal_error(err, git_code, "cannot find the commit '%s'", name);
    }
    return VCM_OK;
}

/* A commit by its name, with or without ~N and ^N behind it. */
static int resolve_commit(struct vcm_git_id *out, struct vcm_git_repo *repo, const char *name,
                          struct vcm_error *err)
{
    struct vcm_buf start = VCM_BUF_INIT(REF_NAME_BYTES);
    git_object *object = NULL;
    size_t len = strcspn(name, "~^");

    if (len >= REF_NAME_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no valid name of a commit", name);
    vcm_buf_append(&start, name, len);
    int rc = vcm_buf_check(&start, "the name of a commit", err);
    if (rc == VCM_OK)
        rc = find_commit(&object, repo, vcm_buf_text(&start), err);
    if (rc == VCM_OK)
        rc = peel_to_commit(out, object, vcm_buf_text(&start), err);
    if (rc == VCM_OK)
        rc = step_back(out, repo, name + len, name, err);
    vcm_libgit2.object_free(object);
    vcm_buf_release(&start);
    return rc;
}

int vcm_git_repo_resolve(struct vcm_git_id *out, struct vcm_git_repo *repo, const char *branch,
                         const char *commit, struct vcm_error *err)
{
    git_object *object = NULL;
    int rc = VCM_OK;

    memset(out, 0, sizeof *out);
    if (commit)
        return resolve_commit(out, repo, commit, err);
    if (branch)
        rc = find_branch(&object, repo, branch, err);
    else
        rc = find_head(&object, repo, err);
    if (rc == VCM_OK)
        rc = peel_to_commit(out, object, branch ? branch : "HEAD", err);
    vcm_libgit2.object_free(object);
    return rc;
}

void vcm_git_repo_id_to_hex(char out[VCM_GIT_ID_HEX + 1], const struct vcm_git_id *id)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < VCM_GIT_ID_BYTES; i++) {
        out[2 * i] = digits[id->bytes[i] >> 4];
        out[2 * i + 1] = digits[id->bytes[i] & 15];
    }
    out[VCM_GIT_ID_HEX] = '\0';
}
