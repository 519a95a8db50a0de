#include "symbols/weave_refer.h"

#include <stdlib.h>

#include "base/limits.h"
#include "symbols/dialect.h"
#include "symbols/qualifier.h"
#include "symbols/receiver.h"
#include "symbols/weave_finds.h"
#include "symbols/weave_import.h"
#include "symbols/weave_text.h"

#include "base/banned.h"

#define LOCAL_REACH 512u /* blocks between a local name and its use */
#define ROOTS_MAX   8u   /* local names that are each other's values */

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

/* The chain of the innermost declaration of a name; *local when there is one. */
static struct vcm_slice chain_of_local(bool *local, const struct vcm_weave_walk *walk,
                                       struct vcm_slice name)
{
    const struct vcm_weave_nest *nest = &walk->nest;
    struct vcm_locals_range range = vcm_locals_find(&walk->locals, name);
    size_t last = nest->depth > LOCAL_REACH ? nest->depth - LOCAL_REACH : 0;

    *local = false;
    for (size_t i = range.count > 0 ? nest->depth : last; i > last; i--) {
        size_t block = (size_t)(nest->levels[i - 1].block - nest->weave->blocks.items);
        enum vcm_locals_answer answer = vcm_locals_ask(&range, block, false);
        *local = answer == VCM_LOCALS_YES;
        if (answer != VCM_LOCALS_NO)
            return *local ? vcm_locals_chain(&range, block) : vcm_slice_of("", 0);
    }
    return vcm_slice_of("", 0);
}

static struct vcm_slice root_of(struct vcm_slice chain)
{
    const char *slash = chain.len > 0 ? memchr(chain.data, '/', chain.len) : NULL;

    return vcm_slice_of(chain.data, slash ? (size_t)(slash - chain.data) : chain.len);
}

/* Appends a chain whose root, while that is a local name, is replaced by the chain of that. */
static void put_chain(struct vcm_buf *out, const struct vcm_weave_walk *walk,
                      struct vcm_slice chain)
{
    const struct vcm_weave *weave = walk->nest.weave;
    char tail[2 * VCM_RECEIVER_MAX];
    size_t len = 0; /* of what follows the root, at the end of `tail` */

    for (unsigned i = 0; i < ROOTS_MAX && chain.len > 0; i++) {
        struct vcm_slice root = root_of(chain);
        size_t rest = chain.len - root.len;
        bool local = false;
        if (rest + len > sizeof tail || chain.data[0] == '~')
            return;
        if (rest > 0)
            memcpy(tail + sizeof tail - len - rest, chain.data + root.len, rest);
        len += rest;
        bool self =
            vcm_qualifier_self(weave->language, root, vcm_slice_of("", 0)) != VCM_QUALIFIER_OTHER;
        struct vcm_slice next = strchr(":@", root.data[0]) || self
                                    ? vcm_slice_of("", 0)
                                    : chain_of_local(&local, walk, root);
        if (!local) {
            vcm_buf_append_slice(out, root);
            vcm_buf_append(out, tail + sizeof tail - len, len);
            return;
        }
        if (vcm_slice_equal(root_of(next), root))
            return; /* "x = x.next" */
        chain = next;
    }
}

static struct vcm_slice keep_chain(struct vcm_weave_walk *walk, const struct vcm_find *found)
{
    struct vcm_weave *weave = walk->nest.weave;
    struct vcm_buf chain = VCM_BUF_INIT(4 * VCM_RECEIVER_MAX);
    const struct vcm_symbols *out = weave->out;

    if (found->chain_end > found->chain)
        put_chain(&chain, walk,
                  vcm_slice_of(vcm_buf_slice(&weave->chains).data + found->chain,
                               found->chain_end - found->chain));
    struct vcm_slice last = out->reference_count > 0
                                ? out->references[out->reference_count - 1].receiver
                                : vcm_slice_of("", 0);
    struct vcm_slice kept = vcm_slice_of("", 0);
    if (chain.len > 0 && vcm_slice_equal(vcm_buf_slice(&chain), last))
        kept = last;
    else if (chain.len > 0)
        kept = vcm_weave_text_keep_line(weave, &chain);
    vcm_buf_release(&chain);
    return kept;
}

/* Adds a base to those of the type that the use is in. */
static void add_base(struct vcm_weave_walk *walk, const struct vcm_find *use, uint32_t from,
                     struct vcm_slice qualifier)
{
    struct vcm_weave *weave = walk->nest.weave;
    struct vcm_symbol *type = from > 0 ? &weave->out->definitions[from - 1] : NULL;
    struct vcm_buf bases = VCM_BUF_INIT(8 * VCM_RECEIVER_MAX);

    if (!type || !vcm_symbol_is_type(type->kind) || type->kind == VCM_SYMBOL_TYPE ||
        type->type.len > 4 * VCM_RECEIVER_MAX)
        return;
    vcm_buf_append_slice(&bases, type->type);
    vcm_buf_append_string(&bases, type->type.len > 0 ? ",:" : ":");
    for (size_t i = 0; i < qualifier.len; i++)
        if (qualifier.data[i] != ':' || i + 1 == qualifier.len || qualifier.data[i + 1] != ':')
            vcm_buf_append_byte(&bases, qualifier.data[i] == ':' ? '.' : qualifier.data[i]);
    vcm_buf_append_string(&bases, qualifier.len > 0 ? "." : "");
    vcm_buf_append_slice(&bases, vcm_weave_text_at(weave, use->name, use->name_end));
    type->type = vcm_weave_text_keep_line(weave, &bases);
    vcm_buf_release(&bases);
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

/* A name in the statement that imports it: its receiver is the module. */
static void refer_imported(struct vcm_weave_walk *walk, const struct vcm_find *use)
{
    struct vcm_weave *weave = walk->nest.weave;
    struct vcm_symbols *out = weave->out;
    struct vcm_buf module = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    vcm_buf_append_byte(&module, '@');
    vcm_buf_append_slice(&module, vcm_weave_text_at(weave, use->holder, use->holder_end));
    out->references[out->reference_count++] = (struct vcm_symbol_reference){
        .name = vcm_weave_text_keep(weave, vcm_weave_text_at(weave, use->name, use->name_end)),
        .line = use->line,
        .from = definition_around(walk, use),
        .use = (enum vcm_symbol_use)use->detail,
        .qualified = true,
        .qualifier = vcm_slice_of("", 0),
        .receiver = vcm_weave_text_keep_line(weave, &module),
    };
    vcm_buf_release(&module);
}

static void refer(struct vcm_weave_walk *walk, const struct vcm_find *use)
{
    struct vcm_weave *weave = walk->nest.weave;
    struct vcm_symbols *out = weave->out;
    uint32_t from = definition_around(walk, use);
    bool qualified = false;

    if (use->holder_end > 0 && out->reference_count < VCM_LIMIT_SYMBOLS_COUNT) {
        refer_imported(walk, use);
        return;
    }
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
        .is_type = use->is_type && weave->language->names.types_apart,
        .receiver = qualified ? keep_chain(walk, use) : vcm_slice_of("", 0),
    };
    if (use->detail == VCM_SYMBOL_IMPLEMENTATION)
        add_base(walk, use, from, qualifier);
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

/* Goes on to a block; its definition gets its type, which may be that of a local name. */
static void enter_block(struct vcm_weave_walk *walk, size_t block)
{
    struct vcm_weave_nest *nest = &walk->nest;
    struct vcm_weave *weave = nest->weave;
    const struct vcm_find *found = &weave->blocks.items[block];
    uint32_t index = walk->index_of[block];

    vcm_weave_nest_leave_before(nest, found);
    if (index > 0 && found->role == VCM_ROLE_DEFINE &&
        weave->out->definitions[index - 1].type.len == 0)
        weave->out->definitions[index - 1].type = keep_chain(walk, found);
    if (walk->open[block])
        weave->no_memory = weave->no_memory ||
                           !vcm_weave_nest_enter(nest, found, index,
                                                 index > 0 ? weave->out->definitions[index - 1].kind
                                                           : VCM_SYMBOL_TYPE);
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
             block++)
            enter_block(walk, block);
        vcm_weave_nest_leave_until(nest, use->name);
        if (use->role == VCM_ROLE_IMPORT) {
            vcm_weave_import_put(weave, use);
            if (!weave->language->imports.targets_expand)
                passed = use->name_end > passed ? use->name_end : passed;
        } else if (use->name >= passed &&
                   (use->holder_end > 0 || !vcm_weave_finds_is_imported(weave, use->name)) &&
                   (use->detail == VCM_SYMBOL_OVERRIDE ||
                    !bsearch(&use->name, names, weave->blocks.count, sizeof *names, by_number)))
            refer(walk, use);
    }
    for (; rc == VCM_OK && block < weave->blocks.count && !weave->no_memory; block++)
        enter_block(walk, block);
    if (rc == VCM_OK)
        vcm_weave_import_put_given(weave);
    free(names);
    return rc;
}
