/*
 * cursor.h - the place in a listing where the next answer begins, as text: "50:tool-4f2a,17".
 *
 * Before the colon is the number of rows that were shown already, and after a "+" how many rows
 * with the same key; behind it is the key of the next row. Bytes that a shell or a URL would change
 * are written %HH; null is "~".
 */
#ifndef VCM_OPS_CURSOR_H
#define VCM_OPS_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

#define VCM_ANSWER_KEYS_MAX 3u

struct vcm_cursor {
    uint64_t before;                /* rows before it */
    uint64_t alike;                 /* of them with the same key, directly before it */
    char *key[VCM_ANSWER_KEYS_MAX]; /* NULL for null; allocated */
    bool is_set;
};

/* Appends the cursor for the row of a document. `names` are the members of its key. */
void vcm_cursor_append(struct vcm_buf *out, uint64_t before, uint64_t alike,
                       const char *const *names, const struct vcm_json *row);

/* INVALID_ARGUMENT, if the text is no cursor with so many members. Release it after a failure, too.
 */
int vcm_cursor_parse(struct vcm_cursor *out, const char *text, const char *const *names,
                     struct vcm_error *err);
/* Sets INVALID_ARGUMENT: this is no cursor. */
int vcm_cursor_refuse(const char *text, struct vcm_error *err);
void vcm_cursor_release(struct vcm_cursor *cursor);

/* Whether the row has the key of the cursor, and whether two rows have the same. */
bool vcm_cursor_names(const struct vcm_cursor *cursor, const char *const *names,
                      const struct vcm_json *row);
bool vcm_cursor_alike(const char *const *names, const struct vcm_json *a, const struct vcm_json *b);

#endif
