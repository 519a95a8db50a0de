/* The definitions around the matches that are shown: only their files are read once more. */
#include <stdlib.h>

#include "api/grep_search.h"
#include "api/symbols_place.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/ordered.h"
#include "symbols/definitions.h"

#include "base/banned.h"

struct named_file {
    struct vcm_grep_file *file;
};

struct naming {
    struct vcm_grep_search *search;
    struct vcm_definitions *definitions;
    struct named_file *files;
    size_t count, capacity;
};

static int list_files(struct naming *naming, struct vcm_grep_batch *batches, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (struct vcm_grep_batch *batch = batches; batch; batch = batch->next)
        for (size_t i = 0; rc == VCM_OK && i < batch->file_count; i++) {
            struct vcm_grep_file *file = &batch->files[i];
            if (file->first == file->end || file->is_prose ||
                !vcm_definitions_are_known(file->raw_path))
                continue;
            rc = vcm_array_reserve(&naming->files, &naming->capacity, naming->count + 1,
                                   VCM_LIMIT_LIST_ENTRIES, err);
            if (rc == VCM_OK)
                naming->files[naming->count++].file = file;
        }
    return rc;
}

static int set_symbols(struct vcm_grep_file *file, struct vcm_grep_worker *worker,
                       const struct vcm_symbols *symbols, struct vcm_error *err)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_MIB);
    int rc = VCM_OK;

    for (size_t i = file->first; rc == VCM_OK && i < file->end; i++) {
        const struct vcm_symbol *symbol = vcm_definitions_around(symbols, file->hits.hits[i].line);
        if (!symbol)
            continue;
        vcm_buf_clear(&name);
        vcm_definitions_append_name(&name, symbol);
        file->hits.hits[i].symbol = vcm_arena_copy(&worker->symbols, vcm_buf_slice(&name));
        if (!file->hits.hits[i].symbol)
            rc = vcm_error_memory(err);
    }
    vcm_buf_release(&name);
    return rc;
}

/* Different files are named by different threads; a text that cannot be read has no definitions. */
static void *name_file(void *context, size_t job, unsigned number, struct vcm_error *err)
{
    struct naming *naming = context;
    struct vcm_grep_search *search = naming->search;
    struct vcm_grep_worker *worker = &search->workers[number];
    struct vcm_grep_file *file = naming->files[job].file;
    struct vcm_symbols symbols;

    int rc = vcm_cancel_check(search->vcm->cancel, err);
    if (rc == VCM_OK)
        rc = (file->scope ? vcm_grep_pages_read : vcm_grep_commit_read)(search, worker, file, err);
    vcm_symbols_init(&symbols);
    if (rc == VCM_OK)
        rc = vcm_definitions_read(&symbols, naming->definitions, file->raw_path,
                                  file->has_blob ? &file->blob : NULL, vcm_buf_slice(&worker->text),
                                  err);
    if (rc == VCM_OK)
        rc = set_symbols(file, worker, &symbols, err);
    vcm_symbols_release(&symbols);
    return rc == VCM_OK ? file : NULL;
}

static int take_file(void *context, size_t job, void *result, struct vcm_error *err)
{
    (void)context;
    (void)job;
    (void)result;
    (void)err;
    return VCM_OK;
}

static void drop_file(void *result)
{
    (void)result; /* it belongs to its batch */
}

int vcm_grep_symbols_set(struct vcm_grep_search *search, struct vcm_grep_batch *batches,
                         struct vcm_error *err)
{
    struct naming naming = {.search = search};
    struct vcm_buf directory = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = list_files(&naming, batches, err);
    if (rc == VCM_OK && naming.count > 0)
        rc = vcm_handle_path(&directory, search->vcm, VCM_SYMBOLS_PLACE_NAME, err);
    if (rc == VCM_OK && naming.count > 0)
        rc = vcm_definitions_open(&naming.definitions, vcm_buf_text(&directory),
                                  search->vcm->cancel, search->vcm->log, err);
    if (rc == VCM_OK && naming.count > 0)
        rc = vcm_ordered_run(&(struct vcm_ordered){.jobs = naming.count,
                                                   .workers = search->worker_count,
                                                   .run = name_file,
                                                   .take = take_file,
                                                   .drop = drop_file,
                                                   .context = &naming},
                             err);
    vcm_definitions_close(naming.definitions);
    vcm_buf_release(&directory);
    free(naming.files);
    return rc;
}
