/*
 * extract_sandbox.h - restricts vcm-extract before it parses: it can compute, read files of
 * installed packages, and write to its open descriptors. Part of vcm-extract alone.
 */
#ifndef VCM_KB_EXTRACT_SANDBOX_H
#define VCM_KB_EXTRACT_SANDBOX_H

#include <stddef.h>

/* Limits memory to what a document of this size needs, forbids new files, processes and sockets.
 * Layers that the kernel does not support are skipped: the others, and the parent's time limit,
 * remain. */
void vcm_extract_sandbox_enter(size_t input_bytes);

#endif
