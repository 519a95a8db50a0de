/*
 * receiver.h - what stands before a member, and what is written down of its type, as text.
 *
 *      this/store          the field of the object
 *      shop/find/()        what the method returns
 *      :Shop               an object of a type; ":a.Shop" of a module's type; ":Shop[]" a list
 *      xs/[]               one of a list
 *      @./shop             a module
 *
 * The root of such a chain is a name where the chain is used, unless it has a mark. Chains are made
 * from the syntax tree by one table of node kinds for all grammars; weave_type.h replaces local
 * names by their own chains, members.h looks up what they mean. A class has its bases instead,
 * ":A,:b.B". What is not understood has no chain. Private to extractor.c and tree_query.c.
 */
#ifndef VCM_SYMBOLS_RECEIVER_H
#define VCM_SYMBOLS_RECEIVER_H

#include <tree_sitter/api.h>

#include "base/buf.h"
#include "base/error.h"

#define VCM_RECEIVER_MAX ((size_t)200) /* bytes of a chain */

/* Says that the value is nothing, whatever type it may have later: "x = None". */
#define VCM_RECEIVER_NOTHING "~"

struct vcm_receiver_table;

/* The kinds of nodes of a grammar that have a part in chains. */
int vcm_receiver_open(struct vcm_receiver_table **out, const TSLanguage *language,
                      struct vcm_error *err);
void vcm_receiver_close(struct vcm_receiver_table *table);

/* The nodes around a node, nearest first; without an id beyond the root. */
typedef TSNode (*vcm_receiver_above_fn)(void *context, unsigned level);

struct vcm_receiver_place {
    const struct vcm_receiver_table *table;
    struct vcm_slice text;
    TSNode name;
    vcm_receiver_above_fn above;
    void *context;
};

/* Appends the chain of what stands before the name. */
void vcm_receiver_of_use(struct vcm_buf *out, const struct vcm_receiver_place *place);

/* Appends that of what is declared by the name: of its type, else of its value; of a function, what
 * it returns. */
void vcm_receiver_of_declaration(struct vcm_buf *out, const struct vcm_receiver_place *place);

#endif
