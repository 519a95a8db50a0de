#include "git/clone_remote.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "git/repo.h"

#include "base/banned.h"

#define HEADS_LINE    "ref: refs/heads/"
#define SHA256_DIGITS 64
#define FIXED_ARGS    7 /* arguments before the names, and the NULL at the end */

void vcm_git_clone_remote_init(struct vcm_git_remote *remote)
{
    *remote = (struct vcm_git_remote){.head_branch = ""};
    vcm_buf_init(&remote->text, VCM_LIMIT_REMOTE_REFS);
}

void vcm_git_clone_remote_release(struct vcm_git_remote *remote)
{
    vcm_buf_release(&remote->text);
}

const char *vcm_git_clone_remote_find(const struct vcm_git_remote *remote, const char *name)
{
    const char *line = vcm_buf_text(&remote->text);
    const char *end = line + remote->text.len;

    for (; line < end; line += strlen(line) + 1) {
        const char *tab = strchr(line, '\t');
        if (tab && strncmp(line, "ref: ", 5) != 0 && strcmp(tab + 1, name) == 0)
            return line;
    }
    return NULL;
}

static int check(const struct vcm_git_remote *remote, const char *address, struct vcm_error *err)
{
    const char *line = vcm_buf_text(&remote->text);
    const char *end = line + remote->text.len;

    for (; line < end; line += strlen(line) + 1) {
        size_t digits = strspn(line, "0123456789abcdef");
        if (strncmp(line, "ref: ", 5) == 0 || digits == VCM_GIT_ID_HEX)
            continue;
        if (digits == SHA256_DIGITS)
            return vcm_error_set(err, VCM_UNSUPPORTED,
                                 "'%s' uses sha256 object ids, which cannot be read", address);
        return vcm_error_set(err, VCM_NETWORK_ERROR, "'%s' lists its refs in an unknown form",
                             address);
    }
    return VCM_OK;
}

/* "ref: refs/heads/main\tHEAD" */
static void find_head(struct vcm_git_remote *remote)
{
    const size_t prefix = sizeof HEADS_LINE - 1;
    const char *line = vcm_buf_text(&remote->text);
    char *end = remote->text.data + remote->text.len;

    remote->head_branch = "";
    remote->head_id = vcm_git_clone_remote_find(remote, "HEAD");
    for (; remote->text.len > 0 && line < end; line += strlen(line) + 1) {
        char *tab = strchr(line, '\t');
        if (tab && strcmp(tab + 1, "HEAD") == 0 && strncmp(line, HEADS_LINE, prefix) == 0) {
            *tab = '\0';
            remote->head_branch = line + prefix;
            return;
        }
    }
}

int vcm_git_clone_remote_ask(struct vcm_git_remote *remote, const struct vcm_git_runner *runner,
                             const char *const *names, struct vcm_error *err)
{
    const char *address = runner->url->address;
    const char *const fixed[] = {"ls-remote",        "--symref", "--quiet",
                                 "--end-of-options", address,    "HEAD"};
    size_t count = 0;

    while (names[count])
        count++;
    const char **args = calloc(count + FIXED_ARGS, sizeof *args);
    if (!args)
        return vcm_error_memory(err);
    memcpy(args, fixed, sizeof fixed);
    memcpy(args + sizeof fixed / sizeof fixed[0], names, count * sizeof *names);
    vcm_buf_clear(&remote->text);
    int rc = vcm_git_runner_run(&remote->text, NULL, runner, args, err);
    free(args);
    if (rc != VCM_OK)
        return rc;
    for (size_t i = 0; i < remote->text.len; i++)
        if (remote->text.data[i] == '\n')
            remote->text.data[i] = '\0';
    rc = check(remote, address, err);
    find_head(remote);
    return rc;
}
