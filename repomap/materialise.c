#include "repomap/materialise.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/wire.h"
#include "kb/extract.h"
#include "repomap/scope_id.h"
#include "sources/literature_source.h"
#include "vcm/mapping/mapping_former.h"

#include "base/banned.h"

#define FINGERPRINT_PREFIX "vcm-config 6\n"

static void put_list(struct vcm_buf *out, struct vcm_repo_map_list list)
{
    vcm_wire_put_count(out, list.count);
    for (unsigned i = 0; i < list.count; i++)
        vcm_wire_put_string(out, list.items[i]);
}

static bool is_literature(const struct vcm_repo_map_row *row)
{
    return strcmp(row->type, VCM_REPO_MAP_LITERATURE) == 0;
}

/* Hashes everything that decides the pages, except the commit. */
static int fingerprint(unsigned char out[VCM_HASH_SHA256_BYTES], const struct vcm_plan_row *row,
                       const struct vcm_tokenizer *tokenizer, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(1 * VCM_MIB);

    assert(row->config.flush_threshold > 0 && row->config.flush_token_budget > 0);
    vcm_buf_append_string(&text, FINGERPRINT_PREFIX);
    vcm_wire_put_string(&text, vcm_tokenizer_name(tokenizer));
    vcm_wire_put_string(&text, row->row->type);
    vcm_wire_put_string(&text, row->row->start_dir);
    put_list(&text, vcm_repo_map_row_include(row->row));
    put_list(&text, row->row->exclude_globs);
    vcm_wire_put_u8(&text, row->row->include_binaries);
    vcm_wire_put_u32(&text, row->config.flush_threshold);
    vcm_wire_put_u32(&text, row->config.flush_token_budget);
    if (is_literature(row->row)) {
        vcm_wire_put_u32(&text, row->row->chunk_target_tokens);
        vcm_wire_put_u32(&text, row->row->chunk_overlap_tokens);
        vcm_wire_put_u32(&text, VCM_EXTRACT_VERSION);
    }
    int rc = vcm_buf_check(&text, "a row's configuration", err);
    if (rc == VCM_OK)
        vcm_hash_sha256_of(out, vcm_buf_slice(&text));
    vcm_buf_release(&text);
    return rc;
}

static int read_former(struct vcm_scope *former, bool *exists, struct vcm_page_store *store,
                       const char *scope_id, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    *exists = false;
    memset(former, 0, sizeof *former);
    int rc = vcm_page_store_read_begin(&txn, store, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_store_scope(former, txn, vcm_slice_of_string(scope_id), err);
    vcm_kv_handle_read_end(txn);
    *exists = rc == VCM_OK;
    return rc == VCM_NOT_FOUND ? VCM_OK : rc;
}

struct retry {
    struct vcm_source *source;
    void *reader;
    struct vcm_source_content content;
    bool changed;
};

/* Tries again to read an item that could not be read last time. */
static int retry_omission(void *context, const struct vcm_page_omission *omission,
                          struct vcm_error *err)
{
    struct retry *retry = context;
    struct vcm_source_item item = {.path = omission->raw_path, .outcome = VCM_SOURCE_PAGED};

    if (!vcm_outcome_is_retried(omission->outcome) ||
        !vcm_outcome_reason_is_retried(vcm_outcome_reason_of(omission->reason)))
        return VCM_OK; /* the same content and configuration fail the same way again */
    if (omission->content_id.len > sizeof item.content_id)
        return vcm_error_set(err, VCM_STORE_CORRUPT, "an omission in the store is malformed");
    memcpy(item.content_id, omission->content_id.data, omission->content_id.len);
    item.content_id_len = (uint8_t)omission->content_id.len;

    vcm_buf_clear(&retry->content.text);
    retry->content.binary = false;
    retry->content.reason = VCM_REASON_NONE;
    retry->content.outcome = VCM_SOURCE_PAGED;
    int rc = retry->source->functions->read(&retry->content, retry->reader, &item, err);
    const char *reason = vcm_source_reason_text(retry->content.reason, retry->content.reason_text);
    /* A directory that now exists where a file was missing is not a file: it fails for another
     * reason. */
    if (rc == VCM_OK && (retry->content.outcome != omission->outcome ||
                         !vcm_slice_equal(omission->reason, vcm_slice_of_string(reason)))) {
        retry->changed = true;
        return VCM_STOP;
    }
    return rc;
}

static bool has_retried(const struct vcm_source_coverage *coverage)
{
    for (unsigned i = 0; i < VCM_SOURCE_OUTCOMES; i++)
        if (coverage->by_outcome[i] > 0 && vcm_outcome_is_retried((enum vcm_source_outcome)i))
            return true;
    return false;
}

/* Whether an item that could not be read when the scope was mapped can be read now. */
static int has_become_readable(bool *changed, struct vcm_page_store *store,
                               const struct vcm_scope *former, struct vcm_source *source,
                               struct vcm_error *err)
{
    struct retry retry = {.source = source};
    struct vcm_kv_txn *txn = NULL;

    *changed = false;
    if (!has_retried(&former->coverage))
        return VCM_OK;
    vcm_buf_init(&retry.content.text, VCM_SOURCE_TEXT_BYTES_MAX);
    int rc = source->functions->reader_open(&retry.reader, source, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_read_begin(&txn, store, err);
    if (rc == VCM_OK)
        rc = vcm_page_table_each_omission(txn, former->mapping, retry_omission, &retry, err);
    vcm_kv_handle_read_end(txn);
    if (retry.reader)
        source->functions->reader_close(retry.reader);
    vcm_buf_release(&retry.content.text);
    *changed = retry.changed;
    return rc;
}

static void copy_counts(struct vcm_materialise_row *row, const struct vcm_scope *scope)
{
    row->records = scope->records;
    row->pages = scope->pages;
    row->tokens = scope->tokens;
    row->bytes = scope->bytes;
    row->coverage = scope->coverage;
}

/* Writes the message of a row that succeeded: the files that it could not map, and how to get those
 * kept elsewhere. `first` names a failure of this run, "" if the failures are from an earlier run.
 */
static void note_omissions(struct vcm_materialise_row *row, const char *first)
{
    uint64_t failed = row->coverage.by_outcome[VCM_SOURCE_FAILED];
    uint64_t missing = row->coverage.by_outcome[VCM_SOURCE_LFS_MISSING];
    const char *plural = failed == 1 ? "" : "s";
    struct vcm_buf message = VCM_BUF_INIT(sizeof row->message - 1);

    if (failed > 0 && first[0] != '\0')
        vcm_buf_append_format(&message, "%" PRIu64 " file%s could not be mapped, the first: %s",
                              failed, plural, first);
    else if (failed > 0)
        vcm_buf_append_format(&message, "%" PRIu64 " file%s still cannot be mapped", failed,
                              plural);
    if (missing > 0)
        vcm_buf_append_format(&message,
                              "%s%" PRIu64 " file%s kept in LFS %s not here; fetch %s with 'vcm "
                              "lfs pull --scope %s', then map again",
                              failed > 0 ? "; " : "", missing, missing == 1 ? "" : "s",
                              missing == 1 ? "is" : "are", missing == 1 ? "it" : "them",
                              row->plan->scope_id);
    snprintf(row->message, sizeof row->message, "%s", vcm_buf_text(&message));
    vcm_buf_release(&message);
}

/* What is stored as the commit of the scope: of a working tree the id of the tree, because its
 * commit also depends on HEAD. */
static const char *identity_of(const struct vcm_plan_row *row)
{
    return row->tree ? row->tree : row->commit;
}

static void describe(struct vcm_scope *scope, const struct vcm_plan *plan,
                     const struct vcm_plan_row *row, const struct vcm_scope *former)
{
    scope->scope_id = vcm_slice_of_string(row->scope_id);
    scope->row_name = vcm_slice_of_string(row->row->name);
    scope->source_type = vcm_slice_of_string(row->row->type);
    /* Store where the row's objects are (one of our clones or another repository), because pages
     * are rebuilt from there. The origin is that of the map, not that of the row. */
    bool is_own = !row->row->submodule && !row->row->origin_url;
    scope->repo_root = vcm_slice_of_string(row->repository ? row->repository : plan->repo_root);
    scope->origin = vcm_slice_of_string(plan->origin);
    scope->origin_url = vcm_slice_of_string(is_own ? plan->origin_url : row->origin_url);
    scope->branch = vcm_slice_of_string(row->branch);
    scope->commit = vcm_slice_of_string(identity_of(row));
    scope->flush_threshold = row->config.flush_threshold;
    scope->flush_token_budget = row->config.flush_token_budget;
    scope->pinned_by_row = row->config.pinned;
    scope->pinned_by_own = former->pinned_by_own;
    scope->pinned = scope->pinned_by_row || scope->pinned_by_own;
    if (is_literature(row->row)) {
        scope->chunk_target_tokens = row->row->chunk_target_tokens;
        scope->chunk_overlap_tokens = row->row->chunk_overlap_tokens;
    }
}

static int ingest(struct vcm_materialise_row *row, struct vcm_scope *scope,
                  const struct vcm_scope *former, struct vcm_source *source,
                  const struct vcm_materialise_options *options, struct vcm_error *err)
{
    struct vcm_ingest_result result;
    const struct vcm_ingest_options ingest_options = {
        .source = source,
        .tokenizer = options->tokenizer,
        .headings = options->headings,
        .jobs = options->jobs,
        .former = former,
        .reuse = true,
        .cancel = options->cancel,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };

    int rc = vcm_ingest_run(&result, options->store, scope, &ingest_options, err);
    if (rc != VCM_OK)
        return rc;
    row->changes = result.pages;
    copy_counts(row, scope);
    note_omissions(row, result.first_failure);
    return VCM_OK;
}

/* Reports the scope unchanged. */
static void keep(struct vcm_materialise_row *row, const struct vcm_scope *former)
{
    row->status = VCM_MATERIALISE_ALREADY_MAPPED;
    row->changes.pages_reused = former->pages;
    copy_counts(row, former);
}

/* Whether the repository that the scope was mapped from still has the commit. */
static bool is_at_its_place(const struct vcm_scope *former)
{
    char *path = strndup(former->repo_root.data, former->repo_root.len);
    char *commit = strndup(former->commit.data, former->commit.len);
    struct vcm_git_repo *repo = NULL;
    struct vcm_git_id id;

    bool there = path && commit && vcm_git_repo_open(&repo, path, NULL) == VCM_OK &&
                 vcm_git_repo_resolve(&id, repo, NULL, commit, NULL) == VCM_OK;
    vcm_git_repo_close(repo);
    free(commit);
    free(path);
    return there;
}

/* Evicted pages are rebuilt from the place that the scope names, so a repository that moved is
 * followed. A second clone does not take the place over: an unchanged scope is not written. */
static int follow(const struct vcm_scope *former, const struct vcm_plan_row *planned,
                  const struct vcm_materialise_options *options, struct vcm_error *err)
{
    struct vcm_slice now = vcm_slice_of_string(planned->repository);

    if (vcm_slice_equal(former->repo_root, now) || is_at_its_place(former))
        return VCM_OK;
    struct vcm_scope moved = *former;
    moved.repo_root = now;
    return vcm_mapping_former_replace(options->store, former, &moved, options->cancel, err);
}

/* The scope is mapped at this commit and configuration; only its place and its pin may have to
 * change. */
static int keep_or_pin(struct vcm_materialise_row *row, struct vcm_scope *former,
                       const struct vcm_plan_row *plan,
                       const struct vcm_materialise_options *options, struct vcm_error *err)
{
    keep(row, former);
    note_omissions(row, "");
    int rc = follow(former, plan, options, err);
    if (rc == VCM_OK && former->pinned_by_row != plan->config.pinned) {
        row->status = VCM_MATERIALISE_REMAPPED;
        rc = vcm_mapping_pin_set_by_row(options->store, former->scope_id, plan->config.pinned,
                                        options->cancel, err);
    }
    return rc;
}

/* The error of a row whose place is known but that cannot be read on this machine. */
static int not_here(const struct vcm_plan_row *planned, struct vcm_error *err)
{
    if (planned->row->submodule)
        return vcm_error_set(err, VCM_NOT_FOUND,
                             "the submodule '%s' is not here at commit %.12s; fetch it with 'git "
                             "submodule update --init %s'",
                             planned->row->submodule, planned->commit, planned->row->submodule);
    return vcm_error_set(err, VCM_NOT_FOUND, "'%s' was not fetched", planned->origin_url);
}

static int open_source(struct vcm_source **source, const struct vcm_plan *plan,
                       const struct vcm_plan_row *planned,
                       const struct vcm_materialise_options *options, struct vcm_error *err)
{
    const struct vcm_repo_map_row *row = planned->row;
    struct vcm_repo_map_list include = vcm_repo_map_row_include(row);
    const struct vcm_source_type *type = NULL;

    assert(planned->row && planned->scope_id);
    if (planned->error.code != VCM_OK) {
        *err = planned->error;
        return (int)planned->error.code;
    }
    if (!planned->repository)
        return not_here(planned, err);
    int rc = vcm_registry_find(&type, options->registry, row->type, err);
    if (rc != VCM_OK)
        return rc;
    return type->open(source,
                      &(struct vcm_source_request){
                          .type = type,
                          .repository = planned->repository,
                          .snapshot = planned->tree ? plan->repo : NULL,
                          .commit = planned->commit,
                          .start_dir = row->start_dir,
                          .include = include.items,
                          .include_count = include.count,
                          .exclude = row->exclude_globs.items,
                          .exclude_count = row->exclude_globs.count,
                          .include_binaries = row->include_binaries,
                          .chunk_target_tokens = row->chunk_target_tokens,
                          .chunk_overlap_tokens = row->chunk_overlap_tokens,
                          .extractions = options->extractions,
                          .scope_id = planned->scope_id,
                          .cancel = options->cancel,
                      },
                      err);
}

/* Whether a mapped row is left alone even though its commit may have moved. */
static bool stays(const struct vcm_plan_row *planned, const struct vcm_materialise_options *options)
{
    return options->only_missing || (options->only_live && planned->row->is_static) ||
           (options->offline && !planned->repository && planned->error.code == VCM_OK);
}

/* VCM_RETRY when another process has changed the scope meanwhile. */
static int try_row(struct vcm_materialise_row *row, const struct vcm_plan *plan,
                   const struct vcm_plan_row *planned,
                   const struct vcm_materialise_options *options, struct vcm_error *err)
{
    struct vcm_source *source = NULL;
    struct vcm_scope scope = {0}, former = {0};
    bool exists = false, readable = false;

    int rc = read_former(&former, &exists, options->store, planned->scope_id, err);
    if (rc == VCM_OK && exists && stays(planned, options)) {
        keep(row, &former);
        vcm_scope_release(&former);
        return VCM_OK;
    }
    if (rc == VCM_OK)
        rc = open_source(&source, plan, planned, options, err);
    if (rc == VCM_OK)
        rc = fingerprint(scope.fingerprint, planned, options->tokenizer, err);
    bool same = rc == VCM_OK && exists &&
                memcmp(former.fingerprint, scope.fingerprint, sizeof scope.fingerprint) == 0 &&
                vcm_slice_equal(former.commit, vcm_slice_of_string(identity_of(planned))) &&
                vcm_slice_equal(former.origin, vcm_slice_of_string(plan->origin));
    if (rc == VCM_OK && same)
        rc = has_become_readable(&readable, options->store, &former, source, err);
    if (rc == VCM_OK && same && !readable) {
        rc = keep_or_pin(row, &former, planned, options, err);
    } else if (rc == VCM_OK) {
        row->status = exists ? VCM_MATERIALISE_REMAPPED : VCM_MATERIALISE_MAPPED;
        describe(&scope, plan, planned, &former);
        rc = ingest(row, &scope, &former, source, options, err);
    }
    vcm_scope_release(&former);
    vcm_source_close(source);
    return rc;
}

static int map_row(struct vcm_materialise_row *row, const struct vcm_plan *plan,
                   const struct vcm_plan_row *planned,
                   const struct vcm_materialise_options *options)
{
    int rc = VCM_RETRY;

    for (unsigned i = 0; rc == VCM_RETRY && i < VCM_MAPPING_FORMER_TRIES; i++) {
        *row = (struct vcm_materialise_row){.plan = planned};
        rc = try_row(row, plan, planned, options, &row->error);
    }
    return rc == VCM_RETRY
               ? vcm_mapping_former_give_up(vcm_slice_of_string(planned->scope_id), &row->error)
               : rc;
}

struct survey {
    const struct vcm_plan *plan;
    const struct vcm_materialise_options *options;
    struct vcm_buf stale; /* NUL-separated ids of scopes that no row names */
};

static bool is_planned(const struct vcm_plan *plan, struct vcm_slice scope_id)
{
    for (unsigned i = 0; i < plan->row_count; i++)
        if (vcm_slice_equal(vcm_slice_of_string(plan->rows[i].scope_id), scope_id))
            return true;
    return false;
}

static int survey_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    struct survey *survey = context;
    struct vcm_slice origin = vcm_slice_of_string(survey->plan->origin);

    struct vcm_slice id = scope->scope_id;
    bool is_worktree = vcm_scope_is_worktree(id);

    /* The scopes of working trees are apart: no map of a commit drops them, nor the reverse. */
    if (is_worktree)
        id.len -= sizeof VCM_SCOPE_WORKTREE - 1;
    if (is_worktree != (survey->plan->tree != NULL) ||
        !vcm_scope_id_belongs(id, vcm_slice_of_string(survey->plan->base_scope)))
        return VCM_OK;
    if (!survey->options->replace && !vcm_slice_equal(scope->origin, origin))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "scope '%.*s' holds %.*s; map under another --scope, or give it up "
                             "with --replace",
                             (int)scope->scope_id.len, scope->scope_id.data, (int)scope->origin.len,
                             scope->origin.data);
    if (!is_planned(survey->plan, scope->scope_id)) {
        vcm_buf_append_slice(&survey->stale, scope->scope_id);
        vcm_buf_append_byte(&survey->stale, '\0');
    }
    return VCM_OK;
}

static int survey_base(struct survey *survey, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;

    int rc = vcm_page_store_read_begin(&txn, survey->options->store, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_page_store_each_scope(txn, vcm_slice_of_string(survey->plan->base_scope), survey_scope,
                                   survey, err);
    vcm_kv_handle_read_end(txn);
    return rc == VCM_OK ? vcm_buf_check(&survey->stale, "the list of scopes", err) : rc;
}

/* One that is gone already, because another process unmapped it or replaced the store, is no
 * failure. */
static int drop_stale(const struct survey *survey, const char *scope_id, struct vcm_error *err)
{
    struct vcm_error why = {0};

    int rc = vcm_mapping_drop_scope(survey->options->store, vcm_slice_of_string(scope_id),
                                    survey->options->cancel, &why);
    if (rc == VCM_NOT_FOUND)
        return VCM_OK;
    if (rc != VCM_OK && err)
        *err = why;
    return rc;
}

static int remove_stale(const struct survey *survey, vcm_materialise_unmapped_fn on_unmapped,
                        void *context, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (size_t at = 0; rc == VCM_OK && at < survey->stale.len;) {
        const char *scope_id = survey->stale.data + at;
        rc = on_unmapped(context, scope_id, err);
        if (rc == VCM_OK)
            rc = drop_stale(survey, scope_id, err);
        at += strlen(scope_id) + 1;
    }
    return rc;
}

int vcm_materialise_run(const struct vcm_plan *plan, const struct vcm_materialise_options *options,
                        vcm_materialise_row_fn on_row, vcm_materialise_unmapped_fn on_unmapped,
                        void *context, struct vcm_error *err)
{
    struct survey survey = {.plan = plan, .options = options};

    vcm_buf_init(&survey.stale, 64 * VCM_MIB);
    int rc = vcm_mapping_clear(options->store, options->cancel, err);
    if (rc == VCM_OK)
        rc = survey_base(&survey, err);
    for (unsigned i = 0; rc == VCM_OK && i < plan->row_count; i++) {
        struct vcm_materialise_row row;
        uint64_t start = vcm_clock_ms();
        if (map_row(&row, plan, &plan->rows[i], options) != VCM_OK) {
            row.status = VCM_MATERIALISE_ERROR;
            vcm_error_wrap(&row.error, (int)row.error.code, "map '%s'", plan->rows[i].row->name);
        }
        row.elapsed_ms = vcm_clock_ms() - start;
        if (row.error.code == VCM_INTERRUPTED) {
            if (err)
                *err = row.error;
            rc = VCM_INTERRUPTED;
        } else {
            rc = on_row(context, &row, err);
        }
    }
    if (rc == VCM_OK && plan->all_rows)
        rc = remove_stale(&survey, on_unmapped, context, err);
    vcm_buf_release(&survey.stale);
    return rc;
}
