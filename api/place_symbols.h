/*
 * place_symbols.h - the definitions of a place's files, and the definitions of a name.
 *
 * What is stored for a commit is used. The symbols of a single file are read from its text when
 * they are not stored, so that looking at a file does not index its repository; looking for a name
 * does.
 */
#ifndef VCM_API_PLACE_SYMBOLS_H
#define VCM_API_PLACE_SYMBOLS_H

#include "api/place_index.h"
#include "api/place_text.h"
#include "symbols/symbols.h"

struct vcm_place_symbols {
    struct vcm_place *place;
    struct vcm_place_index index;
    bool is_complete;  /* `index` was opened with vcm_place_index_open() */
    bool was_recalled; /* or looked for in the store */
    struct vcm_extractor *extractor;
};

/* The place outlives it. */
void vcm_place_symbols_init(struct vcm_place_symbols *symbols, struct vcm_place *place);
void vcm_place_symbols_release(struct vcm_place_symbols *symbols);

/* The index of a place that has a repository, complete. */
int vcm_place_symbols_index(struct vcm_index **out, struct vcm_place_symbols *symbols,
                            struct vcm_error *err);

/* Fills symbols that are initialised, without references unless they are wanted; they point into
 * `symbols` or own what they have. `text` is the whole file. *language is VCM_LANGUAGE_NONE's when
 * symbols are not read from such files. */
int vcm_place_symbols_read(struct vcm_symbols *out, enum vcm_language *language,
                           struct vcm_place_symbols *symbols, const struct vcm_place_file *file,
                           struct vcm_slice text, bool references, struct vcm_error *err);

/* A definition that a name may mean. */
struct vcm_place_definition {
    const struct vcm_place_file *file;
    enum vcm_language language;
    const struct vcm_symbol *symbol;
};

typedef int (*vcm_place_definition_fn)(void *context, const struct vcm_place_definition *found,
                                       struct vcm_error *err);

/* Visits the definitions that `text` may mean (symbols/lookup.h), by path and line; of pages by
 * scope and page. All that is passed on is valid during the call. */
int vcm_place_symbols_find(struct vcm_place_symbols *symbols, struct vcm_slice text,
                           vcm_place_definition_fn visit, void *context, struct vcm_error *err);

/* The same for the symbols of one file. */
int vcm_place_symbols_match(const struct vcm_symbols *symbols, enum vcm_language language,
                            const struct vcm_place_file *file, struct vcm_slice text,
                            vcm_place_definition_fn visit, void *context, struct vcm_error *err);

#endif
