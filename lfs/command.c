#include "lfs/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/spawn.h"

#include "base/banned.h"

#define FIXED_ARGS      6 /* arguments before the command, with "git", and the NULL at the end */
#define ERRORS_MAX      (256 * VCM_KIB)
#define ENVIRONMENT_MAX (4 * VCM_MIB)

/* Variables that would make git use another repository, or that we set ourselves. */
static bool is_ours(const char *entry)
{
    static const char *const names[] = {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_TERMINAL_PROMPT",
        "GIT_ASKPASS",
        "GIT_EDITOR",
        "GIT_LFS_SKIP_SMUDGE",
        "GIT_TRACE",
        "SSH_ASKPASS",
        "SSH_ASKPASS_REQUIRE",
        "LC_ALL",
        "LANGUAGE",
    };
    size_t len = strcspn(entry, "=");

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == len && memcmp(names[i], entry, len) == 0)
            return true;
    return false;
}

/* The whole environment as one block of strings, ended by an empty one. */
static void put_environment(struct vcm_buf *out, const struct vcm_command *command)
{
    const struct {
        const char *name, *value;
    } ours[] = {
        {"LC_ALL", "C"},
        {"GIT_TERMINAL_PROMPT", "0"},
        {"GIT_ASKPASS", ""},
        {"GIT_EDITOR", "false"},
        {"SSH_ASKPASS", "/bin/false"},
        {"SSH_ASKPASS_REQUIRE", "force"},
        {"GIT_INDEX_FILE", command->index_file},
        {"GIT_AUTHOR_NAME", command->author_name},
        {"GIT_AUTHOR_EMAIL", command->author_email},
    };

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (ours[i].value) {
            vcm_buf_append_format(out, "%s=%s", ours[i].name, ours[i].value);
            vcm_buf_append_byte(out, '\0');
        }
    for (char **entry = environ; entry && *entry; entry++) {
        bool author = strncmp(*entry, "GIT_AUTHOR_", 11) == 0 && command->author_name;
        if (!is_ours(*entry) && (!author || strncmp(*entry, "GIT_AUTHOR_DATE=", 16) == 0))
            vcm_buf_append(out, *entry, strlen(*entry) + 1);
    }
}

/* Pointers to the strings of a block; freed with free(). */
static const char **split(struct vcm_slice block)
{
    size_t count = 1;

    for (size_t i = 0; i < block.len; i++)
        count += block.data[i] == '\0';
    const char **list = calloc(count, sizeof *list);
    if (!list)
        return NULL;
    count = 0;
    for (size_t i = 0; i < block.len; i += strlen(block.data + i) + 1)
        list[count++] = block.data + i;
    return list;
}

/* The whole argument vector; freed with free(). */
static const char **join_args(const struct vcm_command *command, const char *const *args)
{
    size_t count = 0, given = 0;

    while (args[given])
        given++;
    const char **argv = calloc(given + FIXED_ARGS, sizeof *argv);
    if (!argv)
        return NULL;
    argv[count++] = "git";
    if (!command->with_hooks_path) {
        argv[count++] = "-c";
        argv[count++] = "core.hooksPath=/dev/null";
    }
    argv[count++] = "-c";
    argv[count++] = "core.fsmonitor=false";
    for (size_t i = 0; i < given; i++)
        argv[count++] = args[i];
    return argv;
}

int vcm_command_run(int *status, struct vcm_buf *out, struct vcm_buf *errors,
                    const struct vcm_command *command, const char *const *args,
                    struct vcm_slice input, struct vcm_error *err)
{
    struct vcm_buf block = VCM_BUF_INIT(ENVIRONMENT_MAX);
    struct vcm_spawn_result result = {.exit_status = -1};

    put_environment(&block, command);
    const char **environment = split(vcm_buf_slice(&block));
    const char **argv = join_args(command, args);
    int rc = vcm_buf_check(&block, "the environment", err);
    if (rc == VCM_OK && (!environment || !argv))
        rc = vcm_error_memory(err);
    if (rc == VCM_OK) {
        const struct vcm_spawn_options options = {
            .argv = argv,
            .environment = environment,
            .directory = command->directory,
            .input = input,
            .timeout_ms = command->timeout_ms,
            .data_max = command->memory_max ? command->memory_max : VCM_LIMIT_GIT_MEMORY,
            .file_max = command->bytes_max,
            .starts_others = true,
            .cancel = command->cancel,
        };
        rc = vcm_spawn_run(&result, out, errors, &options, err);
        *status = result.exit_status;
    }
    free(argv);
    free(environment);
    vcm_buf_release(&block);
    return rc;
}

/* The most useful line: the last one with a prefix of git's own errors, else the last one. */
static struct vcm_slice telling_line(const char *text)
{
    static const char *const marks[] = {
        "fatal: ", "error: ", "remote: error: ", "batch response: "};
    struct vcm_slice best = {"git gave no reason", 18};
    bool marked = false;

    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\r\n");
        for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
            size_t mark = strlen(marks[i]);
            if (!marked && len > mark && memcmp(line, marks[i], mark) == 0) {
                best = vcm_slice_of(line + mark, len - mark);
                marked = true;
            }
        }
        if (!marked && len > 0)
            best = vcm_slice_of(line, len);
        line += len;
        line += strspn(line, "\r\n");
    }
    return best;
}

static enum vcm_code classify(const char *text)
{
    static const struct {
        const char *part;
        enum vcm_code code;
    } signs[] = {
        {"uthentication failed", VCM_AUTH_FAILED},
        {"could not read Username", VCM_AUTH_FAILED},
        {"could not read Password", VCM_AUTH_FAILED},
        {"ermission denied (", VCM_AUTH_FAILED},
        {"Could not resolve host", VCM_NETWORK_ERROR},
        {"onnection refused", VCM_NETWORK_ERROR},
        {"onnection timed out", VCM_NETWORK_ERROR},
        {"Failed to connect", VCM_NETWORK_ERROR},
        {"unable to access", VCM_NETWORK_ERROR},
        {"does not appear to be a git repository", VCM_NOT_FOUND},
        {"epository not found", VCM_NOT_FOUND},
        {"Could not read from remote repository", VCM_NETWORK_ERROR},
    };

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strstr(text, signs[i].part))
            return signs[i].code;
    return VCM_IO_ERROR;
}

int vcm_command_failure(struct vcm_error *err, const char *what, const char *stderr_text)
{
    struct vcm_slice line = telling_line(stderr_text);
    int len = line.len < 300 ? (int)line.len : 300;
    return vcm_error_set(err, classify(stderr_text), "%s: %.*s", what, len, line.data);
}

static void trim(struct vcm_buf *out)
{
    if (out && out->len > 0 && out->data[out->len - 1] == '\n')
        vcm_buf_truncate(out, out->len - 1);
}

static int run_told(int *status, struct vcm_buf *out, const struct vcm_command *command,
                    const char *const *args, struct vcm_slice input, int status_max,
                    struct vcm_error *err)
{
    struct vcm_buf errors = VCM_BUF_INIT(ERRORS_MAX);
    char what[80];

    int rc = vcm_command_run(status, out, &errors, command, args, input, err);
    if (rc == VCM_OK && (*status < 0 || *status > status_max)) {
        snprintf(what, sizeof what, "git %.32s %.32s", args[0], args[1] ? args[1] : "");
        rc = vcm_command_failure(err, what, vcm_buf_text(&errors));
    }
    trim(out);
    vcm_buf_release(&errors);
    return rc;
}

int vcm_command_read(struct vcm_buf *out, const struct vcm_command *command,
                     const char *const *args, struct vcm_slice input, struct vcm_error *err)
{
    int status;
    return run_told(&status, out, command, args, input, 0, err);
}

int vcm_command_ask(bool *yes, struct vcm_buf *out, const struct vcm_command *command,
                    const char *const *args, struct vcm_error *err)
{
    int status = -1;
    int rc = run_told(&status, out, command, args, vcm_slice_of(NULL, 0), 1, err);
    *yes = rc == VCM_OK && status == 0;
    return rc;
}
