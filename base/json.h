/*
 * json.h - reads one JSON document into a tree. The owner of yajl.
 *
 * The tree and its strings live in the caller's arena and are freed with it; strings are
 * NUL-terminated copies, but may hold NULs themselves, so `text.len` counts. Depth, node count and
 * size are bounded (limits.h). Duplicate keys are refused, objects keep the order of the text.
 */
#ifndef VCM_BASE_JSON_H
#define VCM_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum vcm_json_kind {
    VCM_JSON_NULL,
    VCM_JSON_BOOL,
    VCM_JSON_INT,    /* fits int64_t */
    VCM_JSON_NUMBER, /* any other number */
    VCM_JSON_STRING,
    VCM_JSON_ARRAY,
    VCM_JSON_OBJECT,
};

struct vcm_json {
    enum vcm_json_kind kind;
    bool boolean;
    int64_t integer;
    double number;          /* set for VCM_JSON_INT too */
    struct vcm_slice text;  /* VCM_JSON_STRING */
    struct vcm_slice key;   /* the member's name when the parent is an object */
    struct vcm_json *first; /* children of arrays and objects */
    struct vcm_json *next;
    unsigned count;
};

/* Parses exactly one document; white space may follow. VCM_INVALID_ARGUMENT names line and column
 * of the fault. *out is NULL after a failure. */
int vcm_json_parse(struct vcm_json **out, struct vcm_arena *arena, struct vcm_slice text,
                   struct vcm_error *err);

/* The member `name` of an object, or NULL when it is missing or `object` is no object. */
const struct vcm_json *vcm_json_get(const struct vcm_json *object, const char *name);

/* The text of a string member, or `otherwise`. */
const char *vcm_json_get_text(const struct vcm_json *object, const char *name,
                              const char *otherwise);
int64_t vcm_json_get_int(const struct vcm_json *object, const char *name, int64_t otherwise);
bool vcm_json_get_bool(const struct vcm_json *object, const char *name, bool otherwise);

#endif
