#include "git/url.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/limits.h"
#include "git/repo.h"

#include "base/banned.h"

#define LETTERS     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS      "0123456789"
#define SCHEME_SET  LETTERS DIGITS "+.-"
#define HOST_SET    LETTERS DIGITS "._-"
#define USER_SET    LETTERS DIGITS "._+~-"
#define ADDRESS_SET LETTERS DIGITS ":." /* in the brackets of IPv6 */
#define PORT_DIGITS 5

/* The parts of "scheme://info@host:port/path", as slices of the text. */
struct parts {
    struct vcm_slice scheme;
    struct vcm_slice info;
    bool has_info;
    struct vcm_slice host; /* with its port */
    const char *path;      /* with its slash; "" without one */
};

static bool has_scheme(const char *text)
{
    size_t len = strspn(text, SCHEME_SET);

    return len > 0 && strncmp(text + len, "://", 3) == 0;
}

/* "ext::", "fd::": git runs a helper program of that name. */
static bool names_helper(const char *text)
{
    size_t len = strspn(text, SCHEME_SET);

    return len > 0 && strncmp(text + len, "::", 2) == 0;
}

/* "host:path" with the colon before any slash; an IPv6 host is in brackets. */
static size_t scp_colon(const char *text)
{
    size_t len = strcspn(text, "/:[");

    if (text[len] == '[') {
        const char *close = strchr(text + len, ']');
        return close && close[1] == ':' ? (size_t)(close + 1 - text) : 0;
    }
    return text[len] == ':' ? len : 0;
}

bool vcm_git_url_is_remote(const char *text)
{
    if (has_scheme(text) || names_helper(text))
        return true;
    return scp_colon(text) > 0 && access(text, F_OK) != 0;
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "%41" is "A". NULL for an escape that is none or hides a control character. The caller frees. */
static char *decode(struct vcm_slice text)
{
    char *out = calloc(text.len + 1, 1);
    size_t len = 0;

    for (size_t i = 0; out && i < text.len; i++) {
        int byte = (unsigned char)text.data[i];
        if (byte == '%') {
            int high = text.len - i > 2 ? hex_value(text.data[i + 1]) : -1;
            int low = text.len - i > 2 ? hex_value(text.data[i + 2]) : -1;
            byte = high < 0 || low < 0 ? 0 : 16 * high + low;
            i += 2;
        }
        if (byte < ' ' || byte == 0x7f) {
            free(out);
            return NULL;
        }
        out[len++] = (char)byte;
    }
    return out;
}

static bool only_has(struct vcm_slice text, const char *set)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] == '\0' || !strchr(set, text.data[i]))
            return false;
    return true;
}

/* A name or an address in brackets, with or without a port; nothing that ssh takes for an option.
 */
static bool is_host(struct vcm_slice host)
{
    const char *colon = NULL;

    if (host.len > 0 && host.data[0] == '[') {
        const char *close = memchr(host.data, ']', host.len);
        size_t inner = close ? (size_t)(close - host.data) - 1 : 0;
        if (inner == 0 || !only_has(vcm_slice_of(host.data + 1, inner), ADDRESS_SET))
            return false;
        host = vcm_slice_of(close + 1, host.len - inner - 2);
        if (host.len == 0)
            return true;
        colon = host.data[0] == ':' ? host.data : NULL;
        if (!colon)
            return false;
    } else {
        colon = host.len > 0 ? memchr(host.data, ':', host.len) : NULL;
        size_t name = colon ? (size_t)(colon - host.data) : host.len;
        if (name == 0 || host.data[0] == '-' || !only_has(vcm_slice_of(host.data, name), HOST_SET))
            return false;
    }
    if (!colon)
        return true;
    struct vcm_slice port = vcm_slice_of(colon + 1, host.len - (size_t)(colon + 1 - host.data));
    return port.len > 0 && port.len <= PORT_DIGITS && only_has(port, DIGITS);
}

static bool is_user(struct vcm_slice user)
{
    return user.len > 0 && user.data[0] != '-' && only_has(user, USER_SET);
}

static int refuse(const char *reason, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the git URL is refused: %s", reason);
}

static bool is_scheme(struct vcm_slice scheme, const char *name)
{
    return scheme.len == strlen(name) && strncasecmp(scheme.data, name, scheme.len) == 0;
}

static void split(struct parts *parts, const char *text)
{
    size_t scheme = strspn(text, SCHEME_SET);
    const char *authority = text + scheme + 3;
    size_t len = strcspn(authority, "/?#");

    memset(parts, 0, sizeof *parts);
    parts->scheme = vcm_slice_of(text, scheme);
    parts->path = authority + len;
    parts->host = vcm_slice_of(authority, len);
    for (size_t i = len; i > 0 && !parts->has_info; i--) {
        if (authority[i - 1] == '@') {
            parts->has_info = true;
            parts->info = vcm_slice_of(authority, i - 1);
            parts->host = vcm_slice_of(authority + i, len - i);
        }
    }
}

static int keep(char **out, const char *text, struct vcm_error *err)
{
    *out = strdup(text);
    return *out ? VCM_OK : vcm_error_memory(err);
}

static int keep_host(struct vcm_git_url *out, struct vcm_slice host, struct vcm_error *err)
{
    free(out->host);
    out->host = strndup(host.data, host.len);
    if (!out->host)
        return vcm_error_memory(err);
    for (char *p = out->host; *p != '\0'; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    return VCM_OK;
}

static int keep_address(struct vcm_git_url *out, const char *text, struct vcm_error *err)
{
    struct vcm_buf address = VCM_BUF_INIT(VCM_LIMIT_URL_BYTES);

    if (out->transport == VCM_GIT_URL_PATH && scp_colon(text) > 0)
        vcm_buf_append_string(&address, text); /* a file with a colon in its name */
    else
        vcm_git_repo_strip_credentials(&address, text);
    int rc = vcm_buf_check(&address, "the URL", err);
    if (rc == VCM_OK) {
        free(out->address);
        rc = keep(&out->address, vcm_buf_text(&address), err);
    }
    vcm_buf_release(&address);
    return rc;
}

static int take_secrets(struct vcm_git_url *out, const struct parts *parts, struct vcm_error *err)
{
    const char *colon = parts->info.len > 0 ? memchr(parts->info.data, ':', parts->info.len) : NULL;
    size_t user = colon ? (size_t)(colon - parts->info.data) : parts->info.len;

    if (!parts->has_info)
        return VCM_OK;
    out->user = decode(vcm_slice_of(parts->info.data, user));
    if (out->user && colon)
        out->password = decode(vcm_slice_of(colon + 1, parts->info.len - user - 1));
    if (!out->user || (colon && !out->password))
        return refuse("its user name or password cannot be decoded", err);
    return VCM_OK;
}

/* Whether a part of the path is ".."; it then leads away from what it names. */
static bool climbs(const char *path)
{
    while (*path != '\0') {
        size_t len = strcspn(path, "/");
        if (len == 2 && strncmp(path, "..", 2) == 0)
            return true;
        path += len + (path[len] == '/');
    }
    return false;
}

static int parse_file(struct vcm_git_url *out, const struct parts *parts, struct vcm_error *err)
{
    free(out->path);
    out->path = decode(vcm_slice_of_string(parts->path));
    if (parts->has_info || parts->host.len > 0)
        return refuse("a file URL names no host; write file:///path", err);
    if (!out->path)
        return refuse("it has an escape that cannot be decoded", err);
    if (out->path[0] != '/' || out->path[1] == '\0')
        return refuse("a file URL needs an absolute path", err);
    if (climbs(out->path))
        return refuse("a file URL may not have '..' in its path", err);
    out->transport = VCM_GIT_URL_FILE;
    return VCM_OK;
}

static int check_path(const char *path, struct vcm_error *err)
{
    char *decoded = decode(vcm_slice_of_string(path));

    bool sound = decoded != NULL;
    free(decoded);
    if (!sound)
        return refuse("it has an escape that cannot be decoded", err);
    if (strspn(path, "/") == strlen(path))
        return refuse("it has no path behind the host", err);
    return VCM_OK;
}

static int parse_scheme(struct vcm_git_url *out, const char *text, struct vcm_error *err)
{
    struct parts parts;

    split(&parts, text);
    if (is_scheme(parts.scheme, "file"))
        return parse_file(out, &parts, err);
    if (!is_scheme(parts.scheme, "https") && !is_scheme(parts.scheme, "ssh"))
        return refuse("use https, ssh or file; other transports are not allowed", err);
    if (!is_host(parts.host))
        return refuse("its host is no valid name", err);
    int rc = check_path(parts.path, err);
    if (rc == VCM_OK)
        rc = keep_host(out, parts.host, err);
    if (rc != VCM_OK)
        return rc;
    out->transport = is_scheme(parts.scheme, "https") ? VCM_GIT_URL_HTTPS : VCM_GIT_URL_SSH;
    if (out->transport == VCM_GIT_URL_SSH) {
        parts.info.len = strcspn(parts.info.len > 0 ? parts.info.data : "", ":@");
        return parts.has_info && !is_user(parts.info) ? refuse("its user is no valid name", err)
                                                      : VCM_OK;
    }
    if (strpbrk(parts.path, "?#"))
        return refuse("it has a '?' or '#'", err);
    return take_secrets(out, &parts, err);
}

/* "https:/u:p@host" is a slip, and no path of a host called https. */
static bool names_scheme(struct vcm_slice host)
{
    static const char *const schemes[] = {"https", "http", "ssh", "file", "git", "ftp"};

    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (is_scheme(host, schemes[i]))
            return true;
    return false;
}

/* "user@host:path" */
static int parse_scp(struct vcm_git_url *out, const char *text, size_t colon, struct vcm_error *err)
{
    const char *at = memchr(text, '@', colon), *path = text + colon + 1;
    struct vcm_slice user = vcm_slice_of(text, at ? (size_t)(at - text) : 0);
    struct vcm_slice host =
        vcm_slice_of(text + (at ? user.len + 1 : 0), colon - (at ? user.len + 1 : 0));

    if (at && !is_user(user))
        return refuse("its user is no valid name", err);
    if (!is_host(host))
        return refuse("its host is no valid name", err);
    if (!at && names_scheme(host))
        return refuse("'//' is missing behind the transport", err);
    if (path[0] == '\0' || path[0] == '-')
        return refuse("it has no path, or one that begins with '-'", err);
    if (!at && memchr(path, '@', strcspn(path, "/")))
        return refuse("it seems to hold a password; use the form user@host:path", err);
    out->transport = VCM_GIT_URL_SSH;
    return keep_host(out, host, err);
}

int vcm_git_url_parse(struct vcm_git_url *out, const char *text, struct vcm_error *err)
{
    memset(out, 0, sizeof *out);
    int rc = keep(&out->address, "", err);
    if (rc == VCM_OK)
        rc = keep(&out->host, "", err);
    if (rc == VCM_OK)
        rc = keep(&out->path, "", err);
    if (rc != VCM_OK)
        return rc;
    if (text[0] == '\0' || text[0] == '-')
        return refuse("it is empty or begins with '-'", err);
    if (strlen(text) > VCM_LIMIT_URL_BYTES - 1)
        return refuse("it is too long", err);
    if (has_control(text))
        return refuse("it has line breaks or control characters", err);
    if (has_scheme(text)) {
        rc = parse_scheme(out, text, err);
    } else if (names_helper(text)) {
        rc = refuse("use https, ssh or file; other transports are not allowed", err);
    } else if (vcm_git_url_is_remote(text)) {
        rc = parse_scp(out, text, scp_colon(text), err);
    } else {
        free(out->path);
        rc = keep(&out->path, text, err);
    }
    return rc == VCM_OK ? keep_address(out, text, err) : rc;
}

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void vcm_git_url_release(struct vcm_git_url *url)
{
    if (!url)
        return;
    free(url->address);
    free(url->host);
    free(url->path);
    wipe(url->user);
    wipe(url->password);
    memset(url, 0, sizeof *url);
}
