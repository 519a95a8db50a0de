#include "symbols/weave_define.h"

#include "base/limits.h"
#include "symbols/describe.h"
#include "symbols/dialect.h"
#include "symbols/weave_finds.h"
#include "symbols/weave_text.h"

#include "base/banned.h"

#define CONST       vcm_slice_of("const", 5)
#define AGAIN_REACH 1024u /* definitions between one and the next by the same name */
#define HIDE_REACH  256u  /* definitions between one and the word that hides it */

/* Whether the block is one more definition of the declaration that was entered last: "int a, b;".
 * It is not nested in the first. */
static bool is_sibling(const struct vcm_weave_nest *nest, const struct vcm_find *block)
{
    const struct vcm_weave_level *top = nest->depth > 0 ? &nest->levels[nest->depth - 1] : NULL;

    return top && block->role == VCM_ROLE_DEFINE && top->block->role == VCM_ROLE_DEFINE &&
           vcm_weave_finds_have_same_span(top->block, block);
}

static void change_access(struct vcm_weave_nest *nest, const struct vcm_find *word)
{
    static const char *const names[] = {"public", "protected", "private"};
    struct vcm_slice text = vcm_weave_text_at(nest->weave, word->name, word->name_end);

    for (unsigned i = 0; nest->depth > 0 && i < 3; i++)
        if (vcm_slice_equal(text, vcm_slice_of_string(names[i]))) {
            nest->levels[nest->depth - 1].visibility = (enum vcm_symbol_visibility)i;
            nest->levels[nest->depth - 1].has_visibility = true;
        }
    /* OCaml: "struct" behind a signature hides what the signature lacks. R6: "active" lists
     * functions that are read like fields. */
    bool closed = vcm_slice_equal(text, vcm_slice_of_string("struct"));
    if (nest->depth > 0 && (closed || vcm_slice_equal(text, vcm_slice_of_string("active")))) {
        nest->levels[nest->depth - 1].visibility = closed ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
        nest->levels[nest->depth - 1].has_visibility = true;
    }
}

/* Whether the container is one of those that the walk is in. */
static bool is_around(const struct vcm_weave_nest *nest, struct vcm_slice container)
{
    const struct vcm_slice path = vcm_buf_slice(&nest->path);

    return container.len <= path.len && memcmp(path.data, container.data, container.len) == 0 &&
           (container.len == 0 || container.len == path.len || path.data[container.len] == '.');
}

/* Sets the visibility of a definition that was found before: the word is "private :total" behind
 * it, or "private def total" with it. */
static void hide(struct vcm_weave_nest *nest, const struct vcm_find *word)
{
    struct vcm_symbols *out = nest->weave->out;
    const struct vcm_slice name = vcm_weave_text_at(nest->weave, word->name, word->name_end);

    for (uint32_t i = out->definition_count, looked = 0; i > 0 && looked < HIDE_REACH;
         i--, looked++) {
        struct vcm_symbol *symbol = &out->definitions[i - 1];
        if (vcm_slice_equal(symbol->name, name) && is_around(nest, symbol->container)) {
            symbol->visibility = (enum vcm_symbol_visibility)word->detail;
            return;
        }
    }
}

static enum vcm_symbol_kind settle_kind(const struct vcm_weave_nest *nest,
                                        const struct vcm_find *found)
{
    enum vcm_symbol_kind kind = (enum vcm_symbol_kind)found->detail;
    const struct vcm_weave_level *around = vcm_weave_nest_container(nest);
    bool in_type =
        around &&
        (around->block->role == VCM_ROLE_SCOPE || vcm_symbol_is_type(around->kind) ||
         around->kind == VCM_SYMBOL_ENUMERATOR ||
         (around->kind == VCM_SYMBOL_MODULE && nest->weave->language->definitions.mixins));

    const struct vcm_weave *weave = nest->weave;
    struct vcm_slice type = vcm_weave_text_at(weave, found->holder, found->holder_end);
    if (type.len == 0 && around && vcm_symbol_is_type(around->kind))
        type = vcm_weave_text_at(weave, around->block->name, around->block->name_end);
    if (vcm_dialect_is_constructor(weave->language, found,
                                   vcm_weave_text_at(weave, found->name, found->name_end), type))
        return VCM_SYMBOL_CONSTRUCTOR;
    if (kind == VCM_SYMBOL_VARIABLE &&
        vcm_slice_equal(vcm_weave_text_opening_word(nest->weave, found), CONST))
        return VCM_SYMBOL_CONSTANT;
    /* What SQL names before a function is its schema, or the table of a trigger. */
    bool held = found->holder_end > 0 && !nest->weave->language->definitions.schemas;
    return kind == VCM_SYMBOL_FUNCTION && (in_type || held) ? VCM_SYMBOL_METHOD : kind;
}

/* The container of a definition of this kind. A field that a parameter of the constructor declares
 * belongs to the type: "constructor(private name: string)". */
static struct vcm_slice path_to(const struct vcm_weave_nest *nest, enum vcm_symbol_kind kind)
{
    bool makes = nest->weave->language->definitions.promoted_parameters &&
                 (kind == VCM_SYMBOL_FIELD || kind == VCM_SYMBOL_METHOD);
    bool sets = nest->weave->language->definitions.self_fields && kind == VCM_SYMBOL_FIELD;
    const struct vcm_weave_level *around = vcm_weave_nest_container(nest);

    if (!around || (!(makes && around->kind == VCM_SYMBOL_CONSTRUCTOR) &&
                    !(sets && vcm_symbol_is_function(around->kind))))
        return vcm_buf_slice(&nest->path);
    return vcm_slice_of(vcm_buf_slice(&nest->path).data,
                        around > nest->levels ? around[-1].path : 0);
}

static void fill_symbol(const struct vcm_weave_exports *exports, const struct vcm_weave_nest *nest,
                        struct vcm_symbol *symbol, const struct vcm_find *found)
{
    struct vcm_weave *weave = nest->weave;
    struct vcm_buf line = VCM_BUF_INIT(64 * VCM_KIB);
    const struct vcm_describe_place place = {weave->text, found->start, found->end,
                                             vcm_weave_text_head_end(weave, found),
                                             found->name_end};
    const struct vcm_weave_level *around = vcm_weave_nest_container(nest);

    symbol->name =
        vcm_weave_text_keep(weave, vcm_weave_text_at(weave, found->name, found->name_end));
    symbol->kind = settle_kind(nest, found);
    symbol->start_line = found->line;
    symbol->line = found->name_line > found->line ? found->name_line : found->line;
    symbol->end_line = found->end_line > symbol->line ? found->end_line : symbol->line;
    /* A macro belongs to no container in C. */
    bool is_free = symbol->kind == VCM_SYMBOL_MACRO && weave->language->definitions.tags;
    if (found->holder_end > 0 && nest->path.len > 0) {
        vcm_buf_append_slice(&line, vcm_buf_slice(&nest->path));
        vcm_buf_append_byte(&line, '.');
    }
    if (found->holder_end > 0)
        vcm_dialect_put_container(&line, weave->language,
                                  vcm_weave_text_at(weave, found->holder, found->holder_end));
    else if (!is_free)
        vcm_buf_append_slice(&line, path_to(nest, symbol->kind));
    symbol->container = vcm_weave_text_keep_line(weave, &line);
    vcm_buf_append_slice(&line, vcm_weave_text_opening_word(weave, found));
    if (line.len > 0)
        vcm_buf_append_byte(&line, ' ');
    vcm_describe_signature(&line, weave->language, &place);
    symbol->signature = vcm_weave_text_keep_line(weave, &line);
    /* The comment above a line is about the definition that the line begins with. */
    if (!around || around->block->line != found->line)
        vcm_describe_comment(&line, weave->language, &place);
    if (line.len == 0 &&
        (symbol->kind == VCM_SYMBOL_FIELD || symbol->kind == VCM_SYMBOL_ENUMERATOR))
        vcm_describe_remark(&line, weave->language, &place);
    symbol->documentation = vcm_weave_text_keep_line(weave, &line);
    symbol->type = vcm_slice_of("", 0);
    symbol->visibility = vcm_weave_visibility_of(exports, nest, symbol, found);
    vcm_buf_release(&line);
}

/* Whether this is another clause of the function that was defined last: some languages write a
 * function as several clauses. */
static bool goes_on(const struct vcm_weave_nest *nest, const struct vcm_find *found)
{
    const struct vcm_weave *weave = nest->weave;
    const struct vcm_symbol *last = weave->out->definition_count > 0
                                        ? &weave->out->definitions[weave->out->definition_count - 1]
                                        : NULL;

    return last && weave->language->definitions.clauses && vcm_symbol_is_function(last->kind) &&
           last->kind == settle_kind(nest, found) &&
           vcm_slice_equal(last->name, vcm_weave_text_at(weave, found->name, found->name_end)) &&
           vcm_slice_equal(last->container, vcm_buf_slice(&nest->path));
}

/* Whether an assignment sets what an earlier one defined: of "count = 0" and "count = 1", where
 * variables are not declared, the second one is a write. */
static bool is_defined_again(const struct vcm_weave_nest *nest, const struct vcm_find *found)
{
    const struct vcm_weave *weave = nest->weave;
    const struct vcm_symbols *out = weave->out;
    bool variable = found->role == VCM_ROLE_DEFINE && found->detail == VCM_SYMBOL_VARIABLE;
    bool field = found->role == VCM_ROLE_DEFINE && found->detail == VCM_SYMBOL_FIELD;
    bool shell = weave->language->definitions.first_setting;
    bool assigned = (shell && variable && found->start == found->name && nest->depth == 0) ||
                    (weave->language->definitions.first_assignment && (variable || field));
    const struct vcm_slice name = vcm_weave_text_at(weave, found->name, found->name_end);

    for (uint32_t i = out->definition_count, looked = 0; assigned && i > 0 && looked < AGAIN_REACH;
         i--, looked++)
        if (vcm_slice_equal(out->definitions[i - 1].name, name) &&
            vcm_slice_equal(out->definitions[i - 1].container,
                            path_to(nest, (enum vcm_symbol_kind)found->detail)))
            return true;
    return false;
}

static void define(struct vcm_weave_walk *walk, size_t block)
{
    struct vcm_weave_nest *nest = &walk->nest;
    struct vcm_weave *weave = nest->weave;
    const struct vcm_find *found = &weave->blocks.items[block];
    enum vcm_symbol_kind kind = VCM_SYMBOL_TYPE;
    uint32_t index = 0;

    vcm_weave_nest_leave_before(nest, found);
    if (found->role == VCM_ROLE_ACCESS || found->role == VCM_ROLE_HIDE) {
        (found->role == VCM_ROLE_ACCESS ? change_access : hide)(nest, found);
        return;
    }
    if (found->role == VCM_ROLE_DEFINE &&
        vcm_dialect_is_keyword(weave->language,
                               vcm_weave_text_at(weave, found->name, found->name_end),
                               VCM_SYMBOL_WRITE))
        return;
    if (is_defined_again(nest, found) ||
        (found->role == VCM_ROLE_DEFINE && vcm_weave_finds_is_imported(weave, found->name))) {
        weave->blocks.items[block].role = VCM_ROLE_NONE;
        return;
    }
    struct vcm_weave_level first = {0};
    if (is_sibling(nest, found)) {
        first = nest->levels[nest->depth - 1];
        vcm_weave_nest_leave(nest);
    }
    bool own = nest->depth > 0 && nest->levels[nest->depth - 1].has_own_names;
    if (found->role == VCM_ROLE_DEFINE &&
        vcm_symbol_is_value((enum vcm_symbol_kind)found->detail) && own) {
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
        fill_symbol(&walk->exports, nest, &weave->out->definitions[weave->out->definition_count],
                    found);
        index = ++weave->out->definition_count;
    }
    walk->index_of[block] = index;
    walk->open[block] = !first.block;
    bool entered = first.block ? vcm_weave_nest_enter(nest, first.block, first.index, first.kind)
                               : vcm_weave_nest_enter(nest, found, index, kind);
    weave->no_memory = weave->no_memory || !entered;
}

void vcm_weave_define_all(struct vcm_weave_walk *walk)
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
