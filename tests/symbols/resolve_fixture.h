/*
 * resolve_fixture.h - references to the name "total" in a repository of a few files, and what they
 * are resolved to. Include it after cmocka.
 */
#ifndef VCM_TESTS_SYMBOLS_RESOLVE_FIXTURE_H
#define VCM_TESTS_SYMBOLS_RESOLVE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "symbols/resolve.h"
#include "symbols/symbol.h"
#include "tests/support/repo.h"

struct file {
    const char *path, *text;
};

#define FILES_MAX 16

struct sample {
    struct file files[FILES_MAX];
    const char *expected; /* of the name "total": "file:line target", or "-"; "made" if it is so */
};

static bool takes(void *context, struct vcm_slice path)
{
    (void)context;
    (void)path;
    return true;
}

static int show(void *context, const struct vcm_resolved *found, struct vcm_error *err)
{
    struct vcm_buf *out = ((void **)context)[0];
    const struct vcm_index_file *files = ((const struct vcm_index *)((void **)context)[1])->files;

    (void)err;
    vcm_buf_append_format(out, "%.*s:%u ", (int)files[found->file].path.len,
                          files[found->file].path.data, found->reference->line);
    if (found->target)
        vcm_buf_append_format(out, "%.*s:%u%s\n", (int)files[found->target_file].path.len,
                              files[found->target_file].path.data, found->target->line,
                              found->use == VCM_SYMBOL_INSTANTIATE ? " made" : "");
    else
        vcm_buf_append_string(out, "-\n");
    return VCM_OK;
}

/* With a line the definition there is asked for, and without any of that name. */
static void check(const struct sample *sample, const char *only_file, uint32_t only_line)
{
    struct vcm_buf found = VCM_BUF_INIT(1 * VCM_MIB);
    struct vcm_git_repo *git = NULL;
    struct vcm_index *index = NULL;
    struct vcm_error err = {0};
    struct test_repo repo, home;

    test_repo_init(&repo);
    test_repo_init_directory(&home);
    for (size_t i = 0; i < FILES_MAX && sample->files[i].path; i++)
        test_repo_write_text(&repo, sample->files[i].path, sample->files[i].text);
    test_repo_commit(&repo, "files");
    int rc = vcm_git_repo_open(&git, repo.path, &err);
    if (rc == VCM_OK)
        rc = vcm_index_open(
            &index,
            &(struct vcm_index_request){
                .directory = home.path, .repo = git, .subpath = "", .takes = takes, .workers = 1},
            &err);
    void *context[] = {&found, index};
    if (rc == VCM_OK)
        rc = vcm_resolve_visit(
            index,
            &(struct vcm_resolve_query){.name = vcm_slice_of_string("total"),
                                        .only_file = vcm_slice_of_string(only_file),
                                        .only_line = only_line},
            show, context, &err);
    if (rc != VCM_OK)
        fail_msg("%s", err.message);
    assert_string_equal(vcm_buf_text(&found), sample->expected);
    vcm_index_close(index);
    vcm_git_repo_close(git);
    vcm_buf_release(&found);
    test_repo_release(&home);
    test_repo_release(&repo);
}

#define RESOLVE_ONE_TEST(name, only_file, only_line, ...)                                          \
    static void name(void **state)                                                                 \
    {                                                                                              \
        static const struct sample sample = {__VA_ARGS__};                                         \
        (void)state;                                                                               \
        check(&sample, only_file, only_line);                                                      \
    }
#define RESOLVE_TEST(name, ...) RESOLVE_ONE_TEST(name, "", 0, __VA_ARGS__)

#endif
