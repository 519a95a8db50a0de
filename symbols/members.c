#include "symbols/members.h"

#include <stdlib.h>

#include "base/limits.h"
#include "symbols/exports.h"
#include "symbols/qualifier.h"
#include "symbols/tree_paths.h"

#include "base/banned.h"

#define DEPTH_MAX 24u /* questions that are asked to answer one */
#define BASES_MAX 64u /* types that one inherits from */
#define TYPE_MAX  ((size_t)512)

/* What a part of a chain is. */
enum kind {
    UNKNOWN,
    MODULE,   /* the file, or in a language of directories all files beside it */
    TYPE,     /* the type itself, or another thing that has members by its name */
    OBJECT,   /* an object of the type */
    FUNCTION, /* what it returns is known when it is called */
};

struct value {
    enum kind kind;
    uint32_t file;                                 /* of a module */
    const struct vcm_model_definition *definition; /* of the others */
    unsigned lists;                                /* it is a list of these, of lists, ... */
    bool inherited;                                /* only what the type inherits is meant */
};

static const struct value unknown = {.kind = UNKNOWN};
static const struct vcm_naming_answer nowhere = {.definition = NULL};

static const struct vcm_language_descriptor *language_of(const struct vcm_naming *lookup,
                                                         size_t file)
{
    return vcm_language_get(lookup->index->files[file].language);
}

static struct value evaluate(struct vcm_naming *lookup, const struct vcm_naming_use *place,
                             struct vcm_slice chain);

/* Where a definition is, as the place of its own names. */
static bool place_of(struct vcm_naming_use *out, struct vcm_naming *lookup,
                     const struct vcm_model_definition *definition)
{
    *out = (struct vcm_naming_use){
        .file = definition->file,
        .symbols = vcm_model_file(lookup->model, definition->file),
        .from = definition->number + 1,
        .line = definition->symbol.line,
        .use = VCM_SYMBOL_READ,
    };
    return out->symbols != NULL;
}

static bool holds_members(enum vcm_symbol_kind kind)
{
    return (vcm_symbol_is_type(kind) && kind != VCM_SYMBOL_TYPE) || kind == VCM_SYMBOL_MODULE ||
           kind == VCM_SYMBOL_NAMESPACE;
}

/* The type that a name of a type stands for: "type A = B". */
static struct value object_of(struct vcm_naming *lookup,
                              const struct vcm_model_definition *definition)
{
    struct vcm_naming_use place;

    if (definition->symbol.kind != VCM_SYMBOL_TYPE || definition->symbol.type.len == 0)
        return (struct value){.kind = OBJECT, .definition = definition};
    if (lookup->depth > DEPTH_MAX || !place_of(&place, lookup, definition))
        return unknown;
    lookup->depth++;
    struct value value = evaluate(lookup, &place, definition->symbol.type);
    lookup->depth--;
    /* What it has itself is enough when the other is from outside. */
    return value.kind == OBJECT ? value : (struct value){.kind = OBJECT, .definition = definition};
}

/* "a.Shop" or "Shop[]", without the mark. */
static struct value of_type(struct vcm_naming *lookup, const struct vcm_naming_use *place,
                            struct vcm_slice type)
{
    struct vcm_naming_use use = *place;
    unsigned lists = 0;

    for (; type.len > 2 && memcmp(type.data + type.len - 2, "[]", 2) == 0; lists++)
        type.len -= 2;
    const char *dot = type.len > 0 ? memrchr(type.data, '.', type.len) : NULL;
    use.use = VCM_SYMBOL_READ;
    use.types_only = true;
    use.qualifier = vcm_slice_of(type.data, dot ? (size_t)(dot - type.data) : 0);
    use.name = dot ? vcm_slice_of(dot + 1, type.len - (size_t)(dot + 1 - type.data)) : type;
    struct vcm_naming_answer found = use.qualifier.len > 0 ? vcm_naming_find_qualified(lookup, &use)
                                                           : vcm_naming_find(lookup, &use);
    if (!found.definition)
        return unknown;
    struct value value = object_of(lookup, found.definition);
    value.lists += lists;
    return value;
}

/* What is known of a definition that a name means. */
static struct value of_definition(struct vcm_naming *lookup,
                                  const struct vcm_model_definition *definition)
{
    const enum vcm_symbol_kind kind = definition->symbol.kind;
    struct vcm_naming_use place;

    if (vcm_symbol_is_function(kind) || kind == VCM_SYMBOL_PROTOTYPE)
        return (struct value){.kind = FUNCTION, .definition = definition};
    if (vcm_symbol_is_type(kind) || holds_members(kind))
        return (struct value){.kind = TYPE, .definition = definition};
    if (definition->symbol.type.len == 0) /* "const api = {get() {}}" has members by its name */
        return (struct value){.kind = TYPE, .definition = definition};
    if (lookup->depth > DEPTH_MAX || !place_of(&place, lookup, definition))
        return unknown;
    lookup->depth++;
    struct value value = evaluate(lookup, &place, definition->symbol.type);
    lookup->depth--;
    return value;
}

/* The type, in the file, that has this path; NULL without one. */
static const struct vcm_model_definition *type_at(struct vcm_naming *lookup, size_t file,
                                                  struct vcm_slice path)
{
    struct vcm_slice outer = path, name = vcm_qualifier_pop(&outer);
    const struct vcm_model_names *names = vcm_model_find(lookup->model, name);
    const bool spread = language_of(lookup, file)->names.spread_types;
    const struct vcm_model_definition *near = NULL;

    for (size_t i = 0; names && i < names->count; i++) {
        const struct vcm_model_definition *one = &names->items[i];
        bool fits =
            vcm_slice_equal(one->symbol.container, outer) &&
            (vcm_symbol_is_type(one->symbol.kind) || vcm_symbol_is_function(one->symbol.kind));
        if (fits && one->file == file)
            return one;
        if (fits && spread && vcm_symbol_is_type(one->symbol.kind) &&
            vcm_naming_is_near(lookup, file, one->file))
            near = near ? near : one;
    }
    return near;
}

/* The type that a place is in. */
static const struct vcm_model_definition *type_around(struct vcm_naming *lookup,
                                                      const struct vcm_naming_use *place)
{
    if (place->from == 0)
        return NULL;
    const struct vcm_symbol *from = &place->symbols->definitions[place->from - 1];
    struct vcm_slice path = from->container;
    char text[TYPE_MAX];

    if (vcm_symbol_is_type(from->kind) || from->container.len == 0) {
        size_t len = path.len + (path.len > 0) + from->name.len;
        if (len > sizeof text)
            return NULL;
        if (path.len > 0)
            memcpy(text, path.data, path.len);
        if (path.len > 0)
            text[path.len] = '.';
        memcpy(text + len - from->name.len, from->name.data, from->name.len);
        path = vcm_slice_of(text, len);
    }
    for (; path.len > 0; vcm_qualifier_pop(&path)) {
        const struct vcm_model_definition *type = type_at(lookup, place->file, path);
        if (type && (vcm_symbol_is_type(type->symbol.kind) ||
                     language_of(lookup, place->file)->definitions.function_scopes))
            return type;
    }
    return NULL;
}

/* Whether what is in a file can be a member of a type in another: the type is spread over files. */
static bool may_spread(const struct vcm_naming *lookup, size_t type, size_t member)
{
    const struct vcm_language_names *names = &language_of(lookup, type)->names;

    return type == member ||
           ((names->spread_types || names->open_types) &&
            lookup->index->files[type].language == lookup->index->files[member].language &&
            (names->reach != VCM_LANGUAGES_REACH_DIRECTORY ||
             vcm_naming_is_near(lookup, type, member)));
}

/* A member of the type itself. *any when there is one, or several. */
static const struct vcm_model_definition *own_member(bool *any, struct vcm_naming *lookup,
                                                     const struct vcm_naming_use *use,
                                                     const struct vcm_model_definition *type)
{
    const struct vcm_model_names *names = vcm_model_find(lookup->model, use->name);
    bool *marked = names && names->count > 0 ? calloc(names->count, sizeof *marked) : NULL;
    const struct vcm_symbol *of = &type->symbol;
    const size_t before = of->container.len + (of->container.len > 0);

    *any = false;
    for (size_t i = 0; marked && i < names->count; i++) {
        const struct vcm_symbol *one = &names->items[i].symbol;
        marked[i] = one->container.len == before + of->name.len &&
                    memcmp(one->container.data + before, of->name.data, of->name.len) == 0 &&
                    (of->container.len == 0 ||
                     memcmp(one->container.data, of->container.data, of->container.len) == 0) &&
                    may_spread(lookup, type->file, names->items[i].file);
        *any = *any || marked[i];
    }
    /* Beside the type a member by the same name in another file is another type's. */
    bool here = false;
    for (size_t i = 0;
         marked && !language_of(lookup, type->file)->names.spread_types && i < names->count; i++)
        here = here || (marked[i] && names->items[i].file == type->file);
    for (size_t i = 0; marked && here && i < names->count; i++)
        marked[i] = marked[i] && names->items[i].file == type->file;
    const struct vcm_model_definition *one =
        marked ? vcm_naming_only_one(lookup, use, names, marked) : NULL;
    free(marked);
    return one;
}

/* Takes the first of a list of bases. */
static struct vcm_slice next_base(struct vcm_slice *list)
{
    const char *comma = list->len > 0 ? memchr(list->data, ',', list->len) : NULL;
    struct vcm_slice one =
        vcm_slice_of(list->data, comma ? (size_t)(comma - list->data) : list->len);
    size_t gone = one.len + (comma != NULL);

    *list = vcm_slice_of(list->data + gone, list->len - gone);
    return one;
}

/* The types that one inherits from, near ones first, each once. */
struct family {
    const struct vcm_model_definition *items[BASES_MAX];
    size_t count;
    bool whole; /* all bases are known */
};

static void add_type(struct family *family, const struct vcm_model_definition *type)
{
    for (size_t i = 0; i < family->count; i++)
        if (family->items[i]->file == type->file && family->items[i]->number == type->number)
            return;
    if (family->count < BASES_MAX)
        family->items[family->count++] = type;
}

static void add_bases(struct family *family, struct vcm_naming *lookup,
                      const struct vcm_model_definition *type)
{
    struct vcm_slice list = type->symbol.type;
    struct vcm_naming_use place;

    if (!vcm_symbol_is_type(type->symbol.kind) || list.len == 0 || lookup->depth > DEPTH_MAX ||
        !place_of(&place, lookup, type))
        return;
    lookup->depth++;
    while (list.len > 0) {
        struct vcm_slice base = next_base(&list);
        struct value value =
            base.len > 1 && base.data[0] == ':' ? evaluate(lookup, &place, base) : unknown;
        family->whole = family->whole && value.kind == OBJECT;
        if (value.kind == OBJECT && value.lists == 0)
            add_type(family, value.definition);
    }
    lookup->depth--;
}

/* A member of a type, or of one that it inherits from: the nearest. */
static struct vcm_naming_answer member_of(struct vcm_naming *lookup,
                                          const struct vcm_naming_use *use,
                                          const struct vcm_model_definition *type, bool inherited)
{
    struct family family = {.count = 0, .whole = true};
    struct vcm_naming_answer answer = {.settled = true};

    add_type(&family, type);
    for (size_t i = 0; i < family.count; i++) {
        bool any = false;
        const struct vcm_model_definition *one =
            i == 0 && inherited ? NULL : own_member(&any, lookup, use, family.items[i]);
        if (one || any) {
            answer.definition = one;
            answer.implements = family.items[i]->symbol.kind == VCM_SYMBOL_INTERFACE ||
                                family.items[i]->symbol.kind == VCM_SYMBOL_TRAIT;
            return answer;
        }
        add_bases(&family, lookup, family.items[i]);
    }
    return answer;
}

/* What a module has by the name, all files of its directory where that is the module. */
static struct vcm_naming_answer in_module(struct vcm_naming *lookup,
                                          const struct vcm_naming_use *use, uint32_t file)
{
    if (language_of(lookup, file)->imports.exports != VCM_LANGUAGES_EXPORTS_NONE)
        return vcm_exports_find_in(lookup, file, use->name, use);
    const struct vcm_naming_use there = {.file = file,
                                         .symbols = vcm_model_file(lookup->model, file),
                                         .use = use->use,
                                         .types_only = use->types_only,
                                         .name = use->name};
    return there.symbols ? vcm_naming_find(lookup, &there) : nowhere;
}

static struct vcm_naming_answer member(struct vcm_naming *lookup, const struct vcm_naming_use *use,
                                       const struct value *value)
{
    if (value->lists > 0)
        return nowhere;
    switch (value->kind) {
    case MODULE:
        return in_module(lookup, use, value->file);
    case TYPE:
    case OBJECT:
        return member_of(lookup, use, value->definition, value->inherited);
    default:
        return nowhere;
    }
}

/* What a function returns; an object, when a type is called. */
static struct value call(struct vcm_naming *lookup, const struct value *function)
{
    struct vcm_naming_use place;

    if (function->inherited) /* "super()" */
        return *function;
    if (function->lists > 0 || !function->definition)
        return unknown;
    if (function->kind == TYPE && vcm_symbol_is_type(function->definition->symbol.kind))
        return object_of(lookup, function->definition);
    if (function->kind != FUNCTION || function->definition->symbol.type.len == 0 ||
        lookup->depth > DEPTH_MAX || !place_of(&place, lookup, function->definition))
        return unknown;
    lookup->depth++;
    struct value value = evaluate(lookup, &place, function->definition->symbol.type);
    lookup->depth--;
    return value.kind == OBJECT ? value : unknown;
}

static struct value root(struct vcm_naming *lookup, const struct vcm_naming_use *place,
                         struct vcm_slice word)
{
    const struct vcm_language_descriptor *language = language_of(lookup, place->file);
    struct vcm_naming_use use = *place;
    uint32_t files[VCM_IMPORTS_MAX];

    if (word.data[0] == ':')
        return of_type(lookup, place, vcm_slice_of(word.data + 1, word.len - 1));
    if (word.data[0] == '@') {
        struct vcm_slice target = vcm_slice_of(word.data + 1, word.len - 1);
        size_t count = vcm_imports_find(files, lookup->imports, place->file, target);
        return count > 0 ? (struct value){.kind = MODULE, .file = files[0]} : unknown;
    }
    enum vcm_qualifier_self self = vcm_qualifier_self(language, word, vcm_slice_of("", 0));
    if (self != VCM_QUALIFIER_OTHER) {
        const struct vcm_model_definition *type = type_around(lookup, place);
        const struct value object = {
            .kind = OBJECT, .definition = type, .inherited = self == VCM_QUALIFIER_SUPER};
        return type ? object : unknown;
    }
    use.name = word;
    use.qualifier = vcm_slice_of("", 0);
    use.use = VCM_SYMBOL_READ;
    use.types_only = false;
    struct vcm_naming_answer found = vcm_naming_find(lookup, &use);
    if (found.definition)
        return of_definition(lookup, found.definition);
    if (found.module > 0)
        return (struct value){.kind = MODULE, .file = found.module - 1};
    for (uint32_t i = 0; language->imports.last_word && i < place->symbols->import_count; i++) {
        const struct vcm_symbol_import *import = &place->symbols->imports[i];
        struct vcm_slice rest = import->target;
        struct vcm_slice name = import->alias.len > 0 ? import->alias : vcm_qualifier_pop(&rest);
        uint32_t module = vcm_slice_equal(name, word)
                              ? vcm_naming_find_module(lookup, place->file, import->target)
                              : 0;
        if (module > 0)
            return (struct value){.kind = MODULE, .file = module - 1};
    }
    return unknown;
}

/* The next part of a chain. */
static struct value step(struct vcm_naming *lookup, const struct vcm_naming_use *place,
                         const struct value *value, struct vcm_slice part)
{
    struct vcm_naming_use use = *place;
    struct value next = *value;

    if (vcm_slice_equal(part, vcm_slice_of("()", 2)))
        return call(lookup, value);
    if (vcm_slice_equal(part, vcm_slice_of("[]", 2))) {
        /* In C what is pointed to and what is in an array are written in one way. */
        if (value->lists == 0 && !language_of(lookup, place->file)->names.headers)
            return unknown;
        next.lists -= value->lists > 0;
        return next;
    }
    use.name = part;
    use.use = VCM_SYMBOL_READ;
    use.types_only = false;
    struct vcm_naming_answer found = member(lookup, &use, value);
    if (found.definition)
        return of_definition(lookup, found.definition);
    return found.module > 0 ? (struct value){.kind = MODULE, .file = found.module - 1} : unknown;
}

static struct value evaluate(struct vcm_naming *lookup, const struct vcm_naming_use *place,
                             struct vcm_slice chain)
{
    struct value value = unknown;
    bool first = true;

    if (lookup->depth > DEPTH_MAX)
        return unknown;
    while (chain.len > 0 && (first || value.kind != UNKNOWN)) {
        /* A module may have slashes in its name, and stands alone. */
        const char *slash = chain.data[0] == '@' ? NULL : memchr(chain.data, '/', chain.len);
        size_t len = slash ? (size_t)(slash - chain.data) : chain.len;
        struct vcm_slice part = vcm_slice_of(chain.data, len);
        if (part.len == 0)
            return unknown;
        value = first ? root(lookup, place, part) : step(lookup, place, &value, part);
        first = false;
        chain = vcm_slice_of(chain.data + len + (slash != NULL), chain.len - len - (slash != NULL));
    }
    return value;
}

struct vcm_naming_answer vcm_members_find(struct vcm_naming *lookup,
                                          const struct vcm_naming_use *use,
                                          struct vcm_slice receiver)
{
    if (receiver.len == 0)
        return nowhere;
    if (receiver.data[0] == '@')
        return vcm_exports_find(lookup, use->file,
                                vcm_slice_of(receiver.data + 1, receiver.len - 1), use->name, use);
    lookup->depth = 0;
    struct value value = evaluate(lookup, use, receiver);
    return member(lookup, use, &value);
}

struct vcm_naming_answer vcm_members_find_overridden(struct vcm_naming *lookup,
                                                     const struct vcm_naming_use *use)
{
    const struct vcm_symbol *method = &use->symbols->definitions[use->from - 1];

    lookup->depth = 0;
    if (method->container.len == 0)
        return nowhere;
    const struct vcm_model_definition *type = type_at(lookup, use->file, method->container);
    if (!type || !vcm_symbol_is_type(type->symbol.kind))
        return nowhere;
    return member_of(lookup, use, type, true);
}
