/*
 * config.h - config.yaml in the home: a flat list of keys. It is edited one line at a time, so that
 * the user's comments and order are kept.
 */
#ifndef VCM_API_CONFIG_H
#define VCM_API_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"

#define VCM_CONFIG_FILE "config.yaml"

enum vcm_config_type {
    VCM_CONFIG_CHOICE,
    VCM_CONFIG_SIZE, /* bytes, or with KiB, MiB, GiB */
    VCM_CONFIG_INT,
    VCM_CONFIG_BOOL,
};

struct vcm_config_key {
    const char *name;
    enum vcm_config_type type;
    const char *default_value;
    const char *const *choices; /* of VCM_CONFIG_CHOICE; ends with NULL */
    uint64_t min, max;          /* of VCM_CONFIG_SIZE and VCM_CONFIG_INT */
};

/* A key as it is set in the file. */
struct vcm_config_setting {
    const char *name;
    const char *value; /* canonical: sizes in bytes, "true" or "false" */
    unsigned line;     /* 1-based, the line where its value ends */
    struct vcm_config_setting *next;
};

struct vcm_config {
    struct vcm_config_setting *settings; /* in the order of the file */
    struct vcm_arena arena;
};

/* The identity of the file, from stat(). */
struct vcm_config_file {
    bool is_there;
    bool is_settled; /* old enough that any later change alters one of the fields below */
    dev_t device;
    ino_t inode;
    off_t bytes;
    struct timespec modified, changed;
};

#define VCM_CONFIG_CREDENTIALS "credentials."

/* Every key but credentials.*, in byte order. */
const struct vcm_config_key *vcm_config_keys(unsigned *count);

/* A missing file is an empty one. INVALID_ARGUMENT names file, line and column. */
int vcm_config_load(struct vcm_config *config, const char *path, struct vcm_error *err);
void vcm_config_release(struct vcm_config *config);

/* Fills in what decides whether a file has to be read again. Call it before reading the file. */
void vcm_config_look(struct vcm_config_file *out, const char *path);
/* False for a zeroed struct, and for a file that was changed so shortly before it was read that a
 * second change might not show. */
bool vcm_config_is_same(const struct vcm_config_file *read, const struct vcm_config_file *now);

/* The value in effect: the setting, else the default. The key must be one of the table. */
const char *vcm_config_text(const struct vcm_config *config, const char *name);
uint64_t vcm_config_number(const struct vcm_config *config, const char *name);
bool vcm_config_flag(const struct vcm_config *config, const char *name);

/* The setting of this name in the file, or NULL. */
const struct vcm_config_setting *vcm_config_find(const struct vcm_config *config, const char *name);

/* INVALID_ARGUMENT for an unknown key; the message suggests the nearest one. */
int vcm_config_check_name(const char *name, struct vcm_error *err);

/* Checks `value` and appends its canonical form. */
int vcm_config_check_value(struct vcm_buf *out, const char *name, const char *value,
                           struct vcm_error *err);

/* Reads the file, sets one checked value, and replaces the file. The caller makes sure that only
 * one process at a time does so. */
int vcm_config_store(const char *path, const char *name, const char *value, struct vcm_error *err);

#endif
