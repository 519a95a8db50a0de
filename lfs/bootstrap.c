#include "lfs/bootstrap.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "git/repo.h"
#include "git/tree.h"
#include "lfs/scaffold.h"
#include "lfs/filters.h"

#include "base/banned.h"

#define ARENA_BYTES_MAX (256 * VCM_MIB)
#define TEXT_MAX        ((size_t)1024)
#define MESSAGE_MAX     (64 * VCM_KIB)
#define LIST_MAX        (64 * VCM_MIB)
#define RECORD          "vcm.bootstrap" /* ids of our commits, in the repository's configuration */
#define GITHUB          "github.com"

struct run {
    struct vcm_bootstrap *b;
    const struct vcm_bootstrap_options *o;
    struct vcm_command git;
    struct vcm_scaffold scaffold;
    struct vcm_buf origin, branch;
    struct vcm_buf own; /* commits of earlier runs, one per line */
    char author_name[TEXT_MAX], author_email[TEXT_MAX];
    struct vcm_buf message;
    struct vcm_push_target target;
    struct vcm_wire wire;
    struct vcm_migrate migrate;
};

static const struct vcm_slice no_input = {NULL, 0};

void vcm_bootstrap_warn(struct vcm_bootstrap *bootstrap, const char *format, ...)
{
    struct vcm_bootstrap_warning **last = &bootstrap->warnings;
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    while (*last)
        last = &(*last)->next;
    struct vcm_bootstrap_warning *warning = vcm_arena_alloc(&bootstrap->arena, sizeof *warning);
    if (!warning)
        return;
    warning->text = vcm_arena_copy(&bootstrap->arena, vcm_slice_of_string(text));
    if (warning->text)
        *last = warning;
}

static int keep(const char **out, struct vcm_bootstrap *b, const char *text, struct vcm_error *err)
{
    *out = vcm_arena_copy(&b->arena, vcm_slice_of_string(text));
    return *out ? VCM_OK : vcm_error_memory(err);
}

static int check_text(const char *option, const char *text, bool lines, struct vcm_error *err)
{
    if (!text)
        return VCM_OK;
    size_t len = strlen(text);
    bool plain = len > 0 && text[0] != '-' && vcm_utf8_valid(vcm_slice_of(text, len)) &&
                 len < (lines ? MESSAGE_MAX / 2 : TEXT_MAX);
    for (size_t i = 0; plain && i < len; i++)
        plain = (unsigned char)text[i] >= ' ' || (lines && (text[i] == '\n' || text[i] == '\t'));
    if (plain)
        return VCM_OK;
    return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                         "--%s takes text that is not empty, does not begin with '-' and has no "
                         "control characters",
                         option);
}

/* "Name <email>" */
static int split_person(char name[TEXT_MAX], char email[TEXT_MAX], const char *option,
                        const char *text, struct vcm_error *err)
{
    int rc = check_text(option, text, false, err);
    if (rc != VCM_OK)
        return rc;
    size_t open = strcspn(text, "<"), end = open;
    while (end > 0 && text[end - 1] == ' ')
        end--;
    size_t close = text[open] ? open + 1 + strcspn(text + open + 1, "<>") : open;
    if (end == 0 || !text[open] || close <= open + 1 || text[close] != '>' || text[close + 1])
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--%s takes a person as 'Name <email>', not '%s'", option, text);
    snprintf(name, TEXT_MAX, "%.*s", (int)end, text);
    snprintf(email, TEXT_MAX, "%.*s", (int)(close - open - 1), text + open + 1);
    return VCM_OK;
}

static int check_options(struct run *r, struct vcm_error *err)
{
    const struct vcm_bootstrap_options *o = r->o;
    char name[TEXT_MAX], email[TEXT_MAX];

    if (o->migrate && o->no_lfs)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--migrate-existing-to-lfs and --no-lfs exclude each other");
    int rc = check_text("tenant", o->tenant, false, err);
    if (rc == VCM_OK)
        rc = check_text("colony", o->colony, false, err);
    if (rc == VCM_OK)
        rc = check_text("program", o->program, false, err);
    if (rc == VCM_OK)
        rc = check_text("message", o->message, true, err);
    if (rc == VCM_OK && o->author) {
        rc = split_person(r->author_name, r->author_email, "author", o->author, err);
        r->git.author_name = r->author_name;
        r->git.author_email = r->author_email;
    }
    for (size_t i = 0; rc == VCM_OK && i < o->co_author_count; i++)
        rc = split_person(name, email, "co-author", o->co_authors[i], err);
    return rc;
}

/* git itself, which is asked for the status, would list any number of paths. */
static int check_size(const struct run *r, struct vcm_git_repo *repo, struct vcm_error *err)
{
    struct vcm_error unborn = {0};
    struct vcm_git_id head;

    if (vcm_git_repo_resolve(&head, repo, NULL, NULL, &unborn) != VCM_OK)
        return VCM_OK;
    return vcm_git_tree_check_size(repo, &head, r->o->cancel, err);
}

static int open_repository(struct run *r, struct vcm_error *err)
{
    struct vcm_git_repo *repo = NULL;

    int rc = vcm_git_repo_open(&repo, r->o->directory, err);
    if (rc == VCM_OK && vcm_git_repo_is_bare(repo))
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "'%s' is a bare repository, which has no files; run vcm init in a clone "
                           "of it",
                           vcm_git_repo_root(repo));
    if (rc == VCM_OK)
        rc = keep(&r->b->repo_root, r->b, vcm_git_repo_root(repo), err);
    if (rc == VCM_OK)
        rc = vcm_git_repo_origin(&r->origin, repo, err);
    if (rc == VCM_OK)
        rc = vcm_git_repo_head_branch(&r->branch, repo, err);
    if (rc == VCM_OK)
        rc = check_size(r, repo, err);
    vcm_git_repo_close(repo);
    r->git.directory = r->b->repo_root;
    return rc;
}

/* Reads the commits of earlier runs from the configuration. */
static int read_own(struct run *r, struct vcm_error *err)
{
    bool found = false;
    return vcm_command_ask(&found, &r->own, &r->git,
                           VCM_COMMAND_ARGS("config", "--local", "--get-all", RECORD), err);
}

/* Records the commit. If that fails, a later run treats the commit as the user's and does not push
 * it. */
static void note_own(void *context, const char *id)
{
    struct run *r = context;
    struct vcm_error ignored = {0};

    vcm_buf_append_format(&r->own, "%s%s", r->own.len > 0 ? "\n" : "", id);
    vcm_command_read(NULL, &r->git, VCM_COMMAND_ARGS("config", "--local", "--add", RECORD, id),
                     no_input, &ignored);
}

static void warn_about_place(struct run *r)
{
    struct vcm_buf above = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES), url = VCM_BUF_INIT(LIST_MAX);
    struct vcm_error ignored = {0};

    if (vcm_command_read(&above, &r->git,
                         VCM_COMMAND_ARGS("rev-parse", "--show-superproject-working-tree"),
                         no_input, &ignored) == VCM_OK &&
        above.len > 0)
        vcm_bootstrap_warn(r->b, "this is a submodule of '%s', whose own files were not touched",
                           vcm_buf_text(&above));
    vcm_error_reset(&ignored);
    if (!r->branch.len)
        vcm_bootstrap_warn(r->b, "HEAD is detached: the commit is on no branch; keep it with git "
                                 "switch -c NAME");
    if (r->target.remote && !r->o->no_lfs &&
        vcm_push_url(&url, &r->git, r->target.remote, &ignored) == VCM_OK) {
        const char *host = strstr(vcm_buf_text(&url), GITHUB);
        char before = host && host > url.data ? host[-1] : '/';
        if (host && strchr("/@.", before) && strchr("/:", host[sizeof GITHUB - 1]))
            vcm_bootstrap_warn(r->b, "GitHub counts LFS storage and bandwidth against a quota of "
                                     "the account (10 GiB a month each on free plans)");
    }
    vcm_buf_release(&url);
    vcm_buf_release(&above);
}

static int plan(struct run *r, struct vcm_error *err)
{
    const struct vcm_scaffold_facts facts = {.origin_url = vcm_buf_text(&r->origin),
                                             .branch = vcm_buf_text(&r->branch)};

    int rc = read_own(r, err);
    if (rc == VCM_OK && r->branch.len > 0)
        rc = vcm_push_find_target(&r->target, &r->b->arena, &r->git, facts.branch, err);
    if (rc == VCM_OK)
        rc = vcm_scaffold_plan(&r->scaffold, r->b, &r->git, &facts, r->o, err);
    if (rc == VCM_OK && r->scaffold.file_count > 0)
        rc = vcm_commit_check(&r->git, err);
    if (rc == VCM_OK)
        warn_about_place(r);
    return rc;
}

static int join_patterns(struct run *r, struct vcm_error *err)
{
    struct vcm_buf list = VCM_BUF_INIT(2 * VCM_LIMIT_ATTRIBUTES_BYTES);
    struct vcm_bootstrap *b = r->b;

    int rc = vcm_attributes_join(&list, r->scaffold.patterns, true, err);
    if (rc == VCM_OK)
        rc = keep(&b->include, b, vcm_buf_text(&list), err);
    vcm_buf_clear(&list);
    if (rc == VCM_OK)
        rc = vcm_attributes_join(&list, r->scaffold.patterns, false, err);
    if (rc == VCM_OK)
        rc = keep(&b->exclude, b, vcm_buf_text(&list), err);
    vcm_buf_release(&list);
    return rc;
}

/* Patterns that git-lfs cannot use are an error in a migration only. */
static int forget_patterns(struct run *r)
{
    r->b->include = r->b->exclude = NULL;
    return VCM_OK;
}

static int prepare_migration(struct run *r, struct vcm_error *err)
{
    const struct vcm_push_target nowhere = {NULL, NULL};

    r->migrate = (struct vcm_migrate){
        .arena = &r->b->arena,
        .git = &r->git,
        .branch = r->branch.len > 0 ? vcm_buf_text(&r->branch) : NULL,
        .files = r->scaffold.files,
        .file_count = r->scaffold.file_count,
        .dry_run = r->o->dry_run,
    };
    int rc = join_patterns(r, err);
    if (rc == VCM_OK && !r->b->include[0])
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "no pattern of %s sends files to LFS; add some with git lfs track",
                           VCM_ATTRIBUTES_PATH);
    if (rc == VCM_OK)
        rc = vcm_migrate_prepare(&r->migrate, r->o->no_push ? &nowhere : &r->target,
                                 vcm_buf_text(&r->own), err);
    return rc;
}

static int make_message(struct run *r, struct vcm_error *err)
{
    const struct vcm_scaffold *s = &r->scaffold;

    if (r->o->message) {
        vcm_buf_append_string(&r->message, r->o->message);
        while (r->message.len > 0 && r->message.data[r->message.len - 1] == '\n')
            vcm_buf_truncate(&r->message, r->message.len - 1);
        vcm_buf_append_byte(&r->message, '\n');
    } else {
        vcm_buf_append_string(&r->message,
                              "init: set up .colony and LFS\n\nWritten by vcm init:\n");
        for (size_t i = 0; i < s->file_count; i++)
            vcm_buf_append_format(&r->message, "- %s\n", s->files[i].path);
    }
    for (size_t i = 0; i < r->o->co_author_count; i++)
        vcm_buf_append_format(&r->message, "%sCo-authored-by: %s\n", i == 0 ? "\n" : "",
                              r->o->co_authors[i]);
    return vcm_buf_check(&r->message, "the message", err);
}

static void list_files(struct run *r)
{
    struct vcm_scaffold *s = &r->scaffold;

    /* .colony sorts before .gitattributes, and the plan keeps that order. */
    for (size_t i = 0; i < s->file_count; i++)
        r->b->files[r->b->file_count++] = s->files[i].path;
    r->b->is_initialized = s->file_count > 0;
}

static int commit(struct run *r, struct vcm_error *err)
{
    char id[VCM_COMMIT_ID_BYTES];

    list_files(r);
    if (!r->b->is_initialized)
        return VCM_OK;
    int rc = make_message(r, err);
    if (rc == VCM_OK) {
        const struct vcm_commit_request request = {.files = r->scaffold.files,
                                                   .count = r->scaffold.file_count,
                                                   .message = vcm_buf_text(&r->message),
                                                   .made = note_own,
                                                   .context = r};
        rc = vcm_commit_files(id, &r->git, &request, err);
    }
    return rc == VCM_OK ? keep(&r->b->commit, r->b, id, err) : rc;
}

/* Turns a failure into a message of the result, unless the run was cancelled. */
static int report(const char **out, struct vcm_bootstrap *b, int rc,
                  const struct vcm_error *failure, struct vcm_error *err)
{
    if (rc == VCM_OK)
        return VCM_OK;
    if (rc == VCM_INTERRUPTED)
        return vcm_error_set(err, VCM_INTERRUPTED, "%s", failure->message);
    return keep(out, b, failure->message, err);
}

static int migrate(struct run *r, struct vcm_error *err)
{
    struct vcm_error failure = {0};
    char head[VCM_COMMIT_ID_BYTES];

    int rc = vcm_migrate_run(&r->migrate, r->b->include, r->b->exclude, &failure);
    if (rc != VCM_OK)
        return report(&r->b->migrate_error, r->b, rc, &failure, err);
    r->b->refs = r->migrate.refs;
    r->b->migrated = r->b->refs != NULL;
    if (!r->b->refs || !r->b->commit)
        return VCM_OK;
    rc = vcm_commit_head(head, &r->git, err);
    if (rc == VCM_OK)
        rc = keep(&r->b->commit, r->b, head, err);
    if (rc == VCM_OK)
        note_own(r, head);
    return rc;
}

static int say(struct run *r, struct vcm_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records why nothing is pushed. */
static int say(struct run *r, struct vcm_error *err, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return keep(&r->b->push_error, r->b, text, err);
}

/* The ids that the remote has: of the branch, or of all refs when it has no such branch. */
static void list_known(struct vcm_buf *out, const struct vcm_push_ref *refs, const char *ref)
{
    const struct vcm_push_ref *there = vcm_push_get(refs, ref);

    if (there)
        vcm_buf_append_string(out, there->id);
    for (; !there && refs; refs = refs->next)
        vcm_buf_append_format(out, "%s\n", refs->id);
}

/* A remote branch that was not fetched cannot be compared, whatever the local branch has. */
static int check_known(struct run *r, const struct vcm_push_ref *there, struct vcm_error *err)
{
    int status = 0;

    int rc = there ? vcm_command_run(&status, NULL, NULL, &r->git,
                                     VCM_COMMAND_ARGS("cat-file", "-e", there->id), no_input, err)
                   : VCM_OK;
    if (rc == VCM_OK && status != 0)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "the remote has commits that are not here; git pull --rebase, then run "
                           "vcm init again");
    return rc;
}

static int send_branch(struct run *r, const struct vcm_push_ref *there, struct vcm_error *err)
{
    char source[TEXT_MAX];

    snprintf(source, sizeof source, "refs/heads/%s", vcm_buf_text(&r->branch));
    const struct vcm_push_update update = {
        .source = source, .ref = r->target.ref, .lease = there ? NULL : ""};
    int rc = vcm_push_send(&r->git, r->target.remote, &update, r->wire.is_wired, err);
    r->b->pushed = rc == VCM_OK;
    return rc;
}

/* Pushes the branch when all commits that the remote lacks are ours, or when the user asked to push
 * all. A branch cannot be ahead of a remote without any ref. */
static int push_branch(struct run *r, struct vcm_error *failure, struct vcm_error *err)
{
    struct vcm_buf known = VCM_BUF_INIT(LIST_MAX);
    struct vcm_push_ref *refs = NULL;
    size_t foreign = 0, total = 0;
    bool send = false;

    int rc = vcm_push_list(&refs, &r->b->arena, &r->git, r->target.remote, failure);
    if (rc == VCM_OK)
        rc = check_known(r, vcm_push_get(refs, r->target.ref), failure);
    if (rc == VCM_OK) {
        list_known(&known, refs, r->target.ref);
        rc = vcm_migrate_count_ahead(&foreign, &total, &r->git, "HEAD", vcm_buf_text(&known),
                                     vcm_buf_text(&r->own), failure);
    }
    bool ours = total > foreign;
    if (rc == VCM_OK && foreign > 0 && ours && refs && !r->o->push_all)
        rc = say(r, err,
                 "the branch was already ahead of %s by %s%zu commit%s; push them yourself, or run "
                 "vcm init --push-all",
                 r->target.remote, total >= 1000 ? "at least " : "", foreign,
                 foreign == 1 ? "" : "s");
    else
        send = rc == VCM_OK && total > 0 && (ours || r->o->push_all);
    if (send)
        rc = send_branch(r, vcm_push_get(refs, r->target.ref), failure);
    vcm_buf_release(&known);
    return rc;
}

static int push_migrated(struct run *r, struct vcm_error *failure, struct vcm_error *err)
{
    if (r->migrate.ahead && !r->o->push_all)
        return say(r, err,
                   "the branch '%s' was already ahead of %s; push the rewritten branches yourself, "
                   "or run vcm init --push-all",
                   r->migrate.ahead, r->target.remote);
    const char *behind = vcm_migrate_left_behind(&r->migrate);
    if (behind)
        vcm_bootstrap_warn(r->b,
                           "'%s' of %s is not here and was not rewritten; check it out and migrate "
                           "again, or delete it there",
                           behind, r->target.remote);
    int rc = vcm_migrate_push(&r->migrate, failure);
    r->b->pushed = rc == VCM_OK;
    return rc;
}

static int push(struct run *r, struct vcm_error *err)
{
    struct vcm_error failure = {0};
    int rc;

    if (r->o->no_push)
        return VCM_OK;
    if (r->b->migrate_error)
        return say(r, err, "nothing was pushed, because the migration failed");
    if (!r->branch.len)
        return say(r, err, "HEAD is detached, so there is no branch to push");
    if (!r->target.remote)
        return say(r, err,
                   "there is no remote to push to; add one with git remote add origin URL, "
                   "then run vcm init again");
    if (r->migrate.refs)
        rc = push_migrated(r, &failure, err);
    else
        rc = push_branch(r, &failure, err);
    if (rc != VCM_OK && failure.code != VCM_OK) {
        r->b->push_failed = true;
        return report(&r->b->push_error, r->b, rc, &failure, err);
    }
    return rc;
}

/* All patterns, because a migration puts them into every commit. */
static int list_refs(struct run *r, struct vcm_error *err)
{
    struct vcm_migrate_ref *first = NULL, **last = &first;

    for (const struct vcm_push_ref *ref = r->migrate.local; ref; ref = ref->next) {
        struct vcm_migrate_ref *item = vcm_arena_alloc(&r->b->arena, sizeof *item);
        if (!item)
            return vcm_error_memory(err);
        *item = (struct vcm_migrate_ref){.name = ref->name, .old_id = ref->id};
        *last = item;
        last = &item->next;
    }
    r->b->refs = first;
    return VCM_OK;
}

/* Checks first, then sets up the filters, commits, rewrites and pushes, in this order: steps that
 * cannot be undone come last. */
static int run(struct run *r, struct vcm_error *err)
{
    int rc = check_options(r, err);
    if (rc == VCM_OK)
        rc = open_repository(r, err);
    if (rc == VCM_OK)
        rc = plan(r, err);
    if (rc == VCM_OK && r->o->migrate)
        rc = prepare_migration(r, err);
    else if (rc == VCM_OK && r->scaffold.patterns)
        rc = join_patterns(r, NULL) == VCM_OK ? VCM_OK : forget_patterns(r);
    if (rc == VCM_OK && r->o->dry_run) {
        list_files(r);
        return r->o->migrate ? list_refs(r, err) : VCM_OK;
    }
    if (rc == VCM_OK && !r->o->no_lfs)
        rc = vcm_filters_install(&r->wire, &r->git, &r->scaffold.manifest.lfs, err);
    r->b->lfs_enabled = r->wire.is_wired;
    if (rc == VCM_OK && r->wire.warning[0])
        vcm_bootstrap_warn(r->b, "%s", r->wire.warning);
    if (rc == VCM_OK)
        rc = commit(r, err);
    if (rc == VCM_OK && r->o->migrate)
        rc = migrate(r, err);
    return rc == VCM_OK ? push(r, err) : rc;
}

int vcm_bootstrap_run(struct vcm_bootstrap *out, const struct vcm_bootstrap_options *options,
                      struct vcm_error *err)
{
    struct run r = {.b = out, .o = options, .git = {.cancel = options->cancel}};

    *out = (struct vcm_bootstrap){.repo_root = NULL};
    vcm_arena_init(&out->arena, ARENA_BYTES_MAX);
    vcm_scaffold_init(&r.scaffold);
    vcm_buf_init(&r.origin, VCM_LIMIT_PATH_BYTES);
    vcm_buf_init(&r.branch, VCM_LIMIT_PATH_BYTES);
    vcm_buf_init(&r.own, LIST_MAX);
    vcm_buf_init(&r.message, MESSAGE_MAX);
    int rc = run(&r, err);
    vcm_buf_release(&r.message);
    vcm_buf_release(&r.own);
    vcm_buf_release(&r.branch);
    vcm_buf_release(&r.origin);
    vcm_scaffold_release(&r.scaffold);
    return rc;
}

void vcm_bootstrap_release(struct vcm_bootstrap *bootstrap)
{
    if (bootstrap)
        vcm_arena_release(&bootstrap->arena);
}
