/*
 * place_text.h - the text of a file of a place (place.h).
 */
#ifndef VCM_API_PLACE_TEXT_H
#define VCM_API_PLACE_TEXT_H

#include "api/place.h"
#include "vcm/page/page.h"

struct vcm_place_text {
    struct vcm_buf text;           /* valid UTF-8: whole lines, the last may lack its line end */
    uint32_t first_line;           /* of `text`, from 1; 0 of an empty text */
    uint32_t line_count;           /* of the whole file */
    bool lossy;                    /* invalid UTF-8 was replaced */
    enum vcm_place_source source;  /* where the text came from: pages when an object is missing */
    const struct vcm_scope *scope; /* of pages, else NULL */
    struct vcm_page_id page;       /* of pages: the one with the first line of `text` */
    bool has_page;
    bool has_blob; /* as in struct vcm_place_file, also of a file that had none */
    struct vcm_git_id blob;
};

void vcm_place_text_init(struct vcm_place_text *text);
void vcm_place_text_release(struct vcm_place_text *text);

/* Lines that are needed; 0 and 0 for all. */
struct vcm_place_lines {
    uint32_t first, last;
    bool peek; /* reading pages does not count, and leaves their state as it is */
};

/*
 * Reads a file once. Of pages only those are read that have one of the lines, and each read counts;
 * otherwise, and with `lines` NULL, the text is the whole file. An object that is missing or
 * damaged is replaced by mapped pages of the same blob, and a warning says so. UNSUPPORTED: a
 * binary file, a symbolic link, a submodule, a document, more than VCM_LIMIT_FILE_BYTES. NOT_FOUND:
 * its object, or the content in Git LFS, is not here. The message names the file.
 */
int vcm_place_text_read(struct vcm_place_text *out, struct vcm_place *place,
                        const struct vcm_place_file *file, const struct vcm_place_lines *lines,
                        struct vcm_error *err);

/* The number of lines; one without a line end at the end counts. */
uint32_t vcm_place_text_count_lines(struct vcm_slice text);

#endif
