#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/map.h"
#include "base/clock.h"
#include "base/limits.h"
#include "git/ref_watch.h"
#include "git/url.h"
#include "repomap/scope_id.h"
#include "vcm/mapping/page_diff.h"

#include "base/banned.h"

/* A scope of the base, as it was last seen. */
struct watched {
    char scope_id[VCM_LIMIT_SCOPE_ID_BYTES + 1];
    struct vcm_page_diff_table table; /* mapping 0 while the scope is not mapped */
    struct vcm_page_diff_table fresh; /* what the current scan found, not yet reported */
    bool seen;                        /* by the current scan */
    struct watched *next;
};

enum wake {
    WAKE_CHANGED, /* a ref or file on this machine changed */
    WAKE_POLL,    /* the poll time has passed: ask remotes, too */
};

struct watch {
    struct vcm *vcm;
    const struct vcm_watch_options *options;
    struct vcm_map_options map;
    struct vcm_git_ref_watch *refs;
    struct vcm_buf root; /* of the repository; empty for a URL */
    struct vcm_buf base; /* base of its scopes */
    struct watched *scopes;
    bool is_remote;
    bool silent; /* record differences without reporting them */
    bool gone;
    struct stat place; /* of the root, at the last scan */
    uint64_t next_poll_ms;
    char head[VCM_GIT_ID_HEX + 1];    /* the repository's commit, when it was last looked at */
    char settled[VCM_GIT_ID_HEX + 1]; /* the commit that the last round mapped as a whole, or "" */
    char routed[VCM_GIT_ID_HEX + 1];  /* the last commit whose routes were followed */
    struct vcm_buf trouble;           /* the message logged last, so that it is logged once */
};

static const char *const event_names[] = {
    [VCM_PAGE_ADDED] = "page_added",
    [VCM_PAGE_REPLACED] = "page_replaced",
    [VCM_PAGE_INVALIDATED] = "page_invalidated",
};

struct teller {
    const struct watch *watch;
    const char *scope_id;
};

static int tell_change(void *context, const struct vcm_page_change *change, struct vcm_error *err)
{
    const struct teller *teller = context;
    const struct vcm_watch_options *options = teller->watch->options;
    char page_id[VCM_PAGE_ID_HEX + 1], old_id[VCM_PAGE_ID_HEX + 1];

    const char **paths = calloc(change->page->path_count + 1u, sizeof *paths);
    if (!paths)
        return vcm_error_memory(err);
    for (uint32_t i = 0; i < change->page->path_count; i++)
        paths[i] = change->page->paths[i].data;
    vcm_page_id_to_hex(page_id, &change->page->id);
    if (change->old)
        vcm_page_id_to_hex(old_id, &change->old->id);
    int rc = options->event(options->context,
                            &(struct vcm_page_event){
                                .event = event_names[change->kind],
                                .scope_id = teller->scope_id,
                                .page_id = page_id,
                                .old_page_id = change->old ? old_id : NULL,
                                .paths = paths,
                                .path_count = change->page->path_count,
                            },
                            err);
    free(paths);
    return rc;
}

static struct watched *find_watched(struct watch *watch, struct vcm_slice scope_id,
                                    struct vcm_error *err)
{
    struct watched **place = &watch->scopes;

    while (*place && !vcm_slice_equal(vcm_slice_of_string((*place)->scope_id), scope_id))
        place = &(*place)->next;
    if (!*place && !(*place = calloc(1, sizeof **place)))
        vcm_error_memory(err);
    else if ((*place)->scope_id[0] == '\0')
        memcpy((*place)->scope_id, scope_id.data, scope_id.len);
    return *place;
}

struct look {
    struct watch *watch;
    struct vcm_kv_txn *txn;
};

/* Loads the scope's page table if it has changed. */
static int look_at_scope(void *context, const struct vcm_scope *scope, struct vcm_error *err)
{
    const struct look *look = context;
    struct watch *watch = look->watch;

    if (!vcm_scope_id_belongs(scope->scope_id, vcm_buf_slice(&watch->base)) ||
        scope->scope_id.len > VCM_LIMIT_SCOPE_ID_BYTES)
        return VCM_OK;
    struct watched *watched = find_watched(watch, scope->scope_id, err);
    if (!watched)
        return VCM_INTERNAL;
    watched->seen = true;
    uint64_t revision = vcm_scope_revision(scope);
    if (watched->table.mapping == scope->mapping && watched->table.revision == revision)
        return VCM_OK;
    int rc = vcm_page_diff_take(&watched->fresh, look->txn, scope->mapping, err);
    watched->fresh.revision = revision;
    return rc;
}

/* Reports the differences. A scope that is no longer mapped lost all its pages. No transaction is
 * open meanwhile, because the callback may be slow. */
static int tell_differences(struct watch *watch, struct vcm_error *err)
{
    int rc = VCM_OK;

    for (struct watched *w = watch->scopes; rc == VCM_OK && w; w = w->next) {
        if (w->seen && w->fresh.mapping == 0)
            continue;
        if (!watch->silent)
            rc = vcm_page_diff(&w->table, &w->fresh, tell_change,
                               &(struct teller){watch, w->scope_id}, err);
        vcm_page_diff_release(&w->table);
        w->table = w->fresh;
        memset(&w->fresh, 0, sizeof w->fresh);
    }
    return rc;
}

static int look_at_scopes(struct watch *watch, struct vcm_error *err)
{
    struct look look = {.watch = watch};

    for (struct watched *w = watch->scopes; w; w = w->next)
        w->seen = false;
    int rc = vcm_handle_open_for_reading(watch->vcm, err);
    if (rc == VCM_OK && watch->vcm->store)
        rc = vcm_page_store_read_begin(&look.txn, watch->vcm->store, err);
    if (rc == VCM_OK && look.txn)
        rc = vcm_page_store_each_scope(look.txn, vcm_buf_slice(&watch->base), look_at_scope, &look,
                                       err);
    vcm_kv_handle_read_end(look.txn);
    return rc == VCM_OK ? tell_differences(watch, err) : vcm_damage_note(watch->vcm, rc, err);
}

/* Logs a problem once, and logs when it is over. */
static void report(struct watch *watch, const char *trouble)
{
    if (strcmp(vcm_buf_text(&watch->trouble), trouble) == 0)
        return;
    if (trouble[0] != '\0')
        vcm_log_write(watch->vcm->log, VCM_LOG_WARNING, "%s", trouble);
    else
        vcm_log_write(watch->vcm->log, VCM_LOG_INFO, "the problem is solved");
    vcm_buf_clear(&watch->trouble);
    vcm_buf_append_string(&watch->trouble, trouble);
}

/* Reads the commit that is to be mapped; "" when there is none. To be called when its refs are
 * watched: what moved before that is seen here, what moves later wakes the watch. */
static void read_tip(struct watch *watch, struct vcm_git_repo *repo)
{
    struct vcm_error ignored = {0};
    struct vcm_git_id tip;

    watch->head[0] = '\0';
    if (vcm_git_repo_resolve(&tip, repo, watch->map.branch, watch->map.commit, &ignored) == VCM_OK)
        vcm_git_repo_id_to_hex(watch->head, &tip);
}

/*
 * Opens the repository to derive the base of its scopes and to watch its refs. NOT_FOUND when it is
 * not at its place: a repository that contains the place is not the watched one.
 */
static int look_at_repository(struct watch *watch, struct vcm_error *err)
{
    struct vcm_plan_request request = {
        .repository = watch->map.repository,
        .base_scope = watch->map.base_scope_id,
        .nested_scope = watch->map.nested_scope,
        .branch = watch->map.branch,
        .commit = watch->map.commit,
        .offline = true,
    };
    struct vcm_plan plan;

    int rc = vcm_handle_config(watch->vcm, err);
    if (rc != VCM_OK)
        return rc;
    vcm_handle_plan_defaults(&request, watch->vcm);
    rc = vcm_handle_clones(&request, watch->vcm, watch->map.timeout_ms, err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_plan_open(&plan, &request, err);
    if (rc == VCM_OK && watch->root.len > 0 &&
        strcmp(vcm_buf_text(&watch->root), plan.repo_root) != 0)
        rc = vcm_error_set(err, VCM_NOT_FOUND, "no git repository at '%s'",
                           vcm_buf_text(&watch->root));
    if (rc == VCM_OK && watch->base.len == 0)
        vcm_buf_append_string(&watch->base, plan.base_scope);
    if (rc == VCM_OK && !watch->is_remote) {
        if (watch->root.len == 0)
            vcm_buf_append_string(&watch->root, plan.repo_root);
        if (stat(vcm_buf_text(&watch->root), &watch->place) != 0)
            memset(&watch->place, 0, sizeof watch->place);
        rc = vcm_git_ref_watch_set(watch->refs, plan.repo, err);
        read_tip(watch, plan.repo);
    }
    vcm_plan_release(&plan);
    return rc;
}

/* Collects the failures of rows, to log each once. */
static void report_rows(struct watch *watch, const struct vcm_map_result *result)
{
    struct vcm_buf trouble = VCM_BUF_INIT(2048);

    for (size_t i = 0; i < result->source_count; i++) {
        const struct vcm_map_source *source = &result->sources[i];
        if (source->status != VCM_STATUS_ERROR)
            continue;
        vcm_buf_append_format(&trouble, "%s%s", trouble.len > 0 ? "; " : "",
                              source->message ? source->message : source->name);
        /* A new row of the map from another repository is fetched immediately. */
        if (watch->map.offline && source->code == VCM_NOT_FOUND)
            watch->next_poll_ms = 0;
    }
    report(watch, vcm_buf_text(&trouble));
    vcm_buf_release(&trouble);
}

/* Follows routes once per commit: doing so at every poll would read every routed file again. */
static int map_and_route(struct vcm_map_result **out, struct watch *watch, struct vcm_error *err)
{
    const struct vcm_map_extra extra = {.routed = watch->routed};

    watch->settled[0] = '\0';
    int rc = vcm_map_with(out, watch->vcm, &watch->map, &extra, err);
    if (rc == VCM_OK && (*out)->knowledge.code == VCM_OK)
        snprintf(watch->routed, sizeof watch->routed, "%s", (*out)->commit);
    if (rc == VCM_OK && vcm_map_is_settled(*out))
        snprintf(watch->settled, sizeof watch->settled, "%s", (*out)->commit);
    return rc;
}

/* Whether the tip is still what the last round mapped. A ref that moves while a round runs wakes
 * the watch once more, although that round may have seen the move already. */
static bool is_up_to_date(const struct watch *watch)
{
    return watch->settled[0] != '\0' && strcmp(watch->settled, watch->head) == 0;
}

/* Maps again. Returns an error only if it ends the watch. */
static int follow(struct watch *watch, enum wake wake, struct vcm_error *err)
{
    struct vcm_map_result *result = NULL;
    struct vcm_error failure = {0};

    int rc = look_at_repository(watch, &failure);
    if (rc == VCM_NOT_FOUND && !watch->is_remote) {
        struct vcm_error ignored = {0};
        watch->gone = true;
        report(watch, "the repository is gone; waiting for it");
        return vcm_git_ref_watch_set(watch->refs, NULL, &ignored);
    }
    watch->gone = false;
    watch->map.offline = wake == WAKE_CHANGED;
    if (wake == WAKE_POLL)
        watch->next_poll_ms = vcm_clock_ms() + watch->options->poll_ms;
    if (rc == VCM_OK && wake == WAKE_CHANGED && is_up_to_date(watch))
        return look_at_scopes(watch, err);
    if (rc == VCM_OK)
        rc = map_and_route(&result, watch, &failure);
    if (rc == VCM_OK)
        report_rows(watch, result);
    else if (rc != VCM_INTERRUPTED)
        report(watch, failure.message);
    vcm_map_result_free(result);
    if (rc == VCM_INTERRUPTED) {
        if (err)
            *err = failure;
        return rc;
    }
    return look_at_scopes(watch, err);
}

/* Waits for the changes that follow immediately: a rebase moves HEAD many times. */
static int let_settle(struct watch *watch, struct vcm_error *err)
{
    uint64_t start = vcm_clock_ms();
    bool changed = true;
    int rc = VCM_OK;

    while (rc == VCM_OK && changed && vcm_clock_ms() - start < VCM_LIMIT_WATCH_BURST_MS)
        rc = vcm_git_ref_watch_wait(&changed, watch->refs, VCM_LIMIT_WATCH_QUIET_MS, err);
    return rc;
}

/* Whether the repository was replaced or removed. inotify does not report that a parent directory
 * was renamed. */
static bool has_moved(const struct watch *watch)
{
    struct stat now;

    if (watch->is_remote || watch->gone)
        return false;
    return stat(vcm_buf_text(&watch->root), &now) != 0 || now.st_ino != watch->place.st_ino ||
           now.st_dev != watch->place.st_dev;
}

static int wait_for_change(enum wake *wake, struct watch *watch, struct vcm_error *err)
{
    const struct vcm_watch_options *options = watch->options;
    uint64_t gone_until = vcm_clock_ms() + VCM_LIMIT_WATCH_RETURN_MS;
    bool changed = false;

    for (;;) {
        int rc = vcm_cancel_check(watch->vcm->cancel, err);
        if (rc == VCM_OK && options->idle)
            rc = options->idle(options->context, err);
        if (rc != VCM_OK)
            return rc;
        uint64_t now = vcm_clock_ms();
        *wake = now >= watch->next_poll_ms ? WAKE_POLL : WAKE_CHANGED;
        if (*wake == WAKE_POLL || (watch->gone && now >= gone_until) || has_moved(watch))
            return VCM_OK;
        rc = vcm_git_ref_watch_wait(&changed, watch->refs, VCM_LIMIT_WATCH_TICK_MS, err);
        if (rc != VCM_OK || changed)
            return rc == VCM_OK ? let_settle(watch, err) : rc;
    }
}

static int begin(struct watch *watch, struct vcm_error *err)
{
    const struct vcm_watch_options *options = watch->options;
    struct vcm_map_result *result = NULL;
    struct vcm_error unknown = {0};

    watch->map = options->map;
    watch->map.only_live = !options->map_first;
    watch->is_remote = vcm_git_url_is_remote(options->map.repository);
    int rc = vcm_handle_config(watch->vcm, err);
    if (rc == VCM_OK)
        rc = look_at_repository(watch, watch->is_remote ? &unknown : err);
    if (watch->is_remote && unknown.code != VCM_OK)
        rc = VCM_OK; /* nothing was fetched before, so nothing was mapped */
    watch->silent = true;
    if (rc == VCM_OK && !options->map_first && watch->base.len > 0)
        rc = look_at_scopes(watch, err);
    if (rc == VCM_OK)
        rc = map_and_route(&result, watch, err);
    if (rc == VCM_OK && watch->base.len == 0)
        vcm_buf_append_string(&watch->base, result->base_scope_id);
    if (rc == VCM_OK && options->mapped)
        rc = options->mapped(options->context, result, err);
    if (rc == VCM_OK) {
        report_rows(watch, result);
        watch->silent = options->map_first;
        rc = look_at_scopes(watch, err);
        watch->silent = false;
    }
    vcm_map_result_free(result);
    if (!watch->is_remote)
        watch->map.repository = vcm_buf_text(&watch->root);
    watch->map.only_live = true;
    watch->map.progress = NULL;
    watch->next_poll_ms = vcm_clock_ms() + options->poll_ms;
    return rc;
}

int vcm_watch(struct vcm *vcm, const struct vcm_watch_options *options, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options->event));
    if (rc == VCM_OK)
        rc = vcm_map_check_options(&options->map, err);
    if (rc != VCM_OK)
        return rc;
    struct watch watch = {.vcm = vcm, .options = options};
    enum wake wake;

    vcm_buf_init(&watch.root, VCM_LIMIT_PATH_BYTES);
    vcm_buf_init(&watch.base, VCM_LIMIT_SCOPE_ID_BYTES);
    vcm_buf_init(&watch.trouble, 4096);
    rc = vcm_git_ref_watch_open(&watch.refs, err);
    if (rc == VCM_OK)
        rc = begin(&watch, err);
    while (rc == VCM_OK) {
        rc = wait_for_change(&wake, &watch, err);
        if (rc == VCM_OK)
            rc = follow(&watch, wake, err);
    }
    while (watch.scopes) {
        struct watched *next = watch.scopes->next;
        vcm_page_diff_release(&watch.scopes->table);
        vcm_page_diff_release(&watch.scopes->fresh);
        free(watch.scopes);
        watch.scopes = next;
    }
    vcm_git_ref_watch_close(watch.refs);
    vcm_buf_release(&watch.root);
    vcm_buf_release(&watch.base);
    vcm_buf_release(&watch.trouble);
    return rc;
}
