#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/damage.h"
#include "api/handle.h"
#include "base/kv_lock.h"
#include "base/limits.h"
#include "vcm/mapping/relimit.h"

#include "base/banned.h"

#define LOCK_FILE "config.lock"

static int pass_key(const struct vcm_config *config, const struct vcm_config_key *key,
                    vcm_config_fn visit, void *context, struct vcm_error *err)
{
    const struct vcm_config_entry entry = {
        .key = key->name,
        .value = vcm_config_text(config, key->name),
        .default_value = key->default_value,
        .is_number = key->type == VCM_CONFIG_SIZE || key->type == VCM_CONFIG_INT,
        .is_bool = key->type == VCM_CONFIG_BOOL,
        .is_set = vcm_config_find(config, key->name) != NULL,
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

/* The credentials in byte order: the smallest one greater than `after`. */
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

/* Loads a configuration for this call only, so that a `visit` that calls the library does not
 * invalidate it. */
int vcm_config_list(struct vcm *vcm, vcm_config_fn visit, void *context, struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(visit));
    if (rc != VCM_OK)
        return rc;
    struct vcm_config config;
    unsigned count, i = 0;
    const struct vcm_config_key *keys = vcm_config_keys(&count);

    rc = vcm_handle_load_config(&config, vcm, err);
    for (; rc == VCM_OK && i < count && strcmp(keys[i].name, VCM_CONFIG_CREDENTIALS) < 0; i++)
        rc = pass_key(&config, &keys[i], visit, context, err);
    for (const struct vcm_config_setting *s = rc == VCM_OK ? next_credential(&config, "") : NULL;
         rc == VCM_OK && s; s = next_credential(&config, s->name))
        rc = pass_setting(s, visit, context, err);
    for (; rc == VCM_OK && i < count; i++)
        rc = pass_key(&config, &keys[i], visit, context, err);
    vcm_config_release(&config);
    return rc;
}

static int pass_named(const struct vcm_config *config, const char *key, vcm_config_fn visit,
                      void *context, struct vcm_error *err)
{
    unsigned count;
    const struct vcm_config_key *keys = vcm_config_keys(&count);

    for (unsigned i = 0; i < count; i++)
        if (strcmp(keys[i].name, key) == 0)
            return pass_key(config, &keys[i], visit, context, err);
    const struct vcm_config_setting *setting = vcm_config_find(config, key);
    if (!setting)
        return vcm_error_set(err, VCM_NOT_FOUND, "%s is not set", key);
    return pass_setting(setting, visit, context, err);
}

int vcm_config_get(struct vcm *vcm, const char *key, vcm_config_fn visit, void *context,
                   struct vcm_error *err)
{
    int rc = VCM_ARGUMENTS(vcm, err, VCM_ARGUMENT(key), VCM_ARGUMENT(visit));
    if (rc == VCM_OK)
        rc = VCM_TEXTS(err, {"key", key});
    if (rc != VCM_OK)
        return rc;
    struct vcm_config config;

    rc = vcm_handle_load_config(&config, vcm, err);
    if (rc == VCM_OK)
        rc = vcm_config_check_name(key, err);
    if (rc == VCM_OK)
        rc = pass_named(&config, key, visit, context, err);
    vcm_config_release(&config);
    return rc;
}

/* A setting to write into config.yaml. */
struct change {
    struct vcm *vcm;
    const char *key;
    const char *value; /* canonical */
};

static int write_change(void *context, struct vcm_error *err)
{
    const struct change *change = context;

    return vcm_config_store(change->vcm->limits.path, change->key, change->value, err);
}

/* The limits that the store will have; false if the key is not a limit of the store. */
static bool limits_with(struct vcm_page_store_limits *limits, const struct change *change)
{
    vcm_limits_memo_of(limits, &change->vcm->config);
    if (strcmp(change->key, "cache.capacity") == 0)
        limits->capacity = strtoull(change->value, NULL, 10);
    else if (strcmp(change->key, "cache.compressed_capacity") == 0)
        limits->compressed_capacity = strtoull(change->value, NULL, 10);
    else
        return false;
    return true;
}

/* Writes the limit to the file while the store already keeps it and before any other writer of the
 * store runs. A limit that the store cannot keep is refused. */
static int change_limits(struct change *change, const struct vcm_page_store_limits *limits,
                         struct vcm_error *err)
{
    struct vcm *vcm = change->vcm;

    int rc = vcm_handle_open_for_change(vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (vcm->store)
        return vcm_relimit_capacity(vcm->store, limits, write_change, change, vcm->cancel, err);
    rc = write_change(change, err);
    if (rc == VCM_OK) /* another process may have created the store in the meantime */
        rc = vcm_handle_open_for_change(vcm, err);
    return rc == VCM_OK && vcm->store ? vcm_relimit_shrink(vcm->store, vcm->cancel, err) : rc;
}

static int change_tokenizer(struct change *change, struct vcm_error *err)
{
    struct vcm *vcm = change->vcm;

    int rc = vcm_handle_open_for_change(vcm, err);
    if (rc != VCM_OK)
        return rc;
    return vcm->store ? vcm_relimit_tokenizer(vcm->store, change->value, write_change, change,
                                              vcm->cancel, err)
                      : write_change(change, err);
}

/* Other settings are read by the next call that uses them. */
static int apply(struct change *change, struct vcm_error *err)
{
    struct vcm_page_store_limits limits;

    int rc = vcm_handle_config(change->vcm, err);
    if (rc != VCM_OK)
        return rc;
    if (limits_with(&limits, change))
        rc = change_limits(change, &limits, err);
    else if (strcmp(change->key, "tokenizer") == 0)
        rc = change_tokenizer(change, err);
    else
        rc = write_change(change, err);
    return rc == VCM_OK ? vcm_handle_config(change->vcm, err)
                        : vcm_damage_note(change->vcm, rc, err);
}

/* Serialises changes of the file and of the limits that the store relies on. Lock order: this lock
 * before the writers' lock of the store. */
static int apply_locked(struct change *change, struct vcm_error *err)
{
    struct vcm_buf path = VCM_BUF_INIT(VCM_LIMIT_PATH_BYTES);
    struct vcm_kv_lock lock;

    int rc = vcm_handle_make_home(change->vcm, err);
    if (rc == VCM_OK)
        rc = vcm_handle_path(&path, change->vcm, LOCK_FILE, err);
    if (rc == VCM_OK)
        rc = vcm_kv_lock_take(&lock, vcm_buf_text(&path), VCM_LIMIT_LOCK_TIMEOUT_MS,
                              change->vcm->cancel, change->vcm->log, err);
    vcm_buf_release(&path);
    if (rc != VCM_OK)
        return rc;
    rc = apply(change, err);
    vcm_kv_lock_release(&lock);
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

    rc = vcm_handle_config(vcm, err);
    if (rc == VCM_OK)
        rc = vcm_config_check_name(key, err);
    if (rc == VCM_OK)
        rc = vcm_config_check_value(&canonical, key, value, err);
    if (rc == VCM_OK)
        rc = apply_locked(&(struct change){vcm, key, vcm_buf_text(&canonical)}, err);
    vcm_buf_release(&canonical);
    return rc;
}
