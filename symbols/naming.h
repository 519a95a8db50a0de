/*
 * naming.h - which definition a name means where it is used, by the rules of the language
 * (languages/language.h, reach.h): in the file, in what it imports, in its package, in the
 * repository. Members of objects are in members.h, what a module exports in exports.h.
 *
 * Private to resolve.c and its parts.
 */
#ifndef VCM_SYMBOLS_NAMING_H
#define VCM_SYMBOLS_NAMING_H

#include "symbols/imports.h"
#include "symbols/model.h"

/* What all questions of a search share. */
struct vcm_naming {
    const struct vcm_index *index;
    struct vcm_model *model;
    struct vcm_imports *imports;
    uint32_t *importers; /* for each file 1 + the last file that was found to import it */
    size_t noted;        /* 1 + the file whose imports these are */
    unsigned depth;      /* of questions that are asked to answer others */
};

int vcm_naming_open(struct vcm_naming *lookup, const struct vcm_index *index,
                    struct vcm_error *err);
void vcm_naming_close(struct vcm_naming *lookup);

/* Where a name is used, and how. */
struct vcm_naming_use {
    size_t file;
    const struct vcm_symbols *symbols; /* of the file; references are not needed */
    uint32_t from;                     /* 1 + the definition that it is in, or 0 */
    uint32_t line;
    enum vcm_symbol_use use;
    bool types_only; /* nothing but a type is meant */
    struct vcm_slice name, qualifier;
};

/* What a name means. */
struct vcm_naming_answer {
    const struct vcm_model_definition *definition; /* NULL: none, or not known which */
    uint32_t module; /* 1 + a file: the name stands for the module that it is; or 0 */
    bool settled;    /* the name is known to mean this, or something outside: nothing else */
    bool external;   /* the name comes from outside of the repository */
    bool implements; /* the definition is in an interface, and only promised there */
};

/* A name by itself. */
struct vcm_naming_answer vcm_naming_find(struct vcm_naming *lookup,
                                         const struct vcm_naming_use *use);

/* A name whose qualifier is a type, a module or a namespace. */
struct vcm_naming_answer vcm_naming_find_qualified(struct vcm_naming *lookup,
                                                   const struct vcm_naming_use *use);

/* A member of the type that the use is in, or of one around that. */
struct vcm_naming_answer vcm_naming_find_in_self(struct vcm_naming *lookup,
                                                 const struct vcm_naming_use *use);

/* 1 + a file of the module that an import means, if that is one of the repository; or 0. */
uint32_t vcm_naming_find_module(const struct vcm_naming *lookup, size_t from,
                                struct vcm_slice target);

/* Whether names of one file can be used in the other without an import. */
bool vcm_naming_is_near(const struct vcm_naming *lookup, size_t from, size_t to);

/* The one definition among the marked ones, or without any the one announcement; NULL when there
 * are several. Unmarks those that are not meant. */
const struct vcm_model_definition *vcm_naming_only_one(struct vcm_naming *lookup,
                                                       const struct vcm_naming_use *use,
                                                       const struct vcm_model_names *names,
                                                       bool *marked);

/* Whether it only announces a definition by the same name: a prototype, "typedef struct a a". */
bool vcm_naming_is_promise(const struct vcm_symbol *symbol);

/* Whether it makes objects of the type, which has the same name. */
bool vcm_naming_is_constructor(const struct vcm_naming *lookup,
                               const struct vcm_model_definition *definition,
                               const struct vcm_model_definition *type);

#endif
