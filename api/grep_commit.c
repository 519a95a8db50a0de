/* The files of a commit, in the order of their paths. */
#include <stdlib.h>
#include <string.h>

#include "api/grep_search.h"
#include "api/place_text.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "sources/blob_reader.h"
#include "vcm/page/source.h"

#include "base/banned.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define JOB_FILES   8u /* many jobs keep all workers busy to the end */

static int take_file(void *context, const struct vcm_place_file *file, struct vcm_error *err)
{
    struct vcm_grep_search *search = context;

    if (file->kind > VCM_GIT_EXECUTABLE || !vcm_grep_takes(search, file->path))
        return VCM_OK;
    int rc = vcm_array_reserve(&search->entries, &search->entry_capacity, search->entry_count + 1,
                               VCM_LIMIT_TREE_ENTRIES, err);
    const char *path = rc == VCM_OK ? vcm_arena_copy(&search->arena, file->path) : NULL;
    if (rc == VCM_OK && !path)
        rc = vcm_error_memory(err);
    if (rc == VCM_OK)
        search->entries[search->entry_count++] =
            (struct vcm_grep_entry){.path = vcm_slice_of(path, file->path.len), .blob = file->blob};
    return rc;
}

static int by_path(const void *a, const void *b)
{
    struct vcm_slice x = ((const struct vcm_grep_entry *)a)->path;
    struct vcm_slice y = ((const struct vcm_grep_entry *)b)->path;
    int order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);

    return order != 0 ? order : (x.len > y.len) - (x.len < y.len);
}

int vcm_grep_commit_list(struct vcm_grep_search *search, struct vcm_place *place,
                         struct vcm_error *err)
{
    int rc = vcm_place_each(place, place->subpath, take_file, search, err);

    if (rc == VCM_OK && search->entry_count > 0)
        qsort(search->entries, search->entry_count, sizeof *search->entries, by_path);
    for (size_t i = 0; rc == VCM_OK && i < search->entry_count; i += JOB_FILES)
        rc = vcm_grep_add_job(
            search, NULL, i,
            i + JOB_FILES < search->entry_count ? i + JOB_FILES : search->entry_count, err);
    return rc;
}

int vcm_grep_commit_open_worker(struct vcm_grep_worker *worker,
                                const struct vcm_grep_search *search, struct vcm_error *err)
{
    return vcm_blob_reader_open_again(&worker->blobs, search->places[0]->repo, err);
}

/* What there is instead of a text. */
static const char *gap_of(const struct vcm_source_content *content)
{
    const char *reason = vcm_source_reason_text(content->reason, content->reason_text);

    return content->outcome == VCM_SOURCE_FAILED && reason ? reason
                                                           : vcm_outcome_name(content->outcome);
}

static bool is_binary(struct vcm_slice bytes)
{
    size_t probe = bytes.len < VCM_LIMIT_BINARY_PROBE ? bytes.len : VCM_LIMIT_BINARY_PROBE;

    return probe > 0 && memchr(bytes.data, '\0', probe);
}

/* Reads a blob into worker->bytes. *gap is NULL, or why there is no text. A binary file is an empty
 * text. */
static int read_bytes(struct vcm_slice *out, const char **gap, struct vcm_grep_worker *worker,
                      struct vcm_slice path, const struct vcm_git_id *blob, struct vcm_error *err)
{
    /* Objects are not hashed, as git grep does not: damage that zlib finds is reported. */
    struct vcm_source_content content = {.outcome = VCM_SOURCE_PAGED, .unverified = true};
    struct vcm_source_item item = {.path = path, .content_id_len = VCM_GIT_ID_BYTES};

    *out = vcm_slice_of("", 0);
    *gap = NULL;
    memcpy(item.content_id, blob->bytes, VCM_GIT_ID_BYTES);
    vcm_buf_clear(&worker->bytes);
    content.text = worker->bytes;
    int rc = vcm_blob_reader_read(&content, worker->blobs, &item, VCM_LIMIT_FILE_BYTES, err);
    worker->bytes = content.text;
    if (rc != VCM_OK)
        return rc;
    if (content.outcome != VCM_SOURCE_PAGED) {
        *gap = gap_of(&content);
        return VCM_OK;
    }
    if (!is_binary(vcm_buf_slice(&worker->bytes)))
        *out = vcm_buf_slice(&worker->bytes);
    return VCM_OK;
}

/* Replaces invalid UTF-8, in worker->text. */
static int make_valid(struct vcm_slice *text, struct vcm_grep_worker *worker, struct vcm_error *err)
{
    if (vcm_utf8_valid(*text))
        return VCM_OK;
    vcm_buf_clear(&worker->text);
    vcm_utf8_replace(&worker->text, *text);
    *text = vcm_buf_slice(&worker->text);
    return vcm_buf_check(&worker->text, "the text of a file", err);
}

/* Whether the bytes can match. A replacement character of the pattern may stand for others. */
static bool may_match(const struct vcm_grep_search *search, struct vcm_slice bytes)
{
    struct vcm_slice literal = vcm_regex_literal(search->regex);

    return literal.len == 0 || memmem(bytes.data, bytes.len, literal.data, literal.len) ||
           memmem(literal.data, literal.len, REPLACEMENT, sizeof REPLACEMENT - 1);
}

static const char *shown(struct vcm_arena *arena, struct vcm_slice path)
{
    struct vcm_buf out = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);

    vcm_utf8_escape_path(&out, path);
    const char *copy =
        out.fault == VCM_BUF_FINE ? vcm_arena_copy(arena, vcm_buf_slice(&out)) : NULL;
    vcm_buf_release(&out);
    return copy;
}

static int run_entry(struct vcm_grep_batch *batch, const struct vcm_grep_search *search,
                     struct vcm_grep_worker *worker, const struct vcm_grep_entry *entry,
                     struct vcm_error *err)
{
    struct vcm_slice text;
    struct vcm_grep_file *added = NULL;
    struct vcm_grep_file file = {.raw_path = entry->path, .has_blob = true, .blob = entry->blob};
    const char *gap = NULL;

    int rc = read_bytes(&text, &gap, worker, entry->path, &entry->blob, err);
    if (rc == VCM_OK && gap) {
        const char *path = shown(&batch->arena, entry->path);
        return path ? vcm_grep_add_gap(batch, path, gap, err) : vcm_error_memory(err);
    }
    if (rc == VCM_OK && !may_match(search, text)) {
        batch->searched++;
        return VCM_OK;
    }
    if (rc == VCM_OK)
        rc = make_valid(&text, worker, err);
    if (rc == VCM_OK)
        rc = vcm_grep_search_file(batch, &added, search, worker, &file, text, err);
    if (added && !(added->path = shown(&batch->arena, entry->path)))
        rc = vcm_error_memory(err);
    return vcm_error_wrap(err, rc, "%.*s", (int)entry->path.len, entry->path.data);
}

int vcm_grep_commit_run(struct vcm_grep_batch *batch, const struct vcm_grep_search *search,
                        struct vcm_grep_worker *worker, const struct vcm_grep_job *job,
                        struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t i = job->first; rc == VCM_OK && i < job->end; i++) {
        rc = vcm_cancel_check(search->vcm->cancel, err);
        if (rc == VCM_OK)
            rc = run_entry(batch, search, worker, &search->entries[i], err);
    }
    return rc;
}

int vcm_grep_commit_read(const struct vcm_grep_search *search, struct vcm_grep_worker *worker,
                         const struct vcm_grep_file *file, struct vcm_error *err)
{
    struct vcm_slice text;
    const char *gap;

    (void)search;
    int rc = read_bytes(&text, &gap, worker, file->raw_path, &file->blob, err);
    if (rc == VCM_OK)
        rc = make_valid(&text, worker, err);
    if (rc == VCM_OK && text.data != worker->text.data) {
        vcm_buf_clear(&worker->text);
        vcm_buf_append_slice(&worker->text, text);
        rc = vcm_buf_check(&worker->text, "the text of a file", err);
    }
    return rc;
}
