/*
 * extract_sandbox.h - what vcm-extract may still do once it holds the document: compute, read what
 * the system installs, and write to the descriptors that it has. Part of vcm-extract alone.
 */
#ifndef VCM_KB_EXTRACT_SANDBOX_H
#define VCM_KB_EXTRACT_SANDBOX_H

#include <stddef.h>

/* Limits memory to what a document of this size needs, forbids new files, processes and sockets.
 * Layers that the kernel does not have are done without: the others, and the parent's time limit,
 * stay. */
void vcm_extract_sandbox_enter(size_t input_bytes);

#endif
