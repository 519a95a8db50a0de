/*
 * stdio.h - MCP over a pair of descriptors: one message a line, in both directions.
 *
 * The calling thread reads; answers are written by whichever thread has them, a line at a time.
 */
#ifndef VCM_SERVE_STDIO_H
#define VCM_SERVE_STDIO_H

#include "serve/mcp.h"

/* Serves until the input ends or `stop` is requested. Then calls have a few seconds to end before
 * they are cancelled; all have ended when this returns. */
int vcm_stdio_serve(struct vcm_mcp *mcp, int in_fd, int out_fd, const struct vcm_cancel *stop,
                    struct vcm_error *err);

#endif
