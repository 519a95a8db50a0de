/*
 * extract_pdf.h - the lines of a PDF. The owner of poppler; part of vcm-extract alone, except the
 * exit statuses, which its parent reads.
 */
#ifndef VCM_KB_EXTRACT_PDF_H
#define VCM_KB_EXTRACT_PDF_H

#include "base/limits.h"
#include "kb/layout.h"

/* Why a document cannot be read: the exit status of vcm-extract. */
enum vcm_extract_status {
    VCM_EXTRACT_DONE = 0,
    VCM_EXTRACT_FAILED = 2, /* our own failure: no memory, wrong usage */
    VCM_EXTRACT_CORRUPT = 3,
    VCM_EXTRACT_ENCRYPTED = 4,
    VCM_EXTRACT_NO_TEXT = 5,
    VCM_EXTRACT_OVER_LIMITS = 6,
    VCM_EXTRACT_NO_SANDBOX = 7, /* nothing was parsed */
};

/* How much time a document of this size may use. */
static inline unsigned vcm_extract_pdf_cpu_seconds(size_t bytes)
{
    size_t seconds = VCM_LIMIT_EXTRACT_CPU_SECONDS + 8 * (bytes / VCM_MIB);
    return seconds < VCM_LIMIT_EXTRACT_CPU_MAX ? (unsigned)seconds : VCM_LIMIT_EXTRACT_CPU_MAX;
}

/* Fills the layout from the bytes of a PDF. */
enum vcm_extract_status vcm_extract_pdf_read(struct vcm_layout *layout, struct vcm_slice bytes,
                                             struct vcm_error *err);

#endif
