/*
 * hash.h - SHA-256 for identities, XXH3 for checksums, hex. The owner of nettle and xxHash.
 */
#ifndef VCM_BASE_HASH_H
#define VCM_BASE_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define VCM_HASH_SHA256_BYTES 32

struct vcm_hash_sha256 {
    _Alignas(16) unsigned char state[128]; /* nettle's context; hash.c asserts that it fits */
};

void vcm_hash_sha256_init(struct vcm_hash_sha256 *hash);
void vcm_hash_sha256_update(struct vcm_hash_sha256 *hash, const void *data, size_t len);
void vcm_hash_sha256_final(struct vcm_hash_sha256 *hash,
                           unsigned char digest[VCM_HASH_SHA256_BYTES]);

void vcm_hash_sha256_of(unsigned char digest[VCM_HASH_SHA256_BYTES], struct vcm_slice data);

/* The digest of a text that only who has the key can make (HMAC). */
void vcm_hash_hmac_sha256(unsigned char digest[VCM_HASH_SHA256_BYTES], struct vcm_slice key,
                          struct vcm_slice text);

/* For ids of git objects; no protection against forgery. */
#define VCM_HASH_SHA1_BYTES 20

struct vcm_hash_sha1 {
    _Alignas(16) unsigned char state[112]; /* nettle's context; hash.c asserts that it fits */
};

void vcm_hash_sha1_init(struct vcm_hash_sha1 *hash);
void vcm_hash_sha1_update(struct vcm_hash_sha1 *hash, const void *data, size_t len);
void vcm_hash_sha1_final(struct vcm_hash_sha1 *hash, unsigned char digest[VCM_HASH_SHA1_BYTES]);

/* The digest of both in order. */
void vcm_hash_sha1_of(unsigned char digest[VCM_HASH_SHA1_BYTES], struct vcm_slice head,
                      struct vcm_slice data);

/* A fast 64-bit checksum; `seed` chains several pieces. Stable across machines and versions. */
uint64_t vcm_hash_checksum(struct vcm_slice data, uint64_t seed);

/* Writes 2 * len lower-case digits and a NUL. */
void vcm_hash_to_hex(char *out, const unsigned char *bytes, size_t len);

/* Reads 2 * len digits of either case; false when there is anything else. */
bool vcm_hash_from_hex(unsigned char *out, const char *hex, size_t len);

#endif
