#include "git/internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/hash.h"

#include "base/banned.h"

const char *vcm_git_internal_message(void)
{
    const git_error *last = vcm_libgit2.error_last();

    return last && last->message ? last->message : "no reason given";
}

static enum vcm_code translate(int git_code)
{
    switch (git_code) {
    case GIT_ENOTFOUND:
    case GIT_EUNBORNBRANCH:
        return VCM_NOT_FOUND;
    case GIT_EAMBIGUOUS:
        return VCM_AMBIGUOUS;
    case GIT_EINVALIDSPEC:
        return VCM_INVALID_ARGUMENT;
    default:
        return VCM_IO_ERROR;
    }
}

int vcm_git_internal_error(struct vcm_error *err, int git_code, const char *format, ...)
{
    const git_error *last = vcm_libgit2.error_last();
    char what[400];
    va_list args;

    if (last && last->klass == GIT_ERROR_NOMEMORY)
        return vcm_error_memory(err);
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return vcm_error_set(err, translate(git_code), "%s: %s", what, vcm_git_internal_message());
}

bool vcm_git_internal_has_id(const struct vcm_git_id *id, const char *type, struct vcm_slice data)
{
    unsigned char digest[VCM_HASH_SHA1_BYTES];
    char head[48];

    /* The header ends with a NUL that counts. */
    int len = snprintf(head, sizeof head, "%s %zu", type, data.len);
    vcm_hash_sha1_of(digest, vcm_slice_of(head, (size_t)len + 1), data);
    return memcmp(digest, id->bytes, sizeof digest) == 0;
}

void vcm_git_internal_to_oid(git_oid *out, const struct vcm_git_id *id)
{
    _Static_assert(sizeof out->id == sizeof id->bytes, "ids are SHA-1");
    memcpy(out->id, id->bytes, sizeof out->id);
}

void vcm_git_internal_from_oid(struct vcm_git_id *out, const git_oid *oid)
{
    memcpy(out->bytes, oid->id, sizeof out->bytes);
}
