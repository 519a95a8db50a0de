/*
 * result.h - describes the document of an operation: a table beside the operation that has every
 * member down to the leaves.
 *
 * Help, the manual and the JSON Schema (schema.h) are made from the table. If a document has the
 * members of a public struct, the document is written from the table, too: one line names the
 * field, describes it and writes it. Tables are constant and end with a member without a name.
 */
#ifndef VCM_OPS_RESULT_H
#define VCM_OPS_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jsonw.h"

enum vcm_result_type {
    VCM_RESULT_TEXT,
    VCM_RESULT_INTEGER, /* never below 0 */
    VCM_RESULT_NUMBER,
    VCM_RESULT_BOOL,
    VCM_RESULT_OBJECT,
    VCM_RESULT_SCALAR, /* text, integer or bool */
};

/* The type of a member's field in a struct; the macros below derive it. */
enum vcm_result_field {
    VCM_RESULT_NOWHERE, /* computed by `put`, or written by hand */
    VCM_RESULT_POINTER, /* const char *; NULL is null */
    VCM_RESULT_CHARS,   /* char[] */
    VCM_RESULT_SLICE,   /* const char * and a length */
    VCM_RESULT_UINT32,
    VCM_RESULT_UINT64,
    VCM_RESULT_INT64,
    VCM_RESULT_FLAG,
    VCM_RESULT_DOUBLE,
    VCM_RESULT_STRING_LIST, /* const char *const * and a count */
    VCM_RESULT_STRUCT,      /* in place */
    VCM_RESULT_STRUCT_OR_NULL,
    VCM_RESULT_STRUCT_LIST, /* pointer to the first, and a count */
};

struct vcm_result_member {
    const char *name;
    const char *summary;
    enum vcm_result_type type;
    bool is_list;               /* a list of values of the type */
    bool nullable;              /* may be null */
    bool optional;              /* may be missing */
    bool is_open;               /* of an object: it may have members that are not described */
    const char *const *choices; /* of text: the only values; ends with NULL */
    const struct vcm_result_member *members; /* of an object; NULL if none is described */
    bool is_spliced;     /* not a member itself: the members of `members` take its place */
    const char *defined; /* of a recursive object: the name of its definition in the schema */

    /* For writing. A member with neither a field nor `put` is written by hand. */
    enum vcm_result_field field;
    size_t offset, count_offset, size; /* of field and count in the struct; of an element */
    bool unset_is_null; /* 0, or a negative number of a signed field, is written as null */
    void (*put)(struct vcm_jsonw *w, const void *from); /* computes the value from the struct */
};

/* A field of struct `s`: its type is that of the field. */
#define VCM_RESULT_FIELD(s, f)                                                                     \
    .type = VCM_RESULT_TYPE_OF(((s *)0)->f), .field = VCM_RESULT_FIELD_OF(((s *)0)->f),            \
    .offset = offsetof(s, f)

/* The same; NULL, 0 or, for signed fields, a negative number is written as null. */
#define VCM_RESULT_FIELD_OR_NULL(s, f)                                                             \
    VCM_RESULT_FIELD(s, f), .nullable = true, .unset_is_null = true

/* A text with a length. */
#define VCM_RESULT_TEXT_FIELD(s, f, len)                                                           \
    .type = VCM_RESULT_TEXT,                                                                       \
    .field = _Generic(((s *)0)->f, const char *: VCM_RESULT_SLICE), .offset = offsetof(s, f),      \
    .count_offset = _Generic(((s *)0)->len, size_t: offsetof(s, len))

/* A list of strings and its count. */
#define VCM_RESULT_STRINGS(s, f, n)                                                                \
    .type = VCM_RESULT_TEXT, .is_list = true,                                                      \
    .field = _Generic(((s *)0)->f, const char *const *: VCM_RESULT_STRING_LIST,                    \
                      const char **: VCM_RESULT_STRING_LIST),                                      \
    .offset = offsetof(s, f), .count_offset = _Generic(((s *)0)->n, size_t: offsetof(s, n))

/* Objects with the members of `table`: from a struct inside the struct, from a pointer to one (null
 * for NULL), and from a list of structs. */
#define VCM_RESULT_INNER(s, f, table)                                                              \
    .type = VCM_RESULT_OBJECT, .members = (table), .field = VCM_RESULT_STRUCT,                     \
    .offset = offsetof(s, f)
#define VCM_RESULT_INNER_OR_NULL(s, f, table)                                                      \
    .type = VCM_RESULT_OBJECT, .members = (table), .nullable = true,                               \
    .field = VCM_RESULT_STRUCT_OR_NULL, .offset = offsetof(s, f)
#define VCM_RESULT_STRUCTS(s, f, n, table)                                                         \
    .type = VCM_RESULT_OBJECT, .is_list = true, .members = (table),                                \
    .field = VCM_RESULT_STRUCT_LIST, .offset = offsetof(s, f), .size = sizeof(*((s *)0)->f),       \
    .count_offset = _Generic(((s *)0)->n, size_t                                                   \
                             : offsetof(s, n))

/* The members of another table, over a struct inside the struct, as members of this one. */
#define VCM_RESULT_SPLICE(s, f, table) .name = "", .is_spliced = true, VCM_RESULT_INNER(s, f, table)

/* The same over this struct itself. */
#define VCM_RESULT_SPLICE_GROUP(table) .name = "", .is_spliced = true, VCM_RESULT_GROUP(table)

/* An object made of members of this struct itself. */
#define VCM_RESULT_GROUP(table)                                                                    \
    .type = VCM_RESULT_OBJECT, .members = (table), .field = VCM_RESULT_STRUCT

#define VCM_RESULT_TYPE_OF(field)                                                                  \
    _Generic((field), const char *: VCM_RESULT_TEXT, char *: VCM_RESULT_TEXT,                      \
             uint32_t: VCM_RESULT_INTEGER, uint64_t: VCM_RESULT_INTEGER,                           \
             int64_t: VCM_RESULT_INTEGER, bool: VCM_RESULT_BOOL, double: VCM_RESULT_NUMBER)
#define VCM_RESULT_FIELD_OF(field)                                                                 \
    _Generic((field), const char *: VCM_RESULT_POINTER, char *: VCM_RESULT_CHARS,                  \
             uint32_t: VCM_RESULT_UINT32, uint64_t: VCM_RESULT_UINT64,                             \
             int64_t: VCM_RESULT_INT64, bool: VCM_RESULT_FLAG, double: VCM_RESULT_DOUBLE)

/* Writes an object with all members, none of which may be one that is written by hand. */
void vcm_result_put(struct vcm_jsonw *w, const struct vcm_result_member *members, const void *from);

/* Writes members into the open object up to the first that is written by hand, and returns that
 * one: the caller writes it and may continue after it. Returns the end of the table if there is
 * none.
 */
const struct vcm_result_member *vcm_result_put_members(struct vcm_jsonw *w,
                                                       const struct vcm_result_member *members,
                                                       const void *from);

#endif
