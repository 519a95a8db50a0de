#include "lfs/migrate.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/path.h"
#include "lfs/filters.h"

#include "base/banned.h"

#define OUTPUT_MAX  (64 * VCM_MIB)
#define TIMEOUT_MS  (6 * 60 * 60 * 1000u)
#define AHEAD_LIMIT "--max-count=1000"
#define HEADS       "refs/heads/"
#define PATHS_SHOWN 3
#define RECORD      "vcm-migration" /* in the git directory: refs before the rewrite, "id name" */

static const struct vcm_slice no_input = {NULL, 0};

static int refuse_shallow(struct vcm_migrate *m, struct vcm_error *err)
{
    struct vcm_buf answer = VCM_BUF_INIT(64);
    int rc = vcm_command_read(
        &answer, m->git, VCM_COMMAND_ARGS("rev-parse", "--is-shallow-repository"), no_input, err);
    if (rc == VCM_OK && strcmp(vcm_buf_text(&answer), "true") == 0)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "a shallow clone cannot be migrated; run git fetch --unshallow first");
    vcm_buf_release(&answer);
    return rc;
}

/* The files and indexes of other working trees would stay at commits that are on no branch any
 * more. */
static int refuse_worktrees(struct vcm_migrate *m, struct vcm_error *err)
{
    struct vcm_buf list = VCM_BUF_INIT(OUTPUT_MAX);
    int rc = vcm_command_read(&list, m->git, VCM_COMMAND_ARGS("worktree", "list", "--porcelain"),
                              no_input, err);
    const char *second = strstr(vcm_buf_text(&list), "\nworktree ");
    if (rc == VCM_OK && second)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "the repository has other working trees ('%.*s'); remove them with git "
                           "worktree remove before migrating",
                           (int)strcspn(second + 10, "\n"), second + 10);
    vcm_buf_release(&list);
    return rc;
}

/* Options that make git read and write files without filters. */
#define WITHOUT_FILTER                                                                             \
    "-c", "filter.lfs.process=", "-c", "filter.lfs.clean=", "-c", "filter.lfs.smudge=", "-c",      \
        "filter.lfs.required=false"
#define STATUS "status", "--porcelain", "-z", "--no-renames"

/* Whether an entry of git's status is a file that a killed run wrote, and the caller commits. */
static bool is_left_over(const struct vcm_migrate *m, const char *entry)
{
    for (size_t i = 0; i < m->file_count; i++)
        if (m->files[i].before.data && strlen(entry) > 3 &&
            strcmp(entry + 3, m->files[i].path) == 0)
            return true;
    return false;
}

static bool holds_entry(const struct vcm_buf *list, const char *entry)
{
    const char *text = vcm_buf_text(list);

    for (size_t at = 0; at < list->len; at += strlen(text + at) + 1)
        if (strcmp(text + at, entry) == 0)
            return true;
    return false;
}

/* As for git-lfs, untracked files count too, because the rewritten commits are checked out. A file
 * that should be in LFS and is not appears modified with the filter, one that is in LFS appears
 * modified without it; a file that the user modified appears so in both. */
static int refuse_dirty(struct vcm_migrate *m, struct vcm_error *err)
{
    struct vcm_buf filtered = VCM_BUF_INIT(OUTPUT_MAX), plain = VCM_BUF_INIT(OUTPUT_MAX);
    bool left = false;

    for (size_t i = 0; i < m->file_count; i++)
        left = left || m->files[i].before.data;
    /* A folder of which only files of ours are untracked must not stand for them. */
    const char *untracked = left ? "--untracked-files=all" : "--untracked-files=normal";
    int rc =
        vcm_command_read(&filtered, m->git,
                         VCM_COMMAND_ARGS("--no-optional-locks", STATUS, untracked), no_input, err);
    if (rc == VCM_OK && filtered.len > 0)
        rc = vcm_command_read(
            &plain, m->git,
            VCM_COMMAND_ARGS("--no-optional-locks", WITHOUT_FILTER, STATUS, untracked), no_input,
            err);
    const char *text = vcm_buf_text(&filtered);
    for (size_t at = 0; rc == VCM_OK && at < filtered.len; at += strlen(text + at) + 1)
        if (holds_entry(&plain, text + at) && !is_left_over(m, text + at))
            rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                               "the working tree has changes ('%s'); commit or stash them before "
                               "migrating",
                               strlen(text + at) > 3 ? text + at + 3 : "");
    vcm_buf_release(&plain);
    vcm_buf_release(&filtered);
    return rc;
}

static bool is_own(const char *own, const char *id, size_t len)
{
    for (const char *at = own; at && *at;) {
        size_t line = strcspn(at, "\n");
        if (line == len && memcmp(at, id, len) == 0)
            return true;
        at += line + (at[line] == '\n');
    }
    return false;
}

int vcm_migrate_count_ahead(size_t *foreign, size_t *total, const struct vcm_command *git,
                            const char *tip, const char *known, const char *own,
                            struct vcm_error *err)
{
    struct vcm_buf input = VCM_BUF_INIT(OUTPUT_MAX), list = VCM_BUF_INIT(OUTPUT_MAX);

    *foreign = *total = 0;
    vcm_buf_append_format(&input, "%s\n", tip);
    for (const char *at = known; *at;) {
        size_t line = strcspn(at, "\n");
        vcm_buf_append_format(&input, "^%.*s\n", (int)line, at);
        at += line + (at[line] == '\n');
    }
    int rc = vcm_buf_check(&input, "the list of refs", err);
    if (rc == VCM_OK)
        rc = vcm_command_read(
            &list, git, VCM_COMMAND_ARGS("rev-list", "--ignore-missing", AHEAD_LIMIT, "--stdin"),
            vcm_buf_slice(&input), err);
    for (const char *at = vcm_buf_text(&list); rc == VCM_OK && *at;) {
        size_t line = strcspn(at, "\n");
        *foreign += !is_own(own, at, line);
        ++*total;
        at += line + (at[line] == '\n');
    }
    vcm_buf_release(&list);
    vcm_buf_release(&input);
    return rc;
}

/* The local ref that is pushed to a ref of the remote: the one of the same name, but HEAD's branch
 * is pushed to its upstream. */
static const struct vcm_push_ref *local_of(const struct vcm_migrate *m, const char *remote_name)
{
    char name[1100];

    snprintf(name, sizeof name, HEADS "%s", m->branch);
    if (strcmp(remote_name, m->target.ref) == 0)
        return vcm_push_get(m->local, name);
    const struct vcm_push_ref *local = vcm_push_get(m->local, remote_name);
    return local && strcmp(local->name, name) != 0 ? local : NULL;
}

static int refuse_unknown(const struct vcm_push_ref *ref, struct vcm_error *err)
{
    return vcm_error_set(
        err, VCM_INVALID_ARGUMENT,
        "'%s' of the remote has commits that were not fetched, and that the rewrite "
        "would drop; git fetch and merge it, or migrate with --no-push",
        ref->name);
}

/* What a local ref was before an earlier rewrite, else what it is. */
static const char *old_id(const struct vcm_migrate *m, const struct vcm_push_ref *local)
{
    const struct vcm_push_ref *former = vcm_push_get(m->former, local->name);
    return former ? former->id : local->id;
}

/* Compares what git prints for two commits; `args` end with a place for the commit. */
static int prints_same(bool *out, const struct vcm_migrate *m, const char *args[], size_t count,
                       const char *one, const char *other, struct vcm_error *err)
{
    struct vcm_buf first = VCM_BUF_INIT(OUTPUT_MAX), second = VCM_BUF_INIT(OUTPUT_MAX);

    args[count] = one;
    args[count + 1] = NULL;
    int rc = vcm_command_read(&first, m->git, args, no_input, err);
    args[count] = other;
    if (rc == VCM_OK)
        rc = vcm_command_read(&second, m->git, args, no_input, err);
    *out = rc == VCM_OK && vcm_slice_equal(vcm_buf_slice(&first), vcm_buf_slice(&second));
    vcm_buf_release(&second);
    vcm_buf_release(&first);
    return rc;
}

/* Whether a ref is still what the rewrite made of it: as many commits, the last with the same
 * people, times and message. */
static int check_rewritten(const struct vcm_migrate *m, const struct vcm_push_ref *local,
                           struct vcm_error *err)
{
    const char *old = old_id(m, local);
    bool same = false;

    if (strcmp(old, local->id) == 0)
        return VCM_OK;
    const char *number[6] = {"rev-list", "--count", "--end-of-options"};
    int rc = prints_same(&same, m, number, 3, old, local->id, err);
    const char *last[6] = {"log", "-1", "--format=%an%n%ae%n%at%n%cn%n%ce%n%ct%n%B",
                           "--end-of-options"};
    if (rc == VCM_OK && same)
        rc = prints_same(&same, m, last, 4, old, local->id, err);
    if (rc == VCM_OK && !same)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "'%s' was rewritten by an earlier migration that was not pushed, and "
                           "has changed since; push it yourself with git push --force-with-lease",
                           local->name);
    return rc;
}

static int check_remote_ref(struct vcm_migrate *m, const struct vcm_push_ref *ref, const char *own,
                            struct vcm_error *err)
{
    const struct vcm_push_ref *local = local_of(m, ref->name);
    size_t foreign = 0, total = 0;
    int status = 0;

    if (!local || strcmp(local->id, ref->id) == 0)
        return VCM_OK;
    int rc = check_rewritten(m, local, err);
    const char *old = old_id(m, local);
    if (rc != VCM_OK || strcmp(old, ref->id) == 0)
        return rc;
    if (strncmp(ref->name, HEADS, sizeof HEADS - 1) != 0)
        return refuse_unknown(ref, err);
    rc = vcm_command_run(
        &status, NULL, NULL, m->git,
        VCM_COMMAND_ARGS("merge-base", "--is-ancestor", "--end-of-options", ref->id, old), no_input,
        err);
    if (rc == VCM_OK && status != 0)
        rc = refuse_unknown(ref, err);
    if (rc == VCM_OK)
        rc = vcm_migrate_count_ahead(&foreign, &total, m->git, old, ref->id, own, err);
    if (rc == VCM_OK && foreign > 0)
        m->ahead = local->name + sizeof HEADS - 1;
    return rc;
}

static int record_path(struct vcm_buf *out, const struct vcm_migrate *m, struct vcm_error *err)
{
    int rc = vcm_command_read(out, m->git, VCM_COMMAND_ARGS("rev-parse", "--absolute-git-dir"),
                              no_input, err);
    vcm_buf_append_string(out, "/" RECORD);
    return rc == VCM_OK ? vcm_buf_check(out, "the path of the repository", err) : rc;
}

/* Reads what refs were before an earlier rewrite. A line that is no "id name" is ignored. */
static int read_record(struct vcm_migrate *m, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES), text = VCM_BUF_INIT(OUTPUT_MAX);
    struct vcm_push_ref **last = &m->former;

    int rc = record_path(&path, m, err);
    if (rc != VCM_OK || vcm_path_read_file(&text, vcm_buf_text(&path), OUTPUT_MAX, NULL) != VCM_OK)
        vcm_buf_clear(&text);
    for (const char *line = vcm_buf_text(&text); rc == VCM_OK && *line;) {
        size_t len = strcspn(line, "\n"), id = strspn(line, "0123456789abcdef");
        if (id > 0 && id < VCM_COMMIT_ID_BYTES && line[id] == ' ' && id + 1 < len) {
            struct vcm_push_ref *ref = vcm_arena_alloc(m->arena, sizeof *ref);
            const char *name = vcm_arena_copy(m->arena, vcm_slice_of(line + id + 1, len - id - 1));
            if (!ref || !name) {
                rc = vcm_error_memory(err);
                break;
            }
            *ref = (struct vcm_push_ref){.name = name};
            memcpy(ref->id, line, id);
            *last = ref;
            last = &ref->next;
        }
        line += len + (line[len] == '\n');
    }
    vcm_buf_release(&text);
    vcm_buf_release(&path);
    return rc;
}

static int write_record(const struct vcm_migrate *m, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES), text = VCM_BUF_INIT(OUTPUT_MAX);

    for (const struct vcm_push_ref *ref = m->local; ref; ref = ref->next)
        vcm_buf_append_format(&text, "%s %s\n", old_id(m, ref), ref->name);
    int rc = vcm_buf_check(&text, "the list of refs", err);
    if (rc == VCM_OK)
        rc = record_path(&path, m, err);
    if (rc == VCM_OK)
        rc = vcm_path_write_file(vcm_buf_text(&path), vcm_buf_slice(&text), 0600, err);
    vcm_buf_release(&text);
    vcm_buf_release(&path);
    return rc;
}

/* If it stays, the next migration compares with it and finds nothing to go on with. */
static void remove_record(const struct vcm_migrate *m)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    if (record_path(&path, m, NULL) == VCM_OK)
        unlink(vcm_buf_text(&path));
    vcm_buf_release(&path);
}

/* A rewrite that was killed before it checked out what it made has left the files of the old
 * commit. They are the same with LFS, so that nothing is lost by checking out. */
static int settle_tree(struct vcm_migrate *m, struct vcm_error *err)
{
    char name[1100];
    int status = 1;

    snprintf(name, sizeof name, HEADS "%s", m->branch);
    const struct vcm_push_ref *now = vcm_push_get(m->local, name);
    if (!now || strcmp(old_id(m, now), now->id) == 0)
        return VCM_OK;
    int rc = vcm_command_run(&status, NULL, NULL, m->git,
                             VCM_COMMAND_ARGS(WITHOUT_FILTER, "diff", "--quiet", "--no-ext-diff",
                                              "--no-textconv", "--end-of-options", old_id(m, now)),
                             no_input, err);
    if (rc == VCM_OK && status == 0)
        rc = vcm_command_read(NULL, m->git, VCM_COMMAND_ARGS("reset", "--quiet", "--hard"),
                              no_input, err);
    return rc;
}

int vcm_migrate_prepare(struct vcm_migrate *m, const struct vcm_push_target *target,
                        const char *own, struct vcm_error *err)
{
    bool found = false;

    m->target = *target;
    if (!m->branch)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "HEAD is detached; check out a branch before migrating");
    int rc = vcm_filters_probe(&found, m->git, err);
    if (rc == VCM_OK && !found)
        rc = vcm_error_set(err, VCM_UNSUPPORTED, "migrating needs git-lfs; " VCM_WIRE_GET_GIT_LFS);
    if (rc == VCM_OK)
        rc = refuse_shallow(m, err);
    if (rc == VCM_OK)
        rc = refuse_worktrees(m, err);
    if (rc == VCM_OK)
        rc = vcm_push_list(&m->local, m->arena, m->git, NULL, err);
    if (rc == VCM_OK)
        rc = read_record(m, err);
    if (rc == VCM_OK && m->former && !m->dry_run)
        rc = settle_tree(m, err);
    if (rc == VCM_OK)
        rc = refuse_dirty(m, err);
    if (rc != VCM_OK || !m->target.remote)
        return rc;
    rc = vcm_push_list(&m->remote, m->arena, m->git, m->target.remote, err);
    for (const struct vcm_push_ref *ref = m->remote; rc == VCM_OK && ref; ref = ref->next)
        rc = check_remote_ref(m, ref, own, err);
    return rc;
}

/* git-lfs leaves pointers in the working tree; the content is in the LFS objects. */
static void fill_tree(const struct vcm_command *git)
{
    struct vcm_error ignored = {0};
    int status;

    vcm_command_run(&status, NULL, NULL, git, VCM_COMMAND_ARGS("lfs", "checkout"), no_input,
                    &ignored);
}

/* Compares refs with their values before the rewrite. */
static int take_rewritten(struct vcm_migrate *m, const struct vcm_command *git,
                          struct vcm_error *err)
{
    struct vcm_push_ref *now = NULL;
    struct vcm_migrate_ref **last = &m->refs;

    int rc = vcm_push_list(&now, m->arena, git, NULL, err);
    for (const struct vcm_push_ref *ref = m->local; rc == VCM_OK && ref; ref = ref->next) {
        const struct vcm_push_ref *new = vcm_push_get(now, ref->name);
        const char *old = old_id(m, ref);
        if (!new || strcmp(new->id, old) == 0)
            continue;
        struct vcm_migrate_ref *item = vcm_arena_alloc(m->arena, sizeof *item);
        if (!item)
            return vcm_error_memory(err);
        *item = (struct vcm_migrate_ref){.name = ref->name, .old_id = old, .new_id = new->id};
        *last = item;
        last = &item->next;
    }
    return rc;
}

/* Restores the refs that a failed rewrite has moved, and the working tree, which had no changes. */
static void restore(struct vcm_migrate *m, const struct vcm_command *git)
{
    struct vcm_buf input = VCM_BUF_INIT(OUTPUT_MAX);
    struct vcm_command plain = *git;
    struct vcm_error ignored = {0};

    plain.cancel = NULL;
    if (take_rewritten(m, &plain, &ignored) == VCM_OK && m->refs) {
        for (const struct vcm_migrate_ref *ref = m->refs; ref; ref = ref->next)
            vcm_buf_append_format(&input, "update %s %s %s\n", ref->name, ref->old_id, ref->new_id);
        vcm_command_read(NULL, &plain, VCM_COMMAND_ARGS("update-ref", "--stdin"),
                         vcm_buf_slice(&input), &ignored);
        vcm_command_read(NULL, &plain,
                         VCM_COMMAND_ARGS(WITHOUT_FILTER, "reset", "--quiet", "--hard"), no_input,
                         &ignored);
    }
    fill_tree(&plain);
    m->refs = NULL;
    vcm_buf_release(&input);
}

int vcm_migrate_run(struct vcm_migrate *m, const char *include, const char *exclude,
                    struct vcm_error *err)
{
    struct vcm_buf in = VCM_BUF_INIT(2 * VCM_LIMIT_ATTRIBUTES_BYTES);
    struct vcm_buf out = VCM_BUF_INIT(2 * VCM_LIMIT_ATTRIBUTES_BYTES);
    struct vcm_buf complaints = VCM_BUF_INIT(OUTPUT_MAX);
    struct vcm_command git = *m->git;
    int status = 0;

    git.timeout_ms = TIMEOUT_MS;
    vcm_buf_append_format(&in, "--include=%s", include);
    vcm_buf_append_format(&out, "--exclude=%s", exclude);
    /* The bootstrap commit was made after vcm_migrate_prepare() read the refs. */
    int rc = vcm_push_list(&m->local, m->arena, m->git, NULL, err);
    if (rc == VCM_OK)
        rc = write_record(m, err);
    if (rc == VCM_OK)
        rc = vcm_command_run(&status, NULL, &complaints, &git,
                             VCM_COMMAND_ARGS("lfs", "migrate", "import", "--everything", "--yes",
                                              "--skip-fetch", vcm_buf_text(&in),
                                              exclude[0] ? vcm_buf_text(&out) : NULL),
                             no_input, err);
    if (rc == VCM_OK && status != 0)
        rc = vcm_command_failure(err, "git lfs migrate import", vcm_buf_text(&complaints));
    if (rc == VCM_OK)
        rc = take_rewritten(m, &git, err);
    else
        restore(m, &git);
    if (rc == VCM_OK)
        fill_tree(&git);
    if (!m->refs)
        remove_record(m);
    vcm_buf_release(&complaints);
    vcm_buf_release(&out);
    vcm_buf_release(&in);
    return rc;
}

static int add_update(struct vcm_push_update ***last, struct vcm_arena *arena, const char *source,
                      const char *ref, const char *lease, struct vcm_error *err)
{
    struct vcm_push_update *update = vcm_arena_alloc(arena, sizeof *update);
    if (!update)
        return vcm_error_memory(err);
    *update = (struct vcm_push_update){.source = source, .ref = ref, .lease = lease};
    **last = update;
    *last = &update->next;
    return VCM_OK;
}

static bool was_rewritten(const struct vcm_migrate *m, const char *name)
{
    for (const struct vcm_migrate_ref *ref = m->refs; ref; ref = ref->next)
        if (strcmp(ref->name, name) == 0)
            return true;
    return false;
}

int vcm_migrate_push(struct vcm_migrate *m, struct vcm_error *err)
{
    struct vcm_push_update *updates = NULL, **last = &updates;
    const struct vcm_push_ref *there = vcm_push_get(m->remote, m->target.ref);
    char head[1100];

    snprintf(head, sizeof head, HEADS "%s", m->branch);
    int rc = add_update(&last, m->arena, head, m->target.ref, there ? there->id : "", err);
    for (const struct vcm_push_ref *ref = m->remote; rc == VCM_OK && ref; ref = ref->next) {
        const struct vcm_push_ref *local = local_of(m, ref->name);
        if (ref != there && local && was_rewritten(m, local->name))
            rc = add_update(&last, m->arena, local->name, ref->name, ref->id, err);
    }
    if (rc == VCM_OK)
        rc = vcm_push_send(m->git, m->target.remote, updates, true, err);
    if (rc == VCM_OK)
        remove_record(m);
    return rc;
}

const char *vcm_migrate_left_behind(const struct vcm_migrate *m)
{
    for (const struct vcm_push_ref *ref = m->remote; ref; ref = ref->next)
        if (!local_of(m, ref->name))
            return ref->name;
    return NULL;
}
