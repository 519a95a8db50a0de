#include "vcm/mapping/page_builder.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "vcm/page/cluster.h"

#include "base/banned.h"

/* The strength of a gap: its class, and in the lower bits the hash that decides within a class. */
#define HASH_BITS      48
#define DEPTH_MAX      1023u
#define MEMORY_KEPT    (4 * VCM_MIB)
#define MEMORY_DROPPED (64 * VCM_KIB)

/* The bytes of the records that are in no page yet are in two buffers, in the order of the records:
 * `values` has the value of each and a line end, `names` its path, content id, section and heading.
 */
struct vcm_page_builder {
    struct vcm_page_builder_options options;
    struct vcm_cluster *cluster;
    struct vcm_page_record *records;
    uint32_t *known; /* for each record its number there, or VCM_KNOWN_NONE */
    uint32_t first;  /* record that is in no page yet */
    uint32_t count;
    size_t capacity;
    struct vcm_buf values;
    size_t values_first;
    struct vcm_buf names;
    size_t names_first;
    struct vcm_buf frame;     /* of a page that has known records among others */
    struct vcm_buf last_path; /* of the record that was added last */
    struct vcm_buf last_section;
};

static int open_cluster(struct vcm_page_builder *builder, struct vcm_error *err)
{
    const struct vcm_cluster_weight bounds = {
        .tokens = builder->options.token_budget,
        .items = builder->options.record_threshold,
        .bytes = VCM_LIMIT_PAGE_BYTES,
    };

    return vcm_cluster_open(&builder->cluster, &bounds, err);
}

int vcm_page_builder_open(struct vcm_page_builder **out,
                          const struct vcm_page_builder_options *options, struct vcm_error *err)
{
    assert(options->record_threshold > 0 && options->token_budget > 0);
    *out = NULL;
    struct vcm_page_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return vcm_error_memory(err);
    builder->options = *options;
    vcm_buf_init(&builder->values, 2 * VCM_LIMIT_FRAME_BYTES);
    vcm_buf_init(&builder->names, VCM_LIMIT_FRAME_BYTES);
    vcm_buf_init(&builder->frame, VCM_LIMIT_FRAME_BYTES);
    vcm_buf_init(&builder->last_path, 4 * VCM_LIMIT_TREE_PATH_BYTES);
    vcm_buf_init(&builder->last_section, VCM_LIMIT_FRAME_BYTES);
    int rc = open_cluster(builder, err);
    if (rc == VCM_OK)
        *out = builder;
    else
        vcm_page_builder_close(builder);
    return rc;
}

void vcm_page_builder_close(struct vcm_page_builder *builder)
{
    if (!builder)
        return;
    vcm_cluster_close(builder->cluster);
    free(builder->records);
    free(builder->known);
    vcm_buf_release(&builder->frame);
    vcm_buf_release(&builder->values);
    vcm_buf_release(&builder->names);
    vcm_buf_release(&builder->last_path);
    vcm_buf_release(&builder->last_section);
    free(builder);
}

/* How many leading directories two paths share. */
static unsigned common_directories(struct vcm_slice a, struct vcm_slice b)
{
    unsigned common = 0;

    for (size_t i = 0; i < a.len && i < b.len && a.data[i] == b.data[i]; i++)
        if (a.data[i] == '/')
            common++;
    return common;
}

static unsigned count_directories(struct vcm_slice path)
{
    unsigned count = 0;

    for (size_t i = 0; i < path.len; i++)
        count += path.data[i] == '/';
    return count;
}

/* The strength of the gap between the last record and this one. The fewer directories two files
 * share, the stronger it is, and a gap inside a directory is weaker than one at its end. */
static uint64_t strength_of_gap(const struct vcm_page_builder *builder,
                                const struct vcm_page_record *record)
{
    struct vcm_slice last = vcm_buf_slice(&builder->last_path);
    unsigned common = common_directories(last, record->path);
    unsigned depth = DEPTH_MAX - (common < DEPTH_MAX ? common : DEPTH_MAX);
    bool across = count_directories(last) > common || count_directories(record->path) > common;

    /* Documents are longer than source files: the end of one is as good a place to cut as the end
     * of a directory, and the end of a section is better than the middle of one. */
    if (record->prose && !vcm_slice_equal(last, record->path))
        across = true;

    /* With the part number, the gaps between the parts of one file have different hashes. */
    uint64_t hash = vcm_hash_checksum(record->path, record->part) >> (64 - HASH_BITS);
    if (record->prose) {
        const uint64_t top = (uint64_t)1 << (HASH_BITS - 1);
        bool same = vcm_slice_equal(vcm_buf_slice(&builder->last_section), record->section);
        hash = same ? hash & ~top : hash | top;
    }
    return ((uint64_t)depth << 1 | across) << HASH_BITS | hash;
}

/* Moves the records that are in no page yet to the front, once much before them is unused. Their
 * slices are lengths alone until emit() sets the pointers. */
static void drop_done(struct vcm_page_builder *builder)
{
    if (builder->first == 0 ||
        (builder->values_first < MEMORY_DROPPED && builder->first < builder->capacity))
        return;
    builder->count -= builder->first;
    memmove(builder->records, builder->records + builder->first,
            builder->count * sizeof *builder->records);
    memmove(builder->known, builder->known + builder->first,
            builder->count * sizeof *builder->known);
    builder->first = 0;
    builder->values.len -= builder->values_first;
    memmove(builder->values.data, builder->values.data + builder->values_first,
            builder->values.len);
    builder->values_first = 0;
    builder->names.len -= builder->names_first;
    memmove(builder->names.data, builder->names.data + builder->names_first, builder->names.len);
    builder->names_first = 0;
    if (builder->values.capacity > MEMORY_KEPT && builder->values.len == 0)
        vcm_buf_release(&builder->values);
}

static int make_room(struct vcm_page_builder *builder, struct vcm_error *err)
{
    if (builder->count == builder->capacity && builder->first > 0)
        drop_done(builder);
    size_t capacity = builder->capacity, needed = (size_t)builder->count + 1;
    int rc = vcm_array_reserve(&builder->records, &capacity, needed, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc == VCM_OK)
        rc = vcm_array_reserve(&builder->known, &builder->capacity, needed, VCM_LIMIT_LIST_ENTRIES,
                               err);
    return rc;
}

/* Of a known record only the names are copied. */
static int copy_record(struct vcm_page_builder *builder, struct vcm_slice value,
                       const struct vcm_page_record *record, uint32_t known, struct vcm_error *err)
{
    if (known == VCM_KNOWN_NONE) {
        vcm_buf_append_slice(&builder->values, value);
        vcm_buf_append_byte(&builder->values, '\n');
    }
    vcm_buf_append_slice(&builder->names, record->path);
    vcm_buf_append_slice(&builder->names, record->content_id);
    vcm_buf_append_slice(&builder->names, record->section);
    vcm_buf_append_slice(&builder->names, record->heading);
    vcm_buf_clear(&builder->last_path);
    vcm_buf_append_slice(&builder->last_path, record->path);
    vcm_buf_clear(&builder->last_section);
    vcm_buf_append_slice(&builder->last_section, record->section);
    int rc = vcm_buf_check(&builder->values, "a page", err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&builder->names, "a page's paths", err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&builder->last_path, "a path", err);
    if (rc == VCM_OK)
        rc = vcm_buf_check(&builder->last_section, "a section", err);
    if (rc == VCM_OK) {
        builder->known[builder->count] = known;
        builder->records[builder->count++] = *record;
    }
    return rc;
}

/* Whether the next records are exactly a page of the former table. */
static bool is_known_page(struct vcm_page_built *page, const struct vcm_page_builder *builder)
{
    const uint32_t *known = builder->known + builder->first;

    for (uint32_t i = 0; i < page->record_count; i++)
        if (known[i] == VCM_KNOWN_NONE || known[i] != known[0] + i)
            return false;
    return vcm_known_page(&page->id, &page->known_seq, builder->options.known, known[0],
                          page->record_count);
}

/* Builds the frame from values of this walk and values of the former table. */
static int collect_frame(struct vcm_page_built *page, struct vcm_page_builder *builder,
                         struct vcm_error *err)
{
    const char *value = builder->values.data + builder->values_first;
    int rc = VCM_OK;

    vcm_buf_clear(&builder->frame);
    for (uint32_t i = 0; rc == VCM_OK && i < page->record_count; i++) {
        uint32_t known = builder->known[builder->first + i];
        if (known != VCM_KNOWN_NONE) {
            rc = vcm_known_value(&builder->frame, builder->options.known, known, err);
            vcm_buf_append_byte(&builder->frame, '\n');
        } else {
            size_t len = (size_t)page->records[i].bytes + 1;
            vcm_buf_append(&builder->frame, value, len);
            value += len;
        }
    }
    page->frame = vcm_buf_slice(&builder->frame);
    return rc == VCM_OK ? vcm_buf_check(&builder->frame, "a page", err) : rc;
}

/* Emits the next `count` records as a page. */
static int emit(struct vcm_page_builder *builder, uint32_t count, struct vcm_error *err)
{
    assert(count > 0 && count <= builder->count - builder->first);
    assert(count <= builder->options.record_threshold);
    struct vcm_page_record *records = builder->records + builder->first;
    struct vcm_page_built page = {.records = records, .record_count = count};
    const char *name = builder->names.data + builder->names_first;
    size_t bytes = 0, held = 0;
    int rc = VCM_OK;

    for (uint32_t i = 0; i < count; i++) {
        records[i].path.data = name;
        name += records[i].path.len;
        records[i].content_id.data = name;
        name += records[i].content_id.len;
        records[i].section.data = name;
        name += records[i].section.len;
        records[i].heading.data = name;
        name += records[i].heading.len;
        page.tokens += records[i].tokens;
        bytes += (size_t)records[i].bytes + 1;
        if (builder->known[builder->first + i] == VCM_KNOWN_NONE)
            held += (size_t)records[i].bytes + 1;
    }
    assert(page.tokens <= builder->options.token_budget);
    assert(builder->values_first + held <= builder->values.len);
    assert(name <= builder->names.data + builder->names.len);
    page.known = is_known_page(&page, builder);
    page.frame = vcm_slice_of(NULL, bytes);
    if (held == bytes)
        page.frame.data = builder->values.data + builder->values_first;
    else if (!page.known)
        rc = collect_frame(&page, builder, err);
    if (rc == VCM_OK && !page.known)
        vcm_page_id_of(&page.id, page.frame);
    if (rc == VCM_OK)
        rc = builder->options.emit(builder->options.emit_context, &page, err);
    assert(rc != VCM_OK || page.known || page.frame.len == bytes);
    builder->first += count;
    builder->values_first += held;
    builder->names_first = (size_t)(name - builder->names.data);
    return rc;
}

static int emit_decided(struct vcm_page_builder *builder, struct vcm_error *err)
{
    uint64_t count;
    int rc = VCM_OK;

    while (rc == VCM_OK && (count = vcm_cluster_take(builder->cluster)) > 0)
        rc = emit(builder, (uint32_t)count, err);
    drop_done(builder);
    return rc;
}

static int add(struct vcm_page_builder *builder, struct vcm_slice value,
               const struct vcm_page_record *record, uint32_t known, struct vcm_error *err)
{
    const struct vcm_cluster_weight weight = {
        .tokens = record->tokens, .bytes = (uint64_t)record->bytes + 1, .items = 1};
    uint64_t strength = strength_of_gap(builder, record);

    assert(record->tokens <= builder->options.token_budget);
    int rc = make_room(builder, err);
    if (rc == VCM_OK)
        rc = copy_record(builder, value, record, known, err);
    if (rc == VCM_OK)
        rc = vcm_cluster_add(builder->cluster, &weight, strength, err);
    return rc == VCM_OK ? emit_decided(builder, err) : rc;
}

int vcm_page_builder_add(struct vcm_page_builder *builder, struct vcm_slice value,
                         const struct vcm_page_record *record, struct vcm_error *err)
{
    assert(record->bytes == value.len);
    return add(builder, value, record, VCM_KNOWN_NONE, err);
}

int vcm_page_builder_add_known(struct vcm_page_builder *builder, uint32_t number,
                               struct vcm_error *err)
{
    assert(builder->options.known);
    const struct vcm_page_record *record = vcm_known_record(builder->options.known, number);

    return add(builder, vcm_slice_of("", 0), record, number, err);
}

int vcm_page_builder_finish(struct vcm_page_builder *builder, struct vcm_error *err)
{
    vcm_cluster_finish(builder->cluster);
    int rc = emit_decided(builder, err);
    assert(rc != VCM_OK || builder->first == builder->count);
    return rc;
}
