#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/mark.h"
#include "base/limits.h"
#include "git/tree.h"
#include "lfs/commit.h"
#include "repomap/edit.h"
#include "repomap/knowledge.h"
#include "repomap/route.h"
#include "sources/glob.h"

#include "base/banned.h"

#define PATHS_MAX VCM_EDIT_PATTERNS_MAX

/* A path to promote, and what its files still need. */
struct promoted {
    const char *pattern;
    struct vcm_glob_list globs;
    uint64_t files;
    bool unrouted, uncovered; /* at least one file is */
};

/* The public result with the memory it points to. */
struct result {
    struct vcm_promote_result public;
    uint32_t mark;
    struct vcm_plan plan;
    struct vcm_plan_request request;
    struct vcm_arena arena;
    struct vcm_buf text; /* the new map */
    struct promoted promoted[PATHS_MAX];
    size_t count;
    char commit[VCM_COMMIT_ID_BYTES];
    const char *routed[PATHS_MAX], *covered[PATHS_MAX];
    struct vcm_edit_promotion promotion;
    struct vcm_edit_report report;
};

/* What a map does with the files of the tree. */
struct judgement {
    struct result *result;
    const struct vcm_repo_map *map;
    const struct vcm_knowledge_rules *rules;
};

static bool is_in_tree(const struct vcm_plan *plan, const char *path, bool *is_directory)
{
    struct vcm_git_entry entry;
    struct vcm_error ignored = {0};

    *is_directory =
        vcm_plan_check_directory(plan->repo, &plan->commit_id, path, &ignored) == VCM_OK;
    vcm_error_reset(&ignored);
    return *is_directory ||
           vcm_git_tree_entry(&entry, plan->repo, &plan->commit_id, path, &ignored) == VCM_OK;
}

/* A path of the tree stands for itself; anything else is a pattern. A path without a slash gets a
 * leading one: as a pattern it would otherwise match in every directory. */
static int make_pattern(const char **out, struct result *result, const char *path,
                        struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(2 * VCM_LIMIT_PATH_BYTES);
    struct vcm_buf plain = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    bool is_directory = false;

    while (path[0] == '.' && path[1] == '/')
        path += 2;
    vcm_buf_append_string(&plain, path);
    while (plain.len > 1 && plain.data[plain.len - 1] == '/')
        vcm_buf_truncate(&plain, plain.len - 1);
    const char *name = vcm_buf_text(&plain);
    if (name[0] != '\0' && is_in_tree(&result->plan, name, &is_directory)) {
        if (!strchr(name, '/') || name[0] == '!' || name[0] == '#')
            vcm_buf_append_byte(&text, '/');
        for (const char *c = name; *c; c++) {
            if (strchr("*?[\\ ", *c))
                vcm_buf_append_byte(&text, '\\');
            vcm_buf_append_byte(&text, *c);
        }
        vcm_buf_append_string(&text, is_directory ? "/" : "");
    } else {
        vcm_buf_append_string(&text, path);
    }
    int rc = vcm_buf_check(&text, "a path", err);
    *out = rc == VCM_OK ? vcm_arena_copy(&result->arena, vcm_buf_slice(&text)) : NULL;
    vcm_buf_release(&text);
    vcm_buf_release(&plain);
    return rc == VCM_OK && !*out ? vcm_error_memory(err) : rc;
}

static int judge_file(void *context, const struct vcm_git_entry *entry, struct vcm_error *err)
{
    const struct judgement *judgement = context;
    struct result *result = judgement->result;
    struct vcm_route_decision decision = {0};
    bool asked = false;
    int rc = VCM_OK;

    if (entry->kind == VCM_GIT_SYMLINK || entry->kind == VCM_GIT_SUBMODULE)
        return VCM_OK;
    for (size_t i = 0; rc == VCM_OK && i < result->count; i++) {
        struct promoted *promoted = &result->promoted[i];
        if (!vcm_glob_list_takes(&promoted->globs, entry->path))
            continue;
        if (!asked)
            rc = vcm_route_find(&decision, judgement->map, entry->path, err);
        asked = true;
        promoted->files++;
        promoted->unrouted |= decision.outcome != VCM_ROUTE_PROMOTED;
        promoted->uncovered |= !vcm_knowledge_rules_cover(judgement->rules, entry->path);
    }
    return rc;
}

/* Finds out what this map does with every promoted file. */
static int judge(struct result *result, const struct vcm_repo_map *map, struct vcm *vcm,
                 struct vcm_error *err)
{
    struct judgement judgement = {.result = result, .map = map};
    struct vcm_knowledge_rules *rules = NULL;

    for (size_t i = 0; i < result->count; i++) {
        struct promoted *promoted = &result->promoted[i];
        promoted->files = 0;
        promoted->unrouted = promoted->uncovered = false;
    }
    int rc = vcm_knowledge_rules_open(&rules, map, &result->request, err);
    judgement.rules = rules;
    if (rc == VCM_OK)
        rc = vcm_git_tree_walk(result->plan.repo, &result->plan.commit_id, "", judge_file,
                               &judgement, vcm->cancel, err);
    vcm_knowledge_rules_close(rules);
    return rc;
}

static int take_paths(struct result *result, const struct vcm_promote_options *options,
                      struct vcm_error *err)
{
    int rc = VCM_OK;

    if (options->path_count == 0 || options->path_count > PATHS_MAX)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "give 1 to %d paths", PATHS_MAX);
    result->public.patterns =
        vcm_arena_alloc(&result->arena, options->path_count * sizeof *result->public.patterns);
    if (!result->public.patterns)
        return vcm_error_memory(err);
    for (size_t i = 0; rc == VCM_OK && i < options->path_count; i++) {
        struct promoted *promoted = &result->promoted[result->count];
        rc = make_pattern(&promoted->pattern, result, options->paths[i], err);
        if (rc != VCM_OK)
            break;
        vcm_glob_list_init(&promoted->globs);
        result->count++;
        rc = vcm_glob_list_add(&promoted->globs, vcm_slice_of_string(promoted->pattern), err);
        result->public.patterns[i] = promoted->pattern;
        result->public.pattern_count = i + 1;
    }
    return rc;
}

/* Checks that the map of the working tree is the one of HEAD, which is edited. */
static int check_repository(const struct vcm_plan *plan, struct vcm_error *err)
{
    if (!plan->has_commit || vcm_git_repo_is_bare(plan->repo))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "'%s' has no commit or no working tree to change", plan->repo_root);
    if (!plan->has_map_file)
        return vcm_error_set(err, VCM_NOT_FOUND, "there is no %s in '%s'; 'vcm init' makes one",
                             VCM_REPO_MAP_PATH, plan->repo_root);
    if (plan->map_differs)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "%s has changes that are not committed; commit or undo them first",
                             VCM_REPO_MAP_PATH);
    return VCM_OK;
}

static int check_files(struct result *result, struct vcm_error *err)
{
    for (size_t i = 0; i < result->count; i++) {
        if (result->promoted[i].files == 0)
            return vcm_error_set(err, VCM_NOT_FOUND, "'%s' matches no file of commit %.12s",
                                 result->promoted[i].pattern, result->plan.commit);
        result->public.files += result->promoted[i].files;
    }
    return VCM_OK;
}

static int edit(struct result *result, struct vcm_error *err)
{
    struct vcm_edit_promotion *promotion = &result->promotion;

    promotion->routed = result->routed;
    promotion->covered = result->covered;
    for (size_t i = 0; i < result->count; i++) {
        const struct promoted *promoted = &result->promoted[i];
        if (promoted->unrouted)
            result->routed[promotion->routed_count++] = promoted->pattern;
        if (promoted->uncovered)
            result->covered[promotion->covered_count++] = promoted->pattern;
    }
    result->public.changed = promotion->routed_count + promotion->covered_count > 0;
    return vcm_edit_promote(&result->text, &result->report, vcm_buf_slice(&result->plan.map_text),
                            &result->plan.map, promotion, err);
}

/* Refuses an edit whose result is not exactly the intended change. */
static int check_edit(struct result *result, struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_problem_list problems;
    struct vcm_repo_map map = {0};
    struct vcm_error wrong = {0};

    vcm_problem_list_init(&problems);
    int rc = vcm_repo_map_load(&map, &problems, vcm_buf_slice(&result->text), result->request.types,
                               &wrong);
    bool good = rc == VCM_OK && vcm_edit_check_is_exact(&map, &result->plan.map, &result->promotion,
                                                        &result->report);
    rc = good ? judge(result, &map, vcm, err) : VCM_OK;
    for (size_t i = 0; rc == VCM_OK && i < result->count; i++)
        good = good && !result->promoted[i].unrouted && !result->promoted[i].uncovered;
    if (rc == VCM_OK && !good)
        rc = vcm_error_set(err, VCM_UNSUPPORTED,
                           "%s cannot be edited safely%s%s; make the change by hand",
                           VCM_REPO_MAP_PATH, wrong.code != VCM_OK ? ": " : "", wrong.message);
    vcm_repo_map_release(&map);
    vcm_problem_list_release(&problems);
    return rc;
}

static int commit(struct result *result, const struct vcm *vcm, struct vcm_error *err)
{
    const struct vcm_command git = {.directory = result->plan.repo_root, .cancel = vcm->cancel};
    const struct vcm_commit_file file = {
        .path = VCM_REPO_MAP_PATH,
        .content = vcm_buf_slice(&result->text),
        .before = vcm_buf_slice(&result->plan.map_text),
    };
    const char *path = VCM_REPO_MAP_PATH;
    struct vcm_buf message = VCM_BUF_INIT(8192);
    struct vcm_commit_entry entry;

    vcm_buf_append_format(&message, "map: promote %s", result->promoted[0].pattern);
    if (result->count > 1)
        vcm_buf_append_format(&message, " and %zu more", result->count - 1);
    int rc = vcm_commit_check(&git, err);
    if (rc == VCM_OK)
        rc = vcm_commit_look_up(&entry, &git, &path, 1, err);
    if (rc == VCM_OK && strcmp(entry.head, entry.staged) != 0)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "%s has staged changes; commit or undo them first", VCM_REPO_MAP_PATH);
    if (rc == VCM_OK)
        rc = vcm_commit_files(result->commit, &git,
                              &(struct vcm_commit_request){
                                  .files = &file, .count = 1, .message = vcm_buf_text(&message)},
                              err);
    if (rc == VCM_OK)
        result->public.commit = result->commit;
    vcm_buf_release(&message);
    return rc;
}

static int promote(struct result *result, struct vcm *vcm,
                   const struct vcm_promote_options *options, struct vcm_error *err)
{
    struct vcm_plan *plan = &result->plan;

    result->request = (struct vcm_plan_request){.repository = options->repository};
    vcm_handle_plan_defaults(&result->request, vcm);
    int rc = vcm_plan_open(plan, &result->request, err);
    if (rc == VCM_OK)
        rc = vcm_plan_load(plan, &result->request, err);
    if (rc == VCM_OK)
        rc = check_repository(plan, err);
    if (rc == VCM_OK)
        rc = take_paths(result, options, err);
    if (rc == VCM_OK)
        rc = judge(result, &plan->map, vcm, err);
    if (rc == VCM_OK)
        rc = check_files(result, err);
    if (rc == VCM_OK)
        rc = edit(result, err);
    if (rc == VCM_OK && result->public.changed)
        rc = check_edit(result, vcm, err);
    if (rc == VCM_OK && result->public.changed && !options->dry_run)
        rc = commit(result, vcm, err);
    return rc;
}

int vcm_promote(struct vcm_promote_result **out, struct vcm *vcm,
                const struct vcm_promote_options *options, struct vcm_error *err)
{
    if (out)
        *out = NULL;
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(out), VCM_ARGUMENT(options));
    if (rc == VCM_OK)
        rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(options->repository));
    if (rc == VCM_OK)
        rc = vcm_arguments_list("paths", options->paths, options->path_count, VCM_ARGUMENT_TEXTS,
                                err);
    if (rc != VCM_OK)
        return rc;
    rc = vcm_handle_config(vcm, err);
    if (rc != VCM_OK)
        return rc;
    struct result *result = calloc(1, sizeof *result);
    if (!result)
        return vcm_error_memory(err);
    result->mark = VCM_MARK_HELD;
    vcm_arena_init(&result->arena, 4 * VCM_MIB);
    vcm_buf_init(&result->text, VCM_LIMIT_YAML_BYTES);
    rc = promote(result, vcm, options, err);
    if (rc != VCM_OK) {
        vcm_promote_result_free(&result->public);
        return rc;
    }
    struct vcm_promote_result *public = &result->public;
    public->repo_root = result->plan.repo_root;
    public->routes_set = result->report.routes_set;
    public->route_added = result->report.route_added;
    public->row = result->report.row;
    public->row_added = result->report.row_added;
    public->text = vcm_buf_text(&result->text);
    *out = public;
    return VCM_OK;
}

void vcm_promote_result_free(struct vcm_promote_result *result)
{
    struct result *whole = (struct result *)result;

    if (!whole)
        return;
    vcm_mark_give_back(&whole->mark);
    for (size_t i = 0; i < whole->count; i++)
        vcm_glob_list_release(&whole->promoted[i].globs);
    vcm_plan_release(&whole->plan);
    vcm_arena_release(&whole->arena);
    vcm_buf_release(&whole->text);
    free(whole);
}
