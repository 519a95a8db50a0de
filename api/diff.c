#include "api/public/diff.h"

#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/diff_symbols.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "symbols/extractor.h"
#include "vcm/store/page_find.h"

#include "base/banned.h"

struct leaf {
    struct vcm_slice path; /* in the arena */
    struct vcm_git_id id;
    enum vcm_git_kind kind;
};

struct leaves {
    struct vcm_arena *arena;
    struct leaf *list;
    size_t count, capacity;
};

struct diff {
    struct vcm_place *place; /* at B */
    struct vcm_git_id from;
    struct vcm_arena arena;
    struct vcm_diff_file *files;
    size_t file_count, file_capacity;
    struct vcm_diff_rows rows;
};

/* Files */

static int take_leaf(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    struct leaves *leaves = context;

    int rc = vcm_array_reserve(&leaves->list, &leaves->capacity, leaves->count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    const char *path = rc == VCM_OK ? vcm_arena_copy(leaves->arena, entry->path) : NULL;
    if (rc == VCM_OK && !path)
        rc = vcm_error_memory(err);
    if (rc == VCM_OK)
        leaves->list[leaves->count++] =
            (struct leaf){vcm_slice_of(path, entry->path.len), entry->id, entry->kind};
    return rc;
}

static int skip_unchanged(void *context, struct vcm_slice path, bool *skip, struct vcm_error *err)
{
    (void)context;
    (void)path;
    (void)err;
    *skip = true;
    return VCM_OK;
}

static int compare_paths(struct vcm_slice a, struct vcm_slice b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_path(const void *a, const void *b)
{
    return compare_paths(((const struct leaf *)a)->path, ((const struct leaf *)b)->path);
}

/* The leaves of directories that are not the same in `base`. */
static int list_leaves(struct leaves *leaves, struct diff *diff, const struct vcm_git_id *commit,
                       const struct vcm_git_id *base, struct vcm_error *err)
{
    const struct vcm_git_visitor visitor = {
        .entry = take_leaf, .base = base, .unchanged = skip_unchanged};

    leaves->arena = &diff->arena;
    int rc = vcm_git_tree_visit(diff->place->repo, commit, "", &visitor, leaves,
                                diff->place->vcm->cancel, err);
    if (rc == VCM_OK && leaves->count > 0)
        qsort(leaves->list, leaves->count, sizeof *leaves->list, by_path);
    return rc;
}

static int add_file(struct diff *diff, const struct leaf *old, const struct leaf *new,
                    struct vcm_error *err)
{
    if (old && new && old->kind == new->kind && memcmp(&old->id, &new->id, sizeof old->id) == 0)
        return VCM_OK;
    int rc = vcm_array_reserve(&diff->files, &diff->file_capacity, diff->file_count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_diff_file *file = &diff->files[diff->file_count++];
    *file = (struct vcm_diff_file){
        .path = new ? new->path : old->path, .has_old = old != NULL, .has_new = new != NULL};
    if (old)
        file->old = old->id;
    if (new)
        file->new = new->id;
    return VCM_OK;
}

static int list_files(struct diff *diff, struct vcm_error *err)
{
    struct leaves old = {0}, new = {0};

    int rc = list_leaves(&old, diff, &diff->from, &diff->place->commit, err);
    if (rc == VCM_OK)
        rc = list_leaves(&new, diff, &diff->place->commit, &diff->from, err);
    for (size_t i = 0, j = 0; rc == VCM_OK && (i < old.count || j < new.count);) {
        int order = i == old.count   ? 1
                    : j == new.count ? -1
                                     : compare_paths(old.list[i].path, new.list[j].path);
        rc =
            add_file(diff, order <= 0 ? &old.list[i] : NULL, order >= 0 ? &new.list[j] : NULL, err);
        i += order <= 0;
        j += order >= 0;
    }
    free(old.list);
    free(new.list);
    return rc;
}

static const char *keep_path(struct diff *diff, struct vcm_slice path)
{
    struct vcm_buf shown = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);

    vcm_utf8_escape_path(&shown, path);
    const char *kept = vcm_arena_copy(&diff->rows.arena, vcm_buf_slice(&shown));
    vcm_buf_release(&shown);
    return kept;
}

static uint64_t hash_of(const struct vcm_git_id *id)
{
    return vcm_hash_checksum(vcm_slice_of(id->bytes, VCM_GIT_ID_BYTES), 0);
}

/* A row for each file; one that was removed and one that was added with the same content are one.
 */
static int rows_of_files(struct diff *diff, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < diff->file_count; i++) {
        const struct vcm_diff_file *file = &diff->files[i];
        const char *path = keep_path(diff, file->path);
        struct vcm_diff_row row = {.change = VCM_DIFF_CHANGED, .path = path, .symbol = path};
        if (!path)
            return vcm_error_memory(err);
        if (!file->has_old || !file->has_new) {
            row.change = file->has_old ? VCM_DIFF_REMOVED : VCM_DIFF_ADDED;
            row.hash = hash_of(file->has_old ? &file->old : &file->new);
        }
        rc = vcm_diff_symbols_add(&diff->rows, &row, err);
    }
    vcm_diff_symbols_join(&diff->rows);
    for (size_t i = 0; i < diff->rows.count; i++) {
        struct vcm_diff_row *row = &diff->rows.list[i];
        if (row->change == VCM_DIFF_MOVED)
            row->change = VCM_DIFF_RENAMED;
        row->symbol = row->old_symbol = NULL;
        row->old_line = 0;
    }
    return rc;
}

static int rows_of_symbols(struct diff *diff, struct vcm_error *err)
{
    struct vcm_extractor *extractor = NULL;

    int rc = vcm_extractor_open(&extractor, err);
    if (rc == VCM_OK)
        vcm_extractor_set_cancel(extractor, diff->place->vcm->cancel);
    for (size_t i = 0; rc == VCM_OK && i < diff->file_count; i++) {
        rc = vcm_cancel_check(diff->place->vcm->cancel, err);
        if (rc == VCM_OK)
            rc =
                vcm_diff_symbols_compare(&diff->rows, diff->place, extractor, &diff->files[i], err);
    }
    vcm_extractor_close(extractor);
    if (rc == VCM_OK)
        vcm_diff_symbols_join(&diff->rows);
    return rc;
}

/* Pages */

struct page_search {
    struct diff *diff;
    const struct vcm_diff_file *file;
    const struct vcm_scope *scope;
    const char *path;
    struct vcm_page_id last;
    bool has_last;
};

static int take_page(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    struct page_search *search = context;
    const struct vcm_diff_file *file = search->file;
    struct vcm_arena *arena = &search->diff->rows.arena;

    if (file->has_new &&
        vcm_slice_equal(found->record->content_id, vcm_slice_of(file->new.bytes, VCM_GIT_ID_BYTES)))
        return VCM_OK;
    if (search->has_last && memcmp(&search->last, &found->id, sizeof found->id) == 0)
        return VCM_OK;
    search->has_last = true;
    search->last = found->id;
    char *page_id = vcm_arena_alloc(arena, VCM_PAGE_ID_HEX + 1);
    const char *scope_id = vcm_arena_copy(arena, search->scope->scope_id);
    if (!page_id || !scope_id)
        return vcm_error_memory(err);
    vcm_page_id_to_hex(page_id, &found->id);
    return vcm_diff_symbols_add(&search->diff->rows,
                                &(struct vcm_diff_row){.change = VCM_DIFF_STALE,
                                                       .path = search->path,
                                                       .scope_id = scope_id,
                                                       .page_id = page_id},
                                err);
}

static int rows_of_pages(struct diff *diff, struct vcm_error *err)
{
    int rc = vcm_place_load_scopes(diff->place, err);

    for (size_t i = 0; rc == VCM_OK && i < diff->file_count; i++) {
        struct page_search search = {.diff = diff, .file = &diff->files[i]};
        search.path = keep_path(diff, diff->files[i].path);
        if (!search.path)
            return vcm_error_memory(err);
        for (size_t j = 0; rc == VCM_OK && j < diff->place->scope_count; j++) {
            search.scope = &diff->place->scopes[j];
            search.has_last = false;
            rc = vcm_page_find_path(diff->place->txn, search.scope->mapping,
                                    vcm_slice_of_string(search.path), take_page, &search, err);
        }
    }
    return rc;
}

/* The document */

static int by_place(const void *a, const void *b)
{
    const struct vcm_diff_row *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    if (order == 0 && x->line != y->line)
        order = x->line < y->line ? -1 : 1;
    if (order == 0)
        order = strcmp(x->symbol ? x->symbol : "", y->symbol ? y->symbol : "");
    return order != 0 ? order : (int)x->change - (int)y->change;
}

static void put_number(struct vcm_jsonw *w, const char *key, uint32_t value)
{
    if (value > 0)
        vcm_jsonw_member_uint(w, key, value);
    else
        vcm_jsonw_member_null(w, key);
}

static void put_row(struct vcm_jsonw *w, const struct vcm_diff_row *row)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "change", vcm_diff_symbols_change_name(row->change));
    vcm_jsonw_member_string(w, "path", row->path);
    vcm_jsonw_member_string(w, "old_path", row->old_path);
    vcm_jsonw_member_string(w, "symbol", row->symbol);
    vcm_jsonw_member_string(w, "old_symbol", row->old_symbol);
    vcm_jsonw_member_string(w, "kind", row->kind);
    put_number(w, "line", row->line);
    put_number(w, "end_line", row->end_line);
    put_number(w, "old_line", row->old_line);
    vcm_jsonw_member_string(w, "scope_id", row->scope_id);
    vcm_jsonw_member_string(w, "page_id", row->page_id);
    vcm_jsonw_end_object(w);
}

static void put_commit(struct vcm_jsonw *w, const char *key, const struct vcm_git_id *id)
{
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_repo_id_to_hex(hex, id);
    vcm_jsonw_member_string(w, key, hex);
}

static int pass_document(struct diff *diff, const char *by, vcm_document_fn visit, void *context,
                         struct vcm_error *err)
{
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct vcm_diff_rows *rows = &diff->rows;
    struct vcm_jsonw w;
    uint64_t total = 0;

    if (rows->count > 0)
        qsort(rows->list, rows->count, sizeof *rows->list, by_place);
    vcm_jsonw_init(&w, &document);
    vcm_jsonw_begin_object(&w);
    put_commit(&w, "from", &diff->from);
    put_commit(&w, "to", &diff->place->commit);
    vcm_jsonw_member_string(&w, "by", by);
    vcm_jsonw_member_uint(&w, "files", diff->file_count);
    vcm_jsonw_key(&w, "changes");
    vcm_jsonw_begin_array(&w);
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].gone)
            continue;
        put_row(&w, &rows->list[i]);
        total++;
    }
    vcm_jsonw_end_array(&w);
    vcm_jsonw_member_uint(&w, "total", total);
    vcm_jsonw_end_object(&w);
    int rc = vcm_jsonw_finish(&w, err);
    if (rc == VCM_OK)
        rc = visit(context, vcm_buf_text(&document), document.len, err);
    vcm_buf_release(&document);
    return rc;
}

/* "A..B", with HEAD for an end that is left out. */
static int open_range(struct diff *diff, struct vcm *vcm, const struct vcm_diff_query *query,
                      struct vcm_error *err)
{
    const char *dots = strstr(query->range, "..");
    size_t len = dots ? (size_t)(dots - query->range) : strlen(query->range);
    const char *to = dots ? dots + 2 : "";

    if ((dots && to[0] == '.') || strstr(to, ".."))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' is no range of two commits; write A..B", query->range);
    char *from = strndup(query->range, len);
    if (!from)
        return vcm_error_memory(err);
    const struct vcm_place_query place = {.repo = query->repo, .commit = to[0] ? to : NULL};
    int rc = vcm_place_open(&diff->place, vcm, &place, err);
    if (rc == VCM_OK && !diff->place->repo)
        rc = vcm_error_set(err, VCM_NOT_FOUND,
                           "the commits of '%s' are not here, and pages tell one state only",
                           query->range);
    if (rc == VCM_OK)
        rc = vcm_place_resolve(&diff->from, diff->place, from[0] ? from : NULL, err);
    free(from);
    return rc;
}

int vcm_diff(struct vcm *vcm, const struct vcm_diff_query *query, vcm_document_fn visit,
             void *context, struct vcm_error *err)
{
    static const struct {
        const char *name;
        int (*make)(struct diff *diff, struct vcm_error *err);
    } kinds[] = {{"symbols", rows_of_symbols}, {"files", rows_of_files}, {"pages", rows_of_pages}};
    size_t kind = 0;

    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query->range));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"range", query->range}, {"by", query->by});
    if (rc != VCM_OK)
        return rc;
    while (query->by && kind < 3 && strcmp(kinds[kind].name, query->by) != 0)
        kind++;
    if (kind == 3)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "changes are told by files, symbols or pages, not by '%s'", query->by);
    struct diff diff = {.place = NULL};
    vcm_arena_init(&diff.arena, 4 * VCM_GIB);
    vcm_arena_init(&diff.rows.arena, 4 * VCM_GIB);
    rc = open_range(&diff, vcm, query, err);
    if (rc == VCM_OK)
        rc = list_files(&diff, err);
    if (rc == VCM_OK)
        rc = kinds[kind].make(&diff, err);
    if (rc == VCM_OK)
        rc = pass_document(&diff, kinds[kind].name, visit, context, err);
    vcm_place_close(diff.place);
    free(diff.files);
    free(diff.rows.list);
    vcm_arena_release(&diff.rows.arena);
    vcm_arena_release(&diff.arena);
    return rc;
}
