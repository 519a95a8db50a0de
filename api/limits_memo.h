/*
 * limits_memo.h - the limits of the store, as config.yaml sets them at this moment.
 *
 * config.yaml is the only authority. Every write transaction of a store calls
 * vcm_limits_memo_read() (vcm_page_store_options), which costs one stat(): the file is read again
 * if it has changed, or changed so recently that a second change might not show. It does not touch
 * the settings of the handle (vcm_handle_config), because any thread of the store calls it.
 */
#ifndef VCM_API_LIMITS_MEMO_H
#define VCM_API_LIMITS_MEMO_H

#include <pthread.h>

#include "api/config.h"
#include "vcm/store/page_store.h"

struct vcm_limits_memo {
    pthread_mutex_t mutex; /* protects the fields below */
    char *path;            /* of config.yaml */
    struct vcm_config_file file;
    struct vcm_page_store_limits limits;
};

int vcm_limits_memo_init(struct vcm_limits_memo *memo, const char *home, struct vcm_error *err);
void vcm_limits_memo_release(struct vcm_limits_memo *memo);

/* A vcm_page_store_limits_fn whose context is a memo. INVALID_ARGUMENT or IO_ERROR when the file
 * cannot be read. */
int vcm_limits_memo_read(void *context, struct vcm_page_store_limits *out, struct vcm_error *err);

/* The limits that the settings give the store. */
void vcm_limits_memo_of(struct vcm_page_store_limits *out, const struct vcm_config *config);

#endif
