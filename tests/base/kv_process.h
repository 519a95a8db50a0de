/*
 * kv_process.h - other processes on the store of a test: the test program itself, started again
 * with the name of a role and the store's directory.
 */
#ifndef VCM_TESTS_BASE_KV_PROCESS_H
#define VCM_TESTS_BASE_KV_PROCESS_H

#include "kv_fixture.h"

#define SKIPPED 77
#define NOBODY  65534

static const char *program;

struct process {
    pid_t pid;
    int to;
    int from;
};

static inline void run_contained(const char *role, const char *directory)
{
    if (geteuid() == 0)
        execlp("unshare", "unshare", "--pid", "--fork", "--kill-child", program, role, directory,
               (char *)NULL);
    else
        execlp("unshare", "unshare", "--pid", "--fork", "--kill-child", "--map-root-user", program,
               role, directory, (char *)NULL);
}

/* `contained`: as the process 1 of a container. The process that is returned has it as its child,
 * and takes it along when it is killed. */
static inline struct process start_as(const char *role, const struct fixture *fixture,
                                      bool contained)
{
    struct process process;
    int in[2], out[2];

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    process.pid = fork();
    assert_true(process.pid >= 0);
    if (process.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        if (contained)
            run_contained(role, fixture->directory);
        else
            execl(program, program, role, fixture->directory, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    process.to = in[1];
    process.from = out[0];
    return process;
}

static inline struct process start(const char *role, const struct fixture *fixture)
{
    return start_as(role, fixture, false);
}

static inline void wait_ready(const struct process *process)
{
    char byte;
    assert_int_equal(read(process->from, &byte, 1), 1);
}

/* Its exit status, or minus the signal that ended it. */
static inline int finish(struct process *process)
{
    int status;
    close(process->to);
    assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
    close(process->from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline void say_ready(void)
{
    if (write(1, "!", 1) != 1)
        _exit(126);
}

static inline void wait_for_end_of_input(void)
{
    char byte;
    while (read(0, &byte, 1) > 0)
        continue;
}

static inline void run_role(struct fixture *fixture, const char *role)
{
    struct process other = start(role, fixture);
    int status = finish(&other);
    if (status == SKIPPED) {
        print_message("%s: not possible here\n", role);
        skip();
    }
    assert_int_equal(status, 0);
}

#endif
