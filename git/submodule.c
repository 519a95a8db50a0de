#include "git/submodule.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/blob.h"
#include "git/internal.h"
#include "git/tree.h"

#include "base/banned.h"

#define MODULES_FILE   ".gitmodules"
#define SECTION        "submodule."
#define INCLUDE        "include"
#define PATH_VARIABLE  ".path"
#define URL_VARIABLE   ".url"
#define FD_PATH_FORMAT "/proc/self/fd/%d"

void vcm_git_submodule_release(struct vcm_git_submodule *submodule)
{
    if (!submodule)
        return;
    free(submodule->name);
    free(submodule->path);
    free(submodule->url);
    memset(submodule, 0, sizeof *submodule);
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

static int read_modules(struct vcm_buf *out, struct vcm_git_repo *repo,
                        const struct vcm_git_id *commit, const char *path, struct vcm_error *err)
{
    struct vcm_git_entry entry;
    struct vcm_error missing = {0};

    int rc = vcm_git_tree_entry(&entry, repo, commit, MODULES_FILE, &missing);
    if (rc == VCM_NOT_FOUND)
        return vcm_error_set(err, VCM_NOT_FOUND, "no submodule '%s': the commit has no %s", path,
                             MODULES_FILE);
    if (rc != VCM_OK) {
        if (err)
            *err = missing;
        return rc;
    }
    if (entry.kind == VCM_GIT_SYMLINK || entry.kind == VCM_GIT_SUBMODULE)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "submodule '%s': %s is no plain file", path,
                             MODULES_FILE);
    rc = vcm_git_blob_read(out, repo, &entry.id, err);
    if (rc != VCM_OK)
        return vcm_error_wrap(err, rc, "submodule '%s': %s", path, MODULES_FILE);
    if (out->len > 0 && memchr(out->data, '\0', out->len))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "submodule '%s': %s holds a NUL", path,
                             MODULES_FILE);
    return VCM_OK;
}

/* libgit2 follows [include] and [includeIf] in every file; git does not in .gitmodules. The
 * sections are renamed before libgit2 reads them; nothing else that matters has this form. */
static void disarm_includes(struct vcm_buf *text)
{
    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] != '[')
            continue;
        size_t at = i + 1;
        while (at < text->len && strchr(" \t\r\v\f", text->data[at]))
            at++;
        if (text->len - at >= sizeof INCLUDE - 1 &&
            strncasecmp(text->data + at, INCLUDE, sizeof INCLUDE - 1) == 0)
            text->data[at] = 'x';
    }
}

static int memory_failure(int reason, struct vcm_error *err)
{
    return vcm_error_sys(err, VCM_IO_ERROR, reason, "cannot copy %s to memory", MODULES_FILE);
}

/* libgit2 reads configuration from files only: this makes an unnamed one, which is deleted with its
 * descriptor. */
static int parse_modules(git_config **out, struct vcm_slice text, const char *path,
                         struct vcm_error *err)
{
    char name[sizeof FD_PATH_FORMAT + 16];

    *out = NULL;
    int fd = memfd_create("gitmodules", MFD_CLOEXEC);
    if (fd < 0)
        return memory_failure(errno, err);
    int failure = vcm_io_write_all(fd, text);
    int rc = failure == 0 ? VCM_OK : memory_failure(failure, err);
    snprintf(name, sizeof name, FD_PATH_FORMAT, fd);
    if (rc == VCM_OK && vcm_libgit2.config_open_ondisk(out, name) != 0) {
        const git_error *last = vcm_libgit2.error_last();
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "submodule '%s': cannot parse %s: %s", path,
                           MODULES_FILE, last && last->message ? last->message : "no reason given");
    }
    close(fd);
    return rc;
}

/* The name in "submodule.<name><variable>"; false when the key is another. */
static bool take_name(struct vcm_slice *name, const char *key, const char *variable)
{
    size_t len = strlen(key);
    size_t tail = strlen(variable);

    if (strncmp(key, SECTION, sizeof SECTION - 1) != 0 || len < sizeof SECTION - 1 + tail ||
        strcmp(key + len - tail, variable) != 0)
        return false;
    *name = vcm_slice_of(key + sizeof SECTION - 1, len - tail - (sizeof SECTION - 1));
    return true;
}

static bool same_path(const char *written, const char *path)
{
    size_t len = strlen(written);

    while (len > 1 && written[len - 1] == '/')
        len--;
    return len == strlen(path) && memcmp(written, path, len) == 0;
}

/* Calls `visit` for each value of ".path" or ".url" in the order of the file. */
typedef int (*value_fn)(void *context, struct vcm_slice name, const char *value);

static int each_value(git_config *config, const char *variable, value_fn visit, void *context)
{
    git_config_iterator *values = NULL;
    git_config_entry *entry = NULL;
    struct vcm_slice name;

    int git_code = vcm_libgit2.config_iterator_new(&values, config);
    while (git_code == 0 && (git_code = vcm_libgit2.config_next(&entry, values)) == 0)
        if (entry->value && take_name(&name, entry->name, variable))
            git_code = visit(context, name, entry->value);
    vcm_libgit2.config_iterator_free(values);
    return git_code == GIT_ITEROVER ? 0 : git_code;
}

struct search {
    struct vcm_git_submodule *out;
    bool no_memory;
};

/* Of several sections with the path the last counts, as in git. */
static int match_path(void *context, struct vcm_slice name, const char *value)
{
    struct search *search = context;

    if (!same_path(value, search->out->path))
        return 0;
    free(search->out->name);
    search->out->name = strndup(name.data, name.len);
    search->no_memory = !search->out->name;
    return search->no_memory ? -1 : 0;
}

/* Of several urls in a section the first counts, as in git. */
static int match_url(void *context, struct vcm_slice name, const char *value)
{
    struct search *search = context;

    if (search->out->url || !vcm_slice_equal(name, vcm_slice_of_string(search->out->name)))
        return 0;
    search->out->url = strdup(value);
    search->no_memory = !search->out->url;
    return search->no_memory ? -1 : 0;
}

static int search_modules(struct vcm_git_submodule *out, git_config *config, struct vcm_error *err)
{
    struct search search = {.out = out};
    struct vcm_error reason = {0};

    int git_code = each_value(config, PATH_VARIABLE, match_path, &search);
    if (git_code == 0 && !out->name)
        return vcm_error_set(err, VCM_NOT_FOUND, "no submodule '%s' in %s", out->path,
                             MODULES_FILE);
    if (git_code == 0)
        git_code = each_value(config, URL_VARIABLE, match_url, &search);
    if (search.no_memory)
        return vcm_error_memory(err);
    if (git_code != 0)
        return vcm_git_internal_error(err, git_code, "submodule '%s': cannot read %s", out->path,
                                      MODULES_FILE);
    if (vcm_path_check_relative("its name", vcm_slice_of_string(out->name), &reason) != VCM_OK)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "submodule '%s' is refused: %s", out->path,
                             reason.message);
    if (!out->url || out->url[0] == '\0')
        return vcm_error_set(err, VCM_NOT_FOUND, "the submodule '%s' has no url in %s", out->path,
                             MODULES_FILE);
    if (out->url[0] == '-' || has_control(out->url))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "submodule '%s' is refused: its url begins with '-' or has control "
                             "characters",
                             out->path);
    return VCM_OK;
}

/* The length of the part of an address that ".." cannot remove: "https://host", "git@host:"
 * (without the colon), or nothing of a path. */
static size_t root_length(const char *base)
{
    const char *scheme = strstr(base, "://");
    const char *colon = strchr(base, ':');
    const char *slash = strchr(base, '/');

    if (scheme && scheme < slash) {
        const char *path = strchr(scheme + 3, '/');
        return path ? (size_t)(path - base) : strlen(base);
    }
    if (colon && (!slash || colon < slash))
        return (size_t)(colon - base);
    return 0;
}

/* The length of `base` without its last part and the slash, or the colon of "host:", before it. */
static size_t length_above(const char *base, size_t root, size_t len)
{
    while (len > root && base[len - 1] != '/' && !(len - 1 == root && base[root] == ':'))
        len--;
    return len > root ? len - 1 : root;
}

int vcm_git_submodule_resolve_url(struct vcm_buf *out, const char *base, const char *url,
                                  struct vcm_error *err)
{
    size_t root = root_length(base);
    size_t len = strlen(base);
    const char *rest = url;

    if (strncmp(url, "./", 2) != 0 && strncmp(url, "../", 3) != 0) {
        vcm_git_repo_strip_credentials(out, url);
        return vcm_buf_check(out, "the url of a submodule", err);
    }
    while (len > root && base[len - 1] == '/')
        len--;
    for (;;) {
        if (strncmp(rest, "./", 2) == 0) {
            rest += 2;
        } else if (strncmp(rest, "../", 3) == 0) {
            if (len <= root)
                return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the url '%s' leads above '%s'",
                                     url, base);
            len = length_above(base, root, len);
            rest += 3;
        } else {
            break;
        }
    }
    vcm_buf_append(out, base, len);
    /* "host:x" without its "x" needs the colon again. */
    vcm_buf_append_byte(out, len == root && base[root] == ':' ? ':' : '/');
    vcm_buf_append_string(out, rest);
    while (out->len > 1 && out->data[out->len - 1] == '/')
        vcm_buf_truncate(out, out->len - 1);
    return vcm_buf_check(out, "the url of a submodule", err);
}

static bool is_relative_path(const char *address)
{
    return address[0] != '\0' && address[0] != '/' && root_length(address) == 0;
}

/* Resolves "." and ".." in an absolute path, as text. */
static void tidy(struct vcm_buf *out, const char *path)
{
    while (*path != '\0') {
        size_t len = strcspn(path, "/");
        if (len == 2 && strncmp(path, "..", 2) == 0) {
            while (out->len > 0 && out->data[out->len - 1] != '/')
                vcm_buf_truncate(out, out->len - 1);
            vcm_buf_truncate(out, out->len > 0 ? out->len - 1 : 0);
        } else if (len > 0 && !(len == 1 && path[0] == '.')) {
            vcm_buf_append_byte(out, '/');
            vcm_buf_append(out, path, len);
        }
        path += len + (path[len] == '/');
    }
}

/* The address of the parent: its origin, made absolute if it is a relative path, else its own
 * path. */
static int find_base(struct vcm_buf *out, struct vcm_git_repo *repo, struct vcm_error *err)
{
    struct vcm_buf origin = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = vcm_git_repo_origin(&origin, repo, err);
    if (rc == VCM_OK && is_relative_path(vcm_buf_text(&origin))) {
        struct vcm_buf joined = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
        vcm_path_join(&joined, repo->root, vcm_buf_text(&origin));
        tidy(out, vcm_buf_text(&joined));
        vcm_buf_release(&joined);
    } else if (rc == VCM_OK) {
        vcm_buf_append_string(out, origin.len > 0 ? origin.data : repo->root);
    }
    vcm_buf_release(&origin);
    return rc == VCM_OK ? vcm_buf_check(out, "the URL of origin", err) : rc;
}

static int settle_url(struct vcm_git_submodule *out, struct vcm_git_repo *repo,
                      struct vcm_error *err)
{
    struct vcm_buf base = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf url = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    int rc = find_base(&base, repo, err);
    if (rc == VCM_OK)
        rc = vcm_git_submodule_resolve_url(&url, vcm_buf_text(&base), out->url, err);
    if (rc == VCM_OK) {
        free(out->url);
        out->url = vcm_buf_detach(&url);
        rc = out->url ? VCM_OK : vcm_error_memory(err);
    }
    vcm_buf_release(&base);
    vcm_buf_release(&url);
    return rc == VCM_OK ? rc : vcm_error_wrap(err, rc, "submodule '%s'", out->path);
}

static int find_gitlink(struct vcm_git_submodule *out, struct vcm_git_repo *repo,
                        const struct vcm_git_id *commit, struct vcm_error *err)
{
    struct vcm_git_entry entry;
    struct vcm_error missing = {0};

    int rc = vcm_git_tree_entry(&entry, repo, commit, out->path, &missing);
    if (rc != VCM_OK && rc != VCM_NOT_FOUND) {
        if (err)
            *err = missing;
        return rc;
    }
    if (rc == VCM_NOT_FOUND || entry.kind != VCM_GIT_SUBMODULE)
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "'%s' is in %s, but is no submodule of the commit; 'git add' it there",
                             out->path, MODULES_FILE);
    out->commit = entry.id;
    return VCM_OK;
}

static int check_path(struct vcm_git_submodule *out, const char *path, struct vcm_error *err)
{
    struct vcm_slice slice = vcm_slice_of(path, strlen(path));
    struct vcm_error reason = {0};

    if (vcm_path_check_relative("its path", slice, &reason) != VCM_OK)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "submodule '%s' is refused: %s", path,
                             reason.message);
    if (slice.data[slice.len - 1] == '/')
        slice.len--;
    out->path = strndup(slice.data, slice.len);
    return out->path ? VCM_OK : vcm_error_memory(err);
}

int vcm_git_submodule_find(struct vcm_git_submodule *out, struct vcm_git_repo *repo,
                           const struct vcm_git_id *commit, const char *path, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_GITMODULES_BYTES);
    git_config *config = NULL;

    memset(out, 0, sizeof *out);
    int rc = check_path(out, path, err);
    if (rc == VCM_OK)
        rc = read_modules(&text, repo, commit, out->path, err);
    if (rc == VCM_OK) {
        disarm_includes(&text);
        rc = parse_modules(&config, vcm_buf_slice(&text), out->path, err);
    }
    if (rc == VCM_OK)
        rc = search_modules(out, config, err);
    if (rc == VCM_OK)
        rc = settle_url(out, repo, err);
    if (rc == VCM_OK)
        rc = find_gitlink(out, repo, commit, err);
    vcm_libgit2.config_free(config);
    vcm_buf_release(&text);
    return rc;
}

/* Opens the repository at `place`; NOT_FOUND when there is none or it lacks the commit. */
static int open_place(struct vcm_git_repo **out, const char *place,
                      const struct vcm_git_submodule *submodule)
{
    char hex[VCM_GIT_ID_HEX + 1];
    struct vcm_git_id id;

    if (vcm_git_repo_open(out, place, NULL) != VCM_OK)
        return VCM_NOT_FOUND;
    vcm_git_repo_id_to_hex(hex, &submodule->commit);
    if (vcm_git_repo_resolve(&id, *out, NULL, hex, NULL) == VCM_OK)
        return VCM_OK;
    vcm_git_repo_close(*out);
    *out = NULL;
    return VCM_NOT_FOUND;
}

/* Follows no symbolic link: the path of a submodule could lead anywhere. */
static bool is_beneath(const char *root, const char *path)
{
    int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = root_fd >= 0 ? vcm_path_open_beneath(root_fd, path, O_RDONLY | O_DIRECTORY, NULL) : -1;
    bool found = fd >= 0;

    if (found)
        close(fd);
    if (root_fd >= 0)
        close(root_fd);
    return found;
}

/* Only a directory with ".git": in an empty directory libgit2 would find the parent repository. */
static int open_in_working_tree(struct vcm_git_repo **out, struct vcm_git_repo *repo,
                                const struct vcm_git_submodule *submodule)
{
    struct vcm_buf place = VCM_BUF_INIT(4 * VCM_LIMIT_PATH_BYTES);
    struct stat status;
    int rc = VCM_NOT_FOUND;

    if (vcm_git_repo_is_bare(repo) || !is_beneath(repo->root, submodule->path))
        return rc;
    vcm_buf_append_format(&place, "%s/%s", repo->root, submodule->path);
    size_t len = place.len;
    vcm_buf_append_string(&place, "/.git");
    if (lstat(vcm_buf_text(&place), &status) == 0) {
        vcm_buf_truncate(&place, len);
        rc = open_place(out, vcm_buf_text(&place), submodule);
    }
    vcm_buf_release(&place);
    return rc;
}

static int open_in_git_directory(struct vcm_git_repo **out, struct vcm_git_repo *repo,
                                 const struct vcm_git_submodule *submodule)
{
    struct vcm_buf place = VCM_BUF_INIT(4 * VCM_LIMIT_PATH_BYTES);
    int rc = VCM_NOT_FOUND;

    vcm_path_join(&place, vcm_libgit2.repository_commondir(repo->handle), "modules");
    if (is_beneath(vcm_buf_text(&place), submodule->name)) {
        vcm_buf_append_format(&place, "/%s", submodule->name);
        rc = open_place(out, vcm_buf_text(&place), submodule);
    }
    vcm_buf_release(&place);
    return rc;
}

int vcm_git_submodule_open(struct vcm_git_repo **out, struct vcm_git_repo *repo,
                           const struct vcm_git_submodule *submodule, struct vcm_error *err)
{
    *out = NULL;
    if (open_in_working_tree(out, repo, submodule) == VCM_OK ||
        open_in_git_directory(out, repo, submodule) == VCM_OK)
        return VCM_OK;
    return vcm_error_set(err, VCM_NOT_FOUND,
                         "the submodule '%s' is not here at its commit; "
                         "'git submodule update --init' brings it",
                         submodule->path);
}
