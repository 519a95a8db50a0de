/*
 * extract_sandbox.h - restricts vcm-extract before it parses: it can compute, read files of
 * installed packages, and write to its open descriptors. Part of vcm-extract alone.
 */
#ifndef VCM_KB_EXTRACT_SANDBOX_H
#define VCM_KB_EXTRACT_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The argument of vcm-extract by which the user accepts a sandbox with layers missing. */
#define VCM_EXTRACT_SANDBOX_PARTIAL "--partial-sandbox"

/* Limits memory to what a document of this size needs, forbids new files, processes, sockets, and
 * signals to other processes. UNSUPPORTED when the kernel lacks one of the layers. With `partial`
 * such a layer is skipped: the others, and the parent's time limit, remain. */
int vcm_extract_sandbox_enter(size_t input_bytes, bool partial, struct vcm_error *err);

#endif
