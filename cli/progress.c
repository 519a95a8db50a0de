#include "cli/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ops/print.h"
#include "base/clock.h"

#include "base/banned.h"

#define FIRST_AFTER_MS 500u
#define INTERVAL_MS    100u
#define ERASE_LINE     "\r\033[K"
/* For a terminal that does not report its width. */
#define COLUMNS_DEFAULT 79u

void vcm_progress_line_init(struct vcm_progress_line *line, bool enabled)
{
    *line = (struct vcm_progress_line){.enabled = enabled, .started_ms = vcm_clock_ms()};
}

/* A line that wraps could not be erased. */
static size_t columns_of_terminal(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u
                                                                           : COLUMNS_DEFAULT;
}

void vcm_progress_line_update(void *context, const struct vcm_progress *progress)
{
    struct vcm_progress_line *line = context;
    char files[VCM_PRINT_NUMBER_BYTES], total[VCM_PRINT_NUMBER_BYTES];
    char pages[VCM_PRINT_NUMBER_BYTES];
    char tokens[VCM_PRINT_NUMBER_BYTES], time[VCM_PRINT_NUMBER_BYTES];
    char text[5 * VCM_PRINT_NUMBER_BYTES];

    if (!line->enabled)
        return;
    uint64_t now = vcm_clock_ms(), elapsed = now - line->started_ms;
    if (elapsed < FIRST_AFTER_MS || (line->drawn && now - line->drawn_ms < INTERVAL_MS))
        return;
    if (progress->files_total > 0)
        snprintf(text, sizeof text, "files %s of %s  %s", vcm_print_count(files, progress->files),
                 vcm_print_count(total, progress->files_total), vcm_print_duration(time, elapsed));
    else if (progress->bytes == 0) /* an operation that makes no pages */
        snprintf(text, sizeof text, "files %s  %s", vcm_print_count(files, progress->files),
                 vcm_print_duration(time, elapsed));
    else
        snprintf(text, sizeof text, "files %s  pages %s  tokens %s  %.1f MB/s  %s",
                 vcm_print_count(files, progress->files), vcm_print_count(pages, progress->pages),
                 vcm_print_count(tokens, progress->tokens),
                 (double)progress->bytes / 1000 / (double)elapsed,
                 vcm_print_duration(time, elapsed));
    fprintf(stderr, ERASE_LINE "%.*s", (int)columns_of_terminal(), text);
    fflush(stderr);
    line->drawn = true;
    line->drawn_ms = now;
}

void vcm_progress_line_clear(struct vcm_progress_line *line)
{
    if (!line->drawn)
        return;
    fputs(ERASE_LINE, stderr);
    fflush(stderr);
    line->drawn = false;
}
