/*
 * rows.h - finds the rows of a listing in the JSON text of its document, without building a tree.
 *
 * For documents that this program wrote: compact JSON, one object. Offsets are into that text.
 */
#ifndef VCM_OPS_ROWS_H
#define VCM_OPS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct vcm_rows {
    struct vcm_slice document;
    bool has_list;
    size_t list_begin, list_end; /* of the list's value, brackets included */
    size_t *starts;              /* of each row, and behind the last: where the next would begin */
    size_t count, capacity;
};

/* Finds the rows of the member `list`. VCM_INTERNAL for text that is no such document. */
int vcm_rows_find(struct vcm_rows *rows, struct vcm_slice document, const char *list,
                  struct vcm_error *err);
void vcm_rows_release(struct vcm_rows *rows);

/* The text of the rows from `first` up to, and without, `end`; with the commas between them. */
struct vcm_slice vcm_rows_between(const struct vcm_rows *rows, size_t first, size_t end);

/* Calls `visit` for each member of the document. */
typedef void (*vcm_rows_member_fn)(void *context, struct vcm_slice name, struct vcm_slice value);
int vcm_rows_each_member(struct vcm_slice document, vcm_rows_member_fn visit, void *context,
                         struct vcm_error *err);

#endif
