#include "symbols/model.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "symbols/qualifier.h"

#include "base/banned.h"

#define KEPT_MAX    ((size_t)128 * 1024) /* definitions, decoded, between two questions */
#define RENAMES_MAX ((size_t)65536)
#define SLOTS       ((size_t)4096) /* of names */

/* A definition: the hash of its name, and where it is. */
struct entry {
    uint64_t name;
    uint32_t file, number;
};

struct kept_name {
    struct vcm_model_names names;
    struct vcm_slice name;
    struct kept_name *next;
};

struct vcm_model {
    const struct vcm_index *index;
    struct entry *entries; /* by name, then file and number */
    size_t count, capacity;
    struct vcm_model_rename *renames;
    size_t rename_count, rename_capacity;
    struct vcm_symbols **files; /* those that are decoded */
    struct kept_name **slots;
    size_t kept; /* definitions that are decoded */
    int rc;
    struct vcm_error fault;
};

static int take_renames(struct vcm_model *model, const struct vcm_symbol_import *import,
                        struct vcm_error *err)
{
    struct vcm_slice list = import->alias, there, here;
    int rc = VCM_OK;

    while (rc == VCM_OK && import->parts && import->exports &&
           vcm_qualifier_next_name(&there, &here, &list)) {
        if (vcm_slice_equal(there, here) || model->rename_count >= RENAMES_MAX)
            continue;
        rc = vcm_array_reserve(&model->renames, &model->rename_capacity, model->rename_count + 1,
                               RENAMES_MAX, err);
        if (rc == VCM_OK)
            model->renames[model->rename_count++] = (struct vcm_model_rename){there, here};
    }
    return rc;
}

const struct vcm_model_rename *vcm_model_renames(size_t *count, const struct vcm_model *model)
{
    *count = model->rename_count;
    return model->renames;
}

static int take_file(struct vcm_model *model, size_t file, struct vcm_error *err)
{
    struct vcm_symbols symbols;

    vcm_symbols_init(&symbols);
    int rc = vcm_index_read_definitions(&symbols, model->index, file, err);
    if (rc == VCM_OK)
        rc =
            vcm_array_reserve(&model->entries, &model->capacity,
                              model->count + symbols.definition_count, VCM_LIMIT_LIST_ENTRIES, err);
    for (uint32_t i = 0; rc == VCM_OK && i < symbols.definition_count; i++)
        model->entries[model->count++] =
            (struct entry){vcm_hash_checksum(symbols.definitions[i].name, 0), (uint32_t)file, i};
    for (uint32_t i = 0; rc == VCM_OK && i < symbols.import_count; i++)
        rc = take_renames(model, &symbols.imports[i], err);
    vcm_symbols_release(&symbols);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

int vcm_model_open(struct vcm_model **out, const struct vcm_index *index, struct vcm_error *err)
{
    struct vcm_model *model = calloc(1, sizeof *model);
    int rc = VCM_OK;

    *out = NULL;
    if (!model)
        return vcm_error_memory(err);
    model->index = index;
    model->files = calloc(index->file_count + 1, sizeof(struct vcm_symbols *));
    model->slots = calloc(SLOTS, sizeof(struct kept_name *));
    if (!model->files || !model->slots)
        rc = vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < index->file_count; i++)
        rc = take_file(model, i, err);
    if (rc != VCM_OK) {
        vcm_model_close(model);
        return rc;
    }
    if (model->count > 0)
        qsort(model->entries, model->count, sizeof *model->entries, by_name);
    *out = model;
    return VCM_OK;
}

static void drop_kept(struct vcm_model *model)
{
    for (size_t i = 0; model->files && i < model->index->file_count; i++)
        if (model->files[i]) {
            vcm_symbols_release(model->files[i]);
            free(model->files[i]);
            model->files[i] = NULL;
        }
    for (size_t i = 0; model->slots && i < SLOTS; i++)
        while (model->slots[i]) {
            struct kept_name *next = model->slots[i]->next;
            free(model->slots[i]->names.items);
            free(model->slots[i]);
            model->slots[i] = next;
        }
    model->kept = 0;
}

void vcm_model_close(struct vcm_model *model)
{
    if (!model)
        return;
    drop_kept(model);
    free(model->files);
    free(model->slots);
    free(model->entries);
    free(model->renames);
    free(model);
}

void vcm_model_trim(struct vcm_model *model)
{
    if (model->kept > KEPT_MAX)
        drop_kept(model);
}

int vcm_model_check(const struct vcm_model *model, struct vcm_error *err)
{
    if (model->rc != VCM_OK && err)
        *err = model->fault;
    return model->rc;
}

/* The first failure is the one that is told. */
static void fail(struct vcm_model *model, int rc, const struct vcm_error *fault)
{
    if (model->rc != VCM_OK)
        return;
    model->rc = rc;
    model->fault = *fault;
}

static void *fail_memory(struct vcm_model *model)
{
    struct vcm_error fault = {0};

    fail(model, vcm_error_memory(&fault), &fault);
    return NULL;
}

const struct vcm_symbols *vcm_model_file(struct vcm_model *model, size_t file)
{
    struct vcm_error fault = {0};

    if (model->files[file])
        return model->files[file];
    struct vcm_symbols *symbols = malloc(sizeof *symbols);
    if (!symbols)
        return fail_memory(model);
    vcm_symbols_init(symbols);
    int rc = vcm_index_read_definitions(symbols, model->index, file, &fault);
    if (rc != VCM_OK) {
        free(symbols);
        fail(model, rc, &fault);
        return NULL;
    }
    model->kept += 1 + symbols->definition_count;
    model->files[file] = symbols;
    return symbols;
}

/* The entries by this hash. */
static size_t find_entries(size_t *count, const struct vcm_model *model, uint64_t name)
{
    size_t low = 0, high = model->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model->entries[middle].name < name)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < model->count && model->entries[low + *count].name == name;)
        ++*count;
    return low;
}

static struct kept_name *make_name(struct vcm_model *model, struct vcm_slice name, uint64_t hash)
{
    size_t count = 0, first = find_entries(&count, model, hash);
    struct kept_name *kept = calloc(1, sizeof *kept);

    if (kept)
        kept->names.items = calloc(count + 1, sizeof *kept->names.items);
    if (!kept || !kept->names.items) {
        free(kept);
        return fail_memory(model);
    }
    kept->name = name;
    for (size_t i = first; i < first + count; i++) {
        const struct entry *entry = &model->entries[i];
        const struct vcm_symbols *symbols = vcm_model_file(model, entry->file);
        if (symbols && entry->number < symbols->definition_count &&
            vcm_slice_equal(symbols->definitions[entry->number].name, name))
            kept->names.items[kept->names.count++] = (struct vcm_model_definition){
                entry->file, entry->number, symbols->definitions[entry->number]};
    }
    if (kept->names.count > 0)
        kept->name = kept->names.items[0].symbol.name; /* lives as long as the index */
    model->kept += 1 + kept->names.count;
    return kept;
}

const struct vcm_model_names *vcm_model_find(struct vcm_model *model, struct vcm_slice name)
{
    static const struct vcm_model_names none = {NULL, 0};
    uint64_t hash = vcm_hash_checksum(name, 0);
    struct kept_name **slot = &model->slots[hash % SLOTS];

    for (struct kept_name *kept = *slot; kept; kept = kept->next)
        if (vcm_slice_equal(kept->name, name))
            return &kept->names;
    struct kept_name *kept = make_name(model, name, hash);
    if (!kept)
        return model->rc == VCM_OK ? &none : NULL;
    if (kept->names.count == 0) { /* the name may not live on */
        free(kept->names.items);
        free(kept);
        return &none;
    }
    kept->next = *slot;
    *slot = kept;
    return &kept->names;
}
