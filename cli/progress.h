/*
 * progress.h - one line on a terminal that shows progress.
 */
#ifndef VCM_CLI_PROGRESS_H
#define VCM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "ops/op.h"

struct vcm_progress_line {
    bool enabled;
    bool drawn;
    uint64_t started_ms;
    uint64_t drawn_ms;
};

void vcm_progress_line_init(struct vcm_progress_line *line, bool enabled);

/* `context` is the line. Draws at most ten times a second, and not before half a second has passed.
 */
void vcm_progress_line_update(void *context, const struct vcm_progress *progress);

/* Erases the line. */
void vcm_progress_line_clear(struct vcm_progress_line *line);

#endif
