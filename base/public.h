/*
 * public.h - what callers of the library and all folders share: codes, the error, log sinks, the
 * flag that asks a call to stop.
 *
 * Installed as <vcm/types.h>: it uses <stdbool.h> alone, and what only our own code needs is in
 * error.h, log.h and cancel.h.
 */
#ifndef VCM_BASE_PUBLIC_H
#define VCM_BASE_PUBLIC_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A code tells the caller what to do next. The names are those of the JSON error document. */
enum vcm_code {
    VCM_OK = 0,
    VCM_INVALID_ARGUMENT,
    VCM_INVALID_REPO_MAP,
    VCM_NOT_FOUND,
    VCM_AMBIGUOUS,
    VCM_AUTH_FAILED,
    VCM_NETWORK_ERROR,
    VCM_TIMEOUT,
    VCM_STORE_FULL,
    VCM_STORE_CORRUPT,
    VCM_STORE_BUSY,
    VCM_UNSUPPORTED,
    VCM_IO_ERROR,
    VCM_INTERNAL,
    VCM_INTERRUPTED,
};

/* "NOT_FOUND"; never NULL. */
const char *vcm_error_code_name(enum vcm_code code);

/* Whether the same call may succeed later without anything being changed by the caller. */
bool vcm_error_retryable(enum vcm_code code);

/* Describes a failure: owned by the caller, passed last, zeroed or reset before every call. The
 * first cause wins: filling an error that is filled already changes nothing. Not shared by
 * threads. */
struct vcm_error {
    enum vcm_code code;
    int sys_errno;      /* errno of the failing call, or 0 */
    char message[512];  /* one line: what is wrong, with the name of the thing, and what to do */
    char context[256];  /* "map 'design-code' > tools/a.c", added by callers */
    char details[1024]; /* members of a JSON object, without the braces; may be empty */
};

void vcm_error_reset(struct vcm_error *err);

/* Sets code and message, as a callback that fails does. Line breaks in the message become spaces.
 * Returns the code that the error now holds, or `code` for a NULL error. */
int vcm_error_fill(struct vcm_error *err, enum vcm_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum vcm_log_level {
    VCM_LOG_ERROR,
    VCM_LOG_WARNING,
    VCM_LOG_INFO,
    VCM_LOG_DEBUG,
};

/* The sink may be called from any thread, with one line at a time and no line break. */
typedef void (*vcm_log_fn)(void *context, enum vcm_log_level level, const char *line);

struct vcm_log {
    vcm_log_fn write;
    void *context;
    enum vcm_log_level level; /* the least important level that is written */
};

/* Asks a call to stop, from another thread or a signal handler. Zeroed at first. */
struct vcm_cancel {
    int requested; /* touched by the functions below alone */
};

void vcm_cancel_request(struct vcm_cancel *cancel);

/* Withdraws the request, so that the flag can be used for the next call. */
void vcm_cancel_reset(struct vcm_cancel *cancel);

#ifdef __cplusplus
}
#endif

#endif
