/*
 * read_items.h - the items of vcm_read() before they are cut to a budget: which lines of which
 * files, merged. Private to read*.c.
 */
#ifndef VCM_API_READ_ITEMS_H
#define VCM_API_READ_ITEMS_H

#include "api/target.h"
#include "api/public/read.h"
#include "tokens/tokenizer.h"

/* A file that was read, with its definitions. */
struct vcm_read_file {
    struct vcm_place_file file; /* its path is `path` */
    char *path;
    char *shown; /* valid UTF-8 */
    struct vcm_place_text text;
    struct vcm_symbols symbols;
    enum vcm_language language;
};

/* Both stay where they are while the lists grow. */
struct vcm_read_file_at {
    struct vcm_read_file *file;
};
struct vcm_read_page_at {
    struct vcm_page *page;
};

/* Lines of a file, or a record of a page. */
struct vcm_read_span {
    size_t file; /* number of the file; SIZE_MAX of a record */
    uint32_t first, last;
    const char *symbol, *kind; /* of the definition that was named; NULL for others */
    struct vcm_read_item item; /* of a record at once, else by vcm_read_items_finish() */
    struct vcm_record record;  /* how it is rendered */
};

struct vcm_read_items {
    struct vcm_place *place;
    struct vcm_place_symbols symbols;
    struct vcm_tokenizer *tokenizer;
    struct vcm_arena arena;
    struct vcm_read_file_at *files;
    size_t file_count, file_capacity;
    struct vcm_read_span *spans;
    size_t span_count, span_capacity;
    struct vcm_read_page_at *pages; /* that items point into */
    size_t page_count, page_capacity;
    uint32_t context;
};

/* Opens the place. Released by the caller also after a failure. */
int vcm_read_items_open(struct vcm_read_items *items, struct vcm *vcm,
                        const struct vcm_read_query *query, struct vcm_error *err);
void vcm_read_items_release(struct vcm_read_items *items);

/* Adds what one argument names. */
int vcm_read_items_add(struct vcm_read_items *items, const char *text, struct vcm_error *err);

/* Merges spans of a file that overlap or touch, into the first of them, and completes the items:
 * text, enclosing definition, provenance; without tokens. */
int vcm_read_items_finish(struct vcm_read_items *items, struct vcm_error *err);

#endif
