/*
 * The child has limits on time, memory, output and files, and no access to the network or to the
 * user's files; when it crashes, only this document fails. Any number of threads may extract at one
 * time, each with a child of its own; there is no other pool. poppler is in the child alone.
 */
#ifndef VCM_KB_EXTRACT_H
#define VCM_KB_EXTRACT_H

#include "base/cancel.h"
#include "kb/document.h"

/* Increased whenever the same PDF may give another text. */
#define VCM_EXTRACT_VERSION 2

struct vcm_extract_options {
    unsigned timeout_ms;             /* 0: four times the processor time that its size allows */
    const struct vcm_cancel *cancel; /* may be NULL */
};

/*
 * Fills an empty document. UNSUPPORTED when the document cannot be read, with the reason in the
 * document and first in the message: CORRUPT, ENCRYPTED, EMPTY, NO_TEXT_LAYER, OVER_THE_LIMITS.
 * NOT_FOUND when the program is missing or cannot set up its sandbox, INTERRUPTED.
 */
int vcm_extract_run(struct vcm_document *document, struct vcm_slice bytes,
                    const struct vcm_extract_options *options, struct vcm_error *err);

/* Appends the path of vcm-extract: in $VCM_LIBEXEC when that is set, else relative to the program
 * or library that this code is in. */
int vcm_extract_find(struct vcm_buf *out, struct vcm_error *err);

#endif
