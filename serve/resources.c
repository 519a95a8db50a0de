#include "serve/resources.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/text.h"
#include "ops/table.h"
#include "serve/tools.h"

#include "base/banned.h"

#define LIST_MAX     100u
#define COMPLETE_MAX 100u
#define DAY_MS       ((uint64_t)86400000)
#define VALUE_BYTES  ((size_t)1024)

/* A kind of resource: an operation with one argument. */
struct kind {
    const char *prefix;   /* of the URI; the whole URI without a variable */
    const char *variable; /* NULL for none */
    const char *title, *description;
    const char *op;    /* its name */
    const char *param; /* that takes the variable */
    bool as_text;      /* the text for models instead of the document */
    uint64_t ttl_ms;
    const char *key; /* of the document: the full value of the variable */
};

static const struct kind kinds[] = {
    {VCM_RESOURCES_SCOPES, NULL, "Scopes", "What is mapped: repositories, commits, counts.",
     "scopes", NULL, false, 0, NULL},
    {VCM_RESOURCES_SCOPE, "scope_id", "Scope", "The pages of a scope, with their files and tokens.",
     "pages", "scope", false, 0, NULL},
    {"vcm://page/", "page_id", "Page", "The text of a page. It never changes.", "page", "page",
     true, DAY_MS, "page_id"},
    {"vcm://kb/", "chunk_id", "Chunk", "A chunk of a document of the knowledge base.", "kb show",
     "chunk", false, 0, "chunk_id"},
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static const struct vcm_op *op_of(const struct kind *kind)
{
    for (size_t i = 0; vcm_ops[i]; i++)
        if (strcmp(vcm_ops[i]->name, kind->op) == 0)
            return vcm_ops[i];
    return NULL;
}

/* Runs the operation of a kind with one argument, "" for none. */
static int run_kind(struct vcm_buf *document, struct vcm_buf *text, struct vcm_mcp_call *call,
                    const struct kind *kind, const char *value, struct vcm_error *err)
{
    const struct vcm_op *op = op_of(kind);
    struct vcm_arena *arena = &call->message.arena;
    int exit_status, rc = VCM_OK;

    if (!op)
        return vcm_error_set(err, VCM_NOT_FOUND, "there is no operation '%s'", kind->op);
    struct vcm_op_value *values =
        vcm_arena_alloc(arena, (vcm_op_param_total(op) + 1) * sizeof(struct vcm_op_value));
    if (!values)
        return vcm_error_memory(err);
    for (size_t i = 0; kind->param && rc == VCM_OK && i < op->param_count; i++)
        if (strcmp(op->params[i].name, kind->param) == 0)
            rc = vcm_op_take(values, op, i, value, arena, err);
    return rc == VCM_OK ? vcm_tools_run(document, text, &exit_status, call, op, values, err) : rc;
}

/* The scopes, parsed into the arena of the call. */
static const struct vcm_json *list_scopes(struct vcm_mcp_call *call, struct vcm_error *err)
{
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_MCP_ANSWER_BYTES);
    struct vcm_json *root = NULL;

    int rc = run_kind(&document, NULL, call, &kinds[0], "", err);
    if (rc == VCM_OK)
        vcm_json_parse(&root, &call->message.arena, vcm_buf_slice(&document), err);
    vcm_buf_release(&document);
    const struct vcm_json *scopes = vcm_json_get(root, "scopes");
    return scopes && scopes->kind == VCM_JSON_ARRAY ? scopes : NULL;
}

static void put_resource(struct vcm_jsonw *w, const char *uri, const char *name,
                         const struct kind *kind)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "uri", uri);
    vcm_jsonw_member_string(w, "name", name);
    vcm_jsonw_member_string(w, "title", kind->title);
    vcm_jsonw_member_string(w, "description", kind->description);
    vcm_jsonw_member_string(w, "mimeType", kind->as_text ? "text/plain" : "application/json");
    vcm_jsonw_end_object(w);
}

void vcm_resources_list(struct vcm_mcp_call *call)
{
    const char *cursor = vcm_mcp_param(call, "cursor", false);
    struct vcm_buf uri = VCM_BUF_INIT(VALUE_BYTES);
    struct vcm_error err = {0};
    uint64_t from = 0, at = 0;

    if (call->code == 0 && cursor && !vcm_text_parse_uint(&from, cursor))
        vcm_mcp_fail(call, VCM_RPC_INVALID_PARAMS, "'%.50s' is no cursor of resources/list",
                     cursor);
    if (call->code != 0)
        return;
    const struct vcm_json *scopes =
        list_scopes(call, &err); /* none without a home, or a sound one */
    vcm_jsonw_key(&call->w, "resources");
    vcm_jsonw_begin_array(&call->w);
    if (from == 0)
        put_resource(&call->w, kinds[0].prefix, "scopes", &kinds[0]);
    for (const struct vcm_json *s = scopes ? scopes->first : NULL; s; s = s->next, at++) {
        const char *id = vcm_json_get_text(s, "scope_id", "");
        if (at < from || at >= from + LIST_MAX)
            continue;
        vcm_buf_clear(&uri);
        vcm_buf_append_format(&uri, "%s%s", kinds[1].prefix, id);
        put_resource(&call->w, vcm_buf_text(&uri), id, &kinds[1]);
    }
    vcm_jsonw_end_array(&call->w);
    if (at > from + LIST_MAX) {
        vcm_buf_clear(&uri);
        vcm_buf_append_format(&uri, "%" PRIu64, from + LIST_MAX);
        vcm_jsonw_member_string(&call->w, "nextCursor", vcm_buf_text(&uri));
    }
    vcm_buf_release(&uri);
}

void vcm_resources_templates(struct vcm_mcp_call *call)
{
    struct vcm_buf uri = VCM_BUF_INIT(VALUE_BYTES);

    vcm_jsonw_key(&call->w, "resourceTemplates");
    vcm_jsonw_begin_array(&call->w);
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (!kinds[i].variable)
            continue;
        vcm_buf_clear(&uri);
        vcm_buf_append_format(&uri, "%s{%s}", kinds[i].prefix, kinds[i].variable);
        vcm_jsonw_begin_object(&call->w);
        vcm_jsonw_member_string(&call->w, "uriTemplate", vcm_buf_text(&uri));
        vcm_jsonw_member_string(&call->w, "name", kinds[i].variable);
        vcm_jsonw_member_string(&call->w, "title", kinds[i].title);
        vcm_jsonw_member_string(&call->w, "description", kinds[i].description);
        vcm_jsonw_member_string(&call->w, "mimeType",
                                kinds[i].as_text ? "text/plain" : "application/json");
        vcm_jsonw_end_object(&call->w);
    }
    vcm_jsonw_end_array(&call->w);
    vcm_buf_release(&uri);
}

/* Decodes %XX; false for what is no such text. */
static bool decode(struct vcm_buf *out, const char *text)
{
    unsigned char byte;

    for (; *text; text++) {
        if (*text != '%') {
            vcm_buf_append_byte(out, *text);
            continue;
        }
        if (!text[1] || !text[2] || !vcm_hash_from_hex(&byte, text + 1, 1) || byte == 0)
            return false;
        vcm_buf_append_byte(out, (char)byte);
        text += 2;
    }
    return out->fault == VCM_BUF_FINE;
}

/* The kind of a URI and the value of its variable; NULL for others. */
static const struct kind *find_kind(struct vcm_buf *value, const char *uri)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        size_t len = strlen(kinds[i].prefix);
        if (!kinds[i].variable && strcmp(uri, kinds[i].prefix) == 0)
            return &kinds[i];
        if (kinds[i].variable && strncmp(uri, kinds[i].prefix, len) == 0 && uri[len] != '\0')
            return decode(value, uri + len) ? &kinds[i] : NULL;
    }
    return NULL;
}

static void no_resource(struct vcm_mcp_call *call, const char *uri, const char *why)
{
    struct vcm_buf text = VCM_BUF_INIT(64 * VCM_KIB);

    vcm_jsonw_escape(&text, vcm_slice_of_string(uri));
    vcm_mcp_fail(call, call->is_modern ? VCM_RPC_INVALID_PARAMS : VCM_RPC_NO_RESOURCE, "%s", why);
    vcm_mcp_fail_data(call, "{\"uri\":%s}", vcm_buf_text(&text));
    vcm_buf_release(&text);
}

static void put_contents(struct vcm_mcp_call *call, const char *uri, const struct kind *kind,
                         struct vcm_slice text)
{
    call->ttl_ms = kind->ttl_ms;
    vcm_jsonw_key(&call->w, "contents");
    vcm_jsonw_begin_array(&call->w);
    vcm_jsonw_begin_object(&call->w);
    vcm_jsonw_member_string(&call->w, "uri", uri);
    vcm_jsonw_member_string(&call->w, "mimeType",
                            kind->as_text ? "text/plain" : "application/json");
    vcm_jsonw_member_slice(&call->w, "text", text);
    vcm_jsonw_end_object(&call->w);
    vcm_jsonw_end_array(&call->w);
}

void vcm_resources_read(struct vcm_mcp_call *call)
{
    const char *uri = vcm_mcp_param(call, "uri", true);
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_MCP_ANSWER_BYTES);
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_MCP_ANSWER_BYTES);
    struct vcm_buf value = VCM_BUF_INIT(VALUE_BYTES);
    struct vcm_error err = {0};

    if (!uri)
        return;
    const struct kind *kind = find_kind(&value, uri);
    if (!kind) {
        no_resource(call, uri, "there is no such resource");
    } else {
        int rc = run_kind(&document, kind->as_text ? &text : NULL, call, kind, vcm_buf_text(&value),
                          &err);
        if (rc == VCM_OK)
            put_contents(call, uri, kind, vcm_buf_slice(kind->as_text ? &text : &document));
        else if (rc == VCM_NOT_FOUND || rc == VCM_INVALID_ARGUMENT || rc == VCM_AMBIGUOUS)
            no_resource(call, uri, err.message);
        else
            vcm_mcp_fail(call, VCM_RPC_INTERNAL, "%s: %s", vcm_error_code_name(err.code),
                         err.message);
    }
    vcm_buf_release(&value);
    vcm_buf_release(&text);
    vcm_buf_release(&document);
}

/* Values that complete a beginning. */
struct values {
    struct vcm_jsonw *w;
    uint64_t total, written;
};

static void add_value(struct values *values, const char *beginning, const char *value)
{
    if (strncmp(value, beginning, strlen(beginning)) != 0)
        return;
    if (values->total++ >= COMPLETE_MAX)
        return;
    vcm_jsonw_string(values->w, value);
    values->written++;
}

/* An operation that takes a unique prefix names what it means, or the candidates. */
static void complete_prefix(struct values *values, struct vcm_mcp_call *call,
                            const struct kind *kind, const char *beginning)
{
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_MCP_ANSWER_BYTES);
    struct vcm_json *root = NULL;
    struct vcm_error err = {0};

    int rc = run_kind(&document, NULL, call, kind, beginning, &err);
    if (rc == VCM_AMBIGUOUS) {
        vcm_buf_clear(&document);
        vcm_buf_append_format(&document, "{%s}", err.details);
    }
    if ((rc == VCM_OK || rc == VCM_AMBIGUOUS) &&
        vcm_json_parse(&root, &call->message.arena, vcm_buf_slice(&document), NULL) == VCM_OK) {
        const struct vcm_json *candidates = vcm_json_get(root, "candidates");
        if (rc == VCM_OK)
            add_value(values, beginning, vcm_json_get_text(root, kind->key, beginning));
        for (const struct vcm_json *c = candidates ? candidates->first : NULL; c; c = c->next)
            add_value(values, beginning, c->text.data);
    }
    vcm_buf_release(&document);
}

static const struct kind *kind_of_variable(struct vcm_mcp_call *call)
{
    const struct vcm_json *ref = vcm_json_get(call->message.params, "ref");
    const struct vcm_json *argument = vcm_json_get(call->message.params, "argument");
    const char *uri = vcm_json_get_text(ref, "uri", "");
    const char *name = vcm_json_get_text(argument, "name", "");

    for (size_t i = 0; i < KIND_COUNT; i++)
        if (kinds[i].variable && strcmp(kinds[i].variable, name) == 0 &&
            strncmp(kinds[i].prefix, uri, strlen(kinds[i].prefix)) == 0)
            return &kinds[i];
    vcm_mcp_fail(
        call, VCM_RPC_INVALID_PARAMS,
        "ref has to be a resource template of this server, and argument.name its variable");
    return NULL;
}

void vcm_resources_complete(struct vcm_mcp_call *call)
{
    const struct vcm_json *argument = vcm_json_get(call->message.params, "argument");
    const char *beginning = vcm_json_get_text(argument, "value", "");
    const struct kind *kind = kind_of_variable(call);
    struct values values = {.w = &call->w};
    struct vcm_error err = {0};

    if (!kind)
        return;
    vcm_jsonw_key(&call->w, "completion");
    vcm_jsonw_begin_object(&call->w);
    vcm_jsonw_key(&call->w, "values");
    vcm_jsonw_begin_array(&call->w);
    if (kind->key && strlen(beginning) >= VCM_LIMIT_PREFIX_MIN) {
        complete_prefix(&values, call, kind, beginning);
    } else if (!kind->key) {
        const struct vcm_json *scopes = list_scopes(call, &err);
        for (const struct vcm_json *s = scopes ? scopes->first : NULL; s; s = s->next)
            add_value(&values, beginning, vcm_json_get_text(s, "scope_id", ""));
    }
    vcm_jsonw_end_array(&call->w);
    vcm_jsonw_member_uint(&call->w, "total", values.total);
    vcm_jsonw_member_bool(&call->w, "hasMore", values.total > values.written);
    vcm_jsonw_end_object(&call->w);
}
