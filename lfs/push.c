#include "lfs/push.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"

#include "base/banned.h"

#define LIST_MAX   (64 * VCM_MIB)
#define OUTPUT_MAX (4 * VCM_MIB)
#define FIXED_ARGS 12
#define TIMEOUT_MS (60 * 60 * 1000u)

static const struct vcm_slice no_input = {NULL, 0};

static int ask_config(const char **out, struct vcm_arena *arena, const struct vcm_command *git,
                      const char *branch, const char *key, struct vcm_error *err)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf value = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    bool found = false;

    *out = NULL;
    vcm_buf_append_format(&name, "branch.%s.%s", branch, key);
    int rc = vcm_command_ask(&found, &value, git,
                             VCM_COMMAND_ARGS("config", "--get", vcm_buf_text(&name)), err);
    if (rc == VCM_OK && found && value.len > 0 &&
        !(*out = vcm_arena_copy(arena, vcm_buf_slice(&value))))
        rc = vcm_error_memory(err);
    vcm_buf_release(&value);
    vcm_buf_release(&name);
    return rc;
}

int vcm_push_url(struct vcm_buf *out, const struct vcm_command *git, const char *remote,
                 struct vcm_error *err)
{
    return vcm_command_read(out, git, VCM_COMMAND_ARGS("remote", "get-url", "--push", "--", remote),
                            no_input, err);
}

static int has_remote(bool *out, const struct vcm_command *git, const char *remote,
                      struct vcm_error *err)
{
    struct vcm_buf name = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    vcm_buf_append_format(&name, "remote.%s.url", remote);
    int rc = vcm_command_ask(out, NULL, git,
                             VCM_COMMAND_ARGS("config", "--get-all", vcm_buf_text(&name)), err);
    vcm_buf_release(&name);
    return rc;
}

/* "." means this repository itself, and a value that is no remote's name could be an option. */
static bool is_remote_name(const char *name)
{
    return name && name[0] != '-' && strcmp(name, ".") != 0;
}

int vcm_push_find_target(struct vcm_push_target *out, struct vcm_arena *arena,
                         const struct vcm_command *git, const char *branch, struct vcm_error *err)
{
    const char *remote = NULL, *merge = NULL;
    char ref[1100];
    bool found = false;

    *out = (struct vcm_push_target){NULL, NULL};
    int rc = ask_config(&remote, arena, git, branch, "remote", err);
    if (rc == VCM_OK)
        rc = ask_config(&merge, arena, git, branch, "merge", err);
    if (rc == VCM_OK && is_remote_name(remote))
        rc = has_remote(&found, git, remote, err);
    if (rc == VCM_OK && found && merge && strncmp(merge, "refs/heads/", 11) == 0) {
        *out = (struct vcm_push_target){remote, merge};
        return VCM_OK;
    }
    if (rc == VCM_OK)
        rc = has_remote(&found, git, "origin", err);
    if (rc == VCM_OK && found) {
        snprintf(ref, sizeof ref, "refs/heads/%s", branch);
        *out = (struct vcm_push_target){"origin", vcm_arena_copy(arena, vcm_slice_of_string(ref))};
        if (!out->ref)
            rc = vcm_error_memory(err);
    }
    return rc;
}

/* One "<id> <name>" per line, separated by a tab or a space. */
static int take_refs(struct vcm_push_ref **out, struct vcm_arena *arena, const char *text,
                     struct vcm_error *err)
{
    *out = NULL;
    while (*text) {
        size_t len = strcspn(text, "\n"), id = strcspn(text, " \t\n");
        struct vcm_slice name = vcm_slice_of(text + id + 1, len > id ? len - id - 1 : 0);
        bool peeled = name.len > 3 && memcmp(name.data + name.len - 3, "^{}", 3) == 0;
        if (id < VCM_COMMIT_ID_BYTES && name.len > 0 && !peeled) {
            struct vcm_push_ref *ref = vcm_arena_alloc(arena, sizeof *ref);
            if (ref)
                ref->name = vcm_arena_copy(arena, name);
            if (!ref || !ref->name)
                return vcm_error_memory(err);
            memcpy(ref->id, text, id);
            *out = ref;
            out = &ref->next;
        }
        text += len + (text[len] == '\n');
    }
    return VCM_OK;
}

int vcm_push_list(struct vcm_push_ref **out, struct vcm_arena *arena, const struct vcm_command *git,
                  const char *remote, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(LIST_MAX);
    int rc;

    *out = NULL;
    if (remote)
        rc = vcm_command_read(&text, git,
                              VCM_COMMAND_ARGS("ls-remote", "--end-of-options", remote,
                                               "refs/heads/*", "refs/tags/*"),
                              no_input, err);
    else
        rc = vcm_command_read(&text, git,
                              VCM_COMMAND_ARGS("for-each-ref", "--format=%(objectname) %(refname)",
                                               "refs/heads/", "refs/tags/"),
                              no_input, err);
    if (rc == VCM_OK)
        rc = take_refs(out, arena, vcm_buf_text(&text), err);
    vcm_buf_release(&text);
    return rc;
}

const struct vcm_push_ref *vcm_push_get(const struct vcm_push_ref *refs, const char *name)
{
    for (; refs; refs = refs->next)
        if (strcmp(refs->name, name) == 0)
            return refs;
    return NULL;
}

/* Translates what a rejected push reports in its list of refs. */
static int explain(const char *report, const char *complaints, struct vcm_error *err)
{
    if (strstr(report, "(stale info)"))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "another push came first; the remote was left as it was, fetch and "
                             "look before you push");
    if (strstr(report, "(non-fast-forward)") || strstr(report, "(fetch first)"))
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the remote has commits that are not here; git pull --rebase, then "
                             "run vcm init again");
    const char *refused = strstr(report, "[remote rejected]");
    if (refused)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the remote refused: %.*s",
                             (int)strcspn(refused + 17, "\n"), refused + 17);
    return vcm_command_failure(err, "git push", complaints);
}

static size_t count_updates(const struct vcm_push_update *updates)
{
    size_t count = 0;
    for (; updates; updates = updates->next)
        count++;
    return count;
}

static int send_lfs(const struct vcm_command *git, const char *remote,
                    const struct vcm_push_update *updates, struct vcm_error *err)
{
    struct vcm_buf errors = VCM_BUF_INIT(OUTPUT_MAX);
    size_t count = 0;
    int status = 0;
    const char **args = calloc(count_updates(updates) + FIXED_ARGS, sizeof *args);
    if (!args)
        return vcm_error_memory(err);

    args[count++] = "lfs";
    args[count++] = "push";
    args[count++] = "--";
    args[count++] = remote;
    for (const struct vcm_push_update *u = updates; u; u = u->next)
        args[count++] = u->source;
    int rc = vcm_command_run(&status, NULL, &errors, git, args, no_input, err);
    if (rc == VCM_OK && status != 0)
        rc = vcm_command_failure(err, "nothing was pushed, because git lfs push failed",
                                 vcm_buf_text(&errors));
    free(args);
    vcm_buf_release(&errors);
    return rc;
}

static int put_updates(const char **args, size_t *count, const struct vcm_push_update *updates,
                       struct vcm_arena *arena, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    int rc = VCM_OK;

    for (const struct vcm_push_update *u = updates; rc == VCM_OK && u; u = u->next) {
        vcm_buf_clear(&text);
        vcm_buf_append_format(&text, "%s:%s", u->source, u->ref);
        rc = vcm_buf_check(&text, "the name of a ref", err);
        if (rc == VCM_OK && !(args[(*count)++] = vcm_arena_copy(arena, vcm_buf_slice(&text))))
            rc = vcm_error_memory(err);
    }
    vcm_buf_release(&text);
    return rc;
}

static int put_leases(const char **args, size_t *count, const struct vcm_push_update *updates,
                      struct vcm_arena *arena, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    int rc = VCM_OK;

    for (const struct vcm_push_update *u = updates; rc == VCM_OK && u; u = u->next) {
        if (!u->lease)
            continue;
        vcm_buf_clear(&text);
        vcm_buf_append_format(&text, "--force-with-lease=%s:%s", u->ref, u->lease);
        rc = vcm_buf_check(&text, "the name of a ref", err);
        if (rc == VCM_OK && !(args[(*count)++] = vcm_arena_copy(arena, vcm_buf_slice(&text))))
            rc = vcm_error_memory(err);
    }
    vcm_buf_release(&text);
    return rc;
}

static int send_refs(const struct vcm_command *git, const char *remote,
                     const struct vcm_push_update *updates, struct vcm_error *err)
{
    struct vcm_buf report = VCM_BUF_INIT(OUTPUT_MAX), errors = VCM_BUF_INIT(OUTPUT_MAX);
    size_t updates_count = count_updates(updates), count = 0;
    struct vcm_arena arena;
    int status = 0, rc = VCM_OK;

    vcm_arena_init(&arena, LIST_MAX);
    const char **args = calloc(2 * updates_count + FIXED_ARGS, sizeof *args);
    if (!args)
        rc = vcm_error_memory(err);
    if (rc == VCM_OK) {
        args[count++] = "push";
        args[count++] = "--porcelain";
        args[count++] = "--no-verify";
        args[count++] = "--no-follow-tags";
        args[count++] = "--recurse-submodules=no";
        if (updates_count > 1)
            args[count++] = "--atomic";
        rc = put_leases(args, &count, updates, &arena, err);
    }
    if (rc == VCM_OK) {
        args[count++] = "--end-of-options";
        args[count++] = remote;
        rc = put_updates(args, &count, updates, &arena, err);
    }
    if (rc == VCM_OK)
        rc = vcm_command_run(&status, &report, &errors, git, args, no_input, err);
    if (rc == VCM_OK && status != 0)
        rc = explain(vcm_buf_text(&report), vcm_buf_text(&errors), err);
    free(args);
    vcm_arena_release(&arena);
    vcm_buf_release(&errors);
    vcm_buf_release(&report);
    return rc;
}

int vcm_push_send(const struct vcm_command *git, const char *remote,
                  const struct vcm_push_update *updates, bool with_lfs, struct vcm_error *err)
{
    struct vcm_command patient = *git;

    patient.timeout_ms = TIMEOUT_MS;
    int rc = with_lfs ? send_lfs(&patient, remote, updates, err) : VCM_OK;
    return rc == VCM_OK ? send_refs(&patient, remote, updates, err) : rc;
}
