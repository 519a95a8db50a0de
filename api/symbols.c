#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/place.h"
#include "api/symbols_place.h"
#include "base/defaults.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/text.h"
#include "base/utf8.h"
#include "git/blob.h"
#include "sources/glob.h"
#include "symbols/listing.h"
#include "symbols/resolve.h"

#include "base/banned.h"

#define EXCERPT_BYTES  ((size_t)200)
#define CANDIDATES_MAX 5u /* that are listed of an unresolved reference */
#define GLOB_MARKS     "*?[]{}.,-_/"

/* An open index with its repository and output. A directory inside a working tree restricts the
 * view to what is below it. */
struct view {
    struct vcm *vcm;
    struct vcm_place *place;
    struct vcm_index *index;
    struct vcm_glob_list globs;
    struct vcm_symbols_place store;
    struct vcm_buf filter; /* the globs, which identify the filter */
    struct vcm_buf document;
    struct vcm_jsonw w;
    struct vcm_buf scratch;
    void (*progress)(void *context, const struct vcm_progress *progress);
    void *progress_context;
};

static bool takes(void *context, struct vcm_slice path)
{
    return vcm_glob_list_takes(context, path);
}

static int add_glob(struct view *view, const char *glob, struct vcm_error *err)
{
    for (const char *c = glob; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && !strchr(GLOB_MARKS, *c))
            return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                                 "the glob '%s' may contain only letters, digits and %s", glob,
                                 GLOB_MARKS);
    int rc = vcm_glob_check(vcm_slice_of_string(glob), err);
    vcm_buf_append_string(&view->filter, glob);
    vcm_buf_append_byte(&view->filter, '\n');
    return rc == VCM_OK ? vcm_glob_list_add(&view->globs, vcm_slice_of_string(glob), err) : rc;
}

/* Builds the graph immediately after a first indexing. After a change of some files it is built by
 * the next map. */
static int prepare_graph(struct view *view, struct vcm_error *err)
{
    const struct vcm_index *index = view->index;
    struct vcm_graph *graph = NULL;

    if (view->globs.count > 0 || index->parsed <= index->file_count / 2)
        return VCM_OK;
    int rc = vcm_graph_open(&graph, index, view->vcm->cancel, err);
    vcm_graph_close(graph);
    return rc;
}

static void pass_progress(void *context, size_t indexed, size_t total)
{
    const struct view *view = context;

    view->progress(view->progress_context,
                   &(struct vcm_progress){.files = indexed, .files_total = total});
}

static int open_index(struct view *view, bool read_only, struct vcm_error *err)
{
    return vcm_index_open(&view->index,
                          &(struct vcm_index_request){
                              .directory = vcm_buf_text(&view->store.directory),
                              .read_only = read_only,
                              .repo = view->place->repo,
                              .commit = &view->place->commit,
                              .subpath = view->place->subpath,
                              .takes = view->globs.count > 0 ? takes : NULL,
                              .context = &view->globs,
                              .filter = vcm_buf_text(&view->filter),
                              .cancel = view->vcm->cancel,
                              .log = view->vcm->log,
                              .progress = view->progress ? pass_progress : NULL,
                              .progress_context = view,
                          },
                          err);
}

/* In a home that cannot be written: opens the index there if it has every blob of the commit, else
 * makes a temporary copy of it and adds the missing blobs to the copy. */
static int open_unwritable(struct view *view, struct vcm_error *err)
{
    struct vcm_error ignored = {0};

    int rc = open_index(view, true, &ignored);
    if (rc == VCM_OK)
        return rc;
    rc = vcm_symbols_place_copy(&view->store, err);
    return rc == VCM_OK ? open_index(view, false, err) : rc;
}

static int open_view(struct view *view, struct vcm *vcm, const struct vcm_place_query *place,
                     struct vcm_error *err)
{
    struct vcm_error found = {0};

    view->vcm = vcm;
    int rc = vcm_place_open_objects(&view->place, vcm, place, err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&view->filter, "the list of globs", err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_verify_symbols(vcm, &found);
    if (rc == VCM_OK)
        rc = vcm_symbols_place_settle(&view->store, vcm, &found);
    if (rc == VCM_OK)
        rc = open_index(view, false, &found);
    if (rc != VCM_OK && vcm_error_is_denial(found.sys_errno)) {
        vcm_error_reset(&found);
        rc = open_unwritable(view, &found);
    }
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

/* The store of symbols is a cache: one that is damaged is removed, and the call repeated. */
static bool is_mended(struct vcm *vcm, int rc, struct vcm_error *found)
{
    struct vcm_error ignored = {0};

    if (rc != VCM_STORE_CORRUPT || vcm_symbols_place_drop(vcm, found->message, &ignored) != VCM_OK)
        return false;
    vcm_error_reset(found);
    return true;
}

static void begin_view(struct view *view)
{
    *view = (struct view){.vcm = NULL};
    vcm_glob_list_init(&view->globs);
    vcm_symbols_place_init(&view->store);
    vcm_buf_init(&view->filter, VCM_LIMIT_JSON_BYTES);
    vcm_buf_init(&view->document, VCM_LIMIT_JSON_BYTES);
    vcm_buf_init(&view->scratch, VCM_LIMIT_FILE_BYTES);
    vcm_jsonw_init(&view->w, &view->document);
}

/* Passes the document on if the call succeeded, and releases everything. */
static int end_view(struct view *view, int rc, vcm_document_fn visit, void *context,
                    struct vcm_error *err)
{
    if (rc == VCM_OK)
        rc = vcm_jsonw_finish(&view->w, err);
    if (rc == VCM_OK)
        rc = visit(context, vcm_buf_text(&view->document), view->document.len, err);
    vcm_index_close(view->index);
    vcm_place_close(view->place);
    vcm_glob_list_release(&view->globs);
    vcm_buf_release(&view->scratch);
    vcm_buf_release(&view->document);
    vcm_buf_release(&view->filter);
    vcm_symbols_place_release(&view->store);
    return rc;
}

static const char *text_of_path(struct view *view, struct vcm_slice path)
{
    vcm_buf_clear(&view->scratch);
    vcm_utf8_escape_path(&view->scratch, path);
    return vcm_buf_text(&view->scratch);
}

/* "src/a.c:12#outer.name", in the scratch buffer. */
static void make_symbol_id(struct view *view, struct vcm_slice path,
                           const struct vcm_symbol *symbol)
{
    text_of_path(view, path);
    vcm_buf_append_format(&view->scratch, ":%u#", symbol->line);
    if (symbol->container.len > 0) {
        vcm_utf8_replace(&view->scratch, symbol->container);
        vcm_buf_append_byte(&view->scratch, '.');
    }
    vcm_utf8_replace(&view->scratch, symbol->name);
}

static void put_symbol_id(struct view *view, const char *key, struct vcm_slice path,
                          const struct vcm_symbol *symbol)
{
    make_symbol_id(view, path, symbol);
    vcm_jsonw_member_slice(&view->w, key, vcm_buf_slice(&view->scratch));
}

static void put_commit(struct view *view)
{
    char hex[VCM_GIT_ID_HEX + 1];

    vcm_git_repo_id_to_hex(hex, &view->index->commit);
    vcm_jsonw_member_string(&view->w, "commit",
                            view->place->source == VCM_PLACE_WORKTREE ? NULL : hex);
}

/* Lists files whose symbols are incomplete, and why. */
static void put_incomplete(struct view *view, struct vcm_jsonw *list, size_t file,
                           enum vcm_symbol_state state)
{
    if (state == VCM_SYMBOL_COMPLETE)
        return;
    vcm_jsonw_begin_object(list);
    vcm_jsonw_member_string(list, "file_path", text_of_path(view, view->index->files[file].path));
    vcm_jsonw_member_string(list, "reason", vcm_symbol_state_name(state));
    vcm_jsonw_end_object(list);
}

/* The files whose content cannot be read, for documents that do not read every file's symbols. */
static void put_damaged(struct view *view)
{
    vcm_jsonw_key(&view->w, "incomplete");
    vcm_jsonw_begin_array(&view->w);
    for (size_t i = 0; i < view->index->file_count; i++)
        if (vcm_index_is_damaged(view->index, i))
            put_incomplete(view, &view->w, i, VCM_SYMBOL_DAMAGED);
    vcm_jsonw_end_array(&view->w);
}

/* The ranked listing */

static const char *reason_of(const struct vcm_index *index, const struct vcm_listing *listing)
{
    if (listing->symbols_shown > 0)
        return NULL;
    if (index->tracked == 0)
        return "no_files";
    if (index->matching == 0)
        return "filtered_out";
    if (listing->symbols_total > 0)
        return "budget_too_small";
    if (index->damaged > 0)
        return "damaged";
    return index->absent > 0 ? "not_fetched" : "no_supported_language";
}

/* Counts files by where their symbols come from. */
static void put_sources(struct view *view)
{
    static const char *const sources[] = {"tree-sitter", "ctags"};
    size_t counts[2] = {0, 0};

    for (size_t i = 0; i < view->index->file_count; i++)
        counts[vcm_language_ctags_name(view->index->files[i].language) != NULL]++;
    vcm_jsonw_key(&view->w, "sources");
    vcm_jsonw_begin_object(&view->w);
    for (size_t i = 0; i < 2; i++)
        if (counts[i] > 0)
            vcm_jsonw_member_uint(&view->w, sources[i], counts[i]);
    vcm_jsonw_end_object(&view->w);
}

static void put_listing(struct view *view, const struct vcm_listing *listing)
{
    struct vcm_jsonw *w = &view->w;

    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_slice(w, "map", vcm_slice_of(vcm_buf_text(&listing->text), listing->text.len));
    vcm_jsonw_member_uint(w, "tokens", listing->tokens);
    vcm_jsonw_member_uint(w, "tokens_estimated", listing->tokens);
    vcm_jsonw_member_uint(w, "files_covered", listing->files_covered);
    vcm_jsonw_member_uint(w, "files_total", view->index->matching);
    vcm_jsonw_member_uint(w, "files_not_fetched", view->index->absent);
    vcm_jsonw_member_uint(w, "symbols_shown", listing->symbols_shown);
    vcm_jsonw_member_uint(w, "symbols_total", listing->symbols_total);
    vcm_jsonw_member_uint(w, "symbols_dropped", listing->symbols_total - listing->symbols_shown);
    vcm_jsonw_member_uint(w, "files_dropped", listing->files_dropped);
    if (listing->tokens_next > 0) {
        vcm_jsonw_member_string(w, "next", vcm_buf_text(&listing->next));
        vcm_jsonw_member_uint(w, "next_budget", listing->tokens_next);
    } else {
        vcm_jsonw_member_null(w, "next");
        vcm_jsonw_member_null(w, "next_budget");
    }
    put_sources(view);
    put_damaged(view);
    put_commit(view);
    vcm_jsonw_member_string(w, "reason", reason_of(view->index, listing));
    vcm_jsonw_end_object(w);
}

static int map_symbols(struct vcm *vcm, const struct vcm_repo_map_options *options,
                       vcm_document_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"commit", options->commit});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("include", options->include, options->include_count,
                                VCM_ARGUMENT_TEXTS, err);
    if (rc == VCM_OK)
        rc = vcm_arguments_list("focus", options->focus, options->focus_count, VCM_ARGUMENT_TEXTS,
                                err);
    if (rc == VCM_OK)
        rc = vcm_arguments_list("mentions", options->mentions, options->mention_count,
                                VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    size_t budget =
        options->token_budget > 0 ? (size_t)options->token_budget : VCM_DEFAULT_REPO_MAP_TOKENS;
    const struct vcm_rank_request request = {
        .focus = options->focus,
        .focus_count = options->focus_count,
        .mentions = options->mentions,
        .mention_count = options->mention_count,
        .by_symbol_count = options->by_symbol_count,
        .cancel = vcm->cancel,
    };
    struct vcm_tokenizer *tokenizer = NULL;
    struct vcm_rank *rank = NULL;
    struct vcm_listing listing = {.tokens = 0};
    struct view view;
    rc = VCM_OK;

    begin_view(&view);
    view.progress = options->progress;
    view.progress_context = options->progress_context;
    for (size_t i = 0; rc == VCM_OK && i < options->include_count; i++)
        rc = add_glob(&view, options->include[i], err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&tokenizer, VCM_TOKENIZER_DEFAULT, err);
    if (rc == VCM_OK)
        rc = open_view(&view, vcm,
                       &(struct vcm_place_query){.repo = options->path,
                                                 .commit = options->commit,
                                                 .worktree = options->worktree},
                       err);
    if (rc == VCM_OK)
        rc = vcm_rank_open(&rank, view.index, &request, err);
    if (rc == VCM_OK)
        rc = vcm_listing_make(&listing, view.index, rank, tokenizer, budget, err);
    if (rc == VCM_OK)
        put_listing(&view, &listing);
    vcm_listing_release(&listing);
    vcm_rank_close(rank);
    vcm_tokenizer_close(tokenizer);
    return end_view(&view, rc, visit, context, err);
}

int vcm_repo_map(struct vcm *vcm, const struct vcm_repo_map_options *options, vcm_document_fn visit,
                 void *context, struct vcm_error *err)
{
    struct vcm_error found = {0};
    int rc = map_symbols(vcm, options, visit, context, &found);

    if (is_mended(vcm, rc, &found))
        rc = map_symbols(vcm, options, visit, context, &found);
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

/* Definitions */

static bool has_part(struct vcm_slice text, const char *part)
{
    size_t len = strlen(part);

    for (size_t i = 0; i + len <= text.len; i++)
        if (strncasecmp(text.data + i, part, len) == 0)
            return true;
    return false;
}

static bool symbol_matches(const struct vcm_symbol *symbol, const struct vcm_symbol_query *query)
{
    bool kind = query->kind_count == 0;

    for (size_t i = 0; i < query->kind_count; i++)
        kind = kind || strcmp(query->kinds[i], vcm_symbol_kind_name(symbol->kind)) == 0;
    return kind && (!query->name || has_part(symbol->name, query->name));
}

static void put_symbol(struct view *view, const struct vcm_index_file *file,
                       const struct vcm_symbol *symbol)
{
    struct vcm_jsonw *w = &view->w;

    vcm_jsonw_begin_object(w);
    put_symbol_id(view, "symbol_id", file->path, symbol);
    vcm_jsonw_member_slice(w, "name", symbol->name);
    vcm_jsonw_member_string(w, "kind", vcm_symbol_kind_name(symbol->kind));
    vcm_jsonw_member_slice(w, "signature", symbol->signature);
    vcm_jsonw_member_slice(w, "documentation", symbol->documentation);
    vcm_jsonw_member_string(w, "file_path", text_of_path(view, file->path));
    vcm_jsonw_member_uint(w, "line", symbol->line);
    vcm_jsonw_member_uint(w, "start_line", symbol->start_line);
    vcm_jsonw_member_uint(w, "end_line", symbol->end_line);
    if (symbol->container.len > 0)
        vcm_jsonw_member_slice(w, "container", symbol->container);
    else
        vcm_jsonw_member_null(w, "container");
    vcm_jsonw_member_string(w, "language", vcm_language_name(file->language));
    vcm_jsonw_member_string(w, "source", vcm_language_source(file->language));
    vcm_jsonw_member_string(w, "visibility", vcm_symbol_visibility_name(symbol->visibility));
    vcm_jsonw_end_object(w);
}

/* The part of a listing by path and line that is wanted. */
struct window {
    const char *from_file; /* NULL: from the beginning */
    uint32_t from_line;
    uint64_t left;
    size_t from;   /* index of the first file */
    bool has_more; /* a row did not fit any more */
};

static struct window window_of(struct view *view, const char *from_file, uint32_t from_line,
                               uint64_t limit)
{
    struct window window = {
        .from_file = from_file, .from_line = from_line, .left = limit > 0 ? limit : UINT64_MAX};
    const struct vcm_index *index = view->index;
    size_t later = index->file_count;

    for (size_t i = index->file_count; from_file && i > 0; i--) {
        int order = strcmp(text_of_path(view, index->files[i - 1].path), from_file);
        if (order == 0) {
            window.from = i - 1;
            return window;
        }
        later = order > 0 ? i - 1 : later;
    }
    /* The file is gone: with the next one, all of it. */
    window.from = from_file ? later : 0;
    window.from_line = 0;
    return window;
}

/* Whether a row at this place is in the window; takes it if so. */
static bool window_takes(struct window *window, size_t file, uint32_t line)
{
    bool inside = file > window->from || (file == window->from && line >= window->from_line);

    window->has_more = window->has_more || (inside && window->left == 0);
    if (!inside || window->left == 0)
        return false;
    window->left--;
    return true;
}

static int list_symbols(struct view *view, const struct vcm_symbol_query *query,
                        struct vcm_error *err)
{
    struct vcm_buf incomplete = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct window window = window_of(view, query->from_file, query->from_line, query->limit);
    uint64_t total = 0;
    struct vcm_jsonw list;
    int rc = VCM_OK;

    vcm_jsonw_init(&list, &incomplete);
    vcm_jsonw_begin_array(&list);
    vcm_jsonw_begin_object(&view->w);
    vcm_jsonw_key(&view->w, "symbols");
    vcm_jsonw_begin_array(&view->w);
    for (size_t i = 0; rc == VCM_OK && i < view->index->file_count; i++) {
        struct vcm_symbols symbols;
        vcm_symbols_init(&symbols);
        rc = vcm_index_read_definitions(&symbols, view->index, i, err);
        for (uint32_t j = 0; rc == VCM_OK && j < symbols.definition_count; j++)
            if (symbol_matches(&symbols.definitions[j], query) && ++total > 0 &&
                window_takes(&window, i, symbols.definitions[j].line))
                put_symbol(view, &view->index->files[i], &symbols.definitions[j]);
        put_incomplete(view, &list, i, symbols.state);
        vcm_symbols_release(&symbols);
    }
    vcm_jsonw_end_array(&view->w);
    vcm_jsonw_end_array(&list);
    vcm_jsonw_member_uint(&view->w, "total", total);
    vcm_jsonw_member_bool(&view->w, "truncated", window.has_more);
    vcm_jsonw_key(&view->w, "incomplete");
    vcm_jsonw_raw(&view->w, vcm_buf_slice(&incomplete));
    put_commit(view);
    vcm_jsonw_end_object(&view->w);
    vcm_buf_release(&incomplete);
    return rc;
}

static int find_symbols(struct vcm *vcm, const struct vcm_symbol_query *query,
                        vcm_document_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"commit", query->commit}, {"file", query->file}, {"name", query->name},
                       {"from_file", query->from_file});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("kinds", query->kinds, query->kind_count, VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    enum vcm_symbol_kind kind;
    struct view view;
    rc = VCM_OK;

    begin_view(&view);
    view.progress = query->progress;
    view.progress_context = query->progress_context;
    for (size_t i = 0; rc == VCM_OK && i < query->kind_count; i++)
        if (!vcm_symbol_kind_of(&kind, query->kinds[i]))
            rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "there is no kind of symbol '%s'",
                               query->kinds[i]);
    if (rc == VCM_OK && query->file)
        rc = add_glob(&view, query->file, err);
    if (rc == VCM_OK)
        rc = open_view(&view, vcm,
                       &(struct vcm_place_query){.repo = query->path,
                                                 .commit = query->commit,
                                                 .worktree = query->worktree},
                       err);
    if (rc == VCM_OK)
        rc = prepare_graph(&view, err);
    if (rc == VCM_OK)
        rc = list_symbols(&view, query, err);
    return end_view(&view, rc, visit, context, err);
}

int vcm_symbol_list(struct vcm *vcm, const struct vcm_symbol_query *query, vcm_document_fn visit,
                    void *context, struct vcm_error *err)
{
    struct vcm_error found = {0};
    int rc = find_symbols(vcm, query, visit, context, &found);

    if (is_mended(vcm, rc, &found))
        rc = find_symbols(vcm, query, visit, context, &found);
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

/* References */

struct references {
    struct view *view;
    struct window window;
    uint64_t total, resolved;
    size_t file; /* index of the file whose text is loaded; SIZE_MAX for none */
    struct vcm_buf text;
    size_t at; /* offset where `line` begins */
    uint32_t line;
};

/* Writes the line of a reference without the white space around it. */
static void put_excerpt(struct references *references, size_t file, uint32_t line)
{
    struct view *view = references->view;
    struct vcm_error ignored = {0};
    struct vcm_buf *text = &references->text;

    if (references->file != file || line < references->line) {
        vcm_buf_clear(text);
        references->file = file;
        references->at = 0;
        references->line = 1;
        vcm_git_blob_read(text, view->index->repo, &view->index->files[file].blob, &ignored);
    }
    for (; references->line < line && references->at < text->len; references->line++) {
        const char *end = memchr(text->data + references->at, '\n', text->len - references->at);
        references->at = end ? (size_t)(end + 1 - text->data) : text->len;
    }
    size_t start = references->at, len = 0;
    while (start < text->len && (text->data[start] == ' ' || text->data[start] == '\t'))
        start++;
    while (start + len < text->len && text->data[start + len] != '\n' && len < EXCERPT_BYTES)
        len++;
    while (len > 0 && isspace((unsigned char)text->data[start + len - 1]))
        len--;
    vcm_buf_clear(&view->scratch);
    vcm_utf8_replace(&view->scratch, vcm_slice_of(vcm_buf_text(text) + start, len));
    vcm_jsonw_member_slice(&view->w, "excerpt", vcm_buf_slice(&view->scratch));
}

/* What is known of where the name is defined: the type, the module or the words before it. */
static void put_container_hint(struct view *view, const struct vcm_symbol_reference *reference)
{
    struct vcm_slice hint =
        reference->receiver.len > 1 && strchr("@:", reference->receiver.data[0])
            ? vcm_slice_of(reference->receiver.data + 1, reference->receiver.len - 1)
            : reference->qualifier;

    vcm_buf_clear(&view->scratch);
    vcm_utf8_replace(&view->scratch, hint);
    if (hint.len > 0)
        vcm_jsonw_member_slice(&view->w, "to_container_hint", vcm_buf_slice(&view->scratch));
    else
        vcm_jsonw_member_null(&view->w, "to_container_hint");
}

/* The definitions that an unresolved reference may mean: those by its name in languages that use
 * each other's names, unless it is known to come from outside. */
static void put_candidates(struct view *view, const struct vcm_resolved *found)
{
    const struct vcm_index_file *files = view->index->files;
    const struct vcm_model_names *names =
        found->target || found->external ? NULL : found->candidates;
    uint64_t total = 0;

    vcm_jsonw_key(&view->w, "candidates");
    vcm_jsonw_begin_array(&view->w);
    for (size_t i = 0; names && i < names->count; i++) {
        const struct vcm_model_definition *one = &names->items[i];
        if (!vcm_language_are_kin(files[found->file].language, files[one->file].language))
            continue;
        if (total++ < CANDIDATES_MAX) {
            make_symbol_id(view, files[one->file].path, &one->symbol);
            vcm_jsonw_slice(&view->w, vcm_buf_slice(&view->scratch));
        }
    }
    vcm_jsonw_end_array(&view->w);
    vcm_jsonw_member_uint(&view->w, "candidates_total", total);
}

static int put_reference(void *context, const struct vcm_resolved *found, struct vcm_error *err)
{
    struct references *references = context;
    struct view *view = references->view;
    struct vcm_jsonw *w = &view->w;
    const struct vcm_index_file *files = view->index->files;

    (void)err;
    references->resolved += found->target != NULL;
    references->total++;
    if (!window_takes(&references->window, found->file, found->reference->line))
        return VCM_OK;
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "kind", vcm_symbol_use_name(found->use));
    if (found->reference->from > 0)
        put_symbol_id(view, "from_symbol", files[found->file].path,
                      &found->symbols->definitions[found->reference->from - 1]);
    else
        vcm_jsonw_member_null(w, "from_symbol");
    vcm_jsonw_member_string(w, "file_path", text_of_path(view, files[found->file].path));
    vcm_jsonw_member_uint(w, "line", found->reference->line);
    put_excerpt(references, found->file, found->reference->line);
    vcm_jsonw_member_string(w, "source", vcm_language_source(files[found->file].language));
    vcm_jsonw_member_string(w, "resolution_state", found->target ? "resolved" : "unresolved");
    if (found->target)
        put_symbol_id(view, "target", files[found->target_file].path, found->target);
    else
        vcm_jsonw_member_null(w, "target");
    vcm_jsonw_member_slice(w, "to_name", found->reference->name);
    put_container_hint(view, found->reference);
    put_candidates(view, found);
    vcm_jsonw_end_object(w);
    return VCM_OK;
}

/* Parses "path:12#outer.name"; any other text is a name. */
static void read_name(struct vcm_resolve_query *out, const char *text)
{
    const char *mark = strchr(text, '#');
    const char *colon = mark ? memrchr(text, ':', (size_t)(mark - text)) : NULL;
    char digits[16] = "";
    uint64_t line = 0;

    *out = (struct vcm_resolve_query){.name = vcm_slice_of_string(text)};
    if (!colon || mark - colon >= (ptrdiff_t)sizeof digits)
        return;
    memcpy(digits, colon + 1, (size_t)(mark - colon) - 1);
    if (!vcm_text_parse_uint(&line, digits) || line == 0 || line > UINT32_MAX)
        return;
    const char *dot = strrchr(mark + 1, '.');
    out->name = vcm_slice_of_string(dot && dot[1] != '\0' ? dot + 1 : mark + 1);
    out->only_file = vcm_slice_of(text, (size_t)(colon - text));
    out->only_line = (uint32_t)line;
}

static int list_references(struct view *view, const struct vcm_reference_query *query,
                           struct vcm_error *err)
{
    struct references references = {
        .view = view,
        .window = window_of(view, query->from_file, query->from_line, query->limit),
        .file = SIZE_MAX,
    };
    struct vcm_resolve_query resolve;

    read_name(&resolve, query->name);
    vcm_buf_init(&references.text, VCM_LIMIT_FILE_BYTES);
    vcm_jsonw_begin_object(&view->w);
    vcm_jsonw_key(&view->w, "references");
    vcm_jsonw_begin_array(&view->w);
    int rc = vcm_resolve_visit(view->index, &resolve, put_reference, &references, err);
    vcm_jsonw_end_array(&view->w);
    vcm_jsonw_member_uint(&view->w, "total", references.total);
    vcm_jsonw_member_uint(&view->w, "resolved", references.resolved);
    vcm_jsonw_member_bool(&view->w, "truncated", references.window.has_more);
    put_damaged(view);
    put_commit(view);
    vcm_jsonw_end_object(&view->w);
    vcm_buf_release(&references.text);
    return rc;
}

static int find_references(struct vcm *vcm, const struct vcm_reference_query *query,
                           vcm_document_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(query->name));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"commit", query->commit}, {"name", query->name},
                       {"from_file", query->from_file});
    if (rc != VCM_OK)
        return rc;
    struct view view;

    begin_view(&view);
    view.progress = query->progress;
    view.progress_context = query->progress_context;
    rc = query->name[0] != '\0' ? VCM_OK
                                : vcm_error_set(err, VCM_INVALID_ARGUMENT, "the name is empty");
    if (rc == VCM_OK)
        rc = open_view(&view, vcm,
                       &(struct vcm_place_query){.repo = query->path,
                                                 .commit = query->commit,
                                                 .worktree = query->worktree},
                       err);
    if (rc == VCM_OK)
        rc = prepare_graph(&view, err);
    if (rc == VCM_OK)
        rc = list_references(&view, query, err);
    return end_view(&view, rc, visit, context, err);
}

int vcm_reference_list(struct vcm *vcm, const struct vcm_reference_query *query,
                       vcm_document_fn visit, void *context, struct vcm_error *err)
{
    struct vcm_error found = {0};
    int rc = find_references(vcm, query, visit, context, &found);

    if (is_mended(vcm, rc, &found))
        rc = find_references(vcm, query, visit, context, &found);
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}
