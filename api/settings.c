#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/internal.h"
#include "base/limits.h"

#include "base/banned.h"

static int pass_key(const struct vcm *vcm, const struct vcm_config_key *key, vcm_config_fn visit,
                    void *context, struct vcm_error *err)
{
    const struct vcm_config_entry entry = {
        .key = key->name,
        .value = vcm_config_text(&vcm->config, key->name),
        .default_value = key->default_value,
        .is_number = key->type == VCM_CONFIG_SIZE || key->type == VCM_CONFIG_INT,
        .is_bool = key->type == VCM_CONFIG_BOOL,
        .is_set = vcm_config_find(&vcm->config, key->name) != NULL,
    };
    return visit(context, &entry, err);
}

static int pass_setting(const struct vcm_config_setting *setting, vcm_config_fn visit,
                        void *context, struct vcm_error *err)
{
    const struct vcm_config_entry entry = {
        .key = setting->name,
        .value = setting->value,
        .is_set = true,
    };
    return visit(context, &entry, err);
}

static bool is_credential(const char *name)
{
    return strncmp(name, VCM_CONFIG_CREDENTIALS, strlen(VCM_CONFIG_CREDENTIALS)) == 0;
}

/* The credentials in byte order: the least one that is above `after`. */
static const struct vcm_config_setting *next_credential(const struct vcm_config *config,
                                                        const char *after)
{
    const struct vcm_config_setting *best = NULL;

    for (const struct vcm_config_setting *s = config->settings; s; s = s->next)
        if (is_credential(s->name) && strcmp(s->name, after) > 0 &&
            (!best || strcmp(s->name, best->name) < 0))
            best = s;
    return best;
}

int vcm_config_list(struct vcm *vcm, vcm_config_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(visit));
    if (rc != VCM_OK)
        return rc;
    unsigned count;
    const struct vcm_config_key *keys = vcm_config_keys(&count);

    rc = vcm_handle_config(vcm, err);
    unsigned i = 0;
    for (; rc == VCM_OK && i < count && strcmp(keys[i].name, VCM_CONFIG_CREDENTIALS) < 0; i++)
        rc = pass_key(vcm, &keys[i], visit, context, err);
    for (const struct vcm_config_setting *s = rc == VCM_OK ? next_credential(&vcm->config, "")
                                                           : NULL;
         rc == VCM_OK && s; s = next_credential(&vcm->config, s->name))
        rc = pass_setting(s, visit, context, err);
    for (; rc == VCM_OK && i < count; i++)
        rc = pass_key(vcm, &keys[i], visit, context, err);
    return rc;
}

int vcm_config_get(struct vcm *vcm, const char *key, vcm_config_fn visit, void *context,
                   struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(key), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"key", key});
    if (rc != VCM_OK)
        return rc;
    unsigned count;
    const struct vcm_config_key *keys = vcm_config_keys(&count);

    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_config_check_name(key, err);
    if (rc != VCM_OK)
        return rc;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(keys[i].name, key) == 0)
            return pass_key(vcm, &keys[i], visit, context, err);
    const struct vcm_config_setting *setting = vcm_config_find(&vcm->config, key);
    if (!setting)
        return vcm_error_set(err, VCM_NOT_FOUND, "%s is not set", key);
    return pass_setting(setting, visit, context, err);
}

/* Some values can only change while the store allows it. */
static int check_store(struct vcm *vcm, const char *key, const char *value, struct vcm_error *err)
{
    struct vcm_stat stat;

    if (strcmp(key, "tokenizer") != 0)
        return VCM_OK;
    int rc = vcm_stat(&stat, vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (stat.scopes > 0 && strcmp(stat.tokenizer, value) != 0)
        return vcm_error_set(err, VCM_INVALID_ARGUMENT,
                             "the tokenizer can change only while no scope is mapped, and %llu %s; "
                             "use another --home",
                             (unsigned long long)stat.scopes, stat.scopes == 1 ? "is" : "are");
    return VCM_OK;
}

static int limit_with(struct vcm_page_store_limits *limits, const struct vcm *vcm, const char *key,
                      const char *value)
{
    enum vcm_evict_policy policy;

    vcm_handle_limits(limits, vcm);
    if (strcmp(key, "cache.capacity") == 0)
        limits->capacity = strtoull(value, NULL, 10);
    else if (strcmp(key, "cache.compressed_capacity") == 0)
        limits->compressed_capacity = strtoull(value, NULL, 10);
    else if (strcmp(key, "cache.policy") == 0 && vcm_evict_policy_of(&policy, value))
        limits->policy = policy;
    else
        return VCM_NOT_FOUND;
    return VCM_OK;
}

/* The store keeps its new limits before the file says so: what cannot be kept is refused. */
static int apply_limits(struct vcm *vcm, const char *key, const char *value, struct vcm_error *err)
{
    struct vcm_page_store_limits limits;
    struct vcm_error cause = {0};

    if (limit_with(&limits, vcm, key, value) != VCM_OK)
        return VCM_OK;
    struct vcm_stat stat;
    int rc = vcm_stat(&stat, vcm, err);
    if (rc != VCM_OK || !vcm->store)
        return rc;
    vcm_page_store_set_limits(vcm->store, &limits);
    if (stat.bytes_resident > limits.capacity || stat.bytes_compressed > limits.compressed_capacity)
        rc = vcm_page_cache_shrink(vcm->store, vcm->cancel, &cause);
    if (rc != VCM_OK) {
        vcm_handle_limits(&limits, vcm);
        vcm_page_store_set_limits(vcm->store, &limits);
        if (err)
            *err = cause;
    }
    return rc;
}

int vcm_config_set(struct vcm *vcm, const char *key, const char *value, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(key), VCM_ARGUMENT(value));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"key", key}, {"value", value});
    if (rc != VCM_OK)
        return rc;
    struct vcm_buf canonical = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);

    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_config_check_name(key, err);
    if (rc == VCM_OK)
        rc = vcm_config_check_value(&canonical, key, value, err);
    if (rc == VCM_OK)
        rc = check_store(vcm, key, vcm_buf_text(&canonical), err);
    if (rc == VCM_OK)
        rc = apply_limits(vcm, key, vcm_buf_text(&canonical), err);
    if (rc == VCM_OK)
        rc = vcm_handle_make_home(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&path, vcm, VCM_CONFIG_FILE, err);
    if (rc == VCM_OK)
        rc =
            vcm_config_store(&vcm->config, vcm_buf_text(&path), key, vcm_buf_text(&canonical), err);
    if (rc == VCM_OK) {
        vcm_config_release(&vcm->config);
        vcm->config_loaded = false;
        rc = vcm_handle_config(vcm, err);
    }
    vcm_buf_release(&canonical);
    vcm_buf_release(&path);
    return rc;
}
