#include "base/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/banned.h"

#define SCHEME_SET "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+.-"
#define SPACES     " \t\r\n\v\f"

static void erase(char *from, const char *to)
{
    memmove(from, to, strlen(to) + 1);
}

static bool ends_with(const char *text, size_t len, const char *word)
{
    size_t word_len = strlen(word);

    return len >= word_len && strncasecmp(text + len - word_len, word, word_len) == 0;
}

/* Transports that people write: also with a slash or a colon too few, a password is told by them.
 */
static bool is_known(const char *scheme, size_t len)
{
    static const char *const known[] = {"https", "http", "ssh", "git", "ftp"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == len && strncasecmp(scheme, known[i], len) == 0)
            return true;
    return false;
}

/* Where the authority begins behind a scheme, or NULL: "://", of transports that are known also
 * ":/" and "//". "git:x" and "ssh:x" are paths on hosts of these names, "https:x" is a slip. */
static char *find_authority(const char *scheme, size_t len)
{
    const char *behind = scheme + len;
    size_t slashes = strspn(behind + (*behind == ':'), "/");
    bool colon = *behind == ':';

    if (!colon && slashes < 2)
        return NULL;
    if (!(colon && slashes >= 2) && !is_known(scheme, len))
        return NULL;
    if (slashes == 0 && (ends_with(scheme, len, "ssh") || ends_with(scheme, len, "git")))
        return NULL;
    return (char *)behind + colon + slashes;
}

/* The length of the text behind the last '@' before `end`, which is not before `start`; else 0. */
static size_t behind_at(const char *text, size_t start, size_t end)
{
    while (end > start && text[end - 1] != '@')
        end--;
    return end > start ? end : 0;
}

/* The length of user and password with their '@', 0 when there are none. `ends`: what ends a URL.
 * A URL in quotes ends with the quote when its password has one of these, or a slash, that should
 * have been escaped: "user:a/b@host". That is told by a "port" that is no number. */
static size_t user_length(const char *authority, const char *ends, char quote)
{
    size_t len = 0;

    while (authority[len] != '\0' && !strchr("/?#", authority[len]) &&
           !strchr(ends, authority[len]))
        len++;
    size_t user = behind_at(authority, 0, len), end = len;
    const char *colon = memchr(authority, ':', len);
    if (user > 0 || !colon || authority[0] == '[')
        return user;
    if (colon + 1 + strspn(colon + 1, "0123456789") == authority + len)
        return 0;
    while (authority[end] != '\0' &&
           (quote ? authority[end] != quote : !strchr(ends, authority[end])))
        end++;
    return behind_at(authority, len, end);
}

/* Erases the user and password of an authority. */
static void strip_user(char *authority, bool keeps_user, const char *ends, char quote)
{
    size_t len = user_length(authority, ends, quote);

    if (len == 0)
        return;
    char *colon = memchr(authority, ':', len);
    if (!keeps_user)
        erase(authority, authority + len);
    else if (colon)
        erase(colon, authority + len - 1);
}

static void strip_query(char *authority, const char *ends)
{
    size_t len = 0;

    while (authority[len] != '\0' && !strchr("?#", authority[len]) && !strchr(ends, authority[len]))
        len++;
    if (authority[len] != '?' && authority[len] != '#')
        return;
    size_t end = len;
    while (authority[end] != '\0' && !strchr(ends, authority[end]))
        end++;
    erase(authority + len, authority + end);
}

/* Strips the URL that begins with a scheme of `len` bytes. `ends`: what ends a URL, `query_ends`:
 * what ends its query, for a password may have a quote in it; `quote`: what the URL is in, or 0.
 * Returns where its authority begins, or NULL when there is no URL. */
static char *strip(char *text, size_t len, const char *ends, const char *query_ends, char quote)
{
    char *authority = find_authority(text, len);

    if (!authority)
        return NULL;
    strip_user(authority, ends_with(text, len, "ssh"), ends, quote);
    if (!ends_with(text, len, "file"))
        strip_query(authority, query_ends);
    return authority;
}

/* "user:password@host:path" is no URL: the host is "user". But somebody meant it as one. */
static void strip_scp(char *url)
{
    size_t user = strcspn(url, ":/@");
    size_t len = strcspn(url, "/");

    if (url[user] != ':')
        return;
    while (len > user && url[len - 1] != '@')
        len--;
    if (len > user)
        erase(url + user, url + len - 1);
}

void vcm_secret_strip_url(char *url)
{
    url += strspn(url, SPACES);
    size_t len = strspn(url, SCHEME_SET);

    while (len > 0 && strncmp(url + len, "::", 2) == 0) { /* of a helper: "ext::https://..." */
        url += len + 2;
        len = strspn(url, SCHEME_SET);
    }
    if (!strip(url, len, "", "", '\0'))
        strip_scp(url);
}

void vcm_secret_strip_text(char *text)
{
    char before = '\0';

    while (*text != '\0') {
        size_t len = strspn(text, SCHEME_SET);
        char quote = before == '\'' || before == '"' ? before : '\0';
        char *behind = strip(text, len, SPACES, SPACES "'\"", quote);
        if (behind)
            text = behind;
        else
            text += len > 0 ? len : 1;
        before = text[-1];
    }
}
