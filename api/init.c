#include <assert.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/mark.h"
#include "base/limits.h"
#include "lfs/bootstrap.h"
#include "lfs/estimate.h"
#include "sources/glob.h"

#include "base/banned.h"

/* The public result with the memory it points to. */
struct result {
    struct vcm_init_result public;
    uint32_t mark;
    struct vcm_bootstrap bootstrap;
    struct vcm_init_migration migration;
};

static int take_warnings(struct result *result, struct vcm_error *err)
{
    const struct vcm_bootstrap_warning *first = result->bootstrap.warnings;
    size_t count = 0;

    for (const struct vcm_bootstrap_warning *w = first; w; w = w->next)
        count++;
    const char **texts = vcm_arena_alloc(&result->bootstrap.arena, (count + 1) * sizeof *texts);
    if (!texts)
        return vcm_error_memory(err);
    count = 0;
    for (const struct vcm_bootstrap_warning *w = first; w; w = w->next)
        texts[count++] = w->text;
    result->public.warnings = texts;
    result->public.warning_count = count;
    return VCM_OK;
}

static int take_refs(struct result *result, struct vcm_error *err)
{
    const struct vcm_migrate_ref *first = result->bootstrap.refs;
    size_t count = 0;

    for (const struct vcm_migrate_ref *r = first; r; r = r->next)
        count++;
    struct vcm_init_ref *refs =
        vcm_arena_alloc(&result->bootstrap.arena, (count + 1) * sizeof *refs);
    if (!refs)
        return vcm_error_memory(err);
    count = 0;
    for (const struct vcm_migrate_ref *r = first; r; r = r->next)
        refs[count++] = (struct vcm_init_ref){r->name, r->old_id, r->new_id};
    result->public.refs = refs;
    result->public.ref_count = count;
    return VCM_OK;
}

static void take_rest(struct result *result, const struct vcm_init_options *options)
{
    const struct vcm_bootstrap *b = &result->bootstrap;
    struct vcm_init_result *public = &result->public;

    public->repo_root = b->repo_root;
    public->dry_run = options->dry_run;
    public->initialized = b->is_initialized;
    public->files = b->files;
    public->file_count = b->file_count;
    public->commit = b->commit;
    public->pushed = b->pushed;
    public->push_error = b->push_error;
    public->push_failed = b->push_failed;
    public->lfs_enabled = b->lfs_enabled;
    public->migrated = b->migrated;
    public->migrate_error = b->migrate_error;
}

/* Adds comma-separated patterns, with '!' as exceptions. */
static int add_patterns(struct vcm_glob_list *list, const char *patterns, const char *mark,
                        struct vcm_error *err)
{
    struct vcm_buf pattern = VCM_BUF_INIT(2 * VCM_LIMIT_GLOB_BYTES);
    int rc = VCM_OK;

    while (rc == VCM_OK && *patterns) {
        size_t len = strcspn(patterns, ",");
        vcm_buf_clear(&pattern);
        vcm_buf_append_format(&pattern, "%s%.*s", mark, (int)len, patterns);
        rc = vcm_glob_list_add(list, vcm_buf_slice(&pattern), err);
        patterns += len + (patterns[len] == ',');
    }
    vcm_buf_release(&pattern);
    return rc;
}

static bool is_matched(void *context, struct vcm_slice path)
{
    return vcm_glob_list_match(context, path, false) == VCM_GLOB_MATCH;
}

static int take_estimate(struct result *result, const struct vcm_estimate_query *query,
                         struct vcm_error *err)
{
    struct vcm_arena *arena = &result->bootstrap.arena;
    struct vcm_estimate estimate;
    struct vcm_init_file *files;

    int rc = vcm_estimate_run(&estimate, arena, result->bootstrap.repo_root, query, err);
    if (rc != VCM_OK)
        return rc;
    files = vcm_arena_alloc(arena, (estimate.file_count + 1) * sizeof *files);
    if (!files)
        return vcm_error_memory(err);
    for (size_t i = 0; i < estimate.file_count; i++)
        files[i] = (struct vcm_init_file){estimate.files[i].path, estimate.files[i].versions,
                                          estimate.files[i].bytes};
    result->migration =
        (struct vcm_init_migration){files, estimate.file_count, estimate.bytes, estimate.commits};
    result->public.migration = &result->migration;
    if (estimate.commits == 0)
        result->bootstrap.refs = NULL;
    return VCM_OK;
}

static void warn_about_clones(struct vcm_bootstrap *b)
{
    if (b->refs)
        vcm_bootstrap_warn(b, "everybody with a clone must clone again, or reset to the rewritten "
                              "branches");
}

/* Warns of committed files that git will show as changed, because the new patterns move them to
 * LFS. */
static void warn_about_plain(struct result *result, const struct vcm_estimate_query *query)
{
    struct vcm_bootstrap *b = &result->bootstrap;
    struct vcm_error ignored = {0};
    uint64_t files = 0;

    if (vcm_estimate_count_plain(&files, b->repo_root, query, &ignored) == VCM_OK && files > 0)
        vcm_bootstrap_warn(b,
                           "%llu committed file%s not in LFS but of formats that belong there, and "
                           "git may call them changed; see vcm init --migrate-existing-to-lfs "
                           "--dry-run",
                           (unsigned long long)files, files == 1 ? " is" : "s are");
}

/* Examines committed files; in detail in a dry run of a migration. */
static int survey(struct result *result, struct vcm *vcm, const struct vcm_init_options *options,
                  struct vcm_error *err)
{
    struct vcm_bootstrap *b = &result->bootstrap;
    struct vcm_glob_list globs;
    int rc = VCM_OK;

    assert(vcm);
    if (!b->include || (options->migrate && !options->dry_run))
        return VCM_OK;
    vcm_glob_list_init(&globs);
    const struct vcm_estimate_query query = {
        .include = b->include, .matches = is_matched, .context = &globs, .cancel = vcm->cancel};
    rc = add_patterns(&globs, b->include, "", err);
    if (rc == VCM_OK)
        rc = add_patterns(&globs, b->exclude, "!", err);
    if (rc == VCM_OK && options->migrate)
        rc = take_estimate(result, &query, err);
    else if (rc == VCM_OK)
        warn_about_plain(result, &query);
    vcm_glob_list_release(&globs);
    return rc;
}

int vcm_init(struct vcm_init_result **out, struct vcm *vcm, const struct vcm_init_options *options,
             struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(options));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options->directory));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"tenant", options->tenant}, {"colony", options->colony},
                       {"program", options->program}, {"author", options->author},
                       {"message", options->message});
    if (rc == VCM_OK)
        rc = vcm_arguments_list("co_authors", options->co_authors, options->co_author_count,
                                VCM_ARGUMENT_TEXTS, err);
    if (rc != VCM_OK)
        return rc;
    const struct vcm_bootstrap_options request = {
        .directory = options->directory,
        .tenant = options->tenant,
        .colony = options->colony,
        .program = options->program,
        .author = options->author,
        .co_authors = options->co_authors,
        .co_author_count = options->co_author_count,
        .message = options->message,
        .no_lfs = options->no_lfs,
        .no_push = options->no_push,
        .push_all = options->push_all,
        .migrate = options->migrate,
        .dry_run = options->dry_run,
        .cancel = vcm->cancel,
    };

    struct result *result = calloc(1, sizeof *result);
    if (!result)
        return vcm_error_memory(err);
    result->mark = VCM_MARK_HELD;
    /* Reads walk.max_entries; if the file cannot be read, the default is used. */
    vcm_handle_config(vcm, NULL);
    rc = vcm_bootstrap_run(&result->bootstrap, &request, err);
    if (rc == VCM_OK)
        rc = survey(result, vcm, options, err);
    if (rc == VCM_OK)
        warn_about_clones(&result->bootstrap);
    if (rc == VCM_OK)
        rc = take_warnings(result, err);
    if (rc == VCM_OK)
        rc = take_refs(result, err);
    if (rc != VCM_OK) {
        vcm_init_result_free(&result->public);
        return rc;
    }
    take_rest(result, options);
    *out = &result->public;
    return VCM_OK;
}

void vcm_init_result_free(struct vcm_init_result *result)
{
    struct result *whole = (struct result *)result;

    if (!whole)
        return;
    vcm_mark_give_back(&whole->mark);
    vcm_bootstrap_release(&whole->bootstrap);
    free(whole);
}
