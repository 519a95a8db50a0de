#include "api/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/path.h"

#include "base/banned.h"

#define ROSTER_FILE  "scopes.json"
#define ROSTER_MODE  0600
#define LOCK_TICK_MS 5

static int file_path(struct vcm_buf *out, const char *home, struct vcm_error *err)
{
    vcm_path_join(out, home, ROSTER_FILE);
    return vcm_buf_check(out, "the path of the home", err);
}

static uint32_t bounded(const struct vcm_json *object, const char *name)
{
    int64_t value = vcm_json_get_int(object, name, 0);
    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Skips an entry that lacks a name. */
static int take_entry(struct vcm_roster_entry ***tail, struct vcm_arena *arena,
                      const struct vcm_json *object, struct vcm_error *err)
{
    struct vcm_roster_entry entry = {
        .scope_id = vcm_json_get_text(object, "scope_id", NULL),
        .name = vcm_json_get_text(object, "name", NULL),
        .repository = vcm_json_get_text(object, "repository", NULL),
        .base_scope_id = vcm_json_get_text(object, "base_scope_id", NULL),
        .branch = vcm_json_get_text(object, "branch", NULL),
        .map_text = vcm_json_get_text(object, "map_text", NULL),
        .commit = vcm_json_get_text(object, "commit", NULL),
        .flush_threshold = bounded(object, "flush_threshold"),
        .flush_token_budget = bounded(object, "flush_token_budget"),
        .pinned = vcm_json_get_bool(object, "pinned", false),
        .lost = vcm_json_get_bool(object, "lost", false),
    };

    if (!entry.scope_id || !entry.name || !entry.repository || !entry.base_scope_id ||
        !entry.commit)
        return VCM_OK;
    struct vcm_roster_entry *kept = vcm_arena_alloc(arena, sizeof *kept);
    if (!kept)
        return vcm_error_memory(err);
    *kept = entry;
    **tail = kept;
    *tail = &kept->next;
    return VCM_OK;
}

int vcm_roster_read(struct vcm_roster_entry **out, struct vcm_arena *arena, const char *home,
                    struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES);
    struct vcm_error unreadable = {0};
    struct vcm_json *document = NULL;

    *out = NULL;
    int rc = file_path(&path, home, err);
    if (rc == VCM_OK && vcm_path_read_file(&text, vcm_buf_text(&path), VCM_LIMIT_ROSTER_BYTES,
                                           &unreadable) == VCM_OK)
        vcm_json_parse(&document, arena, vcm_buf_slice(&text), &unreadable);
    const struct vcm_json *scopes = vcm_json_get(document, "scopes");
    if (scopes && scopes->kind == VCM_JSON_ARRAY) {
        struct vcm_roster_entry **tail = out;
        for (const struct vcm_json *item = scopes->first; rc == VCM_OK && item; item = item->next)
            rc = take_entry(&tail, arena, item, err);
    }
    vcm_buf_release(&text);
    vcm_buf_release(&path);
    return rc;
}

static void put_entry(struct vcm_jsonw *w, const struct vcm_roster_entry *entry)
{
    vcm_jsonw_begin_object(w);
    vcm_jsonw_member_string(w, "scope_id", entry->scope_id);
    vcm_jsonw_member_string(w, "name", entry->name);
    vcm_jsonw_member_string(w, "repository", entry->repository);
    vcm_jsonw_member_string(w, "base_scope_id", entry->base_scope_id);
    if (entry->branch)
        vcm_jsonw_member_string(w, "branch", entry->branch);
    vcm_jsonw_member_string(w, "commit", entry->commit);
    if (entry->map_text)
        vcm_jsonw_member_string(w, "map_text", entry->map_text);
    vcm_jsonw_member_uint(w, "flush_threshold", entry->flush_threshold);
    vcm_jsonw_member_uint(w, "flush_token_budget", entry->flush_token_budget);
    vcm_jsonw_member_bool(w, "pinned", entry->pinned);
    if (entry->lost)
        vcm_jsonw_member_bool(w, "lost", true);
    vcm_jsonw_end_object(w);
}

static int serialise(struct vcm_buf *out, const struct vcm_roster_entry *first,
                     struct vcm_error *err)
{
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, out);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_uint(&w, "schema", 1);
    vcm_jsonw_key(&w, "scopes");
    vcm_jsonw_begin_array(&w);
    for (const struct vcm_roster_entry *entry = first; entry; entry = entry->next)
        put_entry(&w, entry);
    vcm_jsonw_end_array(&w);
    vcm_jsonw_end_object(&w);
    vcm_buf_append_byte(out, '\n');
    return vcm_buf_check(out, "the list of scopes", err);
}

static bool drop_entry(struct vcm_roster_entry **first, const char *scope_id)
{
    for (struct vcm_roster_entry **link = first; *link; link = &(*link)->next) {
        if (strcmp((*link)->scope_id, scope_id) == 0) {
            *link = (*link)->next;
            return true;
        }
    }
    return false;
}

static int put_in(struct vcm_roster_entry **first, struct vcm_arena *arena,
                  const struct vcm_roster_entry *entry, struct vcm_error *err)
{
    struct vcm_roster_entry *kept = vcm_arena_alloc(arena, sizeof *kept);
    struct vcm_roster_entry **link = first;

    if (!kept)
        return vcm_error_memory(err);
    drop_entry(first, entry->scope_id);
    while (*link && strcmp((*link)->scope_id, entry->scope_id) < 0)
        link = &(*link)->next;
    *kept = *entry;
    kept->next = *link;
    *link = kept;
    return VCM_OK;
}

typedef int (*edit_fn)(struct vcm_roster_entry **first, struct vcm_arena *arena, void *context,
                       struct vcm_error *err);

static int list_ids(struct vcm_buf *out, const struct vcm_roster_entry *entry,
                    struct vcm_error *err)
{
    for (; entry; entry = entry->next)
        vcm_buf_append(out, entry->scope_id, strlen(entry->scope_id) + 1);
    return vcm_buf_check(out, "the list of scopes", err);
}

struct texts {
    struct vcm_buf path, before, after, ids_before, ids_after;
};

/* Syncs the file only when scopes are added or removed. If a crash loses a newer commit of a scope,
 * mapping from the older roster still maps every scope. */
static int write_roster(const struct texts *texts, struct vcm_error *err)
{
    struct vcm_slice after = vcm_buf_slice(&texts->after);

    if (vcm_slice_equal(vcm_buf_slice(&texts->before), after))
        return VCM_OK;
    return vcm_slice_equal(vcm_buf_slice(&texts->ids_before), vcm_buf_slice(&texts->ids_after))
               ? vcm_path_replace_file(vcm_buf_text(&texts->path), after, ROSTER_MODE, err)
               : vcm_path_write_file(vcm_buf_text(&texts->path), after, ROSTER_MODE, err);
}

/* Reads, edits, and writes the file if its text has changed. */
static int edit_locked(const char *home, edit_fn edit, void *context, struct vcm_error *err)
{
    struct texts texts = {
        VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES),   VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES),
        VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES), VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES),
        VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES),
    };
    struct vcm_roster_entry *first = NULL;
    struct vcm_arena arena;

    vcm_arena_init(&arena, 4 * VCM_LIMIT_ROSTER_BYTES);
    int rc = file_path(&texts.path, home, err);
    if (rc == VCM_OK)
        rc = vcm_roster_read(&first, &arena, home, err);
    if (rc == VCM_OK)
        rc = serialise(&texts.before, first, err);
    if (rc == VCM_OK)
        rc = list_ids(&texts.ids_before, first, err);
    if (rc == VCM_OK)
        rc = edit(&first, &arena, context, err);
    if (rc == VCM_OK)
        rc = serialise(&texts.after, first, err);
    if (rc == VCM_OK)
        rc = list_ids(&texts.ids_after, first, err);
    if (rc == VCM_OK)
        rc = write_roster(&texts, err);
    vcm_arena_release(&arena);
    vcm_buf_release(&texts.ids_after);
    vcm_buf_release(&texts.ids_before);
    vcm_buf_release(&texts.after);
    vcm_buf_release(&texts.before);
    vcm_buf_release(&texts.path);
    return rc;
}

static int lock_descriptor(int fd, const struct vcm *vcm, struct vcm_error *err)
{
    uint64_t deadline = vcm_clock_ms() + VCM_LIMIT_LOCK_TIMEOUT_MS;
    bool waited = false;

    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot lock the home '%s'", vcm->home);
        int rc = vcm_cancel_check(vcm->cancel, err);
        if (rc != VCM_OK)
            return rc;
        if (vcm_clock_ms() >= deadline)
            return vcm_error_set(err, VCM_STORE_BUSY,
                                 "another process has locked the home '%s' for " ROSTER_FILE
                                 "; try again when it has finished",
                                 vcm->home);
        if (!waited)
            vcm_log_write(vcm->log, VCM_LOG_INFO,
                          "waiting for another process that edits " ROSTER_FILE);
        waited = true;
        vcm_clock_sleep_ms(LOCK_TICK_MS);
    }
    return VCM_OK;
}

int vcm_roster_lock_home(int *fd, const struct vcm *vcm, struct vcm_error *err)
{
    *fd = open(vcm->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = *fd >= 0
                 ? lock_descriptor(*fd, vcm, err)
                 : vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open the home '%s'", vcm->home);
    if (rc != VCM_OK && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return rc;
}

static int edit_roster(const struct vcm *vcm, edit_fn edit, void *context, struct vcm_error *err)
{
    int fd, rc = vcm_roster_lock_home(&fd, vcm, err);

    if (rc != VCM_OK)
        return rc;
    rc = edit_locked(vcm->home, edit, context, err);
    close(fd);
    return rc;
}

struct map_run {
    const struct vcm_map_result *result;
    const struct vcm_map_options *options;
    const char *map_text;
};

static int add_run(struct vcm_roster_entry **first, struct vcm_arena *arena, void *context,
                   struct vcm_error *err)
{
    const struct map_run *run = context;
    int rc = VCM_OK;

    for (size_t i = 0; rc == VCM_OK && i < run->result->source_count; i++) {
        const struct vcm_map_source *source = &run->result->sources[i];
        const struct vcm_roster_entry entry = {
            .scope_id = source->scope_id,
            .name = source->name,
            .repository = run->result->repo_root,
            .base_scope_id = run->result->base_scope_id,
            .branch = run->result->branch,
            .commit = source->tree ? source->tree : run->result->commit,
            .map_text = run->map_text,
            .flush_threshold = run->options->flush_threshold,
            .flush_token_budget = run->options->flush_token_budget,
            .pinned = run->options->pinned,
        };
        if (source->status != VCM_STATUS_ERROR)
            rc = put_in(first, arena, &entry, err);
    }
    for (size_t i = 0; i < run->result->unmapped_count; i++)
        drop_entry(first, run->result->unmapped[i]);
    return rc;
}

int vcm_roster_note_map(const struct vcm *vcm, const struct vcm_map_result *result,
                        const struct vcm_map_options *options, const char *map_text,
                        struct vcm_error *err)
{
    struct map_run run = {result, options, map_text};

    return edit_roster(vcm, add_run, &run, err);
}

struct one_scope {
    const char *scope_id;
    bool listed;
};

static int remove_scope(struct vcm_roster_entry **first, struct vcm_arena *arena, void *context,
                        struct vcm_error *err)
{
    struct one_scope *scope = context;

    (void)arena;
    (void)err;
    scope->listed = drop_entry(first, scope->scope_id);
    return VCM_OK;
}

int vcm_roster_forget(bool *listed, const struct vcm *vcm, const char *scope_id,
                      struct vcm_error *err)
{
    struct one_scope scope = {scope_id, false};

    int rc = edit_roster(vcm, remove_scope, &scope, err);
    if (listed)
        *listed = scope.listed;
    return rc;
}

static int mark_lost(struct vcm_roster_entry **first, struct vcm_arena *arena, void *context,
                     struct vcm_error *err)
{
    (void)arena;
    (void)err;
    for (struct vcm_roster_entry *entry = *first; entry; entry = entry->next)
        if (strcmp(entry->scope_id, context) == 0)
            entry->lost = true;
    return VCM_OK;
}

int vcm_roster_give_up(const struct vcm *vcm, const char *scope_id, struct vcm_error *err)
{
    return edit_roster(vcm, mark_lost, (void *)scope_id, err);
}

/* Takes what the store has off the list. */
static int drop_mapped(struct vcm_roster_entry **first, struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_kv_txn *txn = NULL;
    struct vcm_scope scope = {0};

    if (!vcm->store)
        return VCM_OK;
    int rc = vcm_page_store_read_begin(&txn, vcm->store, err);
    for (struct vcm_roster_entry **link = first; rc == VCM_OK && *link;) {
        rc = vcm_page_store_scope(&scope, txn, vcm_slice_of_string((*link)->scope_id), err);
        vcm_scope_release(&scope);
        if (rc == VCM_OK)
            *link = (*link)->next;
        else if (rc == VCM_NOT_FOUND)
            link = &(*link)->next;
        if (rc == VCM_NOT_FOUND)
            rc = VCM_OK;
    }
    vcm_kv_handle_read_end(txn);
    return rc;
}

int vcm_roster_missing(struct vcm_roster_entry **out, struct vcm_arena *arena, struct vcm *vcm,
                       struct vcm_error *err)
{
    int fd = -1, rc;
    bool exists;

    *out = NULL;
    rc = vcm_handle_look_at_home(&exists, vcm, err);
    if (rc != VCM_OK || !exists)
        return rc;
    rc = vcm_roster_lock_home(&fd, vcm, err);
    if (rc == VCM_OK)
        rc = vcm_roster_read(out, arena, vcm->home, err);
    if (rc == VCM_OK)
        rc = drop_mapped(out, vcm, err);
    if (fd >= 0)
        close(fd);
    return rc;
}
