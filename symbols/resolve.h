/*
 * resolve.h - the references to a name, and the definition that each refers to.
 *
 * A reference is resolved when the rules of the language (languages/language.h, reach.h) leave one
 * definition: in the same file, in what it imports, through any number of modules that pass it on,
 * in the same package, or, where names are global, in the repository. One that is qualified is
 * resolved when the qualifier is the object itself, a type or namespace that is seen from there, a
 * module that the file imports, or an object whose type is written down. A reference with several
 * candidates, or to a member of an object of unknown type, stays unresolved.
 * The parts: naming.h (names), exports.h (modules), members.h (objects), model.h (definitions).
 */
#ifndef VCM_SYMBOLS_RESOLVE_H
#define VCM_SYMBOLS_RESOLVE_H

#include "symbols/model.h"

struct vcm_resolved {
    size_t file;
    const struct vcm_symbols *symbols; /* of the file, for the length of the call */
    const struct vcm_symbol_reference *reference;
    const struct vcm_symbol *target; /* NULL: unresolved */
    size_t target_file;
    enum vcm_symbol_use use; /* as the target makes clear: calling a class makes an object */
    bool external;           /* unresolved, and known to be from outside of the repository */
    const struct vcm_model_names *candidates; /* all definitions by the name; may be NULL */
};

/* Anything but VCM_OK ends the search, which returns it. */
typedef int (*vcm_resolve_fn)(void *context, const struct vcm_resolved *found,
                              struct vcm_error *err);

/* Visits references to the name by file and line. With `only_line` above 0 only one definition is
 * meant, that of `only_file` in this line: references that resolve to another are left out. */
struct vcm_resolve_query {
    struct vcm_slice name;
    struct vcm_slice only_file;
    uint32_t only_line;
};

/* NOT_FOUND when there is no such definition as the query wants. */
int vcm_resolve_visit(const struct vcm_index *index, const struct vcm_resolve_query *query,
                      vcm_resolve_fn visit, void *context, struct vcm_error *err);

#endif
