#include "lfs/pointer.h"

#include <inttypes.h>

#include "base/banned.h"

#define VERSION_LINE   "version https://git-lfs.github.com/spec/v1\n"
#define HASH_NAME      "sha256:"
#define OID_HEX        (2 * VCM_HASH_SHA256_BYTES)
#define EXTENSIONS_MAX 10u

static bool take(struct vcm_slice *text, const char *expected)
{
    size_t len = strlen(expected);

    if (text->len < len || memcmp(text->data, expected, len) != 0)
        return false;
    *text = vcm_slice_of(text->data + len, text->len - len);
    return true;
}

/* "sha256:", lower-case digits, a line end. */
static bool take_oid(unsigned char oid[VCM_HASH_SHA256_BYTES], struct vcm_slice *text)
{
    if (!take(text, HASH_NAME) || text->len < OID_HEX)
        return false;
    for (size_t i = 0; i < OID_HEX; i++)
        if (text->data[i] >= 'A' && text->data[i] <= 'F')
            return false;
    if (!vcm_hash_from_hex(oid, text->data, VCM_HASH_SHA256_BYTES))
        return false;
    *text = vcm_slice_of(text->data + OID_HEX, text->len - OID_HEX);
    return take(text, "\n");
}

/* "ext-0-name sha256:...", in the order of their digits. */
static bool take_extension(struct vcm_slice *text, char *last_order)
{
    unsigned char oid[VCM_HASH_SHA256_BYTES];
    size_t at = 2;

    if (!take(text, "ext-") || text->len < at || text->data[0] < '0' || text->data[0] > '9' ||
        text->data[0] <= *last_order || text->data[1] != '-')
        return false;
    *last_order = text->data[0];
    while (at < text->len && ((text->data[at] >= 'a' && text->data[at] <= 'z') ||
                              (text->data[at] >= '0' && text->data[at] <= '9') ||
                              text->data[at] == '.' || text->data[at] == '-'))
        at++;
    if (at == 2)
        return false;
    *text = vcm_slice_of(text->data + at, text->len - at);
    return take(text, " ") && take_oid(oid, text);
}

static bool take_size(uint64_t *size, struct vcm_slice *text)
{
    size_t at = 0;

    *size = 0;
    for (; at < text->len && text->data[at] >= '0' && text->data[at] <= '9'; at++) {
        uint64_t digit = (uint64_t)(text->data[at] - '0');
        if (*size > (INT64_MAX - digit) / 10)
            return false;
        *size = 10 * *size + digit;
    }
    if (at == 0 || (at > 1 && text->data[0] == '0'))
        return false;
    *text = vcm_slice_of(text->data + at, text->len - at);
    return take(text, "\n");
}

bool vcm_lfs_pointer_parse(struct vcm_lfs_pointer *out, struct vcm_slice text)
{
    char last_order = '\0';

    memset(out, 0, sizeof *out);
    if (text.len > VCM_LFS_POINTER_BYTES_MAX || !take(&text, VERSION_LINE))
        return false;
    while (out->extensions < EXTENSIONS_MAX && text.len > 0 && text.data[0] == 'e') {
        if (!take_extension(&text, &last_order))
            return false;
        out->extensions++;
    }
    return take(&text, "oid ") && take_oid(out->oid, &text) && take(&text, "size ") &&
           take_size(&out->size, &text) && text.len == 0;
}

void vcm_lfs_pointer_put(struct vcm_buf *out, const struct vcm_lfs_pointer *pointer)
{
    char oid[OID_HEX + 1];

    vcm_hash_to_hex(oid, pointer->oid, sizeof pointer->oid);
    vcm_buf_append_format(out, VERSION_LINE "oid " HASH_NAME "%s\nsize %" PRIu64 "\n", oid,
                          pointer->size);
}
