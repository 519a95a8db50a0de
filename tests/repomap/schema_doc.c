#include "tests/repomap/schema_doc.h"

#include <inttypes.h>

#include "base/jsonw.h"
#include "base/limits.h"

#include "base/banned.h"

#define NAME_PATTERN "^[A-Za-z0-9._-]{1,128}$"
#define PATH_PATTERN "^(?!/)(?!(.*/)?\\.\\.(/|$))"
#define TEXT_PATTERN "^[^-]"

static void put_level(struct vcm_jsonw *w, const struct vcm_schema_level *level);

static const char *json_type(const struct vcm_schema_key *key)
{
    switch (key->type) {
    case VCM_SCHEMA_INT:
        return "integer";
    case VCM_SCHEMA_BOOL:
        return "boolean";
    case VCM_SCHEMA_STRING:
        return "string";
    case VCM_SCHEMA_GLOBS:
    case VCM_SCHEMA_SOURCES:
    case VCM_SCHEMA_ROUTES:
        break;
    }
    return "array";
}

static const char *pattern(const struct vcm_schema_key *key)
{
    switch (key->form) {
    case VCM_SCHEMA_NAME:
        return NAME_PATTERN;
    case VCM_SCHEMA_DIRECTORY:
    case VCM_SCHEMA_SUBMODULE:
        return PATH_PATTERN;
    case VCM_SCHEMA_ADDRESS:
        return TEXT_PATTERN;
    case VCM_SCHEMA_ANY:
    case VCM_SCHEMA_SOURCE_TYPE:
        break;
    }
    return NULL;
}

static void put_default(struct vcm_jsonw *w, const struct vcm_schema_key *key)
{
    vcm_jsonw_key(w, "default");
    if (key->type == VCM_SCHEMA_STRING)
        vcm_jsonw_string(w, key->default_text);
    else
        vcm_jsonw_raw(w, vcm_slice_of_string(key->default_text));
}

static void put_words(struct vcm_jsonw *w, const char *name, const char *const *words)
{
    vcm_jsonw_key(w, name);
    vcm_jsonw_begin_array(w);
    for (; *words; words++)
        vcm_jsonw_string(w, *words);
    vcm_jsonw_end_array(w);
}

static void put_items(struct vcm_jsonw *w, const struct vcm_schema_key *key)
{
    if (key->min > 0)
        vcm_jsonw_member_int(w, "minItems", key->min);
    vcm_jsonw_key(w, "items");
    if (key->type == VCM_SCHEMA_SOURCES) {
        put_level(w, &vcm_schema_source);
    } else if (key->type == VCM_SCHEMA_ROUTES) {
        put_level(w, &vcm_schema_route);
    } else {
        vcm_jsonw_begin_object(w);
        vcm_jsonw_member_string(w, "type", "string");
        vcm_jsonw_member_int(w, "minLength", 1);
        vcm_jsonw_end_object(w);
    }
}

static void put_key(struct vcm_jsonw *w, const struct vcm_schema_key *key)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "type", json_type(key));
    vcm_jsonw_member_string(w, "description", key->summary);
    if (key->default_text)
        put_default(w, key);
    if (key->type == VCM_SCHEMA_INT) {
        vcm_jsonw_member_int(w, "minimum", key->min);
        vcm_jsonw_member_int(w, "maximum", key->max);
    }
    if (key->words)
        put_words(w, "enum", key->words);
    if (key->form == VCM_SCHEMA_SOURCE_TYPE)
        put_words(w, "examples", vcm_schema_source_types);
    if (key->type == VCM_SCHEMA_STRING && pattern(key))
        vcm_jsonw_member_string(w, "pattern", pattern(key));
    if (strcmp(json_type(key), "array") == 0)
        put_items(w, key);
    vcm_jsonw_end_object(w);
}

static void put_members(struct vcm_jsonw *w, const struct vcm_schema_level *level)
{
    vcm_jsonw_member_string(w, "type", "object");
    vcm_jsonw_member_bool(w, "additionalProperties", false);
    vcm_jsonw_key(w, "required");
    vcm_jsonw_begin_array(w);
    for (unsigned i = 0; i < level->count; i++)
        if (level->keys[i].required)
            vcm_jsonw_string(w, level->keys[i].name);
    vcm_jsonw_end_array(w);
    vcm_jsonw_key(w, "properties");
    vcm_jsonw_begin_object(w);
    for (unsigned i = 0; i < level->count; i++) {
        vcm_jsonw_key(w, level->keys[i].name);
        put_key(w, &level->keys[i]);
    }
    vcm_jsonw_end_object(w);
}

static void put_level(struct vcm_jsonw *w, const struct vcm_schema_level *level)
{
    vcm_jsonw_begin_object(w);
    put_members(w, level);
    vcm_jsonw_end_object(w);
}

static void new_line(struct vcm_buf *out, unsigned depth)
{
    vcm_buf_append_byte(out, '\n');
    for (unsigned i = 0; i < 2 * depth; i++)
        vcm_buf_append_byte(out, ' ');
}

/* Breaks compact JSON into lines. */
static void indent(struct vcm_buf *out, struct vcm_slice json)
{
    unsigned depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < json.len; i++) {
        char c = json.data[i];
        bool empty = i + 1 < json.len && (json.data[i + 1] == ']' || json.data[i + 1] == '}');
        if (!in_string && (c == ']' || c == '}') && json.data[i - 1] != '[' &&
            json.data[i - 1] != '{')
            new_line(out, --depth);
        vcm_buf_append_byte(out, c);
        if (c == '\\' && in_string)
            vcm_buf_append_byte(out, json.data[++i]);
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '[' || c == '{') && !empty)
            new_line(out, ++depth);
        else if (!in_string && c == ',')
            new_line(out, depth);
        else if (!in_string && c == ':')
            vcm_buf_append_byte(out, ' ');
    }
    vcm_buf_append_byte(out, '\n');
}

void schema_doc_json(struct vcm_buf *out)
{
    struct vcm_buf compact = VCM_BUF_INIT(VCM_MIB);
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &compact);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_string(&w, "$schema", "http://json-schema.org/draft-07/schema#");
    vcm_jsonw_member_string(&w, "title", ".colony/repo_map.yaml, schema 1");
    put_members(&w, &vcm_schema_top);
    vcm_jsonw_end_object(&w);
    indent(out, vcm_buf_slice(&compact));
    vcm_buf_release(&compact);
}

static void put_type(struct vcm_buf *out, const struct vcm_schema_key *key)
{
    switch (key->type) {
    case VCM_SCHEMA_INT:
        if (key->min == key->max)
            vcm_buf_append_format(out, "`%" PRId64 "`", key->min);
        else
            vcm_buf_append_format(out, "integer, %" PRId64 " to %" PRId64, key->min, key->max);
        break;
    case VCM_SCHEMA_BOOL:
        vcm_buf_append_string(out, "`true` or `false`");
        break;
    case VCM_SCHEMA_STRING:
        for (unsigned i = 0; key->words && key->words[i]; i++)
            vcm_buf_append_format(out, "%s`%s`", i > 0 ? " or " : "", key->words[i]);
        if (!key->words)
            vcm_buf_append_string(out, "string");
        break;
    case VCM_SCHEMA_GLOBS:
        vcm_buf_append_format(out, "list of patterns%s", key->min > 0 ? ", not empty" : "");
        break;
    case VCM_SCHEMA_SOURCES:
        vcm_buf_append_string(out, "list of sources");
        break;
    case VCM_SCHEMA_ROUTES:
        vcm_buf_append_string(out, "list of routes");
        break;
    }
}

void schema_doc_table(struct vcm_buf *out, const struct vcm_schema_level *level)
{
    vcm_buf_append_string(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < level->count; i++) {
        const struct vcm_schema_key *key = &level->keys[i];
        vcm_buf_append_format(out, "| `%s` | ", key->name);
        put_type(out, key);
        if (key->required)
            vcm_buf_append_string(out, " | required | ");
        else if (key->default_text)
            vcm_buf_append_format(out, " | `%s` | ", key->default_text);
        else
            vcm_buf_append_string(out, " | none | ");
        if (key->only_type)
            vcm_buf_append_format(out, "`%s` only. ", key->only_type);
        vcm_buf_append_format(out, "%s |\n", key->summary);
    }
}
