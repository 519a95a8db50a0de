#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/arguments.h"
#include "api/kb_directory.h"
#include "api/kb_internal.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/path.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "kb/reader.h"
#include "repomap/knowledge.h"

#include "base/banned.h"

#define NAMES_BYTES_MAX (256 * VCM_MIB)

struct file_receiver {
    vcm_kb_file_fn visit;
    void *context;
    struct vcm_kb_passed_over *passed;
};

/* Where the bytes of an item are: its context. */
struct origin {
    const char *path;
    bool listed; /* found in a directory, not named by the caller */
};

/* The items of a call, with the memory their names live in. */
struct batch {
    struct vcm *vcm;
    struct vcm_arena arena;
    struct vcm_ingestor_item *items;
    size_t count, capacity, entries;
    const char *profile;
    struct vcm_kb_passed_over passed;

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

/* The same for the items of a batch: what a directory holds beside documents is only counted. */
static int pass_named(void *context, const struct vcm_ingestor_result *result,
                      struct vcm_error *err)
{
    const struct file_receiver *receiver = context;
    const struct origin *origin = result->item->context;

    if (origin && origin->listed && result->code == VCM_UNSUPPORTED &&
        vcm_reader_type_of(vcm_slice_of_string(result->item->path)) == VCM_READER_OTHER) {
        receiver->passed->others++;
        return VCM_OK;
    }
    return pass_result(context, result, err);
}

/* Reads a file from disk, in a worker thread. An LFS pointer outside a repository is ordinary text.
 */
static int read_disk(struct vcm_buf *out, const struct vcm_ingestor_item *item,
                     struct vcm_error *err)
{
    const struct origin *origin = item->context;
    int rc = origin->listed ? vcm_path_read_plain(out, origin->path, VCM_LIMIT_DOCUMENT_BYTES, err)
                            : vcm_path_read_file(out, origin->path, VCM_LIMIT_DOCUMENT_BYTES, err);
    if (rc != VCM_OK || !item->source)
        return rc;
    char *folder = strdup(origin->path);
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

/* Names the file by the repository that `place` is in and the path there, else by its absolute
 * path. */
static int name_file(struct vcm_ingestor_item *item, struct batch *batch, const char *real,
                     const char *place, struct vcm_error *err)
{
    const char *path = real;

    int rc = enter_directory(batch, place, err);
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

/* The new item, NULL without memory. It stays in place until the next one is added. */
static struct vcm_ingestor_item *add_item(struct batch *batch)
{
    if (vcm_array_reserve(&batch->items, &batch->capacity, batch->count + 1, SIZE_MAX, NULL) !=
        VCM_OK)
        return NULL;
    return &batch->items[batch->count++];
}

static struct vcm_ingestor_item *add_disk_item(struct batch *batch, const char *path, bool listed)
{
    struct origin *origin = vcm_arena_alloc(&batch->arena, sizeof *origin);
    const char *copy = vcm_arena_copy(&batch->arena, vcm_slice_of_string(path));
    struct vcm_ingestor_item *item = origin && copy ? add_item(batch) : NULL;

    if (!item)
        return NULL;
    *origin = (struct origin){copy, listed};
    *item =
        (struct vcm_ingestor_item){.profile = batch->profile, .read = read_disk, .context = origin};
    return item;
}

static int add_listed(void *context, const char *path, const char *place, struct vcm_error *err)
{
    struct vcm_ingestor_item *item = add_disk_item(context, path, true);

    return item ? name_file(item, context, path, place, err) : vcm_error_memory(err);
}

/* A file that exists: its repository is that of its directory. */
static int add_real(struct batch *batch, const char *real, struct vcm_error *err)
{
    const char *slash = strrchr(real, '/');
    struct vcm_ingestor_item *item = add_disk_item(batch, real, false);
    char *place = strndup(real, slash == real ? 1 : (size_t)(slash - real));

    int rc = item && place ? name_file(item, batch, real, place, err) : vcm_error_memory(err);
    free(place);
    return rc;
}

/* Nothing is there: reading it will say so. It may be a URL. */
static int add_missing(struct batch *batch, const char *file, struct vcm_error *err)
{
    struct vcm_ingestor_item *item = add_disk_item(batch, file, false);
    char *name = copy_path(batch, file);

    if (!item || !name)
        return vcm_error_memory(err);
    vcm_secret_strip_url(name);
    item->path = name;
    return VCM_OK;
}

static int add_file(struct batch *batch, const char *file, struct vcm_error *err)
{
    char *real = realpath(file, NULL);
    struct stat status;
    int rc;

    if (!real)
        rc = add_missing(batch, file, err);
    else if (stat(real, &status) == 0 && S_ISDIR(status.st_mode))
        rc = vcm_kb_directory_walk(&batch->passed, &batch->entries, real, batch->vcm->cancel,
                                   add_listed, batch, err);
    else
        rc = add_real(batch, real, err);
    free(real);
    return rc;
}

static int add_bytes(struct batch *batch, const struct vcm_kb_bytes *document,
                     const struct vcm_kb_ingest_options *options, struct vcm_error *err)
{
    struct vcm_ingestor_item *item = add_item(batch);

    if (!item)
        return vcm_error_memory(err);
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

    for (size_t i = 0; rc == VCM_OK && i < options->file_count; i++)
        rc = add_file(batch, options->files[i], err);
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
    struct batch batch = {.vcm = vcm, .profile = options->profile};
    struct file_receiver receiver = {visit, context, &batch.passed};
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
        rc = collect(&batch, options, err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&tokenizer, vcm_config_text(&vcm->config, "tokenizer"), err);
    if (rc == VCM_OK)
        rc = vcm_kb_open_store(&store, vcm, true, err);
    struct vcm_ingestor_options ingestor = {store, tokenizer, options->jobs, vcm->cancel};
    if (rc == VCM_OK)
        rc = vcm_ingestor_run(&ingestor, batch.items, batch.count, pass_named, &receiver, err);
    if (rc == VCM_OK && options->repository)
        rc = vcm_knowledge_run(&plan, &request, options->profile, &ingestor, pass_result, &receiver,
                               err);
    if (options->passed_over)
        *options->passed_over = batch.passed;
    vcm_database_close(store);
    vcm_tokenizer_close(tokenizer);
    vcm_plan_release(&plan);
    free(batch.items);
    vcm_arena_release(&batch.arena);
    return rc;
}
