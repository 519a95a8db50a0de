/*
 * <vcm/handle.h> - a home, opened by one thread at a time.
 */
#ifndef VCM_PUBLIC_HANDLE_H
#define VCM_PUBLIC_HANDLE_H

#include "base/public.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the library that runs: "0.1.0". */
const char *vcm_version(void);

/*
 * A home. Used by one thread at a time, by any; not by a child after fork(), which opens its own.
 * One call of a handle that has fault workers is for any thread at any time, beside itself and
 * beside every other call: vcm_fault(). Only vcm_register_source() comes before the first fault,
 * and vcm_close() after the last has returned.
 */
struct vcm;

struct vcm_open_options {
    const char *home;                /* NULL: $VCM_HOME, $XDG_DATA_HOME/vcm, ~/.local/share/vcm */
    const struct vcm_log *log;       /* may be NULL; lives as long as the handle */
    const struct vcm_cancel *cancel; /* likewise; asks long calls to stop */
    unsigned fault_workers; /* threads that serve vcm_fault(); 0: the calling thread does */
};

/* `options` may be NULL. INVALID_ARGUMENT when no home can be told. Close with vcm_close(). */
int vcm_open(struct vcm **out, const struct vcm_open_options *options, struct vcm_error *err);
void vcm_close(struct vcm *vcm);

/* Calls that begin from now on heed this flag instead of that of the options, NULL for none: one
 * for each request of a server, which then interrupts that request and no later one. The flag lives
 * as long as it is set. Returns the flag before; NULL for a handle that cannot be used. */
const struct vcm_cancel *vcm_set_cancel(struct vcm *vcm, const struct vcm_cancel *cancel);

/* Lives as long as the handle; NULL for one that cannot be used. */
const char *vcm_home(const struct vcm *vcm);

#ifdef __cplusplus
}
#endif

#endif
