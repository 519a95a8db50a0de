#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/process.h"

#include "base/banned.h"

#define PID_MASK  ((UINT64_C(1) << 22) - 1)
#define START_BIT (UINT64_C(1) << 22)
#define SPACE_BIT (UINT64_C(1) << 44)

static void this_process_lives_and_keeps_its_number(void **state)
{
    (void)state;
    uint64_t self = vcm_process_self();
    assert_int_equal(self & PID_MASK, getpid());
    assert_true(self == vcm_process_self());
    assert_false(vcm_process_is_dead(self));
}

static void nobody_is_dead(void **state)
{
    (void)state;
    assert_true(vcm_process_is_dead(0));
}

static void a_process_with_the_same_id_that_started_at_another_time_is_dead(void **state)
{
    (void)state;
    assert_true(vcm_process_is_dead(vcm_process_self() ^ START_BIT));
}

static void nothing_is_known_of_a_process_in_another_container(void **state)
{
    (void)state;
    assert_false(vcm_process_is_dead(vcm_process_self() ^ SPACE_BIT));
}

static void a_child_is_dead_once_it_ended_even_before_it_is_waited_for(void **state)
{
    (void)state;
    int numbers[2], end[2];
    uint64_t child;
    siginfo_t info;

    assert_int_equal(pipe(numbers), 0);
    assert_int_equal(pipe(end), 0);
    pid_t pid = fork();
    if (pid == 0) {
        uint64_t self = vcm_process_self();
        char byte;
        close(end[1]);
        ssize_t done = write(numbers[1], &self, sizeof self);
        done += read(end[0], &byte, 1);
        _exit(done > 0 ? 0 : 1);
    }
    assert_int_equal(read(numbers[0], &child, sizeof child), sizeof child);
    assert_false(vcm_process_is_dead(child));
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(vcm_process_is_dead(child));
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(vcm_process_is_dead(child));
    for (unsigned i = 0; i < 2; i++) {
        close(numbers[i]);
        close(end[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_process_lives_and_keeps_its_number),
        cmocka_unit_test(nobody_is_dead),
        cmocka_unit_test(a_process_with_the_same_id_that_started_at_another_time_is_dead),
        cmocka_unit_test(nothing_is_known_of_a_process_in_another_container),
        cmocka_unit_test(a_child_is_dead_once_it_ended_even_before_it_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
