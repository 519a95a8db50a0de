#include "cli/screen.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"

#include "base/banned.h"

#define TICK_MS 50

static const char running_line[] = "\nq quit, space pause, ? help";
static const char paused_line[] = "\npaused: space goes on, q quit, ? help";
static const char help_text[] = "\033[H\033[2J"
                                "q      quit\n"
                                "space  pause, and go on\n"
                                "?      this help\n"
                                "\nany key goes back, q quit";

static struct termios before;
static volatile sig_atomic_t is_changed;

void vcm_screen_restore(void)
{
    if (is_changed) {
        is_changed = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
}

/* SIGQUIT ends the process as it always does, but not before the terminal is put back. */
static void on_quit(int number)
{
    vcm_screen_restore();
    signal(number, SIG_DFL);
    raise(number);
}

void vcm_screen_open(struct vcm_screen *screen, const struct vcm_cancel *cancel)
{
    const char *terminal = getenv("TERM");
    struct sigaction quit = {.sa_handler = on_quit};
    struct termios raw;

    *screen = (struct vcm_screen){.cancel = cancel};
    vcm_buf_init(&screen->drawn, 1 * VCM_MIB);
    if (!terminal || strcmp(terminal, "dumb") == 0 || !isatty(STDOUT_FILENO) ||
        tcgetattr(STDIN_FILENO, &before) != 0)
        return;
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    sigemptyset(&quit.sa_mask);
    sigaction(SIGQUIT, &quit, NULL);
    is_changed = 1;
    screen->keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

void vcm_screen_close(struct vcm_screen *screen)
{
    vcm_screen_restore();
    if (screen->keys)
        vcm_io_write_all(STDOUT_FILENO, vcm_slice_of_string("\n"));
    screen->keys = false;
    vcm_buf_release(&screen->drawn);
}

void vcm_screen_finish(struct vcm_screen *screen, struct vcm_buf *text)
{
    if (!screen->keys)
        return;
    vcm_buf_clear(&screen->drawn);
    vcm_buf_append_slice(&screen->drawn, vcm_buf_slice(text));
    vcm_buf_append_string(text, running_line);
}

static void redraw(struct vcm_screen *screen, const char *last_line)
{
    vcm_io_write_all(STDOUT_FILENO, vcm_buf_slice(&screen->drawn));
    vcm_io_write_all(STDOUT_FILENO, vcm_slice_of_string(last_line));
}

/* The next key, 0 if there is none in that time. A terminal that is gone quits. */
static char next_key(int timeout_ms)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char key = 0;

    if (poll(&in, 1, timeout_ms) <= 0)
        return 0;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';
}

static char wait_for_key(const struct vcm_screen *screen)
{
    char key = 0;

    while (key == 0 && !vcm_cancel_is_requested(screen->cancel))
        key = next_key(TICK_MS);
    return key;
}

bool vcm_screen_obey(struct vcm_screen *screen)
{
    bool paused = false;

    if (!screen->keys)
        return true;
    for (;;) {
        char key = paused ? wait_for_key(screen) : next_key(0);
        if (key == '?') {
            vcm_io_write_all(STDOUT_FILENO, vcm_slice_of_string(help_text));
            key = wait_for_key(screen) == 'q' ? 'q' : '?';
        }
        if (key == 0 || key == 'q')
            return key != 'q';
        paused = key == ' ' ? !paused : paused;
        redraw(screen, paused ? paused_line : running_line);
    }
}
