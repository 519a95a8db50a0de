#include "sources/git_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/repo.h"
#include "git/tree.h"
#include "lfs/object.h"
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

/* A worker's own handle: libgit2's are not shared between threads. */
struct reader {
    struct vcm_git_repo *repo;
    bool include_binaries;
    struct vcm_lfs_objects *objects; /* NULL until a pointer is met */
    struct vcm_buf raw;              /* content with invalid UTF-8, before its replacement */
};

struct walk {
    vcm_source_item_fn visit;
    void *context;
};

/* What can be told of an entry by its mode and its path. */
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

static int visit_entry(void *context, const struct vcm_git_entry *entry,
                       const struct vcm_path_filter_verdict *verdicts, unsigned count,
                       struct vcm_error *err)
{
    const struct walk *walk = context;
    struct vcm_source_item item = {
        .path = entry->path,
        .outcome = judge(entry, count > 0 ? verdicts[0].verdict : VCM_PATH_EXCLUDED),
        .content_id_len = VCM_GIT_ID_BYTES,
    };

    memcpy(item.content_id, entry->id.bytes, VCM_GIT_ID_BYTES);
    return walk->visit(walk->context, &item, err);
}

static int walk_source(struct vcm_source *source, vcm_source_item_fn visit, void *context,
                       const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct git_source *git = (struct git_source *)source;
    struct walk walk = {visit, context};

    return vcm_path_filter_walk(git->filter, git->repo, &git->commit, git->start_dir, visit_entry,
                                &walk, cancel, err);
}

static void close_reader(void *opaque)
{
    struct reader *reader = opaque;

    if (!reader)
        return;
    vcm_lfs_objects_close(reader->objects);
    vcm_git_repo_close(reader->repo);
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
    int rc = vcm_git_repo_open(&reader->repo, vcm_git_repo_root(git->repo), err);
    if (rc == VCM_OK)
        *out = reader;
    else
        close_reader(reader);
    return rc;
}

/* What is wrong with one object costs that object alone. Running out of memory is not its fault. */
static int fail_item(struct vcm_source_content *content, int rc, struct vcm_error *err)
{
    if (rc == VCM_INTERNAL)
        return rc;
    content->outcome = VCM_SOURCE_FAILED;
    content->reason = rc == VCM_NOT_FOUND ? "object_missing" : "object_damaged";
    vcm_error_reset(err);
    return VCM_OK;
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

static void leave_out(struct vcm_source_content *content, enum vcm_source_outcome outcome,
                      const char *reason)
{
    content->outcome = outcome;
    content->reason = reason;
    vcm_buf_clear(&content->text);
}

/* The content that a pointer stands for, in its place. */
static int read_lfs(struct vcm_source_content *content, struct reader *reader,
                    const struct vcm_lfs_pointer *pointer, struct vcm_error *err)
{
    struct vcm_error failed = {0};
    bool exists = false;
    int rc = VCM_OK;

    if (!reader->objects)
        rc = vcm_lfs_objects_open(&reader->objects, reader->repo, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_lfs_object_exists(&exists, reader->objects, pointer, &failed);
    if (rc == VCM_OK && !exists)
        rc = VCM_NOT_FOUND;
    if (rc == VCM_OK && pointer->size > VCM_LIMIT_FILE_BYTES) {
        leave_out(content, VCM_SOURCE_TOO_LARGE, NULL);
        return VCM_OK;
    }
    if (rc == VCM_OK && pointer->extensions > 0) {
        leave_out(content, VCM_SOURCE_FAILED, "lfs_extension");
        return VCM_OK;
    }
    vcm_buf_clear(&content->text);
    if (rc == VCM_OK)
        rc = vcm_lfs_object_read(&content->text, reader->objects, pointer, &failed);
    if (rc == VCM_OK)
        return decode(content, reader, err);
    if (rc == VCM_INTERNAL) {
        if (err)
            *err = failed;
        return rc;
    }
    if (rc == VCM_NOT_FOUND)
        leave_out(content, VCM_SOURCE_LFS_MISSING, NULL);
    else
        leave_out(content, VCM_SOURCE_FAILED,
                  rc == VCM_STORE_CORRUPT ? "lfs_corrupt" : "lfs_unreadable");
    return VCM_OK;
}

static int read_item(struct vcm_source_content *content, void *opaque,
                     const struct vcm_source_item *item, struct vcm_error *err)
{
    struct reader *reader = opaque;
    struct vcm_lfs_pointer pointer;
    struct vcm_git_id id;
    uint64_t size = 0;

    memcpy(id.bytes, item->content_id, sizeof id.bytes);
    size_t bytes_max = content->bytes_max > 0 && content->bytes_max < VCM_LIMIT_FILE_BYTES
                           ? content->bytes_max
                           : VCM_LIMIT_FILE_BYTES;
    int rc = vcm_git_blob_read_upto(&content->text, &size, reader->repo, &id, bytes_max, err);
    if (rc != VCM_OK)
        return fail_item(content, rc, err);
    if (size > bytes_max) {
        content->outcome = size > VCM_LIMIT_FILE_BYTES ? VCM_SOURCE_TOO_LARGE : VCM_SOURCE_PAGED;
        content->postponed = content->outcome == VCM_SOURCE_PAGED;
        return VCM_OK;
    }
    content->outcome = VCM_SOURCE_PAGED;
    if (size <= VCM_LFS_POINTER_BYTES_MAX &&
        vcm_lfs_pointer_parse(&pointer, vcm_buf_slice(&content->text)))
        return read_lfs(content, reader, &pointer, err);
    return decode(content, reader, err);
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
    .reader_open = open_reader,
    .reader_close = close_reader,
    .read = read_item,
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
        rc = vcm_git_repo_open(&git->repo, request->repository, err);
    if (rc == VCM_OK)
        rc = open_filter(git, request, err);
    if (rc == VCM_OK)
        *out = &git->source;
    else
        close_source(&git->source);
    return rc;
}

const struct vcm_source_type vcm_git_source_type = {.name = "git_repo", .open = open_source};
