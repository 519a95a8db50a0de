#include "serve/request_state.h"

#include <string.h>

#include "base/base64.h"
#include "base/hash.h"
#include "base/limits.h"
#include "serve/auth.h"

#include "base/banned.h"

#define SIGNATURE_HEX ((size_t)2 * VCM_HASH_SHA256_BYTES)

int vcm_request_state_make_key(struct vcm_request_state_key *key, struct vcm_error *err)
{
    return vcm_auth_random(key->bytes, sizeof key->bytes, err);
}

/* What is signed: both texts, so that neither can be moved across the mark between them. */
static void sign(char hex[SIGNATURE_HEX + 1], const struct vcm_request_state_key *key,
                 const char *what, const char *text)
{
    struct vcm_buf whole = VCM_BUF_INIT(VCM_LIMIT_RPC_BYTES);
    unsigned char digest[VCM_HASH_SHA256_BYTES];

    vcm_buf_append_format(&whole, "%zu:%s:%s", strlen(what), what, text);
    vcm_hash_hmac_sha256(digest, vcm_slice_of(key->bytes, sizeof key->bytes),
                         vcm_buf_slice(&whole));
    vcm_hash_to_hex(hex, digest, sizeof digest);
    vcm_buf_release(&whole);
}

void vcm_request_state_put(struct vcm_buf *out, const struct vcm_request_state_key *key,
                           const char *what, const char *text)
{
    char hex[SIGNATURE_HEX + 1];

    sign(hex, key, what, text);
    vcm_buf_append(out, hex, SIGNATURE_HEX);
    vcm_base64_put(out, vcm_slice_of_string(text));
}

bool vcm_request_state_get(struct vcm_buf *out, const struct vcm_request_state_key *key,
                           const char *what, const char *state)
{
    char hex[SIGNATURE_HEX + 1];
    size_t begin = out->len;
    unsigned char differs = 0;

    if (strlen(state) < SIGNATURE_HEX ||
        !vcm_base64_get(out, vcm_slice_of_string(state + SIGNATURE_HEX)) ||
        strlen(vcm_buf_text(out)) != out->len)
        return false;
    sign(hex, key, what, vcm_buf_text(out) + begin);
    for (size_t i = 0; i < SIGNATURE_HEX; i++)
        differs |= (unsigned char)(hex[i] ^ state[i]);
    if (differs != 0)
        vcm_buf_truncate(out, begin);
    return differs == 0;
}
