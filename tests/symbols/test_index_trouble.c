/*
 * The symbol store through deaths at any moment, a full disk and two writers at once. After each
 * the next map is that of an undisturbed run. VCM_TEST_LONG=1 kills 100 times.
 */
#include "index_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/disk.h"

#include "base/banned.h"

#define FILES   60u
#define SKIPPED 77
#define MOST_US 120000u

static const char *program;
static struct test_repo repo;

static int set_up(void **state)
{
    uint64_t seed = 31;

    (void)state;
    test_repo_init(&repo);
    for (unsigned i = 0; i < FILES; i++)
        fixture_write(&repo, i, FILES, &seed);
    test_repo_commit(&repo, "files");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_repo_release(&repo);
    return 0;
}

static int map_into(struct fixture_map *out, const char *path, const char *directory,
                    struct vcm_error *err)
{
    return fixture_make_map(
        out, path, &(struct fixture_request){.directory = directory, .filter = "", .budget = 600},
        err);
}

static char *undisturbed(void)
{
    struct test_repo store;
    struct fixture_map map;

    test_repo_init_directory(&store);
    assert_int_equal(map_into(&map, repo.path, store.path, NULL), VCM_OK);
    test_repo_release(&store);
    return map.text;
}

/* Begins a new store again and again, until it is killed. */
static int role_endless(const char *path, const char *directory)
{
    for (;;) {
        struct fixture_map map;
        if (map_into(&map, path, directory, NULL) != VCM_OK)
            return 1;
        free(map.text);
        char name[600];
        snprintf(name, sizeof name, "%s/data.mdb", directory);
        unlink(name);
    }
}

static int role_once(const char *path, const char *directory)
{
    struct fixture_map map;

    int rc = map_into(&map, path, directory, NULL);
    free(map.text);
    return rc == VCM_OK ? 0 : 1;
}

static int role_full_disk(const char *path, const char *directory)
{
    struct vcm_error err = {0};
    struct fixture_map map;
    char name[600];

    /* Room for the lock file of LMDB, for the one of users, and for the beginning of a data file.
     */
    if (!test_disk_mount(directory, "76k"))
        return SKIPPED;
    int rc = map_into(&map, path, directory, &err);
    free(map.text);
    if (rc != VCM_STORE_FULL && rc != VCM_IO_ERROR)
        return 2;
    snprintf(name, sizeof name, "%s/data.mdb", directory);
    if (rc == VCM_STORE_FULL && access(name, F_OK) != 0)
        return 3;
    /* What was there before the disk was full is there still: a second try ends the same way. */
    return map_into(&map, path, directory, NULL) == rc ? 0 : 4;
}

static pid_t start(const char *role, const char *directory)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        execl(program, program, role, repo.path, directory, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_index_survives_deaths_at_any_moment(void **state)
{
    unsigned rounds = getenv("VCM_TEST_LONG") ? 100 : 12;
    uint64_t seed = 7;
    char *expected = undisturbed();
    struct test_repo store;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    test_repo_init_directory(&store);
    for (unsigned i = 0; i < rounds; i++) {
        pid_t pid = start("endless", store.path);
        const struct timespec pause = {.tv_nsec = 1000L * test_random_below(&seed, MOST_US)};
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        assert_int_equal(wait_for(pid), -1);
        struct vcm_error err = {0};
        struct fixture_map map;
        if (map_into(&map, repo.path, store.path, &err) != VCM_OK)
            fail_msg("round %u: %s", i, err.message);
        assert_string_equal(map.text, expected);
        free(map.text);
    }
    free(expected);
    test_repo_release(&store);
}

static void several_processes_index_at_one_time(void **state)
{
    char *expected = undisturbed();

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct test_repo store;
        pid_t pids[3];
        test_repo_init_directory(&store);
        for (size_t j = 0; j < 3; j++)
            pids[j] = start("once", store.path);
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(wait_for(pids[j]), 0);
        struct fixture_map map;
        assert_int_equal(map_into(&map, repo.path, store.path, NULL), VCM_OK);
        assert_int_equal(map.parsed, 0);
        assert_string_equal(map.text, expected);
        free(map.text);
        test_repo_release(&store);
    }
    free(expected);
}

static void a_full_disk_is_told_and_spoils_nothing(void **state)
{
    struct test_repo store;

    (void)state;
    test_repo_init_directory(&store);
    int code = wait_for(start("full_disk", store.path));
    test_repo_release(&store);
    if (code == SKIPPED)
        skip();
    assert_int_equal(code, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_index_survives_deaths_at_any_moment),
        cmocka_unit_test(several_processes_index_at_one_time),
        cmocka_unit_test(a_full_disk_is_told_and_spoils_nothing),
    };

    program = argv[0];
    if (argc == 4 && strcmp(argv[1], "endless") == 0)
        return role_endless(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "once") == 0)
        return role_once(argv[2], argv[3]);
    if (argc == 4 && strcmp(argv[1], "full_disk") == 0)
        return role_full_disk(argv[2], argv[3]);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
