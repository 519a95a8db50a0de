/*
 * guide.h - the command 'vcm help', which prints what help.h makes.
 */
#ifndef VCM_CLI_GUIDE_H
#define VCM_CLI_GUIDE_H

#include "ops/op.h"

/* About the command line itself, so it is not in ops/. */
extern const struct vcm_op vcm_guide_command;

#endif
