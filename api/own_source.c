#include "api/arguments.h"
#include "api/own_source.h"

#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "base/limits.h"
#include "base/utf8.h"

#include "base/banned.h"

struct vcm_own_source {
    struct vcm_source_type type; /* first member: what the registry holds */
    struct vcm_source_definition definition;
    struct vcm_own_source *next;
};

struct source {
    struct vcm_source base; /* first member */
    const struct vcm_source_definition *definition;
    void *own;
};

struct walk {
    vcm_source_item_fn visit;
    void *context;
    const struct vcm_cancel *cancel;
};

static int pass_entry(void *context, const struct vcm_source_entry *entry, struct vcm_error *err)
{
    const struct walk *walk = context;
    struct vcm_source_item item = {.path = vcm_slice_of(entry->path, entry->path_len),
                                   .outcome = VCM_SOURCE_PAGED,
                                   .content_id_len = (uint8_t)entry->content_id_len};

    if (entry->path_len > 0 && memchr(entry->path, '\0', entry->path_len))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "a source shows a path with a zero byte");
    if (entry->path_len == 0 || entry->path_len > VCM_LIMIT_PATH_BYTES)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "a source shows a path of %zu bytes",
                             entry->path_len);
    if (entry->content_id_len == 0 || entry->content_id_len > sizeof item.content_id)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "a source shows a content id of %zu bytes; use 1 to %zu",
                             entry->content_id_len, sizeof item.content_id);
    memcpy(item.content_id, entry->content_id, entry->content_id_len);
    int rc = vcm_cancel_check(walk->cancel, err);
    return rc == VCM_OK ? walk->visit(walk->context, &item, err) : rc;
}

static int walk_source(struct vcm_source *base, vcm_source_item_fn visit, void *context,
                       const struct vcm_cancel *cancel, struct vcm_error *err)
{
    struct source *source = (struct source *)base;
    struct walk walk = {visit, context, cancel};

    return source->definition->walk(source->own, pass_entry, &walk, err);
}

static int open_reader(void **out, struct vcm_source *source, struct vcm_error *err)
{
    (void)err;
    *out = source;
    return VCM_OK;
}

static void close_reader(void *reader)
{
    (void)reader;
}

static int take_text(void *context, const char *text, size_t len, struct vcm_error *err)
{
    struct vcm_buf *raw = context;

    (void)err;
    vcm_buf_append(raw, text, len);
    return VCM_OK; /* too long a text is detected when it is decoded */
}

static int read_item(struct vcm_source_content *content, void *reader,
                     const struct vcm_source_item *item, struct vcm_error *err)
{
    const struct source *source = reader;
    const struct vcm_source_entry entry = {item->path.data, item->path.len, item->content_id,
                                           item->content_id_len};
    struct vcm_buf raw = VCM_BUF_INIT(VCM_LIMIT_FILE_BYTES);
    struct vcm_error missing = {0};

    int rc = source->definition->read(source->own, &entry, take_text, &raw, &missing);
    content->outcome = VCM_SOURCE_PAGED;
    if (rc == VCM_NOT_FOUND) {
        content->outcome = VCM_SOURCE_FAILED;
        content->reason = VCM_REASON_OBJECT_MISSING;
        rc = VCM_OK;
    } else if (rc != VCM_OK && err) {
        *err = missing;
    } else if (raw.fault == VCM_BUF_TOO_LARGE) {
        content->outcome = VCM_SOURCE_TOO_LARGE;
    } else if (rc == VCM_OK) {
        content->lossy = vcm_utf8_replace(&content->text, vcm_buf_slice(&raw));
        rc = vcm_buf_check(&raw, "a text", err);
        if (rc == VCM_OK)
            rc = vcm_buf_check(&content->text, "a text", err);
    }
    vcm_buf_release(&raw);
    return rc;
}

static void close_source(struct vcm_source *base)
{
    struct source *source = (struct source *)base;

    source->definition->close(source->own);
    free(source);
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
    const struct vcm_own_source *own = (const struct vcm_own_source *)request->type;
    const struct vcm_source_row row = {
        .repository = request->repository,
        .commit = request->commit,
        .start_dir = request->start_dir,
        .include_globs = request->include,
        .include_count = request->include_count,
        .exclude_globs = request->exclude,
        .exclude_count = request->exclude_count,
    };

    *out = NULL;
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        return vcm_error_memory(err);
    source->base.functions = &functions;
    source->definition = &own->definition;
    int rc = own->definition.open(&source->own, own->definition.context, &row, err);
    if (rc == VCM_OK)
        *out = &source->base;
    else
        free(source);
    return rc;
}

int vcm_register_source(struct vcm *vcm, const struct vcm_source_definition *definition,
                        struct vcm_error *err)
{
    int rc = vcm_handle_check(vcm, err);
    if (rc == VCM_OK && (!definition || !definition->name || !definition->open ||
                         !definition->walk || !definition->read || !definition->close))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "a source type needs a name and functions");
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"name", definition->name});
    if (rc != VCM_OK)
        return rc;
    struct vcm_own_source *own = calloc(1, sizeof *own);
    if (!own)
        return vcm_error_memory(err);
    own->definition = *definition;
    own->type = (struct vcm_source_type){.name = definition->name, .open = open_source};
    rc = vcm_handle_register_source_type(vcm, &own->type, err);
    if (rc != VCM_OK) {
        free(own);
        return rc;
    }
    own->next = vcm->own_sources;
    vcm->own_sources = own;
    return VCM_OK;
}

void vcm_own_source_free_all(struct vcm_own_source *first)
{
    while (first) {
        struct vcm_own_source *next = first->next;
        free(first);
        first = next;
    }
}
