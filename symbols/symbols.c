#include "symbols/symbols.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/wire.h"

#include "base/banned.h"

/* Beside the use of a reference. */
#define QUALIFIED      0x10u
#define QUALIFIED_SAME 0x20u /* same qualifier as the last qualified reference */
#define RECEIVED       0x40u
#define RECEIVED_SAME  0x80u /* same receiver as the last reference that has one */
#define IS_TYPE        0x08u
#define USE_MASK       0x07u

/* Of an import. */
#define HAS_PARTS 0x1u
#define EXPORTS   0x2u
#define HIDDEN    0x4u

void vcm_symbols_init(struct vcm_symbols *symbols)
{
    *symbols = (struct vcm_symbols){.state = VCM_SYMBOL_COMPLETE};
    vcm_arena_init(&symbols->arena, VCM_LIMIT_SYMBOLS_BYTES);
}

void vcm_symbols_release(struct vcm_symbols *symbols)
{
    vcm_arena_release(&symbols->arena);
    vcm_symbols_init(symbols);
}

/* The names of references, each once: most are used several times in a file. */
struct names {
    const struct vcm_symbols *symbols;
    uint32_t *slots; /* 1 + the index of the first reference with the name */
    uint32_t mask;
};

static uint32_t find_slot(const struct names *names, struct vcm_slice name)
{
    uint32_t slot = (uint32_t)vcm_hash_checksum(name, 0) & names->mask;

    while (names->slots[slot] != 0 &&
           !vcm_slice_equal(names->symbols->references[names->slots[slot] - 1].name, name))
        slot = (slot + 1) & names->mask;
    return slot;
}

/* Each reference names an earlier one with the same name by its distance, or spells it out. */
static void encode_references(struct vcm_buf *out, const struct vcm_symbols *symbols)
{
    struct names names = {.symbols = symbols, .mask = 15};
    struct vcm_slice qualifier = vcm_slice_of("", 0), receiver = vcm_slice_of("", 0);
    uint32_t line = 0;

    while (names.mask / 2 < symbols->reference_count)
        names.mask = 2 * names.mask + 1;
    names.slots = calloc((size_t)names.mask + 1, sizeof *names.slots);
    vcm_wire_put_count(out, symbols->reference_count);
    for (uint32_t i = 0; i < symbols->reference_count; i++) {
        const struct vcm_symbol_reference *reference = &symbols->references[i];
        uint32_t slot = names.slots ? find_slot(&names, reference->name) : 0;
        uint32_t earlier = names.slots ? names.slots[slot] : 0;
        vcm_wire_put_count(out, earlier > 0 ? i + 1 - earlier : 0);
        if (earlier == 0)
            vcm_wire_put_bytes(out, reference->name);
        if (names.slots && earlier == 0)
            names.slots[slot] = i + 1;
        bool same = vcm_slice_equal(reference->qualifier, qualifier);
        unsigned mark = !reference->qualified ? 0 : same ? QUALIFIED_SAME : QUALIFIED;
        if (reference->receiver.len > 0)
            mark |= vcm_slice_equal(reference->receiver, receiver) ? RECEIVED_SAME : RECEIVED;
        mark |= reference->is_type ? IS_TYPE : 0;
        vcm_wire_put_u8(out, (uint8_t)((unsigned)reference->use | mark));
        if (mark & QUALIFIED)
            vcm_wire_put_bytes(out, qualifier = reference->qualifier);
        if (mark & RECEIVED)
            vcm_wire_put_bytes(out, receiver = reference->receiver);
        vcm_wire_put_count(out, reference->line - line);
        vcm_wire_put_count(out, reference->from);
        line = reference->line;
    }
    free(names.slots);
}

#ifndef NDEBUG
/* Requirements of the stored form: lines are written as differences, kinds as bytes, and a
 * reference names its definition by number. */
static bool can_be_stored(const struct vcm_symbols *symbols)
{
    bool sound = (unsigned)symbols->state < VCM_SYMBOL_STATE_COUNT;
    uint32_t line = 0;

    for (uint32_t i = 0; sound && i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        sound = symbol->name.len > 0 && symbol->start_line > 0 &&
                symbol->line >= symbol->start_line && symbol->end_line >= symbol->line &&
                (unsigned)symbol->kind < VCM_SYMBOL_KIND_COUNT &&
                (unsigned)symbol->visibility < VCM_SYMBOL_VISIBILITY_COUNT;
    }
    for (uint32_t i = 0; sound && i < symbols->reference_count; i++) {
        const struct vcm_symbol_reference *reference = &symbols->references[i];
        sound = reference->name.len > 0 && reference->line > 0 && reference->line >= line &&
                reference->from <= symbols->definition_count &&
                (unsigned)reference->use < VCM_SYMBOL_USE_COUNT &&
                (reference->qualified || reference->qualifier.len == 0);
        line = reference->line;
    }
    return sound;
}
#endif

void vcm_symbols_encode(struct vcm_buf *out, const struct vcm_symbols *symbols)
{
    assert(can_be_stored(symbols));
    vcm_wire_put_u8(out, VCM_SYMBOL_FORMAT);
    vcm_wire_put_u8(out, (uint8_t)symbols->state);
    vcm_wire_put_count(out, symbols->definition_count);
    for (uint32_t i = 0; i < symbols->definition_count; i++) {
        const struct vcm_symbol *symbol = &symbols->definitions[i];
        vcm_wire_put_u8(out, (uint8_t)symbol->kind);
        vcm_wire_put_u8(out, (uint8_t)symbol->visibility);
        vcm_wire_put_count(out, symbol->start_line);
        vcm_wire_put_count(out, symbol->line - symbol->start_line);
        vcm_wire_put_count(out, symbol->end_line - symbol->line);
        vcm_wire_put_bytes(out, symbol->name);
        vcm_wire_put_bytes(out, symbol->container);
        vcm_wire_put_bytes(out, symbol->signature);
        vcm_wire_put_bytes(out, symbol->documentation);
        vcm_wire_put_bytes(out, symbol->type);
    }
    vcm_wire_put_count(out, symbols->import_count);
    for (uint32_t i = 0; i < symbols->import_count; i++) {
        vcm_wire_put_bytes(out, symbols->imports[i].target);
        vcm_wire_put_bytes(out, symbols->imports[i].alias);
        vcm_wire_put_count(out, symbols->imports[i].line);
        const struct vcm_symbol_import *import = &symbols->imports[i];
        vcm_wire_put_u8(out,
                        (uint8_t)((import->parts ? HAS_PARTS : 0) |
                                  (import->exports ? EXPORTS : 0) | (import->hidden ? HIDDEN : 0)));
    }
    encode_references(out, symbols);
}

/* A count of items that take at least one byte each. */
static uint32_t get_count(struct vcm_wire_reader *r)
{
    uint64_t count = vcm_wire_get_count(r);

    if (count > r->rest.len)
        r->bad = true;
    return r->bad ? 0 : (uint32_t)count;
}

/* Room for this many items and one more; without it reading ends. */
static void *make_room(bool *no_memory, struct vcm_symbols *out, struct vcm_wire_reader *r,
                       uint32_t count, size_t size)
{
    void *room = vcm_arena_alloc(&out->arena, ((size_t)count + 1) * size);

    *no_memory = *no_memory || !room;
    r->bad = r->bad || !room;
    return room;
}

static void decode_definitions(struct vcm_symbols *out, struct vcm_wire_reader *r, bool *no_memory)
{
    out->definition_count = get_count(r);
    out->definitions =
        make_room(no_memory, out, r, out->definition_count, sizeof *out->definitions);
    for (uint32_t i = 0; i < out->definition_count && !r->bad; i++) {
        struct vcm_symbol *symbol = &out->definitions[i];
        symbol->kind = (enum vcm_symbol_kind)vcm_wire_get_u8(r);
        symbol->visibility = (enum vcm_symbol_visibility)vcm_wire_get_u8(r);
        symbol->start_line = (uint32_t)vcm_wire_get_count(r);
        symbol->line = symbol->start_line + (uint32_t)vcm_wire_get_count(r);
        symbol->end_line = symbol->line + (uint32_t)vcm_wire_get_count(r);
        symbol->name = vcm_wire_get_bytes(r);
        symbol->container = vcm_wire_get_bytes(r);
        symbol->signature = vcm_wire_get_bytes(r);
        symbol->documentation = vcm_wire_get_bytes(r);
        symbol->type = vcm_wire_get_bytes(r);
        r->bad = r->bad || (unsigned)symbol->kind >= VCM_SYMBOL_KIND_COUNT ||
                 (unsigned)symbol->visibility >= VCM_SYMBOL_VISIBILITY_COUNT;
    }
}

static void decode_references(struct vcm_symbols *out, struct vcm_wire_reader *r, bool *no_memory)
{
    struct vcm_slice qualifier = vcm_slice_of("", 0), receiver = vcm_slice_of("", 0);
    uint32_t line = 0;

    out->reference_count = get_count(r);
    out->references = make_room(no_memory, out, r, out->reference_count, sizeof *out->references);
    for (uint32_t i = 0; i < out->reference_count && !r->bad; i++) {
        struct vcm_symbol_reference *reference = &out->references[i];
        uint64_t back = vcm_wire_get_count(r);
        if (back > i) {
            r->bad = true;
            return;
        }
        reference->name = back > 0 ? out->references[i - back].name : vcm_wire_get_bytes(r);
        unsigned use = vcm_wire_get_u8(r);
        if (use & QUALIFIED)
            qualifier = vcm_wire_get_bytes(r);
        reference->qualified = (use & (QUALIFIED | QUALIFIED_SAME)) != 0;
        reference->qualifier = reference->qualified ? qualifier : vcm_slice_of("", 0);
        if (use & RECEIVED)
            receiver = vcm_wire_get_bytes(r);
        reference->receiver = use & (RECEIVED | RECEIVED_SAME) ? receiver : vcm_slice_of("", 0);
        reference->is_type = (use & IS_TYPE) != 0;
        reference->use = (enum vcm_symbol_use)(use & USE_MASK);
        reference->line = line + (uint32_t)vcm_wire_get_count(r);
        reference->from = (uint32_t)vcm_wire_get_count(r);
        line = reference->line;
        r->bad = r->bad || (unsigned)reference->use >= VCM_SYMBOL_USE_COUNT ||
                 reference->from > out->definition_count;
    }
}

int vcm_symbols_decode(struct vcm_symbols *out, struct vcm_slice bytes, bool references,
                       struct vcm_error *err)
{
    struct vcm_wire_reader r;
    bool no_memory = false;

    vcm_wire_reader_init(&r, bytes);
    bool known = vcm_wire_get_u8(&r) == VCM_SYMBOL_FORMAT;
    out->state = (enum vcm_symbol_state)vcm_wire_get_u8(&r);
    decode_definitions(out, &r, &no_memory);
    out->import_count = get_count(&r);
    out->imports = make_room(&no_memory, out, &r, out->import_count, sizeof *out->imports);
    for (uint32_t i = 0; i < out->import_count && !r.bad; i++) {
        out->imports[i].target = vcm_wire_get_bytes(&r);
        out->imports[i].alias = vcm_wire_get_bytes(&r);
        out->imports[i].line = (uint32_t)vcm_wire_get_count(&r);
        unsigned flags = vcm_wire_get_u8(&r);
        out->imports[i].parts = (flags & HAS_PARTS) != 0;
        out->imports[i].exports = (flags & EXPORTS) != 0;
        out->imports[i].hidden = (flags & HIDDEN) != 0;
    }
    if (references)
        decode_references(out, &r, &no_memory);
    bool sound = references ? vcm_wire_reader_done(&r) : !r.bad;
    if (known && sound && (unsigned)out->state < VCM_SYMBOL_STATE_COUNT)
        return VCM_OK;
    vcm_symbols_release(out);
    return no_memory ? vcm_error_memory(err)
                     : vcm_error_set(err, VCM_STORE_CORRUPT, "the symbols of a file are damaged");
}
