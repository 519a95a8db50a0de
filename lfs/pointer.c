#include "lfs/pointer.h"

#include <inttypes.h>

#include "base/banned.h"

#define VERSION   "https://git-lfs.github.com/spec/v1"
#define HASH_NAME "sha256:"
#define OID_HEX   (2 * VCM_HASH_SHA256_BYTES)

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Bytes of the white space at the begin of `text`, 0 for none. git-lfs also trims U+0085 and
 * U+00A0; the white space of other scripts is left to be wrong. */
static size_t space_before(struct vcm_slice text)
{
    if (text.len > 0 && is_space(text.data[0]))
        return 1;
    return text.len > 1 && text.data[0] == '\xc2' &&
                   (text.data[1] == '\x85' || text.data[1] == '\xa0')
               ? 2
               : 0;
}

static size_t space_behind(struct vcm_slice text)
{
    if (text.len > 0 && is_space(text.data[text.len - 1]))
        return 1;
    return text.len > 1 && space_before(vcm_slice_of(text.data + text.len - 2, 2)) == 2 ? 2 : 0;
}

static struct vcm_slice trim(struct vcm_slice text)
{
    for (size_t n; (n = space_before(text)) > 0;)
        text = vcm_slice_of(text.data + n, text.len - n);
    for (size_t n; (n = space_behind(text)) > 0;)
        text.len -= n;
    return text;
}

/* The next line of `text`, without its end. */
static struct vcm_slice take_line(struct vcm_slice *text)
{
    const char *end = memchr(text->data, '\n', text->len);
    size_t len = end ? (size_t)(end - text->data) : text->len;
    struct vcm_slice line = vcm_slice_of(text->data, len);
    size_t used = len + (end != NULL);

    *text = vcm_slice_of(text->data + used, text->len - used);
    if (line.len > 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* "key value", cut at the first space. */
static bool split(struct vcm_slice *key, struct vcm_slice *value, struct vcm_slice line)
{
    const char *space = memchr(line.data, ' ', line.len);

    if (!space)
        return false;
    *key = vcm_slice_of(line.data, (size_t)(space - line.data));
    *value = vcm_slice_of(space + 1, line.len - key->len - 1);
    return true;
}

static bool parse_version(struct vcm_lfs_pointer *out, struct vcm_slice value)
{
    static const char *const known[] = {
        VERSION,
        "https://hawser.github.com/spec/v1",
        "http://git-media.io/v/2",
    };

    (void)out;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (vcm_slice_equal(value, vcm_slice_of_string(known[i])))
            return true;
    return false;
}

/* "sha256:" and lower-case digits. */
static bool read_oid(unsigned char oid[VCM_HASH_SHA256_BYTES], struct vcm_slice value)
{
    size_t name = strlen(HASH_NAME);

    if (value.len != name + OID_HEX || memcmp(value.data, HASH_NAME, name) != 0)
        return false;
    for (size_t i = name; i < value.len; i++)
        if (value.data[i] >= 'A' && value.data[i] <= 'F')
            return false;
    return vcm_hash_from_hex(oid, value.data + name, VCM_HASH_SHA256_BYTES);
}

static bool parse_oid(struct vcm_lfs_pointer *out, struct vcm_slice value)
{
    return read_oid(out->oid, value);
}

/* A decimal number with or without a sign, as Go reads it; not below 0. */
static bool parse_size(struct vcm_lfs_pointer *out, struct vcm_slice value)
{
    bool minus = value.len > 0 && value.data[0] == '-';
    size_t at = minus || (value.len > 0 && value.data[0] == '+') ? 1 : 0;

    if (at == value.len)
        return false;
    for (; at < value.len; at++) {
        uint64_t digit = (uint64_t)(unsigned char)value.data[at] - '0';
        if (digit > 9 || out->size > (INT64_MAX - digit) / 10)
            return false;
        out->size = 10 * out->size + digit;
    }
    return !minus || out->size == 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The keys of extensions by the digit of their priority, which no two different ones share. */
struct extensions {
    struct vcm_slice keys[10];
};

/* "ext-0-name" and an oid. */
static bool parse_extension(struct vcm_lfs_pointer *out, struct extensions *extensions,
                            struct vcm_slice key, struct vcm_slice value)
{
    unsigned char oid[VCM_HASH_SHA256_BYTES];
    size_t prefix = strlen("ext-");

    if (key.len < prefix + 3 || memcmp(key.data, "ext-", prefix) != 0)
        return false;
    unsigned digit = (unsigned)(unsigned char)key.data[prefix] - '0';
    if (digit > 9 || key.data[prefix + 1] != '-' || !is_word(key.data[prefix + 2]))
        return false;
    struct vcm_slice *same = &extensions->keys[digit];
    if (same->len > 0 && !vcm_slice_equal(*same, key))
        return false;
    out->extensions += same->len == 0;
    *same = key;
    return read_oid(oid, value);
}

bool vcm_lfs_pointer_parse(struct vcm_lfs_pointer *out, struct vcm_slice text)
{
    static const struct {
        const char *key;
        bool (*parse)(struct vcm_lfs_pointer *out, struct vcm_slice value);
    } lines[] = {{"version", parse_version}, {"oid", parse_oid}, {"size", parse_size}};
    struct extensions extensions = {.keys = {{NULL, 0}}};
    size_t next = 0, count = sizeof lines / sizeof lines[0];

    memset(out, 0, sizeof *out);
    if (text.len > VCM_LFS_POINTER_BYTES_MAX)
        return false;
    for (text = trim(text); text.len > 0;) {
        struct vcm_slice line = take_line(&text), key, value;
        if (line.len == 0)
            continue;
        if (next == count || !split(&key, &value, line))
            return false;
        bool expected = vcm_slice_equal(key, vcm_slice_of_string(lines[next].key));
        if (!(expected ? lines[next].parse(out, value)
                       : parse_extension(out, &extensions, key, value)))
            return false;
        next += expected;
    }
    return next == count;
}

void vcm_lfs_pointer_put(struct vcm_buf *out, const struct vcm_lfs_pointer *pointer)
{
    char oid[OID_HEX + 1];

    vcm_hash_to_hex(oid, pointer->oid, sizeof pointer->oid);
    vcm_buf_append_format(out, "version " VERSION "\noid " HASH_NAME "%s\nsize %" PRIu64 "\n", oid,
                          pointer->size);
}
