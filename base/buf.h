/*
 * buf.h - a growing byte buffer with a maximum that is set at its creation.
 *
 * Appending returns no error: a buffer that ran out of memory or reached its maximum records the
 * fault and ignores later appends; vcm_buf_check() reports the fault at the end.
 * The data is always followed by a NUL that does not count. One owner, no locking.
 */
#ifndef VCM_BASE_BUF_H
#define VCM_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/slice.h"

enum vcm_buf_fault {
    VCM_BUF_FINE = 0,
    VCM_BUF_NO_MEMORY,
    VCM_BUF_TOO_LARGE,
};

struct vcm_buf {
    char *data; /* NULL until something is appended */
    size_t len;
    size_t capacity;
    size_t max;
    enum vcm_buf_fault fault;
};

#define VCM_BUF_INIT(max_bytes)                                                                    \
    {                                                                                              \
        NULL, 0, 0, (max_bytes), VCM_BUF_FINE                                                      \
    }

void vcm_buf_init(struct vcm_buf *buf, size_t max);
void vcm_buf_release(struct vcm_buf *buf);

/* Empties the buffer and forgets a fault; keeps the memory. */
void vcm_buf_clear(struct vcm_buf *buf);

/* Makes room for `len` more bytes and returns where they go, or NULL on a fault. The caller writes
 * at most `len` bytes there and adds what it wrote with vcm_buf_advance(). */
char *vcm_buf_reserve(struct vcm_buf *buf, size_t len);
void vcm_buf_advance(struct vcm_buf *buf, size_t len);

void vcm_buf_append(struct vcm_buf *buf, const void *data, size_t len);
void vcm_buf_append_string(struct vcm_buf *buf, const char *text);
void vcm_buf_append_slice(struct vcm_buf *buf, struct vcm_slice slice);
void vcm_buf_append_byte(struct vcm_buf *buf, char byte);
void vcm_buf_append_format(struct vcm_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vcm_buf_append_format_list(struct vcm_buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Cuts the buffer back to `len` bytes; does nothing if it is shorter. */
void vcm_buf_truncate(struct vcm_buf *buf, size_t len);

/* The content as a C string, "" when empty. Valid until the next change. */
const char *vcm_buf_text(const struct vcm_buf *buf);

struct vcm_slice vcm_buf_slice(const struct vcm_buf *buf);

/* VCM_OK, or an error that names `what`: VCM_INTERNAL without memory, VCM_UNSUPPORTED when the
 * maximum was reached. */
int vcm_buf_check(const struct vcm_buf *buf, const char *what, struct vcm_error *err);

/* Hands the bytes over to the caller, who frees them; the buffer is empty afterwards. */
char *vcm_buf_detach(struct vcm_buf *buf);

#endif
