#include <string.h>

#include "api/damage.h"
#include "api/arguments.h"
#include "api/handle.h"
#include "api/roster.h"
#include "base/defaults.h"
#include "base/limits.h"

#include "base/banned.h"

#define UNUSED_MS     (UINT64_C(60) * 60 * 1000 * VCM_DEFAULT_UNUSED_HOURS)
#define UNUSED_MS_MIN (UINT64_C(60) * 60 * 1000)
#define ROOTS_MAX     (64 * VCM_MIB)
#define ROSTER_MAX    (64 * VCM_MIB)

struct survey {
    const struct vcm *vcm;
    struct vcm_buf *roots; /* paths, each followed by a NUL */
};

static int note_place(const struct survey *survey, struct vcm_slice stored, struct vcm_error *err)
{
    int rc = vcm_handle_place(survey->roots, survey->vcm, stored, err);

    vcm_buf_append_byte(survey->roots, '\0');
    return rc == VCM_OK ? vcm_buf_check(survey->roots, "the list of repositories", err) : rc;
}

static int note_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    return note_place(context, scope->repo_root, err);
}

static int note_scopes(struct vcm_buf *roots, struct vcm *vcm, struct vcm_error *err)
{
    struct survey survey = {vcm, roots};
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_handle_open_for_change(vcm, err);
    if (rc != VCM_OK || !vcm->store)
        return rc;
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(txn, vcm_slice_of("", 0), note_scope, &survey, err);
    vcm_kv_handle_read_end(txn);
    return vcm_damage_note(vcm, rc, err);
}

/* Adds the repositories whose maps were mapped: their rows may all be in other repositories. */
static int note_roster(struct vcm_buf *roots, const struct vcm *vcm, struct vcm_error *err)
{
    const struct survey survey = {vcm, roots};
    struct vcm_roster_entry *entries = NULL;
    struct vcm_arena arena;

    vcm_arena_init(&arena, ROSTER_MAX);
    int rc = vcm_roster_read(&entries, &arena, vcm->home, err);
    for (const struct vcm_roster_entry *entry = entries; rc == VCM_OK && entry; entry = entry->next)
        rc = note_place(&survey, vcm_slice_of_string(entry->repository), err);
    vcm_arena_release(&arena);
    return rc;
}

static bool is_used(void *context, const char *path)
{
    const struct vcm_buf *roots = context;

    for (size_t at = 0; at < roots->len; at += strlen(roots->data + at) + 1)
        if (strcmp(roots->data + at, path) == 0)
            return true;
    return false;
}

int vcm_gc_clones(struct vcm_gc_clone_counts *out, struct vcm *vcm, uint64_t unused_ms,
                  struct vcm_error *err)
{
    struct vcm_buf roots = VCM_BUF_INIT(ROOTS_MAX);
    struct vcm_plan_request request = {.repository = NULL};
    struct vcm_git_clone_drops drops = {0};
    uint64_t unused = unused_ms > 0 ? unused_ms : UNUSED_MS;

    if (out)
        memset(out, 0, sizeof *out);
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out));
    if (rc != VCM_OK)
        return rc;
    if (unused < UNUSED_MS_MIN)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "a clone can be dropped when it was not used for an hour, not before");
    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_clones(&request, vcm, 0, err);
    if (rc == VCM_OK)
        rc = note_scopes(&roots, vcm, err);
    if (rc == VCM_OK)
        rc = note_roster(&roots, vcm, err);
    if (rc == VCM_OK)
        rc = vcm_git_clone_drop_unused(&drops, &vcm->clones, unused / 1000, is_used, &roots, err);
    *out = (struct vcm_gc_clone_counts){drops.dropped, drops.kept, drops.bytes};
    vcm_buf_release(&roots);
    return rc;
}
