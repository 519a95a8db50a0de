/*
 * qualifier.h - what stands before a name: "shop" of "shop.total", and the name that an import
 * gives to what it imports.
 *
 * Reads the bytes around a name that the tree has found, so that no query has to. Several words are
 * kept as written ("Shop.Cart", "crate::shop"). What is behind a call, an index or a field has a
 * qualifier that nobody can name: it is there and empty.
 */
#ifndef VCM_SYMBOLS_QUALIFIER_H
#define VCM_SYMBOLS_QUALIFIER_H

#include "base/buf.h"
#include "symbols/language.h"

/* Whether the name at `name` is qualified; *out points into the text, and may be empty. */
bool vcm_qualifier_find(struct vcm_slice *out, enum vcm_language language, struct vcm_slice text,
                        size_t name);

enum vcm_qualifier_self {
    VCM_QUALIFIER_OTHER,
    VCM_QUALIFIER_SELF,  /* the object, or its type */
    VCM_QUALIFIER_SUPER, /* what the type inherits from */
};

/* `function` is what the function around begins with, where Go names the object. */
enum vcm_qualifier_self vcm_qualifier_self(enum vcm_language language, struct vcm_slice qualifier,
                                           struct vcm_slice function);

/* The name that stands for the module whose import has its target at [start, end); "" when the
 * target's own words do, "-" when no name does. Of Python's "from a import b, c" all from "import":
 * each name may be a module in a. */
struct vcm_slice vcm_qualifier_alias(enum vcm_language language, struct vcm_slice text,
                                     size_t start, size_t end);

/* Whether such a list of names has this one. */
bool vcm_qualifier_names(struct vcm_slice alias, struct vcm_slice name);

/* Takes the last word off a path of words, whatever stands between them. Empty at its end. */
struct vcm_slice vcm_qualifier_pop(struct vcm_slice *path);

#endif
