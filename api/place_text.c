#include "api/place_text.h"

#include <stdlib.h>
#include <string.h>

#include "api/damage.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "git/blob.h"
#include "sources/blob_reader.h"
#include "vcm/page/source.h"
#include "vcm/store/page_find.h"

#include "base/banned.h"

#define LINK_SHOWN 200

void vcm_place_text_init(struct vcm_place_text *text)
{
    *text = (struct vcm_place_text){.first_line = 0};
    vcm_buf_init(&text->text, VCM_SOURCE_TEXT_BYTES_MAX);
}

void vcm_place_text_release(struct vcm_place_text *text)
{
    vcm_buf_release(&text->text);
}

uint32_t vcm_place_text_count_lines(struct vcm_slice text)
{
    uint32_t lines = 0;

    for (size_t at = 0; at < text.len; lines++) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        at = end ? (size_t)(end - text.data) + 1 : text.len;
    }
    return lines;
}

/* Messages show a path as JSON and pages do. */
static const char *shown(struct vcm_buf *scratch, struct vcm_slice path)
{
    vcm_buf_clear(scratch);
    vcm_utf8_escape_path(scratch, path);
    return vcm_buf_text(scratch);
}

/* Pages */

struct page_reading {
    struct vcm_place_text *out;
    struct vcm_place *place;
    const struct vcm_place_file *file;
    const struct vcm_scope *scope;
    struct vcm_place_lines lines;
    bool found; /* a record of the file, whatever its lines */
    const char *path;
};

/* The value of a record, by its number in the frame. */
static int find_value(struct vcm_slice *value, struct vcm_slice frame, uint32_t index,
                      struct vcm_error *err)
{
    for (uint32_t i = 0; vcm_page_next_value(value, &frame); i++)
        if (i == index)
            return VCM_OK;
    return vcm_error_set(err, VCM_STORE_CORRUPT, "a page has fewer records than its row");
}

static int append_record(struct page_reading *reading, struct vcm_slice frame, uint32_t index,
                         struct vcm_error *err)
{
    struct vcm_json *root = NULL;
    struct vcm_slice value;
    struct vcm_arena arena;

    vcm_arena_init(&arena, 8 * VCM_LIMIT_RECORD_BYTES);
    int rc = find_value(&value, frame, index, err);
    if (rc == VCM_OK)
        rc = vcm_json_parse(&root, &arena, value, err);
    const struct vcm_json *text = rc == VCM_OK ? vcm_json_get(root, "text") : NULL;
    if (rc == VCM_OK && (!text || text->kind != VCM_JSON_STRING))
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "a record of '%s' is malformed", reading->path);
    if (rc == VCM_OK) {
        vcm_buf_append_slice(&reading->out->text, text->text);
        rc = vcm_buf_check(&reading->out->text, "the text of a file", err);
    }
    vcm_arena_release(&arena);
    return rc;
}

static int check_record(const struct page_reading *reading, const struct vcm_page_record *record,
                        struct vcm_error *err)
{
    if (record->binary)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "'%s' is a binary file of %u bytes; it has no lines to show",
                             reading->path, record->size);
    if (record->prose)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "'%s' is mapped as a document; 'vcm find' names its pages, and each "
                             "can be read by its id",
                             reading->path);
    return VCM_OK;
}

static bool is_asked_for(const struct page_reading *reading, const struct vcm_page_record *record)
{
    return reading->lines.first == 0 ||
           (record->end_line >= reading->lines.first && record->start_line <= reading->lines.last);
}

static int read_part(void *context, const struct vcm_page_found *found, struct vcm_error *err)
{
    struct page_reading *reading = context;
    const struct vcm_page_record *record = found->record;
    struct vcm_place_text *out = reading->out;
    struct vcm_page_cache_frame frame = {0};

    /* Of an object that is missing, a page of another version of the file is no replacement. */
    if (reading->file->has_blob &&
        !vcm_slice_equal(record->content_id,
                         vcm_slice_of(reading->file->blob.bytes, VCM_GIT_ID_BYTES)))
        return VCM_OK;
    reading->found = true;
    int rc = check_record(reading, record, err);
    out->line_count = record->end_line > out->line_count ? record->end_line : out->line_count;
    out->lossy |= record->lossy;
    if (rc != VCM_OK || !is_asked_for(reading, record))
        return rc;
    if (!out->has_page) {
        out->has_page = true;
        out->page = found->id;
        out->first_line = record->start_line;
    }
    rc = (reading->lines.peek ? vcm_page_cache_peek : vcm_page_cache_read)(
        &frame, reading->place->vcm->cache, reading->place->txn, &found->id, err);
    if (rc == VCM_NOT_FOUND && (!err || err->code == VCM_OK))
        rc = vcm_error_set(err, VCM_STORE_CORRUPT, "the page table names a missing page");
    if (rc == VCM_OK)
        rc = append_record(reading, frame.bytes, found->index, err);
    vcm_page_cache_release(&frame);
    return rc;
}

static int read_pages(bool *found, struct vcm_place_text *out, struct vcm_place *place,
                      const struct vcm_place_file *file, const struct vcm_scope *scope,
                      const struct vcm_place_lines *lines, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);
    struct page_reading reading = {.out = out, .place = place, .file = file, .scope = scope};

    if (file->source == VCM_PLACE_PAGE)
        vcm_buf_append_slice(&path, file->path);
    else
        vcm_utf8_escape_path(&path, file->path);
    reading.path = vcm_buf_text(&path);
    if (lines)
        reading.lines = *lines;
    int rc = vcm_buf_check(&path, "a path", err);
    if (rc == VCM_OK)
        rc = vcm_page_find_path(place->txn, scope->mapping, vcm_buf_slice(&path), read_part,
                                &reading, err);
    *found = rc == VCM_OK && reading.found;
    if (*found) {
        out->source = VCM_PLACE_PAGE;
        out->scope = scope;
        out->has_blob = file->has_blob;
        out->blob = file->blob;
    }
    vcm_buf_release(&path);
    return vcm_damage_note(place->vcm, rc, err);
}

/* Objects */

/* Puts the bytes of a file into the text, unless they are binary. */
static int take_bytes(struct vcm_place_text *out, struct vcm_slice bytes, const char *path,
                      struct vcm_error *err)
{
    size_t probe = bytes.len < VCM_LIMIT_BINARY_PROBE ? bytes.len : VCM_LIMIT_BINARY_PROBE;

    if (probe > 0 && memchr(bytes.data, '\0', probe))
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "'%s' is a binary file of %zu bytes; it has no lines to show", path,
                             bytes.len);
    out->lossy = vcm_utf8_replace(&out->text, bytes);
    out->line_count = vcm_place_text_count_lines(vcm_buf_slice(&out->text));
    out->first_line = out->line_count > 0;
    return vcm_buf_check(&out->text, "the text of a file", err);
}

/* The words for what a content is instead of text. */
static int refuse_outcome(const struct vcm_source_content *content, const char *path,
                          struct vcm_error *err)
{
    const char *reason = vcm_source_reason_text(content->reason, content->reason_text);

    if (content->outcome == VCM_SOURCE_LFS_MISSING)
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "the content of '%s' is in Git LFS and not here; 'vcm lfs pull' "
                             "fetches it",
                             path);
    if (content->outcome == VCM_SOURCE_TOO_LARGE)
        return vcm_error_set(err, VCM_UNSUPPORTED, "'%s' is larger than %zu MiB", path,
                             VCM_LIMIT_FILE_BYTES / VCM_MIB);
    return vcm_error_set(
        err, content->reason == VCM_REASON_OBJECT_MISSING ? VCM_NOT_FOUND : VCM_IO_ERROR,
        "'%s' cannot be read (%s), and no mapped page holds it", path, reason ? reason : "failed");
}

/* The same blob in a page of the repository's scopes. */
static int replace_object(bool *found, struct vcm_place_text *out, struct vcm_place *place,
                          const struct vcm_place_file *file, const char *path,
                          struct vcm_error *err)
{
    int rc = vcm_place_load_scopes(place, err);

    *found = false;
    for (size_t i = 0; rc == VCM_OK && !*found && i < place->scope_count; i++)
        rc = read_pages(found, out, place, file, &place->scopes[i], NULL, err);
    if (rc == VCM_OK && *found)
        vcm_log_write(place->vcm->log, VCM_LOG_WARNING,
                      "the object of '%s' cannot be read; this is answered from the mapped pages "
                      "of scope '%.*s'",
                      path, (int)out->scope->scope_id.len, out->scope->scope_id.data);
    return rc;
}

static int read_blob(struct vcm_place_text *out, struct vcm_place *place,
                     const struct vcm_place_file *file, const char *path, struct vcm_error *err)
{
    struct vcm_source_content content = {.outcome = VCM_SOURCE_PAGED};
    struct vcm_source_item item = {.path = file->path, .content_id_len = VCM_GIT_ID_BYTES};
    bool found = false;

    memcpy(item.content_id, file->blob.bytes, VCM_GIT_ID_BYTES);
    vcm_buf_init(&content.text, VCM_SOURCE_TEXT_BYTES_MAX);
    int rc = vcm_blob_reader_read(&content, place->blobs, &item, VCM_LIMIT_FILE_BYTES, err);
    if (rc != VCM_OK)
        ;
    else if (content.outcome == VCM_SOURCE_PAGED)
        rc = take_bytes(out, vcm_buf_slice(&content.text), path, err);
    else if (content.outcome != VCM_SOURCE_TOO_LARGE)
        rc = replace_object(&found, out, place, file, path, err);
    if (rc == VCM_OK && !found && content.outcome != VCM_SOURCE_PAGED)
        rc = refuse_outcome(&content, path, err);
    vcm_buf_release(&content.text);
    if (rc == VCM_OK && !found) {
        out->source = place->source;
        out->has_blob = true;
        out->blob = file->blob;
    }
    return rc;
}

/* A link's blob is the path that it leads to, which is not followed. */
static int refuse_kind(struct vcm_place *place, const struct vcm_place_file *file, const char *path,
                       struct vcm_error *err)
{
    struct vcm_buf target = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf shown_target = VCM_BUF_INIT(4 * VCM_LIMIT_PATH_BYTES);
    struct vcm_error ignored = {0};
    uint64_t size = 0;

    if (file->kind == VCM_GIT_SUBMODULE)
        return vcm_error_set(err, VCM_UNSUPPORTED,
                             "'%s' is a submodule, a repository of its own; name that one", path);
    if (file->has_blob)
        vcm_git_blob_read_upto(&target, &size, place->repo, &file->blob, VCM_LIMIT_PATH_BYTES,
                               &ignored);
    vcm_utf8_escape_path(&shown_target, vcm_buf_slice(&target));
    int rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "'%s' is a symbolic link to '%.*s', which is not followed", path,
                           LINK_SHOWN, vcm_buf_text(&shown_target));
    vcm_buf_release(&shown_target);
    vcm_buf_release(&target);
    return rc;
}

int vcm_place_text_read(struct vcm_place_text *out, struct vcm_place *place,
                        const struct vcm_place_file *file, const struct vcm_place_lines *lines,
                        struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(4 * VCM_LIMIT_TREE_PATH_BYTES);
    bool found = false;
    int rc;

    shown(&path, file->path);
    if (file->source == VCM_PLACE_PAGE) {
        rc = read_pages(&found, out, place, file, file->scope, lines, err);
        if (rc == VCM_OK && !found)
            rc = vcm_error_set(err, VCM_STORE_CORRUPT, "the pages of '%s' are gone",
                               vcm_buf_text(&path));
    } else if (file->kind > VCM_GIT_EXECUTABLE) {
        rc = refuse_kind(place, file, vcm_buf_text(&path), err);
    } else {
        rc = read_blob(out, place, file, vcm_buf_text(&path), err);
    }
    vcm_buf_release(&path);
    return rc;
}
