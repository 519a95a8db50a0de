/*
 * <vcm/handle.h> - a handle on a home: opening, closing, cancelling.
 */
#ifndef VCM_PUBLIC_HANDLE_H
#define VCM_PUBLIC_HANDLE_H

#include "base/public.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that runs: "0.1.0". A static string. */
const char *vcm_version(void);

/*
 * A home. Any thread may use the handle, one at a time. A child after fork() must not use it: it
 * opens its own.
 *
 * vcm_fault() of a handle with fault workers is the exception: any thread may call it at any time,
 * at the same time as other calls of vcm_fault() and of every other function. Call
 * vcm_register_source() before the first fault, and vcm_close() after the last fault has returned.
 */
struct vcm;

struct vcm_open_options {
    const char *home;                /* NULL: $VCM_HOME, $XDG_DATA_HOME/vcm, ~/.local/share/vcm */
    const struct vcm_log *log;       /* may be NULL; must outlive the handle */
    const struct vcm_cancel *cancel; /* asks long calls to stop; may be NULL; must outlive it */
    unsigned fault_workers; /* threads that serve vcm_fault(); 0: the calling thread serves it */
};

/* `options` may be NULL. INVALID_ARGUMENT when the environment names no home. Close with
 * vcm_close(). */
int vcm_open(struct vcm **out, const struct vcm_open_options *options, struct vcm_error *err);
void vcm_close(struct vcm *vcm);

/* Replaces the cancel flag of the options for calls that begin from now on; NULL for none. A server
 * sets one flag for each request, so that cancelling a request stops no later one. The flag must
 * live as long as it is set. Returns the flag that was set before; NULL for a handle that cannot be
 * used.
 */
const struct vcm_cancel *vcm_set_cancel(struct vcm *vcm, const struct vcm_cancel *cancel);

/* The path of the home. Lives as long as the handle; NULL for a handle that cannot be used. */
const char *vcm_home(const struct vcm *vcm);

#ifdef __cplusplus
}
#endif

#endif
