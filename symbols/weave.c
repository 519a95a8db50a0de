#include "symbols/weave.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "symbols/dialect.h"
#include "symbols/weave_define.h"
#include "symbols/weave_finds.h"
#include "symbols/weave_refer.h"

#include "base/banned.h"

/* A function by the name of a type makes one. */
static void name_constructors(const struct vcm_weave_walk *walk)
{
    struct vcm_symbols *out = walk->nest.weave->out;

    for (uint32_t i = 0; i < out->definition_count; i++)
        if (vcm_symbol_is_function(out->definitions[i].kind) &&
            vcm_name_set_have(&walk->makers, out->definitions[i].name))
            out->definitions[i].kind = VCM_SYMBOL_CONSTRUCTOR;
}

int vcm_weave_run(struct vcm_weave *weave, struct vcm_error *err)
{
    struct vcm_weave_walk walk = {.nest = {.weave = weave}};
    int rc = VCM_OK;

    assert(weave->language->grammar && weave->out->definition_count == 0);
    vcm_buf_init(&walk.nest.path, (VCM_LIMIT_SYMBOL_NAME_BYTES + 1) * VCM_LIMIT_SYMBOL_DEPTH);
    vcm_weave_finds_drop_repeated(&weave->blocks);
    vcm_dialect_join_heads(&weave->blocks);
    vcm_weave_finds_sort_uses(&weave->passed);
    walk.index_of = calloc(weave->blocks.count + 1, sizeof *walk.index_of);
    walk.open = calloc(weave->blocks.count + 1, sizeof *walk.open);
    if (!walk.index_of || !walk.open || !vcm_weave_visibility_list(&walk.exports, weave))
        rc = vcm_error_memory(err);
    if (rc == VCM_OK) {
        vcm_weave_define_all(&walk);
        if (weave->no_memory || !vcm_weave_refer_list_makers(&walk, weave))
            rc = vcm_error_memory(err);
        if (rc == VCM_OK && weave->language->definitions.maker_functions)
            name_constructors(&walk);
    }
    if (rc == VCM_OK)
        rc = vcm_weave_refer_all(&walk, err);
    if (rc == VCM_OK && (weave->no_memory || walk.nest.path.fault == VCM_BUF_NO_MEMORY))
        rc = vcm_error_memory(err);
    assert(weave->out->definition_count <= weave->blocks.count &&
           weave->out->reference_count <= weave->uses.count);
    free(walk.makers.items);
    free(walk.holders.items);
    vcm_weave_visibility_release(&walk.exports);
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
    free(weave->passed.items);
    vcm_buf_release(&weave->chains);
}
