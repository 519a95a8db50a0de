#include "api/place_pages.h"

#include <stdlib.h>
#include <string.h>

#include "api/damage.h"
#include "api/names.h"
#include "base/array.h"
#include "base/limits.h"
#include "vcm/store/page_find.h"

#include "base/banned.h"

#define CANDIDATES_MAX 10u

struct gathering {
    struct vcm_place *place;
    const struct vcm_place_pages_filter *filter;
    struct vcm_names_scope name;
    struct vcm_buf origin; /* of the filter's place, or "" */
};

static bool is_wanted(const struct gathering *gathering, const struct vcm_scope *scope)
{
    const struct vcm_place_pages_filter *filter = gathering->filter;
    struct vcm_slice root = vcm_slice_of_string(filter->place ? filter->place->root : filter->root);
    struct vcm_slice origin =
        filter->place ? vcm_buf_slice(&gathering->origin) : vcm_slice_of_string(filter->origin);
    size_t commit = filter->commit ? strlen(filter->commit) : 0;

    if (filter->name && !vcm_names_scope_matches(&gathering->name, scope->scope_id))
        return false;
    if ((root.len > 0 || origin.len > 0) &&
        !(root.len > 0 && vcm_slice_equal(root, scope->repo_root)) &&
        !(origin.len > 0 && vcm_slice_equal(origin, scope->origin)))
        return false;
    return commit <= scope->commit.len &&
           (commit == 0 || memcmp(scope->commit.data, filter->commit, commit) == 0);
}

static int take_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct gathering *gathering = context;
    struct vcm_place *place = gathering->place;

    if (!is_wanted(gathering, scope))
        return VCM_OK;
    int rc = vcm_array_reserve(&place->scopes, &place->scope_capacity, place->scope_count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_scope(&place->scopes[place->scope_count], place->txn, scope->scope_id,
                                  err);
    place->scope_count += rc == VCM_OK;
    return rc;
}

int vcm_place_pages_open(struct vcm_place *place, const struct vcm_place_pages_filter *filter,
                         struct vcm_error *err)
{
    struct gathering gathering = {.place = place, .filter = filter};

    vcm_place_pages_close(place);
    place->has_scopes = true;
    int rc = vcm_handle_open_for_reading(place->vcm, err);
    if (rc != VCM_OK || !place->vcm->store)
        return rc;
    vcm_buf_init(&gathering.origin, VCM_LIMIT_URL_BYTES);
    if (filter->place)
        rc = vcm_git_repo_origin(&gathering.origin, filter->place->repo, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&place->txn, place->vcm->store, err);
    if (rc == VCM_OK && filter->name)
        rc = vcm_names_find_scope(&gathering.name, place->txn, filter->name, true, err);
    if (rc == VCM_OK)
        rc =
            vcm_page_store_each_scope(place->txn, vcm_slice_of("", 0), take_scope, &gathering, err);
    vcm_buf_release(&gathering.origin);
    return vcm_damage_note(place->vcm, rc, err);
}

void vcm_place_pages_close(struct vcm_place *place)
{
    for (size_t i = 0; i < place->scope_count; i++)
        vcm_scope_release(&place->scopes[i]);
    free(place->scopes);
    place->scopes = NULL;
    place->scope_count = place->scope_capacity = 0;
    place->has_scopes = false;
    vcm_kv_handle_read_end(place->txn);
    place->txn = NULL;
}

static void fill_file(struct vcm_place_file *out, const struct vcm_page_record *record,
                      const struct vcm_scope *scope)
{
    *out = (struct vcm_place_file){.path = record->path,
                                   .source = VCM_PLACE_PAGE,
                                   .kind = VCM_GIT_FILE,
                                   .has_blob = record->content_id.len == VCM_GIT_ID_BYTES,
                                   .scope = scope};
    if (out->has_blob)
        memcpy(out->blob.bytes, record->content_id.data, VCM_GIT_ID_BYTES);
}

struct file_search {
    struct vcm_place_file file;
    const struct vcm_scope *scope;
    bool found;
};

static int take_first(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    struct file_search *search = context;

    (void)err;
    fill_file(&search->file, found->record, search->scope);
    search->found = true;
    return VCM_STOP;
}

/* The scopes that have other files by the same path, too. */
struct rivals {
    char names[CANDIDATES_MAX][VCM_LIMIT_SCOPE_ID_BYTES + 1];
    unsigned count;
};

static void add_rival(struct rivals *rivals, const struct vcm_scope *scope)
{
    if (rivals->count == CANDIDATES_MAX || scope->scope_id.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return;
    memcpy(rivals->names[rivals->count], scope->scope_id.data, scope->scope_id.len);
    rivals->names[rivals->count++][scope->scope_id.len] = '\0';
}

static int refuse_rivals(const struct rivals *rivals, const char *path, struct vcm_error *err)
{
    const char *candidates[CANDIDATES_MAX];

    for (unsigned i = 0; i < rivals->count; i++)
        candidates[i] = rivals->names[i];
    int rc = vcm_error_set(err, VCM_AMBIGUOUS,
                           "'%s' is another file in each of several scopes: %s, %s%s; name one "
                           "with --scope %s",
                           path, candidates[0], candidates[1], rivals->count > 2 ? ", ..." : "",
                           candidates[0]);
    vcm_error_detail_list(err, "candidates", candidates, rivals->count);
    return rc;
}

struct omission_search {
    struct vcm_slice path;
    enum vcm_source_outcome outcome;
    bool found;
};

static int note_omission(void *context, const struct vcm_page_omission *omission,
                         struct vcm_error *err)
{
    struct omission_search *search = context;

    (void)err;
    if (!vcm_slice_equal(omission->path, search->path))
        return VCM_OK;
    search->outcome = omission->outcome;
    search->found = true;
    return VCM_STOP;
}

/* Says why the file is in no page, when a scope knows. */
static int explain_absence(struct vcm_place *place, const char *path, struct vcm_error *err)
{
    struct omission_search search = {.path = vcm_slice_of_string(path)};
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < place->scope_count; i++) {
        rc = vcm_page_table_each_omission(place->txn, place->scopes[i].mapping, note_omission,
                                          &search, err);
        if (rc == VCM_OK && search.found) {
            const struct vcm_slice id = place->scopes[i].scope_id;
            return vcm_error_set(err, VCM_NOT_FOUND,
                                 "'%s' is in no page: scope '%.*s' leaves it out as %s; 'vcm "
                                 "coverage %.*s' lists what is left out",
                                 path, (int)id.len, id.data, vcm_outcome_name(search.outcome),
                                 (int)id.len, id.data);
        }
    }
    return rc == VCM_OK ? VCM_NOT_FOUND : rc;
}

int vcm_place_pages_find(struct vcm_place_file *out, struct vcm_place *place, const char *path,
                         struct vcm_error *err)
{
    struct rivals rivals = {.count = 0};
    bool found = false;
    int rc = VCM_OK;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; rc == VCM_OK && i < place->scope_count; i++) {
        struct file_search search = {.scope = &place->scopes[i]};
        rc = vcm_page_find_path(place->txn, place->scopes[i].mapping, vcm_slice_of_string(path),
                                take_first, &search, err);
        if (rc != VCM_OK || !search.found)
            continue;
        bool same = found && search.file.has_blob && out->has_blob &&
                    memcmp(&search.file.blob, &out->blob, sizeof out->blob) == 0;
        if (!same)
            add_rival(&rivals, &place->scopes[i]);
        if (!found)
            *out = search.file;
        found = true;
    }
    if (rc != VCM_OK)
        return rc;
    if (rivals.count > 1)
        return refuse_rivals(&rivals, path, err);
    out->path = vcm_slice_of_string(path);
    return found ? VCM_OK : explain_absence(place, path, err);
}

struct page_walk {
    struct vcm_slice directory;
    const struct vcm_scope *scope;
    vcm_place_file_fn visit;
    void *context;
    bool stopped;
};

static bool is_below(struct vcm_slice path, struct vcm_slice directory)
{
    return directory.len == 0 || (path.len > directory.len && path.data[directory.len] == '/' &&
                                  memcmp(path.data, directory.data, directory.len) == 0);
}

static int pass_record(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    struct page_walk *walk = context;
    struct vcm_place_file file;

    if (found->record->part != 1 || !is_below(found->record->path, walk->directory))
        return VCM_OK;
    fill_file(&file, found->record, walk->scope);
    int rc = walk->visit(walk->context, &file, err);
    walk->stopped = rc == VCM_STOP;
    return rc;
}

int vcm_place_pages_each(struct vcm_place *place, const char *directory, vcm_place_file_fn visit,
                         void *context, struct vcm_error *err)
{
    struct page_walk walk = {
        .directory = vcm_slice_of_string(directory), .visit = visit, .context = context};
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < place->scope_count && !walk.stopped; i++) {
        walk.scope = &place->scopes[i];
        rc = vcm_page_find_each(place->txn, place->scopes[i].mapping, pass_record, &walk, err);
        if (rc == VCM_OK)
            rc = vcm_cancel_check(place->vcm->cancel, err);
    }
    return rc;
}

static int stop_at_file(void *context, const struct vcm_place_file *file, struct vcm_error *err)
{
    (void)file;
    (void)err;
    *(bool *)context = true;
    return VCM_STOP;
}

int vcm_place_pages_has_directory(bool *found, struct vcm_place *place, const char *path,
                                  struct vcm_error *err)
{
    *found = false;
    return vcm_place_pages_each(place, path, stop_at_file, found, err);
}
