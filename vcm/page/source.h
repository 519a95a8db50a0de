/*
 * source.h - the interface to the sources of records: a table of functions.
 *
 * vcm/ does not know git or PDF. sources/ implements the table for the built-in types; a program
 * that uses the library can implement one for a type of its own.
 * walk() runs in one thread and lists names only; read() runs in many threads, each with a reader
 * of its own, and returns the content of one item. Both must be deterministic: the same source at
 * the same revision gives the same items in the same order with the same content.
 */
#ifndef VCM_VCM_PAGE_SOURCE_H
#define VCM_VCM_PAGE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "base/limits.h"
#include "base/outcome.h"
#include "vcm/page/page.h"
#include "vcm/page/split.h"

/* How many items have each outcome; `tracked` is the sum of the others. */
struct vcm_source_coverage {
    uint64_t tracked;
    uint64_t by_outcome[VCM_SOURCE_OUTCOMES];
};

struct vcm_source_item {
    struct vcm_slice path; /* bytes as the source has them */
    bool name_is_escaped;  /* but for the last part of the path, which is shown as it is */
    enum vcm_source_outcome outcome; /* VCM_SOURCE_PAGED: to be read */
    enum vcm_reason reason;          /* for FAILED */
    const char *reason_text;         /* for VCM_REASON_OTHER: a static word of the source's own */
    unsigned char content_id[VCM_PAGE_CONTENT_ID_MAX];
    uint8_t content_id_len;
};

/* The maximum of `text` below: a document's text and the description of its sections. */
#define VCM_SOURCE_TEXT_BYTES_MAX (VCM_LIMIT_DOCUMENT_TEXT_BYTES + 64 * VCM_MIB)

struct vcm_source_content {
    enum vcm_source_outcome outcome; /* PAGED, or why it is not in the pages */
    enum vcm_reason reason;          /* for FAILED */
    const char *reason_text;         /* for VCM_REASON_OTHER: a static word of the source's own */
    struct vcm_buf text; /* valid UTF-8 when PAGED and not binary, or the input of cut() */
    bool lossy;          /* invalid UTF-8 was replaced */
    bool binary;         /* `text` holds bytes that are kept as they are */
    bool unverified;     /* in: the caller verifies the result, and calls again if it is wrong */
    size_t bytes_max;    /* in: content known to be longer need not be read now */
    bool postponed;      /* PAGED, but longer than that; read() will be called again */
};

struct vcm_source;

/* Anything but VCM_OK ends the walk, which returns it. */
typedef int (*vcm_source_item_fn)(void *context, const struct vcm_source_item *item,
                                  struct vcm_error *err);

/* Called for a directory, without a slash at its end, in which nothing has changed since another
 * revision. Sets *skip when its items are known and need not be visited. */
typedef int (*vcm_source_unchanged_fn)(void *context, struct vcm_slice directory, bool *skip,
                                       struct vcm_error *err);

struct vcm_source_functions {
    int (*walk)(struct vcm_source *source, vcm_source_item_fn visit, void *context,
                const struct vcm_cancel *cancel, struct vcm_error *err);

    /* May be NULL. As walk(), but also calls `unchanged` for directories whose items and outcomes,
     * except outcomes that are retried, are those of the revision `base`. A base that no longer
     * exists is not an error: then no directory is unchanged. */
    int (*walk_since)(struct vcm_source *source, struct vcm_slice base, vcm_source_item_fn visit,
                      vcm_source_unchanged_fn unchanged, void *context,
                      const struct vcm_cancel *cancel, struct vcm_error *err);

    int (*reader_open)(void **out, struct vcm_source *source, struct vcm_error *err);
    void (*reader_close)(void *reader);

    /* Fills `content`, whose buffer is empty. A problem of this item alone is an outcome, not an
     * error; an error ends the mapping. */
    int (*read)(struct vcm_source_content *content, void *reader,
                const struct vcm_source_item *item, struct vcm_error *err);

    /* May be NULL: then text is cut by split.h. Cuts the result of read() into records of the
     * source's own kind, each within the budget, as vcm_split_text() does. */
    int (*cut)(const struct vcm_source_content *content, void *reader, struct vcm_slice path,
               const struct vcm_split_options *options, vcm_split_part_fn emit, void *context,
               struct vcm_error *err);

    /* May be NULL: never. Whether the content lies in no place that a later reader could read, so
     * that pages with it must not be evicted. Any thread. */
    bool (*is_volatile)(const struct vcm_source *source, const unsigned char *content_id,
                        size_t len);

    void (*close)(struct vcm_source *source);
};

/* The first member of every source. */
struct vcm_source {
    const struct vcm_source_functions *functions;
};

/* "object_missing" and the like, or the text of a caller's own source; NULL for none. */
static inline const char *vcm_source_reason_text(enum vcm_reason reason, const char *text)
{
    return reason == VCM_REASON_OTHER ? text : vcm_outcome_reason_name(reason);
}

static inline void vcm_source_close(struct vcm_source *source)
{
    if (source)
        source->functions->close(source);
}

#endif
