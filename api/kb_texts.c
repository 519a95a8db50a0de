#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/kb_internal.h"
#include "base/array.h"
#include "base/limits.h"
#include "vcm/store/page_find.h"

#include "base/banned.h"

#define NAMES_MAX ((size_t)100000000)

/* A content id, as a page table has it. */
struct name {
    uint8_t len;
    unsigned char bytes[VCM_PAGE_CONTENT_ID_MAX];
};

struct names {
    struct name *items; /* sorted after the last one was added */
    size_t count, capacity;
};

static int compare_names(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct name));
}

static void name_of(struct name *out, struct vcm_slice bytes)
{
    memset(out, 0, sizeof *out);
    out->len = (uint8_t)(bytes.len < sizeof out->bytes ? bytes.len : sizeof out->bytes);
    if (out->len > 0)
        memcpy(out->bytes, bytes.data, out->len);
}

static int add_name(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    struct names *names = context;
    struct name name;

    name_of(&name, found->record->content_id);
    if (names->count > 0 && compare_names(&names->items[names->count - 1], &name) == 0)
        return VCM_OK;
    int rc = vcm_array_reserve(&names->items, &names->capacity, names->count + 1, NAMES_MAX, err);
    if (rc != VCM_OK)
        return rc;
    names->items[names->count++] = name;
    return VCM_OK;
}

static bool uses_name(void *context, struct vcm_slice bytes)
{
    const struct names *names = context;
    struct name name;

    name_of(&name, bytes);
    return names->count > 0 &&
           bsearch(&name, names->items, names->count, sizeof name, compare_names);
}

/* Reads the content ids of the page table in force. NOT_FOUND, with err unchanged, without such a
 * scope. */
static int read_names(struct names *out, struct vcm *vcm, const char *scope_id,
                      struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;
    struct vcm_scope scope = {0};

    int rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_scope(&scope, txn, vcm_slice_of_string(scope_id), err);
    if (rc == VCM_OK)
        rc = vcm_page_find_each(txn, scope.mapping, add_name, out, err);
    vcm_kv_handle_read_end(txn);
    vcm_scope_release(&scope);
    if (rc == VCM_OK && out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, compare_names);
    return rc;
}

/* Opens the knowledge base for writing if it exists. */
static int open_existing(struct vcm_database **out, struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    *out = NULL;
    int rc = vcm_handle_path(&path, vcm, VCM_DATABASE_FILE, err);
    if (rc == VCM_OK && access(vcm_buf_text(&path), F_OK) == 0)
        rc = vcm_kb_open_store(out, vcm, true, err);
    vcm_buf_release(&path);
    return rc;
}

static void warn(struct vcm *vcm, const char *scope_id, const struct vcm_error *why)
{
    vcm_log_write(vcm->log, VCM_LOG_WARNING, "unused texts of scope '%s' were not removed: %s",
                  scope_id, why->message);
}

static int settle(struct vcm *vcm, struct vcm_database *store, const char *scope_id,
                  struct vcm_error *err)
{
    struct names names = {0};
    int rc = read_names(&names, vcm, scope_id, err);

    if (rc == VCM_OK)
        rc = vcm_database_extractions_settle_scope(store, scope_id, uses_name, &names, err);
    else if (rc == VCM_NOT_FOUND)
        rc = vcm_database_extractions_forget_scope(store, scope_id, err);
    free(names.items);
    return rc;
}

void vcm_kb_texts_forget_scope(struct vcm *vcm, const char *scope_id)
{
    struct vcm_error why = {0};
    struct vcm_database *store = NULL;

    int rc = open_existing(&store, vcm, &why);
    if (rc == VCM_OK && store)
        rc = vcm_database_extractions_forget_scope(store, scope_id, &why);
    vcm_database_close(store);
    if (rc != VCM_OK)
        warn(vcm, scope_id, &why);
}

/* Removes unused texts of the wanted scope, or of all scopes that keep texts. */
static void settle_scopes(struct vcm *vcm, const char *wanted)
{
    struct vcm_buf scopes = VCM_BUF_INIT(64 * VCM_MIB);
    struct vcm_error why = {0};
    struct vcm_database *store = NULL;
    const char *scope_id = wanted ? wanted : "";

    int rc = open_existing(&store, vcm, &why);
    if (rc == VCM_OK && store)
        rc = vcm_database_extractions_list_scopes(&scopes, store, &why);
    for (size_t at = 0; rc == VCM_OK && at < scopes.len; at += strlen(scope_id) + 1) {
        scope_id = scopes.data + at;
        if (!wanted || strcmp(scope_id, wanted) == 0)
            rc = settle(vcm, store, scope_id, &why);
    }
    if (rc != VCM_OK)
        warn(vcm, scope_id, &why);
    vcm_database_close(store);
    vcm_buf_release(&scopes);
}

void vcm_kb_texts_settle_scope(struct vcm *vcm, const char *scope_id)
{
    settle_scopes(vcm, scope_id);
}

void vcm_kb_texts_settle_all(struct vcm *vcm)
{
    settle_scopes(vcm, NULL);
}
