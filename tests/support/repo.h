/*
 * repo.h - real repositories in temporary directories, made by the git program.
 *
 * The first directory that is made fixes the environment of the test program and of everything it
 * starts: identity, dates, "main" as the first branch, no configuration of the machine or the user.
 * The same calls therefore give the same object ids everywhere.
 * Whatever goes wrong here fails the running test; nothing needs to be checked.
 */
#ifndef VCM_TESTS_SUPPORT_REPO_H
#define VCM_TESTS_SUPPORT_REPO_H

#include <stddef.h>

struct test_repo {
    char path[256]; /* real path of the directory, no trailing slash */
};

/* A new empty directory; with a new repository in it. Release removes it with all its content. */
void test_repo_init_directory(struct test_repo *repo);
void test_repo_init(struct test_repo *repo);
void test_repo_release(struct test_repo *repo);

/* Runs git in the directory with the arguments that follow, up to NULL. It must succeed. */
void test_repo_git(const struct test_repo *repo, ...) __attribute__((sentinel));

/* The same; returns its output without the last line break. The caller frees it. */
char *test_repo_git_output(const struct test_repo *repo, ...) __attribute__((sentinel));

/* Runs any program, argv[0] looked up in PATH, in `directory` (NULL for the current one); returns
 * its exit status. With `output` its standard output goes there, to be freed by the caller. */
int test_repo_run(const char *directory, char *const argv[], char **output);

/* Writes a file, making the directories above it. `name` is relative to the repository. */
void test_repo_write(const struct test_repo *repo, const char *name, const void *data, size_t len);
void test_repo_write_text(const struct test_repo *repo, const char *name, const char *text);

/* Adds everything and commits, even if nothing changed. */
void test_repo_commit(const struct test_repo *repo, const char *message);

/* Writes `data` as an object of this type, unchecked, as a hostile repository may hold it; returns
 * its id, which the caller frees. */
char *test_repo_object(const struct test_repo *repo, const char *type, const void *data,
                       size_t len);

/* Where the loose object `id` of a repository with a working tree lies. The caller frees it. */
char *test_repo_object_path(const struct test_repo *repo, const char *id);

/* The path of `name` inside the directory. The caller frees it. */
char *test_repo_path(const struct test_repo *repo, const char *name);

#endif
