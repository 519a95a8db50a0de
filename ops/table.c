#include "ops/table.h"

#include "base/banned.h"

extern const struct vcm_op vcm_op_check, vcm_op_preview, vcm_op_show, vcm_op_map, vcm_op_watch,
    vcm_op_unmap, vcm_op_scopes, vcm_op_coverage, vcm_op_find, vcm_op_pages, vcm_op_page,
    vcm_op_stat, vcm_op_tokens, vcm_op_config_list, vcm_op_config_get, vcm_op_config_set,
    vcm_op_doctor, vcm_op_init;

const struct vcm_op *const vcm_ops[] = {
    &vcm_op_init,
    &vcm_op_map,
    &vcm_op_watch,
    &vcm_op_check,
    &vcm_op_preview,
    &vcm_op_show,
    &vcm_op_unmap,
    &vcm_op_scopes,
    &vcm_op_coverage,
    &vcm_op_pages,
    &vcm_op_find,
    &vcm_op_page,
    &vcm_op_stat,
    &vcm_op_tokens,
    &vcm_op_config_list,
    &vcm_op_config_get,
    &vcm_op_config_set,
    &vcm_op_doctor,
    NULL,
extern const struct vcm_op vcm_op_check, vcm_op_preview, vcm_op_show, vcm_op_map, vcm_op_unmap,
    vcm_op_scopes, vcm_op_coverage, vcm_op_find, vcm_op_pages, vcm_op_page, vcm_op_stat,
    vcm_op_tokens, vcm_op_config_list, vcm_op_config_get, vcm_op_config_set, vcm_op_doctor,
    vcm_op_init, vcm_op_lfs_status, vcm_op_lfs_pull;

const struct vcm_op *const vcm_ops[] = {
    &vcm_op_init,       &vcm_op_map,         &vcm_op_check,      &vcm_op_preview,
    &vcm_op_show,       &vcm_op_unmap,       &vcm_op_scopes,     &vcm_op_coverage,
    &vcm_op_pages,      &vcm_op_find,        &vcm_op_page,       &vcm_op_stat,
    &vcm_op_tokens,     &vcm_op_config_list, &vcm_op_config_get, &vcm_op_config_set,
    &vcm_op_lfs_status, &vcm_op_lfs_pull,    &vcm_op_doctor,     NULL,
};
