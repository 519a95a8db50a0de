/*
 * fuzz_json.c - what json.c accepts, jsonw.c can write, and reading that gives the same again.
 */
#include "base/json.h"
#include "base/jsonw.h"
#include "base/utf8.h"
#include "fuzz/check.h"

#include "base/banned.h"

#define DOCUMENT_MAX (64 * VCM_MIB)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Objects are written as arrays of keys and values: a key may hold a NUL, the writer's may not. */
static void write_value(struct vcm_jsonw *w, const struct vcm_json *json)
{
    switch (json->kind) {
    case VCM_JSON_NULL:
        vcm_jsonw_null(w);
        break;
    case VCM_JSON_BOOL:
        vcm_jsonw_bool(w, json->boolean);
        break;
    case VCM_JSON_INT:
        vcm_jsonw_int(w, json->integer);
        break;
    case VCM_JSON_NUMBER:
        vcm_jsonw_number(w, json->number);
        break;
    case VCM_JSON_STRING:
        FUZZ_CHECK(vcm_utf8_valid(json->text));
        FUZZ_CHECK(json->text.data[json->text.len] == '\0');
        vcm_jsonw_slice(w, json->text);
        break;
    case VCM_JSON_ARRAY:
        vcm_jsonw_begin_array(w);
        for (const struct vcm_json *child = json->first; child; child = child->next)
            write_value(w, child);
        vcm_jsonw_end_array(w);
        break;
    case VCM_JSON_OBJECT:
        vcm_jsonw_begin_array(w);
        for (const struct vcm_json *child = json->first; child; child = child->next) {
            vcm_jsonw_slice(w, child->key);
            write_value(w, child);
        }
        vcm_jsonw_end_array(w);
        break;
    }
}

static int read_and_write(struct vcm_buf *out, struct vcm_slice text)
{
    struct vcm_error err = {0};
    struct vcm_arena arena;
    struct vcm_json *json;
    struct vcm_jsonw w;

    vcm_arena_init(&arena, DOCUMENT_MAX);
    int rc = vcm_json_parse(&json, &arena, text, &err);
    FUZZ_CHECK((rc == VCM_OK) == (json != NULL));
    FUZZ_CHECK((rc == VCM_OK) == (err.message[0] == '\0'));
    if (rc == VCM_OK) {
        vcm_jsonw_init(&w, out);
        write_value(&w, json);
        rc = vcm_jsonw_finish(&w, &err);
    }
    vcm_arena_release(&arena);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vcm_buf once = VCM_BUF_INIT(DOCUMENT_MAX), twice = VCM_BUF_INIT(DOCUMENT_MAX);

    if (read_and_write(&once, vcm_slice_of(data, size)) == VCM_OK) {
        FUZZ_CHECK(read_and_write(&twice, vcm_buf_slice(&once)) == VCM_OK);
        FUZZ_CHECK(vcm_slice_equal(vcm_buf_slice(&once), vcm_buf_slice(&twice)));
    }
    vcm_buf_release(&once);
    vcm_buf_release(&twice);
    return 0;
}
