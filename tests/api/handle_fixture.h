/*
 * handle_fixture.h - what most tests of the library begin with: a repository, a home below its
 * .git, and a handle of that home.
 */
#ifndef VCM_TESTS_API_HANDLE_FIXTURE_H
#define VCM_TESTS_API_HANDLE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/vcm.h"
#include "tests/support/repo.h"

struct handle_fixture {
    struct test_repo repo;
    char *home;
    struct vcm *vcm;
    struct vcm_error err;
};

static inline struct vcm *handle_fixture_open_again(struct handle_fixture *fix)
{
    struct vcm *vcm = NULL;

    if (vcm_open(&vcm, &(struct vcm_open_options){.home = fix->home}, &fix->err) != VCM_OK)
        fail_msg("%s", fix->err.message);
    return vcm;
}

/* Commits what was written to the repository, and opens the handle. */
static inline void handle_fixture_open(struct handle_fixture *fix)
{
    test_repo_commit(&fix->repo, "first");
    fix->home = test_repo_path(&fix->repo, ".git/home");
    fix->vcm = handle_fixture_open_again(fix);
}

/* The fixture is the first member of *state, which it frees. */
static inline int handle_fixture_tear_down(void **state)
{
    struct handle_fixture *fix = *state;

    vcm_close(fix->vcm);
    free(fix->home);
    test_repo_release(&fix->repo);
    free(*state);
    return 0;
}

#endif
