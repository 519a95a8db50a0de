#include "symbols/receiver.h"

#include <ctype.h>
#include <stdlib.h>

#include "symbols/snippet.h"

#include "base/banned.h"

#define DEPTH_MAX 24u /* of expressions and types in each other */
#define CLIMB_MAX 6u  /* nodes between a name and its declaration */

/* What a kind of node is in a chain. */
enum action {
    NONE,
    NAME,    /* its text */
    PATH,    /* its text, with dots */
    MEMBER,  /* a member of an object */
    CALL,    /* what a function returns */
    INVOKE,  /* of a member, in one node */
    MAKE,    /* an object of a type */
    INNER,   /* what is in it */
    INDEX,   /* one of a list */
    LIST,    /* of what is in it: a type */
    GENERIC, /* a type with arguments */
    CHOICE,  /* one of several types */
    NOTHING, /* no value */
    QUOTED,  /* a type in a string */
    DECLARE, /* names something with a type or a value */
    RETURN,  /* names a function, with the type that it returns */
    EACH,    /* names what is in a list, one by one */
    PAIRS,   /* names several values, in a list of both */
    LITERAL, /* has values for the members of a type */
    PASS,    /* stands between a name and its declaration */
    ASSERT,  /* a value of another type */
};

struct kind {
    const char *name;
    enum action action;
    const char *first, *second; /* fields; NULL: the first named child */
};

/* All grammars in one table: kinds that several have mean the same in them. */
static const struct kind kinds[] = {
    {"identifier", NAME, NULL, NULL},
    {"this", NAME, NULL, NULL},
    {"self", NAME, NULL, NULL},
    {"super", NAME, NULL, NULL},
    {"type_identifier", NAME, NULL, NULL},
    {"field_identifier", NAME, NULL, NULL},
    {"property_identifier", NAME, NULL, NULL},
    {"this_type", NAME, NULL, NULL},
    {"nested_type_identifier", PATH, NULL, NULL},
    {"qualified_type", PATH, NULL, NULL},
    {"scoped_type_identifier", PATH, NULL, NULL},
    {"member_expression", MEMBER, "object", "property"},
    {"attribute", MEMBER, "object", "attribute"},
    {"selector_expression", MEMBER, "operand", "field"},
    {"field_expression", MEMBER, "argument", "field"}, /* of C; of Rust "value" */
    {"field_access", MEMBER, "object", "field"},
    {"member_access_expression", MEMBER, "expression", "name"},
    {"scoped_identifier", MEMBER, "path", "name"},
    {"call_expression", CALL, "function", NULL},
    {"call", CALL, "function", NULL},
    {"invocation_expression", CALL, "function", NULL},
    {"method_invocation", INVOKE, "object", "name"},
    {"new_expression", MAKE, "constructor", "type"},
    {"object_creation_expression", MAKE, "type", NULL},
    {"composite_literal", MAKE, "type", NULL},
    {"struct_expression", MAKE, "name", NULL},
    {"as_expression", ASSERT, NULL, NULL},
    {"cast_expression", ASSERT, "type", NULL},
    {"compound_literal_expression", ASSERT, "type", NULL},
    {"type_assertion_expression", ASSERT, "type", NULL},
    {"type_conversion_expression", ASSERT, "type", NULL},
    {"parenthesized_expression", INNER, NULL, NULL},
    {"await_expression", INNER, NULL, NULL},
    {"await", INNER, NULL, NULL},
    {"non_null_expression", INNER, NULL, NULL},
    {"satisfies_expression", INNER, NULL, NULL},
    {"pointer_expression", INNER, "argument", NULL},
    {"unary_expression", INNER, "operand", NULL},
    {"reference_expression", INNER, "value", NULL},
    {"assignment_expression", DECLARE, NULL, "right"},
    {"type_annotation", INNER, NULL, NULL},
    {"type", INNER, NULL, NULL},
    {"type_descriptor", INNER, "type", NULL},
    {"parenthesized_type", INNER, NULL, NULL},
    {"readonly_type", INNER, NULL, NULL},
    {"pointer_type", INNER, NULL, NULL},
    {"reference_type", INNER, "type", NULL},
    {"nullable_type", INNER, NULL, NULL},
    {"struct_specifier", INNER, "name", NULL},
    {"union_specifier", INNER, "name", NULL},
    {"enum_specifier", INNER, "name", NULL},
    {"subscript_expression", INDEX, "object", "argument"},
    {"subscript", INDEX, "value", NULL},
    {"index_expression", INDEX, "operand", NULL},
    {"array_access", INDEX, "array", NULL},
    {"array_type", LIST, "element", NULL},
    {"slice_type", LIST, "element", NULL},
    {"map_type", LIST, "value", NULL},
    {"implicit_length_array_type", LIST, "element", NULL},
    {"generic_type", GENERIC, NULL, NULL},
    {"generic_name", GENERIC, NULL, NULL},
    {"union_type", CHOICE, NULL, NULL},
    {"binary_operator", CHOICE, NULL, NULL},
    {"none", NOTHING, NULL, NULL},
    {"null", NOTHING, NULL, NULL},
    {"undefined", NOTHING, NULL, NULL},
    {"nil", NOTHING, NULL, NULL},
    {"string", QUOTED, NULL, NULL},
    {"literal_type", NOTHING, NULL, NULL},
    {"variable_declarator", DECLARE, "type", "value"},
    {"required_parameter", DECLARE, "type", "value"},
    {"optional_parameter", DECLARE, "type", "value"},
    {"public_field_definition", DECLARE, "type", "value"},
    {"field_definition", DECLARE, NULL, "value"},
    {"property_signature", DECLARE, "type", NULL},
    {"type_alias_declaration", DECLARE, "value", NULL},
    {"assignment", DECLARE, "type", "right"},
    {"typed_parameter", DECLARE, "type", NULL},
    {"typed_default_parameter", DECLARE, "type", "value"},
    {"default_parameter", DECLARE, NULL, "value"},
    {"named_expression", DECLARE, NULL, "value"},
    {"parameter_declaration", DECLARE, "type", NULL},
    {"variadic_parameter_declaration", LIST, "type", NULL},
    {"field_declaration", DECLARE, "type", NULL},
    {"declaration", DECLARE, "type", NULL},
    {"type_definition", DECLARE, "type", NULL},
    {"type_spec", DECLARE, "type", NULL},
    {"type_alias", DECLARE, "type", NULL},
    {"local_variable_declaration", DECLARE, "type", NULL},
    {"formal_parameter", DECLARE, "type", NULL},
    {"let_declaration", DECLARE, "type", "value"},
    {"parameter", DECLARE, "type", NULL},
    {"variable_declaration", DECLARE, "type", NULL},
    {"property_declaration", DECLARE, "type", "value"},
    {"var_spec", PAIRS, "type", "value"},
    {"short_var_declaration", PAIRS, NULL, "right"},
    {"range_clause", PAIRS, NULL, "right"},
    {"for_in_statement", EACH, NULL, "right"},
    {"for_statement", EACH, NULL, "right"},
    {"for_in_clause", EACH, NULL, "right"},
    {"enhanced_for_statement", DECLARE, "type", NULL},
    {"function_definition", RETURN, "return_type", "type"}, /* of Python, of C */
    {"function_declaration", RETURN, "return_type", "result"},
    {"generator_function_declaration", RETURN, "return_type", NULL},
    {"function_signature", RETURN, "return_type", NULL},
    {"method_definition", RETURN, "return_type", NULL},
    {"method_signature", RETURN, "return_type", NULL},
    {"abstract_method_signature", RETURN, "return_type", NULL},
    {"arrow_function", RETURN, "return_type", NULL},
    {"function_expression", RETURN, "return_type", NULL},
    {"method_declaration", RETURN, "result", "type"},
    {"method_elem", RETURN, "result", NULL},
    {"function_item", RETURN, "return_type", NULL},
    {"pointer_declarator", PASS, NULL, NULL},
    {"array_declarator", PASS, NULL, NULL},
    {"init_declarator", PASS, NULL, NULL},
    {"function_declarator", PASS, NULL, NULL},
    {"parenthesized_declarator", PASS, NULL, NULL},
    {"expression_list", PASS, NULL, NULL},
    {"list_splat_pattern", PASS, NULL, NULL},
    {"keyed_element", LITERAL, NULL, NULL},
    {"literal_element", LITERAL, NULL, NULL},
    {"literal_value", LITERAL, NULL, NULL},
    {"initializer_pair", LITERAL, NULL, NULL},
    {"initializer_list", LITERAL, NULL, NULL},
    {"field_designator", LITERAL, NULL, NULL},
};

/* Of one kind in one grammar. */
struct entry {
    uint8_t action;
    TSFieldId first, second;
};

struct vcm_receiver_table {
    struct entry *entries; /* by symbol */
    size_t count;
};

static TSFieldId field_of(const TSLanguage *language, const char *name)
{
    return name ? ts_language_field_id_for_name(language, name, (uint32_t)strlen(name)) : 0;
}

int vcm_receiver_open(struct vcm_receiver_table **out, const TSLanguage *language,
                      struct vcm_error *err)
{
    struct vcm_receiver_table *table = calloc(1, sizeof *table);

    *out = table;
    if (!table)
        return vcm_error_memory(err);
    table->count = ts_language_symbol_count(language);
    table->entries = calloc(table->count + 1, sizeof *table->entries);
    if (!table->entries) {
        vcm_receiver_close(table);
        *out = NULL;
        return vcm_error_memory(err);
    }
    for (size_t symbol = 0; symbol < table->count; symbol++) {
        const char *name = ts_language_symbol_name(language, (TSSymbol)symbol);
        bool named = ts_language_symbol_type(language, (TSSymbol)symbol) == TSSymbolTypeRegular;
        for (size_t i = 0; named && name && i < sizeof kinds / sizeof kinds[0]; i++)
            if (strcmp(kinds[i].name, name) == 0)
                table->entries[symbol] =
                    (struct entry){(uint8_t)kinds[i].action, field_of(language, kinds[i].first),
                                   field_of(language, kinds[i].second)};
        /* Rust has another field where C has "argument". */
        if (named && name && strcmp(name, "field_expression") == 0 &&
            table->entries[symbol].first == 0)
            table->entries[symbol].first = field_of(language, "value");
    }
    return VCM_OK;
}

void vcm_receiver_close(struct vcm_receiver_table *table)
{
    if (!table)
        return;
    free(table->entries);
    free(table);
}

static struct entry entry_of(const struct vcm_receiver_table *table, TSNode node)
{
    TSSymbol symbol = ts_node_is_null(node) ? UINT16_MAX : ts_node_symbol(node);

    return symbol < table->count ? table->entries[symbol] : (struct entry){0};
}

static struct vcm_slice text_of(const struct vcm_receiver_place *place, TSNode node)
{
    if (ts_node_is_null(node))
        return vcm_slice_of("", 0);
    return vcm_slice_of(place->text.data + ts_node_start_byte(node),
                        ts_node_end_byte(node) - ts_node_start_byte(node));
}

static bool is_kind(TSNode node, const char *kind)
{
    return !ts_node_is_null(node) && strcmp(ts_node_type(node), kind) == 0;
}

static TSNode child_in(TSNode node, TSFieldId field)
{
    TSNode none = {.id = NULL};

    return field > 0 ? ts_node_child_by_field_id(node, field) : none;
}

static TSNode first_child(TSNode node, TSFieldId field)
{
    TSNode child = child_in(node, field);

    return ts_node_is_null(child) && field == 0 ? ts_node_named_child(node, 0) : child;
}

/* Forgets what was appended since `start`: nothing is known. */
static bool forget(struct vcm_buf *out, size_t start)
{
    vcm_buf_truncate(out, start);
    return false;
}

/* A word, and nothing that has a meaning in chains. */
static bool put_word(struct vcm_buf *out, struct vcm_slice word)
{
    for (size_t i = 0; i < word.len; i++) {
        unsigned char c = (unsigned char)word.data[i];
        if (!isalnum(c) && c != '_' && c != '$' && c != '#' && c < 0x80)
            return false;
    }
    vcm_buf_append_slice(out, word);
    return word.len > 0 && out->len < VCM_RECEIVER_MAX;
}

/* "a.b" of "a.b", "a::b". */
static bool put_path(struct vcm_buf *out, struct vcm_slice path)
{
    size_t start = out->len;

    for (size_t i = 0; i < path.len; i++) {
        char c = path.data[i];
        bool mark = c == '.' || c == ':';
        if (mark && out->len > start && vcm_buf_text(out)[out->len - 1] == '.')
            continue;
        if (!mark && !isalnum((unsigned char)c) && c != '_' && c != '$')
            return forget(out, start);
        vcm_buf_append_byte(out, mark ? '.' : c);
    }
    return out->len > start && out->len < VCM_RECEIVER_MAX;
}

static bool put_type(struct vcm_buf *out, const struct vcm_receiver_place *place, TSNode node,
                     unsigned depth);

static bool is_among(struct vcm_slice word, const char *words)
{
    char text[40];

    if (word.len + 3 > sizeof text)
        return false;
    text[0] = text[word.len + 1] = ' ';
    memcpy(text + 1, word.data, word.len);
    text[word.len + 2] = '\0';
    return strstr(words, text) != NULL;
}

/* The last word of "typing.Optional". */
static struct vcm_slice last_word(struct vcm_slice path)
{
    const char *dot = path.len > 0 ? memrchr(path.data, '.', path.len) : NULL;

    return dot ? vcm_slice_of(dot + 1, path.len - (size_t)(dot + 1 - path.data)) : path;
}

/* A type with arguments, whose name is a child, and the arguments in the next: "Promise<Shop>" is
 * what it promises, "Array<Shop>" a list. */
static bool put_generic(struct vcm_buf *out, const struct vcm_receiver_place *place, TSNode name,
                        TSNode arguments, unsigned depth)
{
    static const char wrappers[] = " Promise PromiseLike Awaited Readonly Partial Required "
                                   "NonNullable Optional Annotated Final "
                                   "ClassVar Awaitable Box Rc Arc Task ";
    static const char lists[] =
        " Array ReadonlyArray Set ReadonlySet Iterable Iterator AsyncIterable AsyncIterator "
        "Generator AsyncGenerator List list set Sequence MutableSequence Collection FrozenSet "
        "frozenset Deque deque AbstractSet Vec ArrayList IEnumerable IList ";
    struct vcm_slice word = last_word(text_of(place, name));
    bool wraps = is_among(word, wrappers), many = is_among(word, lists);

    if (is_among(word, " Union "))
        return false;
    if (!wraps && !many)
        return put_type(out, place, name, depth + 1);
    if (ts_node_is_null(arguments))
        return false;
    TSNode argument = entry_of(place->table, arguments).action == NONE
                          ? ts_node_named_child(arguments, 0)
                          : arguments;
    size_t start = out->len;
    if (ts_node_is_null(argument) || !put_type(out, place, argument, depth + 1))
        return forget(out, start);
    vcm_buf_append_string(out, many ? "[]" : "");
    return true;
}

/* The only one of several types that is not nothing. */
static bool put_choice(struct vcm_buf *out, const struct vcm_receiver_place *place, TSNode node,
                       unsigned depth)
{
    size_t start = out->len;
    uint32_t count = ts_node_named_child_count(node);
    bool found = false;

    for (uint32_t i = 0; i < count && i < 8; i++) {
        TSNode child = ts_node_named_child(node, i);
        struct vcm_slice text = text_of(place, child);
        if (is_among(text, " None null undefined nil "))
            continue;
        if (found)
            return forget(out, start);
        found = put_type(out, place, child, depth + 1);
        if (!found)
            return forget(out, start);
    }
    return found;
}

/* A type, without the mark before it. */
static bool put_type(struct vcm_buf *out, const struct vcm_receiver_place *place, TSNode node,
                     unsigned depth)
{
    size_t start = out->len;

    if (ts_node_is_null(node) || depth > DEPTH_MAX)
        return false;
    struct entry entry = entry_of(place->table, node);
    struct vcm_slice text = text_of(place, node);
    switch (entry.action) {
    case NAME:
        return put_word(out, text) || forget(out, start);
    case PATH:
    case MEMBER:
        return put_path(out, text);
    case INNER:
        return put_type(out, place, first_child(node, entry.first), depth + 1);
    case LIST:
        if (!put_type(out, place, first_child(node, entry.first), depth + 1))
            return forget(out, start);
        vcm_buf_append_string(out, "[]");
        return true;
    case GENERIC:
    case INDEX: /* "Optional[Shop]" */
        return put_generic(out, place, ts_node_named_child(node, 0), ts_node_named_child(node, 1),
                           depth);
    case CHOICE:
        return put_choice(out, place, node, depth);
    case QUOTED:
        while (text.len > 1 && strchr("\"'", text.data[0]))
            text = vcm_slice_of(text.data + 1, text.len - 1);
        while (text.len > 0 && strchr("\"'", text.data[text.len - 1]))
            text.len--;
        return put_path(out, text);
    case DECLARE: /* the first of several that are returned */
        return put_type(out, place, child_in(node, entry.first), depth + 1);
    default:
        if (is_kind(node, "parameter_list") || is_kind(node, "type_parameter") ||
            is_kind(node, "type_arguments"))
            return put_type(out, place, ts_node_named_child(node, 0), depth + 1);
        return false;
    }
}

static bool put_typed(struct vcm_buf *out, const struct vcm_receiver_place *place, TSNode node)
{
    size_t start = out->len;

    vcm_buf_append_byte(out, ':');
    return put_type(out, place, node, 0) || forget(out, start);
}

/* A value. Recurses as deep as the bound. */
static bool put_value(struct vcm_buf *out, const struct vcm_receiver_place *place, TSNode node,
                      unsigned depth)
{
    size_t start = out->len;

    if (ts_node_is_null(node) || depth > DEPTH_MAX || out->len > VCM_RECEIVER_MAX)
        return false;
    struct entry entry = entry_of(place->table, node);
    TSNode object = first_child(node, entry.first);
    switch (entry.action) {
    case NAME:
        return put_word(out, text_of(place, node)) || forget(out, start);
    case MEMBER:
    case INVOKE:
        if (!ts_node_is_null(object) && put_value(out, place, object, depth + 1))
            vcm_buf_append_byte(out, '/');
        else if (!ts_node_is_null(object) || entry.action == MEMBER)
            return forget(out, start);
        if (!put_word(out, text_of(place, child_in(node, entry.second))))
            return forget(out, start);
        vcm_buf_append_string(out, entry.action == INVOKE ? "/()" : "");
        return true;
    case CALL:
        if (ts_node_is_null(object) || !put_value(out, place, object, depth + 1))
            return forget(out, start);
        if (out->len - start == 3 && memcmp(out->data + start, "new", 3) == 0) {
            forget(out, start);
            TSNode list = ts_node_named_child(node, 1); /* "new(Shop)" */
            return !ts_node_is_null(list) && put_typed(out, place, ts_node_named_child(list, 0));
        }
        vcm_buf_append_string(out, "/()");
        return true;
    case MAKE:
        return put_typed(out, place,
                         ts_node_is_null(object) ? child_in(node, entry.second) : object);
    case ASSERT:
        return put_typed(out, place,
                         entry.first > 0
                             ? object
                             : ts_node_named_child(node, ts_node_named_child_count(node) - 1));
    case INNER:
        return !ts_node_is_null(object) && put_value(out, place, object, depth + 1);
    case INDEX:
        if (ts_node_is_null(object))
            object = child_in(node, entry.second);
        if (!put_value(out, place, object, depth + 1))
            return forget(out, start);
        vcm_buf_append_string(out, "/[]");
        return true;
    case NOTHING:
        vcm_buf_append_string(out, VCM_RECEIVER_NOTHING);
        return depth == 0 || forget(out, start);
    default:
        return false;
    }
}

static bool same(TSNode a, TSNode b)
{
    return a.id == b.id && a.id;
}

/* What a member of a literal is in: the type that is written before it, or with the variable. */
static void put_literal(struct vcm_buf *out, const struct vcm_receiver_place *place)
{
    unsigned lists = 0;
    size_t start = out->len;

    for (unsigned level = 1; level < 3 * CLIMB_MAX; level++) {
        TSNode node = place->above(place->context, level);
        if (!node.id)
            return;
        struct entry entry = entry_of(place->table, node);
        const char *kind = ts_node_type(node);
        lists += strcmp(kind, "literal_value") == 0 || strcmp(kind, "initializer_list") == 0;
        if (entry.action == LITERAL || entry.action == PASS)
            continue;
        bool typed = entry.action == MAKE || entry.action == ASSERT || entry.action == DECLARE;
        if (!typed || lists == 0 || !put_typed(out, place, child_in(node, entry.first)))
            return;
        for (; lists > 1; lists--)
            vcm_buf_append_string(out, "/[]");
        if (out->len > VCM_RECEIVER_MAX)
            forget(out, start);
        return;
    }
}

void vcm_receiver_of_use(struct vcm_buf *out, const struct vcm_receiver_place *place)
{
    TSNode parent = place->above(place->context, 1);

    if (!parent.id)
        return;
    struct entry entry = entry_of(place->table, parent);
    if (entry.action == LITERAL) {
        put_literal(out, place);
        return;
    }
    if (entry.action != MEMBER && entry.action != INVOKE)
        return;
    TSNode object = child_in(parent, entry.first);
    if (ts_node_is_null(object) || same(object, place->name))
        return;
    size_t start = out->len;
    if (!put_value(out, place, object, 1))
        forget(out, start);
}

/* The place of the name in a list, "a, b := f()", and the value that it has. */
static void put_pair(struct vcm_buf *out, const struct vcm_receiver_place *place, TSNode node,
                     const struct entry *entry)
{
    bool range = is_kind(node, "range_clause");
    TSNode list = place->above(place->context, 1), value = child_in(node, entry->second);
    TSNode type = child_in(node, entry->first);
    uint32_t at = 0, count = 1;

    if (!ts_node_is_null(type)) {
        put_typed(out, place, type);
        return;
    }
    if (ts_node_is_null(value))
        return;
    if (is_kind(list, "expression_list")) {
        count = ts_node_named_child_count(list);
        while (at < count && at < 8 && !same(ts_node_named_child(list, at), place->name))
            at++;
    }
    bool many = is_kind(value, "expression_list");
    uint32_t values = many ? ts_node_named_child_count(value) : 1;
    size_t start = out->len;
    if (range) {
        if (at == 1 && put_value(out, place, value, 0))
            vcm_buf_append_string(out, "/[]");
        return;
    }
    if (values == count && at < count)
        value = many ? ts_node_named_child(value, at) : value;
    else if (values == 1 && at == 0)
        value = many ? ts_node_named_child(value, 0) : value;
    else
        return;
    if (!put_value(out, place, value, 0))
        forget(out, start);
}

/* Whether a loop names what is in a list, and not its keys. */
static bool loops_over(TSNode node)
{
    static const char field[] = "operator";
    TSNode mark = ts_node_child_by_field_name(node, field, sizeof field - 1);

    return ts_node_is_null(mark) || strcmp(ts_node_type(mark), "of") == 0;
}

static void put_declared(struct vcm_buf *out, const struct vcm_receiver_place *place, TSNode node,
                         const struct entry *entry)
{
    TSNode type = child_in(node, entry->first), value = child_in(node, entry->second);
    size_t start = out->len;

    if (!ts_node_is_null(type) && put_typed(out, place, type))
        return;
    if (entry->action == RETURN) {
        if (!ts_node_is_null(value))
            put_typed(out, place, value);
        return;
    }
    if (!ts_node_is_null(type) || ts_node_is_null(value))
        return;
    struct entry what = entry_of(place->table, value);
    if (what.action == RETURN) { /* "const f = (): Shop => ..." */
        type = child_in(value, what.first);
        if (!ts_node_is_null(type))
            put_typed(out, place, type);
        return;
    }
    if (!put_value(out, place, value, 0))
        forget(out, start);
}

void vcm_receiver_of_declaration(struct vcm_buf *out, const struct vcm_receiver_place *place)
{
    for (unsigned level = 1; level <= CLIMB_MAX; level++) {
        TSNode node = place->above(place->context, level);
        if (!node.id)
            return;
        struct entry entry = entry_of(place->table, node);
        size_t start = out->len;
        switch (entry.action) {
        case PASS:
            continue;
        case MEMBER: /* "self.x = ..." */
            if (same(child_in(node, entry.second), place->name))
                continue;
            return;
        case DECLARE:
        case RETURN:
            put_declared(out, place, node, &entry);
            return;
        case LIST: /* a parameter that takes several */
            if (put_typed(out, place, child_in(node, entry.first)))
                vcm_buf_append_string(out, "[]");
            return;
        case EACH:
            if (loops_over(node) && put_value(out, place, child_in(node, entry.second), 0))
                vcm_buf_append_string(out, "/[]");
            else
                forget(out, start);
            return;
        case PAIRS:
            put_pair(out, place, node, &entry);
            return;
        default:
            return;
        }
    }
}
