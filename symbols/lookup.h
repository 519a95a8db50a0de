/*
 * lookup.h - the definitions of a name in an index.
 *
 * With a stored graph only the files are read that have the words of the name, else all.
 */
#ifndef VCM_SYMBOLS_LOOKUP_H
#define VCM_SYMBOLS_LOOKUP_H

#include "symbols/index.h"

struct vcm_lookup_found {
    size_t file;                       /* of the index */
    const struct vcm_symbols *symbols; /* of the file, for the length of the call */
    const struct vcm_symbol *symbol;
};

/* Anything but VCM_OK ends the search, which returns it. */
typedef int (*vcm_lookup_fn)(void *context, const struct vcm_lookup_found *found,
                             struct vcm_error *err);

/*
 * Visits the definitions that `text` may mean, by file and line: those of this name, and those that
 * are called by its last part in a container that ends with the parts before ("Shop.total",
 * "a::b"). None is no error.
 */
int vcm_lookup_visit(const struct vcm_index *index, struct vcm_slice text, vcm_lookup_fn visit,
                     void *context, const struct vcm_cancel *cancel, struct vcm_error *err);

/* The last part of a qualified name; all of it when it is not qualified. */
struct vcm_slice vcm_lookup_last_part(struct vcm_slice text);

/* Whether the definition may be meant by `text`, as above. */
bool vcm_lookup_matches(const struct vcm_symbol *symbol, struct vcm_slice text);

#endif
