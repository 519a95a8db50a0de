#include "serve/auth.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/path.h"

#include "base/banned.h"

#define TOKEN_RANDOM_BYTES 32u
#define FILE_BYTES_MAX     ((size_t)4096)

int vcm_auth_random(unsigned char *out, size_t len, struct vcm_error *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t got = getrandom(out + done, len - done, 0);
        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR)
            return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot get random bytes");
    }
    return VCM_OK;
}

static int make_token(char out[VCM_AUTH_TOKEN_BYTES + 1], struct vcm_error *err)
{
    unsigned char bytes[TOKEN_RANDOM_BYTES];
    struct vcm_buf text = VCM_BUF_INIT(VCM_KIB);

    int rc = vcm_auth_random(bytes, sizeof bytes, err);
    if (rc != VCM_OK)
        return rc;
    vcm_base64_put(&text, vcm_slice_of(bytes, sizeof bytes));
    rc = vcm_buf_check(&text, "a token", err);
    for (size_t i = 0; rc == VCM_OK && i < VCM_AUTH_TOKEN_BYTES; i++)
        out[i] = (char)(text.data[i] == '+' ? '-' : text.data[i] == '/' ? '_' : text.data[i]);
    out[VCM_AUTH_TOKEN_BYTES] = '\0';
    vcm_buf_release(&text);
    return rc;
}

static int make_file(struct vcm_auth *auth, const char *path, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_KIB), folder = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    const char *slash = strrchr(path, '/');

    int rc = make_token(auth->read_token, err);
    if (rc == VCM_OK)
        rc = make_token(auth->all_token, err);
    if (rc == VCM_OK && slash && slash != path) {
        vcm_buf_append(&folder, path, (size_t)(slash - path));
        rc = vcm_path_make_directories(vcm_buf_text(&folder), 0700, err);
    }
    vcm_buf_append_format(&text, "read %s\nall %s\n", auth->read_token, auth->all_token);
    if (rc == VCM_OK)
        rc = vcm_path_write_file(path, vcm_buf_slice(&text), 0600, err);
    vcm_buf_release(&folder);
    vcm_buf_release(&text);
    return rc;
}

/* Takes a line "name token"; returns where the next one begins, or NULL. */
static const char *take_line(char out[VCM_AUTH_TOKEN_BYTES + 1], const char *text, const char *name)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t len = strlen(name);

    if (!text || strncmp(text, name, len) != 0 || text[len] != ' ' ||
        strspn(text + len + 1, digits) != VCM_AUTH_TOKEN_BYTES)
        return NULL;
    memcpy(out, text + len + 1, VCM_AUTH_TOKEN_BYTES);
    out[VCM_AUTH_TOKEN_BYTES] = '\0';
    text += len + 1 + VCM_AUTH_TOKEN_BYTES;
    return *text == '\n' ? text + 1 : NULL;
}

static bool parse(struct vcm_auth *auth, const char *text)
{
    const char *end = take_line(auth->all_token, take_line(auth->read_token, text, "read"), "all");

    return end && *end == '\0';
}

int vcm_auth_load(struct vcm_auth *auth, const char *path, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(FILE_BYTES_MAX);
    struct stat info;

    if (lstat(path, &info) != 0 && errno == ENOENT)
        return make_file(auth, path, err);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open the tokens in '%s'", path);
    int rc = VCM_OK;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_mode & 077 ||
        info.st_uid != getuid())
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "the tokens in '%s' have to be yours alone: chmod 600 it, or remove it "
                           "to get new ones",
                           path);
    close(fd);
    if (rc == VCM_OK)
        rc = vcm_path_read_file(&text, path, FILE_BYTES_MAX, err);
    if (rc == VCM_OK && !parse(auth, vcm_buf_text(&text)))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "'%s' does not hold the tokens of a server; remove it to get new ones",
                           path);
    vcm_buf_release(&text);
    return rc;
}

/* Takes as long for the first byte that differs as for the last. */
static bool is_equal(const char *token, const char *given, size_t len)
{
    unsigned char differs = 0;

    for (size_t i = 0; i < VCM_AUTH_TOKEN_BYTES; i++)
        differs |= (unsigned char)(token[i] ^ (i < len ? given[i] : '\0'));
    return differs == 0 && len == VCM_AUTH_TOKEN_BYTES;
}

enum vcm_auth_right vcm_auth_right_of(const struct vcm_auth *auth,
                                      const struct vcm_http_request *request, bool is_local,
                                      uid_t uid)
{
    static const char scheme[] = "Bearer ";
    const char *given = vcm_http_parse_header(request, "authorization");

    if (auth->is_open || (is_local && (uid == getuid() || uid == 0)))
        return VCM_AUTH_ALL;
    if (is_local || !given || strncasecmp(given, scheme, sizeof scheme - 1) != 0)
        return VCM_AUTH_NOTHING;
    given += sizeof scheme - 1;
    size_t len = strlen(given);
    bool may_read = is_equal(auth->read_token, given, len);
    bool may_all = is_equal(auth->all_token, given, len);
    return may_all ? VCM_AUTH_ALL : may_read ? VCM_AUTH_READ : VCM_AUTH_NOTHING;
}

/* Whether "host", "host:port" or "[::1]:port" is this server. */
static bool is_our_host(const struct vcm_auth *auth, const char *host, bool is_local)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    const char *colon = host[0] == '[' ? strchr(host, ']') : strchr(host, ':');
    char port[16];

    if (colon && *colon == ']')
        colon++;
    size_t len = colon && *colon != '\0' ? (size_t)(colon - host) : strlen(host);
    snprintf(port, sizeof port, ":%u", auth->port);
    if (strcmp(host + len, port) != 0 && (host[len] != '\0' || (auth->port != 80 && !is_local)))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == len && strncasecmp(names[i], host, len) == 0)
            return true;
    return false;
}

/* A name that the user gave: with its port, or without for any. */
static bool is_named(const struct vcm_auth *auth, const char *host)
{
    for (size_t i = 0; i < auth->host_count; i++) {
        size_t len = strlen(auth->hosts[i]);
        if (strncasecmp(auth->hosts[i], host, len) == 0 &&
            (host[len] == '\0' || (host[len] == ':' && !strchr(auth->hosts[i], ':'))))
            return true;
    }
    return false;
}

bool vcm_auth_is_ours(const struct vcm_auth *auth, const struct vcm_http_request *request,
                      bool is_local, const char **why)
{
    const char *host = vcm_http_parse_header(request, "host");
    const char *origin = vcm_http_parse_header(request, "origin");
    const char *site = vcm_http_parse_header(request, "sec-fetch-site");
    const char *origin_host = origin ? strstr(origin, "://") : NULL;

    *why = NULL;
    if (!host || (!is_our_host(auth, host, is_local) && !is_named(auth, host)))
        *why = "this server is not known by that Host; --allowed-host adds a name";
    else if (origin && (!origin_host || (!is_our_host(auth, origin_host + 3, is_local) &&
                                         !is_named(auth, origin_host + 3))))
        *why = "pages of that Origin may not use this server";
    else if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        *why = "pages of other sites may not use this server";
    return !*why;
}
