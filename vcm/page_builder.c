#include "vcm/page_builder.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"

#include "base/banned.h"

/* A pending record. It owns one block of memory: value, path and content id, in this order. */
struct pending {
    struct vcm_page_record record;
    struct vcm_slice value;
    char *memory;
};

struct vcm_page_builder {
    struct vcm_page_builder_options options;
    struct pending *pending;         /* one page and one record at most */
    struct vcm_page_record *records; /* those of the page that is being emitted */
    uint32_t count;
    uint32_t capacity; /* of both arrays */
    uint64_t tokens;
    uint64_t bytes;
    struct vcm_buf frame;
};

int vcm_page_builder_open(struct vcm_page_builder **out,
                          const struct vcm_page_builder_options *options, struct vcm_error *err)
{
    assert(options->record_threshold > 0 && options->token_budget > 0);
    *out = NULL;
    struct vcm_page_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return vcm_error_memory(err);
    builder->options = *options;
    vcm_buf_init(&builder->frame, VCM_LIMIT_FRAME_BYTES);
    *out = builder;
    return VCM_OK;
}

void vcm_page_builder_close(struct vcm_page_builder *builder)
{
    if (!builder)
        return;
    for (uint32_t i = 0; i < builder->count; i++)
        free(builder->pending[i].memory);
    free(builder->pending);
    free(builder->records);
    vcm_buf_release(&builder->frame);
    free(builder);
}

static int make_room(struct vcm_page_builder *builder, struct vcm_error *err)
{
    if (builder->count < builder->capacity)
        return VCM_OK;
    uint32_t capacity = builder->capacity ? builder->capacity * 2 : 64;
    void *pending = realloc(builder->pending, capacity * sizeof *builder->pending);
    if (!pending)
        return vcm_error_memory(err);
    builder->pending = pending;
    void *records = realloc(builder->records, capacity * sizeof *builder->records);
    if (!records)
        return vcm_error_memory(err);
    builder->records = records;
    builder->capacity = capacity;
    return VCM_OK;
}

static int copy_record(struct pending *slot, struct vcm_slice value,
                       const struct vcm_page_record *record, struct vcm_error *err)
{
    size_t path_len = record->path.len, id_len = record->content_id.len;
    char *memory = malloc(value.len + path_len + id_len + 1);
    if (!memory)
        return vcm_error_memory(err);

    char *path = memory + value.len;
    char *content_id = path + path_len;
    memcpy(memory, value.data, value.len);
    memcpy(path, record->path.data, path_len);
    if (id_len > 0)
        memcpy(content_id, record->content_id.data, id_len);
    slot->memory = memory;
    slot->value = vcm_slice_of(memory, value.len);
    slot->record = *record;
    slot->record.path = vcm_slice_of(path, path_len);
    slot->record.content_id = vcm_slice_of(content_id, id_len);
    return VCM_OK;
}

/* How many leading directories two paths share. */
static uint32_t common_directories(struct vcm_slice a, struct vcm_slice b)
{
    uint32_t common = 0;

    for (size_t i = 0; i < a.len && i < b.len && a.data[i] == b.data[i]; i++)
        if (a.data[i] == '/')
            common++;
    return common;
}

/* The cut of the window: how many pending records the next page takes. `limit` of them fit. */
static uint32_t choose_cut(const struct vcm_page_builder *builder, uint32_t limit)
{
    uint32_t best = limit, best_common = UINT32_MAX;
    uint64_t best_hash = UINT64_MAX, tokens = 0;

    for (uint32_t i = 1; i <= limit; i++) {
        tokens += builder->pending[i - 1].record.tokens;
        if (2 * tokens < builder->options.token_budget &&
            2 * (uint64_t)i < builder->options.record_threshold)
            continue;
        struct vcm_slice path = builder->pending[i].record.path;
        uint32_t common = common_directories(builder->pending[i - 1].record.path, path);
        if (common > best_common)
            continue;
        /* The part number keeps apart the cuts between the parts of one file. */
        uint64_t hash = vcm_hash_checksum(path, builder->pending[i].record.part);
        if (common < best_common || hash < best_hash) {
            best = i;
            best_common = common;
            best_hash = hash;
        }
    }
    return best;
}

/* Emits the first `count` pending records as a page and moves the rest up. */
static int emit(struct vcm_page_builder *builder, uint32_t count, struct vcm_error *err)
{
    struct vcm_page_built page = {.records = builder->records, .record_count = count};

    vcm_buf_clear(&builder->frame);
    for (uint32_t i = 0; i < count; i++) {
        vcm_buf_append_slice(&builder->frame, builder->pending[i].value);
        vcm_buf_append_byte(&builder->frame, '\n');
        builder->records[i] = builder->pending[i].record;
        page.tokens += builder->pending[i].record.tokens;
    }
    int rc = vcm_buf_check(&builder->frame, "a page", err);
    if (rc != VCM_OK)
        return rc;
    page.frame = vcm_buf_slice(&builder->frame);
    vcm_page_id_of(&page.id, page.frame);
    rc = builder->options.emit(builder->options.emit_context, &page, err);
    if (rc != VCM_OK)
        return rc;

    for (uint32_t i = 0; i < count; i++)
        free(builder->pending[i].memory);
    builder->count -= count;
    builder->tokens -= page.tokens;
    builder->bytes -= page.frame.len;
    memmove(builder->pending, builder->pending + count, builder->count * sizeof *builder->pending);
    return VCM_OK;
}

static bool is_over_full(const struct vcm_page_builder *builder)
{
    return builder->tokens > builder->options.token_budget ||
           builder->count > builder->options.record_threshold ||
           builder->bytes > VCM_LIMIT_FRAME_BYTES;
}

int vcm_page_builder_add(struct vcm_page_builder *builder, struct vcm_slice value,
                         const struct vcm_page_record *record, struct vcm_error *err)
{
    assert(record->tokens <= builder->options.token_budget);
    int rc = make_room(builder, err);
    if (rc == VCM_OK)
        rc = copy_record(&builder->pending[builder->count], value, record, err);
    if (rc != VCM_OK)
        return rc;
    builder->count++;
    builder->tokens += record->tokens;
    builder->bytes += value.len + 1;

    while (rc == VCM_OK && builder->count > 1 && is_over_full(builder))
        rc = emit(builder, choose_cut(builder, builder->count - 1), err);
    return rc;
}

int vcm_page_builder_finish(struct vcm_page_builder *builder, struct vcm_error *err)
{
    return builder->count > 0 ? emit(builder, builder->count, err) : VCM_OK;
}
