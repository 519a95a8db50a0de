#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/spawn.h"

#include "base/banned.h"

#define LONG_MS 60000u

struct run {
    struct vcm_spawn_options options;
    struct vcm_spawn_result result;
    struct vcm_buf out;
    struct vcm_buf errors;
    struct vcm_error err;
};

/* All tests run once without a guard and once with one. */
static bool with_guard;

static int setup(void **state)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return -1;
    run->options.timeout_ms = LONG_MS;
    run->options.starts_others = with_guard;
    vcm_buf_init(&run->out, VCM_MIB);
    vcm_buf_init(&run->errors, VCM_MIB);
    *state = run;
    return 0;
}

static int teardown(void **state)
{
    struct run *run = *state;
    vcm_buf_release(&run->out);
    vcm_buf_release(&run->errors);
    free(run);
    return 0;
}

static int run_argv(struct run *run, const char *const *argv)
{
    run->options.argv = argv;
    vcm_buf_clear(&run->out);
    vcm_buf_clear(&run->errors);
    vcm_error_reset(&run->err);
    return vcm_spawn_run(&run->result, &run->out, &run->errors, &run->options, &run->err);
}

static int run_shell(struct run *run, const char *script)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    return run_argv(run, argv);
}

static void output_and_exit_status_come_back(void **state)
{
    struct run *run = *state;
    assert_int_equal(run_shell(run, "echo out; echo err >&2; exit 3"), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "out\n");
    assert_string_equal(vcm_buf_text(&run->errors), "err\n");
    assert_int_equal(run->result.exit_status, 3);
    assert_int_equal(run->result.signal, 0);
}

static void the_signal_that_ended_it_comes_back(void **state)
{
    struct run *run = *state;
    assert_int_equal(run_shell(run, "kill -TERM $$"), VCM_OK);
    assert_int_equal(run->result.exit_status, -1);
    assert_int_equal(run->result.signal, SIGTERM);
}

static void arguments_arrive_untouched(void **state)
{
    struct run *run = *state;
    static const char *const argv[] = {"printf",     "[%s]",      "",  "a b",
                                       "$HOME;`id`", "-n\n'\"\\", NULL};
    assert_int_equal(run_argv(run, argv), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "[][a b][$HOME;`id`][-n\n'\"\\]");
}

static void a_program_that_is_missing_is_not_found(void **state)
{
    struct run *run = *state;
    static const char *const in_path[] = {"vcm-no-such-program", NULL};
    static const char *const by_name[] = {"/nowhere/vcm-no-such-program", NULL};
    static const char *const no_program[] = {"/etc/passwd", NULL};
    static const char *const nameless[] = {"", NULL};
    assert_int_equal(run_argv(run, in_path), VCM_NOT_FOUND);
    assert_non_null(strstr(run->err.message, "vcm-no-such-program"));
    assert_int_equal(run_argv(run, by_name), VCM_NOT_FOUND);
    assert_int_equal(run->result.exit_status, -1);
    assert_int_equal(run_argv(run, no_program), VCM_IO_ERROR);
    assert_int_equal(run_argv(run, nameless), VCM_NOT_FOUND);
}

static void a_program_in_the_working_directory_is_not_found_through_path(void **state)
{
    struct run *run = *state;
    char directory[] = "/tmp/vcm-test-spawn-XXXXXX";
    char path[64], before[VCM_LIMIT_PATH_BYTES];
    const char *list = getenv("PATH");
    char *saved = strdup(list ? list : "");
    static const char *const argv[] = {"vcm-planted", NULL};
    assert_non_null(mkdtemp(directory));
    assert_non_null(getcwd(before, sizeof before));
    snprintf(path, sizeof path, "%s/vcm-planted", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
    close(fd);
    assert_int_equal(chdir(directory), 0);
    setenv("PATH", ":.:/usr/bin:/bin:", 1);
    int relative = run_argv(run, argv);
    setenv("PATH", directory, 1);
    int absolute = run_argv(run, argv);
    setenv("PATH", saved, 1);
    assert_int_equal(chdir(before), 0);
    unlink(path);
    rmdir(directory);
    free(saved);
    assert_int_equal(relative, VCM_NOT_FOUND);
    assert_int_equal(absolute, VCM_OK);
}

static void without_input_its_standard_input_is_empty(void **state)
{
    struct run *run = *state;
    static const char *const argv[] = {"cat", NULL};
    assert_int_equal(run_argv(run, argv), VCM_OK);
    assert_int_equal(run->out.len, 0);
    assert_int_equal(run->result.exit_status, 0);
}

static void input_larger_than_a_pipe_goes_through(void **state)
{
    struct run *run = *state;
    static const char *const argv[] = {"cat", NULL};
    size_t size = 5 * VCM_MIB + 17;
    char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 31 % 253);
    run->options.input = vcm_slice_of(bytes, size);
    run->out.max = size;
    assert_int_equal(run_argv(run, argv), VCM_OK);
    assert_true(vcm_slice_equal(vcm_buf_slice(&run->out), run->options.input));
    free(bytes);
}

static void a_program_that_does_not_read_its_input_does_no_harm(void **state)
{
    struct run *run = *state;
    static char bytes[VCM_MIB];
    run->options.input = vcm_slice_of(bytes, sizeof bytes);
    assert_int_equal(run_shell(run, "exec <&-; echo done"), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "done\n");
    sigset_t pending;
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE));
}

/* The process that the script named in its output is gone, or a zombie of somebody else. */
static bool is_gone(const char *digits)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", strtol(digits, NULL, 10));
    for (;;) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return true;
        ssize_t got = read(fd, line, sizeof line - 1);
        close(fd);
        const char *state = got > 0 ? strrchr(line, ')') : NULL;
        if (!state || state[2] == 'Z' || state[2] == 'X')
            return true;
        usleep(1000); /* a kill takes effect when its target runs; ctest's limit ends a failure */
    }
}

static void at_the_time_limit_descendants_are_killed_too(void **state)
{
    struct run *run = *state;
    run->options.timeout_ms = 300;
    assert_int_equal(run_shell(run, "sleep 1000 & echo $!; wait"), VCM_TIMEOUT);
    assert_non_null(strstr(run->err.message, "300 ms"));
    assert_int_equal(run->result.signal, SIGKILL);
    assert_true(run->out.len > 0);
    assert_true(is_gone(vcm_buf_text(&run->out)));
}

static void what_a_program_leaves_running_is_killed_and_not_waited_for(void **state)
{
    struct run *run = *state;
    assert_int_equal(run_shell(run, "sleep 1000 & echo $!"), VCM_OK);
    assert_int_equal(run->result.exit_status, 0);
    assert_true(is_gone(vcm_buf_text(&run->out)));
}

static void a_descendant_in_another_group_that_keeps_the_pipe_is_not_waited_for(void **state)
{
    struct run *run = *state;
    assert_int_equal(run_shell(run, "setsid sleep 1000 & echo $!"), VCM_OK);
    pid_t pid = (pid_t)strtol(vcm_buf_text(&run->out), NULL, 10);
    assert_true(pid > 1);
    kill(pid, SIGKILL);
}

static void output_beyond_the_maximum_ends_it(void **state)
{
    struct run *run = *state;
    static const char *const argv[] = {"cat", "/dev/zero", NULL};
    run->out.max = 100000;
    assert_int_equal(run_argv(run, argv), VCM_UNSUPPORTED);
    assert_non_null(strstr(run->err.message, "100000"));
    run->errors.max = 10;
    assert_int_equal(run_shell(run, "echo more than ten bytes >&2"), VCM_UNSUPPORTED);
}

static void all_that_was_written_before_the_end_is_read(void **state)
{
    struct run *run = *state;
    for (unsigned i = 0; i < 20; i++) {
        static const char *const argv[] = {"head", "-c", "65000", "/dev/zero", NULL};
        assert_int_equal(run_argv(run, argv), VCM_OK);
        assert_int_equal(run->out.len, 65000);
    }
}

static void output_may_be_discarded(void **state)
{
    struct run *run = *state;
    static const char *const argv[] = {"head", "-c", "3000000", "/dev/zero", NULL};
    run->options.argv = argv;
    assert_int_equal(vcm_spawn_run(&run->result, NULL, NULL, &run->options, &run->err), VCM_OK);
    assert_int_equal(run->result.exit_status, 0);
}

static void *request_when_it_runs(void *argument)
{
    struct run *run = argument;
    usleep(20000); /* so that it is usually running; the outcome does not depend on it */
    vcm_cancel_request((struct vcm_cancel *)run->options.cancel);
    return NULL;
}

static void another_thread_can_end_it(void **state)
{
    struct run *run = *state;
    struct vcm_cancel cancel = {false};
    pthread_t thread;
    run->options.cancel = &cancel;
    run->options.timeout_ms = 0;
    assert_int_equal(pthread_create(&thread, NULL, request_when_it_runs, run), 0);
    assert_int_equal(run_shell(run, "sleep 1000"), VCM_INTERRUPTED);
    pthread_join(thread, NULL);
    assert_int_equal(run->result.signal, SIGKILL);
}

static void no_descriptor_but_the_three_is_inherited(void **state)
{
    struct run *run = *state;
    int leak = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
    int high = fcntl(leak, F_DUPFD, 200);
    assert_true(leak >= 3 && high >= 200);
    assert_int_equal(run_shell(run, "for fd in /proc/self/fd/*; do echo ${fd##*/}; done"), VCM_OK);
    close(leak);
    close(high);
    char own[16];
    snprintf(own, sizeof own, "\n%d\n", high);
    assert_null(strstr(vcm_buf_text(&run->out), own));
    /* The shell itself opens one more, to list the directory. */
    assert_int_equal(strncmp(vcm_buf_text(&run->out), "0\n1\n2\n", 6), 0);
    assert_true(run->out.len <= 8);
}

static void signals_are_as_in_a_fresh_process(void **state)
{
    struct run *run = *state;
    static const char *const argv[] = {"grep", "-E", "SigBlk|SigIgn", "/proc/self/status", NULL};
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    void (*old)(int) = signal(SIGUSR2, SIG_IGN);
    int rc = run_argv(run, argv);
    signal(SIGUSR2, old);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(rc, VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out),
                        "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

static void environment_and_directory_are_those_given(void **state)
{
    struct run *run = *state;
    static const char *const environment[] = {"VCM_ONLY=1", NULL};
    static const char *const argv[] = {"env", NULL};
    run->options.environment = environment;
    assert_int_equal(run_argv(run, argv), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "VCM_ONLY=1\n");
    run->options.environment = NULL;
    run->options.directory = "/usr";
    assert_int_equal(run_shell(run, "pwd -P"), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "/usr\n");
    run->options.directory = "/nowhere";
    assert_int_equal(run_shell(run, "pwd"), VCM_IO_ERROR);
    assert_non_null(strstr(run->err.message, "/nowhere"));
}

static void limits_hold_in_the_program(void **state)
{
    struct run *run = *state;
    run->options.memory_max = 64 * VCM_MIB;
    run->options.cpu_seconds_max = 7;
    assert_int_equal(run_shell(run, "ulimit -v; ulimit -t; ulimit -c"), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "65536\n7\n0\n");
}

static void limits_on_data_and_files_hold_and_can_be_told(void **state)
{
    struct run *run = *state;
    run->options.data_max = 64 * VCM_MIB;
    run->options.file_max = 8192;
    assert_int_equal(run_shell(run, "ulimit -d; ulimit -f"), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "65536\n16\n");
    assert_int_equal(run_shell(run, "f=$(mktemp) && head -c 9000 /dev/zero >$f; s=$?; "
                                    "wc -c <$f; rm $f; exit $s"),
                     VCM_OK);
    assert_int_equal(run->result.exit_status, 1);
    assert_string_equal(vcm_buf_text(&run->out), "8192\n");
}

/* In a process of its own, which is killed. The program names its child in the pipe. */
static _Noreturn void run_for_ever(int told)
{
    char script[64];

    snprintf(script, sizeof script, "sleep 1000 & echo $! >/proc/%ld/fd/%d; wait", (long)getpid(),
             told);
    struct vcm_spawn_result result;
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct vcm_spawn_options options = {
        .argv = argv, .timeout_ms = LONG_MS, .starts_others = with_guard};
    vcm_spawn_run(&result, NULL, NULL, &options, NULL);
    _exit(1);
}

static void when_we_are_killed_what_a_program_started_ends_too(void **state)
{
    char digits[32] = "";
    int pipe_fds[2];

    (void)state;
    if (!with_guard)
        skip();
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        run_for_ever(pipe_fds[1]);
    assert_true(read(pipe_fds[0], digits, sizeof digits - 1) > 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(is_gone(digits));
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

static void *run_some(void *argument)
{
    bool *good = argument;
    *good = true;
    for (unsigned i = 0; i < 10; i++) {
        static const char *const argv[] = {"cat", NULL};
        struct vcm_buf out = VCM_BUF_INIT(1024);
        struct vcm_spawn_result result;
        struct vcm_spawn_options options = {.argv = argv, .input = vcm_slice_of_string("hello")};
        int rc = vcm_spawn_run(&result, &out, NULL, &options, NULL);
        *good = *good && rc == VCM_OK && result.exit_status == 0 &&
                vcm_slice_equal(vcm_buf_slice(&out), options.input);
        vcm_buf_release(&out);
    }
    return NULL;
}

static void many_threads_may_run_programs(void **state)
{
    (void)state;
    pthread_t threads[4];
    bool good[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_some, &good[i]), 0);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(good[i]);
    }
}

static void no_descriptor_is_left_open_here(void **state)
{
    struct run *run = *state;
    static const char *const missing[] = {"/nowhere/x", NULL};
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(before);
    run->options.input = vcm_slice_of_string("x");
    assert_int_equal(run_shell(run, "cat"), VCM_OK);
    assert_int_equal(run_argv(run, missing), VCM_NOT_FOUND);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(before, after);
}

static bool says_done(struct vcm_slice answer)
{
    return answer.len >= 5 && memcmp(answer.data + answer.len - 5, "done\n", 5) == 0;
}

static struct vcm_spawn_program *open_shell(struct run *run, const char *script)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct vcm_spawn_program *program = NULL;
    run->options.argv = argv;
    assert_int_equal(vcm_spawn_open(&program, &run->options, &run->err), VCM_OK);
    return program;
}

static int ask(struct run *run, struct vcm_spawn_program *program, const char *question)
{
    vcm_buf_clear(&run->out);
    vcm_error_reset(&run->err);
    return vcm_spawn_ask(&run->out, program, vcm_slice_of_string(question), says_done, &run->err);
}

static void a_program_that_stays_answers_one_question_after_another(void **state)
{
    struct run *run = *state;
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(before);
    struct vcm_spawn_program *program =
        open_shell(run, "while read -r q; do n=$((n + 1)); echo \"$n $q\"; echo done; done");
    assert_int_equal(ask(run, program, "one\n"), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "1 one\ndone\n");
    assert_int_equal(ask(run, program, "two\n"), VCM_OK);
    assert_string_equal(vcm_buf_text(&run->out), "2 two\ndone\n");
    vcm_spawn_close(program);
    vcm_spawn_close(NULL);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(before, after);
}

static void questions_and_answers_may_be_larger_than_a_pipe(void **state)
{
    struct run *run = *state;
    struct vcm_spawn_program *program = open_shell(run, "exec cat");
    struct vcm_buf question = VCM_BUF_INIT(VCM_MIB);
    for (unsigned i = 0; i < 100000; i++)
        vcm_buf_append_string(&question, "1234567\n");
    vcm_buf_append_string(&question, "done\n");
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(ask(run, program, vcm_buf_text(&question)), VCM_OK);
        assert_true(vcm_slice_equal(vcm_buf_slice(&run->out), vcm_buf_slice(&question)));
    }
    vcm_buf_release(&question);
    vcm_spawn_close(program);
}

static void a_program_that_ends_before_its_answer_does_is_told(void **state)
{
    struct run *run = *state;
    struct vcm_spawn_program *program = open_shell(run, "read -r q; echo done; read -r q");
    assert_int_equal(ask(run, program, "one\n"), VCM_OK);
    assert_int_equal(ask(run, program, "two\n"), VCM_IO_ERROR);
    assert_int_equal(ask(run, program, "three\n"), VCM_IO_ERROR);
    vcm_spawn_close(program);
    program = open_shell(run, "setsid sleep 60 & echo half; exit 0");
    assert_int_equal(ask(run, program, "one\n"), VCM_IO_ERROR);
    vcm_spawn_close(program);
}

static void answers_have_the_limits_that_other_output_has(void **state)
{
    struct run *run = *state;
    struct vcm_spawn_program *program = open_shell(run, "exec yes");
    assert_int_equal(ask(run, program, "one\n"), VCM_UNSUPPORTED);
    vcm_spawn_close(program);
    vcm_buf_release(&run->out);
    run->options.timeout_ms = 50;
    program = open_shell(run, "exec sleep 60");
    assert_int_equal(ask(run, program, "one\n"), VCM_TIMEOUT);
    vcm_spawn_close(program);
}

static void a_program_that_cannot_stay_is_not_opened(void **state)
{
    struct run *run = *state;
    static const char *const missing[] = {"/nowhere/x", NULL};
    struct vcm_spawn_program *program = NULL;
    run->options.argv = missing;
    assert_int_equal(vcm_spawn_open(&program, &run->options, &run->err), VCM_NOT_FOUND);
    assert_null(program);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

#define RUN_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(output_and_exit_status_come_back),
        RUN_TEST(the_signal_that_ended_it_comes_back),
        RUN_TEST(arguments_arrive_untouched),
        RUN_TEST(a_program_that_is_missing_is_not_found),
        RUN_TEST(a_program_in_the_working_directory_is_not_found_through_path),
        RUN_TEST(without_input_its_standard_input_is_empty),
        RUN_TEST(input_larger_than_a_pipe_goes_through),
        RUN_TEST(a_program_that_does_not_read_its_input_does_no_harm),
        RUN_TEST(at_the_time_limit_descendants_are_killed_too),
        RUN_TEST(what_a_program_leaves_running_is_killed_and_not_waited_for),
        RUN_TEST(a_descendant_in_another_group_that_keeps_the_pipe_is_not_waited_for),
        RUN_TEST(output_beyond_the_maximum_ends_it),
        RUN_TEST(all_that_was_written_before_the_end_is_read),
        RUN_TEST(output_may_be_discarded),
        RUN_TEST(another_thread_can_end_it),
        RUN_TEST(no_descriptor_but_the_three_is_inherited),
        RUN_TEST(signals_are_as_in_a_fresh_process),
        RUN_TEST(environment_and_directory_are_those_given),
        RUN_TEST(limits_hold_in_the_program),
        RUN_TEST(limits_on_data_and_files_hold_and_can_be_told),
        RUN_TEST(when_we_are_killed_what_a_program_started_ends_too),
        RUN_TEST(many_threads_may_run_programs),
        RUN_TEST(no_descriptor_is_left_open_here),
        RUN_TEST(a_program_that_stays_answers_one_question_after_another),
        RUN_TEST(questions_and_answers_may_be_larger_than_a_pipe),
        RUN_TEST(a_program_that_ends_before_its_answer_does_is_told),
        RUN_TEST(answers_have_the_limits_that_other_output_has),
        RUN_TEST(a_program_that_cannot_stay_is_not_opened),
    };
    int failed = cmocka_run_group_tests_name("without a guard", tests, NULL, NULL);
    with_guard = true;
    return failed + cmocka_run_group_tests_name("with a guard", tests, NULL, NULL);
}
