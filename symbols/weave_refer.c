#include "symbols/weave_refer.h"

#include <stdlib.h>

#include "base/limits.h"
#include "symbols/dialect.h"
#include "symbols/qualifier.h"
#include "symbols/weave_finds.h"
#include "symbols/weave_import.h"
#include "symbols/weave_text.h"

#include "base/banned.h"

#define LOCAL_REACH 512u /* blocks between a local name and its use */

static bool makes_by_call(const struct vcm_weave *weave)
{
    return weave->language->names.call == VCM_LANGUAGES_CALL_MAKES;
}

/* Whether the type has one object, which is declared with it ("object" of Kotlin and Scala):
 * calling its name makes no other. */
static bool is_single(const struct vcm_symbol *symbol)
{
    const struct vcm_slice head = symbol->signature;
    const char *word = memmem(head.data, head.len, "object ", 7);
    size_t at = word ? (size_t)(word + 7 - head.data) : head.len;

    return head.len - at >= symbol->name.len &&
           vcm_slice_equal(symbol->name, vcm_slice_of(head.data + at, symbol->name.len));
}

bool vcm_weave_refer_list_makers(struct vcm_weave_walk *walk, const struct vcm_weave *weave)
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
                vcm_weave_text_at(weave, uses->items[i].name, uses->items[i].name_end);
    vcm_name_set_sort(&walk->makers);
    vcm_name_set_sort(&walk->holders);
    return true;
}

/* Whether a block around declares the name as a parameter or variable; the name of a type, as a
 * type parameter. */
static bool is_local(const struct vcm_weave_walk *walk, struct vcm_slice name, bool type)
{
    const struct vcm_weave_nest *nest = &walk->nest;

    const struct vcm_weave_level *around = vcm_weave_nest_container(nest);
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

/* The outermost function around: where methods name their object in the head, it is in this one. */
static const struct vcm_find *function_around(const struct vcm_weave_nest *nest)
{
    size_t level = nest->depth > 0 ? nest->levels[nest->depth - 1].function : 0;

    return level > 0 ? nest->levels[level - 1].block : NULL;
}

/* What the use is qualified by; "" when that begins with a local name, whose type is not known,
 * unless it is the name of the object itself. */
static struct vcm_slice qualifier_of(bool *qualified, const struct vcm_weave_walk *walk,
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
        function ? vcm_weave_text_at(weave, function->start, function->end) : vcm_slice_of("", 0);
    return vcm_qualifier_self(weave->language, words, head) == VCM_QUALIFIER_OTHER &&
                   is_local(walk, first, false)
               ? vcm_slice_of("", 0)
               : words;
}

/* A copy of the qualifier; that of the reference before is shared, since most have the same. */
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

/* Whether the use means a local name, and is no reference. */
static bool is_hidden(const struct vcm_weave_walk *walk, const struct vcm_find *use)
{
    bool may_be_local = use->detail == VCM_SYMBOL_READ || use->detail == VCM_SYMBOL_WRITE ||
                        use->detail == VCM_SYMBOL_CALL || use->detail == VCM_SYMBOL_INSTANTIATE;

    return (may_be_local || (use->is_type && use->detail != VCM_SYMBOL_OVERRIDE)) &&
           is_local(walk, vcm_weave_text_at(walk->nest.weave, use->name, use->name_end),
                    use->is_type);
}

/* What the use does. A call of a type of this file makes an object; where bases are initialised
 * like members, such a write is a call. */
static enum vcm_symbol_use settle_use(const struct vcm_weave_walk *walk, const struct vcm_find *use,
                                      const struct vcm_slice *qualifier)
{
    const struct vcm_weave *weave = walk->nest.weave;
    struct vcm_slice name = vcm_weave_text_at(weave, use->name, use->name_end);
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
static uint32_t definition_around(struct vcm_weave_walk *walk, const struct vcm_find *use)
{
    struct vcm_weave_nest *nest = &walk->nest;
    const struct vcm_finds *blocks = &nest->weave->blocks;
    size_t around = nest->depth > 0 ? nest->levels[nest->depth - 1].definition : 0;
    if (around == 0)
        return 0;
    struct vcm_weave_level *level = &nest->levels[around - 1];

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

static void refer(struct vcm_weave_walk *walk, const struct vcm_find *use)
{
    struct vcm_weave *weave = walk->nest.weave;
    struct vcm_symbols *out = weave->out;
    uint32_t from = definition_around(walk, use);
    bool qualified = false;

    struct vcm_slice qualifier = qualifier_of(&qualified, walk, use);
    if (!qualified &&
        (vcm_weave_text_is_no_name(weave, use) || (!use->is_member && is_hidden(walk, use)) ||
         vcm_dialect_is_keyword(weave->language, vcm_weave_text_at(weave, use->name, use->name_end),
                                (enum vcm_symbol_use)use->detail)))
        return;
    if (out->reference_count >= VCM_LIMIT_SYMBOLS_COUNT) {
        weave->too_many = true;
        return;
    }
    out->references[out->reference_count++] = (struct vcm_symbol_reference){
        .name = vcm_weave_text_keep(weave, vcm_weave_text_at(weave, use->name, use->name_end)),
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

/* The places of the names of definitions, sorted: a name there is a reference only to what it
 * overrides. NULL without memory. */
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

int vcm_weave_refer_all(struct vcm_weave_walk *walk, struct vcm_error *err)
{
    struct vcm_weave_nest *nest = &walk->nest;
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
            vcm_weave_nest_leave_before(nest, found);
            if (walk->open[block])
                weave->no_memory =
                    weave->no_memory ||
                    !vcm_weave_nest_enter(nest, found, walk->index_of[block],
                                          walk->index_of[block] > 0
                                              ? out->definitions[walk->index_of[block] - 1].kind
                                              : VCM_SYMBOL_TYPE);
        }
        vcm_weave_nest_leave_until(nest, use->name);
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
