#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/names.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/limits.h"
#include "vcm/store/page_find.h"

#include "base/banned.h"

/* A path of the ledger. Its slices point into the memory map of the store while the transaction is
 * open. */
struct file {
    struct vcm_slice path;
    struct vcm_slice reason;
    enum vcm_source_outcome outcome;
};

struct ledger {
    const char *wanted;             /* outcome or reason, NULL for all */
    struct vcm_slice wanted_reason; /* as the store has it */
    struct file *files;
    size_t count;
    size_t capacity;
};

/* A reason that is not in the table is used unchanged: a source of the caller may have it. */
static struct vcm_slice stored_reason(const char *wanted)
{
    struct vcm_slice text = vcm_slice_of_string(wanted);
    const char *name = vcm_outcome_reason_name(vcm_outcome_reason_of(text));

    return name ? vcm_slice_of_string(name) : text;
}

static int add_file(struct ledger *ledger, const struct file *file, struct vcm_error *err)
{
    const char *wanted = ledger->wanted;

    if (wanted && strcmp(wanted, vcm_outcome_name(file->outcome)) != 0 &&
        !vcm_slice_equal(file->reason, ledger->wanted_reason))
        return VCM_OK;
    int rc = vcm_array_reserve(&ledger->files, &ledger->capacity, ledger->count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    ledger->files[ledger->count++] = *file;
    return VCM_OK;
}

static int add_record(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    if (found->record->part != 1)
        return VCM_OK;
    return add_file(context,
                    &(struct file){.path = found->record->path, .outcome = VCM_SOURCE_PAGED}, err);
}

static int add_omission(void *context, const struct vcm_page_omission *omission,
                        struct vcm_error *err)
{
    return add_file(context,
                    &(struct file){.path = omission->path,
                                   .reason = omission->reason,
                                   .outcome = omission->outcome},
                    err);
}

static int compare_files(const void *left, const void *right)
{
    const struct file *a = left, *b = right;
    size_t shorter = a->path.len < b->path.len ? a->path.len : b->path.len;
    int order = shorter > 0 ? memcmp(a->path.data, b->path.data, shorter) : 0;

    if (order != 0)
        return order;
    return a->path.len < b->path.len ? -1 : a->path.len > b->path.len;
}

static int pass_file(const struct file *file, vcm_coverage_fn visit, void *context,
                     struct vcm_error *err)
{
    struct vcm_arena arena;

    vcm_arena_init(&arena, 8 * VCM_LIMIT_TREE_PATH_BYTES);
    const char *path = vcm_arena_copy(&arena, file->path);
    const char *reason = vcm_arena_copy(&arena, file->reason);
    int rc = path && reason ? visit(context,
                                    &(struct vcm_coverage_file){
                                        .path = path,
                                        .outcome = vcm_outcome_name(file->outcome),
                                        .reason = vcm_handle_text_or_null(reason),
                                    },
                                    err)
                            : vcm_error_memory(err);
    vcm_arena_release(&arena);
    return rc;
}

static int read_ledger(struct ledger *ledger, struct vcm_kv_txn *txn, uint64_t mapping,
                       struct vcm_error *err)
{
    int rc = vcm_page_table_each_omission(txn, mapping, add_omission, ledger, err);
    if (rc == VCM_OK &&
        (!ledger->wanted || strcmp(ledger->wanted, vcm_outcome_name(VCM_SOURCE_PAGED)) == 0))
        rc = vcm_page_find_each(txn, mapping, add_record, ledger, err);
    if (rc == VCM_OK && ledger->count > 0)
        qsort(ledger->files, ledger->count, sizeof *ledger->files, compare_files);
    return rc;
}

int vcm_coverage(struct vcm *vcm, const struct vcm_coverage_query *query, vcm_scope_fn on_scope,
                 vcm_coverage_fn visit, void *context, struct vcm_error *err)
{
    int rc =
        VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(on_scope), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query->scope));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"scope", query->scope}, {"reason", query->reason});
    if (rc != VCM_OK)
        return rc;
    struct ledger ledger = {.wanted = query->reason, .wanted_reason = stored_reason(query->reason)};
    struct vcm_kv_txn *txn = NULL;
    struct vcm_names_scope name;
    struct vcm_scope scope = {0};

    rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (!vcm->store)
        return vcm_names_no_scope(query->scope, err);
    rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_names_find_scope(&name, txn, query->scope, false, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_scope(&scope, txn, vcm_slice_of_string(name.text), err);
    if (rc == VCM_OK)
        rc = vcm_scopes_pass(vcm, on_scope, context, &scope, err);
    if (rc == VCM_OK)
        rc = read_ledger(&ledger, txn, scope.mapping, err);
    for (size_t i = 0; rc == VCM_OK && i < ledger.count; i++)
        rc = pass_file(&ledger.files[i], visit, context, err);
    vcm_scope_release(&scope);
    vcm_kv_handle_read_end(txn);
    free(ledger.files);
    return vcm_damage_note(vcm, rc, err);
}
