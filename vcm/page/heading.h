/*
 * heading.h - the interface to what finds the headings of the parts of a file: a table of
 * functions.
 *
 * The heading of a later part names the definition around its first line. vcm/ knows no languages:
 * api/ supplies the functions of symbols/enclosing.h. The heading depends on the path and the text
 * alone, and is stored with the provenance of the record (page.h).
 */
#ifndef VCM_VCM_PAGE_HEADING_H
#define VCM_VCM_PAGE_HEADING_H

#include "base/buf.h"

struct vcm_heading_functions {
    int (*open)(void **out, struct vcm_error *err);
    void (*close)(void *finder);

    /* Begins a file; the text stays until the last find() of it. */
    void (*begin)(void *finder, struct vcm_slice path, struct vcm_slice text);

    /* Appends the heading of a part that begins at `offset`, nothing for none. Offsets ascend. One
     * line, valid UTF-8, of at most VCM_LIMIT_CONTEXT_LINE_BYTES. */
    void (*find)(struct vcm_buf *out, void *finder, size_t offset);
};

#endif
