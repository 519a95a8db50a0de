#include "git/credential.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

/* Hosts that accept a bare token require some user name with it; this one is accepted by them. */
#define TOKEN_USER "x-access-token"

static bool matches(const char *pattern, const char *host)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_LIMIT_URL_BYTES);
    const char *port = strrchr(host, ':');
    size_t len = strlen(host);

    if (port && strchr(port, ']'))
        port = NULL;
    if (port && !strchr(pattern, ':'))
        len = (size_t)(port - host);
    vcm_buf_append(&name, host, len);
    bool found = fnmatch(pattern, vcm_buf_text(&name), FNM_CASEFOLD | FNM_NOESCAPE) == 0;
    vcm_buf_release(&name);
    return found;
}

static bool is_closer(const char *pattern, const char *than)
{
    bool plain = !strpbrk(pattern, "*?["), than_plain = !strpbrk(than, "*?[");
    size_t len = strlen(pattern), than_len = strlen(than);

    if (plain != than_plain)
        return plain;
    return len != than_len ? len > than_len : strcmp(pattern, than) < 0;
}

static const struct vcm_git_credential *choose(const struct vcm_git_clones *clones,
                                               const char *host)
{
    const struct vcm_git_credential *best = NULL;

    for (unsigned i = 0; i < clones->credential_count; i++) {
        const struct vcm_git_credential *candidate = &clones->credentials[i];
        if (matches(candidate->pattern, host) &&
            (!best || is_closer(candidate->pattern, best->pattern)))
            best = candidate;
    }
    return best;
}

static int read_variable(struct vcm_buf *out, const struct vcm_git_credential *credential,
                         struct vcm_error *err)
{
    const char *value = getenv(credential->name);

    if (!value)
        return vcm_error_set(err, VCM_AUTH_FAILED,
                             "credentials.%s names the variable %s, which is not set",
                             credential->pattern, credential->name);
    vcm_buf_append_string(out, value);
    return VCM_OK;
}

static int read_file(struct vcm_buf *out, const struct vcm_git_credential *credential,
                     struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    const char *home = getenv("HOME");

    if (strncmp(credential->name, "~/", 2) == 0 && home)
        vcm_path_join(&path, home, credential->name + 2);
    else
        vcm_buf_append_string(&path, credential->name);
    int rc = vcm_path_read_file(out, vcm_buf_text(&path), VCM_LIMIT_SECRET_BYTES, NULL);
    vcm_buf_release(&path);
    if (rc != VCM_OK)
        return vcm_error_set(err, VCM_AUTH_FAILED,
                             "credentials.%s names the file '%s', which cannot be read",
                             credential->pattern, credential->name);
    return VCM_OK;
}

/* "user:password", or a token alone; one line. */
static int parse(struct vcm_git_secret *out, struct vcm_slice text, const char *user,
                 const struct vcm_git_credential *credential, struct vcm_error *err)
{
    while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
        text.len--;
    bool sound = text.len > 0;
    for (size_t i = 0; i < text.len; i++)
        sound = sound && (unsigned char)text.data[i] >= ' ' && text.data[i] != 0x7f;
    if (!sound)
        return vcm_error_set(err, VCM_AUTH_FAILED,
                             "credentials.%s: '%s' is not a single line 'user:password' or token",
                             credential->pattern, credential->name);
    const char *colon = memchr(text.data, ':', text.len);
    size_t name = colon ? (size_t)(colon - text.data) : 0;
    if (colon)
        out->user = strndup(text.data, name);
    else
        out->user = strdup(user && user[0] != '\0' ? user : TOKEN_USER);
    out->password = strndup(colon ? colon + 1 : text.data, colon ? text.len - name - 1 : text.len);
    return out->user && out->password ? VCM_OK : vcm_error_memory(err);
}

static int take_from_url(struct vcm_git_secret *out, const struct vcm_git_url *url,
                         struct vcm_error *err)
{
    out->user = strdup(url->user);
    out->password = url->password ? strdup(url->password) : NULL;
    return out->user && (!url->password || out->password) ? VCM_OK : vcm_error_memory(err);
}

int vcm_git_credential_find(struct vcm_git_secret *out, const struct vcm_git_clones *clones,
                            const struct vcm_git_url *url, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_SECRET_BYTES);

    memset(out, 0, sizeof *out);
    if (url->transport != VCM_GIT_URL_HTTPS)
        return VCM_OK;
    const struct vcm_git_credential *chosen = choose(clones, url->host);
    if (url->user && (url->password || !chosen))
        return take_from_url(out, url, err);
    if (!chosen)
        return VCM_OK;
    bool is_file = chosen->name[0] == '/' || chosen->name[0] == '~';
    int rc = is_file ? read_file(&text, chosen, err) : read_variable(&text, chosen, err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&text, "a credential", err);
    if (rc == VCM_OK)
        rc = parse(out, vcm_buf_slice(&text), url->user, chosen, err);
    if (text.data)
        explicit_bzero(text.data, text.len);
    vcm_buf_release(&text);
    return rc;
}

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void vcm_git_credential_release(struct vcm_git_secret *secret)
{
    wipe(secret->user);
    wipe(secret->password);
    memset(secret, 0, sizeof *secret);
}
