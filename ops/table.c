#include "ops/table.h"

#include "base/banned.h"

extern const struct vcm_op vcm_op_check, vcm_op_preview, vcm_op_show, vcm_op_map, vcm_op_unmap,
    vcm_op_scopes, vcm_op_pages, vcm_op_page, vcm_op_stat, vcm_op_tokens, vcm_op_config_list,
    vcm_op_config_get, vcm_op_config_set, vcm_op_doctor, vcm_op_kb_ingest, vcm_op_kb_search,
    vcm_op_kb_list, vcm_op_kb_show, vcm_op_kb_clear, vcm_op_kb_stat;

const struct vcm_op *const vcm_ops[] = {
    &vcm_op_map,        &vcm_op_check,       &vcm_op_preview,
    &vcm_op_show,       &vcm_op_unmap,       &vcm_op_scopes,
    &vcm_op_pages,      &vcm_op_page,        &vcm_op_stat,
    &vcm_op_tokens,     &vcm_op_kb_ingest,   &vcm_op_kb_search,
    &vcm_op_kb_list,    &vcm_op_kb_show,     &vcm_op_kb_clear,
    &vcm_op_kb_stat,    &vcm_op_config_list, &vcm_op_config_get,
    &vcm_op_config_set, &vcm_op_doctor,      NULL,
};
