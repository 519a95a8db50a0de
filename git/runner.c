#include "git/runner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/spawn.h"
#include "git/internal.h"

#include "base/banned.h"

#define ENVIRONMENT_BYTES (8 * VCM_MIB)
#define HOST_KEY_BYTES    (VCM_LIMIT_URL_BYTES + 64)

/* Never prompts; accepts the key of an unknown host, and refuses a key that changed. */
#define SSH_COMMAND "ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new"

/* Prints the password from the environment when git asks for one, and nothing otherwise. */
#define CREDENTIAL_HELPER                                                                          \
    "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' "                           \
    "\"$VCM_GIT_USERNAME\" \"$VCM_GIT_PASSWORD\"; }; f"

/* The environment as a block of "NAME=value" strings, each ended by a NUL. */
struct environment {
    struct vcm_buf block;
    const char **list;
    unsigned settings; /* number of configuration settings so far */
};

/* git's own variables that are kept: they say where the user's settings, keys and certificates
 * are. */
static const char *const kept[] = {
    "GIT_CONFIG_GLOBAL=", "GIT_SSH=",           "GIT_SSH_COMMAND=",
    "GIT_SSH_VARIANT=",   "GIT_SSL_CAINFO=",    "GIT_SSL_CERT=",
    "GIT_SSL_KEY=",       "GIT_SSL_NO_VERIFY=", "GIT_EXEC_PATH=",
};

/* Variables that are set here. */
static const char *const replaced[] = {
    "LC_ALL=", "LANG=", "LANGUAGE=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=", "VCM_GIT_",
};

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_kept(const char *variable)
{
    for (size_t i = 0; i < sizeof replaced / sizeof replaced[0]; i++)
        if (begins_with(variable, replaced[i]))
            return false;
    if (!begins_with(variable, "GIT_"))
        return true;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (begins_with(variable, kept[i]))
            return true;
    return false;
}

static void put(struct environment *environment, const char *name, const char *value)
{
    vcm_buf_append_format(&environment->block, "%s=%s", name, value);
    vcm_buf_append_byte(&environment->block, '\0');
}

/* Overrides every configuration file. */
static void put_setting(struct environment *environment, const char *key, const char *value)
{
    vcm_buf_append_format(&environment->block, "GIT_CONFIG_KEY_%u=%s", environment->settings, key);
    vcm_buf_append_byte(&environment->block, '\0');
    vcm_buf_append_format(&environment->block, "GIT_CONFIG_VALUE_%u=%s", environment->settings,
                          value);
    vcm_buf_append_byte(&environment->block, '\0');
    environment->settings++;
}

/* A setting for the host of the URL alone, so that a redirect to another host does not get it. */
static void put_host_setting(struct environment *environment, const struct vcm_git_url *url,
                             const char *name, const char *value)
{
    struct vcm_buf key = VCM_BUF_INIT(HOST_KEY_BYTES);

    vcm_buf_append_format(&key, "credential.https://%s.%s", url->host, name);
    put_setting(environment, vcm_buf_text(&key), value);
    vcm_buf_release(&key);
}

static void put_credentials(struct environment *environment, const struct vcm_git_runner *runner)
{
    const struct vcm_git_url *url = runner->url;

    if (url->transport != VCM_GIT_URL_HTTPS)
        return;
    if (runner->user && !runner->password)
        put_host_setting(environment, url, "username", runner->user);
    if (!runner->user || !runner->password)
        return;
    put(environment, "VCM_GIT_USERNAME", runner->user);
    put(environment, "VCM_GIT_PASSWORD", runner->password);
    put_host_setting(environment, url, "helper", "");
    put_host_setting(environment, url, "helper", CREDENTIAL_HELPER);
}

static void put_ours(struct environment *environment, const struct vcm_git_runner *runner)
{
    put(environment, "GIT_DIR", runner->git_dir);
    put(environment, "GIT_CONFIG_NOSYSTEM", "1");
    put(environment, "GIT_ATTR_NOSYSTEM", "1");
    put(environment, "GIT_ALLOW_PROTOCOL", "https:ssh:file");
    put(environment, "GIT_TERMINAL_PROMPT", "0");
    put(environment, "GIT_ASKPASS", "");
    put(environment, "GIT_NO_LAZY_FETCH", "1");
    put(environment, "GIT_NO_REPLACE_OBJECTS", "1");
    put(environment, "LC_ALL", "C");
    put(environment, "SSH_ASKPASS", "/bin/false");
    put(environment, "SSH_ASKPASS_REQUIRE", "force");
    if (runner->url->transport == VCM_GIT_URL_SSH && !getenv("GIT_SSH_COMMAND") &&
        !getenv("GIT_SSH") && !vcm_git_repo_user_sets("core.sshcommand"))
        put(environment, "GIT_SSH_COMMAND", SSH_COMMAND);
    put_setting(environment, "core.hooksPath", "/dev/null");
    put_setting(environment, "core.fsmonitor", "false");
    put_setting(environment, "core.askPass", "");
    put_setting(environment, "credential.interactive", "false");
    put_setting(environment, "gc.auto", "0");
    put_setting(environment, "maintenance.auto", "false");
    put_setting(environment, "fetch.prune", "false");
    put_setting(environment, "fetch.pruneTags", "false");
    put_setting(environment, "fetch.recurseSubmodules", "false");
    put_setting(environment, "fetch.writeCommitGraph", "false");
    put_setting(environment, "transfer.bundleURI", "false");
    put_credentials(environment, runner);
}

static int make_environment(struct environment *environment, const struct vcm_git_runner *runner,
                            struct vcm_error *err)
{
    size_t count = 0, at = 0;

    vcm_buf_init(&environment->block, ENVIRONMENT_BYTES);
    for (char **variable = environ; variable && *variable; variable++)
        if (is_kept(*variable))
            vcm_buf_append(&environment->block, *variable, strlen(*variable) + 1);
    put_ours(environment, runner);
    vcm_buf_append_format(&environment->block, "GIT_CONFIG_COUNT=%u", environment->settings);
    vcm_buf_append_byte(&environment->block, '\0');
    int rc = vcm_buf_check(&environment->block, "the environment of git", err);
    if (rc != VCM_OK)
        return rc;
    for (size_t i = 0; i < environment->block.len; i++)
        count += environment->block.data[i] == '\0';
    environment->list = calloc(count + 1, sizeof *environment->list);
    if (!environment->list)
        return vcm_error_memory(err);
    for (size_t i = 0; i < count; i++) {
        environment->list[i] = environment->block.data + at;
        at += strlen(environment->list[i]) + 1;
    }
    return VCM_OK;
}

static void release_environment(struct environment *environment)
{
    if (environment->block.data)
        explicit_bzero(environment->block.data, environment->block.len);
    vcm_buf_release(&environment->block);
    free(environment->list);
}

/* Messages of git, curl, ssh and the large hosts, and what they mean. The first match counts:
 * "Could not read from remote repository" follows every failure of ssh and says nothing. */
static const struct {
    const char *text;
    enum vcm_code code;
    enum vcm_git_runner_refusal refusal;
    const char *message; /* follows the URL */
} meanings[] = {
    {"ut of memory", VCM_UNSUPPORTED, VCM_GIT_RUNNER_NONE,
     "sends more than git may hold in memory; vcm config set fetch.max_memory allows more"},
    {"File too large", VCM_UNSUPPORTED, VCM_GIT_RUNNER_NONE,
     "sends more than may be fetched; vcm config set fetch.max_bytes allows more"},
    {"unadvertised object", VCM_NOT_FOUND, VCM_GIT_RUNNER_UNADVERTISED,
     "does not send single commits"},
    {"does not support shallow", VCM_UNSUPPORTED, VCM_GIT_RUNNER_NO_SHALLOW,
     "sends whole histories only"},
    {"not our ref", VCM_NOT_FOUND, VCM_GIT_RUNNER_NO_REF, "has no such commit"},
    {"find remote ref", VCM_NOT_FOUND, VCM_GIT_RUNNER_NO_REF, "has no such branch, tag or commit"},
    {"mismatched algorithms", VCM_UNSUPPORTED, VCM_GIT_RUNNER_NONE,
     "uses sha256 object ids, which cannot be read"},
    {"object format", VCM_UNSUPPORTED, VCM_GIT_RUNNER_NONE, "uses object ids that cannot be read"},
    {"cannot run ssh", VCM_UNSUPPORTED, VCM_GIT_RUNNER_NONE,
     "cannot be reached without the program ssh; install it"},
    {"Unable to find remote helper", VCM_UNSUPPORTED, VCM_GIT_RUNNER_NONE,
     "cannot be reached: git was installed without https"},
    {"dubious ownership", VCM_UNSUPPORTED, VCM_GIT_RUNNER_NONE,
     "belongs to another user; trust it with git config --global --add safe.directory"},
    {"No space left on device", VCM_IO_ERROR, VCM_GIT_RUNNER_NONE,
     "could not be fetched: no space left on the device of the home"},
    {"Host key verification failed", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE,
     "has a host key that ssh does not know, or another one than before; connect once with ssh"},
    {"Permission denied (", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE,
     "refused our ssh keys; load one that it knows with ssh-add"},
    {"terminal prompts disabled", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE,
     "asks for credentials; name them with vcm config set credentials.<host>"},
    {"could not read Username", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE,
     "asks for credentials; name them with vcm config set credentials.<host>"},
    {"could not read Password", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE,
     "asks for credentials; name them with vcm config set credentials.<host>"},
    {"Authentication failed", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE,
     "refused the credentials; see vcm config list"},
    {"returned error: 401", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE,
     "refused the credentials; see vcm config list"},
    {"returned error: 403", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE,
     "denies access; see vcm config list"},
    {"Access denied", VCM_AUTH_FAILED, VCM_GIT_RUNNER_NONE, "denies access; see vcm config list"},
    {"Repository not found", VCM_NOT_FOUND, VCM_GIT_RUNNER_NONE, "is no repository"},
    {"' not found", VCM_NOT_FOUND, VCM_GIT_RUNNER_NONE, "is no repository"},
    {"returned error: 404", VCM_NOT_FOUND, VCM_GIT_RUNNER_NONE, "is no repository"},
    {"returned error: 410", VCM_NOT_FOUND, VCM_GIT_RUNNER_NONE, "is no longer a repository"},
    {"not appear to be a git repository", VCM_NOT_FOUND, VCM_GIT_RUNNER_NONE, "is no repository"},
    {"No such file or directory", VCM_NOT_FOUND, VCM_GIT_RUNNER_NONE, "is no repository"},
    {"is this a git repository", VCM_NOT_FOUND, VCM_GIT_RUNNER_NONE,
     "answers, but with no repository"},
    {"timed out", VCM_TIMEOUT, VCM_GIT_RUNNER_NONE, "did not answer in time"},
    {"too slow", VCM_TIMEOUT, VCM_GIT_RUNNER_NONE, "did not answer in time"},
    {"resolve host", VCM_NETWORK_ERROR, VCM_GIT_RUNNER_NONE, "has a host that cannot be found"},
    {"certificate", VCM_NETWORK_ERROR, VCM_GIT_RUNNER_NONE,
     "has a certificate that is not trusted"},
    {"not allowed", VCM_INVALID_ARGUMENT, VCM_GIT_RUNNER_NONE,
     "leads to a transport that is not allowed; use https, ssh or file"},
};

static int explain(const char *text, enum vcm_git_runner_refusal *refusal,
                   const struct vcm_git_runner *runner, struct vcm_error *err)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (!strstr(text, meanings[i].text))
            continue;
        if (refusal)
            *refusal = meanings[i].refusal;
        return vcm_error_set(err, meanings[i].code, "'%s' %s", runner->url->address,
                             meanings[i].message);
    }
    if (runner->url->transport == VCM_GIT_URL_FILE)
        return vcm_error_set(err, VCM_IO_ERROR,
                             "cannot fetch from '%s'; see what 'git ls-remote' "
                             "says to it",
                             runner->url->address);
    return vcm_error_set(err, VCM_NETWORK_ERROR,
                         "the connection to '%s' failed; try again, or see what 'git ls-remote' "
                         "says to it",
                         runner->url->address);
}

/* For a git that was killed before its end. */
static int tell_end(int rc, const struct vcm_error *cause, const struct vcm_git_runner *runner,
                    struct vcm_error *err)
{
    if (rc == VCM_TIMEOUT)
        return vcm_error_set(err, VCM_TIMEOUT,
                             "fetching from '%s' was not done in time; try again, or allow more "
                             "with --timeout",
                             runner->url->address);
    if (err && err->code == VCM_OK)
        *err = *cause;
    return rc;
}

int vcm_git_runner_run(struct vcm_buf *out, enum vcm_git_runner_refusal *refusal,
                       const struct vcm_git_runner *runner, const char *const *args,
                       struct vcm_error *err)
{
    struct environment environment = {0};
    struct vcm_buf errors = VCM_BUF_INIT(VCM_LIMIT_GIT_OUTPUT);
    struct vcm_spawn_result result = {0};
    struct vcm_error cause = {0};
    size_t count = 0;

    if (refusal)
        *refusal = VCM_GIT_RUNNER_NONE;
    while (args[count])
        count++;
    const char **argv = calloc(count + 2, sizeof *argv);
    if (!argv)
        return vcm_error_memory(err);
    argv[0] = "git";
    memcpy(argv + 1, args, count * sizeof *args);
    int rc = make_environment(&environment, runner, err);
    if (rc == VCM_OK) {
        rc = vcm_spawn_run(
            &result, out, &errors,
            &(struct vcm_spawn_options){
                .argv = argv,
                .environment = environment.list,
                .directory = runner->git_dir,
                .input = runner->input,
                .timeout_ms = runner->timeout_ms,
                .data_max = runner->memory_max ? runner->memory_max : VCM_LIMIT_GIT_MEMORY,
                .file_max = runner->bytes_max ? runner->bytes_max : VCM_LIMIT_GIT_FETCH,
                .starts_others = true,
                .cancel = runner->cancel,
            },
            &cause);
        if (rc != VCM_OK)
            rc = tell_end(rc, &cause, runner, err);
        else if (result.exit_status != 0)
            rc = explain(vcm_buf_text(&errors), refusal, runner, err);
    }
    vcm_buf_release(&errors);
    release_environment(&environment);
    free(argv);
    return rc;
}
