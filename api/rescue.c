/*
 * The file has a line for each, a JSON object: {"scope":ID}, {"page":ID} for pins, and
 * {"lock":PAGE, "owner":O,"until_ms":T,"reason":R}. The child writes these lines to a pipe.
 */
#include "api/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "api/child.h"
#include "api/roster.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json.h"
#include "base/jsonw.h"
#include "base/limits.h"
#include "base/path.h"
#include "vcm/check/salvage.h"
#include "vcm/mapping/mapping.h"

#include "base/banned.h"

#define FILE_NAME      "store.pins"
#define FILE_MODE      0600
#define LINE_MAX_BYTES ((size_t)64 * VCM_KIB)
#define BEAT_MS        500u   /* how often the child reports that it is alive */
#define SILENCE_MS     10000u /* without a byte for this long the child is assumed to loop */

struct child {
    uint64_t beat_at;
};

static int send_text(struct vcm_slice text, struct vcm_error *err)
{
    int failure = vcm_io_write_all(VCM_CHILD_FD, text);

    return failure == 0 ? VCM_OK : vcm_error_sys(err, VCM_IO_ERROR, failure, "the parent is gone");
}

/* Ends the object and sends it as a line. */
static int send_object(struct vcm_jsonw *w, struct vcm_buf *line, struct vcm_error *err)
{
    vcm_jsonw_end_object(w);
    vcm_buf_append_byte(line, '\n');
    int rc = vcm_buf_check(line, "a line", err);
    if (rc == VCM_OK)
        rc = send_text(vcm_buf_slice(line), err);
    vcm_buf_release(line);
    return rc;
}

static int send_name(const char *kind, struct vcm_slice name, struct vcm_error *err)
{
    struct vcm_buf line = VCM_BUF_INIT(LINE_MAX_BYTES);
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, &line);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_slice(&w, kind, name);
    return send_object(&w, &line, err);
}

static int send_scope(void *context, struct vcm_slice scope_id, struct vcm_error *err)
{
    (void)context;
    return send_name("scope", scope_id, err);
}

static int send_page(void *context, const struct vcm_page_id *id, struct vcm_error *err)
{
    char hex[VCM_PAGE_ID_HEX + 1];

    (void)context;
    vcm_page_id_to_hex(hex, id);
    return send_name("page", vcm_slice_of_string(hex), err);
}

static int send_lock(void *context, const struct vcm_lock_info *lock, struct vcm_error *err)
{
    struct vcm_buf line = VCM_BUF_INIT(LINE_MAX_BYTES);
    char hex[VCM_PAGE_ID_HEX + 1];
    struct vcm_jsonw w;

    (void)context;
    vcm_page_id_to_hex(hex, &lock->id);
    vcm_jsonw_init(&w, &line);
    vcm_jsonw_begin_object(&w);
    vcm_jsonw_member_string(&w, "lock", hex);
    vcm_jsonw_member_slice(&w, "owner", lock->owner);
    vcm_jsonw_member_uint(&w, "until_ms", lock->until_ms);
    if (lock->reason.len > 0)
        vcm_jsonw_member_slice(&w, "reason", lock->reason);
    return send_object(&w, &line, err);
}

static int send_beat(void *context, struct vcm_error *err)
{
    struct child *child = context;
    uint64_t now = vcm_clock_ms();

    if (now - child->beat_at < BEAT_MS)
        return VCM_OK;
    child->beat_at = now;
    return send_text(vcm_slice_of_string("\n"), err);
}

static _Noreturn void run_child(int fd, pid_t parent, const char *directory)
{
    struct child child = {.beat_at = 0};
    const struct vcm_salvage_visitor visitor = {
        .scope = send_scope,
        .page = send_page,
        .lock = send_lock,
        .alive = send_beat,
        .context = &child,
    };

    vcm_child_begin(fd, parent);
    vcm_salvage_run(directory, &visitor, NULL);
    _exit(0);
}

/* Appends what the child writes until it ends, crashes or falls silent. */
static int hear(struct vcm_buf *text, int fd, struct vcm_error *err)
{
    for (;;) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        int ready = poll(&one, 1, (int)SILENCE_MS);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return VCM_OK;
        char *room = vcm_buf_reserve(text, LINE_MAX_BYTES);
        if (!room)
            return vcm_buf_check(text, "what was pinned and locked", err);
        ssize_t got = read(fd, room, LINE_MAX_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return VCM_OK;
        vcm_buf_advance(text, (size_t)got);
    }
}

static int read_damaged(struct vcm_buf *text, const char *directory, struct vcm_error *err)
{
    int ends[2], status = 0;
    pid_t self = getpid();

    if (pipe2(ends, O_CLOEXEC) != 0)
        return vcm_error_sys(err, VCM_IO_ERROR, errno, "cannot create a pipe");
    pid_t pid = fork();
    if (pid == 0)
        run_child(ends[1], self, directory);
    close(ends[1]);
    int rc = pid > 0 ? hear(text, ends[0], err)
                     : vcm_error_sys(err, VCM_IO_ERROR, errno,
                                     "cannot create a process to read the damaged store");
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL); /* it may still be in a loop */
        vcm_child_wait(&status, pid);
    }
    return rc;
}

/* Removes the rest of a line that a crash cut short, and the empty lines by which the child
 * reported that it was alive. */
static void keep_whole_lines(struct vcm_buf *text)
{
    size_t kept = 0, line = 0;

    for (size_t at = 0; at < text->len; at++) {
        if (text->data[at] != '\n')
            continue;
        if (at > line) {
            memmove(text->data + kept, text->data + line, at + 1 - line);
            kept += at + 1 - line;
        }
        line = at + 1;
    }
    vcm_buf_truncate(text, kept);
}

/* Appends the file's content; nothing when there is no file. */
static void read_file(struct vcm_buf *text, const char *path)
{
    if (vcm_path_read_file(text, path, VCM_LIMIT_ROSTER_BYTES, NULL) != VCM_OK)
        vcm_buf_clear(text);
}

int vcm_rescue_keep(struct vcm *vcm, const char *directory, struct vcm_error *err)
{
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES);
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    int home = -1;

    int rc = vcm_handle_path(&path, vcm, FILE_NAME, err);
    if (rc == VCM_OK)
        rc = vcm_roster_lock_home(&home, vcm, err);
    if (rc == VCM_OK) {
        read_file(&text, vcm_buf_text(&path)); /* of a recovery that is not complete */
        rc = read_damaged(&text, directory, err);
    }
    keep_whole_lines(&text);
    if (rc == VCM_OK && text.len > 0)
        rc = vcm_path_write_file(vcm_buf_text(&path), vcm_buf_slice(&text), FILE_MODE, err);
    if (home >= 0)
        close(home);
    vcm_buf_release(&path);
    vcm_buf_release(&text);
    return rc;
}

static int lock_again(struct vcm *vcm, const struct vcm_json *object, const char *page,
                      struct vcm_error *err)
{
    const int64_t until_ms = vcm_json_get_int(object, "until_ms", 0);
    const int64_t now_ms = (int64_t)vcm_clock_wall_ms();

    if (until_ms <= now_ms)
        return VCM_OK;
    return vcm_lock(vcm,
                    &(struct vcm_lock_query){
                        .pages = &page,
                        .count = 1,
                        .owner = vcm_json_get_text(object, "owner", NULL),
                        .reason = vcm_json_get_text(object, "reason", NULL),
                        .ttl_ms = (uint64_t)(until_ms - now_ms),
                    },
                    NULL, NULL, err);
}

/* A line that cannot be read is skipped. */
static int set_again(struct vcm *vcm, struct vcm_slice line, struct vcm_error *err)
{
    struct vcm_json *object = NULL;
    struct vcm_arena arena;
    int rc = VCM_OK;

    vcm_arena_init(&arena, 16 * LINE_MAX_BYTES);
    if (vcm_json_parse(&object, &arena, line, NULL) == VCM_OK) {
        const char *scope = vcm_json_get_text(object, "scope", NULL);
        const char *page = vcm_json_get_text(object, "page", NULL);
        const char *lock = vcm_json_get_text(object, "lock", NULL);
        if (scope)
            rc =
                vcm_mapping_pin_set(vcm->store, vcm_slice_of_string(scope), true, vcm->cancel, err);
        else if (page)
            rc = vcm_pin(vcm, page, NULL, NULL, err);
        else if (lock)
            rc = lock_again(vcm, object, lock, err);
    }
    vcm_arena_release(&arena);
    return rc;
}

/* Whether no scope is still to be mapped again: a page that is missing now may be one of its. */
static bool is_complete(struct vcm *vcm)
{
    struct vcm_roster_entry *missing = NULL;
    struct vcm_arena arena;
    bool complete = true;

    vcm_arena_init(&arena, 4 * VCM_LIMIT_ROSTER_BYTES);
    if (vcm_roster_missing(&missing, &arena, vcm, NULL) != VCM_OK)
        complete = false;
    for (; missing; missing = missing->next)
        complete = complete && missing->lost;
    vcm_arena_release(&arena);
    return complete;
}

struct restoring {
    struct vcm *vcm;
    bool complete;
    struct vcm_buf left; /* lines to be tried again by the next map */
    unsigned lost;
    struct vcm_error why; /* of the first that is lost */
};

static void restore_line(struct restoring *restoring, struct vcm_slice line)
{
    struct vcm_error why = {0};

    int rc = set_again(restoring->vcm, line, &why);
    if (rc == VCM_OK)
        return;
    if (rc == VCM_STORE_BUSY || rc == VCM_INTERRUPTED ||
        (rc == VCM_NOT_FOUND && !restoring->complete)) {
        vcm_buf_append_slice(&restoring->left, line);
        vcm_buf_append_byte(&restoring->left, '\n');
        return;
    }
    if (restoring->lost++ == 0)
        restoring->why = why;
}

/* Another process may have set the store aside again and written more: then all is left to the next
 * map. */
static void replace_file(const struct restoring *restoring, const char *path,
                         const struct vcm_buf *text)
{
    struct vcm_buf now = VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES);
    const struct vcm *vcm = restoring->vcm;
    struct vcm_error err = {0};
    int home = -1;

    int rc = vcm_roster_lock_home(&home, vcm, &err);
    if (rc == VCM_OK)
        read_file(&now, path);
    if (rc == VCM_OK && vcm_slice_equal(vcm_buf_slice(&now), vcm_buf_slice(text)))
        rc = restoring->left.len > 0
                 ? vcm_path_write_file(path, vcm_buf_slice(&restoring->left), FILE_MODE, &err)
             : unlink(path) == 0 ? VCM_OK
                                 : vcm_error_sys(&err, VCM_IO_ERROR, errno, "cannot remove it");
    if (rc != VCM_OK)
        vcm_log_write(vcm->log, VCM_LOG_WARNING, "'%s' was not updated: %s", path, err.message);
    if (home >= 0)
        close(home);
    vcm_buf_release(&now);
}

void vcm_rescue_restore(struct vcm *vcm)
{
    struct restoring restoring = {.vcm = vcm, .left = VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES)};
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_ROSTER_BYTES);
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    if (vcm->store_writable && vcm_handle_path(&path, vcm, FILE_NAME, NULL) == VCM_OK)
        read_file(&text, vcm_buf_text(&path));
    if (text.len > 0) {
        restoring.complete = is_complete(vcm);
        const char *end;
        for (size_t at = 0; (end = memchr(text.data + at, '\n', text.len - at)) != NULL;) {
            const size_t len = (size_t)(end - (text.data + at));
            restore_line(&restoring, vcm_slice_of(text.data + at, len));
            at += len + 1;
        }
        replace_file(&restoring, vcm_buf_text(&path), &text);
    }
    if (restoring.lost > 0)
        vcm_log_write(vcm->log, VCM_LOG_WARNING,
                      "%u pins or locks of the damaged store could not be set again, the first: %s",
                      restoring.lost, restoring.why.message);
    vcm_buf_release(&restoring.left);
    vcm_buf_release(&path);
    vcm_buf_release(&text);
}
