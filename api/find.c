#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/here.h"
#include "api/names.h"
#include "base/limits.h"
#include "base/text.h"
#include "vcm/store/page_find.h"

#include "base/banned.h"

/* The state of a search, scope by scope. */
struct search {
    struct vcm_kv_txn *txn;
    struct vcm_slice path; /* without the line */
    uint32_t line;         /* 0 for the whole file */
    const char *scope_name;
    struct vcm_names_scope scope;
    const char *repo;
    struct vcm_here here;
    char scope_id[VCM_LIMIT_SCOPE_ID_BYTES + 1]; /* the scope being searched */
    struct vcm_buf shown;                        /* the path, for the caller */
    uint64_t seen;                               /* records of the file, whatever their lines */
    uint64_t passed;
    uint32_t last_line;
    char omitted_by[VCM_LIMIT_SCOPE_ID_BYTES + 1]; /* a scope that left the file out, or "" */
    enum vcm_source_outcome omitted_as;
    vcm_find_fn visit;
    void *context;
};

static int pass_found(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    struct search *search = context;
    const struct vcm_page_record *record = found->record;
    char page_id[VCM_PAGE_ID_HEX + 1];

    search->seen++;
    if (record->end_line > search->last_line)
        search->last_line = record->end_line;
    if (search->line > 0 && (search->line < record->start_line || search->line > record->end_line))
        return VCM_OK;
    search->passed++;
    vcm_page_id_to_hex(page_id, &found->id);
    return search->visit(search->context,
                         &(struct vcm_find_entry){
                             .page_id = page_id,
                             .scope_id = search->scope_id,
                             .seq = found->seq,
                             .record = found->index,
                             .path = vcm_buf_text(&search->shown),
                             .line = search->line,
                             .part = record->part,
                             .parts = record->parts,
                             .start_line = record->start_line,
                             .end_line = record->end_line,
                         },
                         err);
}

static int note_omission(void *context, const struct vcm_page_omission *omission,
                         struct vcm_error *err)
{
    struct search *search = context;

    (void)err;
    if (!vcm_slice_equal(omission->path, search->path))
        return VCM_OK;
    memcpy(search->omitted_by, search->scope_id, sizeof search->omitted_by);
    search->omitted_as = omission->outcome;
    return VCM_STOP;
}

/* S17: the index has every path of the table. */
static int compare_path(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    const struct search *search = context;

    return vcm_slice_equal(found->record->path, search->path)
               ? vcm_error_set(err, VCM_STORE_CORRUPT,
                               "the store is damaged: the index of scope '%s' lacks '%.*s'",
                               search->scope_id, (int)search->path.len, search->path.data)
               : VCM_OK;
}

static int search_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct search *search = context;
    uint64_t seen = search->seen;

    if (!(search->scope_name ? vcm_names_scope_matches(&search->scope, scope->scope_id)
                             : vcm_here_takes(&search->here, scope)) ||
        scope->scope_id.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return VCM_OK;
    memcpy(search->scope_id, scope->scope_id.data, scope->scope_id.len);
    search->scope_id[scope->scope_id.len] = '\0';
    int rc = vcm_page_find_path(search->txn, scope->mapping, search->path, pass_found, search, err);
    if (rc == VCM_OK && search->seen == seen && search->omitted_by[0] == '\0')
        rc = vcm_page_table_each_omission(search->txn, scope->mapping, note_omission, search, err);
    if (rc == VCM_OK && search->seen == seen && search->omitted_by[0] == '\0')
        rc = vcm_page_find_each(search->txn, scope->mapping, compare_path, search, err);
    return rc;
}

static int search_path(struct search *search, struct vcm_slice path, uint32_t line,
                       struct vcm_error *err)
{
    search->path = path;
    search->line = line;
    vcm_buf_clear(&search->shown);
    vcm_buf_append_slice(&search->shown, path);
    int rc = vcm_buf_check(&search->shown, "a path", err);
    if (rc == VCM_OK)
        rc = vcm_page_store_each_scope(search->txn, vcm_slice_of("", 0), search_scope, search, err);
    return rc;
}

/* Splits "path:12"; false when there is no line. */
static bool split_line(struct vcm_slice *path, uint32_t *line, const char *text)
{
    const char *colon = strrchr(text, ':');
    uint64_t number = 0;

    if (!colon || colon == text || !vcm_text_parse_uint(&number, colon + 1) || number == 0 ||
        number > UINT32_MAX)
        return false;
    *path = vcm_slice_of(text, (size_t)(colon - text));
    *line = (uint32_t)number;
    return true;
}

static int nothing_found(const struct search *search, const char *text, struct vcm_error *err)
{
    if (search->seen > 0)
        return vcm_error_set(err, VCM_NOT_FOUND, "'%.*s' has no line %u; its last is %u",
                             (int)search->path.len, search->path.data, search->line,
                             search->last_line);
    if (search->omitted_by[0] != '\0')
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "'%s' has no page: scope '%s' leaves it out as %s; 'vcm coverage %s' "
                             "lists what is left out",
                             text, search->omitted_by, vcm_outcome_name(search->omitted_as),
                             search->omitted_by);
    return vcm_error_set(err, VCM_NOT_FOUND,
                         "no mapped scope holds '%s'; give its path from the root of the "
                         "repository, and 'vcm scopes' lists what is mapped",
                         text);
}

static int run_search(struct search *search, const char *text, struct vcm_error *err)
{
    struct vcm_slice path;
    uint32_t line;
    int rc = VCM_OK;

    while (strncmp(text, "./", 2) == 0)
        text += 2;
    if (search->scope_name)
        rc = vcm_names_find_scope(&search->scope, search->txn, search->scope_name, true, err);
    else
        rc = vcm_here_find(&search->here, search->txn, search->repo, err);
    if (rc == VCM_OK)
        rc = search_path(search, vcm_slice_of_string(text), 0, err);
    if (rc == VCM_OK && search->seen == 0 && search->omitted_by[0] == '\0' &&
        split_line(&path, &line, text))
        rc = search_path(search, path, line, err);
    return rc == VCM_OK && search->passed == 0 ? nothing_found(search, text, err) : rc;
}

int vcm_find(struct vcm *vcm, const struct vcm_find_query *query, vcm_find_fn visit, void *context,
             struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query->path));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"path", query->path}, {"scope", query->scope});
    if (rc != VCM_OK)
        return rc;
    struct search search = {
        .scope_name = query->scope, .repo = query->repo, .visit = visit, .context = context};

    rc = vcm_handle_open_for_reading(vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (!vcm->store)
        return query->scope ? vcm_names_no_scope(query->scope, err)
                            : nothing_found(&search, query->path, err);
    vcm_buf_init(&search.shown, VCM_LIMIT_TREE_PATH_BYTES);
    rc = vcm_page_store_read_begin(&search.txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = run_search(&search, query->path, err);
    vcm_kv_handle_read_end(search.txn);
    vcm_buf_release(&search.shown);
    vcm_here_release(&search.here);
    return vcm_damage_note(vcm, rc, err);
}
