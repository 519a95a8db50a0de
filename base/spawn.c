#include "base/spawn.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/close_range.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/spawn_guard.h"

#include "base/banned.h"

#define CHUNK_BYTES     ((size_t)65536)
#define POLL_MS         50 /* how long a cancellation may go unnoticed */
#define POLL_BLIND_MS   5  /* the same where the kernel cannot wake us when the child ends */
#define DESCRIPTORS_MAX 65536

enum stage { STAGE_PREPARE, STAGE_DIRECTORY, STAGE_EXEC };

/* What the child reports when it could not start the program. */
struct failure {
    enum stage stage;
    int code;
};

/* Everything that the child needs, prepared before the fork. */
struct plan {
    const struct vcm_spawn_options *options;
    char path[VCM_LIMIT_PATH_BYTES];
    int streams[3]; /* the child's ends */
    int report;
    int alive; /* read end of a pipe that closes with this process, for the guard; -1 for none */
    pid_t parent;
};

struct child {
    pid_t pid;
    int pidfd; /* -1 where there is none */
    int in;    /* our ends; -1 when closed */
    int out;
    int errors;
    int alive; /* write end of the guard's pipe */
    size_t written;
    bool stays; /* its input stays open after everything is written */
};

struct vcm_spawn_program {
    struct child child;
    unsigned timeout_ms;
    char name[64];
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Relative entries of PATH are skipped: the working directory may be an untrusted repository. */
static int find_program(char *path, size_t size, const char *name, struct vcm_error *err)
{
    const char *list = getenv("PATH");
    struct stat file;

    if (strchr(name, '/')) {
        if ((size_t)snprintf(path, size, "%s", name) < size)
            return VCM_OK;
        return vcm_error_set(err, VCM_INVALID_ARGUMENT, "the path '%s' is too long", name);
    }
    if (!list)
        list = "/usr/bin:/bin";
    while (*list && *name) {
        size_t len = strcspn(list, ":");
        int used = len < size ? snprintf(path, size, "%.*s/%s", (int)len, list, name) : -1;
        if (*list == '/' && used > 0 && (size_t)used < size && stat(path, &file) == 0 &&
            S_ISREG(file.st_mode) && access(path, X_OK) == 0)
            return VCM_OK;
        list += len + (list[len] == ':');
    }
    return vcm_error_set(err, VCM_NOT_FOUND, "no program '%s' in PATH; install it", name);
}

/* From here to run_child() only async-signal-safe calls: another thread may hold any lock. */

static void reset_signals(void)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        sigaction(number, &standard, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void hide_descriptors(void)
{
    struct rlimit limit;

    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > DESCRIPTORS_MAX)
        limit.rlim_cur = DESCRIPTORS_MAX;
    for (int fd = 3; fd < (int)limit.rlim_cur; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* The pipes' own descriptors may be 0, 1 or 2, when this process was started without these. */
static bool place_streams(struct plan *plan)
{
    plan->report = fcntl(plan->report, F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++)
        plan->streams[i] = fcntl(plan->streams[i], F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++)
        if (plan->streams[i] < 0 || dup2(plan->streams[i], i) < 0)
            return false;
    return plan->report >= 0;
}

/* A lower limit is kept: it may not be raised, and need not be. */
static bool set_limit(__rlimit_resource_t what, rlim_t value)
{
    struct rlimit limit;

    if (getrlimit(what, &limit) != 0)
        return false;
    if (limit.rlim_max > value)
        limit.rlim_max = value;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    return setrlimit(what, &limit) == 0;
}

static bool set_limits(const struct vcm_spawn_options *options)
{
    /* A program that is told that its file is too large can say so; the signal would just end it.
     */
    if (options->file_max > 0)
        signal(SIGXFSZ, SIG_IGN);
    return set_limit(RLIMIT_CORE, 0) &&
           (options->cpu_seconds_max == 0 || set_limit(RLIMIT_CPU, options->cpu_seconds_max)) &&
           (options->memory_max == 0 || set_limit(RLIMIT_AS, options->memory_max)) &&
           (options->data_max == 0 || set_limit(RLIMIT_DATA, options->data_max)) &&
           (options->file_max == 0 || set_limit(RLIMIT_FSIZE, options->file_max));
}

static enum stage become_program(struct plan *plan)
{
    const struct vcm_spawn_options *options = plan->options;

    setpgid(0, 0);
    reset_signals();
    /* If this process is killed, it cannot kill the child, so the kernel or the guard does. */
    if (plan->alive >= 0 && !vcm_spawn_guard_split(plan->alive))
        return STAGE_PREPARE;
    if (plan->alive < 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != plan->parent))
        return STAGE_PREPARE;
    if (!place_streams(plan))
        return STAGE_PREPARE;
    hide_descriptors();
    if (options->directory && chdir(options->directory) != 0)
        return STAGE_DIRECTORY;
    if (!set_limits(options))
        return STAGE_PREPARE;
    execve(plan->path, (char *const *)options->argv,
           options->environment ? (char *const *)options->environment : environ);
    return STAGE_EXEC;
}

static _Noreturn void run_child(struct plan *plan)
{
    struct failure failure;

    failure.stage = become_program(plan);
    failure.code = errno;
    ssize_t told = write(plan->report, &failure, sizeof failure);
    _exit(told == (ssize_t)sizeof failure ? 127 : 126);
}

/* A pipe whose end `ours` does not block. */
static bool open_pipe(int *ours, int *theirs, bool we_write)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *ours = ends[we_write ? 1 : 0];
    *theirs = ends[we_write ? 0 : 1];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_stream(int *ours, int *theirs, bool wanted, bool we_write)
{
    if (wanted)
        return open_pipe(ours, theirs, we_write);
    *theirs = open("/dev/null", O_RDWR | O_CLOEXEC);
    return *theirs >= 0;
}

/* Waits until the child has executed the program or reported why it could not. */
static int await_exec(int report, const struct plan *plan, struct vcm_error *err)
{
    struct failure failure;
    ssize_t got;

    do
        got = read(report, &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof failure)
        return VCM_OK;
    if (failure.stage == STAGE_DIRECTORY)
        return vcm_error_sys(err, VCM_IO_ERROR, failure.code, "cannot enter the directory '%s'",
                             plan->options->directory);
    if (failure.stage == STAGE_EXEC && (failure.code == ENOENT || failure.code == ENOTDIR))
        return vcm_error_sys(err, VCM_NOT_FOUND, failure.code, "no program '%s'", plan->path);
    return vcm_error_sys(err, VCM_IO_ERROR, failure.code, "cannot run '%s'", plan->path);
}

/* Forks with all signals blocked, so that none of our handlers runs in the child. */
static pid_t fork_child(struct plan *plan)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        run_child(plan);
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return pid;
}

static int start(struct child *child, struct plan *plan, struct vcm_error *err)
{
    int report;

    if (!open_pipe(&report, &plan->report, false))
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open a pipe");
    fcntl(report, F_SETFL, 0);
    child->pid = fork_child(plan);
    int code = errno;
    close_fd(&plan->report);
    close_fd(&plan->alive);
    for (int i = 0; i < 3; i++)
        close_fd(&plan->streams[i]);
    if (child->pid < 0) {
        close_fd(&report);
        return vcm_error_sys(err, VCM_IO_ERROR, code, "cannot start '%s'", plan->path);
    }
    setpgid(child->pid, child->pid);
    int rc = await_exec(report, plan, err);
    close_fd(&report);
    child->pidfd = pidfd_open(child->pid, 0);
    return rc;
}

/* Checks for the end of the child without reaping it, so that the id of its process group stays
 * reserved. Where another part of the program reaps all children, the call fails because there is
 * none. */
static bool has_exited(const struct child *child)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return errno != EINTR;
    return info.si_pid == child->pid;
}

/* Reads what is there, at most `most` bytes; closes the stream at its end. */
static void read_stream(int *fd, struct vcm_buf *buf, size_t most)
{
    char chunk[CHUNK_BYTES];

    assert(buf);
    while (*fd >= 0 && most > 0 && buf->fault == VCM_BUF_FINE) {
        ssize_t got = read(*fd, chunk, most < sizeof chunk ? most : sizeof chunk);
        if (got > 0) {
            vcm_buf_append(buf, chunk, (size_t)got);
            most -= (size_t)got;
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_fd(fd);
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

/* A program may close its input without reading it: then the rest is dropped. SIGPIPE is
 * blocked. */
static void write_input(struct child *child, struct vcm_slice input)
{
    ssize_t put = write(child->in, input.data + child->written, input.len - child->written);
    if (put > 0)
        child->written += (size_t)put;
    if ((child->written == input.len && !child->stays) ||
        (put < 0 && errno != EAGAIN && errno != EINTR))
        close_fd(&child->in);
}

static int too_much(const struct vcm_buf *buf, const char *program, const char *stream,
                    struct vcm_error *err)
{
    char what[128];

    if (!buf || buf->fault == VCM_BUF_FINE)
        return VCM_OK;
    snprintf(what, sizeof what, "what '%.64s' wrote to its %s", program, stream);
    return vcm_buf_check(buf, what, err);
}

static int check_output(const struct vcm_buf *out, const struct vcm_buf *errors,
                        const char *program, struct vcm_error *err)
{
    int rc = too_much(out, program, "standard output", err);
    return rc == VCM_OK ? too_much(errors, program, "standard error", err) : rc;
}

static void poll_once(struct child *child, struct vcm_buf *out, struct vcm_buf *errors,
                      struct vcm_slice input, uint64_t left_ms)
{
    struct pollfd fds[] = {
        {child->written < input.len ? child->in : -1, POLLOUT, 0},
        {child->out, POLLIN, 0},
        {child->errors, POLLIN, 0},
        {child->pidfd, POLLIN, 0},
    };
    uint64_t pause = child->pidfd >= 0 ? POLL_MS : POLL_BLIND_MS;

    if (poll(fds, sizeof fds / sizeof fds[0], (int)(left_ms < pause ? left_ms : pause)) <= 0)
        return;
    if (fds[0].revents)
        write_input(child, input);
    if (fds[1].revents)
        read_stream(&child->out, out, CHUNK_BYTES);
    if (fds[2].revents)
        read_stream(&child->errors, errors, CHUNK_BYTES);
}

static int attend(struct child *child, struct vcm_buf *out, struct vcm_buf *errors,
                  const struct vcm_spawn_options *options, struct vcm_error *err)
{
    unsigned timeout = options->timeout_ms ? options->timeout_ms : VCM_LIMIT_SPAWN_TIMEOUT_MS;
    uint64_t deadline = vcm_clock_ms() + timeout;
    int rc = VCM_OK;

    while (rc == VCM_OK && !has_exited(child)) {
        uint64_t now = vcm_clock_ms();
        if (now >= deadline)
            return vcm_error_set(err, VCM_TIMEOUT, "'%s' did not end within %u ms",
                                 options->argv[0], timeout);
        rc = vcm_cancel_check(options->cancel, err);
        if (rc == VCM_OK) {
            poll_once(child, out, errors, options->input, deadline - now);
            rc = check_output(out, errors, options->argv[0], err);
        }
    }
    return rc;
}

/* Reads what is in the pipe when the program ends, and no more: a descendant may still write. */
static void read_rest(int *fd, struct vcm_buf *buf)
{
    if (*fd < 0)
        return;
    int size = fcntl(*fd, F_GETPIPE_SZ);
    read_stream(fd, buf, size > 0 ? (size_t)size : CHUNK_BYTES);
}

/* Kills the whole group, also after a normal exit, and then reaps the child, whose zombie kept the
 * group's id reserved. */
static int reap(struct vcm_spawn_result *result, struct child *child, struct vcm_error *err)
{
    int status;

    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &status, 0) < 0)
        if (errno != EINTR)
            return vcm_error_sys(err, VCM_INTERNAL, errno,
                                 "the exit status of a program was lost; is SIGCHLD ignored, or "
                                 "does another thread wait for all children?");
    if (WIFEXITED(status))
        result->exit_status = WEXITSTATUS(status);
    else
        result->signal = WTERMSIG(status);
    return VCM_OK;
}

/* Blocks SIGPIPE in this thread, which writes to the program. */
static void hold_sigpipe(sigset_t *before)
{
    sigset_t pipe_only;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, before);
}

/* Consumes a pending SIGPIPE of our own writes, unless SIGPIPE was blocked before; then it does
 * nothing. */
static void release_sigpipe(const sigset_t *before)
{
    const struct timespec at_once = {0, 0};
    sigset_t pipe_only;

    if (sigismember(before, SIGPIPE))
        return;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    while (sigtimedwait(&pipe_only, NULL, &at_once) < 0 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* With pipes for the requested streams. After a failure nothing runs. */
static int launch(struct child *child, struct plan *plan, bool has_out, bool has_errors,
                  struct vcm_error *err)
{
    bool has_input = child->stays || plan->options->input.len > 0;
    struct vcm_spawn_result none;

    if (!open_stream(&child->in, &plan->streams[0], has_input, true) ||
        !open_stream(&child->out, &plan->streams[1], has_out, false) ||
        !open_stream(&child->errors, &plan->streams[2], has_errors, false) ||
        (plan->options->starts_others && !open_pipe(&child->alive, &plan->alive, true)))
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot open a pipe");
    int rc = start(child, plan, err);
    if (rc != VCM_OK && child->pid > 0)
        reap(&none, child, err);
    return rc;
}

static void close_all(struct child *child, struct plan *plan)
{
    close_fd(&child->in);
    close_fd(&child->out);
    close_fd(&child->errors);
    close_fd(&child->pidfd);
    close_fd(&child->alive);
    if (plan)
        close_fd(&plan->alive);
    for (int i = 0; plan && i < 3; i++)
        close_fd(&plan->streams[i]);
}

static int run(struct vcm_spawn_result *result, struct child *child, struct plan *plan,
               struct vcm_buf *out, struct vcm_buf *errors, struct vcm_error *err)
{
    const struct vcm_spawn_options *options = plan->options;

    int rc = launch(child, plan, out != NULL, errors != NULL, err);
    if (rc != VCM_OK)
        return rc;
    rc = attend(child, out, errors, options, err);
    int reaped = reap(result, child, err);
    if (rc == VCM_OK)
        rc = reaped;
    if (rc == VCM_OK) {
        read_rest(&child->out, out);
        read_rest(&child->errors, errors);
        rc = check_output(out, errors, options->argv[0], err);
    }
    return rc;
}

int vcm_spawn_run(struct vcm_spawn_result *result, struct vcm_buf *out, struct vcm_buf *errors,
                  const struct vcm_spawn_options *options, struct vcm_error *err)
{
    struct child child = {.pid = -1, .pidfd = -1, .in = -1, .out = -1, .errors = -1, .alive = -1};
    struct plan plan = {
        .options = options, .streams = {-1, -1, -1}, .report = -1, .alive = -1, .parent = getpid()};
    sigset_t before;

    assert(options->argv && options->argv[0]);
    result->exit_status = -1;
    result->signal = 0;
    int rc = find_program(plan.path, sizeof plan.path, options->argv[0], err);
    if (rc != VCM_OK)
        return rc;
    hold_sigpipe(&before);
    rc = run(result, &child, &plan, out, errors, err);
    release_sigpipe(&before);
    close_all(&child, &plan);
    return rc;
}

int vcm_spawn_open(struct vcm_spawn_program **out, const struct vcm_spawn_options *options,
                   struct vcm_error *err)
{
    struct plan plan = {
        .options = options, .streams = {-1, -1, -1}, .report = -1, .alive = -1, .parent = getpid()};

    assert(options->argv && options->argv[0] && options->input.len == 0);
    *out = NULL;
    int rc = find_program(plan.path, sizeof plan.path, options->argv[0], err);
    if (rc != VCM_OK)
        return rc;
    struct vcm_spawn_program *program = calloc(1, sizeof *program);
    if (!program)
        return vcm_error_memory(err);
    program->child = (struct child){
        .pid = -1, .pidfd = -1, .in = -1, .out = -1, .errors = -1, .alive = -1, .stays = true};
    program->timeout_ms = options->timeout_ms ? options->timeout_ms : VCM_LIMIT_SPAWN_TIMEOUT_MS;
    snprintf(program->name, sizeof program->name, "%s", options->argv[0]);
    rc = launch(&program->child, &plan, true, false, err);
    if (rc == VCM_OK) {
        *out = program;
    } else {
        close_all(&program->child, &plan);
        free(program);
    }
    return rc;
}

/* One step of the wait for an answer. */
static int hear_more(struct vcm_buf *answer, struct vcm_spawn_program *program,
                     struct vcm_slice question, uint64_t deadline, struct vcm_error *err)
{
    struct child *child = &program->child;
    uint64_t now = vcm_clock_ms();

    if (child->out < 0 || (child->in < 0 && child->written < question.len))
        return vcm_error_set(err, VCM_IO_ERROR, "'%s' has closed its input or output",
                             program->name);
    if (now >= deadline)
        return vcm_error_set(err, VCM_TIMEOUT, "'%s' did not answer within %u ms", program->name,
                             program->timeout_ms);
    poll_once(child, answer, NULL, question, deadline - now);
    if (has_exited(child)) {
        read_rest(&child->out, answer);
        close_fd(&child->out);
        close_fd(&child->in);
    }
    return check_output(answer, NULL, program->name, err);
}

int vcm_spawn_ask(struct vcm_buf *answer, struct vcm_spawn_program *program,
                  struct vcm_slice question, vcm_spawn_complete_fn is_complete,
                  struct vcm_error *err)
{
    struct child *child = &program->child;
    uint64_t deadline = vcm_clock_ms() + program->timeout_ms;
    sigset_t before;
    int rc = VCM_OK;

    child->written = 0;
    hold_sigpipe(&before);
    while (rc == VCM_OK && (child->written < question.len || !is_complete(vcm_buf_slice(answer))))
        rc = hear_more(answer, program, question, deadline, err);
    release_sigpipe(&before);
    return rc;
}

void vcm_spawn_close(struct vcm_spawn_program *program)
{
    struct vcm_spawn_result ignored;

    if (!program)
        return;
    reap(&ignored, &program->child, NULL);
    close_all(&program->child, NULL);
    free(program);
}
