#include "ops/shared.h"

#include "base/banned.h"

enum {
    DIR,
    TENANT,
    COLONY,
    PROGRAM,
    NO_LFS,
    MIGRATE,
    DRY_RUN,
    NO_PUSH,
    PUSH_ALL,
    AUTHOR,
    CO_AUTHOR,
    MESSAGE
};

#define FILES_SHOWN 20

static const struct vcm_op_param params[] = {
    [DIR] = {.name = "dir",
             .type = VCM_OP_TEXT,
             .positional = true,
             .placeholder = "DIR",
             .hint = VCM_OP_HINT_DIRECTORY,
             .default_text = "the repository around the current directory",
             .summary = "path of the repository, or of a directory in it"},
    [TENANT] = {.name = "tenant",
                .type = VCM_OP_TEXT,
                .placeholder = "NAME",
                .default_text = "owner of the remote",
                .summary = "tenant in a new manifest"},
    [COLONY] = {.name = "colony",
                .type = VCM_OP_TEXT,
                .placeholder = "NAME",
                .default_text = "the repository's name",
                .summary = "colony in a new manifest"},
    [PROGRAM] = {.name = "program",
                 .type = VCM_OP_TEXT,
                 .placeholder = "NAME",
                 .default_text = "the colony",
                 .summary = "program in a new manifest"},
    [NO_LFS] =
        {.name = "no-lfs",
         .type = VCM_OP_FLAG,
         .summary =
             "leave git-lfs and .gitattributes alone; set lfs.mode to disabled in a new manifest"},
    [MIGRATE] = {.name = "migrate-existing-to-lfs",
                 .type = VCM_OP_FLAG,
                 .summary = "rewrite history so that files matching the patterns are in LFS"},
    [DRY_RUN] = {.name = "dry-run",
                 .type = VCM_OP_FLAG,
                 .summary = "print what would be written and rewritten, and do nothing"},
    [NO_PUSH] = {.name = "no-push", .type = VCM_OP_FLAG, .summary = "commit, but do not push"},
    [PUSH_ALL] = {.name = "push-all",
                  .type = VCM_OP_FLAG,
                  .summary = "push even if the branch was ahead of its remote before"},
    [AUTHOR] = {.name = "author",
                .type = VCM_OP_TEXT,
                .placeholder = "PERSON",
                .default_text = "git's configuration",
                .summary = "author of the commit, as 'Name <email>'"},
    [CO_AUTHOR] = {.name = "co-author",
                   .type = VCM_OP_TEXT,
                   .repeated = true,
                   .placeholder = "PERSON",
                   .summary = "add a Co-authored-by line (may be repeated)"},
    [MESSAGE] = {.name = "message",
                 .type = VCM_OP_TEXT,
                 .placeholder = "TEXT",
                 .summary = "commit message"},
};

static const char *const statuses[] = {"already_initialized", "initialized", NULL};

static void put_status(struct vcm_jsonw *w, const void *from)
{
    const struct vcm_init_result *init = from;

    vcm_jsonw_string(w, statuses[init->initialized]);
}

static const struct vcm_result_member ref_members[] = {
    {.name = "ref", VCM_RESULT_FIELD(struct vcm_init_ref, name), .summary = "full name of the ref"},
    {.name = "old",
     VCM_RESULT_FIELD(struct vcm_init_ref, old_id),
     .summary = "id before the rewrite"},
    {.name = "new",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_init_ref, new_id),
     .summary = "id after the rewrite; null in a dry run"},
    {0},
};

static const struct vcm_result_member file_members[] = {
    {.name = "path",
     VCM_RESULT_FIELD(struct vcm_init_file, path),
     .summary = "path, relative to the root"},
    {.name = "versions",
     VCM_RESULT_FIELD(struct vcm_init_file, versions),
     .summary = "number of versions in the whole history"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_init_file, bytes),
     .summary = "size of all versions"},
    {0},
};

static const struct vcm_result_member migration_members[] = {
    {.name = "files",
     VCM_RESULT_STRUCTS(struct vcm_init_migration, files, file_count, file_members),
     .summary = "by path"},
    {.name = "bytes",
     VCM_RESULT_FIELD(struct vcm_init_migration, bytes),
     .summary = "size of all versions of all files"},
    {.name = "commits",
     VCM_RESULT_FIELD(struct vcm_init_migration, commits),
     .summary = "number of commits whose id would change"},
    {0},
};

static const struct vcm_result_member result[] = {
    {.name = "status",
     .type = VCM_RESULT_TEXT,
     .choices = statuses,
     .put = put_status,
     .summary = "already_initialized if nothing had to be written"},
    {.name = "files_created",
     VCM_RESULT_STRINGS(struct vcm_init_result, files, file_count),
     .summary = "every file in the commit, including an edited manifest"},
    {.name = "committed_sha",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_init_result, commit),
     .summary = "the commit, after a rewrite; null if there is none"},
    {.name = "pushed",
     VCM_RESULT_FIELD(struct vcm_init_result, pushed),
     .summary = "whether anything was pushed"},
    {.name = "push_error",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_init_result, push_error),
     .summary = "why not, or null"},
    {.name = "lfs_enabled",
     VCM_RESULT_FIELD(struct vcm_init_result, lfs_enabled),
     .summary = "whether git-lfs is set up in the repository"},
    {.name = "migrated_to_lfs",
     VCM_RESULT_FIELD(struct vcm_init_result, migrated),
     .summary = "whether history was rewritten"},
    {.name = "migrate_error",
     VCM_RESULT_FIELD_OR_NULL(struct vcm_init_result, migrate_error),
     .summary = "why not, or null"},
    {.name = "warnings",
     VCM_RESULT_STRINGS(struct vcm_init_result, warnings, warning_count),
     .summary = "list of warnings"},
    {.name = "refs",
     VCM_RESULT_STRUCTS(struct vcm_init_result, refs, ref_count, ref_members),
     .summary = "rewritten branches and tags, with their old and new ids"},
    {.name = "dry_run",
     VCM_RESULT_FIELD(struct vcm_init_result, dry_run),
     .summary = "whether this was a dry run"},
    {.name = "migration",
     VCM_RESULT_INNER_OR_NULL(struct vcm_init_result, migration, migration_members),
     .summary = "what would be rewritten; null except in a dry run"},
    {0},
};

static const char *const examples[] = {
    "vcm init",
    "vcm init ~/src/robot --tenant acme --no-push",
    "vcm init --migrate-existing-to-lfs --dry-run",
    NULL,
};

static int run(struct vcm_op_call *call, struct vcm_error *err)
{
    const char *directory = vcm_op_text(call, DIR);
    const struct vcm_init_options options = {
        .directory = directory ? directory : ".",
        .tenant = vcm_op_text(call, TENANT),
        .colony = vcm_op_text(call, COLONY),
        .program = vcm_op_text(call, PROGRAM),
        .author = vcm_op_text(call, AUTHOR),
        .co_authors = (const char *const *)call->values[CO_AUTHOR].list,
        .co_author_count = call->values[CO_AUTHOR].count,
        .message = vcm_op_text(call, MESSAGE),
        .no_lfs = vcm_op_flag(call, NO_LFS),
        .no_push = vcm_op_flag(call, NO_PUSH),
        .push_all = vcm_op_flag(call, PUSH_ALL),
        .migrate = vcm_op_flag(call, MIGRATE),
        .dry_run = vcm_op_flag(call, DRY_RUN),
    };
    struct vcm_init_result *init = NULL;

    int rc = vcm_init(&init, call->vcm, &options, err);
    if (rc != VCM_OK)
        return rc;
    vcm_result_put(call->out, result, init);
    if (init->push_failed || init->migrate_error)
        call->exit_status = 3;
    vcm_init_result_free(init);
    return VCM_OK;
}

static void print_migration(struct vcm_print *out, const struct vcm_json *document)
{
    const struct vcm_json *migration = vcm_json_get(document, "migration");
    const struct vcm_json *files = vcm_json_get(migration, "files");
    char number[VCM_PRINT_NUMBER_BYTES];
    unsigned shown = 0;

    if (!files)
        return;
    for (const struct vcm_json *f = files->first; f && shown < FILES_SHOWN; f = f->next, shown++)
        vcm_print_format(out, VCM_PRINT_PLAIN, "  %10s  %s\n",
                         vcm_print_bytes(number, (uint64_t)vcm_json_get_int(f, "bytes", 0)),
                         vcm_json_get_text(f, "path", ""));
    if (files->count > shown)
        vcm_print_format(out, VCM_PRINT_DIM, "  ... and %u more\n", files->count - shown);
    vcm_print_format(out, VCM_PRINT_BOLD, "would move %u file%s, ", files->count,
                     files->count == 1 ? "" : "s");
    vcm_print_format(out, VCM_PRINT_BOLD, "%s, into LFS and rewrite ",
                     vcm_print_bytes(number, (uint64_t)vcm_json_get_int(migration, "bytes", 0)));
    vcm_print_format(out, VCM_PRINT_BOLD, "%s commit%s\n",
                     vcm_print_count(number, (uint64_t)vcm_json_get_int(migration, "commits", 0)),
                     vcm_json_get_int(migration, "commits", 0) == 1 ? "" : "s");
}

static void print_refs(struct vcm_print *out, const struct vcm_json *document)
{
    const struct vcm_json *refs = vcm_json_get(document, "refs");

    for (const struct vcm_json *ref = refs->first; ref; ref = ref->next) {
        const char *new_id = vcm_json_get_text(ref, "new", NULL);
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s %s %.12s%s%.12s\n",
                         new_id ? "rewrote" : "would rewrite", vcm_json_get_text(ref, "ref", ""),
                         vcm_json_get_text(ref, "old", ""), new_id ? " -> " : "",
                         new_id ? new_id : "");
    }
}

static void print(struct vcm_print *out, const struct vcm_json *document,
                  const struct vcm_op_call *call)
{
    bool dry_run = vcm_json_get_bool(document, "dry_run", false);
    const char *commit = vcm_json_get_text(document, "committed_sha", NULL);
    const char *push_error = vcm_json_get_text(document, "push_error", NULL);
    const char *migrate_error = vcm_json_get_text(document, "migrate_error", NULL);

    const struct vcm_json *files = vcm_json_get(document, "files_created");
    for (const struct vcm_json *f = files->first; f; f = f->next)
        vcm_print_format(out, VCM_PRINT_PLAIN, "%s %.*s\n", dry_run ? "would write" : "wrote",
                         (int)f->text.len, f->text.data);
    if (!files->first)
        vcm_print_text(out, VCM_PRINT_PLAIN, "already initialized\n");
    if (commit)
        vcm_print_format(out, VCM_PRINT_GOOD, "committed %.12s%s\n", commit,
                         vcm_json_get_bool(document, "pushed", false) ? " and pushed" : "");
    else if (vcm_json_get_bool(document, "pushed", false))
        vcm_print_text(out, VCM_PRINT_GOOD, "pushed\n");
    print_migration(out, document);
    print_refs(out, document);
    if (migrate_error)
        vcm_print_format(out, VCM_PRINT_BAD, "not migrated: %s\n", migrate_error);
    if (push_error)
        vcm_print_format(out, call->exit_status ? VCM_PRINT_BAD : VCM_PRINT_WARNING,
                         "not pushed: %s\n", push_error);
    const struct vcm_json *warnings = vcm_json_get(document, "warnings");
    for (const struct vcm_json *w = warnings->first; w; w = w->next)
        vcm_print_format(out, VCM_PRINT_WARNING, "warning: %.*s\n", (int)w->text.len, w->text.data);
}

const struct vcm_op vcm_op_init = {
    .name = "init",
    .summary = "set up a repository for vcm and LFS",
    .description =
        "Writes the missing ones of .colony/manifest.json, .colony/repo_map.yaml and "
        ".gitattributes, runs git lfs install --local, commits exactly those files under your "
        "identity, and pushes. Other staged or changed files stay as they are. Existing files are "
        "never overwritten; the only edit is lfs.mode of a manifest, from disabled to same_remote. "
        "Running it again is safe; it then pushes an earlier commit of its own that the remote "
        "does not have. It pushes to the branch's upstream, or to origin; if the branch was ahead "
        "of it before, nothing is pushed without --push-all.\n\n--migrate-existing-to-lfs rewrites "
        "the history of all local branches and tags, so that every file that matches the patterns "
        "of .gitattributes is in LFS. It pushes the refs that the remote has in one atomic push, "
        "and only if the remote has not changed meanwhile. Everyone with a clone must then clone "
        "again; try --dry-run first. The exit status is 3 when the commit was made but migrating "
        "or pushing failed.",
    .examples = examples,
    .params = params,
    .param_count = VCM_OP_COUNT(params),
    .result = result,
    .run = run,
    .print = print,
};
