/*
 * <vcm/source.h> - source types of the caller, which rows of a map name in `type`.
 *
 * read() is called from several threads at once. Rows and entries live until the function returns.
 */
#ifndef VCM_PUBLIC_SOURCE_H
#define VCM_PUBLIC_SOURCE_H

#include <stddef.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a row selects. */
struct vcm_source_row {
    const char *repository;           /* path of a repository on this machine */
    const char *commit;               /* full id */
    const char *start_dir;            /* "" for the whole tree */
    const char *const *include_globs; /* gitignore patterns; none: everything */
    size_t include_count;
    const char *const *exclude_globs;
    size_t exclude_count;
};

struct vcm_source_entry {
    const char *path; /* not NUL-terminated, not necessarily UTF-8 */
    size_t path_len;
    const void *content_id; /* 1 to 32 bytes; equal ids mean equal text */
    size_t content_id_len;
};
typedef int (*vcm_source_entry_fn)(void *context, const struct vcm_source_entry *entry,
                                   struct vcm_error *err);
/* Receives a piece of the text; called any number of times. */
typedef int (*vcm_source_text_fn)(void *context, const char *text, size_t len,
                                  struct vcm_error *err);

/* walk() visits every entry, in the same order each time. read() is called from several threads at
 * once; when it cannot read an entry it returns NOT_FOUND, the entry counts as failed and the
 * mapping continues. Invalid UTF-8 is replaced. */
struct vcm_source_definition {
    const char *name;
    void *context; /* passed to open() */
    int (*open)(void **source, void *context, const struct vcm_source_row *row,
                struct vcm_error *err);
    int (*walk)(void *source, vcm_source_entry_fn visit, void *visit_context,
                struct vcm_error *err);
    int (*read)(void *source, const struct vcm_source_entry *entry, vcm_source_text_fn write,
                void *write_context, struct vcm_error *err);
    void (*close)(void *source);
};

/* The name and the context must outlive the handle. INVALID_ARGUMENT when the name is taken or a
 * function is missing. */
int vcm_register_source(struct vcm *vcm, const struct vcm_source_definition *definition,
                        struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
