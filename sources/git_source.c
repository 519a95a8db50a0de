#include "sources/git_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/repo.h"
#include "git/tree.h"

#include "base/banned.h"

struct git_source {
    struct vcm_source source;
    struct vcm_git_repo *repo;
    struct vcm_git_id commit;
    char *start_dir;
};

/* A worker's own handle: libgit2's are not shared between threads. */
struct reader {
    struct vcm_git_repo *repo;
    struct vcm_buf raw; /* content with invalid UTF-8, before its replacement */
};

struct walk {
    vcm_source_item_fn visit;
    void *context;
};

static int visit_entry(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    const struct walk *walk = context;
    struct vcm_source_item item = {
        .path = entry->path,
        .outcome = entry->kind == VCM_GIT_SUBMODULE ? VCM_SOURCE_SUBMODULE
                   : entry->kind == VCM_GIT_SYMLINK ? VCM_SOURCE_SYMLINK
                                                    : VCM_SOURCE_PAGED,
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

    return vcm_git_tree_walk(git->repo, &git->commit, git->start_dir, visit_entry, &walk, cancel,
                             err);
}

static void close_reader(void *opaque)
{
    struct reader *reader = opaque;

    if (!reader)
        return;
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
    struct vcm_git_id id;
    uint64_t size = 0;

    memcpy(id.bytes, item->content_id, sizeof id.bytes);
    int rc = vcm_git_blob_size(&size, reader->repo, &id, err);
    if (rc != VCM_OK)
        return fail_item(content, rc, err);
    if (size > VCM_LIMIT_FILE_BYTES) {
        content->outcome = VCM_SOURCE_TOO_LARGE;
        return VCM_OK;
    }
    rc = vcm_git_blob_read(&content->text, reader->repo, &id, err);
    if (rc != VCM_OK)
        return fail_item(content, rc, err);
    content->outcome = VCM_SOURCE_PAGED;
    return decode(content, reader, err);
}

static void close_source(struct vcm_source *source)
{
    struct git_source *git = (struct git_source *)source;

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

static int open_source(struct vcm_source **out, const struct vcm_source_request *request,
                       struct vcm_error *err)
{
    struct git_source *git = calloc(1, sizeof *git);
    int rc;

    *out = NULL;
    if (!git)
        return vcm_error_memory(err);
    git->source.functions = &functions;
    git->start_dir = strdup(request->start_dir);
    if (!git->start_dir)
        rc = vcm_error_memory(err);
    else if (strlen(request->commit) != VCM_GIT_ID_HEX ||
             !vcm_hash_from_hex(git->commit.bytes, request->commit, VCM_GIT_ID_BYTES))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "'%s' is no full commit id", request->commit);
    else
        rc = vcm_git_repo_open(&git->repo, request->repository, err);
    if (rc == VCM_OK)
        *out = &git->source;
    else
        close_source(&git->source);
    return rc;
}

const struct vcm_source_type vcm_git_source_type = {.name = "git_repo", .open = open_source};
