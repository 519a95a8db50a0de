/*
 * qualifier.h - the qualifier before a name: "shop" of "shop.total"; and paths and lists of names.
 *
 * Reads the bytes around a name that the tree has found, so that no query has to. Several words are
 * kept as written ("Shop.Cart", "crate::shop"). A name behind a call, an index or a field is
 * qualified by a value without a name: its qualifier is there and empty.
 */
#ifndef VCM_SYMBOLS_QUALIFIER_H
#define VCM_SYMBOLS_QUALIFIER_H

#include "base/buf.h"
#include "symbols/languages/language.h"

/* Whether the name at `name` is qualified; *out points into the text, and may be empty. */
bool vcm_qualifier_find(struct vcm_slice *out, const struct vcm_language_descriptor *language,
                        struct vcm_slice text, size_t name);

enum vcm_qualifier_self {
    VCM_QUALIFIER_OTHER,
    VCM_QUALIFIER_SELF,  /* the object, or its type */
    VCM_QUALIFIER_SUPER, /* what the type inherits from */
};

/* `function` is what the function around begins with, where Go names the object. */
enum vcm_qualifier_self vcm_qualifier_self(const struct vcm_language_descriptor *language,
                                           struct vcm_slice qualifier, struct vcm_slice function);

/* Takes the first import off a statement that has several, "a.b, c.{d, e}". False at its end. */
bool vcm_qualifier_next_import(struct vcm_slice *import, struct vcm_slice *rest);

/* The target of an import without the group behind it: "a.b" of "a.b.{C, D}" and "a.b._". */
struct vcm_slice vcm_qualifier_target(struct vcm_slice import);

/* Takes the first name off a list that an import makes (vcm_symbol_import, "a, b as c"): what it is
 * called in the module, and here. False at its end. */
bool vcm_qualifier_next_name(struct vcm_slice *name, struct vcm_slice *here,
                             struct vcm_slice *list);

/* Whether such a list has this name, under which the module has it too. */
bool vcm_qualifier_names(struct vcm_slice alias, struct vcm_slice name);

/* Takes the last word off a path of words, whatever stands between them. Empty at its end. */
struct vcm_slice vcm_qualifier_pop(struct vcm_slice *path);

#endif
