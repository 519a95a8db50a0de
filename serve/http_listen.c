#include "serve/http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"

#include "base/banned.h"

#define BACKLOG        128
#define INHERITED_FD   3
#define INHERITED_MAX  16u
#define HOST_BYTES_MAX ((size_t)256)

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family != AF_INET6)
        return false;
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

/* Splits "host:port" and "[::1]:port". */
static int split(char host[HOST_BYTES_MAX], const char **port, const char *address,
                 struct vcm_error *err)
{
    const char *colon = strrchr(address, ':');
    const char *begin = address[0] == '[' ? address + 1 : address;
    const char *end = address[0] == '[' ? strchr(address, ']') : colon;
    uint64_t number = 0;

    bool fits = colon && end && end > begin && (size_t)(end - begin) < HOST_BYTES_MAX &&
                (address[0] != '[' || end + 1 == colon) &&
                vcm_text_parse_uint(&number, colon + 1) && number <= UINT16_MAX;
    if (!fits)
        return vcm_error_set(
            err, VCM_INVALID_ARGUMENT,
            "--listen takes an address such as 127.0.0.1:7411 or [::1]:0, not '%s'", address);
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    *port = colon + 1;
    return VCM_OK;
}

static int bind_to(int *fd, const struct addrinfo *to, const char *address, struct vcm_error *err)
{
    int on = 1;

    *fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd >= 0)
        setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (*fd >= 0 && bind(*fd, to->ai_addr, to->ai_addrlen) == 0 && listen(*fd, BACKLOG) == 0)
        return VCM_OK;
    int failure = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    if (failure == EADDRINUSE)
        return vcm_error_set(err, VCM_STORE_BUSY,
                             "%s is in use: another program listens there; choose another port, or "
                             "0 for a free one",
                             address);
    return vcm_error_sys(err, VCM_IO_ERROR, failure, "cannot listen at %s", address);
}

static unsigned port_of(int fd)
{
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof bound;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0)
        return 0;
    memcpy(&v4, &bound, sizeof v4);
    memcpy(&v6, &bound, sizeof v6);
    return bound.ss_family == AF_INET    ? ntohs(v4.sin_port)
           : bound.ss_family == AF_INET6 ? ntohs(v6.sin6_port)
                                         : 0;
}

int vcm_http_listen_tcp(struct vcm_http_listener *out, const char *address, bool allow_remote,
                        struct vcm_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    char host[HOST_BYTES_MAX];
    const char *port;

    int rc = split(host, &port, address, err);
    if (rc == VCM_OK && getaddrinfo(host, port, &hints, &found) != 0)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT, "--listen: there is no address '%s'", host);
    if (rc == VCM_OK && !is_loopback(found->ai_addr) && !allow_remote)
        rc = vcm_error_set(err, VCM_INVALID_ARGUMENT,
                           "%s can be reached from other machines; --allow-remote says that it is "
                           "meant so",
                           address);
    if (rc == VCM_OK)
        rc = bind_to(&out->fd, found, address, err);
    if (rc == VCM_OK)
        out->port = port_of(out->fd);
    if (found)
        freeaddrinfo(found);
    return rc;
}

/* Whether somebody answers at the socket. */
static bool is_served(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool served = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;

    if (fd >= 0)
        close(fd);
    return served;
}

int vcm_http_listen_unix(struct vcm_http_listener *out, const char *path, struct vcm_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat info;

    if (strlen(path) >= sizeof address.sun_path)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "--unix: '%s' is too long for a socket; it takes %zu bytes", path,
                             sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path));
    if (lstat(path, &info) == 0) {
        if (!S_ISSOCK(info.st_mode) || info.st_uid != getuid())
            return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                                 "--unix: '%s' is there, and no socket "
                                 "of yours",
                                 path);
        if (is_served(&address))
            return vcm_error_set(err, VCM_STORE_BUSY, "%s is in use: another program listens there",
                                 path);
        unlink(path);
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask = umask(0177); /* from the first moment on it is the owner's alone */
    bool is_bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    int failure = errno;
    umask(mask);
    if (is_bound && listen(fd, BACKLOG) == 0) {
        *out = (struct vcm_http_listener){.fd = fd, .is_local = true, .path = strdup(path)};
        return VCM_OK;
    }
    if (fd >= 0)
        close(fd);
    return vcm_error_sys(err, VCM_IO_ERROR, failure, "cannot listen at '%s'", path);
}

unsigned vcm_http_listen_inherited_count(void)
{
    const char *process = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    uint64_t pid = 0, fds = 0;

    if (!process || !count || !vcm_text_parse_uint(&pid, process) || pid != (uint64_t)getpid() ||
        !vcm_text_parse_uint(&fds, count) || fds > INHERITED_MAX)
        return 0;
    return (unsigned)fds;
}

int vcm_http_listen_inherited(struct vcm_http_listener *out, unsigned index, struct vcm_error *err)
{
    int fd = INHERITED_FD + (int)index, listens = 0;
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof listens, bound_len = sizeof bound;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) != 0 || !listens ||
        getsockname(fd, (struct sockaddr *)&bound, &bound_len) != 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "LISTEN_FDS: descriptor %d is no socket that listens", fd);
    *out = (struct vcm_http_listener){
        .fd = fd, .is_local = bound.ss_family == AF_UNIX, .port = port_of(fd)};
    return VCM_OK;
}

void vcm_http_listen_close(struct vcm_http_listener *listener)
{
    if (listener->fd >= 0)
        close(listener->fd);
    if (listener->path)
        unlink(listener->path);
    free(listener->path);
}

void vcm_http_listen_prepare(int fd, bool is_local, uid_t *uid)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t len = sizeof peer;
    int on = 1;

    if (is_local)
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
    else
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *uid = peer.uid;
}
