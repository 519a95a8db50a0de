#include "base/yaml.h"

#include <yaml.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "base/yaml_scalar.h"

#include "base/banned.h"

/* libyaml compares every %TAG directive with all before it, and reports none until it has read the
 * last one. A text with more of them than this, wherever they are, is refused before parsing. */
#define TAG_DIRECTIVES_MAX 64

/* A sequence or mapping that is still open. */
struct level {
    struct vcm_yaml *node;
    struct vcm_yaml *last;
    struct vcm_yaml *key; /* of the next value, in a mapping */
    bool flow;
};

struct parser {
    struct vcm_arena *arena;
    struct vcm_yaml_mark *mark;
    struct vcm_error *err;
    struct vcm_slice text;
    yaml_parser_t yaml;
    struct vcm_yaml *root;
    struct level levels[VCM_LIMIT_YAML_DEPTH];
    unsigned depth;
    size_t nodes;
    bool had_document, done;
    int rc; /* why a node could not be added */
};

static int fail_at(struct parser *p, const yaml_mark_t *at, const char *reason)
{
    p->mark->line = (unsigned)at->line + 1;
    p->mark->column = (unsigned)at->column + 1;
    return vcm_error_set(p->err, VCM_INVALID_ARGUMENT, "%s", reason);
}

/* Line breaks as libyaml sees them, ASCII ones: LF, CR and the two together. */
static int fail_at_byte(struct parser *p, size_t offset, const char *reason)
{
    yaml_mark_t at = {0};

    for (size_t i = 0; i < offset && i < p->text.len; i++) {
        char byte = p->text.data[i];
        bool pair = byte == '\r' && i + 1 < p->text.len && p->text.data[i + 1] == '\n';
        if ((byte == '\n' || byte == '\r') && !pair) {
            at.line++;
            at.column = 0;
        } else if (((unsigned char)byte & 0xc0) != 0x80) {
            at.column++;
        }
    }
    return fail_at(p, &at, reason);
}

static int fail_memory(struct parser *p, size_t size)
{
    if (size + _Alignof(max_align_t) > p->arena->max - p->arena->used)
        return vcm_error_set(p->err, VCM_UNSUPPORTED,
                             "the YAML document needs more than %zu bytes of memory",
                             p->arena->max);
    return vcm_error_memory(p->err);
}

static bool awaits_key(const struct parser *p)
{
    if (p->depth == 0)
        return false;
    const struct level *level = &p->levels[p->depth - 1];
    return level->node->kind == VCM_YAML_MAPPING && !level->key;
}

/* The new node, not yet linked, or NULL and p->rc. */
static struct vcm_yaml *make_node(struct parser *p, const yaml_event_t *event,
                                  enum vcm_yaml_kind kind)
{
    /* A key counts together with its value. */
    if (!awaits_key(p) && ++p->nodes > VCM_LIMIT_YAML_NODES) {
        p->rc = fail_at(p, &event->start_mark, "the document has too many nodes");
        return NULL;
    }
    struct vcm_yaml *node = vcm_arena_alloc(p->arena, sizeof *node);
    if (!node) {
        p->rc = fail_memory(p, sizeof *node);
        return NULL;
    }
    node->kind = kind;
    node->line = (unsigned)event->start_mark.line + 1;
    node->column = (unsigned)event->start_mark.column + 1;
    node->end_line = (unsigned)event->end_mark.line + 1;
    node->end_column = (unsigned)event->end_mark.column + 1;
    return node;
}

static void add_value(struct parser *p, struct vcm_yaml *node)
{
    if (p->depth == 0) {
        p->root = node;
        return;
    }
    struct level *level = &p->levels[p->depth - 1];
    node->key = level->key;
    level->key = NULL;
    if (level->last)
        level->last->next = node;
    else
        level->node->first = node;
    level->last = node;
    level->node->count++;
}

static int refuse_properties(struct parser *p, const yaml_event_t *event, const void *anchor,
                             const void *tag)
{
    if (anchor)
        return fail_at(p, &event->start_mark, "anchors are not allowed");
    if (tag)
        return fail_at(p, &event->start_mark, "tags are not allowed");
    return VCM_OK;
}

static int on_scalar(struct parser *p, const yaml_event_t *event)
{
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool is_key = awaits_key(p);
    struct vcm_slice text = vcm_slice_of(event->data.scalar.value, event->data.scalar.length);

    int rc = refuse_properties(p, event, event->data.scalar.anchor, event->data.scalar.tag);
    if (rc != VCM_OK)
        return rc;
    if (memchr(text.data, '\0', text.len))
        return fail_at(p, &event->start_mark, "a NUL is not allowed");
    if (is_key && plain && vcm_slice_equal(text, vcm_slice_of("<<", 2)))
        return fail_at(p, &event->start_mark, "merge keys are not allowed");
    struct vcm_yaml *node = make_node(p, event, VCM_YAML_STRING);
    if (!node)
        return p->rc;
    char *copy = vcm_arena_copy(p->arena, text);
    if (!copy)
        return fail_memory(p, text.len + 1);
    node->text = vcm_slice_of(copy, text.len);
    if (plain)
        vcm_yaml_scalar_resolve(node);
    if (is_key)
        p->levels[p->depth - 1].key = node;
    else
        add_value(p, node);
    return VCM_OK;
}

static int open_level(struct parser *p, const yaml_event_t *event, enum vcm_yaml_kind kind,
                      bool flow)
{
    if (awaits_key(p))
        return fail_at(p, &event->start_mark, "a key must be a scalar");
    if (p->depth == VCM_LIMIT_YAML_DEPTH)
        return fail_at(p, &event->start_mark, "nested too deeply");
    struct vcm_yaml *node = make_node(p, event, kind);
    if (!node)
        return p->rc;
    add_value(p, node);
    p->levels[p->depth++] = (struct level){.node = node, .flow = flow};
    return VCM_OK;
}

static int on_sequence(struct parser *p, const yaml_event_t *event)
{
    int rc = refuse_properties(p, event, event->data.sequence_start.anchor,
                               event->data.sequence_start.tag);
    if (rc != VCM_OK)
        return rc;
    bool flow = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    return open_level(p, event, VCM_YAML_SEQUENCE, flow);
}

static int on_mapping(struct parser *p, const yaml_event_t *event)
{
    int rc = refuse_properties(p, event, event->data.mapping_start.anchor,
                               event->data.mapping_start.tag);
    if (rc != VCM_OK)
        return rc;
    bool flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    return open_level(p, event, VCM_YAML_MAPPING, flow);
}

/* libyaml ends a block collection where the next token begins; the end of its last child is
 * right. */
static void close_level(struct parser *p, const yaml_event_t *event)
{
    struct level *level = &p->levels[--p->depth];

    if (level->flow) {
        level->node->end_line = (unsigned)event->end_mark.line + 1;
        level->node->end_column = (unsigned)event->end_mark.column + 1;
    } else if (level->last) {
        level->node->end_line = level->last->end_line;
        level->node->end_column = level->last->end_column;
    }
}

static int on_document(struct parser *p, const yaml_event_t *event)
{
    if (p->had_document)
        return fail_at(p, &event->start_mark, "only one document is allowed");
    if (event->data.document_start.tag_directives.start !=
        event->data.document_start.tag_directives.end)
        return fail_at(p, &event->start_mark, "%TAG directives are not allowed");
    p->had_document = true;
    return VCM_OK;
}

static int on_event(struct parser *p, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return on_document(p, event);
    case YAML_SCALAR_EVENT:
        return on_scalar(p, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_sequence(p, event);
    case YAML_MAPPING_START_EVENT:
        return on_mapping(p, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        close_level(p, event);
        return VCM_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(p, &event->start_mark, "aliases are not allowed");
    case YAML_STREAM_END_EVENT:
        p->done = true;
        return VCM_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return VCM_OK;
}

static int fail_syntax(struct parser *p)
{
    const char *problem = p->yaml.problem ? p->yaml.problem : "syntax error";
    struct vcm_buf reason = VCM_BUF_INIT(VCM_KIB);
    int rc;

    if (p->yaml.error == YAML_MEMORY_ERROR)
        return vcm_error_memory(p->err);
    if (p->yaml.error == YAML_READER_ERROR)
        return fail_at_byte(p, p->yaml.problem_offset, problem);
    if (p->yaml.context)
        vcm_buf_append_format(&reason, "%s, ", p->yaml.context);
    vcm_buf_append_string(&reason, problem);
    rc = fail_at(p, &p->yaml.problem_mark, vcm_buf_text(&reason));
    vcm_buf_release(&reason);
    return rc;
}

/* Events are checked one by one, because libyaml's time grows with the square of the depth: a text
 * that is too deep is refused before that matters. */
static int run(struct parser *p)
{
    int rc = VCM_OK;

    if (!yaml_parser_initialize(&p->yaml))
        return vcm_error_memory(p->err);
    yaml_parser_set_encoding(&p->yaml, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p->yaml, (const unsigned char *)p->text.data, p->text.len);
    while (rc == VCM_OK && !p->done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&p->yaml, &event)) {
            rc = fail_syntax(p);
            break;
        }
        rc = on_event(p, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&p->yaml);
    return rc;
}

static int check_tag_directives(struct parser *p)
{
    static const char name[] = "%TAG";
    struct vcm_slice rest = p->text;

    for (unsigned seen = 0; seen <= TAG_DIRECTIVES_MAX; seen++) {
        const char *found = memmem(rest.data, rest.len, name, sizeof name - 1);
        if (!found)
            return VCM_OK;
        size_t skip = (size_t)(found - rest.data) + sizeof name - 1;
        rest = vcm_slice_of(rest.data + skip, rest.len - skip);
    }
    return fail_at_byte(p, p->text.len - rest.len - (sizeof name - 1),
                        "%TAG directives are not allowed");
}

static int check_text(struct parser *p)
{
    if (p->text.len > VCM_LIMIT_YAML_BYTES)
        return vcm_error_set(p->err, VCM_INVALID_ARGUMENT,
                             "the YAML document is larger than %zu bytes", VCM_LIMIT_YAML_BYTES);
    size_t valid = vcm_utf8_valid_prefix(p->text);
    const char *nul = valid > 0 ? memchr(p->text.data, '\0', valid) : NULL;
    if (nul)
        return fail_at_byte(p, (size_t)(nul - p->text.data), "a NUL is not allowed");
    if (valid < p->text.len)
        return fail_at_byte(p, valid, "invalid UTF-8");
    return p->text.len > 0 ? check_tag_directives(p) : VCM_OK;
}

int vcm_yaml_parse(struct vcm_yaml **out, struct vcm_yaml_mark *mark, struct vcm_arena *arena,
                   struct vcm_slice text, struct vcm_error *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    struct parser p = {.arena = arena, .mark = mark, .err = err, .text = text};

    *out = NULL;
    memset(mark, 0, sizeof *mark);
    /* Removed here, so that it does not count as a column. */
    if (text.len >= 3 && memcmp(text.data, bom, 3) == 0)
        p.text = vcm_slice_of(text.data + 3, text.len - 3);
    int rc = check_text(&p);
    if (rc == VCM_OK && p.text.len > 0)
        rc = run(&p);
    if (rc != VCM_OK)
        return rc;
    /* "---" alone gives an empty scalar, which counts as no content. */
    if (p.root && (p.root->kind != VCM_YAML_NULL || p.root->text.len > 0))
        *out = p.root;
    return VCM_OK;
}

const struct vcm_yaml *vcm_yaml_get(const struct vcm_yaml *mapping, const char *key)
{
    if (!mapping || mapping->kind != VCM_YAML_MAPPING)
        return NULL;
    struct vcm_slice name = vcm_slice_of_string(key);
    for (const struct vcm_yaml *value = mapping->first; value; value = value->next)
        if (vcm_slice_equal(value->key->text, name))
            return value;
    return NULL;
}
