#include "sources/git_source.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/overlay.h"
#include "git/repo.h"
#include "git/tree.h"
#include "sources/blob_reader.h"
#include "sources/path_filter.h"

#include "base/banned.h"

struct git_source {
    struct vcm_source source;
    struct vcm_git_repo *repo;
    struct vcm_git_id commit;
    char *start_dir;
    bool include_binaries;
    struct vcm_path_filter *filter;
};

struct reader {
    struct vcm_blob_reader *blobs;
    bool include_binaries;
    struct vcm_buf raw; /* content with invalid UTF-8, before replacement */
};

struct walk {
    vcm_source_item_fn visit;
    vcm_source_unchanged_fn unchanged;
    void *context;
};

/* The outcome of an entry, as far as its mode and path decide it. */
static enum vcm_source_outcome judge(const struct vcm_git_entry *entry,
                                     enum vcm_path_verdict verdict)
{
    if (entry->kind == VCM_GIT_SUBMODULE)
        return VCM_SOURCE_SUBMODULE;
    if (entry->kind == VCM_GIT_SYMLINK)
        return VCM_SOURCE_SYMLINK;
    if (verdict == VCM_PATH_EXCLUDED)
        return VCM_SOURCE_EXCLUDED;
    return verdict == VCM_PATH_IGNORED ? VCM_SOURCE_IGNORED : VCM_SOURCE_PAGED;
}

static struct vcm_source_item item_of(const struct vcm_git_entry *entry,
                                      const struct vcm_path_filter_verdict *verdicts,
                                      unsigned count)
{
    struct vcm_source_item item = {
        .path = entry->path,
        .outcome = judge(entry, count > 0 ? verdicts[0].verdict : VCM_PATH_EXCLUDED),
        .content_id_len = VCM_GIT_ID_BYTES,
    };

    assert(count <= 1 && "the filter has one entry");
    memcpy(item.content_id, entry->id.bytes, VCM_GIT_ID_BYTES);
    return item;
}

static int visit_entry(void *context, const struct vcm_git_entry *entry,
                       const struct vcm_path_filter_verdict *verdicts, unsigned count,
                       struct vcm_error *err)
{
    const struct walk *walk = context;
    const struct vcm_source_item item = item_of(entry, verdicts, count);

    return walk->visit(walk->context, &item, err);
}

/* What cannot be visited is one entry that failed, also a directory: the number of its files is
 * unknown. */
static int visit_left_out(void *context, const struct vcm_git_entry *entry,
                          enum vcm_path_filter_absence why,
                          const struct vcm_path_filter_verdict *verdicts, unsigned count,
                          struct vcm_error *err)
{
    static const enum vcm_reason reasons[] = {
        [VCM_PATH_FILTER_MISSING] = VCM_REASON_OBJECT_MISSING,
        [VCM_PATH_FILTER_NAME] = VCM_REASON_NAME_REFUSED,
        [VCM_PATH_FILTER_TWIN] = VCM_REASON_NAME_TWICE,
    };
    const struct walk *walk = context;
    struct vcm_source_item item = item_of(entry, verdicts, count);

    item.name_is_escaped = why == VCM_PATH_FILTER_NAME || why == VCM_PATH_FILTER_TWIN;
    if (item.outcome == VCM_SOURCE_PAGED) {
        item.outcome = VCM_SOURCE_FAILED;
        item.reason = reasons[why];
    }
    return walk->visit(walk->context, &item, err);
}

static int walk_source(struct vcm_source *source, vcm_source_item_fn visit, void *context,
                       const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct git_source *git = (struct git_source *)source;
    struct walk walk = {.visit = visit, .context = context};

    return vcm_path_filter_walk(git->filter, git->repo, &git->commit, git->start_dir, visit_entry,
                                &walk, cancel, err);
}

static int pass_unchanged(void *context, struct vcm_slice directory, bool *skip,
                          struct vcm_error *err)
{
    const struct walk *walk = context;

    return walk->unchanged(walk->context, directory, skip, err);
}

static int walk_since(struct vcm_source *source, struct vcm_slice base, vcm_source_item_fn visit,
                      vcm_source_unchanged_fn unchanged, void *context,
                      const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct git_source *git = (struct git_source *)source;
    struct walk walk = {visit, unchanged, context};
    struct vcm_git_id commit;
    char hex[VCM_GIT_ID_HEX + 1] = "";

    if (base.len == VCM_GIT_ID_HEX)
        memcpy(hex, base.data, VCM_GIT_ID_HEX);
    if (hex[0] != '\0' && vcm_hash_from_hex(commit.bytes, hex, VCM_GIT_ID_BYTES))
        vcm_path_filter_set_base(git->filter, &commit, pass_unchanged);
    int rc = vcm_path_filter_walk(git->filter, git->repo, &git->commit, git->start_dir, visit_entry,
                                  &walk, cancel, err);
    vcm_path_filter_set_base(git->filter, NULL, NULL);
    return rc;
}

static void close_reader(void *opaque)
{
    struct reader *reader = opaque;

    if (!reader)
        return;
    vcm_blob_reader_close(reader->blobs);
    vcm_buf_release(&reader->raw);
    free(reader);
}

static int open_reader(void **out, struct vcm_source *source, struct vcm_error *err)
{
    struct git_source *git = (struct git_source *)source;

    *out = NULL;
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return vcm_error_memory(err);
    vcm_buf_init(&reader->raw, VCM_LIMIT_FILE_BYTES);
    reader->include_binaries = git->include_binaries;
    int rc = vcm_blob_reader_open_again(&reader->blobs, git->repo, err);
    if (rc == VCM_OK)
        *out = reader;
    else
        close_reader(reader);
    return rc;
}

static int decode(struct vcm_source_content *content, struct reader *reader, struct vcm_error *err)
{
    size_t probe =
        content->text.len < VCM_LIMIT_BINARY_PROBE ? content->text.len : VCM_LIMIT_BINARY_PROBE;

    if (probe > 0 && memchr(content->text.data, '\0', probe)) {
        content->binary = reader->include_binaries;
        if (!reader->include_binaries)
            content->outcome = VCM_SOURCE_BINARY;
        return VCM_OK;
    }
    if (vcm_utf8_valid(vcm_buf_slice(&content->text)))
        return VCM_OK;
    struct vcm_buf valid = content->text;
    content->text = reader->raw;
    content->text.max = valid.max;
    reader->raw = valid;
    vcm_buf_clear(&content->text);
    content->lossy = vcm_utf8_replace(&content->text, vcm_buf_slice(&reader->raw));
    return vcm_buf_check(&content->text, "a file's text", err);
}

static int read_item(struct vcm_source_content *content, void *opaque,
                     const struct vcm_source_item *item, struct vcm_error *err)
{
    struct reader *reader = opaque;

    int rc = vcm_blob_reader_read(content, reader->blobs, item, VCM_LIMIT_FILE_BYTES, err);
    if (rc != VCM_OK || content->outcome != VCM_SOURCE_PAGED || content->postponed)
        return rc;
    return decode(content, reader, err);
}

static bool is_volatile(const struct vcm_source *source, const unsigned char *content_id,
                        size_t len)
{
    const struct git_source *git = (const struct git_source *)source;
    struct vcm_git_id id;

    if (len != sizeof id.bytes)
        return false;
    memcpy(id.bytes, content_id, len);
    return vcm_git_overlay_has(git->repo, &id);
}

static void close_source(struct vcm_source *source)
{
    struct git_source *git = (struct git_source *)source;

    vcm_path_filter_close(git->filter);
    vcm_git_repo_close(git->repo);
    free(git->start_dir);
    free(git);
}

static const struct vcm_source_functions functions = {
    .walk = walk_source,
    .walk_since = walk_since,
    .reader_open = open_reader,
    .reader_close = close_reader,
    .read = read_item,
    .is_volatile = is_volatile,
    .close = close_source,
};

static int open_filter(struct git_source *git, const struct vcm_source_request *request,
                       struct vcm_error *err)
{
    int rc = vcm_path_filter_open(&git->filter, err);
    if (rc == VCM_OK)
        rc = vcm_path_filter_add(git->filter,
                                 &(struct vcm_path_filter_spec){
                                     .start_dir = request->start_dir,
                                     .include = request->include,
                                     .include_count = request->include_count,
                                     .exclude = request->exclude,
                                     .exclude_count = request->exclude_count,
                                     .heed_ignore_files = true,
                                 },
                                 err);
    if (rc == VCM_OK)
        vcm_path_filter_set_left_out(git->filter, visit_left_out);
    return rc;
}

static int open_source(struct vcm_source **out, const struct vcm_source_request *request,
                       struct vcm_error *err)
{
    struct git_source *git = calloc(1, sizeof *git);
    int rc;

    *out = NULL;
    if (!git)
        return vcm_error_memory(err);
    git->source.functions = &functions;
    git->include_binaries = request->include_binaries;
    git->start_dir = strdup(request->start_dir);
    if (!git->start_dir)
        rc = vcm_error_memory(err);
    else if (strlen(request->commit) != VCM_GIT_ID_HEX ||
             !vcm_hash_from_hex(git->commit.bytes, request->commit, VCM_GIT_ID_BYTES))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no full commit id", request->commit);
    else
        rc = request->snapshot ? vcm_git_repo_open_again(&git->repo, request->snapshot, err)
                               : vcm_git_repo_open(&git->repo, request->repository, err);
    if (rc == VCM_OK)
        rc = open_filter(git, request, err);
    if (rc == VCM_OK)
        *out = &git->source;
    else
        close_source(&git->source);
    return rc;
}

const struct vcm_source_type vcm_git_source_type = {.name = "git_repo", .open = open_source};
