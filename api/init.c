#include <stdlib.h>

#include "api/internal.h"
#include "lfs/bootstrap.h"

#include "base/banned.h"

/* The result as the caller sees it, with the memory that it lives in. */
struct result {
    struct vcm_init_result public;
    struct vcm_bootstrap bootstrap;
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

int vcm_init(struct vcm_init_result **out, struct vcm *vcm, const struct vcm_init_options *options,
             struct vcm_error *err)
{
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

    *out = NULL;
    struct result *result = calloc(1, sizeof *result);
    if (!result)
        return vcm_error_memory(err);
    int rc = vcm_bootstrap_run(&result->bootstrap, &request, err);
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
    if (!result)
        return;
    vcm_bootstrap_release(&((struct result *)result)->bootstrap);
    free(result);
}
