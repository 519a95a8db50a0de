/*
 * verify.c - checks the store and the symbols in a child process, because reading a damaged LMDB
 * file may crash the reader; then the knowledge base, in this process.
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
#include <sys/wait.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/child.h"
#include "api/damage.h"
#include "api/handle.h"
#include "api/roster.h"
#include "api/symbols_place.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/kv_users.h"
#include "base/limits.h"
#include "kb/database.h"
#include "symbols/index.h"
#include "vcm/check/check.h"

#include "base/banned.h"

#define TICK_MS        100
#define BEAT_MS        1000u  /* how often the child reports that it is alive */
#define SILENCE_MS     60000u /* without a message for this long the child is assumed to loop */
#define BLOCKED_MS     20000u /* and after this long to wait for ever, if it uses no processor time */
#define BUSY_CPU_MS    100u   /* processor time that is more than none */
#define TRIES_MAX      3u     /* children that are started because the one before was blocked */
#define LINE_MAX_BYTES ((size_t)2048)

/* The first byte of a line. */
enum message {
    MESSAGE_PART = 'P',    /* a number: what is checked from here on */
    MESSAGE_READING = 'R', /* the table being read */
    MESSAGE_DAMAGE = 'D',  /* what, US, where */
    MESSAGE_FINDING = 'F', /* the same, for findings that are not damage of the store */
    MESSAGE_ERROR = 'E',   /* code, US, message */
    MESSAGE_END = 'Z',     /* number of pages checked */
};

#define SEPARATOR '\x1f'
#define UNHEARD   3 /* exit status of a child whose last line could not be written */

/* What is checked, in this order; PART_KB not by the child. */
enum part { PART_STORE = 1, PART_SYMBOLS = 2, PART_KB = 4 };

struct child {
    int fd;
    uint64_t beat_at;
    const char *table;
    const struct vcm_cancel *cancel;
};

/* Appends what has room, without the characters that end a part of a line. */
static size_t append_part(char line[LINE_MAX_BYTES], size_t len, size_t max, const char *text)
{
    for (; *text && len < max; text++)
        line[len++] = *text == '\n' || *text == SEPARATOR ? '?' : *text;
    return len;
}

/* Allocates nothing, so that running out of memory can be reported. */
static int send_line(const struct child *child, enum message kind, const char *first,
                     const char *second)
{
    char line[LINE_MAX_BYTES] = {(char)kind};

    size_t len = append_part(line, 1, LINE_MAX_BYTES / 2, first);
    line[len++] = SEPARATOR;
    len = append_part(line, len, LINE_MAX_BYTES - 2, second);
    line[len++] = '\n';
    return vcm_io_write_all(child->fd, vcm_slice_of(line, len)) == 0 ? VCM_OK : VCM_IO_ERROR;
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

/* The scopes that were lost with a data file that was emptied or deleted. */
static int check_roster(struct child *child, struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_buf what = VCM_BUF_INIT(LINE_MAX_BYTES), where = VCM_BUF_INIT(LINE_MAX_BYTES);
    struct vcm_roster_entry *entry = NULL;
    struct vcm_arena arena;

    vcm_arena_init(&arena, 4 * VCM_LIMIT_ROSTER_BYTES);
    int rc = vcm_roster_missing(&entry, &arena, vcm, err);
    for (; rc == VCM_OK && entry; entry = entry->next) {
        vcm_buf_clear(&what);
        vcm_buf_clear(&where);
        vcm_buf_append_format(&where, "scope %s", entry->scope_id);
        vcm_buf_append_format(&what,
                              "it is listed in scopes.json and not in the store; %s'vcm map %s "
                              "--scope %s' maps it again, 'vcm unmap %s' forgets it",
                              entry->lost ? "" : "the next map, or ", entry->repository,
                              entry->base_scope_id, entry->scope_id);
        rc = send_line(child, MESSAGE_FINDING, vcm_buf_text(&what), vcm_buf_text(&where));
    }
    vcm_arena_release(&arena);
    vcm_buf_release(&where);
    vcm_buf_release(&what);
    return rc;
}

static int check_pages(uint64_t *pages, struct child *child, struct vcm *vcm, bool deep,
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
    if (rc == VCM_OK)
        rc = check_roster(child, vcm, err);
    return rc;
}

static int symbols_are_alive(void *context, struct vcm_error *err)
{
    return send_beat(context, "the symbols", err);
}

static int check_symbols(struct child *child, struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_buf directory = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    int rc = vcm_handle_path(&directory, vcm, VCM_SYMBOLS_PLACE_NAME, err);
    if (rc == VCM_OK)
        rc = symbols_are_alive(child, err);
    if (rc == VCM_OK)
        rc = vcm_index_check_store(vcm_buf_text(&directory), symbols_are_alive, child, err);
    vcm_buf_release(&directory);
    return rc;
}

static int begin_part(const struct child *child, enum part part)
{
    const char number[] = {(char)('0' + part), '\0'};

    return send_line(child, MESSAGE_PART, number, "");
}

/* Damage of one part does not keep the others from being checked. */
static int check_home(uint64_t *pages, struct child *child, struct vcm *vcm, unsigned parts,
                      bool deep, struct vcm_error *err)
{
    int rc = VCM_OK;

    if (parts & PART_STORE) {
        rc = begin_part(child, PART_STORE);
        if (rc == VCM_OK)
            rc = check_pages(pages, child, vcm, deep, err);
        if (rc == VCM_STORE_CORRUPT)
            rc = send_line(child, MESSAGE_DAMAGE, err->message, "the store");
    }
    if (rc == VCM_OK && (parts & PART_SYMBOLS)) {
        vcm_error_reset(err);
        rc = begin_part(child, PART_SYMBOLS);
        if (rc == VCM_OK)
            rc = check_symbols(child, vcm, err);
        if (rc == VCM_STORE_CORRUPT)
            rc = send_line(child, MESSAGE_DAMAGE, err->message, "the symbols");
    }
    return rc;
}

/* Runs in the child. */
static _Noreturn void run_child(int fd, pid_t parent, const struct vcm *original, unsigned parts,
                                bool deep)
{
    struct vcm_error err = {0};
    struct vcm *vcm = NULL;
    struct child child = {.fd = VCM_CHILD_FD, .cancel = original->cancel};
    char number[32];
    uint64_t pages = 0;

    vcm_child_begin(fd, parent);
    int rc = vcm_open(
        &vcm, &(struct vcm_open_options){.home = original->home, .cancel = original->relay.target},
        &err);
    if (rc == VCM_OK) {
        vcm->registry = original->registry;
        rc = check_home(&pages, &child, vcm, parts, deep, &err);
    }
    vcm_close(vcm); /* or it looks like a death */
    if (rc != VCM_OK) {
        vcm_error_set(&err, (enum vcm_code)rc, "what was checked could not be reported");
        rc = send_line(&child, MESSAGE_ERROR, vcm_error_code_name((enum vcm_code)rc), err.message);
    } else {
        snprintf(number, sizeof number, "%llu", (unsigned long long)pages);
        rc = send_line(&child, MESSAGE_END, number, "");
    }
    _exit(rc == VCM_OK ? 0 : UNHEARD);
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
    unsigned part;           /* that is being checked */
    unsigned damaged;        /* parts */
    struct vcm_error reason; /* the first damage */
};

static int tell(struct listener *listener, bool is_damage, const char *what, const char *where,
                struct vcm_error *err)
{
    listener->result->ok = false;
    listener->result->findings++;
    if (is_damage && !listener->damaged)
        vcm_error_set(&listener->reason, VCM_STORE_CORRUPT, "%s: %s", where, what);
    if (is_damage)
        listener->damaged |= listener->part;
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
    case MESSAGE_PART:
        listener->part = (unsigned)(first[0] - '0');
        return VCM_OK;
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

/* Processor time that a child has used. */
static uint64_t cpu_ms(pid_t pid)
{
    struct timespec used;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

/* Reads until the child closes its end. With err unchanged: VCM_TIMEOUT when the child works and
 * does not report, VCM_RETRY when it waits. */
static int listen_to(struct listener *listener, pid_t pid, int fd, struct vcm_error *err)
{
    uint64_t heard_at = vcm_clock_ms(), used_ms = cpu_ms(pid);

    for (;;) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        int rc = vcm_cancel_check(listener->vcm->cancel, err);
        if (rc != VCM_OK)
            return rc;
        int ready = poll(&one, 1, TICK_MS);
        uint64_t silent_ms = vcm_clock_ms() - heard_at;
        if (ready <= 0 && silent_ms > BLOCKED_MS && cpu_ms(pid) - used_ms < BUSY_CPU_MS)
            return VCM_RETRY;
        if (ready <= 0 && silent_ms > SILENCE_MS)
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
        used_ms = cpu_ms(pid);
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
    if (!listener->has_ended && WEXITSTATUS(status) == UNHEARD)
        return vcm_error_set(err, VCM_IO_ERROR,
                             "the process that checks the store could not report; try again");
    if (!listener->has_ended)
        return vcm_error_set(err, VCM_INTERNAL,
                             "the process that checks the store ended with status %d",
                             WEXITSTATUS(status));
    return VCM_OK;
}

static int supervise_once(struct listener *listener, unsigned parts, bool deep,
                          struct vcm_error *err)
{
    int ends[2], status = 0;
    pid_t self = getpid();

    vcm_buf_clear(&listener->text);
    listener->has_begun = false;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot create a pipe");
    pid_t pid = fork();
    if (pid == 0)
        run_child(ends[1], self, listener->vcm, parts, deep);
    close(ends[1]);
    int rc = pid > 0 ? VCM_OK
                     : vcm_error_sys(err, VCM_IO_ERROR, errno,
                                     "cannot create a process to check the store");
    if (rc == VCM_OK) {
        rc = listen_to(listener, pid, ends[0], err);
        bool fell_silent = rc == VCM_TIMEOUT && (!err || err->code == VCM_OK);
        if (rc != VCM_OK)
            kill(pid, SIGKILL);
        int failure = vcm_child_wait(&status, pid);
        if (failure != 0 && (rc == VCM_OK || fell_silent))
            rc = vcm_error_sys(err, VCM_IO_ERROR, failure, "cannot wait for the checking process");
        else if (rc == VCM_OK || fell_silent)
            rc = judge_end(listener, status, fell_silent, err);
    }
    close(ends[0]);
    return rc;
}

/* A child may wait for ever: when it was forked, another thread of this program may have been
 * inside of a library (an allocator, libgit2) and held a lock there. That says nothing about the
 * store, and another child is likely to be luckier. */
static int supervise(struct listener *listener, unsigned parts, bool deep, struct vcm_error *err)
{
    uint64_t findings = listener->result->findings;
    int rc = VCM_RETRY;

    for (unsigned i = 0; rc == VCM_RETRY && i < TRIES_MAX; i++) {
        rc = supervise_once(listener, parts, deep, err);
        if (rc == VCM_RETRY && listener->result->findings != findings)
            break; /* another child would report them again */
    }
    return rc == VCM_RETRY
               ? vcm_error_set(err, VCM_STORE_BUSY,
                               "the process that checks the store waits for what another thread of "
                               "this program held; try again while no other thread uses the store")
               : rc;
}

/* Not in the child: a forked child has the locks of its parent's connections in SQLite's tables and
 * does not hold them. SQLite reports damage of a file and does not crash on it. */
static int check_knowledge(struct listener *listener, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_error found = {0};

    listener->part = PART_KB;
    int rc = vcm_handle_path(&path, listener->vcm, VCM_DATABASE_FILE, &found);
    if (rc == VCM_OK)
        rc = vcm_database_check_file(vcm_buf_text(&path), listener->vcm->cancel, &found);
    if (rc == VCM_STORE_CORRUPT)
        rc = tell(listener, true, found.message, "the knowledge base", err);
    else if (rc != VCM_OK && err)
        *err = found;
    vcm_buf_release(&path);
    return rc;
}

/* What follows from what was heard: marks, and traces of deaths. */
static void conclude(const struct listener *listener, unsigned parts, bool complete,
                     const struct vcm_damage_seen *mark, const struct vcm_kv_users_dead *dead,
                     const char *store)
{
    struct vcm *vcm = listener->vcm;
    struct vcm_error ignored = {0};

    if (listener->damaged & PART_STORE)
        vcm_damage_note(vcm, VCM_STORE_CORRUPT, &listener->reason);
    else if ((parts & PART_STORE) && complete) {
        vcm_damage_lift(vcm, mark);
        vcm_kv_users_forget(dead, store);
    }
    if (listener->damaged & PART_SYMBOLS)
        vcm_symbols_place_drop(vcm, listener->reason.message, &ignored);
}

/* A part that killed the child does not keep the next one from being checked. */
static int check_in_children(struct listener *listener, unsigned parts, bool deep,
                             struct vcm_error *err)
{
    int rc = supervise(listener, parts, deep, err);
    unsigned rest = parts & ~(2 * listener->part - 1);

    while (rc == VCM_OK && !listener->has_ended && rest != 0) {
        rc = supervise(listener, rest, deep, err);
        rest = parts & ~(2 * listener->part - 1);
    }
    return rc;
}

static int verify(struct listener *listener, unsigned parts, bool deep, struct vcm_error *err)
{
    struct vcm_buf store = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_damage_seen mark = {.is_marked = false};
    struct vcm_kv_users_dead dead = {.count = 0};
    struct vcm *vcm = listener->vcm;

    vcm_buf_init(&listener->text, 1 * VCM_MIB);
    snprintf(listener->table, sizeof listener->table, "the store");
    listener->part = PART_STORE;
    int rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&store, vcm, VCM_HANDLE_STORE, err);
    if (rc == VCM_OK) {
        vcm_damage_look(&mark, vcm->home);
        vcm_kv_users_look(&dead, vcm_buf_text(&store));
        rc = check_in_children(listener, parts & (PART_STORE | PART_SYMBOLS), deep, err);
    }
    conclude(listener, parts, rc == VCM_OK && listener->has_ended, &mark, &dead,
             vcm_buf_text(&store));
    if (rc == VCM_OK && (parts & PART_KB))
        rc = check_knowledge(listener, err);
    vcm_buf_release(&listener->text);
    vcm_buf_release(&store);
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

    return verify(&listener, PART_STORE | PART_SYMBOLS | PART_KB, deep, err);
}

/* Findings that are not damage are for those who ask. */
static int pass_over(void *context, const struct vcm_verify_finding *finding, struct vcm_error *err)
{
    (void)context;
    (void)finding;
    (void)err;
    return VCM_OK;
}

static int is_damaged(const struct vcm *vcm, struct vcm_error *err)
{
    return vcm_error_set(
        err, VCM_STORE_CORRUPT,
        "the store in '%s' is damaged; 'vcm verify' tells where, 'vcm map' sets it "
        "aside and maps its scopes again",
        vcm->home);
}

int vcm_verify_first(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_verify_result result = {.ok = true};
    struct listener listener = {.result = &result, .vcm = vcm, .visit = pass_over};

    int rc = verify(&listener, PART_STORE, false, err);
    return rc == VCM_OK && vcm_damage_is_marked(vcm->home) ? is_damaged(vcm, err) : rc;
}

int vcm_verify_after_death(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_buf directory = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_kv_users_dead dead = {.count = 0};

    int rc = vcm_handle_check(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&directory, vcm, VCM_HANDLE_STORE, err);
    if (rc == VCM_OK)
        vcm_kv_users_look(&dead, vcm_buf_text(&directory));
    vcm_buf_release(&directory);
    if (rc != VCM_OK || dead.count == 0)
        return rc;
    if (vcm_damage_is_marked(vcm->home))
        return is_damaged(vcm, err);
    vcm_log_write(vcm->log, VCM_LOG_INFO,
                  "a process died while it used the store; checking the store first");
    return vcm_verify_first(vcm, err);
}

int vcm_verify_symbols(struct vcm *vcm, struct vcm_error *err)
{
    struct vcm_verify_result result = {.ok = true};
    struct listener listener = {.result = &result, .vcm = vcm, .visit = pass_over};
    struct vcm_buf directory = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_kv_users_dead dead = {.count = 0};

    int rc = vcm_handle_path(&directory, vcm, VCM_SYMBOLS_PLACE_NAME, err);
    if (rc == VCM_OK)
        vcm_kv_users_look(&dead, vcm_buf_text(&directory));
    if (rc == VCM_OK && dead.count > 0) {
        vcm_log_write(vcm->log, VCM_LOG_INFO,
                      "a process died while it used the stored symbols; checking them first");
        rc = verify(&listener, PART_SYMBOLS, false, err);
        if (rc == VCM_OK && !listener.damaged)
            vcm_kv_users_forget(&dead, vcm_buf_text(&directory));
    }
    vcm_buf_release(&directory);
    return rc;
}
