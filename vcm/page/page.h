/*
 * page.h - records and pages: their bytes, their ids, and where they came from.
 *
 * A record's serialised value is compact JSON; a page's frame has the values of its records, one on
 * each line; a page's id is a hash of its frame and of nothing else (docs/FORMAT.md).
 * Where a record came from is stored beside the frame, for each scope, so that equal content is one
 * page in all scopes and revisions.
 */
#ifndef VCM_VCM_PAGE_PAGE_H
#define VCM_VCM_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define VCM_PAGE_ID_BYTES       20
#define VCM_PAGE_ID_HEX         40
#define VCM_PAGE_CONTENT_ID_MAX 32

struct vcm_page_id {
    unsigned char bytes[VCM_PAGE_ID_BYTES];
};

/* Where one record of a page came from. The function that fills it in says how long slices are
 * valid.
 */
struct vcm_page_record {
    struct vcm_slice path;       /* valid UTF-8, as in the serialised value */
    struct vcm_slice content_id; /* raw bytes that name the content in its source: a git blob id */
    uint32_t tokens;             /* of the serialised value */
    uint32_t bytes;              /* of the serialised value, without the line end */
    uint32_t start_line;         /* 1-based, both ends inclusive; 0 and 0 for an empty file */
    uint32_t end_line;
    uint32_t part; /* 1-based */
    uint32_t parts;
    bool lossy;               /* invalid UTF-8 in the content was replaced */
    bool path_lossy;          /* invalid bytes in the path were written \xHH */
    bool binary;              /* the text is base64, or empty when that does not fit a page */
    uint32_t size;            /* of the content in bytes, of binary ones; 0 otherwise */
    bool prose;               /* a chunk of a document, whose value has a section: */
    struct vcm_slice section; /* its headings, "" for none */
    uint32_t page;            /* of the document, 1-based; 0 when it has none */
    struct vcm_slice
        heading; /* of a later part: the definition around it, "" for none (heading.h) */
};

/* Appends {"path":…,"text":…}. Both must be valid UTF-8. */
void vcm_page_serialise(struct vcm_buf *out, struct vcm_slice path, struct vcm_slice text);

/* The id of the page with this frame. */
void vcm_page_id_of(struct vcm_page_id *out, struct vcm_slice frame);

/* The id of the record with this serialised value. */
void vcm_page_record_id_of(struct vcm_page_id *out, struct vcm_slice value);

void vcm_page_id_to_hex(char out[VCM_PAGE_ID_HEX + 1], const struct vcm_page_id *id);

/* A page's records as they are stored in a row of a scope's page table. */
void vcm_page_put_records(struct vcm_buf *out, const struct vcm_page_record *records,
                          uint32_t count);

/* Parses stored records into an array that the caller frees; slices point into `bytes`.
 * VCM_STORE_CORRUPT when they are malformed. */
int vcm_page_get_records(struct vcm_page_record **out, uint32_t *count, struct vcm_slice bytes,
                         struct vcm_error *err);

/* Removes the first serialised value from `frame`; false at its end. A last line without a line end
 * is returned as well. */
bool vcm_page_next_value(struct vcm_slice *value, struct vcm_slice *frame);

#endif
