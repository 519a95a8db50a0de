#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/kv_users.h"
#include "base/path.h"

#include "base/banned.h"

static char directory[64];

static int setup(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/vcm-users-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return vcm_path_tree_remove(directory, NULL);
}

static unsigned count_dead(void)
{
    struct vcm_kv_users_dead dead;

    vcm_kv_users_look(&dead, directory);
    return dead.count;
}

/* A process that enters and then ends in one way or another. */
static void run_user(void (*end)(struct vcm_kv_users *user))
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        static struct vcm_kv_users user;
        vcm_kv_users_enter(&user, directory);
        end(&user);
        _exit(3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void end_by_leaving(struct vcm_kv_users *user)
{
    vcm_kv_users_leave(user);
    _exit(0);
}

static void end_by_exit(struct vcm_kv_users *user)
{
    (void)user;
    exit(0);
}

static void end_by_kill(struct vcm_kv_users *user)
{
    (void)user;
    kill(getpid(), SIGKILL);
}

static void who_leaves_or_exits_leaves_no_trace(void **state)
{
    (void)state;
    run_user(end_by_leaving);
    assert_int_equal(count_dead(), 0);
    run_user(end_by_exit);
    assert_int_equal(count_dead(), 0);
}

static void a_death_leaves_a_trace_until_it_is_forgotten(void **state)
{
    struct vcm_kv_users_dead dead;

    (void)state;
    run_user(end_by_kill);
    run_user(end_by_leaving);
    assert_int_equal(count_dead(), 1);
    vcm_kv_users_look(&dead, directory);
    run_user(end_by_kill);
    vcm_kv_users_forget(&dead, directory);
    assert_int_equal(count_dead(), 1); /* the one after the look */
}

static void who_lives_is_not_dead_and_a_trace_is_not_overwritten(void **state)
{
    struct vcm_kv_users users[3];

    (void)state;
    run_user(end_by_kill);
    for (unsigned i = 0; i < 3; i++)
        vcm_kv_users_enter(&users[i], directory);
    assert_int_equal(count_dead(), 1);
    for (unsigned i = 0; i < 3; i++)
        vcm_kv_users_leave(&users[i]);
    assert_int_equal(count_dead(), 1);
}

static void a_file_of_anything_hurts_nobody(void **state)
{
    struct vcm_kv_users user;
    struct vcm_kv_users_dead dead;
    char path[128], bytes[2 * VCM_KV_USERS_PLACES];

    (void)state;
    snprintf(path, sizeof path, "%s/users", directory);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(vcm_path_write_file(path, vcm_slice_of(bytes, sizeof bytes), 0600, NULL),
                     VCM_OK);
    vcm_kv_users_enter(&user, directory); /* finds no place */
    assert_int_equal(user.fd, -1);
    vcm_kv_users_leave(&user);
    vcm_kv_users_look(&dead, directory);
    assert_int_equal(dead.count, VCM_KV_USERS_PLACES);
    vcm_kv_users_forget(&dead, directory);
    assert_int_equal(count_dead(), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    vcm_kv_users_enter(&user, directory);
    assert_int_equal(user.fd, -1);
    assert_int_equal(count_dead(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_leaves_or_exits_leaves_no_trace, setup, teardown),
        cmocka_unit_test_setup_teardown(a_death_leaves_a_trace_until_it_is_forgotten, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(who_lives_is_not_dead_and_a_trace_is_not_overwritten, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_file_of_anything_hurts_nobody, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
