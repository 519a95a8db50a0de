/*
 * help.h - help texts and the manual page, made from the table of commands.
 */
#ifndef VCM_CLI_HELP_H
#define VCM_CLI_HELP_H

#include "ops/op.h"

/* All commands, a line each. */
void vcm_help_overview(struct vcm_print *out);

/* The commands to begin with, for who typed none. */
void vcm_help_beginning(struct vcm_print *out);

/* The commands of a family such as "config". */
void vcm_help_family(struct vcm_print *out, const char *family);

void vcm_help_command(struct vcm_print *out, const struct vcm_op *op);

/* The manual page vcm(1) in roff. */
void vcm_help_manual(struct vcm_buf *out);

/* Appends "map [OPTIONS] [REPO]". */
void vcm_help_usage(struct vcm_buf *out, const struct vcm_op *op);

#endif
