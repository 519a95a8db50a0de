#include "vcm/store/scope.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/wire.h"

#include "base/banned.h"

_Static_assert(VCM_SOURCE_OUTCOMES <= UINT8_MAX, "their number is stored in a byte");

/* The text members in the order in which they are stored. */
static struct vcm_slice *text_member(struct vcm_scope *scope, unsigned index)
{
    struct vcm_slice *members[] = {
        &scope->scope_id, &scope->row_name,   &scope->source_type, &scope->repo_root,
        &scope->origin,   &scope->origin_url, &scope->branch,      &scope->commit,
    };
    return index < sizeof members / sizeof members[0] ? members[index] : NULL;
}

static const uint8_t by_row = 1, by_own = 2;

/* A table that is pinned for no reason that is known is pinned by its row: older versions stored
 * nothing else. */
static uint8_t pin_flags(const struct vcm_scope *scope)
{
    const unsigned own = scope->pinned_by_own ? by_own : 0;
    const unsigned row = scope->pinned_by_row || own == 0 ? by_row : 0;

    return scope->pinned ? (uint8_t)(own | row) : 0;
}

void vcm_scope_put(struct vcm_buf *out, const struct vcm_scope *scope)
{
    struct vcm_scope copy = *scope;

    for (unsigned i = 0; text_member(&copy, i); i++)
        vcm_wire_put_bytes(out, *text_member(&copy, i));
    vcm_buf_append(out, scope->fingerprint, sizeof scope->fingerprint);
    vcm_wire_put_u32(out, scope->flush_threshold);
    vcm_wire_put_u32(out, scope->flush_token_budget);
    vcm_wire_put_u8(out, pin_flags(scope));
    vcm_wire_put_u64(out, scope->mapping);
    vcm_wire_put_u64(out, scope->mapped_at);
    vcm_wire_put_u64(out, scope->records);
    vcm_wire_put_u64(out, scope->pages);
    vcm_wire_put_u64(out, scope->tokens);
    vcm_wire_put_u64(out, scope->bytes);
    vcm_wire_put_u64(out, scope->coverage.tracked);
    vcm_wire_put_u8(out, VCM_SOURCE_OUTCOMES);
    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        vcm_wire_put_u64(out, scope->coverage.by_outcome[i]);
    if (scope->chunk_target_tokens > 0) {
        vcm_wire_put_u32(out, scope->chunk_target_tokens);
        vcm_wire_put_u32(out, scope->chunk_overlap_tokens);
    }
}

bool vcm_scope_is_worktree(struct vcm_slice scope_id)
{
    const size_t len = sizeof VCM_SCOPE_WORKTREE - 1;

    return scope_id.len > len &&
           memcmp(scope_id.data + scope_id.len - len, VCM_SCOPE_WORKTREE, len) == 0;
}

uint64_t vcm_scope_revision(const struct vcm_scope *scope)
{
    struct vcm_buf value = VCM_BUF_INIT(64 * VCM_KIB);

    vcm_scope_put(&value, scope);
    uint64_t revision = vcm_hash_checksum(vcm_buf_slice(&value), 0);
    vcm_buf_release(&value);
    return revision;
}

int vcm_scope_get(struct vcm_scope *out, struct vcm_slice value, struct vcm_error *err)
{
    struct vcm_wire_reader r;

    memset(out, 0, sizeof *out);
    out->memory = malloc(value.len + 1);
    if (!out->memory)
        return vcm_error_memory(err);
    memcpy(out->memory, value.data, value.len);
    vcm_wire_reader_init(&r, vcm_slice_of(out->memory, value.len));

    for (unsigned i = 0; text_member(out, i); i++)
        *text_member(out, i) = vcm_wire_get_bytes(&r);
    struct vcm_slice fingerprint = vcm_wire_get_raw(&r, sizeof out->fingerprint);
    if (fingerprint.len == sizeof out->fingerprint)
        memcpy(out->fingerprint, fingerprint.data, fingerprint.len);
    out->flush_threshold = vcm_wire_get_u32(&r);
    out->flush_token_budget = vcm_wire_get_u32(&r);
    uint8_t pins = vcm_wire_get_u8(&r);
    out->pinned = pins != 0;
    out->pinned_by_row = (pins & by_row) != 0;
    out->pinned_by_own = (pins & by_own) != 0;
    out->mapping = vcm_wire_get_u64(&r);
    out->mapped_at = vcm_wire_get_u64(&r);
    out->records = vcm_wire_get_u64(&r);
    out->pages = vcm_wire_get_u64(&r);
    out->tokens = vcm_wire_get_u64(&r);
    out->bytes = vcm_wire_get_u64(&r);
    out->coverage.tracked = vcm_wire_get_u64(&r);
    /* A scope that an older vcm wrote may have fewer outcomes. */
    unsigned outcomes = vcm_wire_get_u8(&r);
    if (outcomes <= VCM_SOURCE_PAGED || outcomes > VCM_SOURCE_OUTCOMES)
        r.bad = true;
    for (unsigned i = 0; !r.bad && i < outcomes; i++)
        out->coverage.by_outcome[i] = vcm_wire_get_u64(&r);
    if (!r.bad && r.rest.len > 0) {
        out->chunk_target_tokens = vcm_wire_get_u32(&r);
        out->chunk_overlap_tokens = vcm_wire_get_u32(&r);
    }

    if (vcm_wire_reader_done(&r))
        return VCM_OK;
    vcm_scope_release(out);
    return vcm_error_set(err, VCM_STORE_CORRUPT, "a scope's description is malformed");
}

void vcm_scope_release(struct vcm_scope *scope)
{
    if (!scope)
        return;
    free(scope->memory);
    memset(scope, 0, sizeof *scope);
}
