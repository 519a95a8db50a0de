#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/heading.h"
#include "api/mark.h"
#include "api/kb_internal.h"
#include "api/map.h"
#include "api/roster.h"
#include "api/rescue.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/limits.h"
#include "kb/database.h"
#include "repomap/materialise.h"
#include "sources/worktree.h"

#include "base/banned.h"

#define RESULT_BYTES_MAX (64 * VCM_MIB)
#define REPLACED_MAX     10u /* runs that find that the store was replaced meanwhile */

struct progress_receiver {
    void (*progress)(void *context, const struct vcm_progress *progress);
    void *context;
    struct vcm_progress done; /* in finished rows */
    struct vcm_progress row;  /* in the current row */
};

/* The public result with the memory it points to. */
struct result {
    struct vcm_map_result public;
    uint32_t mark;
    struct vcm_plan_request request; /* the request of the plan */
    struct vcm_plan plan;
    struct vcm_arena arena;
    size_t unmapped_capacity;
    const struct vcm *vcm;
    uint64_t era; /* of the store when the run began */
    struct progress_receiver progress;
    struct vcm_error denial; /* why the store is open for reading only */
    bool denied;             /* a row would have to be written */
};

static const char *const status_names[] = {
    [VCM_STATUS_MAPPED] = "mapped",         [VCM_STATUS_ALREADY_MAPPED] = "already_mapped",
    [VCM_STATUS_REMAPPED] = "remapped",     [VCM_STATUS_PARTIAL] = "partial",
    [VCM_STATUS_ERROR] = "error",           [VCM_STATUS_UNMAPPED] = "unmapped",
    [VCM_STATUS_NOT_MAPPED] = "not_mapped",
};

static const enum vcm_status row_status[] = {
    [VCM_MATERIALISE_MAPPED] = VCM_STATUS_MAPPED,
    [VCM_MATERIALISE_ALREADY_MAPPED] = VCM_STATUS_ALREADY_MAPPED,
    [VCM_MATERIALISE_REMAPPED] = VCM_STATUS_REMAPPED,
    [VCM_MATERIALISE_ERROR] = VCM_STATUS_ERROR,
};

const char *vcm_status_name(enum vcm_status status)
{
    size_t count = sizeof status_names / sizeof status_names[0];

    return (size_t)status < count ? status_names[status] : "unknown";
}

void vcm_map_coverage(struct vcm_coverage *out, const struct vcm_source_coverage *in)
{
    out->tracked = in->tracked;
#define COPY(NAME, name, number, retried, meaning, remedy)                                         \
    out->name = in->by_outcome[VCM_SOURCE_##NAME];
    VCM_OUTCOME_LIST(COPY)
#undef COPY
}

/* The row's message with the context that callers added. */
static int row_message(const char **out, struct result *result,
                       const struct vcm_materialise_row *row, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(4096);

    *out = NULL;
    if (row->error.code != VCM_OK && row->error.context[0] != '\0')
        vcm_buf_append_format(&text, "%s: ", row->error.context);
    vcm_buf_append_string(&text, row->error.code != VCM_OK ? row->error.message : row->message);
    int rc = vcm_buf_check(&text, "a message", err);
    if (rc == VCM_OK && text.len > 0 &&
        !(*out = vcm_arena_copy(&result->arena, vcm_buf_slice(&text))))
        rc = vcm_error_memory(err);
    vcm_buf_release(&text);
    return rc;
}

static struct vcm_progress add_progress(struct vcm_progress a, struct vcm_progress b)
{
    return (struct vcm_progress){a.files + b.files, a.pages + b.pages, a.tokens + b.tokens,
                                 a.bytes + b.bytes, a.files_total + b.files_total};
}

static void finish_progress(struct progress_receiver *receiver)
{
    receiver->done = add_progress(receiver->done, receiver->row);
    receiver->row = (struct vcm_progress){0};
}

static int take_row(void *context, const struct vcm_materialise_row *row, struct vcm_error *err)
{
    struct result *result = context;
    struct vcm_map_source *source = &result->public.sources[result->public.source_count];

    assert(result->public.source_count < result->plan.row_count);
    assert((row->status == VCM_MATERIALISE_ERROR) == (row->error.code != VCM_OK));
    *source = (struct vcm_map_source){
        .name = row->plan->row->name,
        .scope_id = row->plan->scope_id,
        .status = row_status[row->status],
        .code = row->error.code,
        .commit = row->plan->tree ? NULL : vcm_handle_text_or_null(row->plan->commit),
        .tree = row->plan->tree,
        .records = row->records,
        .pages = row->pages,
        .tokens = row->tokens,
        .bytes = row->bytes,
        .pages_created = row->changes.pages_created,
        .pages_reused = row->changes.pages_reused,
        .pages_dropped = row->changes.pages_dropped,
        .elapsed_ms = row->elapsed_ms,
    };
    vcm_map_coverage(&source->coverage, &row->coverage);
    finish_progress(&result->progress);
    result->denied = result->denied || vcm_error_is_denial(row->error.sys_errno);
    result->public.source_count++;
    return row_message(&source->message, result, row, err);
}

static int take_unmapped(void *context, const char *scope_id, struct vcm_error *err)
{
    struct result *result = context;
    struct vcm_map_result *public = &result->public;

    int rc = vcm_array_reserve_in(&result->arena, &public->unmapped, &result->unmapped_capacity,
                                  public->unmapped_count + 1, VCM_LIMIT_LIST_ENTRIES, err);
    if (rc != VCM_OK)
        return rc;
    const char *copy = vcm_arena_copy(&result->arena, vcm_slice_of_string(scope_id));
    if (!copy)
        return vcm_error_memory(err);
    public->unmapped[public->unmapped_count++] = copy;
    return vcm_roster_forget(NULL, result->vcm, scope_id, err);
}

static enum vcm_status overall_status(const struct vcm_map_result *result)
{
    size_t errors = 0, already = 0;
    uint64_t failed_files = 0;

    for (size_t i = 0; i < result->source_count; i++) {
        errors += result->sources[i].status == VCM_STATUS_ERROR;
        already += result->sources[i].status == VCM_STATUS_ALREADY_MAPPED;
        failed_files += result->sources[i].coverage.failed;
    }
    if (errors > 0 && errors == result->source_count)
        return VCM_STATUS_ERROR;
    failed_files += result->knowledge.failed;
    if (errors > 0 || failed_files > 0 || result->knowledge.code != VCM_OK)
        return VCM_STATUS_PARTIAL;
    return already == result->source_count ? VCM_STATUS_ALREADY_MAPPED : VCM_STATUS_MAPPED;
}

static unsigned settle_jobs(unsigned wanted)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned jobs = wanted > 0 ? wanted : cores > 0 ? (unsigned)cores : 1;
    return jobs > VCM_LIMIT_WORKERS ? VCM_LIMIT_WORKERS : jobs;
}

static void pass_progress(void *context, const struct vcm_ingest_progress *progress)
{
    struct progress_receiver *receiver = context;

    receiver->row = (struct vcm_progress){
        .files = progress->files,
        .pages = progress->pages,
        .tokens = progress->tokens,
        .bytes = progress->bytes,
    };
    const struct vcm_progress sum = add_progress(receiver->done, receiver->row);
    receiver->progress(receiver->context, &sum);
}

/* Reads the settings again now that all commits are resolved, since fetching them may have taken
 * minutes. A commit that was made after a setting is then never mapped with the former setting. */
static int configure_plan(struct result *result, struct vcm *vcm, struct vcm_error *err)
{
    int rc = vcm_handle_config(vcm, err);
    if (rc != VCM_OK)
        return rc;
    vcm_handle_plan_defaults(&result->request, vcm);
    vcm_plan_configure(&result->plan, &result->request);
    return VCM_OK;
}

/* Tells of what the commit does not have. A working tree that cannot be read is no failure of a
 * mapping that does not need it. */
static void count_changes(struct result *result, struct vcm *vcm)
{
    const struct vcm_plan *plan = &result->plan;
    struct vcm_worktree worktree;
    struct vcm_error why = {0};

    if (plan->from_url || vcm_git_repo_is_bare(plan->repo))
        return;
    if (vcm_worktree_count(&worktree, plan->repo, &plan->commit_id, vcm->cancel, &why) != VCM_OK) {
        vcm_log_write(vcm->log, VCM_LOG_INFO, "the changes of the working tree are not counted: %s",
                      why.message);
        return;
    }
    result->public.worktree_changes = (int64_t)worktree.changes;
    if (worktree.changes > 0)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "%llu file%s of the working tree differ%s from commit %.12s and %s not "
                      "mapped; 'vcm map --worktree' maps the working tree",
                      (unsigned long long)worktree.changes, worktree.changes == 1 ? "" : "s",
                      worktree.changes == 1 ? "s" : "", plan->commit,
                      worktree.changes == 1 ? "is" : "are");
}

static int make_plan(struct result *result, struct vcm *vcm, const struct vcm_map_options *options,
                     const struct vcm_map_extra *extra, struct vcm_error *err)
{
    struct vcm_plan_request *request = &result->request;

    *request = (struct vcm_plan_request){
        .repository = options->repository,
        .base_scope = options->base_scope_id,
        .branch = options->branch,
        .commit = options->commit,
        .worktree = options->worktree,
        .cancel = vcm->cancel,
        .only = options->only,
        .only_count = (unsigned)options->only_count,
        .no_rows = extra->no_rows,
        .nested_scope = options->nested_scope,
        .map_text = extra->map_text,
        .overrides = {options->flush_threshold, options->flush_token_budget, options->pinned},
    };
    vcm_handle_plan_defaults(request, vcm);
    request->offline = options->offline;
    int rc = vcm_handle_clones(request, vcm, options->timeout_ms, err);
    if (rc == VCM_OK)
        rc = vcm_plan_make(&result->plan, request, err);
    if (rc == VCM_OK)
        rc = configure_plan(result, vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (result->plan.map_differs && !options->only_live)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "%s in the working tree differs from the one in commit %.12s, which is used; "
                      "commit the change to map with it",
                      VCM_REPO_MAP_PATH, result->plan.commit);
    struct vcm_map_result *public = &result->public;
    public->repo_root = result->plan.repo_root;
    public->origin_url = vcm_handle_text_or_null(result->plan.origin_url);
    public->branch = vcm_handle_text_or_null(result->plan.branch);
    public->commit = result->plan.tree ? NULL : result->plan.commit;
    public->tree = result->plan.tree;
    public->worktree_changes = result->plan.tree ? (int64_t)result->plan.worktree_changes : -1;
    if (!result->plan.tree && !options->only_live && !extra->only_missing)
        count_changes(result, vcm);
    public->base_scope_id = result->plan.base_scope;
    public->sources =
        vcm_arena_alloc(&result->arena, (result->plan.row_count + 1) * sizeof *public->sources);
    return public->sources ? VCM_OK : vcm_error_memory(err);
}

static int materialise(struct result *result, struct vcm *vcm,
                       const struct vcm_map_options *options, const struct vcm_map_extra *extra,
                       struct vcm_error *err)
{
    struct vcm_buf extractions = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_tokenizer *tokenizer = NULL;

    int rc = vcm_handle_path(&extractions, vcm, VCM_DATABASE_FILE, err);
    if (rc == VCM_OK)
        rc = vcm_tokenizer_open(&tokenizer, vcm_config_text(&vcm->config, "tokenizer"), err);
    if (rc == VCM_OK)
        rc = vcm_materialise_run(&result->plan,
                                 &(struct vcm_materialise_options){
                                     .store = vcm->store,
                                     .registry = &vcm->registry,
                                     .tokenizer = tokenizer,
                                     .headings = &vcm_heading_functions,
                                     .extractions = vcm_buf_text(&extractions),
                                     .jobs = settle_jobs(options->jobs),
                                     .replace = options->replace,
                                     .only_live = options->only_live,
                                     .only_missing = extra->only_missing,
                                     .offline = options->offline,
                                     .cancel = vcm->cancel,
                                     .progress = options->progress ? pass_progress : NULL,
                                     .progress_context = &result->progress,
                                 },
                                 take_row, take_unmapped, result, err);
    vcm_tokenizer_close(tokenizer);
    vcm_buf_release(&extractions);
    return rc;
}

/* A map that changes nothing works in a home that cannot be written. */
static int open_as_permitted(struct result *result, struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_error *denial = &result->denial;

    int rc = vcm_handle_open_for_writing(vcm, denial);
    if (rc != VCM_OK && vcm_error_is_denial(denial->sys_errno) &&
        vcm_handle_open_for_reading(vcm, NULL) == VCM_OK && vcm->store)
        return VCM_OK;
    if (rc != VCM_OK && err)
        *err = *denial;
    return rc;
}

/* Maps what can be mapped. In a home that cannot be written the run fails if a row had to be
 * written, with the error of opening the store for writing. */
static int materialise_as_permitted(struct result *result, struct vcm *vcm,
                                    const struct vcm_map_options *options,
                                    const struct vcm_map_extra *extra, struct vcm_error *err)
{
    struct vcm_error failure = {0};

    int rc = materialise(result, vcm, options, extra, &failure);
    if (!vcm->store_writable && (result->denied || vcm_error_is_denial(failure.sys_errno))) {
        rc = (int)result->denial.code;
        failure = result->denial;
    }
    if (rc != VCM_OK && err)
        *err = failure;
    return rc;
}

/* With a selection of rows, routes are followed only on request. */
static bool follows_routes(const struct result *result, const struct vcm_map_options *options,
                           const struct vcm_map_extra *extra)
{
    const struct vcm_plan *plan = &result->plan;

    return plan->map.route_count > 0 && !plan->tree && (plan->all_rows || options->knowledge) &&
           !(extra->routed && strcmp(extra->routed, plan->commit) == 0);
}

static int map_once(struct vcm_map_result **out, struct vcm *vcm,
                    const struct vcm_map_options *options, const struct vcm_map_extra *extra,
                    struct vcm_error *err)
{
    uint64_t start = vcm_clock_ms();

    *out = NULL;
    struct result *result = calloc(1, sizeof *result);
    if (!result)
        return vcm_error_memory(err);
    result->mark = VCM_MARK_HELD;
    result->vcm = vcm;
    vcm_arena_init(&result->arena, RESULT_BYTES_MAX);
    result->progress = (struct progress_receiver){.progress = options->progress,
                                                  .context = options->progress_context};
    int rc = make_plan(result, vcm, options, extra, err);
    if (rc == VCM_OK)
        rc = open_as_permitted(result, vcm, err);
    if (rc == VCM_OK)
        rc = vcm_page_store_era(&result->era, vcm->store, err);
    if (rc == VCM_OK)
        rc = materialise_as_permitted(result, vcm, options, extra, err);
    if (rc == VCM_OK && follows_routes(result, options, extra))
        rc = vcm_map_knowledge_route(&result->public.knowledge, &result->arena, vcm, &result->plan,
                                     &result->request, settle_jobs(options->jobs), err);
    if (rc == VCM_OK) {
        result->public.status = overall_status(&result->public);
        result->public.elapsed_ms = vcm_clock_ms() - start;
        *out = &result->public;
    } else {
        vcm_map_result_free(&result->public);
    }
    return rc;
}

/* A failure to update the roster is only logged: the scopes are mapped, and the roster is needed
 * only if the store is lost. */
static void note_on_roster(struct vcm *vcm, const struct vcm_map_result *result,
                           const struct vcm_map_options *options, const char *map_text)
{
    struct vcm_error ignored = {0};

    if (vcm->store_writable &&
        vcm_roster_note_map(vcm, result, options, map_text, &ignored) != VCM_OK)
        vcm_log_write(vcm->log, VCM_LOG_WARNING, "the list of scopes was not updated: %s",
                      ignored.message);
}

static void tell_lost(struct vcm *vcm, const struct vcm_roster_entry *entry, const char *why)
{
    if (entry->map_text)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "scope '%s' could not be mapped anew: %s; the program that mapped it must "
                      "map it again",
                      entry->scope_id, why);
    else
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "scope '%s' could not be mapped anew: %s; try 'vcm map %s --scope %s'",
                      entry->scope_id, why, entry->repository, entry->base_scope_id);
}

/* Whether it is of use to try again without a change of the scope or its repository. */
static bool is_passing(int code)
{
    return code == VCM_INTERRUPTED || code == VCM_STORE_BUSY || code == VCM_STORE_FULL;
}

/* What it held may be nowhere any more: only who asks for the working tree gets what it holds now.
 */
static void drop_worktree(struct vcm *vcm, const struct vcm_roster_entry *entry)
{
    vcm_log_write(vcm->log, VCM_LOG_WARNING,
                  "scope '%s' held a working tree and is not mapped anew; 'vcm map %s --worktree' "
                  "maps what lies there now",
                  entry->scope_id, entry->repository);
    vcm_roster_forget(NULL, vcm, entry->scope_id, NULL);
}

/* Maps a scope of a lost store again, with the same options as before; unless another process has
 * mapped it meanwhile, perhaps at a later commit. */
static void restore(struct vcm *vcm, const struct vcm_roster_entry *entry)
{
    struct vcm_buf place = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_error why = {0};

    if (vcm_scope_is_worktree(vcm_slice_of_string(entry->scope_id))) {
        drop_worktree(vcm, entry);
        vcm_buf_release(&place);
        return;
    }
    vcm_handle_place(&place, vcm, vcm_slice_of_string(entry->repository), &why);
    const struct vcm_map_options options = {
        .repository = vcm_buf_text(&place),
        .base_scope_id = entry->base_scope_id,
        .branch = entry->branch,
        .commit = entry->commit,
        .only = &entry->name,
        .only_count = 1,
        .flush_threshold = entry->flush_threshold,
        .flush_token_budget = entry->flush_token_budget,
        .pinned = entry->pinned,
        .nested_scope = true,
    };
    const struct vcm_map_extra extra = {.map_text = entry->map_text, .only_missing = true};
    struct vcm_map_result *result = NULL;

    if (why.code != VCM_OK || map_once(&result, vcm, &options, &extra, &why) != VCM_OK || !result ||
        result->source_count != 1 || result->sources[0].status == VCM_STATUS_ERROR) {
        const struct vcm_map_source *row =
            result && result->source_count == 1 ? &result->sources[0] : NULL;
        tell_lost(vcm, entry, row ? row->message : why.message);
        if (!is_passing(row ? (int)row->code : (int)why.code))
            vcm_roster_give_up(vcm, entry->scope_id, NULL);
    }
    vcm_map_result_free(result);
    vcm_buf_release(&place);
}

static bool is_mapped_by(const struct vcm_map_result *result, const char *scope_id)
{
    for (size_t i = 0; i < result->source_count; i++)
        if (strcmp(result->sources[i].scope_id, scope_id) == 0)
            return true;
    for (size_t i = 0; i < result->unmapped_count; i++)
        if (strcmp(result->unmapped[i], scope_id) == 0)
            return true;
    return false;
}

/* Whether a row of this run, or opening the store, found damage; then the store is marked. */
static bool met_damage(struct vcm *vcm, int rc, const struct vcm_map_result *result,
                       const struct vcm_error *err)
{
    assert((rc == VCM_OK) == (result != NULL));
    for (size_t i = 0; result && i < result->source_count; i++)
        if (result->sources[i].code == VCM_STORE_CORRUPT) {
            const struct vcm_error found = {.code = VCM_STORE_CORRUPT};
            vcm_damage_note(vcm, VCM_STORE_CORRUPT, &found);
            return true;
        }
    vcm_damage_note(vcm, rc, err);
    return rc == VCM_STORE_CORRUPT;
}

/* Maps what the roster lists and the store lost: all scopes of a store that was set aside, emptied
 * or deleted, but those of this run. */
static void restore_missing(struct vcm *vcm, const struct vcm_map_result *result)
{
    struct vcm_roster_entry *lost = NULL;
    struct vcm_error why = {0};
    struct vcm_arena arena;

    vcm_arena_init(&arena, RESULT_BYTES_MAX);
    if (vcm_roster_missing(&lost, &arena, vcm, &why) != VCM_OK)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "the store was not compared with the list of scopes: %s", why.message);
    for (; lost && vcm_cancel_check(vcm->cancel, NULL) == VCM_OK; lost = lost->next)
        if (!lost->lost && !is_mapped_by(result, lost->scope_id))
            restore(vcm, lost);
    vcm_arena_release(&arena);
}

/* Sets a damaged store aside and maps the rows of the run. A run that finds damage is repeated. */
static int map_soundly(struct vcm_map_result **out, struct vcm *vcm,
                       const struct vcm_map_options *options, const struct vcm_map_extra *extra,
                       struct vcm_error *err)
{
    bool aside = false;
    int rc = VCM_OK;

    for (int run = 0; rc == VCM_OK && run < 2; run++) {
        if (vcm_damage_is_marked(vcm->home)) {
            vcm_handle_close_store(vcm);
            rc = vcm_damage_set_aside(&aside, vcm, err);
        }
        if (rc == VCM_OK)
            rc = map_once(out, vcm, options, extra, err);
        if (run > 0 || !met_damage(vcm, rc, *out, err))
            break;
        vcm_map_result_free(*out);
        *out = NULL;
        vcm_error_reset(err);
        rc = VCM_OK;
    }
    return rc;
}

/* Whether another process has set the store aside since the run began. What the run mapped before
 * that is gone, unless the other process reads the roster after this run has written to it. */
static int was_replaced(bool *out, struct vcm *vcm, const struct vcm_map_result *result,
                        struct vcm_error *err)
{
    uint64_t era = 0;

    assert(result);
    int rc = vcm_page_store_era(&era, vcm->store, err);
    *out = rc == VCM_OK && era != ((const struct result *)result)->era;
    return rc;
}

/* Maps, and lists what was mapped. The result is that of a run in the store that remains. */
static int map_and_list(struct vcm_map_result **out, struct vcm *vcm,
                        const struct vcm_map_options *options, const struct vcm_map_extra *extra,
                        struct vcm_error *err)
{
    for (unsigned i = 0; i < REPLACED_MAX; i++) {
        bool replaced = false;
        int rc = map_soundly(out, vcm, options, extra, err);
        if (rc == VCM_OK) {
            note_on_roster(vcm, *out, options, extra->map_text);
            rc = was_replaced(&replaced, vcm, *out, err);
        }
        if (rc == VCM_OK && !replaced)
            return VCM_OK;
        vcm_map_result_free(*out);
        *out = NULL;
        if (rc != VCM_OK)
            return rc;
    }
    return vcm_error_set(err, VCM_STORE_BUSY,
                         "the store was set aside again and again; check the disk of '%s'",
                         vcm->home);
}

/* Then maps the scopes again that were lost with a store that was set aside. */
int vcm_map_with(struct vcm_map_result **out, struct vcm *vcm,
                 const struct vcm_map_options *options, const struct vcm_map_extra *extra,
                 struct vcm_error *err)
{
    struct vcm_error found = {0};

    *out = NULL;
    int rc = vcm_handle_config(vcm, &found);
    if (rc == VCM_OK)
        rc = vcm_verify_after_death(vcm, &found);
    if (rc == VCM_STORE_CORRUPT) { /* it is marked */
        vcm_error_reset(&found);
        rc = VCM_OK;
    }
    if (rc == VCM_OK)
        rc = map_and_list(out, vcm, options, extra, &found);
    for (size_t i = 0; rc == VCM_OK && i < (*out)->unmapped_count; i++)
        vcm_kb_texts_forget_scope(vcm, (*out)->unmapped[i]);
    for (size_t i = 0; rc == VCM_OK && i < (*out)->source_count; i++)
        if ((*out)->sources[i].status == VCM_STATUS_REMAPPED)
            vcm_kb_texts_settle_scope(vcm, (*out)->sources[i].scope_id);
    if (rc == VCM_OK)
        restore_missing(vcm, *out);
    if (rc == VCM_OK)
        vcm_rescue_restore(vcm);
    if (rc != VCM_OK && err)
        *err = found;
    return rc;
}

bool vcm_map_is_settled(const struct vcm_map_result *result)
{
    const struct vcm_plan *plan = &((const struct result *)result)->plan;

    for (unsigned i = 0; i < plan->row_count; i++)
        if (vcm_repo_map_row_sets(plan->rows[i].row, VCM_REPO_MAP_BRANCH) ||
            vcm_repo_map_row_sets(plan->rows[i].row, VCM_REPO_MAP_ORIGIN_URL))
            return false;
    return result->status == VCM_STATUS_MAPPED || result->status == VCM_STATUS_ALREADY_MAPPED;
}

int vcm_map_check_options(const struct vcm_map_options *options, struct vcm_error *err)
{
    int rc = vcm_arguments_given(
        (const struct vcm_argument[]){{"repository", options->repository != NULL}, {NULL, false}},
        err);
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"base_scope_id", options->base_scope_id}, {"branch", options->branch},
                       {"commit", options->commit});
    if (rc == VCM_OK)
        rc =
            vcm_arguments_list("only", options->only, options->only_count, VCM_ARGUMENT_TEXTS, err);
    return rc;
}

int vcm_map(struct vcm_map_result **out, struct vcm *vcm, const struct vcm_map_options *options,
            struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(options));
    if (rc == VCM_OK)
        rc = vcm_map_check_options(options, err);
    return rc == VCM_OK ? vcm_map_with(out, vcm, options, &(struct vcm_map_extra){0}, err) : rc;
}

void vcm_map_result_free(struct vcm_map_result *result)
{
    struct result *whole = (struct result *)result;

    if (!whole)
        return;
    vcm_mark_give_back(&whole->mark);
    vcm_plan_release(&whole->plan);
    vcm_arena_release(&whole->arena);
    free(whole);
}
