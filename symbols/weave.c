#include "symbols/weave.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/limits.h"
#include "symbols/describe.h"
#include "symbols/dialect.h"
#include "symbols/locals.h"
#include "symbols/name_set.h"
#include "symbols/qualifier.h"
#include "symbols/visibility.h"
#include "symbols/weave_finds.h"
#include "symbols/weave_import.h"
#include "symbols/weave_text.h"

#include "base/banned.h"

#define CONST       vcm_slice_of("const", 5)
#define AGAIN_REACH 1024u /* definitions between one and the next by the same name */
#define HIDE_REACH  256u  /* definitions between one and the word that hides it */
#define LOCAL_REACH 512u  /* blocks between a local name and its use */

static struct vcm_slice slice(const struct vcm_weave *weave, uint32_t start, uint32_t end)
{
    return vcm_slice_of(weave->text.data + start, end - start);
}

/* Of what the file exports in this way. */
static bool list_exported(struct vcm_name_set *names, const struct vcm_weave *weave,
                          enum vcm_tree_query_role role)
{
    const struct vcm_finds *exported = &weave->exported;

    names->items = calloc(exported->count + 1, sizeof *names->items);
    if (!names->items)
        return false;
    for (size_t i = 0; i < exported->count; i++)
        if (exported->items[i].role == role)
            names->items[names->count++] =
                slice(weave, exported->items[i].name, exported->items[i].name_end);
    vcm_name_set_sort(names);
    return true;
}

/* What a file gives to others. */
struct exports {
    struct vcm_name_set names; /* at the top */
    struct vcm_name_set whole; /* of types with all that they hold */
    struct vcm_name_set parts; /* of what types hold */
};

static bool list_exports(struct exports *exports, const struct vcm_weave *weave)
{
    return list_exported(&exports->names, weave, VCM_ROLE_EXPORT) &&
           list_exported(&exports->whole, weave, VCM_ROLE_EXPORT_ALL) &&
           list_exported(&exports->parts, weave, VCM_ROLE_EXPORT_PART);
}

static void release_exports(struct exports *exports)
{
    free(exports->names.items);
    free(exports->whole.items);
    free(exports->parts.items);
}

/* The blocks around a place, innermost last. */
struct level {
    const struct vcm_find *block;
    const struct vcm_find *last; /* of several definitions in one declaration the one at hand */
    uint32_t index; /* 1 + of the definition; 0 of a scope, or of one that was left out */
    enum vcm_symbol_kind kind;
    size_t path;                           /* length of the container's name up to here */
    enum vcm_symbol_visibility visibility; /* of what follows, once a word said so */
    bool has_visibility;
    /* Of this block and those around it, which may be many: nothing walks all of them. */
    size_t container, definition, function; /* 1 + the innermost's level, the outermost's; or 0 */
    bool is_in_function, has_own_names, has_modules_only;
};

struct nest {
    struct vcm_weave *weave;
    const struct exports *exports;
    struct level *levels;
    size_t depth, capacity;
    struct vcm_buf path;
};

static void leave(struct nest *nest)
{
    nest->depth--;
    vcm_buf_truncate(&nest->path, nest->depth > 0 ? nest->levels[nest->depth - 1].path : 0);
}

static void leave_until(struct nest *nest, uint32_t start)
{
    while (nest->depth > 0 && nest->levels[nest->depth - 1].block->end <= start)
        leave(nest);
}

/* Leaves what ended before the block. "typedef struct a {...} b" does not hold its struct. */
static void leave_before(struct nest *nest, const struct vcm_find *block)
{
    leave_until(nest, block->start);
    bool tagged = block->role == VCM_ROLE_DEFINE &&
                  vcm_symbol_is_type((enum vcm_symbol_kind)block->detail) &&
                  block->detail != VCM_SYMBOL_TYPE;
    const struct level *top = nest->depth > 0 ? &nest->levels[nest->depth - 1] : NULL;
    if (tagged && nest->weave->language->definitions.tags && top && top->kind == VCM_SYMBOL_TYPE &&
        top->block->role == VCM_ROLE_DEFINE)
        leave(nest);
}

static bool is_value(unsigned kind)
{
    return kind == VCM_SYMBOL_VARIABLE || kind == VCM_SYMBOL_CONSTANT;
}

/* "int a, b;": the one is not in the other. */
static bool is_sibling(const struct nest *nest, const struct vcm_find *block)
{
    const struct level *top = nest->depth > 0 ? &nest->levels[nest->depth - 1] : NULL;

    return top && block->role == VCM_ROLE_DEFINE && top->block->role == VCM_ROLE_DEFINE &&
           vcm_weave_finds_have_same_span(top->block, block);
}

/* What the innermost level is together with those around it. */
static void note_around(struct nest *nest)
{
    static const struct level top = {.has_modules_only = true};
    struct level *level = &nest->levels[nest->depth - 1];
    const struct level *outer = nest->depth > 1 ? level - 1 : &top;
    const enum vcm_symbol_kind kind = level->kind;
    bool region = level->block->role == VCM_ROLE_REGION;
    bool function = level->index > 0 && vcm_symbol_is_function(kind);
    /* Values that are defined in a function, or in what another value is made of, are seen from
     * there alone. */
    bool own = level->block->role == VCM_ROLE_DEFINE &&
               (vcm_symbol_is_function(kind) || is_value(kind) || kind == VCM_SYMBOL_FIELD);
    bool module = kind == VCM_SYMBOL_MODULE || kind == VCM_SYMBOL_NAMESPACE;

    level->container = region ? outer->container : nest->depth;
    level->definition = level->index > 0 ? nest->depth : outer->definition;
    level->function = outer->function == 0 && function ? nest->depth : outer->function;
    level->is_in_function = outer->is_in_function || region || function;
    level->has_own_names =
        outer->has_own_names || own || (region && !nest->weave->language->definitions.mixins);
    level->has_modules_only = outer->has_modules_only && (module || region);
}

static bool enter(struct nest *nest, const struct vcm_find *block, uint32_t index,
                  enum vcm_symbol_kind kind)
{
    if (vcm_array_reserve(&nest->levels, &nest->capacity, nest->depth + 1, VCM_LIMIT_LIST_ENTRIES,
                          NULL) != VCM_OK)
        return false;
    if (nest->depth < VCM_LIMIT_SYMBOL_DEPTH && block->role != VCM_ROLE_REGION) {
        if (nest->path.len > 0)
            vcm_buf_append_byte(&nest->path, '.');
        if (block->holder_end > 0) {
            vcm_dialect_put_container(&nest->path, nest->weave->language,
                                      slice(nest->weave, block->holder, block->holder_end));
            vcm_buf_append_byte(&nest->path, '.');
        }
        vcm_buf_append_slice(&nest->path, slice(nest->weave, block->name, block->name_end));
    }
    struct level *level = &nest->levels[nest->depth++];
    *level = (struct level){
        .block = block, .last = block, .index = index, .kind = kind, .path = nest->path.len};
    level->has_visibility = nest->weave->language->definitions.classes_hide &&
                            kind == VCM_SYMBOL_CLASS && block->role == VCM_ROLE_DEFINE;
    level->visibility = level->has_visibility ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
    note_around(nest);
    return true;
}

static void change_access(struct nest *nest, const struct vcm_find *word)
{
    static const char *const names[] = {"public", "protected", "private"};
    struct vcm_slice text = slice(nest->weave, word->name, word->name_end);

    for (unsigned i = 0; nest->depth > 0 && i < 3; i++)
        if (vcm_slice_equal(text, vcm_slice_of_string(names[i]))) {
            nest->levels[nest->depth - 1].visibility = (enum vcm_symbol_visibility)i;
            nest->levels[nest->depth - 1].has_visibility = true;
        }
    /* A structure of OCaml behind its signature; what R6 makes of functions. */
    bool closed = vcm_slice_equal(text, vcm_slice_of_string("struct"));
    if (nest->depth > 0 && (closed || vcm_slice_equal(text, vcm_slice_of_string("active")))) {
        nest->levels[nest->depth - 1].visibility = closed ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
        nest->levels[nest->depth - 1].has_visibility = true;
    }
}

/* Whether a container, by its name, is one of those around. */
static bool is_around(const struct nest *nest, struct vcm_slice container)
{
    const struct vcm_slice path = vcm_buf_slice(&nest->path);

    return container.len <= path.len && memcmp(path.data, container.data, container.len) == 0 &&
           (container.len == 0 || container.len == path.len || path.data[container.len] == '.');
}

/* "private :total", behind the definition; "private def total", with it. */
static void hide(struct nest *nest, const struct vcm_find *word)
{
    struct vcm_symbols *out = nest->weave->out;
    const struct vcm_slice name = slice(nest->weave, word->name, word->name_end);

    for (uint32_t i = out->definition_count, looked = 0; i > 0 && looked < HIDE_REACH;
         i--, looked++) {
        struct vcm_symbol *symbol = &out->definitions[i - 1];
        if (vcm_slice_equal(symbol->name, name) && is_around(nest, symbol->container)) {
            symbol->visibility = (enum vcm_symbol_visibility)word->detail;
            return;
        }
    }
}

/* The container around. */
static const struct level *innermost(const struct nest *nest)
{
    size_t level = nest->depth > 0 ? nest->levels[nest->depth - 1].container : 0;

    return level > 0 ? &nest->levels[level - 1] : NULL;
}

static enum vcm_symbol_kind settle_kind(const struct nest *nest, const struct vcm_find *found)
{
    enum vcm_symbol_kind kind = (enum vcm_symbol_kind)found->detail;
    const struct level *around = innermost(nest);
    bool in_type =
        around &&
        (around->block->role == VCM_ROLE_SCOPE || vcm_symbol_is_type(around->kind) ||
         around->kind == VCM_SYMBOL_ENUMERATOR ||
         (around->kind == VCM_SYMBOL_MODULE && nest->weave->language->definitions.mixins));

    const struct vcm_weave *weave = nest->weave;
    struct vcm_slice type = slice(weave, found->holder, found->holder_end);
    if (type.len == 0 && around && vcm_symbol_is_type(around->kind))
        type = slice(weave, around->block->name, around->block->name_end);
    if (vcm_dialect_is_constructor(weave->language, found,
                                   slice(weave, found->name, found->name_end), type))
        return VCM_SYMBOL_CONSTRUCTOR;
    if (kind == VCM_SYMBOL_VARIABLE &&
        vcm_slice_equal(vcm_weave_text_opening_word(nest->weave, found), CONST))
        return VCM_SYMBOL_CONSTANT;
    /* What SQL names before a function is its schema, or the table of a trigger. */
    bool held = found->holder_end > 0 && !nest->weave->language->definitions.schemas;
    return kind == VCM_SYMBOL_FUNCTION && (in_type || held) ? VCM_SYMBOL_METHOD : kind;
}

/* A member that the constructor makes is one of the type: "constructor(private name: string)". */
static struct vcm_slice path_to(const struct nest *nest, enum vcm_symbol_kind kind)
{
    bool makes = nest->weave->language->definitions.promoted_parameters &&
                 (kind == VCM_SYMBOL_FIELD || kind == VCM_SYMBOL_METHOD);
    const struct level *around = innermost(nest);

    if (!makes || !around || around->kind != VCM_SYMBOL_CONSTRUCTOR)
        return vcm_buf_slice(&nest->path);
    return vcm_slice_of(vcm_buf_slice(&nest->path).data,
                        around > nest->levels ? around[-1].path : 0);
}

/* Whether no other file can name it, whatever the file exports. */
static bool is_in_function(const struct nest *nest, const struct vcm_symbol *symbol)
{
    bool is_member = symbol->kind == VCM_SYMBOL_METHOD || symbol->kind == VCM_SYMBOL_FIELD ||
                     symbol->kind == VCM_SYMBOL_CONSTRUCTOR;

    return !is_member && nest->depth > 0 && nest->levels[nest->depth - 1].is_in_function;
}

/* Whether only modules are around, whose names the file may export. */
static bool is_at_top(const struct nest *nest, const struct vcm_symbol *symbol)
{
    return vcm_slice_equal(symbol->container, vcm_buf_slice(&nest->path)) &&
           (nest->depth == 0 || nest->levels[nest->depth - 1].has_modules_only);
}

/* Haskell's modules may export themselves: all that they define. */
static bool is_closed(const struct nest *nest)
{
    const struct vcm_symbols *out = nest->weave->out;
    bool whole = out->definition_count > 0 && out->definitions[0].kind == VCM_SYMBOL_MODULE &&
                 vcm_name_set_have(&nest->exports->names, out->definitions[0].name);

    return nest->weave->is_closed && !whole;
}

/* Haskell says which parts of a type, or of a class, are exported. A constructor may have the name
 * of its type; all else that a type holds can be exported by its name alone. */
static bool is_exported_part(const struct nest *nest, const struct vcm_symbol *symbol)
{
    const char *dot = memchr(symbol->container.data, '.', symbol->container.len);
    struct vcm_slice type = symbol->container;

    type.len = dot ? (size_t)(dot - type.data) : type.len;
    return vcm_name_set_have(&nest->exports->whole, type) ||
           vcm_name_set_have(&nest->exports->parts, symbol->name) ||
           (symbol->kind != VCM_SYMBOL_ENUMERATOR &&
            vcm_name_set_have(&nest->exports->names, symbol->name));
}

/* Whether the signature of the module has it: of OCaml, whose signatures come first. */
static bool is_promised(const struct nest *nest, const struct vcm_symbol *symbol)
{
    const struct vcm_symbols *out = nest->weave->out;
    bool promised = false;

    if (!nest->weave->language->definitions.signatures)
        return false;
    for (uint32_t i = out->definition_count, looked = 0; i > 0 && looked < HIDE_REACH && !promised;
         i--, looked++)
        promised = vcm_slice_equal(out->definitions[i - 1].name, symbol->name) &&
                   vcm_slice_equal(out->definitions[i - 1].container, symbol->container);
    return promised;
}

static enum vcm_symbol_visibility settle_visibility(const struct nest *nest,
                                                    const struct vcm_symbol *symbol,
                                                    const struct vcm_find *found)
{
    const struct vcm_weave *weave = nest->weave;
    const struct level *around = innermost(nest);
    bool in_type = around && vcm_symbol_is_type(around->kind);
    /* "record Point(int x)": components are part of what the type shows. */
    bool has_records = weave->language->definitions.record_heads;
    bool in_head = has_records && in_type && symbol->kind == VCM_SYMBOL_FIELD &&
                   found->end < around->block->body;
    bool in_function = around && vcm_symbol_is_function(around->kind);
    bool in_trait =
        around && around->kind == VCM_SYMBOL_TRAIT && !weave->language->definitions.trait_words;
    const struct vcm_visibility_place place = {
        in_type || in_function,
        in_head || in_trait ||
            (around &&
             (around->kind == VCM_SYMBOL_INTERFACE ||
              (around->kind == VCM_SYMBOL_ENUMERATOR && symbol->kind == VCM_SYMBOL_FIELD) ||
              around->block->is_promised)),
    };
    enum vcm_symbol_visibility visibility = vcm_visibility_of(weave->language, symbol, &place);

    if (weave->language->definitions.exported_parts && is_closed(nest) && around &&
        around->block->role == VCM_ROLE_DEFINE)
        return is_exported_part(nest, symbol) ? VCM_SYMBOL_PUBLIC : VCM_SYMBOL_PRIVATE;
    if (symbol->kind == VCM_SYMBOL_ENUMERATOR)
        return VCM_SYMBOL_PUBLIC;
    if (weave->language->definitions.private_enum_makers &&
        symbol->kind == VCM_SYMBOL_CONSTRUCTOR && around && around->kind == VCM_SYMBOL_ENUM)
        return VCM_SYMBOL_PRIVATE;
    if (weave->language->definitions.function_scopes && is_in_function(nest, symbol))
        return VCM_SYMBOL_PRIVATE;
    /* A method at the top is one of an object without a name, or of an instance. */
    bool nameless =
        weave->language->definitions.nameless_methods && symbol->kind == VCM_SYMBOL_METHOD;
    if (is_closed(nest) && symbol->kind != VCM_SYMBOL_MODULE && !nameless &&
        is_at_top(nest, symbol))
        return vcm_name_set_have(&nest->exports->names, symbol->name) ? VCM_SYMBOL_PUBLIC
                                                                      : VCM_SYMBOL_PRIVATE;
    const struct level *said = nest->depth > 0 ? &nest->levels[nest->depth - 1] : NULL;
    return said && said->has_visibility && visibility == VCM_SYMBOL_PUBLIC &&
                   vcm_visibility_follows(weave->language, symbol) && !is_promised(nest, symbol)
               ? said->visibility
               : visibility;
}

static void fill_symbol(struct nest *nest, struct vcm_symbol *symbol, const struct vcm_find *found)
{
    struct vcm_weave *weave = nest->weave;
    struct vcm_buf line = VCM_BUF_INIT(64 * VCM_KIB);
    const struct vcm_describe_place place = {weave->text, found->start, found->end,
                                             vcm_weave_text_head_end(weave, found),
                                             found->name_end};
    const struct level *around = innermost(nest);

    symbol->name = vcm_weave_text_keep(weave, slice(weave, found->name, found->name_end));
    symbol->kind = settle_kind(nest, found);
    symbol->line = found->line;
    symbol->end_line = found->end_line;
    /* Macros of C know no containers. */
    bool is_free = symbol->kind == VCM_SYMBOL_MACRO && weave->language->definitions.tags;
    if (found->holder_end > 0 && nest->path.len > 0) {
        vcm_buf_append_slice(&line, vcm_buf_slice(&nest->path));
        vcm_buf_append_byte(&line, '.');
    }
    if (found->holder_end > 0)
        vcm_dialect_put_container(&line, weave->language,
                                  slice(weave, found->holder, found->holder_end));
    else if (!is_free)
        vcm_buf_append_slice(&line, path_to(nest, symbol->kind));
    symbol->container = vcm_weave_text_keep_line(weave, &line);
    vcm_buf_append_slice(&line, vcm_weave_text_opening_word(weave, found));
    if (line.len > 0)
        vcm_buf_append_byte(&line, ' ');
    vcm_describe_signature(&line, weave->language, &place);
    symbol->signature = vcm_weave_text_keep_line(weave, &line);
    /* A comment above a line is on what the line begins with. */
    if (!around || around->block->line != found->line)
        vcm_describe_comment(&line, weave->language, &place);
    if (line.len == 0 &&
        (symbol->kind == VCM_SYMBOL_FIELD || symbol->kind == VCM_SYMBOL_ENUMERATOR))
        vcm_describe_remark(&line, weave->language, &place);
    symbol->documentation = vcm_weave_text_keep_line(weave, &line);
    symbol->visibility = settle_visibility(nest, symbol, found);
    vcm_buf_release(&line);
}

/* Puts definitions in order, with their containers; what is local to a function becomes a local
 * name. Then walks uses beside them. */
struct walk {
    struct nest nest;
    struct exports exports;
    struct vcm_name_set makers, holders;
    uint32_t *index_of; /* for each block 1 + the index of its definition, or 0 */
    bool *open;         /* for each block whether it is entered */
    struct vcm_locals locals;
};

static bool makes_by_call(const struct vcm_weave *weave)
{
    return weave->language->names.call == VCM_LANGUAGES_CALL_MAKES;
}

/* An object of Kotlin or Scala is the only one of its type: its name, called, makes none. */
static bool is_single(const struct vcm_symbol *symbol)
{
    const struct vcm_slice head = symbol->signature;
    const char *word = memmem(head.data, head.len, "object ", 7);
    size_t at = word ? (size_t)(word + 7 - head.data) : head.len;

    return head.len - at >= symbol->name.len &&
           vcm_slice_equal(symbol->name, vcm_slice_of(head.data + at, symbol->name.len));
}

/* Of types whose name, called, makes one, in C++ bases from elsewhere too; and of all that may
 * stand before such a name. */
static bool list_makers(struct walk *walk, const struct vcm_weave *weave)
{
    const struct vcm_symbols *out = weave->out;
    bool makes = makes_by_call(weave);
    bool bases = weave->language->definitions.base_initialisers;
    const struct vcm_finds *uses = &weave->uses;
    size_t room = (makes ? out->definition_count : 0) + (size_t)1;

    walk->makers.items = calloc(room + (bases ? uses->count : 0), sizeof *walk->makers.items);
    walk->holders.items = calloc(room, sizeof *walk->holders.items);
    if (!walk->makers.items || !walk->holders.items)
        return false;
    for (uint32_t i = 0; makes && i < out->definition_count; i++) {
        const struct vcm_symbol *symbol = &out->definitions[i];
        bool makes_one = symbol->kind == VCM_SYMBOL_CLASS || symbol->kind == VCM_SYMBOL_STRUCT;
        if (makes_one && !is_single(symbol))
            walk->makers.items[walk->makers.count++] = symbol->name;
        if (vcm_symbol_is_type(symbol->kind))
            walk->holders.items[walk->holders.count++] = symbol->name;
    }
    for (size_t i = 0; bases && i < uses->count; i++)
        if (uses->items[i].role == VCM_ROLE_REFER &&
            uses->items[i].detail == VCM_SYMBOL_IMPLEMENTATION)
            walk->makers.items[walk->makers.count++] =
                slice(weave, uses->items[i].name, uses->items[i].name_end);
    vcm_name_set_sort(&walk->makers);
    vcm_name_set_sort(&walk->holders);
    return true;
}

/* Haskell and Elixir write a function as several clauses, one behind the other. */
static bool goes_on(const struct nest *nest, const struct vcm_find *found)
{
    const struct vcm_weave *weave = nest->weave;
    const struct vcm_symbol *last = weave->out->definition_count > 0
                                        ? &weave->out->definitions[weave->out->definition_count - 1]
                                        : NULL;

    return last && weave->language->definitions.clauses && vcm_symbol_is_function(last->kind) &&
           last->kind == settle_kind(nest, found) &&
           vcm_slice_equal(last->name, slice(weave, found->name, found->name_end)) &&
           vcm_slice_equal(last->container, vcm_buf_slice(&nest->path));
}

/* "count = 0" and "count = 1": where variables are not declared, the second one is written. */
static bool is_defined_again(const struct nest *nest, const struct vcm_find *found)
{
    const struct vcm_weave *weave = nest->weave;
    const struct vcm_symbols *out = weave->out;
    bool variable = found->role == VCM_ROLE_DEFINE && found->detail == VCM_SYMBOL_VARIABLE;
    bool field = found->role == VCM_ROLE_DEFINE && found->detail == VCM_SYMBOL_FIELD;
    bool shell = weave->language->definitions.first_setting;
    bool assigned = (shell && variable && found->start == found->name && nest->depth == 0) ||
                    (weave->language->definitions.first_assignment && (variable || field));
    const struct vcm_slice name = slice(weave, found->name, found->name_end);

    for (uint32_t i = out->definition_count, looked = 0; assigned && i > 0 && looked < AGAIN_REACH;
         i--, looked++)
        if (vcm_slice_equal(out->definitions[i - 1].name, name) &&
            vcm_slice_equal(out->definitions[i - 1].container, vcm_buf_slice(&nest->path)))
            return true;
    return false;
}

static void define(struct walk *walk, size_t block)
{
    struct nest *nest = &walk->nest;
    struct vcm_weave *weave = nest->weave;
    const struct vcm_find *found = &weave->blocks.items[block];
    enum vcm_symbol_kind kind = VCM_SYMBOL_TYPE;
    uint32_t index = 0;

    leave_before(nest, found);
    if (found->role == VCM_ROLE_ACCESS || found->role == VCM_ROLE_HIDE) {
        (found->role == VCM_ROLE_ACCESS ? change_access : hide)(nest, found);
        return;
    }
    if (found->role == VCM_ROLE_DEFINE &&
        vcm_dialect_is_keyword(weave->language, slice(weave, found->name, found->name_end),
                               VCM_SYMBOL_WRITE))
        return;
    if (is_defined_again(nest, found)) {
        weave->blocks.items[block].role = VCM_ROLE_NONE;
        return;
    }
    struct level first = {0};
    if (is_sibling(nest, found)) {
        first = nest->levels[nest->depth - 1];
        leave(nest);
    }
    bool own = nest->depth > 0 && nest->levels[nest->depth - 1].has_own_names;
    if (found->role == VCM_ROLE_DEFINE && is_value(found->detail) && own) {
        struct vcm_find local = *found;
        local.role = VCM_ROLE_LOCAL;
        local.start = local.end = local.name;
        vcm_weave_finds_add(weave, &local);
        return;
    }
    if (found->role == VCM_ROLE_DEFINE && goes_on(nest, found)) {
        kind = settle_kind(nest, found);
        index = weave->out->definition_count;
        weave->out->definitions[index - 1].end_line = found->end_line;
    } else if (found->role == VCM_ROLE_DEFINE) {
        if (weave->out->definition_count >= VCM_LIMIT_SYMBOLS_COUNT) {
            weave->too_many = true;
            return;
        }
        kind = settle_kind(nest, found);
        fill_symbol(nest, &weave->out->definitions[weave->out->definition_count], found);
        index = ++weave->out->definition_count;
    }
    walk->index_of[block] = index;
    walk->open[block] = !first.block;
    bool entered = first.block ? enter(nest, first.block, first.index, first.kind)
                               : enter(nest, found, index, kind);
    weave->no_memory = weave->no_memory || !entered;
}

static void define_all(struct walk *walk)
{
    struct vcm_weave *weave = walk->nest.weave;

    weave->out->definitions = vcm_arena_alloc(
        &weave->out->arena, (weave->blocks.count + 1) * sizeof *weave->out->definitions);
    weave->no_memory = weave->no_memory || !weave->out->definitions;
    for (size_t i = 0; i < weave->blocks.count && !weave->no_memory; i++)
        define(walk, i);
    walk->nest.depth = 0;
    vcm_buf_clear(&walk->nest.path);
}

/* Whether a name is a parameter or variable of what is around; one of a type a type parameter. */
static bool is_local(const struct walk *walk, struct vcm_slice name, bool type)
{
    const struct nest *nest = &walk->nest;

    const struct level *around = innermost(nest);
    if (vcm_dialect_is_implied(nest->weave->language, name,
                               around && around->kind == VCM_SYMBOL_FIELD))
        return true;
    struct vcm_locals_range range = vcm_locals_find(&walk->locals, name);
    size_t last = nest->depth > LOCAL_REACH ? nest->depth - LOCAL_REACH : 0;
    for (size_t i = range.count > 0 ? nest->depth : last; i > last; i--) {
        size_t block = (size_t)(nest->levels[i - 1].block - nest->weave->blocks.items);
        enum vcm_locals_answer answer = vcm_locals_ask(&range, block, type);
        if (answer != VCM_LOCALS_NO)
            return answer == VCM_LOCALS_YES;
    }
    return false;
}

/* The outermost function around, whose head names the object in Go. */
static const struct vcm_find *function_around(const struct nest *nest)
{
    size_t level = nest->depth > 0 ? nest->levels[nest->depth - 1].function : 0;

    return level > 0 ? nest->levels[level - 1].block : NULL;
}

/* What the use is qualified by. A local name is no module or type, but it may be the object. */
static struct vcm_slice qualifier_of(bool *qualified, const struct walk *walk,
                                     const struct vcm_find *use)
{
    const struct vcm_weave *weave = walk->nest.weave;
    const struct vcm_find *function = function_around(&walk->nest);
    struct vcm_slice words = vcm_slice_of("", 0);

    *qualified =
        use->detail != VCM_SYMBOL_OVERRIDE &&
        (vcm_qualifier_find(&words, weave->language, weave->text, use->name) || use->is_field);
    if (words.len == 0)
        return words;
    struct vcm_slice rest = words, first = words;
    while (rest.len > 0)
        first = vcm_qualifier_pop(&rest);
    struct vcm_slice head =
        function ? slice(weave, function->start, function->end) : vcm_slice_of("", 0);
    return vcm_qualifier_self(weave->language, words, head) == VCM_QUALIFIER_OTHER &&
                   is_local(walk, first, false)
               ? vcm_slice_of("", 0)
               : words;
}

/* Most follow one with the same. */
static struct vcm_slice keep_qualifier(struct vcm_weave *weave, struct vcm_slice qualifier)
{
    const struct vcm_symbols *out = weave->out;
    struct vcm_slice last = out->reference_count > 0
                                ? out->references[out->reference_count - 1].qualifier
                                : vcm_slice_of("", 0);

    if (qualifier.len == 0 || vcm_slice_equal(qualifier, last))
        return qualifier.len == 0 ? vcm_slice_of("", 0) : last;
    return vcm_weave_text_keep(weave, qualifier);
}

/* Whether the name means something that the code around brings itself. */
static bool is_hidden(const struct walk *walk, const struct vcm_find *use)
{
    bool may_be_local = use->detail == VCM_SYMBOL_READ || use->detail == VCM_SYMBOL_WRITE ||
                        use->detail == VCM_SYMBOL_CALL || use->detail == VCM_SYMBOL_INSTANTIATE;

    return (may_be_local || (use->is_type && use->detail != VCM_SYMBOL_OVERRIDE)) &&
           is_local(walk, slice(walk->nest.weave, use->name, use->name_end), use->is_type);
}

/* A call of a type makes one; in C++ the initialiser of a base looks like that of a member. */
static enum vcm_symbol_use settle_use(const struct walk *walk, const struct vcm_find *use,
                                      const struct vcm_slice *qualifier)
{
    const struct vcm_weave *weave = walk->nest.weave;
    struct vcm_slice name = slice(weave, use->name, use->name_end);
    struct vcm_slice path = qualifier ? *qualifier : vcm_slice_of("", 0);
    bool initialises =
        weave->language->definitions.base_initialisers && use->detail == VCM_SYMBOL_WRITE;
    bool is_self =
        !qualifier && makes_by_call(weave) && vcm_slice_equal(name, vcm_slice_of("Self", 4));

    if ((use->detail != VCM_SYMBOL_CALL && !initialises) ||
        !(is_self || vcm_name_set_have(&walk->makers, name)) ||
        (qualifier && !vcm_name_set_have(&walk->holders, vcm_qualifier_pop(&path))))
        return (enum vcm_symbol_use)use->detail;
    return initialises ? VCM_SYMBOL_CALL : VCM_SYMBOL_INSTANTIATE;
}

/* The innermost definition around; of several in one declaration the last one before the use. */
static uint32_t definition_around(struct walk *walk, const struct vcm_find *use)
{
    struct nest *nest = &walk->nest;
    const struct vcm_finds *blocks = &nest->weave->blocks;
    size_t around = nest->depth > 0 ? nest->levels[nest->depth - 1].definition : 0;
    if (around == 0)
        return 0;
    struct level *level = &nest->levels[around - 1];

    for (size_t next = (size_t)(level->last - blocks->items) + 1;
         next < blocks->count && walk->index_of[next] > 0 &&
         vcm_weave_finds_have_same_span(level->block, &blocks->items[next]) &&
         blocks->items[next].name < use->name;
         next++) {
        level->last = &blocks->items[next];
        level->index = walk->index_of[next];
    }
    return level->index;
}

static void refer(struct walk *walk, const struct vcm_find *use)
{
    struct vcm_weave *weave = walk->nest.weave;
    struct vcm_symbols *out = weave->out;
    uint32_t from = definition_around(walk, use);
    bool qualified = false;

    struct vcm_slice qualifier = qualifier_of(&qualified, walk, use);
    if (!qualified &&
        (vcm_weave_text_is_no_name(weave, use) || (!use->is_member && is_hidden(walk, use)) ||
         vcm_dialect_is_keyword(weave->language, slice(weave, use->name, use->name_end),
                                (enum vcm_symbol_use)use->detail)))
        return;
    if (out->reference_count >= VCM_LIMIT_SYMBOLS_COUNT) {
        weave->too_many = true;
        return;
    }
    out->references[out->reference_count++] = (struct vcm_symbol_reference){
        .name = vcm_weave_text_keep(weave, slice(weave, use->name, use->name_end)),
        .line = use->line,
        .from = from,
        .use = settle_use(walk, use, qualified ? &qualifier : NULL),
        .qualified = qualified,
        .qualifier = keep_qualifier(weave, qualifier),
    };
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Where names of definitions are, which are no references but to what they override. */
static uint32_t *list_names(const struct vcm_weave *weave)
{
    uint32_t *names = calloc(weave->blocks.count + 1, sizeof *names);

    for (size_t i = 0; names && i < weave->blocks.count; i++)
        names[i] = weave->blocks.items[i].role == VCM_ROLE_SCOPE ||
                           weave->blocks.items[i].role == VCM_ROLE_NONE ||
                           vcm_weave_finds_is_aside(&weave->blocks.items[i])
                       ? UINT32_MAX
                       : weave->blocks.items[i].name;
    if (names)
        qsort(names, weave->blocks.count, sizeof *names, by_number);
    return names;
}

static int refer_all(struct walk *walk, struct vcm_error *err)
{
    struct nest *nest = &walk->nest;
    struct vcm_weave *weave = nest->weave;
    struct vcm_symbols *out = weave->out;
    size_t block = 0, kept = 0;
    uint32_t passed = 0; /* up to where words are part of an import, or of what is no use */

    vcm_weave_finds_sort_uses(&weave->uses);
    out->references =
        vcm_arena_alloc(&out->arena, (weave->uses.count + 1) * sizeof *out->references);
    out->imports =
        vcm_arena_alloc(&out->arena, (vcm_weave_import_count(weave) + 1) * sizeof *out->imports);
    uint32_t *names = list_names(weave);
    int rc = out->references && out->imports && names &&
                     vcm_locals_fill(&walk->locals, weave, walk->open)
                 ? VCM_OK
                 : vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < weave->uses.count; i++) {
        const struct vcm_find *use = &weave->uses.items[i];
        if (use->role == VCM_ROLE_LOCAL || use->role == VCM_ROLE_OUTER ||
            (kept > 0 && weave->uses.items[kept - 1].name == use->name))
            continue;
        kept = i + 1;
        if (use->role == VCM_ROLE_IGNORE && use->name_end > passed)
            passed = use->name_end;
        if (use->role == VCM_ROLE_IGNORE)
            continue;
        for (; block < weave->blocks.count && weave->blocks.items[block].start <= use->name;
             block++) {
            const struct vcm_find *found = &weave->blocks.items[block];
            leave_before(nest, found);
            if (walk->open[block])
                weave->no_memory = weave->no_memory ||
                                   !enter(nest, found, walk->index_of[block],
                                          walk->index_of[block] > 0
                                              ? out->definitions[walk->index_of[block] - 1].kind
                                              : VCM_SYMBOL_TYPE);
        }
        leave_until(nest, use->name);
        if (use->role == VCM_ROLE_IMPORT) {
            vcm_weave_import_put(weave, use);
            if (!weave->language->imports.targets_expand)
                passed = use->name_end > passed ? use->name_end : passed;
        } else if (use->name >= passed &&
                   (use->detail == VCM_SYMBOL_OVERRIDE ||
                    !bsearch(&use->name, names, weave->blocks.count, sizeof *names, by_number)))
            refer(walk, use);
    }
    free(names);
    return rc;
}

/* A function by the name of a type makes one. */
static void name_constructors(const struct walk *walk)
{
    struct vcm_symbols *out = walk->nest.weave->out;

    for (uint32_t i = 0; i < out->definition_count; i++)
        if (vcm_symbol_is_function(out->definitions[i].kind) &&
            vcm_name_set_have(&walk->makers, out->definitions[i].name))
            out->definitions[i].kind = VCM_SYMBOL_CONSTRUCTOR;
}

int vcm_weave_run(struct vcm_weave *weave, struct vcm_error *err)
{
    struct walk walk = {.nest = {.weave = weave, .exports = &walk.exports}};
    int rc = VCM_OK;

    vcm_buf_init(&walk.nest.path, (VCM_LIMIT_SYMBOL_NAME_BYTES + 1) * VCM_LIMIT_SYMBOL_DEPTH);
    vcm_weave_finds_drop_repeated(&weave->blocks);
    vcm_dialect_join_heads(&weave->blocks);
    walk.index_of = calloc(weave->blocks.count + 1, sizeof *walk.index_of);
    walk.open = calloc(weave->blocks.count + 1, sizeof *walk.open);
    if (!walk.index_of || !walk.open || !list_exports(&walk.exports, weave))
        rc = vcm_error_memory(err);
    if (rc == VCM_OK) {
        define_all(&walk);
        if (weave->no_memory || !list_makers(&walk, weave))
            rc = vcm_error_memory(err);
        if (rc == VCM_OK && weave->language->definitions.maker_functions)
            name_constructors(&walk);
    }
    if (rc == VCM_OK)
        rc = refer_all(&walk, err);
    if (rc == VCM_OK && (weave->no_memory || walk.nest.path.fault == VCM_BUF_NO_MEMORY))
        rc = vcm_error_memory(err);
    free(walk.makers.items);
    free(walk.holders.items);
    release_exports(&walk.exports);
    free(walk.index_of);
    free(walk.open);
    vcm_locals_release(&walk.locals);
    free(walk.nest.levels);
    vcm_buf_release(&walk.nest.path);
    return rc;
}

void vcm_weave_release(struct vcm_weave *weave)
{
    free(weave->blocks.items);
    free(weave->uses.items);
    free(weave->exported.items);
}
