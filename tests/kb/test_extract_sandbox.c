#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "kb/extract_sandbox.h"

#include "base/banned.h"

#define INPUT_BYTES ((size_t)1024 * 1024)

/* What a test tries inside of the sandbox: 0 when it was allowed, else errno. */
typedef int (*attempt_fn)(void);

/* Runs `attempt` in a child inside of the sandbox and returns its result. */
static int try_inside(attempt_fn attempt)
{
    int status = -1;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct vcm_error err = {0};
        if (vcm_extract_sandbox_enter(INPUT_BYTES, false, &err) != VCM_OK)
            _exit(255);
        _exit(attempt());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 255);
    return WEXITSTATUS(status);
}

static int result_of(long call)
{
    return call >= 0 ? 0 : errno;
}

static int signal_itself(void)
{
    return result_of(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0));
}

static pid_t other;

static int signal_other(void)
{
    return result_of(syscall(SYS_tgkill, other, other, 0));
}

static int kill_other(void)
{
    return result_of(syscall(SYS_kill, other, 0));
}

static int read_a_secret(void)
{
    return result_of(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int read_an_installed_file(void)
{
    return result_of(open("/usr/bin/env", O_RDONLY | O_CLOEXEC));
}

static int make_a_file(void)
{
    return result_of(open("/tmp/vcm-sandbox-test", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int open_a_socket(void)
{
    return result_of(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int start_a_process(void)
{
    return result_of(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0));
}

static void only_the_process_itself_can_be_signalled(void **state)
{
    (void)state;
    other = getpid();
    assert_int_equal(try_inside(signal_itself), 0);
    assert_int_equal(try_inside(signal_other), EPERM);
    assert_int_equal(try_inside(kill_other), EPERM);
}

static void files_of_packages_are_all_that_can_be_read(void **state)
{
    (void)state;
    assert_int_equal(try_inside(read_an_installed_file), 0);
    assert_int_equal(try_inside(read_a_secret), EACCES);
    assert_int_equal(try_inside(make_a_file), EPERM);
}

static void neither_sockets_nor_processes_can_be_made(void **state)
{
    (void)state;
    assert_int_equal(try_inside(open_a_socket), EPERM);
    assert_int_equal(try_inside(start_a_process), EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_process_itself_can_be_signalled),
        cmocka_unit_test(files_of_packages_are_all_that_can_be_read),
        cmocka_unit_test(neither_sockets_nor_processes_can_be_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
