/*
 * model.h - the definitions of an index by name, and what is decoded of its files.
 *
 * Made for a search: a table of all definitions is made once, of 16 bytes each; files are decoded
 * when they are asked for, without references, and kept until vcm_model_trim() finds that it is too
 * much. Texts of definitions point into the index and stay; the structs stay until the trim.
 * Belongs to one thread, like its index.
 */
#ifndef VCM_SYMBOLS_MODEL_H
#define VCM_SYMBOLS_MODEL_H

#include "symbols/index.h"

struct vcm_model_definition {
    uint32_t file, number; /* number: its place among those of the file */
    struct vcm_symbol symbol;
};

/* All by one name. */
struct vcm_model_names {
    struct vcm_model_definition *items; /* by file, then as in the file */
    size_t count;
};

/* A name under which a file passes another on: "export {there as here}". */
struct vcm_model_rename {
    struct vcm_slice there, here;
};

struct vcm_model;

/* The index must live longer. */
int vcm_model_open(struct vcm_model **out, const struct vcm_index *index, struct vcm_error *err);
void vcm_model_close(struct vcm_model *model);

/* NULL without memory, or when the store is damaged: vcm_model_check() tells. */
const struct vcm_model_names *vcm_model_find(struct vcm_model *model, struct vcm_slice name);
const struct vcm_symbols *vcm_model_file(struct vcm_model *model, size_t file);

/* All such names; some more than once. */
const struct vcm_model_rename *vcm_model_renames(size_t *count, const struct vcm_model *model);

/* The first failure. */
int vcm_model_check(const struct vcm_model *model, struct vcm_error *err);

/* Between two questions, when nothing that was returned is used any more. */
void vcm_model_trim(struct vcm_model *model);

#endif
