#include "vcm/page/page.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/jsonw.h"
#include "base/wire.h"

#include "base/banned.h"

#define ID_PREFIX "vcm-page 1\n"

enum record_flag {
    FLAG_LOSSY = 1,
    FLAG_PATH_LOSSY = 2,
    FLAG_BINARY = 4,
    FLAG_PROSE = 8,
    FLAG_HEADING = 16,
};

#define FLAGS (FLAG_LOSSY | FLAG_PATH_LOSSY | FLAG_BINARY | FLAG_PROSE | FLAG_HEADING)

void vcm_page_serialise(struct vcm_buf *out, struct vcm_slice path, struct vcm_slice text)
{
    vcm_buf_append_string(out, "{\"path\":");
    vcm_jsonw_escape(out, path);
    vcm_buf_append_string(out, ",\"text\":");
    vcm_jsonw_escape(out, text);
    vcm_buf_append_byte(out, '}');
}

static void truncated_digest(struct vcm_page_id *out, const char *prefix, struct vcm_slice bytes)
{
    unsigned char digest[VCM_HASH_SHA256_BYTES];
    struct vcm_hash_sha256 hash;

    vcm_hash_sha256_init(&hash);
    vcm_hash_sha256_update(&hash, prefix, strlen(prefix));
    vcm_hash_sha256_update(&hash, bytes.data, bytes.len);
    vcm_hash_sha256_final(&hash, digest);
    memcpy(out->bytes, digest, sizeof out->bytes);
}

void vcm_page_id_of(struct vcm_page_id *out, struct vcm_slice frame)
{
    truncated_digest(out, ID_PREFIX, frame);
}

void vcm_page_record_id_of(struct vcm_page_id *out, struct vcm_slice value)
{
    truncated_digest(out, "", value);
}

void vcm_page_id_to_hex(char out[VCM_PAGE_ID_HEX + 1], const struct vcm_page_id *id)
{
    vcm_hash_to_hex(out, id->bytes, sizeof id->bytes);
}

static uint8_t flags_of(const struct vcm_page_record *r)
{
    return (uint8_t)((r->lossy ? FLAG_LOSSY : 0) | (r->path_lossy ? FLAG_PATH_LOSSY : 0) |
                     (r->binary ? FLAG_BINARY : 0) | (r->prose ? FLAG_PROSE : 0) |
                     (r->heading.len > 0 ? FLAG_HEADING : 0));
}

void vcm_page_put_records(struct vcm_buf *out, const struct vcm_page_record *records,
                          uint32_t count)
{
    vcm_wire_put_count(out, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct vcm_page_record *r = &records[i];
        vcm_wire_put_u8(out, flags_of(r));
        if (r->binary)
            vcm_wire_put_count(out, r->size);
        if (r->prose) {
            vcm_wire_put_bytes(out, r->section);
            vcm_wire_put_count(out, r->page);
        }
        if (r->heading.len > 0)
            vcm_wire_put_bytes(out, r->heading);
        vcm_wire_put_bytes(out, r->path);
        vcm_wire_put_bytes(out, r->content_id);
        vcm_wire_put_count(out, r->tokens);
        vcm_wire_put_count(out, r->bytes);
        vcm_wire_put_count(out, r->start_line);
        vcm_wire_put_count(out, r->end_line);
        vcm_wire_put_count(out, r->part);
        vcm_wire_put_count(out, r->parts);
    }
}

static uint32_t get_count32(struct vcm_wire_reader *r)
{
    uint64_t value = vcm_wire_get_count(r);
    if (value > UINT32_MAX)
        r->bad = true;
    return (uint32_t)value;
}

static void get_record(struct vcm_page_record *record, struct vcm_wire_reader *r)
{
    uint8_t flags = vcm_wire_get_u8(r);
    if (flags & ~FLAGS)
        r->bad = true;
    record->lossy = flags & FLAG_LOSSY;
    record->path_lossy = flags & FLAG_PATH_LOSSY;
    record->binary = flags & FLAG_BINARY;
    record->size = record->binary ? get_count32(r) : 0;
    record->prose = flags & FLAG_PROSE;
    if (record->prose) {
        record->section = vcm_wire_get_bytes(r);
        record->page = get_count32(r);
    }
    if (flags & FLAG_HEADING) {
        record->heading = vcm_wire_get_bytes(r);
        if (record->heading.len == 0)
            r->bad = true;
    }
    record->path = vcm_wire_get_bytes(r);
    record->content_id = vcm_wire_get_bytes(r);
    record->tokens = get_count32(r);
    record->bytes = get_count32(r);
    record->start_line = get_count32(r);
    record->end_line = get_count32(r);
    record->part = get_count32(r);
    record->parts = get_count32(r);
}

int vcm_page_get_records(struct vcm_page_record **out, uint32_t *count, struct vcm_slice bytes,
                         struct vcm_error *err)
{
    struct vcm_wire_reader r;

    *out = NULL;
    *count = 0;
    vcm_wire_reader_init(&r, bytes);
    uint64_t n = vcm_wire_get_count(&r);
    /* A record takes nine bytes at least, so the input bounds the allocation. */
    if (r.bad || n > r.rest.len / 9)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "a page's record list is malformed");

    struct vcm_page_record *records = calloc(n ? n : 1, sizeof *records);
    if (!records)
        return vcm_error_memory(err);
    for (uint64_t i = 0; i < n; i++)
        get_record(&records[i], &r);
    if (!vcm_wire_reader_done(&r)) {
        free(records);
        return vcm_error_set(err, VCM_STORE_CORRUPT, "a page's record list is malformed");
    }
    *out = records;
    *count = (uint32_t)n;
    return VCM_OK;
}

bool vcm_page_next_value(struct vcm_slice *value, struct vcm_slice *frame)
{
    if (frame->len == 0)
        return false;
    const char *end = memchr(frame->data, '\n', frame->len);
    size_t len = end ? (size_t)(end - frame->data) : frame->len;
    *value = vcm_slice_of(frame->data, len);
    size_t used = end ? len + 1 : len;
    assert(used > 0 && used <= frame->len); /* every call consumes something */
    *frame = vcm_slice_of(frame->data + used, frame->len - used);
    return true;
}
