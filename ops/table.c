#include "ops/table.h"

#include "base/banned.h"

/* In the order in which help shows them. */
/* clang-format off */
#define OPS(op) \
    op(init) \
    op(map) \
    op(watch) \
    op(check) \
    op(preview) \
    op(show) \
    op(promote) \
    op(unmap) \
    op(scopes) \
    op(coverage) \
    op(pages) \
    op(find) \
    op(grep) \
    op(page) \
    op(read) \
    op(outline) \
    op(diff) \
    op(fault) \
    op(lock) \
    op(unlock) \
    op(pin) \
    op(unpin) \
    op(evict) \
    op(stat) \
    op(top) \
    op(verify) \
    op(gc) \
    op(trace_record) \
    op(trace_replay) \
    op(tokens) \
    op(kb_ingest) \
    op(kb_search) \
    op(kb_list) \
    op(kb_show) \
    op(kb_clear) \
    op(kb_stat) \
    op(repo_fetch) \
    op(repo_map) \
    op(symbols) \
    op(refs) \
    op(config_list) \
    op(config_get) \
    op(config_set) \
    op(lfs_status) \
    op(lfs_pull) \
    op(doctor)
/* clang-format on */

#define DECLARE(name) extern const struct vcm_op vcm_op_##name;
OPS(DECLARE)

#define LIST(name) &vcm_op_##name,
const struct vcm_op *const vcm_ops[] = {OPS(LIST) NULL};
