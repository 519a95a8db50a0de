#include "symbols/locals.h"

#include <assert.h>
#include <stdlib.h>

#include "symbols/receiver.h"
#include "symbols/weave_finds.h"

#include "base/banned.h"

struct vcm_local {
    struct vcm_slice name;
    size_t block;
    bool outer; /* first among those of one block */
    bool type;  /* a type parameter, before other names */
    struct vcm_slice chain;
};

static int compare(struct vcm_slice a_name, size_t a_block, const struct vcm_local *b)
{
    const size_t len = a_name.len < b->name.len ? a_name.len : b->name.len;
    int order = memcmp(a_name.data, b->name.data, len);

    if (order == 0)
        order = (a_name.len > b->name.len) - (a_name.len < b->name.len);
    return order != 0 ? order : (a_block > b->block) - (a_block < b->block);
}

static int by_text(const void *a, const void *b)
{
    const struct vcm_local *x = a, *y = b;
    int order = compare(x->name, x->block, y);

    if (order == 0)
        order = y->outer - x->outer;
    return order != 0 ? order : y->type - x->type;
}

/* Values of a class may be invisible to its methods (Python); its type parameters are always
 * visible. */
static bool reaches_inwards(const struct vcm_weave *weave, const struct vcm_find *block,
                            const struct vcm_find *use)
{
    return !weave->language->definitions.class_values_stay || block->role != VCM_ROLE_DEFINE ||
           block->detail != VCM_SYMBOL_CLASS || use->name < block->body;
}

/* Whether the declaration that begins with this block defines the name: "int a, b". Its blocks are
 * in the order of their names. */
static bool defines(const struct vcm_finds *blocks, size_t first, const struct vcm_find *use)
{
    const struct vcm_find *block = &blocks->items[first];
    size_t low = first, high = blocks->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct vcm_find *one = &blocks->items[middle];
        if (vcm_weave_finds_have_same_span(one, block) && one->name < use->name)
            low = middle + 1;
        else
            high = middle;
    }
    return block->role == VCM_ROLE_DEFINE && low < blocks->count &&
           vcm_weave_finds_have_same_span(&blocks->items[low], block) &&
           blocks->items[low].role == VCM_ROLE_DEFINE && blocks->items[low].name == use->name;
}

/* How many of the blocks around the name count, of which the last one declares it. 0 when the name
 * is that of a definition, which is a reference; but "constructor(private name)" defines a field
 * and declares a parameter of the constructor. */
static size_t level_of(const struct vcm_finds *blocks, const size_t *around, size_t depth,
                       const struct vcm_find *use)
{
    const struct vcm_find *block = depth > 0 ? &blocks->items[around[depth - 1]] : NULL;

    if (!block || !defines(blocks, around[depth - 1], use))
        return depth;
    return block->detail == VCM_SYMBOL_FIELD && depth > 1 &&
                   blocks->items[around[depth - 2]].detail == VCM_SYMBOL_CONSTRUCTOR
               ? depth - 1
               : 0;
}

bool vcm_locals_fill(struct vcm_locals *locals, const struct vcm_weave *weave, const bool *open)
{
    const struct vcm_finds *blocks = &weave->blocks;
    size_t *around = calloc(blocks->count + 1, sizeof *around), depth = 0, next = 0;

    *locals = (struct vcm_locals){.items = NULL};
    locals->items = calloc(weave->uses.count + 1, sizeof *locals->items);
    for (size_t i = 0; around && locals->items && i < weave->uses.count; i++) {
        const struct vcm_find *use = &weave->uses.items[i];
        assert(i == 0 || use[-1].name <= use->name);
        if ((use->role != VCM_ROLE_LOCAL && use->role != VCM_ROLE_OUTER) ||
            vcm_weave_finds_is_imported(weave, use->name))
            continue;
        for (; next < blocks->count && blocks->items[next].start <= use->name; next++) {
            while (depth > 0 && blocks->items[around[depth - 1]].end <= blocks->items[next].start)
                depth--;
            if (open[next])
                around[depth++] = next;
        }
        while (depth > 0 && blocks->items[around[depth - 1]].end <= use->name)
            depth--;
        size_t level = level_of(blocks, around, depth, use);
        if (level > 0 && reaches_inwards(weave, &blocks->items[around[level - 1]], use))
            locals->items[locals->count++] = (struct vcm_local){
                .name = vcm_slice_of(weave->text.data + use->name, use->name_end - use->name),
                .block = around[level - 1],
                .outer = use->role == VCM_ROLE_OUTER,
                .type = use->is_type,
                .chain = vcm_slice_of(vcm_buf_slice(&weave->chains).data + use->chain,
                                      use->chain_end - use->chain),
            };
    }
    bool ok = around && locals->items;
    if (ok)
        qsort(locals->items, locals->count, sizeof *locals->items, by_text);
    free(around);
    return ok;
}

void vcm_locals_release(struct vcm_locals *locals)
{
    free(locals->items);
    *locals = (struct vcm_locals){.items = NULL};
}

/* The first one that is not less. */
static size_t lower_bound(const struct vcm_local *items, size_t count, struct vcm_slice name,
                          size_t block)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (compare(name, block, &items[middle]) > 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

struct vcm_locals_range vcm_locals_find(const struct vcm_locals *locals, struct vcm_slice name)
{
    size_t first = lower_bound(locals->items, locals->count, name, 0);
    size_t end = first + lower_bound(locals->items + first, locals->count - first, name, SIZE_MAX);

    return (struct vcm_locals_range){locals->items + first, end - first};
}

/* The first one of the block. */
static size_t find_block(const struct vcm_locals_range *range, size_t block)
{
    size_t low = 0, high = range->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (range->items[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct vcm_slice vcm_locals_chain(const struct vcm_locals_range *range, size_t block)
{
    const struct vcm_slice unknown = vcm_slice_of("", 0);
    struct vcm_slice chain = unknown;

    for (size_t i = find_block(range, block); i < range->count && range->items[i].block == block;
         i++) {
        const struct vcm_slice next = range->items[i].chain;
        if (vcm_slice_equal(next, vcm_slice_of_string(VCM_RECEIVER_NOTHING)))
            continue;
        if (next.len == 0 || (chain.len > 0 && !vcm_slice_equal(chain, next)))
            return unknown;
        chain = next;
    }
    return chain;
}

enum vcm_locals_answer vcm_locals_ask(const struct vcm_locals_range *range, size_t block, bool type)
{
    size_t low = find_block(range, block);

    if (low == range->count || range->items[low].block != block ||
        (type && !range->items[low].type))
        return VCM_LOCALS_NO;
    return range->items[low].outer ? VCM_LOCALS_OUTER : VCM_LOCALS_YES;
}
