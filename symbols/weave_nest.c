#include "symbols/weave_nest.h"

#include <assert.h>

#include "base/array.h"
#include "base/limits.h"
#include "symbols/dialect.h"
#include "symbols/weave_text.h"

#include "base/banned.h"

void vcm_weave_nest_leave(struct vcm_weave_nest *nest)
{
    assert(nest->depth > 0);
    nest->depth--;
    vcm_buf_truncate(&nest->path, nest->depth > 0 ? nest->levels[nest->depth - 1].path : 0);
}

void vcm_weave_nest_leave_until(struct vcm_weave_nest *nest, uint32_t start)
{
    while (nest->depth > 0 && nest->levels[nest->depth - 1].block->end <= start)
        vcm_weave_nest_leave(nest);
}

void vcm_weave_nest_leave_before(struct vcm_weave_nest *nest, const struct vcm_find *block)
{
    vcm_weave_nest_leave_until(nest, block->start);
    bool tagged = block->role == VCM_ROLE_DEFINE &&
                  vcm_symbol_is_type((enum vcm_symbol_kind)block->detail) &&
                  block->detail != VCM_SYMBOL_TYPE;
    const struct vcm_weave_level *top = nest->depth > 0 ? &nest->levels[nest->depth - 1] : NULL;
    if (tagged && nest->weave->language->definitions.tags && top && top->kind == VCM_SYMBOL_TYPE &&
        top->block->role == VCM_ROLE_DEFINE)
        vcm_weave_nest_leave(nest);
}

/* Fills in what the innermost level inherits from those around it. */
static void note_around(struct vcm_weave_nest *nest)
{
    static const struct vcm_weave_level top = {.has_modules_only = true};
    struct vcm_weave_level *level = &nest->levels[nest->depth - 1];
    const struct vcm_weave_level *outer = nest->depth > 1 ? level - 1 : &top;
    const enum vcm_symbol_kind kind = level->kind;
    bool region = level->block->role == VCM_ROLE_REGION;
    bool function = level->index > 0 && vcm_symbol_is_function(kind);
    /* A value that is defined in a function, or in the initialiser of another value, is local. */
    bool own = level->block->role == VCM_ROLE_DEFINE &&
               (vcm_symbol_is_function(kind) || vcm_symbol_is_value((enum vcm_symbol_kind)kind) ||
                kind == VCM_SYMBOL_FIELD);
    bool module = kind == VCM_SYMBOL_MODULE || kind == VCM_SYMBOL_NAMESPACE;

    level->container = region ? outer->container : nest->depth;
    level->definition = level->index > 0 ? nest->depth : outer->definition;
    level->function = outer->function == 0 && function ? nest->depth : outer->function;
    level->is_in_function = outer->is_in_function || region || function;
    level->has_own_names =
        outer->has_own_names || own || (region && !nest->weave->language->definitions.mixins);
    level->has_modules_only = outer->has_modules_only && (module || region);
}

bool vcm_weave_nest_enter(struct vcm_weave_nest *nest, const struct vcm_find *block, uint32_t index,
                          enum vcm_symbol_kind kind)
{
    assert(nest->depth == 0 || nest->levels[nest->depth - 1].block->start <= block->start);
    if (vcm_array_reserve(&nest->levels, &nest->capacity, nest->depth + 1, VCM_LIMIT_LIST_ENTRIES,
                          NULL) != VCM_OK)
        return false;
    if (nest->depth < VCM_LIMIT_SYMBOL_DEPTH && block->role != VCM_ROLE_REGION) {
        if (nest->path.len > 0)
            vcm_buf_append_byte(&nest->path, '.');
        if (block->holder_end > 0) {
            vcm_dialect_put_container(
                &nest->path, nest->weave->language,
                vcm_weave_text_at(nest->weave, block->holder, block->holder_end));
            vcm_buf_append_byte(&nest->path, '.');
        }
        vcm_buf_append_slice(&nest->path,
                             vcm_weave_text_at(nest->weave, block->name, block->name_end));
    }
    struct vcm_weave_level *level = &nest->levels[nest->depth++];
    *level = (struct vcm_weave_level){
        .block = block, .last = block, .index = index, .kind = kind, .path = nest->path.len};
    level->has_visibility = nest->weave->language->definitions.classes_hide &&
                            kind == VCM_SYMBOL_CLASS && block->role == VCM_ROLE_DEFINE;
    level->visibility = level->has_visibility ? VCM_SYMBOL_PRIVATE : VCM_SYMBOL_PUBLIC;
    note_around(nest);
    return true;
}

const struct vcm_weave_level *vcm_weave_nest_container(const struct vcm_weave_nest *nest)
{
    size_t level = nest->depth > 0 ? nest->levels[nest->depth - 1].container : 0;

    return level > 0 ? &nest->levels[level - 1] : NULL;
}
