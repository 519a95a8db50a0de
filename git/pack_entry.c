#include "git/pack_entry.h"

#include <string.h>

#include "git/repo.h"

#include "base/banned.h"

#define SHIFT_MAX 56

/* The distance to a delta's base, as git writes it. */
static bool parse_distance(uint64_t *out, const unsigned char **at, const unsigned char *end)
{
    uint64_t distance = 0;

    for (bool first = true; *at < end && distance < UINT64_MAX >> 8; first = false) {
        unsigned char byte = *(*at)++;
        distance = first ? 0 : (distance + 1) << 7;
        distance |= byte & 0x7f;
        if (!(byte & 0x80)) {
            *out = distance;
            return true;
        }
    }
    return false;
}

static bool parse_type(struct vcm_git_pack_entry *out, const unsigned char **at,
                       const unsigned char *end)
{
    if (*at == end)
        return false;
    unsigned char byte = *(*at)++;
    out->type = byte >> 4 & 7;
    out->size = byte & 15;
    for (unsigned shift = 4; byte & 0x80; shift += 7) {
        if (*at == end || shift > SHIFT_MAX)
            return false;
        byte = *(*at)++;
        out->size |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

bool vcm_git_pack_entry_parse(struct vcm_git_pack_entry *out, const struct vcm_git_pack_file *file,
                              vcm_git_pack_find_fn find, struct vcm_slice bytes, uint64_t offset)
{
    const unsigned char *start = (const unsigned char *)bytes.data;
    const unsigned char *at = start;
    const unsigned char *end = start + bytes.len;
    uint64_t distance = 0;

    memset(out, 0, sizeof *out);
    if (!parse_type(out, &at, end))
        return false;
    if (out->type == VCM_GIT_PACK_OFFSET_DELTA) {
        if (!parse_distance(&distance, &at, end) || distance == 0 || distance > offset)
            return false;
        out->base_at = offset - distance;
    } else if (out->type == VCM_GIT_PACK_ID_DELTA) {
        if (end - at < VCM_GIT_ID_BYTES || !find(&out->base_at, file, at))
            return false;
        at += VCM_GIT_ID_BYTES;
    }
    out->data_at = offset + (uint64_t)(at - start);
    return true;
}

/* A circle is found by comparing with one offset that was passed, which is replaced after 1, 2, 4,
 * 8, ... steps: within twice as many steps as the circle and the way to it are long. */
const char *vcm_git_pack_entry_fault(const struct vcm_git_pack_file *file, uint64_t offset)
{
    unsigned char bytes[VCM_GIT_PACK_ENTRY_BYTES] = {0};
    struct vcm_git_pack_entry entry;
    uint64_t passed = offset;

    for (unsigned steps = 1; steps <= VCM_GIT_PACK_CHAIN_MAX; steps++) {
        size_t len = vcm_git_pack_file_read(file, bytes, sizeof bytes, offset);
        if (!vcm_git_pack_entry_parse(&entry, file, vcm_git_pack_file_find_plain,
                                      vcm_slice_of(bytes, len), offset))
            return "a header in the pack is damaged, or the base of a delta is missing";
        if (entry.type >= VCM_GIT_PACK_COMMIT && entry.type <= VCM_GIT_PACK_TAG)
            return NULL;
        if (entry.type != VCM_GIT_PACK_OFFSET_DELTA && entry.type != VCM_GIT_PACK_ID_DELTA)
            return "the pack has an object of a type that is not known";
        offset = entry.base_at;
        if (offset == passed)
            return "its deltas are based on each other";
        if ((steps & (steps - 1)) == 0)
            passed = offset;
    }
    return "more than 4096 deltas lead to it";
}
