#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/secret.h"

#include "base/banned.h"

const char *const vcm_error_code_names[] = {
    [VCM_OK] = "OK",
    [VCM_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
    [VCM_INVALID_REPO_MAP] = "INVALID_REPO_MAP",
    [VCM_NOT_FOUND] = "NOT_FOUND",
    [VCM_AMBIGUOUS] = "AMBIGUOUS",
    [VCM_AUTH_FAILED] = "AUTH_FAILED",
    [VCM_NETWORK_ERROR] = "NETWORK_ERROR",
    [VCM_TIMEOUT] = "TIMEOUT",
    [VCM_STORE_FULL] = "STORE_FULL",
    [VCM_STORE_CORRUPT] = "STORE_CORRUPT",
    [VCM_STORE_BUSY] = "STORE_BUSY",
    [VCM_UNSUPPORTED] = "UNSUPPORTED",
    [VCM_IO_ERROR] = "IO_ERROR",
    [VCM_INTERNAL] = "INTERNAL",
    [VCM_INTERRUPTED] = "INTERRUPTED",
    NULL,
};

/* Of a message before passwords are taken out and it is cut: a URL may be longer than a message. */
#define WHOLE_BYTES 8192

#define CODE_COUNT (sizeof vcm_error_code_names / sizeof vcm_error_code_names[0] - 1)

void vcm_error_reset(struct vcm_error *err)
{
    if (err)
        memset(err, 0, sizeof *err);
}

/* A message is one line, even when a file name in it has line breaks. */
static void make_one_line(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = ' ';
}

/* Cuts an unfinished UTF-8 sequence that truncation left at the end. */
static void trim_partial_utf8(char *text)
{
    size_t len = strlen(text);
    size_t back = 0;

    while (back < 3 && back < len && ((unsigned char)text[len - 1 - back] & 0xc0) == 0x80)
        back++;
    if (back == len)
        return;
    unsigned char lead = (unsigned char)text[len - 1 - back];
    size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (need > back + 1)
        text[len - 1 - back] = '\0';
}

__attribute__((format(printf, 3, 0))) static void
set_message(struct vcm_error *err, enum vcm_code code, const char *format, va_list args)
{
    char whole[WHOLE_BYTES];

    assert(code != VCM_OK && !vcm_error_is_private((int)code));
    err->code = code;
    vsnprintf(whole, sizeof whole, format, args);
    make_one_line(whole);
    vcm_secret_strip_text(whole);
    snprintf(err->message, sizeof err->message, "%s", whole);
    trim_partial_utf8(err->message);
}

int vcm_error_fill(struct vcm_error *err, enum vcm_code code, const char *format, ...)
{
    if (!err)
        return (int)code;
    if (err->code != VCM_OK)
        return (int)err->code;
    if (!format) /* of a caller of the library */
        format = "";

    va_list args;
    va_start(args, format);
    set_message(err, code, format, args);
    va_end(args);
    return (int)code;
}

bool vcm_error_is_full(int sys_errno)
{
    return sys_errno == ENOSPC || sys_errno == EDQUOT || sys_errno == EFBIG;
}

bool vcm_error_is_denial(int sys_errno)
{
    return sys_errno == EACCES || sys_errno == EPERM || sys_errno == EROFS;
}

int vcm_error_fill_sys(struct vcm_error *err, enum vcm_code code, int sys_errno, const char *format,
                       ...)
{
    if (code == VCM_IO_ERROR && vcm_error_is_full(sys_errno))
        code = VCM_STORE_FULL;
    if (!err)
        return (int)code;
    if (err->code != VCM_OK)
        return (int)err->code;

    va_list args;
    va_start(args, format);
    set_message(err, code, format, args);
    va_end(args);

    char reason[128];
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s",
             strerror_r(sys_errno, reason, sizeof reason));
    err->sys_errno = sys_errno;
    return (int)code;
}

int vcm_error_wrap(struct vcm_error *err, int rc, const char *format, ...)
{
    if (!err || rc == VCM_OK || vcm_error_is_private(rc))
        return rc;

    char added[sizeof err->context], whole[WHOLE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(whole, sizeof whole, format, args);
    va_end(args);
    vcm_secret_strip_text(whole);
    snprintf(added, sizeof added, "%s", whole);

    if (err->context[0] != '\0') {
        size_t used = strlen(added);
        snprintf(added + used, sizeof added - used, " > %s", err->context);
    }
    memcpy(err->context, added, sizeof added);
    make_one_line(err->context);
    trim_partial_utf8(err->context);
    return rc;
}

/* Appends `text` as a JSON string if it and `spare` more bytes fit; returns whether it did. Bytes
 * that are no printable ASCII become '?': details are short names and ids. */
static bool append_quoted(struct vcm_error *err, const char *text, size_t spare)
{
    size_t used = strlen(err->details);
    size_t room = sizeof err->details - used;
    size_t need = 2;

    for (const char *p = text; *p; p++)
        need += *p == '"' || *p == '\\' ? 2 : 1;
    if (need + spare + 1 > room)
        return false;

    char *out = err->details + used;
    *out++ = '"';
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            *out++ = '\\';
        *out++ = (unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f ? '?' : *p;
    }
    *out++ = '"';
    *out = '\0';
    return true;
}

static void append_plain(struct vcm_error *err, const char *text)
{
    size_t used = strlen(err->details);
    snprintf(err->details + used, sizeof err->details - used, "%s", text);
}

void vcm_error_detail(struct vcm_error *err, const char *key, const char *value)
{
    if (!err)
        return;
    size_t before = strlen(err->details);
    if (before + strlen(value) + strlen(key) + 8 > sizeof err->details)
        return;
    if (before > 0)
        append_plain(err, ",");
    if (append_quoted(err, key, 4)) {
        append_plain(err, ":");
        if (append_quoted(err, value, 0))
            return;
    }
    err->details[before] = '\0';
}

void vcm_error_detail_list(struct vcm_error *err, const char *key, const char *const *values,
                           unsigned count)
{
    if (!err)
        return;
    size_t before = strlen(err->details);
    if (before + strlen(key) + 8 > sizeof err->details)
        return;
    if (before > 0)
        append_plain(err, ",");
    if (!append_quoted(err, key, 4)) {
        err->details[before] = '\0';
        return;
    }
    append_plain(err, ":[");
    for (unsigned i = 0; i < count; i++) {
        size_t mark = strlen(err->details);
        if (i > 0)
            append_plain(err, ",");
        if (!append_quoted(err, values[i], 1)) {
            err->details[mark] = '\0';
            break;
        }
    }
    append_plain(err, "]");
}

const char *vcm_error_code_name(enum vcm_code code)
{
    if ((size_t)code >= CODE_COUNT)
        return "INTERNAL";
    return vcm_error_code_names[code];
}

bool vcm_error_retryable(enum vcm_code code)
{
    return code == VCM_NETWORK_ERROR || code == VCM_TIMEOUT || code == VCM_STORE_BUSY ||
           code == VCM_INTERRUPTED;
}
