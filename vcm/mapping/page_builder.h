/*
 * page_builder.h - packs records into pages by locality, record count and token budget.
 *
 * Records are added in the order of the walk. cluster.h decides where pages end, by the strength
 * of the gaps between records: a gap inside a directory is weaker than one between directories, one
 * between directories that share more of their path is weaker than others, and among equals a hash
 * of the path behind the gap decides. A page depends only on the records around it, so an edit
 * changes a page or two.
 * The builder holds the records of a few pages. It does not know the store: it passes finished
 * pages to a function.
 */
#ifndef VCM_VCM_MAPPING_PAGE_BUILDER_H
#define VCM_VCM_MAPPING_PAGE_BUILDER_H

#include <stdint.h>

#include "base/buf.h"
#include "vcm/mapping/known.h"
#include "vcm/page/page.h"

/* A finished page; everything is valid during the call only. */
struct vcm_page_built {
    struct vcm_page_id id;
    struct vcm_slice frame; /* of a known page only the length */
    bool known;             /* the former table has the page */
    uint32_t known_seq;     /* its row there */
    const struct vcm_page_record *records;
    uint32_t record_count;
    uint32_t tokens;
    bool is_volatile; /* its source cannot give its text again */
};

typedef int (*vcm_page_builder_fn)(void *context, const struct vcm_page_built *page,
                                   struct vcm_error *err);

struct vcm_page_builder;

struct vcm_page_builder_options {
    uint32_t record_threshold; /* most records in a page */
    uint32_t token_budget;     /* most tokens in a page */
    struct vcm_known *known;   /* of the records that are added by number; may be NULL */
    vcm_page_builder_fn emit;
    void *emit_context;
};

int vcm_page_builder_open(struct vcm_page_builder **out,
                          const struct vcm_page_builder_options *options, struct vcm_error *err);

/* Copies the record; its tokens must not exceed the budget. May emit a page. */
int vcm_page_builder_add(struct vcm_page_builder *builder, struct vcm_slice value,
                         const struct vcm_page_record *record, struct vcm_error *err);

/* Adds a record of the former table. Its value is read only when it becomes part of a new page. */
int vcm_page_builder_add_known(struct vcm_page_builder *builder, uint32_t number,
                               struct vcm_error *err);

/* Emits the pages of all records that are left. */
int vcm_page_builder_finish(struct vcm_page_builder *builder, struct vcm_error *err);

void vcm_page_builder_close(struct vcm_page_builder *builder);

#endif
