#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/map.h"
#include "base/jsonw.h"
#include "base/limits.h"

#include "base/banned.h"

#define HEAD "schema_version: 1\nsources:\n- "

/* Frameworks pass "HEAD" for the tip of the branch, not for the repository's HEAD. */
static const char *commit_of(const char *commit)
{
    return commit && strcmp(commit, "HEAD") != 0 ? commit : NULL;
}

static void take_config(struct vcm_map_options *out, const struct vcm_mmap_config *config)
{
    if (!config)
        return;
    out->flush_threshold = config->flush_threshold;
    out->flush_token_budget = config->flush_token_budget;
    out->pinned = config->pinned;
}

int vcm_materialize_repo_map(struct vcm_map_result **out, struct vcm *vcm,
                             const struct vcm_materialize_options *options, struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(options));
    if (rc != VCM_OK)
        return rc;
    if (!options->origin_url || options->origin_url[0] == '\0')
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "origin_url is missing");
    rc = vcm_arguments_list("enabled_sources", options->enabled_sources,
                            options->enabled_sources ? options->enabled_count : 0,
                            VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_map_options map = {
        .repository = options->origin_url,
        .base_scope_id = options->base_scope_id,
        .branch = options->branch,
        .commit = commit_of(options->commit),
        .only = options->enabled_sources,
        .only_count = options->enabled_sources ? options->enabled_count : 0,
        .replace = options->replace,
        .nested_scope = true,
        .jobs = options->jobs,
        .timeout_ms = options->timeout_ms,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    const struct vcm_map_extra extra = {
        .no_rows = options->enabled_sources && options->enabled_count == 0,
    };
    take_config(&map, options->config);
    rc = vcm_map_check_options(&map, err);
    return rc == VCM_OK ? vcm_map_with(out, vcm, &map, &extra, err) : rc;
}

static void put_globs(struct vcm_jsonw *w, const char *name, const char *const *globs, size_t count)
{
    if (!globs)
        return;
    vcm_jsonw_key(w, name);
    vcm_jsonw_begin_array(w);
    for (size_t i = 0; i < count; i++)
        vcm_jsonw_string(w, globs[i]);
    vcm_jsonw_end_array(w);
}

/* Writes the row as YAML, so that the loader of maps checks its fields. */
static int write_row(struct vcm_buf *out, const struct vcm_mmap_options *options,
                     struct vcm_error *err)
{
    struct vcm_jsonw w;

    vcm_buf_append_string(out, HEAD);
    vcm_jsonw_init(&w, out);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_string(&w, "name", "default");
    vcm_jsonw_member_string(&w, "type", options->source_type ? options->source_type : "git_repo");
    if (options->start_dir)
        vcm_jsonw_member_string(&w, "start_dir", options->start_dir);
    put_globs(&w, "include_globs", options->include_globs, options->include_count);
    put_globs(&w, "exclude_globs", options->exclude_globs, options->exclude_count);
    if (options->binary_policy)
        vcm_jsonw_member_string(&w, "binary_policy", options->binary_policy);
    vcm_jsonw_member_bool(&w, "static", options->is_static);
    if (options->chunk_target_tokens > 0)
        vcm_jsonw_member_uint(&w, "chunk_target_tokens", options->chunk_target_tokens);
    if (options->chunk_overlap_tokens >= 0)
        vcm_jsonw_member_int(&w, "chunk_overlap_tokens", options->chunk_overlap_tokens);
    if (options->config && options->config->flush_threshold > 0)
        vcm_jsonw_member_uint(&w, "flush_threshold", options->config->flush_threshold);
    if (options->config && options->config->flush_token_budget > 0)
        vcm_jsonw_member_uint(&w, "flush_token_budget", options->config->flush_token_budget);
    vcm_jsonw_end_object(&w);
    int rc = vcm_jsonw_finish(&w, err);
    vcm_buf_append_byte(out, '\n');
    return rc == VCM_OK ? vcm_buf_check(out, "the row", err) : rc;
}

static int check_row(const struct vcm_mmap_options *options, struct vcm_error *err)
{
    int rc =
        VCM_TEXTS(err, {"scope_id", options->scope_id}, {"source_type", options->source_type},
                  {"start_dir", options->start_dir}, {"binary_policy", options->binary_policy});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("include_globs", options->include_globs, options->include_count,
                                VCM_ARGUMENT_TEXTS, err);
    if (rc == VCM_OK)
        rc = vcm_arguments_list("exclude_globs", options->exclude_globs, options->exclude_count,
                                VCM_ARGUMENT_TEXTS, err);
    return rc;
}

int vcm_mmap_application_scope(struct vcm_map_result **out, struct vcm *vcm,
                               const struct vcm_mmap_options *options, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_YAML_BYTES);

    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(options));
    if (rc == VCM_OK)
        rc = check_row(options, err);
    if (rc != VCM_OK)
        return rc;
    if (!options->scope_id || !options->origin_url || options->origin_url[0] == '\0')
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "%s is missing",
                             options->scope_id ? "origin_url" : "scope_id");
    rc = write_row(&text, options, err);
    if (rc == VCM_OK) {
        struct vcm_map_options map = {
            .repository = options->origin_url,
            .base_scope_id = options->scope_id,
            .branch = options->branch,
            .commit = commit_of(options->commit),
            .replace = options->replace,
            .nested_scope = true,
            .jobs = options->jobs,
            .timeout_ms = options->timeout_ms,
            .progress = options->progress,
            .progress_context = options->progress_context,
        };
        take_config(&map, options->config);
        rc = vcm_map_check_options(&map, err);
        if (rc == VCM_OK)
            rc = vcm_map_with(out, vcm, &map,
                              &(struct vcm_map_extra){.map_text = vcm_buf_text(&text)}, err);
    }
    vcm_buf_release(&text);
    return rc;
}

int vcm_munmap_application_scope(enum vcm_status *status, struct vcm *vcm, const char *scope_id,
                                 struct vcm_error *err)
{
    if (status)
        *status = VCM_STATUS_NOT_MAPPED;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(status), VCM_ARGUMENT(scope_id));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"scope_id", scope_id});
    if (rc != VCM_OK)
        return rc;
    struct vcm_kv_txn *txn = NULL;
    struct vcm_scope scope = {0};

    rc = vcm_handle_open_for_change(vcm, err);
    if (rc == VCM_OK && strlen(scope_id) > VCM_LIMIT_SCOPE_ID_BYTES)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "that is no scope name");
    if (rc != VCM_OK)
        return rc;
    if (vcm->store)
        rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    if (rc == VCM_OK)
        rc = vcm->store ? vcm_page_store_scope(&scope, txn, vcm_slice_of_string(scope_id), err)
                        : VCM_NOT_FOUND;
    vcm_kv_handle_read_end(txn);
    vcm_scope_release(&scope);
    if (rc == VCM_NOT_FOUND) {
        vcm_error_reset(err);
        return vcm_unmap_lost(NULL, vcm, scope_id, err);
    }
    if (rc == VCM_OK)
        rc = vcm_unmap_one(vcm, scope_id, err);
    if (rc == VCM_OK)
        *status = VCM_STATUS_UNMAPPED;
    return rc;
}
