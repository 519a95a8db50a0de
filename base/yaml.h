/*
 * yaml.h - reads one YAML document as plain data, with the position of every node. The owner of
 * libyaml.
 *
 * Data only: tags, anchors, aliases, merge keys and further documents are refused; size, depth and
 * node count are bounded (limits.h). The tree lives in the caller's arena. Duplicate keys are kept:
 * the caller reports them in its own terms.
 */
#ifndef VCM_BASE_YAML_H
#define VCM_BASE_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum vcm_yaml_kind {
    VCM_YAML_NULL, /* plain scalars by the YAML 1.2 core schema */
    VCM_YAML_BOOL,
    VCM_YAML_INT, /* fits int64_t */
    VCM_YAML_FLOAT,
    VCM_YAML_STRING,
    VCM_YAML_SEQUENCE,
    VCM_YAML_MAPPING,
};

struct vcm_yaml {
    enum vcm_yaml_kind kind;
    unsigned line, column;         /* 1-based, of the first character */
    unsigned end_line, end_column; /* 1-based, behind the last character */
    struct vcm_slice text;         /* every scalar as written, unquoted; NUL-terminated copy */
    bool boolean;
    int64_t integer;
    struct vcm_yaml *key;   /* the key when the parent is a mapping: a scalar */
    struct vcm_yaml *first; /* children */
    struct vcm_yaml *next;
    unsigned count;
};

struct vcm_yaml_mark {
    unsigned line, column; /* of a syntax error; 0 when it has no position */
};

/* *out is NULL for a document without content. On failure VCM_INVALID_ARGUMENT, a message without
 * position, and the position in *mark. A BOM is accepted, NUL and invalid UTF-8 are not. */
int vcm_yaml_parse(struct vcm_yaml **out, struct vcm_yaml_mark *mark, struct vcm_arena *arena,
                   struct vcm_slice text, struct vcm_error *err);

const struct vcm_yaml *vcm_yaml_get(const struct vcm_yaml *mapping, const char *key);

#endif
