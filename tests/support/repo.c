#include "tests/support/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/banned.h"

#define ARGUMENTS_MAX 32

static void fix_environment(void)
{
    static const char *const fixed[][2] = {
        {"GIT_CONFIG_NOSYSTEM", "1"},
        {"GIT_CONFIG_GLOBAL", "/dev/null"},
        {"GIT_CONFIG_COUNT", "3"},
        {"GIT_CONFIG_KEY_0", "init.defaultBranch"},
        {"GIT_CONFIG_VALUE_0", "main"},
        {"GIT_CONFIG_KEY_1", "protocol.file.allow"},
        {"GIT_CONFIG_VALUE_1", "always"},
        {"GIT_CONFIG_KEY_2", "gc.auto"},
        {"GIT_CONFIG_VALUE_2", "0"},
        {"GIT_AUTHOR_NAME", "A Tester"},
        {"GIT_AUTHOR_EMAIL", "tester@example.org"},
        {"GIT_AUTHOR_DATE", "2024-01-02T03:04:05Z"},
        {"GIT_COMMITTER_NAME", "A Tester"},
        {"GIT_COMMITTER_EMAIL", "tester@example.org"},
        {"GIT_COMMITTER_DATE", "2024-01-02T03:04:05Z"},
        {"HOME", "/nonexistent"},
        {"XDG_CONFIG_HOME", "/nonexistent"},
        {"LC_ALL", "C"},
    };
    static const char *const unset[] = {
        "GIT_DIR",          "GIT_WORK_TREE", "GIT_INDEX_FILE",          "GIT_OBJECT_DIRECTORY",
        "GIT_COMMON_DIR",   "GIT_NAMESPACE", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_PARAMETERS",
        "GIT_DEFAULT_HASH", "GIT_PREFIX",    "GIT_QUARANTINE_PATH",     "GIT_TEMPLATE_DIR",
    };
    static int done;

    if (done)
        return;
    done = 1;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        setenv(fixed[i][0], fixed[i][1], 1);
    for (size_t i = 0; i < sizeof unset / sizeof unset[0]; i++)
        unsetenv(unset[i]);
}

void test_repo_init_directory(struct test_repo *repo)
{
    const char *parent = getenv("TMPDIR");
    char template[sizeof repo->path];

    fix_environment();
    snprintf(template, sizeof template, "%s/vcm-test-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(template))
        fail_msg("cannot make '%s': %s", template, strerror(errno));
    char *real = realpath(template, NULL);
    assert_non_null(real);
    assert_true(strlen(real) < sizeof repo->path);
    memcpy(repo->path, real, strlen(real) + 1);
    free(real);
}

void test_repo_init(struct test_repo *repo)
{
    test_repo_init_directory(repo);
    test_repo_git(repo, "init", "-q", NULL);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

void test_repo_release(struct test_repo *repo)
{
    if (repo->path[0] != '\0')
        nftw(repo->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    repo->path[0] = '\0';
}

static char *read_all(int fd)
{
    size_t len = 0;
    size_t capacity = 4096;
    char *text = malloc(capacity);

    for (;;) {
        assert_non_null(text);
        ssize_t got = read(fd, text + len, capacity - len - 1);
        if (got <= 0)
            break;
        len += (size_t)got;
        if (len + 1 == capacity)
            text = realloc(text, capacity *= 2);
    }
    text[len] = '\0';
    if (len > 0 && text[len - 1] == '\n')
        text[len - 1] = '\0';
    return text;
}

int test_repo_run(const char *directory, char *const argv[], char **output)
{
    posix_spawn_file_actions_t actions;
    int ends[2] = {-1, -1};
    int status = 0;
    pid_t pid = 0;

    posix_spawn_file_actions_init(&actions);
    if (directory)
        posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (output) {
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    }
    int rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (output) {
        close(ends[1]);
        *output = read_all(ends[0]);
        close(ends[0]);
    }
    if (rc != 0)
        fail_msg("cannot run '%s': %s", argv[0], strerror(rc));
    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void run_git(const struct test_repo *repo, va_list args, char **output)
{
    char *argv[ARGUMENTS_MAX + 1] = {"git"};

    for (size_t i = 1; (argv[i] = va_arg(args, char *)); i++)
        assert_true(i < ARGUMENTS_MAX);
    int status = test_repo_run(repo->path, argv, output);
    if (status != 0)
        fail_msg("git %s ended with %d", argv[1], status);
}

void test_repo_git(const struct test_repo *repo, ...)
{
    va_list args;

    va_start(args, repo);
    run_git(repo, args, NULL);
    va_end(args);
}

char *test_repo_git_output(const struct test_repo *repo, ...)
{
    char *output = NULL;
    va_list args;

    va_start(args, repo);
    run_git(repo, args, &output);
    va_end(args);
    return output;
}

char *test_repo_path(const struct test_repo *repo, const char *name)
{
    char *path = NULL;

    assert_true(asprintf(&path, "%s/%s", repo->path, name) > 0);
    return path;
}

void test_repo_write(const struct test_repo *repo, const char *name, const void *data, size_t len)
{
    char *path = test_repo_path(repo, name);

    for (char *p = path + strlen(repo->path) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        if (mkdir(path, 0777) != 0)
            assert_int_equal(errno, EEXIST);
        *p = '/';
    }
    FILE *file = fopen(path, "wb");
    if (!file)
        fail_msg("cannot write '%s': %s", path, strerror(errno));
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    free(path);
}

void test_repo_write_text(const struct test_repo *repo, const char *name, const char *text)
{
    test_repo_write(repo, name, text, strlen(text));
}

void test_repo_commit(const struct test_repo *repo, const char *message)
{
    test_repo_git(repo, "add", "-A", NULL);
    test_repo_git(repo, "commit", "-q", "--allow-empty", "-m", message, NULL);
}

char *test_repo_object(const struct test_repo *repo, const char *type, const void *data, size_t len)
{
    static const char name[] = ".git/test-object";

    test_repo_write(repo, name, data, len);
    return test_repo_git_output(repo, "hash-object", "-w", "--literally", "-t", type, name, NULL);
}

char *test_repo_object_path(const struct test_repo *repo, const char *id)
{
    char *path = NULL;

    assert_true(asprintf(&path, "%s/.git/objects/%.2s/%s", repo->path, id, id + 2) > 0);
    return path;
}
