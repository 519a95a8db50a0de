#include "ops/schema.h"

#include <assert.h>
#include <string.h>

#include "ops/failure.h"

#include "base/banned.h"

#define DIALECT     "https://json-schema.org/draft/2020-12/schema"
#define DEFINED_MAX 4u

/* Recursive objects, which are put into "$defs". */
struct definitions {
    const struct vcm_result_member *kinds[DEFINED_MAX];
    unsigned count;
};

static const char *const type_names[] = {
    [VCM_RESULT_TEXT] = "string",  [VCM_RESULT_INTEGER] = "integer", [VCM_RESULT_NUMBER] = "number",
    [VCM_RESULT_BOOL] = "boolean", [VCM_RESULT_OBJECT] = "object",
};

static void put_object(struct vcm_jsonw *w, const struct vcm_result_member *members, bool is_open);

static void put_type(struct vcm_jsonw *w, const struct vcm_result_member *member, bool nullable)
{
    bool is_scalar = member->type == VCM_RESULT_SCALAR;

    vcm_jsonw_key(w, "type");
    if (!nullable && !is_scalar) {
        vcm_jsonw_string(w, type_names[member->type]);
        return;
    }
    vcm_jsonw_begin_array(w);
    vcm_jsonw_string(w, type_names[is_scalar ? VCM_RESULT_TEXT : member->type]);
    if (is_scalar) {
        vcm_jsonw_string(w, type_names[VCM_RESULT_INTEGER]);
        vcm_jsonw_string(w, type_names[VCM_RESULT_BOOL]);
    }
    if (nullable)
        vcm_jsonw_string(w, "null");
    vcm_jsonw_end_array(w);
}

static void put_choices(struct vcm_jsonw *w, const char *const *choices, bool nullable)
{
    vcm_jsonw_key(w, "enum");
    vcm_jsonw_begin_array(w);
    for (; *choices; choices++)
        vcm_jsonw_string(w, *choices);
    if (nullable)
        vcm_jsonw_null(w);
    vcm_jsonw_end_array(w);
}

static void put_reference(struct vcm_jsonw *w, const char *name)
{
    struct vcm_buf place = VCM_BUF_INIT(256);

    vcm_buf_append_format(&place, "#/$defs/%s", name);
    vcm_jsonw_member_string(w, "$ref", vcm_buf_text(&place));
    vcm_buf_release(&place);
}

/* Writes the members of a schema that describe one value. */
static void put_value(struct vcm_jsonw *w, const struct vcm_result_member *member, bool nullable)
{
    if (member->defined && nullable) {
        vcm_jsonw_key(w, "anyOf");
        vcm_jsonw_begin_array(w);
        vcm_jsonw_begin_object(w);
        put_reference(w, member->defined);
        vcm_jsonw_end_object(w);
        vcm_jsonw_begin_object(w);
        vcm_jsonw_member_string(w, "type", "null");
        vcm_jsonw_end_object(w);
        vcm_jsonw_end_array(w);
        return;
    }
    if (member->defined) {
        put_reference(w, member->defined);
        return;
    }
    put_type(w, member, nullable);
    if (member->choices)
        put_choices(w, member->choices, nullable);
    if (member->type == VCM_RESULT_INTEGER)
        vcm_jsonw_member_uint(w, "minimum", 0);
    if (member->type == VCM_RESULT_OBJECT)
        put_object(w, member->members, member->is_open);
}

static void put_member(struct vcm_jsonw *w, const struct vcm_result_member *member)
{
    vcm_jsonw_key(w, member->name);
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "description", member->summary);
    if (member->is_list) {
        vcm_jsonw_key(w, "type");
        if (member->nullable)
            vcm_jsonw_begin_array(w);
        vcm_jsonw_string(w, "array");
        if (member->nullable) {
            vcm_jsonw_string(w, "null");
            vcm_jsonw_end_array(w);
        }
        vcm_jsonw_key(w, "items");
        vcm_jsonw_begin_object(w);
        put_value(w, member, false);
        vcm_jsonw_end_object(w);
    } else {
        put_value(w, member, member->nullable);
    }
    vcm_jsonw_end_object(w);
}

static void put_properties(struct vcm_jsonw *w, const struct vcm_result_member *members)
{
    for (const struct vcm_result_member *m = members; m->name; m++) {
        if (m->is_spliced)
            put_properties(w, m->members);
        else
            put_member(w, m);
    }
}

static void put_required(struct vcm_jsonw *w, const struct vcm_result_member *members)
{
    for (const struct vcm_result_member *m = members; m->name; m++) {
        if (m->is_spliced)
            put_required(w, m->members);
        else if (!m->optional)
            vcm_jsonw_string(w, m->name);
    }
}

/* Writes the members of a schema that describe the members of an object. */
static void put_object(struct vcm_jsonw *w, const struct vcm_result_member *members, bool is_open)
{
    if (members) {
        vcm_jsonw_key(w, "properties");
        vcm_jsonw_begin_object(w);
        put_properties(w, members);
        vcm_jsonw_end_object(w);
        vcm_jsonw_key(w, "required");
        vcm_jsonw_begin_array(w);
        put_required(w, members);
        vcm_jsonw_end_array(w);
    }
    vcm_jsonw_member_bool(w, "additionalProperties", is_open);
}

static void collect(struct definitions *found, const struct vcm_result_member *members)
{
    for (const struct vcm_result_member *m = members; m && m->name; m++) {
        bool known = false;
        for (unsigned i = 0; m->defined && i < found->count; i++)
            known = known || strcmp(found->kinds[i]->defined, m->defined) == 0;
        if (known)
            continue;
        if (m->defined) {
            assert(found->count < DEFINED_MAX);
            found->kinds[found->count++] = m;
        }
        collect(found, m->members);
    }
}

static void put_definitions(struct vcm_jsonw *w, const struct definitions *found)
{
    if (found->count == 0)
        return;
    vcm_jsonw_key(w, "$defs");
    vcm_jsonw_begin_object(w);
    for (unsigned i = 0; i < found->count; i++) {
        vcm_jsonw_key(w, found->kinds[i]->defined);
        vcm_jsonw_begin_object(w);
        vcm_jsonw_member_string(w, "type", "object");
        put_object(w, found->kinds[i]->members, found->kinds[i]->is_open);
        vcm_jsonw_end_object(w);
    }
    vcm_jsonw_end_object(w);
}

static void begin_schema(struct vcm_jsonw *w, const char *title, const char *description)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "$schema", DIALECT);
    vcm_jsonw_member_string(w, "title", title);
    vcm_jsonw_member_string(w, "description", description);
    vcm_jsonw_member_string(w, "type", "object");
}

/* Writes one of several alternative documents. */
static void put_alternative(struct vcm_jsonw *w, const struct vcm_op_document *document)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "title", document->when);
    put_object(w, document->members, document->is_open);
    vcm_jsonw_end_object(w);
}

void vcm_schema_put(struct vcm_jsonw *w, const struct vcm_op *op)
{
    struct definitions found = {.count = 0};
    struct vcm_buf title = VCM_BUF_INIT(256);

    vcm_buf_append_format(&title, "vcm %s", op->name);
    begin_schema(w, vcm_buf_text(&title), op->summary);
    collect(&found, op->result);
    for (const struct vcm_op_document *d = op->also; d && d->members; d++)
        collect(&found, d->members);
    put_definitions(w, &found);
    if (op->also) {
        vcm_jsonw_key(w, "anyOf");
        vcm_jsonw_begin_array(w);
        put_alternative(w, &(struct vcm_op_document){.when = "otherwise", .members = op->result});
        for (const struct vcm_op_document *d = op->also; d->members; d++)
            put_alternative(w, d);
        vcm_jsonw_end_array(w);
    } else {
        put_object(w, op->result, false);
    }
    vcm_jsonw_end_object(w);
    vcm_buf_release(&title);
}

void vcm_schema_put_failure(struct vcm_jsonw *w)
{
    begin_schema(w, "failure", "what any command prints with --json when it fails");
    put_object(w, vcm_failure_result, false);
    vcm_jsonw_end_object(w);
}
