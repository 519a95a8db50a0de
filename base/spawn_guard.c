#include "base/spawn_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/banned.h"

#define POLL_BLIND_MS   5 /* where the kernel cannot wake us when the program ends */
#define DESCRIPTORS_MAX 65536

/* What the watched process has open, its locks among it, must not stay open here. */
static void close_from(int first)
{
    struct rlimit limit;

    if (close_range((unsigned)first, ~0U, 0) == 0)
        return;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > DESCRIPTORS_MAX)
        limit.rlim_cur = DESCRIPTORS_MAX;
    for (int fd = first; fd < (int)limit.rlim_cur; fd++)
        close(fd);
}

static _Noreturn void end_as(int status)
{
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    kill(getpid(), WTERMSIG(status));
    _exit(128 + WTERMSIG(status));
}

static _Noreturn void watch(pid_t program, int alive)
{
    int status = 0;

    if (dup2(alive, 0) != 0)
        kill(0, SIGKILL);
    close_from(1);
    int ended = pidfd_open(program, 0);
    for (;;) {
        struct pollfd fds[] = {{0, POLLIN, 0}, {ended, POLLIN, 0}};
        if (poll(fds, 2, ended >= 0 ? -1 : POLL_BLIND_MS) > 0 && fds[0].revents)
            kill(0, SIGKILL); /* the whole group, this process too */
        if (waitpid(program, &status, WNOHANG) == program)
            end_as(status);
    }
}

bool vcm_spawn_guard_split(int alive)
{
    struct rlimit no_core = {0, 0};
    pid_t guard = getpid();

    setrlimit(RLIMIT_CORE, &no_core);
    pid_t program = _Fork();
    if (program > 0)
        watch(program, alive);
    return program == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == guard;
}
