#include <errno.h>
#include <string.h>

#include "api/kb_internal.h"
#include "api/map.h"
#include "base/array.h"
#include "repomap/knowledge.h"

#include "base/banned.h"

struct receiver {
    struct vcm_map_knowledge *knowledge;
    struct vcm_arena *arena;
    size_t capacity;
};

/* Copies a text into the result's memory; NULL stays NULL. */
static int copy_text(const char **out, struct receiver *receiver, const char *text,
                     struct vcm_error *err)
{
    *out = text ? vcm_arena_copy(receiver->arena, vcm_slice_of_string(text)) : NULL;
    return text && !*out ? vcm_error_memory(err) : VCM_OK;
}

static void count(struct vcm_map_knowledge *knowledge, enum vcm_ingestor_status status)
{
    knowledge->ingested += status == VCM_INGESTOR_INGESTED;
    knowledge->skipped += status == VCM_INGESTOR_SKIPPED;
    knowledge->failed += status == VCM_INGESTOR_FAILED;
    knowledge->removed += status == VCM_INGESTOR_REMOVED;
}

static int take_file(void *context, const struct vcm_ingestor_result *result, struct vcm_error *err)
{
    struct receiver *receiver = context;
    struct vcm_map_knowledge *knowledge = receiver->knowledge;

    int rc = vcm_array_reserve_in(receiver->arena, &knowledge->files, &receiver->capacity,
                                  knowledge->file_count + 1, VCM_LIMIT_TREE_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_kb_file *file = &knowledge->files[knowledge->file_count];
    *file = (struct vcm_kb_file){
        .status = vcm_ingestor_status_name(result->status),
        .chunks = result->chunks,
        .code = result->code,
    };
    rc = copy_text(&file->source, receiver, result->item->source, err);
    if (rc == VCM_OK)
        rc = copy_text(&file->path, receiver, result->item->path, err);
    if (rc == VCM_OK)
        rc = copy_text(&file->data_type, receiver, result->data_type, err);
    if (rc == VCM_OK)
        rc = copy_text(&file->message, receiver, result->message, err);
    if (rc != VCM_OK)
        return rc;
    knowledge->file_count++;
    count(knowledge, result->status);
    return VCM_OK;
}

/* Reports a failure of the knowledge base in the result and does not return it: returned damage
 * would set the page store aside. */
static int excuse(struct receiver *receiver, struct vcm *vcm, int rc, struct vcm_error *failure,
                  struct vcm_error *err)
{
    if (rc == VCM_OK)
        return rc;
    if (rc == VCM_INTERRUPTED || rc == VCM_INTERNAL) {
        if (err)
            *err = *failure;
        return rc;
    }
    receiver->knowledge->code = failure->code;
    vcm_log_write(vcm->log, VCM_LOG_WARNING, "the knowledge base was not updated: %s",
                  failure->message);
    return copy_text(&receiver->knowledge->message, receiver, failure->message, err);
}

int vcm_map_knowledge_route(struct vcm_map_knowledge *out, struct vcm_arena *arena, struct vcm *vcm,
                            const struct vcm_plan *plan, const struct vcm_plan_request *request,
                            unsigned jobs, struct vcm_error *err)
{
    struct receiver receiver = {.knowledge = out, .arena = arena};
    struct vcm_tokenizer *tokenizer = NULL;
    struct vcm_database *store = NULL;
    struct vcm_error failure = {0};

    int rc = vcm_tokenizer_open(&tokenizer, vcm_config_text(&vcm->config, "tokenizer"), &failure);
    if (rc == VCM_OK)
        rc = vcm_kb_open_store(&store, vcm, vcm->store_writable, &failure);
    if (rc == VCM_OK && !store)
        rc = vcm_error_sys(&failure, VCM_IO_ERROR, EROFS, "'%s' has no knowledge base", vcm->home);
    if (rc == VCM_OK)
        rc = vcm_knowledge_run(plan, request, NULL,
                               &(struct vcm_ingestor_options){store, tokenizer, jobs, vcm->cancel},
                               take_file, &receiver, &failure);
    vcm_database_close(store);
    vcm_tokenizer_close(tokenizer);
    return excuse(&receiver, vcm, rc, &failure, err);
}
