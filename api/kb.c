#include <stdio.h>
#include <string.h>

#include "api/arguments.h"
#include "api/kb_internal.h"
#include "base/limits.h"
#include "repomap/plan.h"
#include "sources/glob.h"

#include "base/banned.h"

int vcm_kb_open_store(struct vcm_database **out, struct vcm *vcm, bool writable,
                      struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_error found = {0};
    bool exists = false;

    *out = NULL;
    int rc = vcm_handle_look_at_home(&exists, vcm, err);
    if (rc == VCM_OK && writable)
        rc = vcm_handle_make_home(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&path, vcm, VCM_DATABASE_FILE, err);
    if (rc == VCM_OK) {
        rc = vcm_database_open(out, vcm_buf_text(&path), writable, vcm->cancel, &found);
        if (rc == VCM_NOT_FOUND && !writable)
            rc = VCM_OK;
        else if (rc != VCM_OK && err)
            *err = found;
    }
    vcm_buf_release(&path);
    return rc;
}

/* A filter in the form that the store takes. */
struct filter {
    struct vcm_database_filter store;
    struct vcm_glob_list globs;
    char source[VCM_LIMIT_SCOPE_ID_BYTES + 1];
};

static bool takes_path(void *context, struct vcm_slice path)
{
    const struct filter *filter = context;

    /* Patterns are relative to the root of a repository; for other files the root is "/". */
    while (path.len > 0 && path.data[0] == '/')
        path = vcm_slice_of(path.data + 1, path.len - 1);
    return vcm_glob_list_takes(&filter->globs, path);
}

static void set_source(struct filter *filter, const char *source)
{
    snprintf(filter->source, sizeof filter->source, "%s", source);
}

/* Finds the source that a prefix means. */
struct source_search {
    const char *prefix;
    struct filter *filter;
    unsigned count;
    bool exact;
};

static int compare_source(void *context, const struct vcm_database_document *document,
                          struct vcm_error *err)
{
    struct source_search *search = context;
    const char *source = document->source;

    (void)err;
    if (!source || search->exact || strncmp(source, search->prefix, strlen(search->prefix)) != 0)
        return VCM_OK;
    search->exact = strcmp(source, search->prefix) == 0;
    if (search->exact || strcmp(search->filter->source, source) != 0) {
        search->count = search->exact ? 1 : search->count + 1;
        set_source(search->filter, source);
    }
    return VCM_OK;
}

static int settle_source(struct filter *filter, struct vcm_database *store, const char *source,
                         struct vcm_error *err)
{
    struct source_search search = {.prefix = source, .filter = filter};
    struct vcm_database_filter all = {.source = NULL};

    int rc = vcm_database_list(store, &all, compare_source, &search, err);
    if (rc != VCM_OK)
        return rc;
    if (search.count == 0 || (!search.exact && strlen(source) < VCM_LIMIT_PREFIX_MIN))
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "nothing of a scope '%s' is in the knowledge base; "
                             "'vcm kb list' shows what is",
                             source);
    if (search.count > 1)
        return vcm_error_set(err, VCM_AMBIGUOUS, "'%s' stands for several scopes; give more of it",
                             source);
    filter->store.source = filter->source;
    return VCM_OK;
}

static int filter_init(struct filter *filter, struct vcm_database *store,
                       const struct vcm_kb_filter *wanted, struct vcm_error *err)
{
    int rc = VCM_OK;

    *filter = (struct filter){.store = {.profile = wanted->profile}};
    vcm_glob_list_init(&filter->globs);
    if (wanted->path) {
        rc = vcm_glob_check(vcm_slice_of_string(wanted->path), err);
        if (rc == VCM_OK)
            rc = vcm_glob_list_add(&filter->globs, vcm_slice_of_string(wanted->path), err);
        filter->store.takes = takes_path;
        filter->store.context = filter;
    }
    if (rc == VCM_OK && wanted->source && store)
        rc = settle_source(filter, store, wanted->source, err);
    return rc;
}

static void filter_release(struct filter *filter)
{
    vcm_glob_list_release(&filter->globs);
}

static int check_filter(const struct vcm_kb_filter *filter, struct vcm_error *err)
{
    return VCM_TEXTS(err, {"source", filter->source}, {"path", filter->path},
                     {"profile", filter->profile});
}

/* A filter and the store that it is for, which is NULL when there is no knowledge base. */
struct filtered {
    struct vcm_database *store;
    struct filter filter;
};

/* Close it with filtered_close() even after a failure. */
static int filtered_open(struct filtered *out, struct vcm *vcm, const struct vcm_kb_filter *wanted,
                         struct vcm_error *err)
{
    *out = (struct filtered){0};
    int rc = vcm_kb_open_store(&out->store, vcm, false, err);
    return rc == VCM_OK ? filter_init(&out->filter, out->store, wanted, err) : rc;
}

static void filtered_close(struct filtered *filtered)
{
    filter_release(&filtered->filter);
    vcm_database_close(filtered->store);
}

struct chunk_receiver {
    vcm_kb_chunk_fn visit;
    void *context;
};

static int pass_chunk(void *context, const struct vcm_database_chunk *chunk, struct vcm_error *err)
{
    const struct chunk_receiver *receiver = context;
    const struct vcm_database_document *document = chunk->document;
    struct vcm_kb_chunk out = {
        .chunk_id = chunk->chunk_id,
        .source = document->source,
        .path = document->path,
        .section = chunk->section,
        .page = chunk->page,
        .profile = document->profile,
        .data_type = document->data_type,
        .seq = chunk->seq + 1,
        .chunks = document->chunks,
        .tokens = chunk->tokens,
        .text = chunk->text.data,
        .text_len = chunk->text.len,
        .score = chunk->score,
        .snippet = chunk->snippet,
    };

    return receiver->visit(receiver->context, &out, err);
}

int vcm_kb_search(uint64_t *total, struct vcm *vcm, const struct vcm_kb_search_options *options,
                  vcm_kb_chunk_fn visit, void *context, struct vcm_error *err)
{
    if (total)
        *total = 0;
    int rc =
        VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(total), VCM_ARGUMENT(options), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options->query));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"query", options->query});
    if (rc == VCM_OK)
        rc = check_filter(&options->filter, err);
    if (rc != VCM_OK)
        return rc;
    struct chunk_receiver receiver = {visit, context};
    struct filtered from;

    rc = filtered_open(&from, vcm, &options->filter, err);
    if (rc == VCM_OK && from.store) {
        struct vcm_database_search search = {
            .query = vcm_slice_of_string(options->query),
            .filter = from.filter.store,
            .limit = options->limit,
            .max_tokens = options->max_tokens,
        };
        rc = vcm_database_search_find(total, from.store, &search, pass_chunk, &receiver, err);
    }
    filtered_close(&from);
    return rc;
}

int vcm_kb_show(struct vcm *vcm, const char *chunk, vcm_kb_chunk_fn visit, void *context,
                struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(chunk), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"chunk", chunk});
    if (rc != VCM_OK)
        return rc;
    struct chunk_receiver receiver = {visit, context};
    struct vcm_database *store;

    rc = vcm_kb_open_store(&store, vcm, false, err);
    if (rc == VCM_OK && !store)
        rc = vcm_error_set(err, VCM_NOT_FOUND,
                           "no chunk '%s': the knowledge base of this home is empty", chunk);
    if (rc == VCM_OK)
        rc = vcm_database_show(store, chunk, pass_chunk, &receiver, err);
    vcm_database_close(store);
    return rc;
}

struct document_receiver {
    vcm_kb_document_fn visit;
    void *context;
};

static int pass_document(void *context, const struct vcm_database_document *document,
                         struct vcm_error *err)
{
    const struct document_receiver *receiver = context;
    struct vcm_kb_document out = {
        .source = document->source,
        .path = document->path,
        .profile = document->profile,
        .data_type = document->data_type,
        .bytes = document->bytes,
        .chunks = document->chunks,
        .tokens = document->tokens,
        .ingested_at = document->ingested_at,
    };

    return receiver->visit(receiver->context, &out, err);
}

int vcm_kb_list(struct vcm *vcm, const struct vcm_kb_filter *filter, vcm_kb_document_fn visit,
                void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(filter), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = check_filter(filter, err);
    if (rc != VCM_OK)
        return rc;
    struct document_receiver receiver = {visit, context};
    struct filtered from;

    rc = filtered_open(&from, vcm, filter, err);
    if (rc == VCM_OK && from.store)
        rc = vcm_database_list(from.store, &from.filter.store, pass_document, &receiver, err);
    filtered_close(&from);
    return rc;
}

/* Fills in the patterns and the source of a route of a repository's map. */
static int settle_route(struct filter *filter, struct vcm *vcm,
                        const struct vcm_kb_clear_options *options, struct vcm_error *err)
{
    struct vcm_plan_request request = {
        .repository = options->repository ? options->repository : ".",
        .from_working_tree = true,
    };
    struct vcm_plan plan = {0};

    int rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK) {
        vcm_handle_plan_defaults(&request, vcm);
        rc = vcm_plan_open(&plan, &request, err);
    }
    if (rc == VCM_OK)
        rc = vcm_plan_load(&plan, &request, err);
    if (rc == VCM_OK && options->route > plan.map.route_count)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "there is no route %u: the map has %u in knowledge_routing",
                           options->route, plan.map.route_count);
    if (rc == VCM_OK) {
        const struct vcm_repo_map_list *paths = &plan.map.routes[options->route - 1].paths;
        for (unsigned i = 0; rc == VCM_OK && i < paths->count; i++)
            rc = vcm_glob_list_add(&filter->globs, vcm_slice_of_string(paths->items[i]), err);
        set_source(filter, plan.base_scope);
        filter->store.source = filter->source;
        filter->store.takes = takes_path;
        filter->store.context = filter;
    }
    vcm_plan_release(&plan);
    return rc;
}

int vcm_kb_clear(struct vcm *vcm, const struct vcm_kb_clear_options *options,
                 vcm_kb_document_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = check_filter(&options->filter, err);
    if (rc != VCM_OK)
        return rc;
    struct document_receiver receiver = {visit, context};
    struct filtered from;

    rc = filtered_open(&from, vcm, &options->filter, err);
    if (rc == VCM_OK && options->route > 0)
        rc = settle_route(&from.filter, vcm, options, err);
    if (rc == VCM_OK && from.store)
        rc = vcm_database_remove(from.store, &from.filter.store, pass_document, &receiver, err);
    filtered_close(&from);
    return rc;
}

int vcm_kb_stat(struct vcm_kb_stat *out, struct vcm *vcm, struct vcm_error *err)
{
    if (out)
        *out = (struct vcm_kb_stat){0};
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out));
    if (rc != VCM_OK)
        return rc;
    struct vcm_database_stat stat = {0};
    struct vcm_database *store;

    rc = vcm_kb_open_store(&store, vcm, false, err);
    if (rc == VCM_OK && store)
        rc = vcm_database_stat(&stat, store, err);
    if (rc == VCM_OK)
        *out = (struct vcm_kb_stat){
            .documents = stat.documents,
            .sources = stat.sources,
            .chunks = stat.chunks,
            .tokens = stat.tokens,
            .bytes = stat.bytes,
            .file_bytes = stat.file_bytes,
            .schema_version = stat.schema_version,
        };
    vcm_database_close(store);
    return rc;
}
