#include "serve/watcher.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/limits.h"
#include "serve/resources.h"

#include "base/banned.h"

#define INTERVAL_MS 500

/* A scope and a digest of what is mapped there. */
struct seen {
    char *scope_id;
    uint64_t digest;
};

/* In the order of the ids. */
struct scopes {
    struct seen *list;
    size_t count, capacity;
};

struct vcm_watcher {
    struct vcm_mcp *mcp;
    char *home;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, is_watched, is_ending;
    struct scopes scopes;
    bool has_scopes; /* the list is that of the time when watching began, or later */
};

static void clear(struct scopes *scopes)
{
    for (size_t i = 0; i < scopes->count; i++)
        free(scopes->list[i].scope_id);
    free(scopes->list);
    *scopes = (struct scopes){0};
}

static int see_scope(void *context, const struct vcm_scope_info *scope, struct vcm_error *err)
{
    struct scopes *scopes = context;
    uint64_t digest = vcm_hash_checksum(vcm_slice_of_string(scope->commit), 0);
    const uint64_t numbers[] = {scope->mapped_at, scope->pages, scope->tokens, scope->bytes,
                                scope->records};

    digest = vcm_hash_checksum(vcm_slice_of(numbers, sizeof numbers), digest);
    int rc = vcm_array_reserve(&scopes->list, &scopes->capacity, scopes->count + 1,
                               VCM_LIMIT_LIST_ENTRIES, err);
    char *copy = rc == VCM_OK ? strdup(scope->scope_id) : NULL;
    if (!copy)
        return rc != VCM_OK ? rc : vcm_error_memory(err);
    scopes->list[scopes->count++] = (struct seen){copy, digest};
    return VCM_OK;
}

static void tell_scope(struct vcm_mcp *mcp, const char *scope_id)
{
    struct vcm_buf uri = VCM_BUF_INIT(VCM_KIB);

    vcm_buf_append_format(&uri, VCM_RESOURCES_SCOPE "%s", scope_id);
    vcm_mcp_listen_updated(mcp, vcm_buf_text(&uri));
    vcm_buf_release(&uri);
}

/* Walks both lists side by side. */
static void tell(struct vcm_mcp *mcp, const struct scopes *before, const struct scopes *after)
{
    size_t a = 0, b = 0;
    bool any = false, list = false;

    while (a < before->count || b < after->count) {
        int order = a == before->count  ? 1
                    : b == after->count ? -1
                                        : strcmp(before->list[a].scope_id, after->list[b].scope_id);
        const char *id = order > 0 ? after->list[b].scope_id : before->list[a].scope_id;
        bool differs = order != 0 || before->list[a].digest != after->list[b].digest;
        if (differs)
            tell_scope(mcp, id);
        any = any || differs;
        list = list || order != 0;
        a += order <= 0;
        b += order >= 0;
    }
    if (any)
        vcm_mcp_listen_updated(mcp, VCM_RESOURCES_SCOPES);
    if (list)
        vcm_mcp_listen_changed(mcp, VCM_MCP_RESOURCES_CHANGE);
}

/* A list that cannot be read now is read again later. */
static void look(struct vcm_watcher *watcher, struct vcm *vcm)
{
    struct scopes now = {0};
    struct vcm_error err = {0};

    if (vcm_scopes(vcm, see_scope, &now, &err) != VCM_OK) {
        clear(&now);
        return;
    }
    if (watcher->has_scopes)
        tell(watcher->mcp, &watcher->scopes, &now);
    clear(&watcher->scopes);
    watcher->scopes = now;
    watcher->has_scopes = true;
}

static void wait_a_little(struct vcm_watcher *watcher)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)INTERVAL_MS * 1000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (watcher->is_watched && !watcher->is_ending &&
           pthread_cond_timedwait(&watcher->changed, &watcher->lock, &until) != ETIMEDOUT)
        continue;
}

static void *watch(void *argument)
{
    struct vcm_watcher *watcher = argument;
    struct vcm *vcm = NULL;

    pthread_mutex_lock(&watcher->lock);
    while (!watcher->is_ending) {
        if (!watcher->is_watched) {
            watcher->has_scopes = false;
            pthread_cond_wait(&watcher->changed, &watcher->lock);
            continue;
        }
        pthread_mutex_unlock(&watcher->lock);
        if (!vcm)
            vcm_open(&vcm, &(struct vcm_open_options){.home = watcher->home}, NULL);
        if (vcm)
            look(watcher, vcm);
        pthread_mutex_lock(&watcher->lock);
        wait_a_little(watcher);
    }
    pthread_mutex_unlock(&watcher->lock);
    vcm_close(vcm);
    return NULL;
}

int vcm_watcher_open(struct vcm_watcher **out, struct vcm_mcp *mcp, const char *home,
                     struct vcm_error *err)
{
    struct vcm_watcher *watcher = calloc(1, sizeof *watcher);

    *out = NULL;
    if (!watcher)
        return vcm_error_memory(err);
    watcher->mcp = mcp;
    watcher->home = home ? strdup(home) : NULL;
    if (home && !watcher->home) {
        free(watcher);
        return vcm_error_memory(err);
    }
    pthread_mutex_init(&watcher->lock, NULL);
    pthread_cond_init(&watcher->changed, NULL);
    *out = watcher;
    return VCM_OK;
}

void vcm_watcher_set(struct vcm_watcher *watcher, bool is_watched)
{
    sigset_t all, old;

    pthread_mutex_lock(&watcher->lock);
    watcher->is_watched = is_watched;
    if (is_watched && !watcher->has_thread) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &old);
        watcher->has_thread = pthread_create(&watcher->thread, NULL, watch, watcher) == 0;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_cond_signal(&watcher->changed);
    pthread_mutex_unlock(&watcher->lock);
}

void vcm_watcher_close(struct vcm_watcher *watcher)
{
    if (!watcher)
        return;
    pthread_mutex_lock(&watcher->lock);
    watcher->is_ending = true;
    pthread_cond_signal(&watcher->changed);
    pthread_mutex_unlock(&watcher->lock);
    if (watcher->has_thread)
        pthread_join(watcher->thread, NULL);
    clear(&watcher->scopes);
    pthread_cond_destroy(&watcher->changed);
    pthread_mutex_destroy(&watcher->lock);
    free(watcher->home);
    free(watcher);
}
