#include "symbols/reach.h"

#include "symbols/qualifier.h"

#include "base/banned.h"

enum vcm_reach_call vcm_reach_call_of_type(const struct vcm_language_descriptor *language,
                                           enum vcm_symbol_kind kind)
{
    switch (language->names.call) {
    case VCM_LANGUAGES_CALL_MAKES:
        return VCM_REACH_MAKE;
    case VCM_LANGUAGES_CALL_NEVER:
        return VCM_REACH_OTHER;
    case VCM_LANGUAGES_CALL_OF_CLASS:
        return kind == VCM_SYMBOL_CLASS ? VCM_REACH_CONVERT : VCM_REACH_OTHER;
    default:
        return VCM_REACH_CONVERT;
    }
}

bool vcm_reach_compare_paths(bool *whole_a, bool *whole_b, struct vcm_slice a, struct vcm_slice b)
{
    bool same = true;

    while (a.len > 0 && b.len > 0 && same)
        same = vcm_slice_equal(vcm_qualifier_pop(&a), vcm_qualifier_pop(&b));
    *whole_a = same && a.len == 0;
    *whole_b = same && b.len == 0;
    return same;
}

bool vcm_reach_brings_name(const struct vcm_language_descriptor *language,
                           const struct vcm_symbol_import *import, struct vcm_slice name)
{
    return !language->imports.brings_name || language->imports.brings_name(import, name);
}

bool vcm_reach_gives_name(bool *joined, const struct vcm_language_descriptor *language,
                          const struct vcm_symbol_import *import, struct vcm_slice name)
{
    const struct vcm_language_imports *habits = &language->imports;
    struct vcm_slice rest = import->target;
    bool all = false, known = false;

    *joined = false;
    if (habits->gives_name)
        return habits->gives_name(joined, import, name);
    bool both = import->parts && habits->keep_own_name;
    *joined = habits->submodules && import->parts && vcm_qualifier_names(import->alias, name);
    if (import->alias.len > 0 && (!both || *joined))
        return *joined || (!import->parts && vcm_slice_equal(import->alias, name));
    if (habits->last_word)
        return vcm_slice_equal(vcm_qualifier_pop(&rest), name);
    return vcm_reach_compare_paths(&all, &known, import->target, name) && all && known;
}
