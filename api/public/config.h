/*
 * <vcm/config.h> - configuration, and what the machine is like.
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
    const char *value;         /* as it counts: sizes in bytes */
    const char *default_value; /* NULL for keys without one */
    bool is_number;
    bool is_bool;
    bool is_set; /* in config.yaml */
};

typedef int (*vcm_config_fn)(void *context, const struct vcm_config_entry *entry,
                             struct vcm_error *err);
/* In the order of the keys. */
int vcm_config_list(struct vcm *vcm, vcm_config_fn visit, void *context, struct vcm_error *err);
/* INVALID_ARGUMENT for an unknown key; NOT_FOUND for credentials that are not set. */
int vcm_config_get(struct vcm *vcm, const char *key, vcm_config_fn visit, void *context,
                   struct vcm_error *err);
/* Checks the value, then changes that line of config.yaml and nothing else. A limit of the store is
 * kept by it when this returns: STORE_FULL when what is pinned or locked exceeds it, STORE_BUSY
 * when views are in the way or another changes the settings for longer than ten seconds. */
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
    const char *remedy; /* NULL when nothing is to be done */
};

typedef int (*vcm_finding_fn)(void *context, const struct vcm_finding *finding,
                              struct vcm_error *err);
int vcm_doctor(struct vcm *vcm, vcm_finding_fn visit, void *context, struct vcm_error *err);

#ifdef __cplusplus
}
#endif

#endif
