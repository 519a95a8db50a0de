#include "api/limits_memo.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/path.h"
#include "vcm/residency/evict.h"

#include "base/banned.h"

int vcm_limits_memo_init(struct vcm_limits_memo *memo, const char *home, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    *memo = (struct vcm_limits_memo){.path = NULL};
    vcm_path_join(&path, home, VCM_CONFIG_FILE);
    int rc = vcm_buf_check(&path, "the path of the home", err);
    if (rc == VCM_OK) {
        memo->path = vcm_buf_detach(&path);
        pthread_mutex_init(&memo->mutex, NULL);
    }
    vcm_buf_release(&path);
    return rc;
}

void vcm_limits_memo_release(struct vcm_limits_memo *memo)
{
    if (!memo->path)
        return;
    pthread_mutex_destroy(&memo->mutex);
    free(memo->path);
    memo->path = NULL;
}

void vcm_limits_memo_of(struct vcm_page_store_limits *out, const struct vcm_config *config)
{
    enum vcm_evict_policy policy = VCM_EVICT_DEFAULT;

    vcm_evict_policy_of(&policy, vcm_config_text(config, "cache.policy"));
    out->capacity = vcm_config_number(config, "cache.capacity");
    out->compressed_capacity = vcm_config_number(config, "cache.compressed_capacity");
    out->policy = policy;
    snprintf(out->tokenizer, sizeof out->tokenizer, "%s", vcm_config_text(config, "tokenizer"));
}

static int read_again(struct vcm_limits_memo *memo, const struct vcm_config_file *now,
                      struct vcm_error *err)
{
    struct vcm_config config;

    memo->file = (struct vcm_config_file){.is_settled = false};
    int rc = vcm_config_load(&config, memo->path, err);
    if (rc != VCM_OK)
        return rc;
    vcm_limits_memo_of(&memo->limits, &config);
    vcm_config_release(&config);
    memo->file = *now;
    return VCM_OK;
}

int vcm_limits_memo_read(void *context, struct vcm_page_store_limits *out, struct vcm_error *err)
{
    struct vcm_limits_memo *memo = context;
    struct vcm_config_file now;
    int rc = VCM_OK;

    pthread_mutex_lock(&memo->mutex);
    vcm_config_look(&now, memo->path);
    if (!vcm_config_is_same(&memo->file, &now))
        rc = read_again(memo, &now, err);
    if (rc == VCM_OK)
        *out = memo->limits;
    pthread_mutex_unlock(&memo->mutex);
    return rc;
}
