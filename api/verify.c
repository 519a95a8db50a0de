/*
 * verify.c - checks a store in a child process, because reading a damaged store may crash the
 * reader.
 *
 * The child is a fork and not a separate program: it has the caller's source types, and the library
 * needs nothing installed beside it. The child closes all inherited descriptors, opens the home
 * itself, and writes its findings to a pipe, one per line. It ends with _exit(), so that no exit
 * handler of the caller runs twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/close_range.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/limits.h"
#include "vcm/check/check.h"

#include "base/banned.h"

#define PIPE_FD        3
#define TICK_MS        100
#define BEAT_MS        1000u  /* how often the child reports that it is alive */
#define SILENCE_MS     60000u /* without a message for this long the child is assumed to loop */
#define LINE_MAX_BYTES ((size_t)2048)

/* The first byte of a line. */
enum message {
    MESSAGE_READING = 'R', /* the table being read */
    MESSAGE_DAMAGE = 'D',  /* what, US, where */
    MESSAGE_FINDING = 'F', /* the same, for findings that are not damage of the store */
    MESSAGE_ERROR = 'E',   /* code, US, message */
    MESSAGE_END = 'Z',     /* number of pages checked */
};

#define SEPARATOR '\x1f'

struct child {
    int fd;
    uint64_t beat_at;
    const char *table;
    const struct vcm_cancel *cancel;
};

static int send_line(const struct child *child, enum message kind, const char *first,
                     const char *second)
{
    struct vcm_buf line = VCM_BUF_INIT(LINE_MAX_BYTES);

    vcm_buf_append_byte(&line, (char)kind);
    for (const char *c = first; *c && line.len < LINE_MAX_BYTES / 2; c++)
        vcm_buf_append_byte(&line, *c == '\n' || *c == SEPARATOR ? '?' : *c);
    vcm_buf_append_byte(&line, SEPARATOR);
    for (const char *c = second; *c && line.len < LINE_MAX_BYTES - 2; c++)
        vcm_buf_append_byte(&line, *c == '\n' || *c == SEPARATOR ? '?' : *c);
    vcm_buf_append_byte(&line, '\n');
    bool whole =
        line.fault == VCM_BUF_FINE && vcm_io_write_all(child->fd, vcm_buf_slice(&line)) == 0;
    vcm_buf_release(&line);
    return whole ? VCM_OK : VCM_INTERRUPTED;
}

static int send_finding(void *context, const struct vcm_check_finding *finding,
                        struct vcm_error *err)
{
    (void)err;
    return send_line(context, finding->is_damage ? MESSAGE_DAMAGE : MESSAGE_FINDING, finding->what,
                     finding->where);
}

static int send_beat(void *context, const char *table, struct vcm_error *err)
{
    struct child *child = context;
    uint64_t now = vcm_clock_ms();

    int rc = vcm_cancel_check(child->cancel, err);
    if (rc != VCM_OK || (child->table == table && now - child->beat_at < BEAT_MS))
        return rc;
    child->table = table;
    child->beat_at = now;
    return send_line(child, MESSAGE_READING, table, "");
}

static int check_home(uint64_t *pages, struct child *child, struct vcm *vcm, bool deep,
                      struct vcm_error *err)
{
    const struct vcm_check_options options = {
        .deep = deep, .found = send_finding, .alive = send_beat, .context = child};

    *pages = 0;
    int rc = send_line(child, MESSAGE_READING, "the header", "");
    if (rc == VCM_OK)
        rc = vcm_handle_open_for_reading(vcm, err);
    if (rc == VCM_OK && vcm->store)
        rc = vcm_check_store(pages, vcm->store, &options, err);
    if (rc == VCM_OK && vcm->store)
        rc = vcm_check_residency(vcm->store, &options, err);
    return rc;
}

/* Runs in the child. */
static _Noreturn void run_child(int fd, pid_t parent, const struct vcm *original, bool deep)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    struct sigaction standard = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
    struct rlimit no_core = {0, 0};
    struct vcm_error err = {0};
    struct vcm *vcm = NULL;
    struct child child = {.fd = PIPE_FD, .cancel = original->cancel};
    char number[32];
    uint64_t pages = 0;

    /* The child dies with its parent, and the parent's crash handlers must not run for a crash of
     * the child. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        sigaction(fatal[i], &standard, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDERR_FILENO) < 0) /* LMDB prints its assertions */
        _exit(1);
    if (fd != PIPE_FD && dup2(fd, PIPE_FD) < 0)
        _exit(1);
    close_range(PIPE_FD + 1, ~0U, 0);

    int rc = vcm_open(
        &vcm, &(struct vcm_open_options){.home = original->home, .cancel = child.cancel}, &err);
    if (rc == VCM_OK) {
        vcm->registry = original->registry;
        rc = check_home(&pages, &child, vcm, deep, &err);
    }
    if (rc == VCM_STORE_CORRUPT)
        rc = send_line(&child, MESSAGE_DAMAGE, err.message, "the store");
    else if (rc != VCM_OK)
        send_line(&child, MESSAGE_ERROR, vcm_error_code_name((enum vcm_code)rc), err.message);
    snprintf(number, sizeof number, "%llu", (unsigned long long)pages);
    if (rc == VCM_OK)
        send_line(&child, MESSAGE_END, number, "");
    _exit(0);
}

/* Runs in the parent: what the child has reported so far. */
struct listener {
    struct vcm_verify_result *result;
    struct vcm *vcm;
    vcm_verify_fn visit;
    void *context;
    struct vcm_buf text;
    char table[64];
    bool has_begun, has_ended;
    bool is_damaged;
    struct vcm_error reason; /* the first damage */
};

static int tell(struct listener *listener, bool is_damage, const char *what, const char *where,
                struct vcm_error *err)
{
    listener->result->ok = false;
    listener->result->findings++;
    if (is_damage && !listener->is_damaged) {
        listener->is_damaged = true;
        vcm_error_set(&listener->reason, VCM_STORE_CORRUPT, "%s: %s", where, what);
    }
    return listener->visit(listener->context, &(struct vcm_verify_finding){what, where}, err);
}

static int pass_error(const char *code, const char *message, struct vcm_error *err)
{
    for (int i = VCM_OK + 1; i <= VCM_INTERRUPTED; i++)
        if (strcmp(vcm_error_code_name((enum vcm_code)i), code) == 0)
            return vcm_error_set(err, (enum vcm_code)i, "%s", message);
    return vcm_error_set(err, VCM_INTERNAL, "%s", message);
}

static int hear_line(struct listener *listener, char *line, struct vcm_error *err)
{
    char *first = line + 1, *second = strchr(first, SEPARATOR);

    if (!second)
        return VCM_OK;
    *second++ = '\0';
    switch (line[0]) {
    case MESSAGE_READING:
        listener->has_begun = true;
        snprintf(listener->table, sizeof listener->table, "%s", first);
        return VCM_OK;
    case MESSAGE_DAMAGE:
    case MESSAGE_FINDING:
        return tell(listener, line[0] == MESSAGE_DAMAGE, first, second, err);
    case MESSAGE_ERROR:
        listener->has_ended = true;
        return pass_error(first, second, err);
    case MESSAGE_END:
        listener->has_ended = true;
        listener->result->pages_checked = strtoull(first, NULL, 10);
        return VCM_OK;
    default:
        return VCM_OK;
    }
}

static int hear_lines(struct listener *listener, struct vcm_error *err)
{
    struct vcm_buf *text = &listener->text;
    size_t at = 0;
    char *end;
    int rc = vcm_buf_check(text, "the messages of the checking process", err);

    while (rc == VCM_OK && at < text->len &&
           (end = memchr(text->data + at, '\n', text->len - at)) != NULL) {
        *end = '\0';
        rc = hear_line(listener, text->data + at, err);
        at = (size_t)(end - text->data) + 1;
    }
    if (at > 0) {
        memmove(text->data, text->data + at, text->len - at);
        vcm_buf_truncate(text, text->len - at);
    }
    return rc;
}

/* Reads until the child closes its end. VCM_TIMEOUT, with err unchanged, when the child stops
 * reporting. */
static int listen_to(struct listener *listener, int fd, struct vcm_error *err)
{
    uint64_t heard_at = vcm_clock_ms();

    for (;;) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        int rc = vcm_cancel_check(listener->vcm->cancel, err);
        if (rc != VCM_OK)
            return rc;
        int ready = poll(&one, 1, TICK_MS);
        if (ready <= 0 && vcm_clock_ms() - heard_at > SILENCE_MS)
            return VCM_TIMEOUT;
        if (ready <= 0)
            continue;
        char *room = vcm_buf_reserve(&listener->text, LINE_MAX_BYTES);
        if (!room)
            return vcm_error_memory(err);
        ssize_t got = read(fd, room, LINE_MAX_BYTES);
        if (got == 0)
            return VCM_OK;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot read from the checking process");
        heard_at = vcm_clock_ms();
        vcm_buf_advance(&listener->text, (size_t)got);
        rc = hear_lines(listener, err);
        if (rc != VCM_OK)
            return rc;
    }
}

/* Judges the exit status of a child that did not report its end. */
static int judge_end(struct listener *listener, int status, bool fell_silent, struct vcm_error *err)
{
    char what[128];

    if (fell_silent && !listener->has_begun)
        return vcm_error_set(err, VCM_INTERNAL, "the process that checks the store did not start");
    if (fell_silent)
        return tell(listener, true, "reading it does not end", listener->table, err);
    if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        snprintf(what, sizeof what, "reading it crashes the reader with signal %d (%s)", number,
                 strsignal(number));
        /* A signal that another process sent says nothing about the store. */
        return tell(listener,
                    number == SIGSEGV || number == SIGBUS || number == SIGABRT ||
                        number == SIGFPE || number == SIGILL,
                    what, listener->table, err);
    }
    if (!listener->has_ended)
        return vcm_error_set(err, VCM_INTERNAL,
                             "the process that checks the store ended with status %d",
                             WEXITSTATUS(status));
    return VCM_OK;
}

static int wait_for(int *status, pid_t pid)
{
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

static int supervise(struct listener *listener, bool deep, struct vcm_error *err)
{
    int ends[2], status = 0;
    pid_t self = getpid();

    if (pipe2(ends, O_CLOEXEC) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot create a pipe");
    pid_t pid = fork();
    if (pid == 0)
        run_child(ends[1], self, listener->vcm, deep);
    close(ends[1]);
    int rc = pid > 0 ? VCM_OK
                     : vcm_error_sys(err, VCM_IO_ERROR, errno,
                                     "cannot create a process to check the store");
    if (rc == VCM_OK) {
        rc = listen_to(listener, ends[0], err);
        bool fell_silent = rc == VCM_TIMEOUT && (!err || err->code == VCM_OK);
        if (rc != VCM_OK)
            kill(pid, SIGKILL);
        int failure = wait_for(&status, pid);
        if (failure != 0 && (rc == VCM_OK || fell_silent))
            rc = vcm_error_sys(err, VCM_IO_ERROR, failure, "cannot wait for the checking process");
        else if (rc == VCM_OK || fell_silent)
            rc = judge_end(listener, status, fell_silent, err);
    }
    close(ends[0]);
    return rc;
}

int vcm_verify(struct vcm_verify_result *result, struct vcm *vcm, bool deep, vcm_verify_fn visit,
               void *context, struct vcm_error *err)
{
    if (result)
        *result = (struct vcm_verify_result){.ok = true};
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(result), VCM_ARGUMENT(visit));
    if (rc != VCM_OK)
        return rc;
    struct listener listener = {.result = result, .vcm = vcm, .visit = visit, .context = context};

    vcm_buf_init(&listener.text, 1 * VCM_MIB);
    snprintf(listener.table, sizeof listener.table, "the store");
    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = supervise(&listener, deep, err);
    if (listener.is_damaged)
        vcm_damage_note(vcm, VCM_STORE_CORRUPT, &listener.reason);
    vcm_buf_release(&listener.text);
    return rc;
}
