#include "api/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/close_range.h>

#include "base/banned.h"

void vcm_child_begin(int fd, pid_t parent)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct sigaction standard = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
    struct rlimit no_core = {0, 0};

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        sigaction(fatal[i], &standard, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDERR_FILENO) < 0) /* LMDB prints its assertions */
        _exit(1);
    if (fd != VCM_CHILD_FD && dup2(fd, VCM_CHILD_FD) < 0)
        _exit(1);
    close_range(VCM_CHILD_FD + 1, ~0U, 0);
}

int vcm_child_wait(int *status, pid_t pid)
{
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}
