/*
 * completion.h - completions for bash, zsh and fish, written from the table of commands.
 */
#ifndef VCM_CLI_COMPLETION_H
#define VCM_CLI_COMPLETION_H

#include "ops/op.h"

/* The command that prints them. It is about the command line itself, so it is not in ops/. */
extern const struct vcm_op vcm_completion_command;

#endif
