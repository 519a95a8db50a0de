#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/kb_internal.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "repomap/knowledge.h"

#include "base/banned.h"

#define NAMES_BYTES_MAX (256 * VCM_MIB)

struct file_receiver {
    vcm_kb_file_fn visit;
    void *context;
};

/* The items of a call, with the memory their names live in. */
struct batch {
    struct vcm *vcm;
    struct vcm_arena arena;
    struct vcm_ingestor_item *items;
    size_t count;

    /* The repository that contains the directory; kept while the directory stays the same. */
    char *directory;
    bool planned; /* there is a repository */
    struct vcm_plan plan;
    struct vcm_plan_request request;
    struct vcm_knowledge_rules *rules;
};

static int pass_result(void *context, const struct vcm_ingestor_result *result,
                       struct vcm_error *err)
{
    const struct file_receiver *receiver = context;
    struct vcm_kb_file file = {
        .source = result->item->source,
        .path = result->item->path,
        .status = vcm_ingestor_status_name(result->status),
        .data_type = result->data_type,
        .chunks = result->chunks,
        .code = result->code,
        .message = result->message,
    };

    return receiver->visit(receiver->context, &file, err);
}

/* Reads a file from disk, in a worker thread. An LFS pointer outside a repository is ordinary text.
 */
static int read_disk(struct vcm_buf *out, const struct vcm_ingestor_item *item,
                     struct vcm_error *err)
{
    int rc = vcm_path_read_file(out, item->context, VCM_LIMIT_DOCUMENT_BYTES, err);
    if (rc != VCM_OK || !item->source)
        return rc;
    char *folder = strdup(item->context);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (!slash) {
        free(folder);
        return vcm_error_memory(err);
    }
    *slash = '\0';
    rc = vcm_knowledge_resolve_pointer(out, folder, err);
    free(folder);
    return rc;
}

static void leave_directory(struct batch *batch)
{
    vcm_knowledge_rules_close(batch->rules);
    batch->rules = NULL;
    vcm_plan_release(&batch->plan);
    memset(&batch->plan, 0, sizeof batch->plan);
    batch->planned = false;
    free(batch->directory);
    batch->directory = NULL;
}

/* Looks for a repository that contains the directory. It is no failure if there is none or it
 * cannot be read: the file is then named by its own path. */
static int enter_directory(struct batch *batch, const char *directory, struct vcm_error *err)
{
    struct vcm_error none = {0};

    if (batch->directory && strcmp(batch->directory, directory) == 0)
        return VCM_OK;
    leave_directory(batch);
    batch->directory = strdup(directory);
    if (!batch->directory)
        return vcm_error_memory(err);
    batch->request =
        (struct vcm_plan_request){.repository = batch->directory, .from_working_tree = true};
    vcm_handle_plan_defaults(&batch->request, batch->vcm);
    batch->planned = vcm_plan_open(&batch->plan, &batch->request, &none) == VCM_OK &&
                     !vcm_git_repo_is_bare(batch->plan.repo);
    vcm_error_reset(&none);
    if (batch->planned && vcm_plan_load(&batch->plan, &batch->request, &none) == VCM_OK)
        return vcm_knowledge_rules_open(&batch->rules, &batch->plan.map, &batch->request, err);
    return VCM_OK;
}

static char *copy_path(struct batch *batch, const char *path)
{
    struct vcm_buf text = VCM_BUF_INIT(4 * VCM_LIMIT_PATH_BYTES);

    vcm_utf8_escape_path(&text, vcm_slice_of_string(path));
    char *copy =
        text.fault == VCM_BUF_FINE ? vcm_arena_copy(&batch->arena, vcm_buf_slice(&text)) : NULL;
    vcm_buf_release(&text);
    return copy;
}

/* Names the file by its repository and the path in it, else by its absolute path. */
static int name_file(struct vcm_ingestor_item *item, struct batch *batch, char *real,
                     struct vcm_error *err)
{
    char *slash = strrchr(real, '/');
    const char *path = real;

    *slash = '\0';
    int rc = enter_directory(batch, slash == real ? "/" : real, err);
    *slash = '/';
    if (rc != VCM_OK)
        return rc;
    if (batch->planned) {
        size_t len = strlen(batch->plan.repo_root);
        if (strncmp(real, batch->plan.repo_root, len) == 0 && real[len] == '/') {
            item->source =
                vcm_arena_copy(&batch->arena, vcm_slice_of_string(batch->plan.base_scope));
            path = real + len + 1;
            if (!item->source)
                return vcm_error_memory(err);
        }
    }
    vcm_knowledge_rules_apply(item->source ? batch->rules : NULL, vcm_slice_of_string(path), item);
    item->path = copy_path(batch, path);
    return item->path ? VCM_OK : vcm_error_memory(err);
}

static int add_file(struct batch *batch, const char *file, const char *profile,
                    struct vcm_error *err)
{
    struct vcm_ingestor_item *item = &batch->items[batch->count++];
    char *real = realpath(file, NULL), *name = NULL;
    int rc = VCM_OK;

    *item = (struct vcm_ingestor_item){.profile = profile, .read = read_disk};
    item->context = vcm_arena_copy(&batch->arena, vcm_slice_of_string(real ? real : file));
    if (item->context && real)
        rc = name_file(item, batch, real, err);
    else if (item->context)
        item->path = name = copy_path(batch, file);
    if (name) /* there is no such file; it may be a URL */
        vcm_secret_strip_url(name);
    if (rc == VCM_OK && !item->path)
        rc = vcm_error_memory(err);
    free(real);
    return rc;
}

static int add_bytes(struct batch *batch, const struct vcm_kb_bytes *document,
                     const struct vcm_kb_ingest_options *options, struct vcm_error *err)
{
    struct vcm_ingestor_item *item = &batch->items[batch->count++];

    *item = (struct vcm_ingestor_item){
        .source = options->source,
        .profile = options->profile,
        .bytes = {document->data, document->len},
    };
    vcm_knowledge_rules_apply(NULL, vcm_slice_of_string(document->name), item);
    item->path = copy_path(batch, document->name);
    return item->path ? VCM_OK : vcm_error_memory(err);
}

static int collect(struct batch *batch, const struct vcm_kb_ingest_options *options,
                   struct vcm_error *err)
{
    int rc = VCM_OK;

    batch->items = calloc(options->file_count + options->document_count + 1, sizeof *batch->items);
    if (!batch->items)
        return vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < options->file_count; i++)
        rc = add_file(batch, options->files[i], options->profile, err);
    for (size_t i = 0; rc == VCM_OK && i < options->document_count; i++)
        rc = add_bytes(batch, &options->documents[i], options, err);
    leave_directory(batch);
    return rc;
}

/* Plans the repository whose routes will be followed, before anything is created. */
static int plan_repository(struct vcm_plan *plan, struct vcm_plan_request *request, struct vcm *vcm,
                           struct vcm_error *err)
{
    vcm_handle_plan_defaults(request, vcm);
    int rc = vcm_plan_open(plan, request, err);
    if (rc == VCM_OK)
        rc = vcm_plan_load(plan, request, err);
    if (rc == VCM_OK && !plan->has_commit)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "'%s' has no commit yet", plan->repo_root);
    return rc;
}

static int check_documents(const struct vcm_kb_ingest_options *options, struct vcm_error *err)
{
    int rc = VCM_OK;

    if (!options->documents && options->document_count > 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "documents is NULL");
    for (size_t i = 0; rc == VCM_OK && i < options->document_count; i++) {
        const struct vcm_kb_bytes *document = &options->documents[i];
        if (!document->name || (!document->data && document->len > 0))
            rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "documents[%zu] has no name or no data",
                               i);
        else
            rc = VCM_TEXTS(err, {"the name of a document", document->name});
    }
    return rc;
}

int vcm_kb_ingest(struct vcm *vcm, const struct vcm_kb_ingest_options *options,
                  vcm_kb_file_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"source", options->source}, {"profile", options->profile});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("files", options->files, options->file_count, VCM_ARGUMENT_PATHS,
                                err);
    if (rc == VCM_OK)
        rc = check_documents(options, err);
    if (rc != VCM_OK)
        return rc;
    struct file_receiver receiver = {visit, context};
    struct batch batch = {.vcm = vcm};
    struct vcm_plan_request request = {.repository = options->repository};
    struct vcm_plan plan = {0};
    struct vcm_tokenizer *tokenizer = NULL;
    struct vcm_database *store = NULL;

    rc = vcm_handle_config(vcm, err);
    if (rc != VCM_OK)
        return rc;
    vcm_arena_init(&batch.arena, NAMES_BYTES_MAX);
    if (options->repository)
        rc = plan_repository(&plan, &request, vcm, err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&tokenizer, vcm_config_text(&vcm->config, "tokenizer"), err);
    if (rc == VCM_OK)
        rc = vcm_kb_open_store(&store, vcm, true, err);
    if (rc == VCM_OK)
        rc = collect(&batch, options, err);
    struct vcm_ingestor_options ingestor = {store, tokenizer, options->jobs, vcm->cancel};
    if (rc == VCM_OK)
        rc = vcm_ingestor_run(&ingestor, batch.items, batch.count, pass_result, &receiver, err);
    if (rc == VCM_OK && options->repository)
        rc = vcm_knowledge_run(&plan, &request, options->profile, &ingestor, pass_result, &receiver,
                               err);
    vcm_database_close(store);
    vcm_tokenizer_close(tokenizer);
    vcm_plan_release(&plan);
    free(batch.items);
    vcm_arena_release(&batch.arena);
    return rc;
}
