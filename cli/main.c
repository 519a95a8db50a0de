/*
 * main.c - the program: parses the command line, runs one operation, prints its result or its
 * error, and sets the exit status.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/defaults.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cli/args.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "ops/failure.h"

#include "base/banned.h"

enum exit_status {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INTERRUPTED = 130,
};

static struct vcm_cancel cancel;

/* The first signal asks the operation to stop, the second ends the process. */
static void on_signal(int number)
{
    (void)number;
    if (vcm_cancel_is_requested(&cancel)) {
        vcm_screen_restore();
        _exit(EXIT_INTERRUPTED);
    }
    vcm_cancel_request(&cancel);
}

static void handle_signals(void)
{
    struct sigaction stop = {.sa_handler = on_signal};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    sigemptyset(&stop.sa_mask);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGHUP, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL); /* writing to a closed pipe then fails with EPIPE */
    sigaction(SIGXFSZ, &ignore, NULL); /* and to a file beyond its limit of size with EFBIG */
}

/* Opens /dev/null for closed standard streams. Otherwise the next file that is opened, such as the
 * store, would get the descriptor of standard output, and printing would overwrite it. */
static void fill_closed_streams(void)
{
    int fd = open("/dev/null", O_RDONLY);

    while (fd >= STDIN_FILENO && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDONLY);
    if (fd > STDERR_FILENO)
        close(fd);
}

static bool wants_color(const struct vcm_args *args, int fd)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(fd) && !args->no_color && !(no_color && no_color[0] != '\0') &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

static int status_of(enum vcm_code code)
{
    switch (code) {
    case VCM_OK:
        return EXIT_DONE;
    case VCM_INVALID_ARGUMENT:
    case VCM_INVALID_REPO_MAP:
        return EXIT_USAGE;
    case VCM_INTERRUPTED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_FAILED;
    }
}

/* If the reader closed the pipe, it has read what it wanted: that is no failure. */
static int write_out(struct vcm_slice text)
{
    int failure = vcm_io_write_all(STDOUT_FILENO, text);

    if (failure == 0 || failure == EPIPE)
        return EXIT_DONE;
    fprintf(stderr, "vcm: cannot write standard output: %s\n", strerror(failure));
    return EXIT_FAILED;
}

static void append_error_document(struct vcm_buf *out, const struct vcm_error *err)
{
    struct vcm_jsonw w;

    vcm_jsonw_init(&w, out);
    vcm_failure_put(&w, err);
    vcm_buf_append_byte(out, '\n');
}

static int report_error(const struct vcm_args *args, const struct vcm_error *err)
{
    struct vcm_buf document = VCM_BUF_INIT(16 * VCM_KIB);
    bool color = wants_color(args, STDERR_FILENO);

    if (args->json) {
        append_error_document(&document, err);
        write_out(vcm_buf_slice(&document));
    } else {
        vcm_utf8_append_visible(&document, vcm_slice_of_string(err->context), false);
        vcm_buf_append_string(&document, document.len > 0 ? ": " : "");
        vcm_utf8_append_visible(&document, vcm_slice_of_string(err->message), false);
        fprintf(stderr, "%svcm:%s %s\n", color ? "\033[31m" : "", color ? "\033[0m" : "",
                vcm_buf_text(&document));
    }
    vcm_buf_release(&document);
    return status_of(err->code);
}

static void write_log(void *context, enum vcm_log_level level, const char *line)
{
    struct vcm_progress_line *progress = context;
    struct vcm_buf visible = VCM_BUF_INIT(16 * VCM_KIB);

    (void)level;
    vcm_progress_line_clear(progress);
    vcm_utf8_append_visible(&visible, vcm_slice_of_string(line), false);
    fprintf(stderr, "vcm: %s\n", vcm_buf_text(&visible));
    vcm_buf_release(&visible);
}

/* Prints the document, or the text in its place. */
static int print_document(struct vcm_buf *out, const struct vcm_args *args,
                          const struct vcm_op_call *call, const struct vcm_buf *document,
                          struct vcm_error *err)
{
    struct vcm_print print = {
        .out = out, .color = wants_color(args, STDOUT_FILENO), .terminal = isatty(STDOUT_FILENO)};
    struct vcm_arena arena;
    struct vcm_json *root = NULL;

    vcm_arena_init(&arena, 4 * VCM_GIB);
    int rc = call->text && call->text->len > 0
                 ? VCM_OK
                 : vcm_json_parse(&root, &arena, vcm_buf_slice(document), err);
    if (rc == VCM_OK && root && !vcm_print_quote_names(root, &arena))
        rc = vcm_error_memory(err);
    if (rc == VCM_OK) {
        assert(root || call->text);
        if (root && args->op->print_event && vcm_json_get(root, "event"))
            args->op->print_event(&print, root);
        else if (root && args->op->list.member && vcm_json_get(root, args->op->list.member))
            rc = vcm_answer_print(&print, root, vcm_buf_slice(document), call, err);
        else
            args->op->print(&print, root, call);
        if (rc == VCM_OK)
            rc = vcm_buf_check(out, "the output", err);
    }
    vcm_arena_release(&arena);
    return rc;
}

/* Where a stream operation writes its objects. */
struct stream {
    const struct vcm_args *args;
    const struct vcm_op_call *call;
    struct vcm_progress_line *progress;
    struct vcm_screen screen;
    bool is_done; /* nobody wants more */
};

static int end_stream(struct stream *stream, const char *why, struct vcm_error *err)
{
    stream->is_done = true;
    return vcm_error_set(err, VCM_INTERRUPTED, "%s", why);
}

static int lose_reader(struct stream *stream, struct vcm_error *err)
{
    return end_stream(stream, "the reader of the output is gone", err);
}

static int emit(void *context, struct vcm_slice document, struct vcm_error *err)
{
    struct stream *stream = context;
    struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct vcm_buf copy = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    int rc;

    vcm_progress_line_clear(stream->progress);
    if (stream->args->json) {
        vcm_buf_append_slice(&out, document);
        vcm_buf_append_byte(&out, '\n');
        rc = vcm_buf_check(&out, "the output", err);
    } else {
        vcm_buf_append_slice(&copy, document);
        rc = print_document(&out, stream->args, stream->call, &copy, err);
        vcm_screen_finish(&stream->screen, &out);
    }
    int failure = rc == VCM_OK ? vcm_io_write_all(STDOUT_FILENO, vcm_buf_slice(&out)) : 0;
    if (failure == EPIPE)
        rc = lose_reader(stream, err);
    else if (failure != 0)
        rc = vcm_error_sys(err, VCM_IO_ERROR, failure, "cannot write standard output");
    vcm_buf_release(&copy);
    vcm_buf_release(&out);
    return rc;
}

/* Detects a closed pipe before anything is written to it, and obeys keys. */
static int check_reader(void *context, struct vcm_error *err)
{
    struct pollfd out = {.fd = STDOUT_FILENO};

    if (poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLNVAL))
        return lose_reader(context, err);
    if (!vcm_screen_obey(&((struct stream *)context)->screen))
        return end_stream(context, "the user ended it", err);
    return VCM_OK;
}

static int run_operation(struct vcm_buf *out, int *exit_status, const struct vcm_args *args,
                         struct vcm_error *err)
{
    struct vcm_progress_line progress;
    const struct vcm_log log = {.write = write_log,
                                .context = &progress,
                                .level = args->quiet     ? VCM_LOG_ERROR
                                         : args->verbose ? VCM_LOG_DEBUG
                                                         : VCM_LOG_INFO};
    const struct vcm_op_settings settings = {.home = args->home, .log = &log, .cancel = &cancel};
    struct vcm_buf document = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct vcm_buf text = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
    struct vcm_op_call call = {
        .values = args->values,
        .text = args->json ? NULL : &text,
        .quiet = args->quiet,
        .progress = vcm_progress_line_update,
        .progress_context = &progress,
        .emit = emit,
        .is_watched = args->json || isatty(STDOUT_FILENO),
        .emit_idle = check_reader,
        .answer = {.rows_default = args->json ? 0 : VCM_DEFAULT_ANSWER_ROWS,
                   .tokens_default = args->json ? 0 : VCM_DEFAULT_ANSWER_TOKENS,
                   .command = vcm_buf_text(&args->typed),
                   .command_end = vcm_buf_text(&args->typed_end)},
    };
    struct stream stream = {.args = args, .call = &call, .progress = &progress};

    assert(args->op && args->values);
    vcm_progress_line_init(&progress, isatty(STDERR_FILENO) && !args->quiet && !args->no_progress);
    call.emit_context = &stream;
    if (args->op->is_screen && !args->json)
        vcm_screen_open(&stream.screen, &cancel);
    int rc = vcm_op_run(&document, &call, args->op, &settings, err);
    vcm_screen_close(&stream.screen);
    vcm_progress_line_clear(&progress);
    *exit_status = stream.is_done ? EXIT_DONE : call.exit_status;
    if (rc == VCM_OK && call.is_over) {
        vcm_buf_clear(out);
    } else if (rc == VCM_OK && !args->json && !call.json_wanted) {
        rc = print_document(out, args, &call, &document, err);
    } else if (rc == VCM_OK) {
        vcm_buf_append_slice(out, vcm_buf_slice(&document));
        vcm_buf_append_byte(out, '\n');
        rc = vcm_buf_check(out, "the output", err);
    }
    vcm_buf_release(&text);
    vcm_buf_release(&document);
    return rc;
}

/* Prints help or the version; with --json, as a document that contains the text. */
static int print_text(const struct vcm_args *args, void (*fill)(struct vcm_print *, const void *),
                      const void *what, const char *key)
{
    struct vcm_buf text = VCM_BUF_INIT(1 * VCM_MIB), document = VCM_BUF_INIT(8 * VCM_MIB);
    struct vcm_print print = {.out = &text,
                              .color = !args->json && wants_color(args, STDOUT_FILENO)};
    struct vcm_jsonw w;

    fill(&print, what);
    if (args->json) {
        vcm_jsonw_init(&w, &document);
        vcm_jsonw_begin_object(&w);
        vcm_jsonw_member_string(&w, key, vcm_buf_text(&text));
        vcm_jsonw_end_object(&w);
    } else {
        vcm_buf_append_slice(&document, vcm_buf_slice(&text));
    }
    if (document.len > 0 && document.data[document.len - 1] != '\n')
        vcm_buf_append_byte(&document, '\n');
    int status = write_out(vcm_buf_slice(&document));
    vcm_buf_release(&text);
    vcm_buf_release(&document);
    return status;
}

static void fill_version(struct vcm_print *out, const void *what)
{
    (void)what;
    vcm_print_text(out, VCM_PRINT_PLAIN, "vcm " VCM_VERSION);
}

static void fill_help(struct vcm_print *out, const void *what)
{
    const struct vcm_args *args = what;

    if (args->op)
        vcm_help_command(out, args->op);
    else if (args->family)
        vcm_help_family(out, args->family);
    else
        vcm_help_overview(out);
}

static void fill_beginning(struct vcm_print *out, const void *what)
{
    (void)what;
    vcm_help_beginning(out);
}

static int missing_command(const struct vcm_args *args, struct vcm_error *err)
{
    if (args->family)
        vcm_error_set(err, VCM_INVALID_ARGUMENT,
                      "'%s' needs one more word; 'vcm %s --help' lists them", args->family,
                      args->family);
    else
        vcm_error_set(err, VCM_INVALID_ARGUMENT,
                      "there is no command; 'vcm --help' lists the commands");
    if (args->family || args->json)
        return report_error(args, err);
    print_text(args, fill_beginning, NULL, "help");
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct vcm_error err = {0};
    struct vcm_args args;
    int status = EXIT_DONE;

    fill_closed_streams();
    handle_signals();
#ifndef NDEBUG
    vcm_args_assert();
#endif
    int rc = vcm_args_parse(&args, argc, (const char *const *)argv, &err);
    if (rc != VCM_OK) {
        status = report_error(&args, &err);
    } else if (args.version) {
        status = print_text(&args, fill_version, NULL, "version");
    } else if (args.help) {
        status = print_text(&args, fill_help, &args, "help");
    } else if (!args.op) {
        status = missing_command(&args, &err);
    } else {
        struct vcm_buf out = VCM_BUF_INIT(VCM_LIMIT_JSON_BYTES);
        rc = run_operation(&out, &status, &args, &err);
        if (rc != VCM_OK) {
            status = report_error(&args, &err);
        } else {
            int written = write_out(vcm_buf_slice(&out));
            status = written != EXIT_DONE ? written : status;
        }
        vcm_buf_release(&out);
    }
    vcm_args_release(&args);
    return status;
}
