/*
 * limits_memo.h - what the store has to know of config.yaml, as the file says it now.
 *
 * config.yaml is the one authority. Every write transaction of a store asks here
 * (vcm_page_store_options), which costs a stat(): the file is read when it is another one than last
 * time, or was changed so lately that it cannot be told. The handle's own settings
 * (vcm_handle_config) are left alone, for this is called by any thread of the store.
 */
#ifndef VCM_API_LIMITS_MEMO_H
#define VCM_API_LIMITS_MEMO_H

#include <pthread.h>

#include "api/config.h"
#include "vcm/store/page_store.h"

struct vcm_limits_memo {
    pthread_mutex_t mutex; /* of what follows */
    char *path;            /* of config.yaml */
    struct vcm_config_file file;
    struct vcm_page_store_limits limits;
};

int vcm_limits_memo_init(struct vcm_limits_memo *memo, const char *home, struct vcm_error *err);
void vcm_limits_memo_release(struct vcm_limits_memo *memo);

/* A vcm_page_store_limits_fn; the context is a memo. INVALID_ARGUMENT, IO_ERROR when the file
 * cannot be read. */
int vcm_limits_memo_read(void *context, struct vcm_page_store_limits *out, struct vcm_error *err);

/* What the settings let the store take. */
void vcm_limits_memo_of(struct vcm_page_store_limits *out, const struct vcm_config *config);

#endif
