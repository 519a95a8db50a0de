/*
 * place_pages.h - the part of a place that is mapped pages: its scopes, and the files in their page
 * tables. Private to place.c and place_text.c.
 */
#ifndef VCM_API_PLACE_PAGES_H
#define VCM_API_PLACE_PAGES_H

#include "api/place.h"
#include "vcm/page/page.h"

/* Which scopes to look at; what is NULL is not asked for. */
struct vcm_place_pages_filter {
    const char *name;              /* id, base or unique prefix */
    const char *root;              /* mapped from this path */
    const char *origin;            /* or from this URL */
    const struct vcm_place *place; /* or from the repository of this place, or a clone of it */
    const char *commit;            /* hex, may be a prefix */
};

/* Fills place->scopes and begins a transaction. Without a store there are no scopes. NOT_FOUND and
 * AMBIGUOUS of the filter's name. */
int vcm_place_pages_open(struct vcm_place *place, const struct vcm_place_pages_filter *filter,
                         struct vcm_error *err);
void vcm_place_pages_close(struct vcm_place *place);

/* vcm_place_find(), vcm_place_has_directory() and vcm_place_each() of pages. NOT_FOUND sets `err`
 * when a scope left the file out. */
int vcm_place_pages_find(struct vcm_place_file *out, struct vcm_place *place, const char *path,
                         struct vcm_error *err);
int vcm_place_pages_has_directory(bool *found, struct vcm_place *place, const char *path,
                                  struct vcm_error *err);
int vcm_place_pages_each(struct vcm_place *place, const char *directory, vcm_place_file_fn visit,
                         void *context, struct vcm_error *err);

#endif
