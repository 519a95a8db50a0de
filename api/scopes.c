#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "base/arena.h"
#include "base/limits.h"

#include "base/banned.h"

struct listing {
    const struct vcm *vcm;
    vcm_scope_fn visit;
    void *context;
};

static const char *copy(struct vcm_arena *arena, struct vcm_slice text, bool *failed)
{
    const char *out = vcm_arena_copy(arena, text);
    if (!out)
        *failed = true;
    return out;
}

int vcm_scopes_pass(const struct vcm *vcm, vcm_scope_fn visit, void *context,
                    const struct vcm_scope *scope, struct vcm_error *err)
{
    struct vcm_buf place = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_arena arena;
    bool failed = false;

    int rc = vcm_handle_place(&place, vcm, scope->repo_root, err);
    if (rc != VCM_OK) {
        vcm_buf_release(&place);
        return rc;
    }
    vcm_arena_init(&arena, 1 * VCM_MIB);
    struct vcm_scope_info info = {
        .scope_id = copy(&arena, scope->scope_id, &failed),
        .name = copy(&arena, scope->row_name, &failed),
        .type = copy(&arena, scope->source_type, &failed),
        .repo_root = vcm_buf_text(&place),
        .origin_url = vcm_handle_text_or_null(copy(&arena, scope->origin_url, &failed)),
        .branch = vcm_handle_text_or_null(copy(&arena, scope->branch, &failed)),
        .commit = copy(&arena, scope->commit, &failed),
        .flush_threshold = scope->flush_threshold,
        .flush_token_budget = scope->flush_token_budget,
        .pinned = scope->pinned,
        .records = scope->records,
        .pages = scope->pages,
        .tokens = scope->tokens,
        .bytes = scope->bytes,
        .mapped_at = scope->mapped_at,
    };
    if (vcm_scope_is_worktree(scope->scope_id)) {
        info.tree = info.commit;
        info.commit = NULL;
    }
    vcm_map_coverage(&info.coverage, &scope->coverage);
    rc = failed ? vcm_error_memory(err) : visit(context, &info, err);
    vcm_arena_release(&arena);
    vcm_buf_release(&place);
    return rc;
}

static int pass_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    const struct listing *listing = context;

    return vcm_scopes_pass(listing->vcm, listing->visit, listing->context, scope, err);
}

int vcm_scopes(struct vcm *vcm, vcm_scope_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(visit));
    if (rc != VCM_OK)
        return rc;
    struct listing listing = {vcm, visit, context};
    struct vcm_kv_txn *txn = NULL;

    rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK || !vcm->store)
        return rc;
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(txn, vcm_slice_of("", 0), pass_scope, &listing, err);
    vcm_kv_handle_read_end(txn);
    return vcm_damage_note(vcm, rc, err);
}
