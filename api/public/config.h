/*
 * <vcm/config.h> - configuration, and checks of the machine.
 *
 * Entries and findings live until the callback returns.
 */
#ifndef VCM_PUBLIC_CONFIG_H
#define VCM_PUBLIC_CONFIG_H

#include <stdbool.h>

#include "api/public/handle.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm_config_entry {
    const char *key;
    const char *value;         /* in effect: the setting or the default; sizes in bytes */
    const char *default_value; /* NULL for keys without one */
    bool is_number;
    bool is_bool;
    bool is_set; /* config.yaml sets it */
};

typedef int (*vcm_config_fn)(void *context, const struct vcm_config_entry *entry,
                             struct vcm_error *err);
/* Visits every key in byte order. */
int vcm_config_list(struct vcm *vcm, vcm_config_fn visit, void *context, struct vcm_error *err);
/* INVALID_ARGUMENT for an unknown key; NOT_FOUND for credentials that are not set. */
int vcm_config_get(struct vcm *vcm, const char *key, vcm_config_fn visit, void *context,
                   struct vcm_error *err);
/* Checks the value, then changes that line of config.yaml and nothing else. When this returns, the
 * store keeps a changed limit. STORE_FULL: the pinned and locked pages exceed it. STORE_BUSY: views
 * keep pages in memory, or another process has been changing settings for ten seconds. */
int vcm_config_set(struct vcm *vcm, const char *key, const char *value, struct vcm_error *err);

/* The machine */

enum vcm_finding_status {
    VCM_FINDING_OK,
    VCM_FINDING_WARNING,
    VCM_FINDING_ERROR,
};

struct vcm_finding {
    const char *check;
    enum vcm_finding_status status;
    const char *detail;
    const char *remedy; /* NULL when there is nothing to do */
};

typedef int (*vcm_finding_fn)(void *context, const struct vcm_finding *finding,
                              struct vcm_error *err);
int vcm_doctor(struct vcm *vcm, vcm_finding_fn visit, void *context, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
