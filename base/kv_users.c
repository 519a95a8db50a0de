#include "base/kv_users.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/process.h"

#include "base/banned.h"

#define USERS_NAME "users"
#define USERS_MODE 0600
#define TRIES_MAX  256u /* places that are tried before a process stays without one */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct vcm_kv_users *registered; /* for exit() without closing */

static int open_users(const char *directory, int flags)
{
    char path[VCM_LIMIT_PATH_BYTES];
    struct stat status;
    int len = snprintf(path, sizeof path, "%s/" USERS_NAME, directory);

    if (len < 0 || (size_t)len >= sizeof path)
        return -1;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, USERS_MODE);
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool lock_place(int fd, unsigned place, short type)
{
    struct flock range = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

static bool is_locked(int fd, unsigned place)
{
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};

    return fcntl(fd, F_OFD_GETLK, &range) != 0 || range.l_type != F_UNLCK;
}

static bool is_set(int fd, unsigned place)
{
    char byte = 0;

    return pread(fd, &byte, 1, (off_t)place) == 1 && byte != 0;
}

static bool put(int fd, unsigned place, char byte)
{
    return pwrite(fd, &byte, 1, (off_t)place) == 1;
}

/* A set byte that can be locked is a trace, which stays. */
static bool take_place(int fd, unsigned place)
{
    if (!lock_place(fd, place, F_WRLCK))
        return false;
    if (!is_set(fd, place) && put(fd, place, 1))
        return true;
    lock_place(fd, place, F_UNLCK);
    return false;
}

void vcm_kv_users_enter(struct vcm_kv_users *user, const char *directory)
{
    unsigned first = (unsigned)getpid() % VCM_KV_USERS_PLACES, tries = 0;
    int fd = open_users(directory, O_RDWR | O_CREAT);

    *user = (struct vcm_kv_users){.fd = -1, .forks = vcm_process_forks()};
    if (fd < 0)
        return;
    while (tries < TRIES_MAX && !take_place(fd, (first + tries) % VCM_KV_USERS_PLACES))
        tries++;
    if (tries == TRIES_MAX) {
        close(fd);
        return;
    }
    user->fd = fd;
    user->place = (first + tries) % VCM_KV_USERS_PLACES;
    pthread_mutex_lock(&mutex);
    user->next = registered;
    registered = user;
    pthread_mutex_unlock(&mutex);
}

void vcm_kv_users_leave(struct vcm_kv_users *user)
{
    if (user->fd < 0)
        return;
    pthread_mutex_lock(&mutex);
    struct vcm_kv_users **link = &registered;
    while (*link && *link != user)
        link = &(*link)->next;
    if (*link)
        *link = user->next;
    pthread_mutex_unlock(&mutex);
    put(user->fd, user->place, 0);
    close(user->fd);
    user->fd = -1;
}

/* Programs that exit with open handles have not died. The mutex may be held by a thread that no
 * longer runs, so it is only tried. */
__attribute__((destructor)) static void leave_all(void)
{
    if (pthread_mutex_trylock(&mutex) != 0)
        return;
    for (const struct vcm_kv_users *user = registered; user; user = user->next)
        if (user->forks == vcm_process_forks())
            put(user->fd, user->place, 0);
    pthread_mutex_unlock(&mutex);
}

void vcm_kv_users_look(struct vcm_kv_users_dead *out, const char *directory)
{
    char bytes[VCM_KV_USERS_PLACES];
    int fd = open_users(directory, O_RDONLY);

    memset(out, 0, sizeof *out);
    if (fd < 0)
        return;
    ssize_t got = pread(fd, bytes, sizeof bytes, 0);
    for (unsigned i = 0; got > 0 && i < (size_t)got; i++)
        if (bytes[i] != 0 && !is_locked(fd, i) && is_set(fd, i)) {
            out->places[i / 8] = (uint8_t)(out->places[i / 8] | 1u << i % 8);
            out->count++;
        }
    close(fd);
}

void vcm_kv_users_forget(const struct vcm_kv_users_dead *dead, const char *directory)
{
    int fd = dead->count > 0 ? open_users(directory, O_RDWR) : -1;

    if (fd < 0)
        return;
    for (unsigned i = 0; i < VCM_KV_USERS_PLACES; i++)
        if ((dead->places[i / 8] >> i % 8 & 1) && lock_place(fd, i, F_WRLCK)) {
            put(fd, i, 0);
            lock_place(fd, i, F_UNLCK);
        }
    close(fd);
}
