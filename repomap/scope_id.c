#include "repomap/scope_id.h"

#include "base/hash.h"
#include "base/limits.h"
#include "vcm/store/scope.h"

#include "base/banned.h"

#define HASH_DIGITS 8

static bool is_name_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

int vcm_scope_id_check_base(const char *base, struct vcm_error *err)
{
    size_t len = strlen(base);

    for (size_t i = 0; i < len; i++)
        if (!is_name_byte(base[i]))
            len = 0;
    if (len == 0 || len > VCM_LIMIT_NAME_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' is no scope name; use 1 to %zu of A-Z a-z 0-9 . _ -", base,
                             VCM_LIMIT_NAME_BYTES);
    return VCM_OK;
}

int vcm_scope_id_check_nested(const char *base, struct vcm_error *err)
{
    size_t len = strlen(base), name = 0;

    for (size_t i = 0; i <= len && name != SIZE_MAX; i++) {
        bool ends = i == len || base[i] == ':';
        if (ends ? name == 0 : !is_name_byte(base[i]))
            name = SIZE_MAX;
        else
            name = ends ? 0 : name + 1;
    }
    if (name == SIZE_MAX || len > VCM_LIMIT_NAME_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' is no scope name; use names of A-Z a-z 0-9 . _ - with ':' "
                             "between, %zu bytes together at most",
                             base, VCM_LIMIT_NAME_BYTES);
    return VCM_OK;
}

/* "https://host/org/tool.git/" and "git@host:tool.git" both end in "tool". */
static struct vcm_slice last_part(const char *address)
{
    size_t end = strlen(address);

    while (end > 0 && address[end - 1] == '/')
        end--;
    if (end > 4 && memcmp(address + end - 4, ".git", 4) == 0)
        end -= 4;
    while (end > 0 && address[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && address[start - 1] != '/' && address[start - 1] != ':')
        start--;
    return vcm_slice_of(address + start, end - start);
}

void vcm_scope_id_derive(struct vcm_buf *out, const char *origin_url, const char *root)
{
    const char *address = origin_url[0] != '\0' ? origin_url : root;
    struct vcm_slice name = last_part(address);
    unsigned char digest[VCM_HASH_SHA256_BYTES];
    char hex[HASH_DIGITS + 1];

    if (name.len == 0)
        name = vcm_slice_of_string("repository");
    if (name.len > VCM_LIMIT_NAME_BYTES - HASH_DIGITS - 1)
        name.len = VCM_LIMIT_NAME_BYTES - HASH_DIGITS - 1;
    for (size_t i = 0; i < name.len; i++)
        vcm_buf_append_byte(out, is_name_byte(name.data[i]) ? name.data[i] : '-');
    vcm_hash_sha256_of(digest, vcm_slice_of_string(address));
    vcm_hash_to_hex(hex, digest, HASH_DIGITS / 2);
    vcm_buf_append_format(out, "-%s", hex);
}

void vcm_scope_id_of_row(struct vcm_buf *out, const char *base, const char *row, bool only_row)
{
    vcm_buf_append_string(out, base);
    if (!only_row || strcmp(row, "default") != 0)
        vcm_buf_append_format(out, ":%s", row);
}

bool vcm_scope_id_belongs(struct vcm_slice scope_id, struct vcm_slice base)
{
    if (vcm_scope_is_worktree(scope_id))
        return false;
    return scope_id.len >= base.len && memcmp(scope_id.data, base.data, base.len) == 0 &&
           (scope_id.len == base.len ||
            (scope_id.data[base.len] == ':' &&
             !memchr(scope_id.data + base.len + 1, ':', scope_id.len - base.len - 1)));
}
