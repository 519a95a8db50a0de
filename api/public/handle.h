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

struct vcm;

struct vcm_open_options {
    const char *home;                /* NULL: $VCM_HOME, $XDG_DATA_HOME/vcm, ~/.local/share/vcm */
    const struct vcm_log *log;       /* may be NULL */
    const struct vcm_cancel *cancel; /* may be NULL; asks long calls to stop */
};

/* INVALID_ARGUMENT when no home can be told. */
int vcm_open(struct vcm **out, const struct vcm_open_options *options, struct vcm_error *err);
void vcm_close(struct vcm *vcm);

const char *vcm_home(const struct vcm *vcm);

#ifdef __cplusplus
}
#endif

#endif
