#include "symbols/symbol.h"

#include <string.h>

#include "base/banned.h"

static const char *const kind_names[VCM_SYMBOL_KIND_COUNT] = {
    [VCM_SYMBOL_FUNCTION] = "function",
    [VCM_SYMBOL_METHOD] = "method",
    [VCM_SYMBOL_CONSTRUCTOR] = "constructor",
    [VCM_SYMBOL_PROTOTYPE] = "prototype",
    [VCM_SYMBOL_MACRO] = "macro",
    [VCM_SYMBOL_CLASS] = "class",
    [VCM_SYMBOL_STRUCT] = "struct",
    [VCM_SYMBOL_UNION] = "union",
    [VCM_SYMBOL_ENUM] = "enum",
    [VCM_SYMBOL_INTERFACE] = "interface",
    [VCM_SYMBOL_TRAIT] = "trait",
    [VCM_SYMBOL_TYPE] = "type",
    [VCM_SYMBOL_MODULE] = "module",
    [VCM_SYMBOL_NAMESPACE] = "namespace",
    [VCM_SYMBOL_CONSTANT] = "constant",
    [VCM_SYMBOL_VARIABLE] = "variable",
    [VCM_SYMBOL_FIELD] = "field",
    [VCM_SYMBOL_ENUMERATOR] = "enumerator",
};

static const char *const use_names[VCM_SYMBOL_USE_COUNT] = {
    [VCM_SYMBOL_CALL] = "call",
    [VCM_SYMBOL_READ] = "read",
    [VCM_SYMBOL_WRITE] = "write",
    [VCM_SYMBOL_INSTANTIATE] = "instantiate",
    [VCM_SYMBOL_IMPLEMENTATION] = "implementation",
    [VCM_SYMBOL_OVERRIDE] = "override",
};

static const char *const state_names[VCM_SYMBOL_STATE_COUNT] = {
    [VCM_SYMBOL_COMPLETE] = "complete",         [VCM_SYMBOL_BINARY] = "binary",
    [VCM_SYMBOL_TOO_LARGE] = "too_large",       [VCM_SYMBOL_TOO_COSTLY] = "too_costly",
    [VCM_SYMBOL_TOO_MANY] = "too_many_symbols", [VCM_SYMBOL_MISSING] = "missing",
    [VCM_SYMBOL_NO_CTAGS] = "no_ctags",         [VCM_SYMBOL_DAMAGED] = "damaged",
};

static const char *const visibility_names[VCM_SYMBOL_VISIBILITY_COUNT] = {
    [VCM_SYMBOL_PUBLIC] = "public",
    [VCM_SYMBOL_PROTECTED] = "protected",
    [VCM_SYMBOL_PRIVATE] = "private",
    [VCM_SYMBOL_INTERNAL] = "internal",
};

const char *vcm_symbol_kind_name(enum vcm_symbol_kind kind)
{
    return (unsigned)kind < VCM_SYMBOL_KIND_COUNT ? kind_names[kind] : "";
}

const char *vcm_symbol_use_name(enum vcm_symbol_use use)
{
    return (unsigned)use < VCM_SYMBOL_USE_COUNT ? use_names[use] : "";
}

const char *vcm_symbol_state_name(enum vcm_symbol_state state)
{
    return (unsigned)state < VCM_SYMBOL_STATE_COUNT ? state_names[state] : "";
}

const char *vcm_symbol_visibility_name(enum vcm_symbol_visibility visibility)
{
    return (unsigned)visibility < VCM_SYMBOL_VISIBILITY_COUNT ? visibility_names[visibility] : "";
}

bool vcm_symbol_kind_of(enum vcm_symbol_kind *out, const char *name)
{
    for (unsigned i = 0; i < VCM_SYMBOL_KIND_COUNT; i++) {
        *out = (enum vcm_symbol_kind)i;
        if (strcmp(kind_names[i], name) == 0)
            return true;
    }
    return false;
}

bool vcm_symbol_state_lasts(enum vcm_symbol_state state)
{
    return state != VCM_SYMBOL_MISSING && state != VCM_SYMBOL_NO_CTAGS &&
           state != VCM_SYMBOL_DAMAGED;
}

bool vcm_symbol_is_function(enum vcm_symbol_kind kind)
{
    return kind == VCM_SYMBOL_FUNCTION || kind == VCM_SYMBOL_METHOD ||
           kind == VCM_SYMBOL_CONSTRUCTOR;
}

bool vcm_symbol_is_value(enum vcm_symbol_kind kind)
{
    return kind == VCM_SYMBOL_VARIABLE || kind == VCM_SYMBOL_CONSTANT;
}

bool vcm_symbol_is_type(enum vcm_symbol_kind kind)
{
    return kind == VCM_SYMBOL_CLASS || kind == VCM_SYMBOL_STRUCT || kind == VCM_SYMBOL_UNION ||
           kind == VCM_SYMBOL_ENUM || kind == VCM_SYMBOL_INTERFACE || kind == VCM_SYMBOL_TRAIT ||
           kind == VCM_SYMBOL_TYPE;
}
