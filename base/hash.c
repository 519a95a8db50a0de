#include "base/hash.h"

#include <assert.h>
#include <nettle/hmac.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <xxhash.h>

#include "base/banned.h"

static_assert(sizeof(struct sha256_ctx) <= sizeof(struct vcm_hash_sha256),
              "nettle's SHA-256 context fits");
static_assert(_Alignof(struct sha256_ctx) <= _Alignof(struct vcm_hash_sha256),
              "nettle's SHA-256 context is aligned");

static struct sha256_ctx *context(struct vcm_hash_sha256 *hash)
{
    return (struct sha256_ctx *)(void *)hash->state;
}

void vcm_hash_sha256_init(struct vcm_hash_sha256 *hash)
{
    sha256_init(context(hash));
}

void vcm_hash_sha256_update(struct vcm_hash_sha256 *hash, const void *data, size_t len)
{
    if (len > 0)
        sha256_update(context(hash), len, data);
}

void vcm_hash_sha256_final(struct vcm_hash_sha256 *hash,
                           unsigned char digest[VCM_HASH_SHA256_BYTES])
{
    sha256_digest(context(hash), VCM_HASH_SHA256_BYTES, digest);
}

void vcm_hash_sha256_of(unsigned char digest[VCM_HASH_SHA256_BYTES], struct vcm_slice data)
{
    struct vcm_hash_sha256 hash;

    vcm_hash_sha256_init(&hash);
    vcm_hash_sha256_update(&hash, data.data, data.len);
    vcm_hash_sha256_final(&hash, digest);
}

static_assert(sizeof(struct sha1_ctx) <= sizeof(struct vcm_hash_sha1),
              "nettle's SHA-1 context fits");
static_assert(_Alignof(struct sha1_ctx) <= _Alignof(struct vcm_hash_sha1),
              "nettle's SHA-1 context is aligned");

static struct sha1_ctx *context_sha1(struct vcm_hash_sha1 *hash)
{
    return (struct sha1_ctx *)(void *)hash->state;
}

void vcm_hash_sha1_init(struct vcm_hash_sha1 *hash)
{
    sha1_init(context_sha1(hash));
}

void vcm_hash_sha1_update(struct vcm_hash_sha1 *hash, const void *data, size_t len)
{
    if (len > 0)
        sha1_update(context_sha1(hash), len, data);
}

void vcm_hash_sha1_final(struct vcm_hash_sha1 *hash, unsigned char digest[VCM_HASH_SHA1_BYTES])
{
    sha1_digest(context_sha1(hash), VCM_HASH_SHA1_BYTES, digest);
}

void vcm_hash_hmac_sha256(unsigned char digest[VCM_HASH_SHA256_BYTES], struct vcm_slice key,
                          struct vcm_slice text)
{
    struct hmac_sha256_ctx context;

    hmac_sha256_set_key(&context, key.len, (const uint8_t *)key.data);
    hmac_sha256_update(&context, text.len, (const uint8_t *)text.data);
    hmac_sha256_digest(&context, VCM_HASH_SHA256_BYTES, digest);
}

void vcm_hash_sha1_of(unsigned char digest[VCM_HASH_SHA1_BYTES], struct vcm_slice head,
                      struct vcm_slice data)
{
    struct vcm_hash_sha1 hash;

    vcm_hash_sha1_init(&hash);
    vcm_hash_sha1_update(&hash, head.data, head.len);
    vcm_hash_sha1_update(&hash, data.data, data.len);
    vcm_hash_sha1_final(&hash, digest);
}

uint64_t vcm_hash_checksum(struct vcm_slice data, uint64_t seed)
{
    return XXH3_64bits_withSeed(data.len > 0 ? data.data : "", data.len, seed);
}

void vcm_hash_to_hex(char *out, const unsigned char *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

bool vcm_hash_from_hex(unsigned char *out, const char *hex, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        /* The second digit is not read when the first is invalid: `hex` may end there. */
        int high = digit_value(hex[2 * i]);
        int low = high < 0 ? -1 : digit_value(hex[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}
