#include "symbols/weave_visibility.h"

#include <stdlib.h>

#include "symbols/visibility.h"
#include "symbols/weave_text.h"

#include "base/banned.h"

#define SIGNATURE_REACH 256u /* definitions between one and the signature that has it */

/* Lists the names that the file exports with this role, sorted. False without memory. */
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
                vcm_weave_text_at(weave, exported->items[i].name, exported->items[i].name_end);
    vcm_name_set_sort(names);
    return true;
}

bool vcm_weave_visibility_list(struct vcm_weave_exports *exports, const struct vcm_weave *weave)
{
    return list_exported(&exports->names, weave, VCM_ROLE_EXPORT) &&
           list_exported(&exports->whole, weave, VCM_ROLE_EXPORT_ALL) &&
           list_exported(&exports->parts, weave, VCM_ROLE_EXPORT_PART);
}

void vcm_weave_visibility_release(struct vcm_weave_exports *exports)
{
    free(exports->names.items);
    free(exports->whole.items);
    free(exports->parts.items);
}

/* Whether the symbol is defined in a function, where no other file can use it. */
static bool is_in_function(const struct vcm_weave_nest *nest, const struct vcm_symbol *symbol)
{
    bool is_member = symbol->kind == VCM_SYMBOL_METHOD || symbol->kind == VCM_SYMBOL_FIELD ||
                     symbol->kind == VCM_SYMBOL_CONSTRUCTOR;

    return !is_member && nest->depth > 0 && nest->levels[nest->depth - 1].is_in_function;
}

/* Whether nothing but modules is around the symbol: such names the file may export. */
static bool is_at_top(const struct vcm_weave_nest *nest, const struct vcm_symbol *symbol)
{
    return vcm_slice_equal(symbol->container, vcm_buf_slice(&nest->path)) &&
           (nest->depth == 0 || nest->levels[nest->depth - 1].has_modules_only);
}

/* Whether the file hides what it does not export. A module that exports itself (Haskell) exports
 * all that it defines. */
static bool is_closed(const struct vcm_weave_exports *exports, const struct vcm_weave_nest *nest)
{
    const struct vcm_symbols *out = nest->weave->out;
    bool whole = out->definition_count > 0 && out->definitions[0].kind == VCM_SYMBOL_MODULE &&
                 vcm_name_set_have(&exports->names, out->definitions[0].name);

    return nest->weave->is_closed && !whole;
}

/* Haskell says which parts of a type, or of a class, are exported. A constructor may have the name
 * of its type; all else that a type holds can be exported by its name alone. */
static bool is_exported_part(const struct vcm_weave_exports *exports,
                             const struct vcm_symbol *symbol)
{
    const char *dot = memchr(symbol->container.data, '.', symbol->container.len);
    struct vcm_slice type = symbol->container;

    type.len = dot ? (size_t)(dot - type.data) : type.len;
    return vcm_name_set_have(&exports->whole, type) ||
           vcm_name_set_have(&exports->parts, symbol->name) ||
           (symbol->kind != VCM_SYMBOL_ENUMERATOR &&
            vcm_name_set_have(&exports->names, symbol->name));
}

/* Whether the signature of the module, which was defined shortly before, has the symbol. */
static bool is_promised(const struct vcm_weave_nest *nest, const struct vcm_symbol *symbol)
{
    const struct vcm_symbols *out = nest->weave->out;
    bool promised = false;

    if (!nest->weave->language->definitions.signatures)
        return false;
    for (uint32_t i = out->definition_count, looked = 0;
         i > 0 && looked < SIGNATURE_REACH && !promised; i--, looked++)
        promised = vcm_slice_equal(out->definitions[i - 1].name, symbol->name) &&
                   vcm_slice_equal(out->definitions[i - 1].container, symbol->container);
    return promised;
}

enum vcm_symbol_visibility vcm_weave_visibility_of(const struct vcm_weave_exports *exports,
                                                   const struct vcm_weave_nest *nest,
                                                   const struct vcm_symbol *symbol,
                                                   const struct vcm_find *found)
{
    const struct vcm_weave *weave = nest->weave;
    const struct vcm_weave_level *around = vcm_weave_nest_container(nest);
    bool in_type = around && vcm_symbol_is_type(around->kind);
    /* "record Point(int x)": fields in the head are public. */
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

    if (weave->language->definitions.exported_parts && is_closed(exports, nest) && around &&
        around->block->role == VCM_ROLE_DEFINE)
        return is_exported_part(exports, symbol) ? VCM_SYMBOL_PUBLIC : VCM_SYMBOL_PRIVATE;
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
    if (is_closed(exports, nest) && symbol->kind != VCM_SYMBOL_MODULE && !nameless &&
        is_at_top(nest, symbol))
        return vcm_name_set_have(&exports->names, symbol->name) ? VCM_SYMBOL_PUBLIC
                                                                : VCM_SYMBOL_PRIVATE;
    const struct vcm_weave_level *said = nest->depth > 0 ? &nest->levels[nest->depth - 1] : NULL;
    return said && said->has_visibility && visibility == VCM_SYMBOL_PUBLIC &&
                   vcm_visibility_follows(weave->language, symbol) && !is_promised(nest, symbol)
               ? said->visibility
               : visibility;
}
