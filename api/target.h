/*
 * target.h - what an argument names: a file, lines of it, a directory, a definition, or a page.
 *
 * A path is tried first, then a definition, then a page. A path is one from the root, else one from
 * the directory that the place was opened at. A definition is named by its name ("total"), its name
 * in its container ("Shop.total", "Shop::total"), the file that it is in ("shop.py:total"), or its
 * id, as 'vcm symbols' prints it ("shop.py:12#Shop.total").
 */
#ifndef VCM_API_TARGET_H
#define VCM_API_TARGET_H

#include "api/place_symbols.h"

enum vcm_target_kind {
    VCM_TARGET_FILE,
    VCM_TARGET_DIRECTORY,
    VCM_TARGET_SYMBOL,
    VCM_TARGET_PAGE,
};

struct vcm_target {
    enum vcm_target_kind kind;
    struct vcm_buf path;        /* of a file, a directory, or the definition's file */
    struct vcm_place_file file; /* of a file or a definition; its path is `path` */
    uint32_t first, last;       /* of a file: the lines; 0 for all, UINT32_MAX up to the end */
    struct vcm_buf name;        /* of a definition: "Shop.total" */
    struct vcm_buf signature;   /* of it */
    uint32_t line, end_line;    /* of it, without its comment */
    enum vcm_symbol_kind symbol_kind;
    enum vcm_language language;
    struct vcm_page_id page;
};

void vcm_target_init(struct vcm_target *target);
void vcm_target_release(struct vcm_target *target);

/* Fills a target that is initialised. NOT_FOUND with what is near; AMBIGUOUS with the candidates,
 * each of which names one thing; INVALID_ARGUMENT for what vcm_target_parse_lines() refuses. */
int vcm_target_find(struct vcm_target *out, struct vcm_place_symbols *symbols, const char *text,
                    struct vcm_error *err);

#endif
