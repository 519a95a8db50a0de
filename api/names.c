#include "api/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "repomap/scope_id.h"

#include "base/banned.h"

#define CANDIDATES_MAX 10u

int vcm_names_no_scope(const char *name, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_NOT_FOUND,
                         "no scope '%s' is mapped; 'vcm scopes' lists those that are", name);
}

int vcm_names_no_page(const char *name, struct vcm_error *err)
{
    return vcm_error_set(err, VCM_NOT_FOUND, "no page '%s'; 'vcm pages' lists the pages", name);
}

static int ambiguous(const char *what, const char *name, const char *const *candidates,
                     unsigned count, struct vcm_error *err)
{
    int rc = vcm_error_set(err, VCM_AMBIGUOUS,
                           "'%s' may be any of several %s: %s, %s%s; type more of it", name, what,
                           candidates[0], candidates[1], count > 2 ? ", ..." : "");
    vcm_error_detail_list(err, "candidates", candidates, count);
    return rc;
}

struct scope_search {
    struct vcm_slice name;
    bool allow_base;
    bool takes_worktrees;
    bool exact;
    bool is_base; /* the name is a base with several scopes */
    char found[CANDIDATES_MAX][VCM_LIMIT_SCOPE_ID_BYTES + 1];
    unsigned count;
};

/* The part of a scope id that names its base. */
static struct vcm_slice base_of(struct vcm_slice scope_id)
{
    const char *colon = memchr(scope_id.data, ':', scope_id.len);
    return vcm_slice_of(scope_id.data, colon ? (size_t)(colon - scope_id.data) : scope_id.len);
}

/* Scopes are visited in the order of their ids, which differs from the order of their bases: "a2"
 * is before "a:b". */
static void add_candidate(struct scope_search *search, struct vcm_slice candidate)
{
    char name[VCM_LIMIT_SCOPE_ID_BYTES + 1];
    unsigned at = search->count;

    memcpy(name, candidate.data, candidate.len);
    name[candidate.len] = '\0';
    while (at > 0 && strcmp(search->found[at - 1], name) > 0)
        at--;
    if (at == CANDIDATES_MAX)
        return;
    if (search->count < CANDIDATES_MAX)
        search->count++;
    memmove(search->found + at + 1, search->found + at,
            (search->count - 1 - at) * sizeof search->found[0]);
    memcpy(search->found[at], name, candidate.len + 1);
}

static int consider_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct scope_search *search = context;
    struct vcm_slice candidate = scope->scope_id;

    (void)err;
    if (vcm_slice_equal(candidate, search->name))
        search->exact = true;
    if (search->allow_base && vcm_scope_id_belongs(candidate, search->name))
        search->is_base = true;
    /* A prefix means a working tree only when it says so, or nothing else begins with it. */
    if (vcm_scope_is_worktree(candidate) && !search->takes_worktrees &&
        !memchr(search->name.data, '@', search->name.len))
        return VCM_OK;
    /* A prefix that ends before the colon may mean the base. */
    if (search->allow_base && !vcm_scope_is_worktree(candidate) &&
        base_of(candidate).len >= search->name.len)
        candidate = base_of(candidate);
    if (candidate.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return VCM_OK;
    for (unsigned i = 0; i < search->count; i++)
        if (vcm_slice_equal(vcm_slice_of_string(search->found[i]), candidate))
            return VCM_OK;
    add_candidate(search, candidate);
    return VCM_OK;
}

static void choose(struct vcm_names_scope *out, const char *text, bool is_base)
{
    snprintf(out->text, sizeof out->text, "%s", text);
    out->is_base = is_base;
}

int vcm_names_find_scope(struct vcm_names_scope *out, struct vcm_kv_txn *txn, const char *name,
                         bool allow_base, struct vcm_error *err)
{
    struct scope_search search = {.name = vcm_slice_of_string(name), .allow_base = allow_base};
    const char *candidates[CANDIDATES_MAX];

    memset(out, 0, sizeof *out);
    if (search.name.len == 0 || search.name.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return vcm_names_no_scope(name, err);
    int rc = vcm_page_store_each_scope(txn, search.name, consider_scope, &search, err);
    if (rc == VCM_OK && search.count == 0) {
        search.takes_worktrees = true;
        rc = vcm_page_store_each_scope(txn, search.name, consider_scope, &search, err);
    }
    if (rc != VCM_OK)
        return rc;
    if (search.exact || search.is_base) {
        choose(out, name, search.is_base);
        return VCM_OK;
    }
    if (search.count == 0 || search.name.len < VCM_LIMIT_PREFIX_MIN)
        return vcm_names_no_scope(name, err);
    if (search.count == 1) {
        choose(out, search.found[0], allow_base && !strpbrk(search.found[0], ":@"));
        return VCM_OK;
    }
    for (unsigned i = 0; i < search.count; i++)
        candidates[i] = search.found[i];
    return ambiguous("scopes", name, candidates, search.count, err);
}

bool vcm_names_scope_matches(const struct vcm_names_scope *name, struct vcm_slice scope_id)
{
    struct vcm_slice text = vcm_slice_of_string(name->text);
    return name->is_base ? vcm_scope_id_belongs(scope_id, text) : vcm_slice_equal(scope_id, text);
}

static bool is_page_prefix(const char *name)
{
    size_t len = strlen(name);

    for (const char *p = name; *p; p++)
        if (!isxdigit((unsigned char)*p))
            return false;
    return len <= VCM_PAGE_ID_HEX;
}

int vcm_names_check_page(const char *name, struct vcm_error *err)
{
    if (!name)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "give a page");
    if (strlen(name) >= VCM_LIMIT_PREFIX_MIN)
        return VCM_OK;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "'%s' is too short for a page; give at least %zu digits of its id", name,
                         VCM_LIMIT_PREFIX_MIN);
}

int vcm_names_find_page(struct vcm_page_id *out, struct vcm_kv_txn *txn, const char *name,
                        struct vcm_error *err)
{
    struct vcm_page_id ids[CANDIDATES_MAX];
    char hex[CANDIDATES_MAX][VCM_PAGE_ID_HEX + 1];
    char prefix[VCM_PAGE_ID_HEX + 1];
    const char *candidates[CANDIDATES_MAX];
    unsigned count = 0;

    int rc = vcm_names_check_page(name, err);
    if (rc != VCM_OK)
        return rc;
    if (!is_page_prefix(name))
        return vcm_names_no_page(name, err);
    for (size_t i = 0; i <= strlen(name); i++)
        prefix[i] = (char)tolower((unsigned char)name[i]);
    rc = vcm_page_store_find_pages(ids, &count, CANDIDATES_MAX, txn, prefix, err);
    if (rc != VCM_OK)
        return rc;
    if (count == 0)
        return vcm_names_no_page(name, err);
    *out = ids[0];
    if (count == 1)
        return VCM_OK;
    for (unsigned i = 0; i < count; i++) {
        vcm_page_id_to_hex(hex[i], &ids[i]);
        candidates[i] = hex[i];
    }
    return ambiguous("pages", name, candidates, count, err);
}
