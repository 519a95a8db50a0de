#include "api/place.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/place_pages.h"
#include "base/limits.h"
#include "base/path.h"
#include "git/url.h"
#include "sources/blob_reader.h"
#include "sources/worktree.h"

#include "base/banned.h"

#define SHORT_ID 10

static const char *const source_names[] = {"page", "commit", "worktree"};

const char *vcm_place_source_name(enum vcm_place_source source)
{
    return source_names[source];
}

static int check_query(const struct vcm_place_query *query, struct vcm_error *err)
{
    int named = (query->repo != NULL) + (query->scope != NULL) + query->all_scopes;

    if (named > 1)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "give one of a repository, a scope and all scopes");
    if (query->commit && query->worktree)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "give a commit or the working tree, not both");
    if (query->all_scopes && (query->commit || query->worktree))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "a commit or a working tree needs a repository, not all scopes");
    return VCM_OK;
}

/* The place of `path` below the root; "" for the root, its git directory and bare repositories. */
static int take_subpath(struct vcm_place *place, const char *path, struct vcm_error *err)
{
    size_t len = strlen(place->root);
    char *real = realpath(path, NULL);
    bool inside = real && !vcm_git_repo_is_bare(place->repo) &&
                  strncmp(real, place->root, len) == 0 && real[len] == '/' &&
                  strncmp(real + len, "/.git", 5) != 0;

    free(place->subpath);
    place->subpath = strdup(inside ? real + len + 1 : "");
    free(real);
    return place->subpath ? VCM_OK : vcm_error_memory(err);
}

static int open_repo(struct vcm_place *place, const char *path, struct vcm_error *err)
{
    struct vcm_plan_request clones = {.repository = NULL};

    int rc = vcm_blob_reader_open(&place->blobs, path, err);
    if (rc != VCM_OK)
        return rc;
    place->repo = vcm_blob_reader_repo(place->blobs);
    place->root = strdup(vcm_git_repo_root(place->repo));
    if (!place->root)
        return vcm_error_memory(err);
    if (vcm_handle_clones(&clones, place->vcm, 0, NULL) == VCM_OK)
        vcm_git_clone_drop_postpone(clones.clones, place->root);
    return take_subpath(place, path, err);
}

static void close_repo(struct vcm_place *place)
{
    vcm_blob_reader_close(place->blobs);
    place->blobs = NULL;
    place->repo = NULL;
}

int vcm_place_resolve(struct vcm_git_id *out, struct vcm_place *place, const char *name,
                      struct vcm_error *err)
{
    struct vcm_error first = {0}, second = {0};
    struct vcm_git_id tree;

    int rc = vcm_git_repo_resolve(out, place->repo, NULL, name, &first);
    if (rc == VCM_NOT_FOUND && name &&
        vcm_git_repo_resolve(out, place->repo, name, NULL, &second) == VCM_OK)
        rc = VCM_OK;
    else if (rc != VCM_OK && err)
        *err = first;
    return rc == VCM_OK ? vcm_git_tree_id(&tree, place->repo, out, "", err) : rc;
}

/* Answers from the scopes that match, when there are any: *answered. */
static int fall_back(bool *answered, struct vcm_place *place,
                     const struct vcm_place_pages_filter *filter, const char *why,
                     struct vcm_error *err)
{
    *answered = false;
    if (place->only_objects)
        return VCM_OK;
    int rc = vcm_place_pages_open(place, filter, err);

    *answered = rc == VCM_OK && place->scope_count > 0;
    if (!*answered)
        return rc;
    close_repo(place);
    place->source = VCM_PLACE_PAGE;
    vcm_log_write(place->vcm->log, VCM_LOG_WARNING,
                  "%s; this is answered from the mapped pages of scope '%.*s'%s", why,
                  (int)place->scopes[0].scope_id.len, place->scopes[0].scope_id.data,
                  place->scope_count > 1 ? " and others" : "");
    return VCM_OK;
}

/* The commit or its tree is not in the repository. Scopes that were mapped from it may have it. */
static int fall_back_to_commit(struct vcm_place *place, const char *commit, int rc,
                               struct vcm_error *err)
{
    struct vcm_error why = *err, ignored = {0};
    struct vcm_place_pages_filter filter = {.place = place, .commit = commit};
    char hex[VCM_GIT_ID_HEX + 1];
    bool answered = false;

    if (!commit || strcmp(commit, "HEAD") == 0) {
        if (vcm_git_repo_resolve(&place->commit, place->repo, NULL, NULL, &ignored) != VCM_OK)
            return rc;
        vcm_git_repo_id_to_hex(hex, &place->commit);
        filter.commit = hex;
    }
    if (strlen(filter.commit) >= VCM_LIMIT_PREFIX_MIN &&
        fall_back(&answered, place, &filter, why.message, &ignored) == VCM_OK && answered) {
        vcm_error_reset(err);
        return VCM_OK;
    }
    return rc;
}

/* From here on the files of the working tree are those of a commit, which the handle alone has. */
static int take_worktree(struct vcm_place *place, struct vcm_error *err)
{
    struct vcm_worktree tree;

    int rc = vcm_worktree_take(&tree, place->repo, place->vcm->cancel, err);
    place->commit = tree.commit;
    return rc;
}

static int settle(struct vcm_place *place, const struct vcm_place_query *query,
                  struct vcm_error *err)
{
    struct vcm_error found = {0};

    place->source = query->worktree ? VCM_PLACE_WORKTREE : VCM_PLACE_COMMIT;
    if (query->worktree)
        return take_worktree(place, err);
    int rc = vcm_place_resolve(&place->commit, place, query->commit, &found);
    if (rc == VCM_NOT_FOUND || rc == VCM_IO_ERROR)
        rc = fall_back_to_commit(place, query->commit, rc, &found);
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

static int open_path(struct vcm_place *place, const struct vcm_place_query *query,
                     struct vcm_error *err)
{
    struct vcm_error found = {0};
    bool answered = false;

    int rc = open_repo(place, query->repo ? query->repo : ".", &found);
    if (rc == VCM_OK)
        return settle(place, query, err);
    if (rc == VCM_NOT_FOUND && !query->worktree && (query->repo || !query->commit)) {
        const struct vcm_place_pages_filter filter = {.root = query->repo, .commit = query->commit};
        rc = fall_back(&answered, place, &filter, found.message, err);
        if (rc != VCM_OK || answered)
            return rc;
        rc = VCM_NOT_FOUND;
    }
    if (rc == VCM_NOT_FOUND && !query->repo && !place->only_objects) {
        vcm_error_reset(&found);
        vcm_error_set(&found, VCM_NOT_FOUND,
                      "no git repository at or above the current directory, and nothing is mapped; "
                      "name a repository");
    }
    if (err)
        *err = found;
    return rc;
}

/* Fetches what is not in the clone. */
static int fetch(struct vcm_place *place, const struct vcm_place_query *query,
                 struct vcm_error *err)
{
    struct vcm_plan_request clones = {.repository = NULL};
    struct vcm_git_clone clone = {0};

    int rc = vcm_handle_clones(&clones, place->vcm, 0, err);
    if (rc == VCM_OK)
        rc = vcm_git_clone_fetch(
            &clone, clones.clones,
            &(struct vcm_git_clone_request){.url = query->repo, .commit = query->commit}, err);
    if (rc == VCM_OK)
        rc = open_repo(place, clone.path, err);
    if (rc == VCM_OK) {
        place->source = VCM_PLACE_COMMIT;
        place->commit = clone.commit;
    }
    vcm_git_clone_release(&clone);
    return rc;
}

/* From the clone that is here, else from pages, else from a clone that is fetched. */
static int open_url(struct vcm_place *place, const struct vcm_place_query *query,
                    struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_plan_request clones = {.repository = NULL};
    struct vcm_git_url url = {0};
    struct vcm_error absent = {0};
    bool answered = false;

    if (query->worktree)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "a URL has no working tree");
    int rc = vcm_git_url_parse(&url, query->repo, err);
    if (rc == VCM_OK)
        rc = vcm_handle_clones(&clones, place->vcm, 0, err);
    if (rc != VCM_OK)
        goto out;
    rc = vcm_git_clone_find(&path, clones.clones, query->repo, &absent);
    if (rc == VCM_OK)
        rc = open_repo(place, vcm_buf_text(&path), &absent);
    if (rc == VCM_OK)
        rc = settle(place, query, &absent);
    if (rc == VCM_OK)
        goto out;
    close_repo(place);
    free(place->root);
    place->root = NULL;
    if (!place->has_scopes) {
        const struct vcm_place_pages_filter filter = {.origin = url.address,
                                                      .commit = query->commit};
        rc = fall_back(&answered, place, &filter, "the clone of this URL is not here", err);
        if (rc != VCM_OK || answered)
            goto out;
    }
    rc = fetch(place, query, err);
out:
    vcm_git_url_release(&url);
    vcm_buf_release(&path);
    return rc;
}

/* With a commit or a working tree, the repository that the scope was mapped from. */
static int open_scope(struct vcm_place *place, const struct vcm_place_query *query,
                      struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);

    int rc =
        vcm_place_pages_open(place, &(struct vcm_place_pages_filter){.name = query->scope}, err);
    if (rc == VCM_OK && place->scope_count == 0)
        rc = query->scope ? vcm_names_no_scope(query->scope, err)
                          : vcm_error_set(err, VCM_NOT_FOUND,
                                          "nothing is mapped yet; 'vcm map' maps a repository");
    if (rc == VCM_OK && (query->commit || query->worktree)) {
        rc = vcm_handle_place(&path, place->vcm, place->scopes[0].repo_root, err);
        vcm_place_pages_close(place);
        if (rc == VCM_OK)
            rc = open_repo(place, vcm_buf_text(&path), err);
        if (rc == VCM_OK)
            rc = settle(place, query, err);
    }
    vcm_buf_release(&path);
    return rc;
}

static int open_place(struct vcm_place **out, struct vcm *vcm, const struct vcm_place_query *query,
                      bool only_objects, struct vcm_error *err)
{
    struct vcm_place *place = calloc(1, sizeof *place);

    *out = NULL;
    if (!place)
        return vcm_error_memory(err);
    place->vcm = vcm;
    place->only_objects = only_objects;
    place->subpath = strdup("");
    int rc = place->subpath ? check_query(query, err) : vcm_error_memory(err);
    if (rc != VCM_OK)
        ;
    else if (query->scope || query->all_scopes)
        rc = open_scope(place, query, err);
    else if (query->repo && vcm_git_url_is_remote(query->repo))
        rc = open_url(place, query, err);
    else
        rc = open_path(place, query, err);
    if (rc == VCM_OK)
        *out = place;
    else
        vcm_place_close(place);
    return rc;
}

int vcm_place_open(struct vcm_place **out, struct vcm *vcm, const struct vcm_place_query *query,
                   struct vcm_error *err)
{
    return open_place(out, vcm, query, false, err);
}

int vcm_place_open_objects(struct vcm_place **out, struct vcm *vcm,
                           const struct vcm_place_query *query, struct vcm_error *err)
{
    return open_place(out, vcm, query, true, err);
}

void vcm_place_close(struct vcm_place *place)
{
    if (!place)
        return;
    vcm_place_pages_close(place);
    close_repo(place);
    free(place->subpath);
    free(place->root);
    free(place);
}

void vcm_place_describe(struct vcm_buf *out, const struct vcm_place *place)
{
    char hex[VCM_GIT_ID_HEX + 1];

    if (place->source == VCM_PLACE_PAGE) {
        vcm_buf_append_string(out, place->scope_count == 1 ? "scope '" : "the mapped scopes");
        if (place->scope_count == 1) {
            vcm_buf_append_slice(out, place->scopes[0].scope_id);
            vcm_buf_append_byte(out, '\'');
        }
        return;
    }
    vcm_git_repo_id_to_hex(hex, &place->commit);
    if (place->source == VCM_PLACE_COMMIT)
        vcm_buf_append_format(out, "commit %.*s of '%s'", SHORT_ID, hex, place->root);
    else
        vcm_buf_append_format(out, "the working tree of '%s'", place->root);
}

/* Appends the parts of a relative path, without "." and "..". */
static int append_parts(struct vcm_buf *out, const char *text, struct vcm_error *err)
{
    for (const char *at = text; *at != '\0';) {
        size_t len = strcspn(at, "/");
        if (len == 2 && at[0] == '.' && at[1] == '.') {
            if (out->len == 0)
                return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' leads out of the repository",
                                     text);
            const char *slash = memrchr(out->data, '/', out->len);
            vcm_buf_truncate(out, slash ? (size_t)(slash - out->data) : 0);
        } else if (len > 0 && !(len == 1 && at[0] == '.')) {
            if (out->len > 0)
                vcm_buf_append_byte(out, '/');
            vcm_buf_append(out, at, len);
        }
        at += len;
        at += *at == '/';
    }
    return vcm_buf_check(out, "a path", err);
}

int vcm_place_path(struct vcm_buf *out, const struct vcm_place *place, const char *text,
                   bool as_local, struct vcm_error *err)
{
    size_t root = place->root ? strlen(place->root) : 0;
    bool is_dotted = strncmp(text, "./", 2) == 0 || strncmp(text, "../", 3) == 0 ||
                     strcmp(text, ".") == 0 || strcmp(text, "..") == 0;
    int rc = VCM_OK;

    assert(out->len == 0);
    if (text[0] == '/') {
        bool below = root > 0 && strncmp(text, place->root, root) == 0 &&
                     (text[root] == '/' || text[root] == '\0');
        if (!below)
            return vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is not below '%s'", text,
                                 place->root ? place->root : "a repository");
        text += root;
    } else if (as_local || is_dotted) {
        rc = append_parts(out, place->subpath, err);
    }
    return rc == VCM_OK ? append_parts(out, text, err) : rc;
}

int vcm_place_find(struct vcm_place_file *out, struct vcm_place *place, const char *path,
                   struct vcm_error *err)
{
    struct vcm_error found = {0};
    struct vcm_git_entry entry;

    memset(out, 0, sizeof *out);
    if (place->source == VCM_PLACE_PAGE)
        return vcm_place_pages_find(out, place, path, err);
    if (path[0] == '\0')
        return VCM_NOT_FOUND;
    int rc = vcm_git_tree_entry(&entry, place->repo, &place->commit, path, &found);
    if (rc == VCM_OK)
        *out = (struct vcm_place_file){.path = vcm_slice_of_string(path),
                                       .source = place->source,
                                       .kind = entry.kind,
                                       .has_blob = true,
                                       .blob = entry.id};
    else if (rc != VCM_NOT_FOUND && err)
        *err = found;
    return rc;
}

int vcm_place_has_directory(bool *found, struct vcm_place *place, const char *path,
                            struct vcm_error *err)
{
    if (place->source == VCM_PLACE_PAGE)
        return vcm_place_pages_has_directory(found, place, path, err);
    return vcm_git_tree_has_directory(found, place->repo, &place->commit, path, err);
}

struct walk {
    enum vcm_place_source source;
    vcm_place_file_fn visit;
    void *context;
};

static int pass_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    const struct walk *walk = context;
    const struct vcm_place_file file = {.path = entry->path,
                                        .source = walk->source,
                                        .kind = entry->kind,
                                        .has_blob = true,
                                        .blob = entry->id};

    return walk->visit(walk->context, &file, err);
}

int vcm_place_each(struct vcm_place *place, const char *directory, vcm_place_file_fn visit,
                   void *context, struct vcm_error *err)
{
    struct walk walk = {place->source, visit, context};

    if (place->source == VCM_PLACE_PAGE)
        return vcm_place_pages_each(place, directory, visit, context, err);
    int rc = vcm_git_tree_walk(place->repo, &place->commit, directory, pass_entry, &walk,
                               place->vcm->cancel, err);
    return rc == VCM_STOP ? VCM_OK : rc;
}

int vcm_place_load_scopes(struct vcm_place *place, struct vcm_error *err)
{
    if (place->has_scopes || !place->repo)
        return VCM_OK;
    return vcm_place_pages_open(place, &(struct vcm_place_pages_filter){.place = place}, err);
}
