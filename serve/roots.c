#include "serve/roots.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

#define HOST_BYTES ((size_t)256)

struct root {
    char *path; /* real */
    int fd;
    char *git_dir; /* elsewhere, of a linked working tree, when the server was started; or NULL */
};

struct vcm_roots {
    struct root roots[VCM_LIMIT_MCP_ROOTS];
    size_t count;
    bool has_default; /* the first root */
    const char *const *url_patterns;
    size_t url_pattern_count;
};

static bool is_home(const char *real)
{
    const char *named = getenv("HOME");
    struct passwd entry, *found = NULL;
    char text[4096];

    if (named && named[0] == '/') {
        char *home = realpath(named, NULL);
        bool same = home && strcmp(home, real) == 0;
        free(home);
        if (same)
            return true;
    }
    return getpwuid_r(getuid(), &entry, text, sizeof text, &found) == 0 && found &&
           strcmp(found->pw_dir, real) == 0;
}

/* The git directory that a file ".git" names: *real is NULL if there is none. */
static int read_git_file(char **real, const char *directory, const char *git, struct vcm_error *err)
{
    static const char mark[] = "gitdir: ";
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf place = VCM_BUF_INIT(3 * VCM_LIMIT_PATH_BYTES);

    *real = NULL;
    int rc = vcm_path_read_file(&text, git, VCM_LIMIT_PATH_BYTES, err);
    if (rc == VCM_OK && strncmp(vcm_buf_text(&text), mark, sizeof mark - 1) != 0)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' is no git repository", directory);
    if (rc == VCM_OK) {
        const char *target = vcm_buf_text(&text) + sizeof mark - 1;
        size_t len = strcspn(target, "\r\n");
        if (target[0] != '/')
            vcm_path_join(&place, directory, "");
        vcm_buf_append(&place, target, len);
        *real = realpath(vcm_buf_text(&place), NULL);
    }
    vcm_buf_release(&place);
    vcm_buf_release(&text);
    return rc;
}

static void note_git_dir(struct root *root)
{
    struct vcm_buf git = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    vcm_path_join(&git, root->path, ".git");
    read_git_file(&root->git_dir, root->path, vcm_buf_text(&git), NULL);
    vcm_buf_release(&git);
}

static int add_root(struct vcm_roots *roots, const char *directory, struct vcm_error *err)
{
    struct root *root = &roots->roots[roots->count];

    if (roots->count == VCM_LIMIT_MCP_ROOTS)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "there are at most %u roots",
                             VCM_LIMIT_MCP_ROOTS);
    root->path = realpath(directory, NULL);
    if (!root->path)
        return vcm_error_sys(err, VCM_INVALID_ARGUMENT, errno, "--root '%s' cannot be used",
                             directory);
    root->fd = open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root->fd < 0) {
        int failure = errno;
        free(root->path);
        return vcm_error_sys(err, VCM_INVALID_ARGUMENT, failure, "--root '%s' cannot be used",
                             directory);
    }
    roots->count++;
    if (strcmp(root->path, "/") == 0 || is_home(root->path))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--root '%s' is too much: name the directory of a repository, or one "
                             "that holds repositories",
                             directory);
    return VCM_OK;
}

int vcm_roots_open(struct vcm_roots **out, const struct vcm_roots_options *options,
                   struct vcm_error *err)
{
    struct vcm_roots *roots = calloc(1, sizeof *roots);
    char *here = options->current_directory ? realpath(".", NULL) : NULL;
    int rc = roots ? VCM_OK : vcm_error_memory(err);

    *out = NULL;
    if (rc == VCM_OK && here && strcmp(here, "/") != 0 && !is_home(here)) {
        rc = add_root(roots, here, err);
        roots->has_default = rc == VCM_OK;
    }
    for (size_t i = 0; rc == VCM_OK && i < options->directory_count; i++)
        rc = add_root(roots, options->directories[i], err);
    free(here);
    if (rc != VCM_OK) {
        vcm_roots_close(roots);
        return rc;
    }
    for (size_t i = 0; i < roots->count; i++)
        note_git_dir(&roots->roots[i]);
    roots->has_default = roots->has_default || roots->count == 1;
    roots->url_patterns = options->url_patterns;
    roots->url_pattern_count = options->url_pattern_count;
    *out = roots;
    return VCM_OK;
}

void vcm_roots_close(struct vcm_roots *roots)
{
    if (!roots)
        return;
    for (size_t i = 0; i < roots->count; i++) {
        free(roots->roots[i].path);
        free(roots->roots[i].git_dir);
        close(roots->roots[i].fd);
    }
    free(roots);
}

const char *vcm_roots_default(const struct vcm_roots *roots)
{
    return roots->has_default ? roots->roots[0].path : NULL;
}

/* The root above a real path, and the rest behind it. */
static const struct root *root_of(const struct vcm_roots *roots, const char *real,
                                  const char **rest)
{
    for (size_t i = 0; i < roots->count; i++) {
        size_t len = strlen(roots->roots[i].path);
        if (strncmp(real, roots->roots[i].path, len) != 0 ||
            (real[len] != '\0' && real[len] != '/'))
            continue;
        *rest = real[len] == '/' ? real + len + 1 : ".";
        return &roots->roots[i];
    }
    return NULL;
}

bool vcm_roots_contain(const struct vcm_roots *roots, const char *real_path)
{
    const char *rest;

    return root_of(roots, real_path, &rest) != NULL;
}

static int outside(const struct vcm_roots *roots, const char *path, struct vcm_error *err)
{
    if (roots->count == 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' cannot be used: this server has no root; start it with --root",
                             path);
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "'%s' is not beneath a root of this server, such as '%s'; --root adds one",
                         path, roots->roots[0].path);
}

/* Follows the links of a path once, and then makes sure that the way there has none. */
static int settle(char **real, const struct root **root, const struct vcm_roots *roots,
                  const char *path, const char *shown, struct vcm_error *err)
{
    const char *rest = NULL;

    *real = realpath(path, NULL);
    if (!*real && (errno == ENOENT || errno == ENOTDIR))
        return vcm_error_set(err, VCM_NOT_FOUND, "there is no '%s'", shown);
    *root = *real ? root_of(roots, *real, &rest) : NULL;
    if (!*root)
        return outside(roots, shown, err);
    int fd = vcm_path_open_beneath((*root)->fd, rest, O_PATH, NULL);
    if (fd < 0) /* it was replaced meanwhile, or the root was moved */
        return outside(roots, shown, err);
    close(fd);
    return VCM_OK;
}

/* A path as a client gives it, made absolute. What does not exist outside of the roots is not told
 * apart from what does. */
static int resolve(char **real, const struct root **root, const struct vcm_roots *roots,
                   const char *path, struct vcm_error *err)
{
    struct vcm_buf whole = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error found = {0};
    int rc = VCM_OK;

    *real = NULL;
    *root = NULL;
    if (path[0] == '\0' || path[0] == '-' || strlen(path) > VCM_LIMIT_PATH_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%.100s' is no path", path);
    if (path[0] != '/' && !roots->has_default)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' is relative; this server has several roots or none: give an "
                             "absolute path",
                             path);
    if (path[0] == '/')
        vcm_buf_append_string(&whole, path);
    else
        vcm_path_join(&whole, roots->roots[0].path, path);
    rc = settle(real, root, roots, vcm_buf_text(&whole), path, &found);
    if (rc == VCM_NOT_FOUND && path[0] == '/' && !vcm_roots_contain(roots, path))
        rc = outside(roots, path, err);
    else if (rc != VCM_OK && err)
        *err = found;
    vcm_buf_release(&whole);
    return rc;
}

int vcm_roots_resolve(const char **out, const struct vcm_roots *roots, const char *path,
                      struct vcm_arena *arena, struct vcm_error *err)
{
    const struct root *root;
    char *real = NULL;

    *out = NULL;
    int rc = resolve(&real, &root, roots, path, err);
    if (rc == VCM_OK && !(*out = vcm_arena_copy(arena, vcm_slice_of_string(real))))
        rc = vcm_error_memory(err);
    free(real);
    return rc;
}

/* It has to be beneath a root, too, or be the one that a root had from the beginning. */
static int check_git_file(const struct vcm_roots *roots, const char *directory, const char *git,
                          struct vcm_error *err)
{
    const struct root *root;
    char *real = NULL, *again = NULL;

    int rc = read_git_file(&real, directory, git, err);
    bool is_known = false;
    for (size_t i = 0; rc == VCM_OK && real && i < roots->count; i++)
        is_known =
            is_known || (roots->roots[i].git_dir && strcmp(roots->roots[i].git_dir, real) == 0);
    if (rc == VCM_OK && !is_known)
        rc = settle(&again, &root, roots, real ? real : "", directory, err);
    free(again);
    free(real);
    return rc;
}

/* Whether there is a repository in exactly this directory; VCM_NOT_FOUND if not. */
static int look_for_git(const struct vcm_roots *roots, const char *directory, struct vcm_error *err)
{
    struct vcm_buf git = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf objects = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    const struct root *root;
    struct stat info;
    char *real = NULL;
    int rc = VCM_STOP;

    vcm_path_join(&git, directory, ".git");
    vcm_path_join(&objects, directory, "objects");
    if (stat(vcm_buf_text(&git), &info) == 0 && S_ISREG(info.st_mode))
        rc = check_git_file(roots, directory, vcm_buf_text(&git), err);
    else if (stat(vcm_buf_text(&git), &info) == 0)
        rc = settle(&real, &root, roots, vcm_buf_text(&git), vcm_buf_text(&git), err);
    else if (stat(vcm_buf_text(&objects), &info) == 0 && S_ISDIR(info.st_mode))
        rc = settle(&real, &root, roots, vcm_buf_text(&objects), vcm_buf_text(&objects), err);
    free(real);
    vcm_buf_release(&objects);
    vcm_buf_release(&git);
    return rc;
}

int vcm_roots_resolve_repo(const char **out, const struct vcm_roots *roots, const char *repository,
                           struct vcm_arena *arena, struct vcm_error *err)
{
    const struct root *root;
    char *real = NULL;

    *out = repository;
    if (strstr(repository, "://") || (repository[0] != '/' && strchr(repository, '@')))
        return vcm_roots_check_url(roots, repository, err);
    int rc = resolve(&real, &root, roots, repository, err);
    char *at = rc == VCM_OK ? strdup(real) : NULL;
    if (rc == VCM_OK && !at)
        rc = vcm_error_memory(err);
    while (rc == VCM_OK && (rc = look_for_git(roots, at, err)) == VCM_STOP) {
        bool is_top = strcmp(at, root->path) == 0;
        char *slash = strrchr(at, '/');
        rc = VCM_OK;
        if (is_top || !slash || slash == at)
            rc = vcm_error_set(err, VCM_NOT_FOUND,
                               "no git repository at or above '%s', up to the root '%s'",
                               repository, root->path);
        else
            *slash = '\0';
    }
    if (rc == VCM_OK && !(*out = vcm_arena_copy(arena, vcm_slice_of_string(real))))
        rc = vcm_error_memory(err);
    free(at);
    free(real);
    return rc;
}

static bool is_public_v4(uint32_t address)
{
    static const struct {
        uint32_t net;
        unsigned bits;
    } closed[] = {
        {0x00000000, 8},  {0x0a000000, 8},  {0x64400000, 10}, {0x7f000000, 8},  {0xa9fe0000, 16},
        {0xac100000, 12}, {0xc0000000, 24}, {0xc0000200, 24}, {0xc0a80000, 16}, {0xc6120000, 15},
        {0xc6336400, 24}, {0xcb007100, 24}, {0xe0000000, 3},
    };

    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
        if ((address ^ closed[i].net) >> (32 - closed[i].bits) == 0)
            return false;
    return true;
}

/* Global unicast is 2000::/3; what of it carries an IPv4 address is judged by that. */
static bool is_public_v6(const unsigned char *a)
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    uint32_t last = (uint32_t)a[12] << 24 | (uint32_t)a[13] << 16 | (uint32_t)a[14] << 8 | a[15];

    if (memcmp(a, mapped, sizeof mapped) == 0)
        return is_public_v4(last);
    if ((a[0] & 0xe0) != 0x20)
        return false;
    if (a[0] == 0x20 && a[1] == 0x02) /* 6to4 */
        return is_public_v4((uint32_t)a[2] << 24 | (uint32_t)a[3] << 16 | (uint32_t)a[4] << 8 |
                            a[5]);
    return !(a[0] == 0x20 && a[1] == 0x01 && a[2] < 0x02) && /* Teredo and other protocols */
           !(a[0] == 0x20 && a[1] == 0x01 && a[2] == 0x0d && a[3] == 0xb8);
}

static bool is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return is_public_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (address->sa_family != AF_INET6)
        return false;
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    return is_public_v6(v6.sin6_addr.s6_addr);
}

/* Every address of the host has to be public: one of them will be taken. */
static int check_host(const char *host, struct vcm_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;

    if (getaddrinfo(host, "443", &hints, &found) != 0 || !found)
        return vcm_error_set(err, VCM_NETWORK_ERROR, "the address of '%s' cannot be found", host);
    bool all = true;
    for (const struct addrinfo *a = found; a; a = a->ai_next)
        all = all && is_public(a->ai_addr);
    freeaddrinfo(found);
    return all ? VCM_OK
               : vcm_error_set(err, VCM_INVALID_ARGUMENT,
                               "'%s' is no public address; --allow-url lets this server use it",
                               host);
}

int vcm_roots_check_url(const struct vcm_roots *roots, const char *url, struct vcm_error *err)
{
    static const char scheme[] = "https://";
    char host[HOST_BYTES];

    for (size_t i = 0; i < roots->url_pattern_count; i++)
        if (fnmatch(roots->url_patterns[i], url, 0) == 0)
            return VCM_OK;
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return vcm_error_set(
            err, VCM_INVALID_ARGUMENT,
            "only https URLs are fetched; --allow-url lets this server use others");
    const char *begin = url + sizeof scheme - 1;
    const char *at = memrchr(begin, '@', strcspn(begin, "/?#"));
    if (at)
        begin = at + 1;
    bool is_bracketed = begin[0] == '[';
    begin += is_bracketed;
    size_t len = strcspn(begin, is_bracketed ? "]" : ":/?#");
    if (len == 0 || len >= sizeof host)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the URL names no host");
    memcpy(host, begin, len);
    host[len] = '\0';
    return check_host(host, err);
}
