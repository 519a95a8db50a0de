#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

static atomic_uint forks;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned vcm_process_forks(void)
{
    pthread_once(&forks_once, watch_forks);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

/* 22 bits hold any Linux process id. Of the other numbers the low bits are kept, which differ
 * most. */
#define PID_BITS   22
#define START_BITS 22
#define SPACE_BITS 20

static uint64_t low_bits(uint64_t number, unsigned bits)
{
    return number & ((UINT64_C(1) << bits) - 1);
}

static uint64_t own_space(void)
{
    struct stat status;

    return stat("/proc/self/ns/pid", &status) == 0 ? low_bits(status.st_ino, SPACE_BITS) : 0;
}

/* What /proc says of a process. */
struct status {
    char state;
    long threads;
    uint64_t start; /* in clock ticks since the machine started */
};

/* False when /proc has no entry. The name, in parentheses, may contain anything. */
static bool read_status(struct status *out, long pid)
{
    char path[64], text[1024];

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    char *field = strrchr(text, ')');
    if (!field || field[1] != ' ' || field[2] == '\0')
        return false;
    out->state = field[2];
    field += 2;
    for (unsigned number = 3; number < 20 && field; number++)
        field = strchr(field + 1, ' ');
    if (!field)
        return false;
    out->threads = strtol(field, &field, 10);
    strtol(field, &field, 10);
    out->start = strtoull(field, NULL, 10);
    return true;
}

static uint64_t make_number(uint64_t pid, uint64_t start, uint64_t space)
{
    return space << (PID_BITS + START_BITS) | low_bits(start, START_BITS) << PID_BITS |
           low_bits(pid, PID_BITS);
}

uint64_t vcm_process_self(void)
{
    struct status status = {0};
    long pid = (long)getpid();

    read_status(&status, pid);
    return make_number((uint64_t)pid, status.start, own_space());
}

bool vcm_process_is_dead(uint64_t process)
{
    struct status status;
    long pid = (long)low_bits(process, PID_BITS);

    if (pid == 0)
        return true;
    if (process >> (PID_BITS + START_BITS) != own_space())
        return false;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        return true;
    if (!read_status(&status, pid))
        return false; /* a process of another user, hidden by /proc */
    bool ended = (status.state == 'Z' || status.state == 'X') && status.threads <= 1;
    return ended || low_bits(process >> PID_BITS, START_BITS) != low_bits(status.start, START_BITS);
}
